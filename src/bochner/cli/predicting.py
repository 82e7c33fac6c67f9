"""`bochner predict`."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from bochner import persist
from bochner._numerics.files import replacing
from bochner.cli.output import check_output
from bochner.estimators.learned_tables import LearnedTableClassifier, LearnedTableRegressor
from bochner.estimators.table_base import TableModel
from bochner.estimators.table_models import TableClassifier, TableRegressor
from bochner.tables.reading import read_table
from bochner.tables.refusals import InputError


def predict_table(model_path: Path, path: Path, *, with_std: bool, out: Path | None) -> None:
    """Write predictions as CSV, to ``out`` or to standard output."""
    if out is not None:
        check_output(out, model_path, path)
    model = load_table_model(model_path)
    frame = _without_unused(model, read_table(path, text=_text_names(model)))
    predictions = pd.DataFrame(_predictions(model, frame, with_std=with_std))
    if out is None:
        predictions.to_csv(sys.stdout, index=False)
        return
    with replacing(out) as fresh:
        predictions.to_csv(fresh, index=False)


def _text_names(model: TableModel) -> list[str]:
    return [state["name"] for state in model.encoder_.columns_ if state["kind"] == "text"]


def _without_unused(model: TableModel, frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out the columns that the fit left out: the target, and those it dropped."""
    unused = {model.record_.get("target"), *model.record_.get("dropped", [])}
    return frame.drop(columns=[name for name in frame.columns if name in unused])


def load_table_model(path: Path) -> TableModel:
    """Load a model that `bochner fit` wrote; others are refused."""
    model = persist.load(path)
    if not isinstance(model, TableModel):
        raise InputError(
            f"{path} holds a {type(model).__name__}: expected a model that `bochner fit` wrote. "
            f"Load it in Python with bochner.load."
        )
    check_is_fitted(model)
    return model


def _predictions(model: TableModel, frame: pd.DataFrame, *, with_std: bool) -> dict[str, Any]:
    if isinstance(model, TableRegressor | LearnedTableRegressor):
        if not with_std:
            return {"prediction": model.predict(frame)}
        mean, std = model.predict(frame, return_std=True)
        return {"prediction": mean, "std": std}
    if with_std or not isinstance(model, TableClassifier | LearnedTableClassifier):
        raise InputError(
            "--std is for regression, and this model classifies: leave it out; the column "
            "'probability' says how sure a prediction is."
        )
    probability = model.predict_proba(frame)
    return {
        "prediction": model.classes_[np.argmax(probability, axis=1)],
        "probability": probability.max(axis=1),
    }

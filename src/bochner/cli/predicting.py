"""`bochner predict`."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from bochner import persist
from bochner._numerics.files import replacing
from bochner.cli.output import check_output
from bochner.estimators.table_base import ClassificationTable, RegressionTable, TableModel
from bochner.tables.reading import read_table
from bochner.tables.refusals import InputError


def predict_table(model_path: Path, path: Path, *, with_std: bool, out: Path | None) -> None:
    """Write predictions as CSV, to ``out`` or to standard output."""
    if out is not None:
        check_output(out, model_path, path)
    model = persist.load(model_path)
    if not isinstance(model, TableModel):
        raise InputError(
            f"{model_path} holds a {type(model).__name__}: expected a model that `bochner fit` "
            "wrote. Load it in Python with bochner.load."
        )
    check_is_fitted(model)
    text = [state["name"] for state in model.encoder_.columns_ if state["kind"] == "text"]
    frame = read_table(path, text=text)
    unused = {model.record_.get("target"), *model.record_.get("dropped", [])}
    frame = frame.drop(columns=[name for name in frame.columns if name in unused])
    predictions = _predictions(model, frame, with_std=with_std)
    if out is None:
        predictions.to_csv(sys.stdout, index=False)
        return
    with replacing(out) as fresh:
        predictions.to_csv(fresh, index=False)


def _predictions(model: TableModel, frame: pd.DataFrame, *, with_std: bool) -> pd.DataFrame:
    if isinstance(model, RegressionTable):
        names = ["prediction", "std"] if with_std else ["prediction"]
        columns = model.predict(frame, return_std=True)
        return pd.DataFrame(dict(zip(names, columns, strict=False)))
    if with_std or not isinstance(model, ClassificationTable):
        raise InputError(
            "--std is for regression, and this model classifies: leave it out; the column "
            "'probability' is the probability of the predicted class."
        )
    probability = model.predict_proba(frame)
    winner = model.classes_[np.argmax(probability, axis=1)]
    return pd.DataFrame({"prediction": winner, "probability": probability.max(axis=1)})

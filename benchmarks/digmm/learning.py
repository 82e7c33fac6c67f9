"""Linear classifiers on features: the penalty chosen on some training rows, then fitted to all."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from benchmarks.digmm.data import Split
from benchmarks.digmm.design import CS
from benchmarks.indefinite.design import FeatureMap
from benchmarks.rows import linear_classifier
from bochner._numerics.arrays import Array, row_blocks

N_FOLDS = 5

# Training rows that choose a penalty: fewer where there are more features than the first number,
# or more than two classes, so that a choice takes about as long as a fit.
_MANY_FEATURES = 2_000
_CHOICE, _FEW_CHOICE, _CHOICE_OF_MANY_CLASSES = 4_000, 2_000, 1_000

# Bytes of an entry, with the copies that a transform makes, and of a block of rows.
_BYTES_AN_ENTRY, _BLOCK_BYTES = 12, 2**26


def features_of(features: FeatureMap, X: Array) -> NDArray[np.float32]:
    """Return features in single precision."""
    Z = np.empty((len(X), len(features.signature_)), np.float32)
    for rows in _blocks(len(X), Z.shape[1]):
        Z[rows] = features.transform(X[rows].astype(np.float32))
    return Z


def n_choice(n_features: int, y: NDArray[Any]) -> int:
    """Return how many training rows choose a penalty."""
    if len(np.unique(y)) > 2:
        return _CHOICE_OF_MANY_CLASSES
    return _CHOICE if n_features <= _MANY_FEATURES else _FEW_CHOICE


def folds(y: NDArray[Any], n_folds: int, seed: int) -> list[NDArray[np.intp]]:
    """Return the rows of stratified and shuffled folds."""
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return [part for _, part in splitter.split(y, y)]


def accuracies(
    Z: NDArray[Any], y: NDArray[Any], Cs: Sequence[float], parts: Sequence[NDArray[np.intp]]
) -> Array:
    """Return the accuracy on all parts, each left out in its turn, for each ``C``, (len(Cs),)."""
    right = np.zeros(len(Cs))
    for part in parts:
        rest = np.setdiff1d(np.arange(len(y)), part)
        for place, C in enumerate(Cs):
            model = linear_classifier(C).fit(Z[rest], y[rest])
            right[place] += np.sum(model.predict(Z[part]) == y[part])
    return right / sum(map(len, parts))


def choice_accuracies(Z: NDArray[Any], y: NDArray[Any], seed: int) -> Array:
    """Return accuracies over folds of some training rows, for each C of the grid."""
    rows = slice(0, n_choice(Z.shape[1], y))
    return accuracies(Z[rows], y[rows], CS, folds(y[rows], N_FOLDS, seed))


def learned_accuracy(
    features: FeatureMap, split: Split, seed: int, Z: NDArray[Any], C: float | None = None
) -> dict[str, float]:
    """Return the test accuracy of a linear classifier on fitted features, and its C.

    ``Z`` holds the features of the training rows. Without ``C``, the best over five folds of some
    of these rows is taken.
    """
    if C is None:
        C = CS[int(np.argmax(choice_accuracies(Z, split.y, seed)))]
    model = linear_classifier(C).fit(Z, split.y)
    right = [
        model.predict(features_of(features, split.test[rows])) == split.y_test[rows]
        for rows in _blocks(len(split.test), Z.shape[1])
    ]
    return {"accuracy": float(np.mean(np.concatenate(right))), "C": C}


def _blocks(n_rows: int, width: int) -> Iterator[slice]:
    return row_blocks(n_rows, _BYTES_AN_ENTRY * width, block_bytes=_BLOCK_BYTES)

"""Linear classifiers on features: the penalty chosen on some training rows, then fitted to all."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.digmm.data import Split
from benchmarks.digmm.design import CS
from benchmarks.indefinite.design import FeatureMap
from benchmarks.squared_hinge import (
    accuracies,
    folds,
    labels_of,
    minimised,
    targets_of,
)
from bochner._numerics.arrays import Array, row_blocks

N_FOLDS = 5
_MANY_FEATURES = 2_000
_CHOICE, _FEW_CHOICE, _CHOICE_OF_MANY_CLASSES = 4_000, 2_000, 1_000
_TOLERANCE, _TOLERANCE_OF_MANY_CLASSES = 1e-3, 1e-2
_BYTES_AN_ENTRY, _BLOCK_BYTES = 12, 2**26


def features_of(features: FeatureMap, X: Array) -> NDArray[np.float32]:
    """Return features with a column of ones, in single precision."""
    Z = np.ones((len(X), len(features.signature_) + 1), np.float32)
    for rows in _blocks(len(X), Z.shape[1]):
        Z[rows, :-1] = features.transform(X[rows].astype(np.float32))
    return Z


def n_choice(n_features: int, y: NDArray[Any]) -> int:
    """Return how many training rows choose a penalty."""
    if len(np.unique(y)) > 2:
        return _CHOICE_OF_MANY_CLASSES
    return _CHOICE if n_features <= _MANY_FEATURES else _FEW_CHOICE


def tolerance(n_classes: int) -> float:
    """Return how small a gradient ends the classifier's iterations."""
    return _TOLERANCE if n_classes == 2 else _TOLERANCE_OF_MANY_CLASSES


def choice_accuracies(Z: NDArray[Any], y: NDArray[Any], seed: int) -> Array:
    """Return accuracies over folds of some training rows, for each C of the grid."""
    rows = slice(0, n_choice(Z.shape[1], y))
    found: Array = accuracies(Z[rows], y[rows], CS, folds(y[rows], N_FOLDS, seed))
    return found


def learned_accuracy(
    features: FeatureMap, split: Split, seed: int, Z: NDArray[Any], C: float | None = None
) -> dict[str, float]:
    """Return the test accuracy of a linear classifier on features, and its C.

    Parameters
    ----------
    features : FeatureMap
        Fitted.
    split : Split
    seed : int
        Of the folds.
    Z : ndarray of shape (n, p + 1)
        Features of the training rows, with a column of ones.
    C : float, default=None
        ``None`` means the best over five folds of some training rows.
    """
    if C is None:
        C = CS[int(np.argmax(choice_accuracies(Z, split.y, seed)))]
    Y, classes = targets_of(split.y)
    weight = minimised(Z, Y, C, tol=tolerance(len(classes))).weight
    blocks = _blocks(len(split.test), Z.shape[1])
    right = [
        labels_of(features_of(features, split.test[rows]) @ weight, classes) == split.y_test[rows]
        for rows in blocks
    ]
    return {"accuracy": float(np.mean(np.concatenate(right))), "C": C}


def _blocks(n_rows: int, width: int) -> Iterator[slice]:
    return row_blocks(n_rows, _BYTES_AN_ENTRY * width, block_bytes=_BLOCK_BYTES)

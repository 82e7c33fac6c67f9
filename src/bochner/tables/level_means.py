"""Means of a target at the rare levels of a text column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array
from bochner.tables.left_out_groups import Removal

_N_FOLDS = 5
"""Folds of the rows of a level: as many as scikit-learn's TargetEncoder has by default."""

_TINY = 1e-300
"""Smallest divisor: a level without rows in other folds has the score 0/_TINY = 0."""


def target_columns(y: object) -> Array:
    """Return targets (n, t): numbers unchanged, or class indicators, one column for two classes."""
    target = np.asarray(y)
    if target.dtype.kind in "biuf":
        return as_array(target.reshape(len(target), -1))
    classes, codes = np.unique(target.astype(str), return_inverse=True)
    return np.eye(len(classes))[codes][:, 1 if len(classes) == 2 else 0 :]


def level_scores(
    codes: NDArray[np.intp], target: Array, clip: float, removal: Removal
) -> tuple[Array, Array] | None:
    """Return scores of all levels, and out-of-fold scores (n,) of the rows, if levels differ."""
    stretch = np.zeros(len(codes)) if removal.stretches is None else removal.stretches
    earlier = np.flatnonzero(stretch == 0)
    spread = _variances(codes[earlier], target[earlier])
    if spread is None:
        return None
    within, between = spread
    n_levels = int(codes.max()) + 1

    def scores(sums: Array, counts: Array) -> Array:
        shrunk = sums / np.maximum(counts + within / between, _TINY)
        return as_array(np.clip(shrunk / np.sqrt(between), -clip, clip))

    centred = target - target[earlier].mean()
    folds = codes * _N_FOLDS + _folds(codes, removal.labels(len(codes)))
    size = n_levels * _N_FOLDS
    sums_of_others, n_others = np.empty(len(codes)), np.empty(len(codes))
    for number in np.unique(stretch):
        rows, is_before = stretch == number, stretch < max(number, 1)
        for values, others in ((centred, sums_of_others), (np.ones(len(codes)), n_others)):
            in_fold = as_array(np.bincount(folds[is_before], values[is_before], size))
            others[rows] = in_fold.reshape(-1, _N_FOLDS).sum(axis=1)[codes[rows]]
            if number == 0:
                others[rows] -= in_fold[folds[rows]]
    of_all = scores(
        as_array(np.bincount(codes, target - target.mean())), as_array(np.bincount(codes))
    )
    return of_all, scores(sums_of_others, n_others)


def _folds(codes: NDArray[np.intp], labels: NDArray[np.int64]) -> NDArray[np.intp]:
    """Assign the labels of each level to folds in turn; return the fold (n,) of each row."""
    pairs = np.stack((codes, labels))
    (levels, _), number = np.unique(pairs, axis=1, return_inverse=True)
    place = np.arange(len(levels)) - np.searchsorted(levels, levels)
    return np.asarray(place[np.ravel(number)] % _N_FOLDS)


def _variances(codes: NDArray[np.intp], target: Array) -> tuple[float, float] | None:
    """Return the variances within and between levels; ``None`` if the latter is not positive."""
    codes = np.unique(codes, return_inverse=True)[1]
    centred = target - target.mean()
    counts, sums = np.bincount(codes), as_array(np.bincount(codes, centred))
    n, n_levels = codes.size, counts.size
    if n == n_levels:
        return None
    means = sums / counts
    within = float(np.sum((centred - means[codes]) ** 2)) / (n - n_levels)
    size = n - np.sum(counts**2) / n
    between = float(counts @ means**2 - (n_levels - 1) * within) / size if size > 0 else 0.0
    return (within, between) if between > 0.0 else None

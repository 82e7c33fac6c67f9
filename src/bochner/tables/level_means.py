"""Means of a target at the rare levels of a text column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array, as_array

_N_FOLDS = 5
"""Folds of the rows of a level: as many as scikit-learn's TargetEncoder has by default."""

_TINY = 1e-300
"""Smallest divisor: a level without rows in other folds has the score 0/_TINY = 0."""


def target_columns(y: Any) -> Array:
    """Return targets (n, t): numbers as they are, and one indicator per class but for two."""
    target = np.asarray(y)
    if target.dtype.kind in "biuf":
        return as_array(target.reshape(len(target), -1))
    classes, codes = np.unique(target.astype(str), return_inverse=True)
    return np.eye(len(classes))[codes][:, 1 if len(classes) == 2 else 0 :]


def level_scores(codes: NDArray[np.intp], target: Array, clip: float) -> tuple[Array, Array] | None:
    r"""Return scores of all levels, and scores (n,) of rows from the rows of other folds.

    The score of a level with :math:`n_g` rows is
    :math:`\sum_{i \in g} (y_i - \bar y) / (n_g + \sigma^2_w / \sigma^2_b) / \sigma_b`, its best
    linear prediction in units of the standard deviation of level means. The variances within and
    between levels are those of an analysis of variance. The result is None if the levels do not
    differ by more than chance, or if no level has two rows.

    Parameters
    ----------
    codes : array of shape (n,)
        Level of each row, from 0.
    target : array of shape (n,)
    clip : float
        Bound on the absolute values of scores.
    """
    centred = target - target.mean()
    counts, sums = np.bincount(codes), as_array(np.bincount(codes, centred))
    n, n_levels = codes.size, counts.size
    if n == n_levels:
        return None
    means = sums / counts
    within = np.sum((centred - means[codes]) ** 2) / (n - n_levels)
    size = n - np.sum(counts**2) / n
    between = (counts @ means**2 - (n_levels - 1) * within) / size if size > 0 else 0.0
    if not between > 0.0:
        return None

    def scores(sums: Array, counts: NDArray[Any]) -> Array:
        shrunk = sums / np.maximum(counts + within / between, _TINY)
        return as_array(np.clip(shrunk / np.sqrt(between), -clip, clip))

    order = np.argsort(codes, kind="stable")
    rank = np.empty(n, dtype=np.intp)
    rank[order] = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
    cells = codes * _N_FOLDS + rank % _N_FOLDS
    rest = sums[codes] - as_array(np.bincount(cells, centred))[cells]
    return scores(sums, counts), scores(rest, counts[codes] - np.bincount(cells)[cells])

"""Means of a target at the rare levels of a text column, without the left-out groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array

_BLOCKS = 10
"""Number of blocks of time, left out one at a time, with which kernels are learned."""

_STRETCH = 5
"""Later stretches each hold a fifth of the observations, the usual share of test rows."""

_STRETCHES = 3
"""Later stretches that are predicted from the rows before them, the first from two fifths."""

_FEWEST_BEFORE = 20
"""Fewest observations before a stretch, except for the last stretch: fewer determine no kernel."""


@dataclass(frozen=True, slots=True, eq=False)
class Removal:
    """Groups of observations that are left out together, and the observations that are scored."""

    groups: NDArray[np.int64] | None = None  # (n,): Indices of groups that are left out together
    stretches: NDArray[np.int64] | None = None  # (n,): Later stretches from 1; 0 before the first
    times: NDArray[np.int64] | None = None  # (n,): Ranks of distinct times

    @property
    def latest(self) -> NDArray[np.bool_] | None:
        """Mask (n,) of the last stretch; ``None`` without times."""
        return None if self.stretches is None else self.stretches == self.stretches.max()

    @classmethod
    def of_labels(cls, labels: NDArray[np.generic]) -> Self:
        """Return the removal of groups of rows with equal labels, one group at a time."""
        numbers = np.unique(labels, return_inverse=True)[1]
        if not numbers.any():
            raise ValueError("groups must have at least two different labels, got one.")
        return cls(numbers)

    @classmethod
    def of_times(cls, times: NDArray[np.generic]) -> Self:
        """Return the removal of blocks of time, with at most three later stretches."""
        n = len(times)
        _, number, counts = np.unique(times, return_inverse=True, return_counts=True)
        if n < _STRETCH or len(counts) < 2:
            raise ValueError(
                f"time leaves the latest fifth of the rows out: expected at least {_STRETCH} "
                f"rows and two different times, got {n} rows and {len(counts)} different "
                f"time{'s' if len(counts) > 1 else ''}."
            )
        ends = np.cumsum(counts)
        # First time of each stretch, from the last stretch to the first.
        firsts: list[int] = []
        for _ in range(_STRETCHES):
            n_before = int(ends[firsts[-1] - 1]) if firsts else n
            first = int(np.searchsorted(ends, n_before - n // _STRETCH, "right"))
            if firsts and (first == 0 or ends[first - 1] < _FEWEST_BEFORE):
                break
            firsts.append(max(first, 1))
        stretch = np.searchsorted(firsts[::-1], np.arange(len(counts)), "right")
        block = np.zeros(len(counts), dtype=np.int64)
        for part in range(len(firsts)):
            inside = np.flatnonzero(stretch == part)
            size = int(counts[inside].sum())
            n_blocks = max(1, round(_BLOCKS * size / n))
            # A time is in the block of its middle observation.
            middles = np.cumsum(counts[inside]) - 0.5 * counts[inside]
            block[inside] = part * _BLOCKS + np.minimum(n_blocks * middles // size, n_blocks - 1)
        block[firsts[0] :] = len(firsts) * _BLOCKS
        block = np.unique(block, return_inverse=True)[1]
        return cls(block[number], stretch[number], number)

    def part(self, chosen: NDArray[np.intp]) -> Removal:
        """Return the removal for the ``chosen`` observations only."""
        fields = (self.groups, self.stretches, self.times)
        return Removal(*(None if each is None else each[chosen] for each in fields))

    def labels(self, n: int) -> NDArray[np.int64]:
        """Return the group index (n,) of each observation; without groups, its own index."""
        return np.arange(n) if self.groups is None else self.groups


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

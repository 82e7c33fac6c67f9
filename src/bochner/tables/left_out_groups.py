"""Groups of observations that are left out together in leave-one-out predictions."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

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

    def part(self, chosen: NDArray[np.intp]) -> "Removal":
        """Return the removal for the ``chosen`` observations only."""
        fields = (self.groups, self.stretches, self.times)
        return Removal(*(None if each is None else each[chosen] for each in fields))

    def labels(self, n: int) -> NDArray[np.int64]:
        """Return the group index (n,) of each observation; without groups, its own index."""
        return np.arange(n) if self.groups is None else self.groups

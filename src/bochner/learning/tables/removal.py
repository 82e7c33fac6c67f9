"""Groups of observations that are left out together in leave-one-out predictions."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

_BLOCKS = 10
"""Number of blocks of observations in time. The latest two blocks are merged: a fifth of all."""


@dataclass(frozen=True, slots=True, eq=False)
class Removal:
    """Groups of observations that are left out together, and the observations that are scored.

    Without groups each observation is left out by itself: equal observations are independent.
    Encoders, kernels, weights of base models and calibration all use this object, because none of
    these steps may use a left-out target.
    """

    groups: NDArray[np.int64] | None = None  # (n,): Indices of groups that are left out together
    latest: NDArray[np.bool_] | None = None  # (n,): The only scored observations; None for all

    @classmethod
    def of_labels(cls, labels: NDArray[np.generic]) -> Self:
        """Return the removal of all observations with one label at a time."""
        numbers = np.unique(labels, return_inverse=True)[1]
        if not numbers.any():
            raise ValueError("groups must have at least two different labels, got one.")
        return cls(numbers)

    @classmethod
    def of_times(cls, times: NDArray[np.generic]) -> Self:
        """Return the removal of blocks in time, of which only the latest is scored.

        Observations of one time are in one block. The latest block has at least a fifth of the
        observations, unless all earlier observations have one time.
        """
        n = len(times)
        _, number, counts = np.unique(times, return_inverse=True, return_counts=True)
        if n < _BLOCKS // 2 or len(counts) < 2:
            raise ValueError(
                f"time leaves the latest fifth of the rows out: expected at least {_BLOCKS // 2} "
                f"rows and two different times, got {n} rows and {len(counts)} different "
                f"time{'s' if len(counts) > 1 else ''}."
            )
        ends = np.cumsum(counts)
        first_latest = max(1, int(np.searchsorted(ends, n - n // (_BLOCKS // 2), "right")))
        # A time is in the block of its middle observation.
        middles = ends - 0.5 * counts
        block = np.minimum(_BLOCKS * middles // n, _BLOCKS - 2).astype(np.int64)
        block[:first_latest] = np.minimum(block[:first_latest], _BLOCKS - 3)
        block[first_latest:] = _BLOCKS - 2
        block = np.unique(block, return_inverse=True)[1]
        return cls(block[number], number >= first_latest)

    def part(self, chosen: NDArray[np.intp]) -> "Removal":
        """Return the removal among some of the observations."""
        return Removal(
            None if self.groups is None else self.groups[chosen],
            None if self.latest is None else self.latest[chosen],
        )

    def labels(self, n: int) -> NDArray[np.int64]:
        """Return the group index (n,) of each observation; without groups, its own index."""
        return np.arange(n) if self.groups is None else self.groups


def fold_numbers(groups: NDArray[np.int64] | None, n: int, n_folds: int) -> NDArray[np.int64]:
    """Return fold indices (n,) that keep groups together, or of single rows if there is one group.

    Observations must be in random order.
    """
    if groups is None or not np.ptp(groups):
        return np.arange(n) % n_folds
    first, number = np.unique(groups, return_index=True, return_inverse=True)[1:]
    return np.argsort(np.argsort(first))[number] % n_folds

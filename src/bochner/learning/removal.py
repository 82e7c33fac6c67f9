"""What is removed together when observations are predicted without themselves."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

_BLOCKS = 10
"""Blocks of observations in time. The latest two together, a fifth, are left out last."""


@dataclass(frozen=True, slots=True, eq=False)
class Removal:
    """Which observations are removed together, and which are scored.

    Without groups each observation is removed by itself: equal observations are independent.
    Encoders, kernels, weights of laws and last stages all take this value. A target that is
    removed must not be known to any of them.
    """

    groups: NDArray[np.int64] | None = None  # (n,): Numbers of groups that are removed together
    latest: NDArray[np.bool_] | None = None  # (n,): The group that alone is scored; None: all are

    @classmethod
    def of_labels(cls, labels: NDArray[Any]) -> Self:
        """Return the removal of all observations with one label at a time."""
        numbers = np.unique(labels, return_inverse=True)[1]
        if not numbers.any():
            raise ValueError("groups must have at least two different labels, got one.")
        return cls(numbers)

    @classmethod
    def of_times(cls, times: NDArray[Any]) -> Self:
        """Return the removal of blocks in time, of which the latest alone is scored.

        Observations of one time are in one block. The latest block has at least a fifth of them,
        unless all earlier ones are of one time.
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
        """Return a number (n,) for each observation, equal for those that are removed together."""
        return np.arange(n) if self.groups is None else self.groups


def fold_numbers(groups: NDArray[np.int64] | None, n: int, n_folds: int) -> NDArray[np.int64]:
    """Return numbers of folds (n,) with whole groups; of single observations if there is one group.

    Observations are in random order.
    """
    if groups is None or not np.ptp(groups):
        return np.arange(n) % n_folds
    first, number = np.unique(groups, return_index=True, return_inverse=True)[1:]
    return np.argsort(np.argsort(first))[number] % n_folds

"""Rows with targets, weights and groups, and their errors in fits without them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array

Chosen = NDArray[np.int64]
"""Numbers of rows or of columns."""


class Elsewhere(Protocol):
    """Rows that are not in memory, encoded as those that are."""

    def total(self, function: Callable[["Rows"], Array]) -> Array:
        """Return the sum of a function of the rows of each part; the function can be pickled."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Encoded rows and their targets. Rows of a group are left out together."""

    X: Array  # (n, d)
    Y: Array  # (n, t): Of mean zero
    weights: Array  # (n,): Of mean one; noise variances are inversely proportional to them
    groups: Chosen | None = None  # (n,): Numbers from zero; None: each row is a group
    shared: Chosen | None = None  # (d,): Numbers of the length scales of columns; None: all differ

    def __len__(self) -> int:
        return len(self.Y)

    def part(self, chosen: Chosen) -> "Rows":
        """Return some of the rows."""
        groups = None
        if self.groups is not None:
            groups = np.unique(self.groups[chosen], return_inverse=True)[1]
        return Rows(self.X[chosen], self.Y[chosen], self.weights[chosen], groups, self.shared)

    def columns(self, chosen: Chosen) -> "Rows":
        """Return the rows with some of the columns."""
        shared = None if self.shared is None else self.shared[chosen]
        return replace(self, X=self.X[:, chosen], shared=shared)

    def length_scales(self) -> Chosen:
        """Return the number (d,), from zero, of the length scale of each column."""
        if self.shared is None:
            return np.arange(self.X.shape[1])
        return np.unique(self.shared, return_inverse=True)[1]

    def members(self) -> list[Chosen]:
        """Return the rows of each group."""
        assert self.groups is not None  # Else rows have no common group
        order = np.argsort(self.groups, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.groups[order])) + 1)

    def halves(self) -> tuple[Chosen, Chosen]:
        """Return the rows of either half, each with whole groups."""
        if self.groups is None:
            first, second = np.array_split(np.arange(len(self)), 2)
            return first, second
        is_first = self.groups % 2 == 0
        return np.flatnonzero(is_first), np.flatnonzero(~is_first)

    def solved(self, inverse: Array, right: Array) -> Array:
        """Return the inverse of the groups' blocks of a matrix (n, n) times ``right`` (n, t)."""
        if self.groups is None:
            return right / np.diagonal(inverse)[:, None]
        result = np.empty_like(right)
        for own in self.members():
            result[own] = np.linalg.solve(inverse[np.ix_(own, own)], right[own])
        return result

    def left_out_variance(self, inverse: Array) -> Array:
        """Return the diagonal (n,) of the inverse of the groups' blocks of a matrix (n, n)."""
        if self.groups is None:
            return 1.0 / np.diagonal(inverse)
        result = np.empty(len(self))
        for own in self.members():
            result[own] = np.diagonal(np.linalg.inv(inverse[np.ix_(own, own)]))
        return result

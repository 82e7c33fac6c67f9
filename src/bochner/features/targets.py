"""Columns of numbers for a user's targets, a block of rows at a time."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, Mask, as_array


class Targets(ABC):
    """The map from targets of any kind to columns of numbers to regress on."""

    __slots__ = ()

    @property
    @abstractmethod
    def n_targets(self) -> int:
        """Number of columns, ``t``."""

    @abstractmethod
    def __call__(self, y: NDArray[Any]) -> Array:
        """Return float64 columns (n, t) for the targets of n rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbers(Targets):
    """Numbers less an origin (t,): sums of squares about a distant origin would cancel."""

    origin: Array

    @property
    def n_targets(self) -> int:
        return len(self.origin)

    def __call__(self, y: NDArray[Any]) -> Array:
        """Return ``y`` (n,) or (n, t) less the origin."""
        columns: Array = y.reshape(len(y), -1).astype(np.float64, copy=False)
        return columns - self.origin if self.origin.any() else columns


@dataclass(frozen=True, slots=True, eq=False)
class Indicators(Targets):
    """Indicators of classes: one for labels of the class of a column, minus one for other labels.

    Classes are sorted; two of them have one column, that of the second.
    """

    classes: NDArray[Any]

    @property
    def n_targets(self) -> int:
        return len(self._columns)

    @property
    def _columns(self) -> NDArray[Any]:
        return self.classes[1:] if len(self.classes) == 2 else self.classes

    def __call__(self, y: NDArray[Any]) -> Array:
        """Return the indicators of labels ``y`` (n,); ``ValueError`` for an unknown label."""
        unknown = np.setdiff1d(y, self.classes)
        if unknown.size:
            raise ValueError(
                f"y contains labels that were not announced: {unknown[:5].tolist()}; give all of "
                f"them as classes in the first call of partial_fit. Known: {self.classes.tolist()}."
            )
        return np.where(y[:, None] == self._columns, 1.0, -1.0)


MEANINGS = ("precisions", "counts")
"""Meanings of the weights of a table: one observation of each row, or as many as its weight."""

_WHOLE = 1e-9
"""Distance from a whole number, as a share of a weight, up to which a weight counts as whole:
products and quotients of whole numbers are off by some spacings of float64, 1e-16."""


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Observations that rows represent, for leave-one-out predictions.

    ``weights`` (n,) are precisions of each observation of a row, and ``counts`` (n,) the numbers of
    equal, independent observations that a row represents.
    """

    weights: Array
    counts: Array

    @classmethod
    def of(cls, sample_weight: Array | None, n: int) -> "Units":
        """Return the units of ``n`` rows with checked weights (n,), ``None`` for ones."""
        if sample_weight is None:
            return cls(np.ones(n), np.ones(n))
        if are_whole(sample_weight).all():
            return cls(np.ones(n), np.rint(sample_weight))
        return cls(sample_weight, (sample_weight > 0.0).astype(np.float64))

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def totals(self) -> Array:
        """Total weights of the rows, of shape (n,)."""
        return as_array(self.weights * self.counts)

    @property
    def n_observations(self) -> float:
        """Number of observations of all rows together."""
        return float(self.counts.sum())

    @property
    def are_counts(self) -> bool:
        """Whether every observation has the weight one."""
        return bool((self.weights == 1.0).all())


def are_whole(weights: Array) -> Mask:
    """Return which weights (n,) are whole numbers, up to rounding."""
    return np.asarray(np.abs(weights - np.rint(weights)) <= _WHOLE * weights)

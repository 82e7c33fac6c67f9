"""From a user's targets to columns of numbers, a block of rows at a time."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array


class Targets(ABC):
    """Columns of numbers to regress on, made of targets of any kind."""

    __slots__ = ()

    @property
    @abstractmethod
    def n_targets(self) -> int:
        """Number of columns, ``t``."""

    @abstractmethod
    def __call__(self, y: NDArray[Any]) -> Array:
        """Return the columns, of shape (n, t) in float64, of the targets of some rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbers(Targets):
    """Targets that are numbers already, counted from an origin.

    Sums of squares about an origin far away would cancel.

    Parameters
    ----------
    origin : ndarray of shape (t,)
    """

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
    """Plus one where a label is the column's class, minus one elsewhere.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        Sorted. Two of them make one column, that of the second.
    """

    classes: NDArray[Any]

    @property
    def n_targets(self) -> int:
        return len(self._columns)

    @property
    def _columns(self) -> NDArray[Any]:
        return self.classes[1:] if len(self.classes) == 2 else self.classes

    def __call__(self, y: NDArray[Any]) -> Array:
        """Return the indicators of labels ``y`` (n,).

        Raises
        ------
        ValueError
            If a label is none of the classes.
        """
        unknown = np.setdiff1d(y, self.classes)
        if unknown.size:
            raise ValueError(
                f"y contains labels that were not announced: {unknown[:5].tolist()}; give all of "
                f"them as classes in the first call of partial_fit. Known: {self.classes.tolist()}."
            )
        return np.where(y[:, None] == self._columns, 1.0, -1.0)

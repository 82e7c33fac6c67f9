"""The problems of a model that learns its kernel: rows, and what makes their targets."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.features.targets import Indicators


@dataclass(frozen=True, slots=True, eq=False)
class Problems:
    """Distinct rows to learn from.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    codes : ndarray of shape (n,)
        Numbers that stand for what was given as targets.
    weight : ndarray of shape (n,) or None
    targets : Standardised or OneAgainstRest
        Makes the problems' targets of what was given.
    unit : float
        By which given weights have been divided.
    """

    X: Array
    codes: Array
    weight: Array | None
    targets: "Standardised | OneAgainstRest"
    unit: float = 1.0


@dataclass(frozen=True, slots=True)
class Standardised:
    """Targets of a regression, less their mean and over their scale.

    Parameters
    ----------
    mean, scale : float
        A scale of zero says that they are constant: nothing is left of them.
    """

    mean: float
    scale: float

    def codes(self, y: NDArray[Any]) -> Array:
        """Return the targets themselves, of shape (n,)."""
        return y.astype(np.float64)

    def of_codes(self, codes: Array) -> Array:
        """Return standardised targets, of shape (n, 1)."""
        centred = codes[:, None] - self.mean
        return centred / self.scale if self.scale else np.zeros_like(centred)

    def __call__(self, y: NDArray[Any]) -> Array:
        """Return the column of targets (n, 1) that ``y`` (n,) stand for."""
        return self.of_codes(self.codes(y))


@dataclass(frozen=True, slots=True, eq=False)
class OneAgainstRest:
    """Targets of a classification: plus one for a class, minus one for the others.

    Parameters
    ----------
    classes : ndarray
        All labels, in ascending order.
    """

    classes: NDArray[Any]

    def codes(self, y: NDArray[Any]) -> Array:
        """Return the numbers of the classes, of shape (n,)."""
        return np.searchsorted(self.classes, y).astype(np.float64)

    def of_codes(self, codes: Array) -> Array:
        """Return a column for every class, or one for two of them."""
        return Indicators(np.arange(len(self.classes)))(codes)

    def __call__(self, y: NDArray[Any]) -> Array:
        """Return the columns of targets (n, t) that labels ``y`` (n,) stand for."""
        return self.of_codes(self.codes(y))

"""Maps between the targets of tables and the scaled targets of a fit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array
from bochner.features.targets import Indicators
from bochner.tables.target_transformations import Transformation

_FEWEST_AT_FLOOR = 8
"""Fewest targets at zero, or above twice the median, that make zero a floor: if targets could be
negative, the probability of eight such targets and no negative one is at most 2 to the power -8."""

_NO_FLOOR = float(np.finfo(np.float64).min)
"""Floor of a target without one, next to targets with one: model files hold finite numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class ScaledTargets:
    """Numbers (n,) or (n, t) in units of their standard deviations from the mean.

    If there is a transformation, it is applied before the scaling. Targets from scaled numbers are
    at least the floor.
    """

    mean: Any  # () or (t,)
    scale: Any  # () or (t,)
    transformation: Transformation | None = None
    floor: Any = None  # () or (t,)

    @classmethod
    def of(
        cls, y: NDArray[Any], weights: Array | None, transformation: Transformation | None = None
    ) -> "ScaledTargets":
        """Return the map of targets (n,) or (n, t) with weights (n,); ``None`` means ones."""
        floors = np.apply_along_axis(floor_of, 0, y)
        floor = plain(floors) if (floors > _NO_FLOOR).any() else None
        y = y if transformation is None else transformation(y)
        mean = plain(np.average(y, axis=0, weights=weights))
        scale = np.sqrt(np.average((y - mean) ** 2, axis=0, weights=weights))
        return cls(mean, plain(np.where(scale > 0.0, scale, 1.0)), transformation, floor)

    @property
    def slope(self) -> Any:
        """Slopes () or (t,) of :meth:`inverse` if it is a line for each target, else ``None``."""
        is_line = self.transformation is None and self.floor is None
        return self.scale if is_line else None

    def __call__(self, y: NDArray[Any]) -> Array:
        """Return the targets (n, t) of a fit."""
        return self.scaled(y).reshape(len(y), -1)

    def scaled(self, y: NDArray[Any]) -> Array:
        """Return the scaled targets in the shape (n,) or (n, t) of the targets."""
        if self.transformation is not None:
            y = self.transformation(y)
        return as_array((y - self.mean) / self.scale)

    def inverse(self, values: Array) -> Array:
        """Return targets (n, *t) or (n, *t, q) from scaled targets."""
        mean, scale = self.mean, self.scale
        if np.ndim(values) > 1 + np.ndim(mean):
            mean, scale = np.expand_dims(mean, -1), np.expand_dims(scale, -1)
        targets = as_array(mean + scale * values)
        if self.transformation is not None:
            targets = self.transformation.inverse(targets)
        return targets if self.floor is None else at_least(targets, self.floor)


def at_least(targets: Array, floor: Any) -> Array:
    """Return targets (n, *t) or (n, *t, q), of which smaller ones are raised to a floor (*t)."""
    if np.ndim(targets) > 1 + np.ndim(floor):
        floor = np.expand_dims(floor, -1)
    return as_array(np.maximum(targets, floor))


@dataclass(frozen=True, slots=True, eq=False)
class CentredIndicators:
    """Indicators of class numbers (n,), minus their means in the sample."""

    indicators: Indicators
    centre: Array

    @classmethod
    def of(cls, y: NDArray[np.integer], weights: Array | None) -> "CentredIndicators":
        """Return the map of class numbers (n,) with weights (n,); ``None`` means ones."""
        indicators = Indicators(np.unique(y))
        return cls(indicators, np.average(indicators(y), axis=0, weights=weights))

    def __call__(self, y: NDArray[Any]) -> Array:
        """Return the targets (n, t) of a fit."""
        return self.indicators(y) - self.centre


def floor_of(y: NDArray[Any]) -> float:
    """Return zero if targets (n,) are never negative though zero is within reach, else no floor.

    Zero is within reach if many targets are zero, or if many are above twice the median: as many
    would be negative if the targets were symmetric about the median.
    """
    if not np.min(y) >= 0.0:
        return _NO_FLOOR
    n_expected = max(np.sum(y == 0.0), np.sum(y > 2.0 * np.median(y)))
    return 0.0 if n_expected >= _FEWEST_AT_FLOOR else _NO_FLOOR


def plain(value: Any) -> float | Array:
    """Return an array (t,) unchanged, and a scalar as a float."""
    return as_array(value) if np.ndim(value) else float(value)

"""Monotone transformations after which a series may be a sum of Gaussian processes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from bochner._numerics.arrays import Array


class MonotoneTransformation(ABC):
    """A monotone function, its inverse and the logarithm of its derivative."""

    least: float = -np.inf
    """Lower bound of the domain of the function."""

    takes_least: bool = True
    """Whether the lower bound belongs to the domain of the function."""

    changes_scale: bool = True
    """Whether transformed values are on another scale than the values."""

    has_floor: bool = False
    """Whether all transformed values below the lower bound stand for the lower bound itself."""

    def takes(self, least: float) -> bool:
        """Return whether the domain of the function contains values with this least value."""
        return least >= self.least if self.takes_least else least > self.least

    @abstractmethod
    def forward(self, values: Array) -> Array:
        """Return the function of values (n,)."""

    @abstractmethod
    def back(self, transformed: Array) -> Array:
        """Return the values from transformed values."""

    @abstractmethod
    def log_slope(self, values: Array) -> Array:
        """Return the logarithm of the derivative at values (n,)."""


class Identity(MonotoneTransformation):
    """The identity."""

    changes_scale = False

    def forward(self, values: Array) -> Array:
        return values

    def back(self, transformed: Array) -> Array:
        return transformed

    def log_slope(self, values: Array) -> Array:
        return np.zeros_like(values)


class Floor(Identity):
    """The identity with a floor at zero: forecasts below zero are zero.

    The values are a normal law of which all below zero is at zero, as in a Tobit model.
    """

    least = 0.0
    has_floor = True

    def back(self, transformed: Array) -> Array:
        values: Array = np.maximum(transformed, 0.0)
        return values


class SquareRoot(MonotoneTransformation):
    """The square root, for series such as counts, whose changes grow like the root of the level."""

    least = 0.0

    def forward(self, values: Array) -> Array:
        return np.sqrt(np.maximum(values, 0.0))

    def back(self, transformed: Array) -> Array:
        values: Array = np.maximum(transformed, 0.0) ** 2
        return values

    def log_slope(self, values: Array) -> Array:
        log_slope: Array = -np.log(2.0) - 0.5 * np.log(values)
        return log_slope


class Logarithm(MonotoneTransformation):
    """The logarithm, for changes in proportion to the level."""

    least = 0.0
    takes_least = False

    def forward(self, values: Array) -> Array:
        return np.log(np.maximum(values, np.finfo(np.float64).tiny))

    def back(self, transformed: Array) -> Array:
        return np.exp(np.minimum(transformed, np.log(np.finfo(np.float64).max)))

    def log_slope(self, values: Array) -> Array:
        return -np.log(values)


TRANSFORMATIONS: Mapping[str, MonotoneTransformation] = MappingProxyType(
    {"none": Identity(), "floor": Floor(), "sqrt": SquareRoot(), "log": Logarithm()}
)
"""Transformations by name."""

_LEAST_RATIO = 1.25
"""Ratio of the greatest to the least value below which transformations are nearly linear: the
logarithm then deviates from its chord by less than three per cent of the range."""


_FEWEST_ZEROS = 2
"""Number of zeros, without a value below, from which zero is the floor of a series: one zero may be
the least of values that happen to be above it."""


def candidates(values: Array) -> list[str]:
    """Return the names of the transformations to compare for known values (n,)."""
    least, greatest = float(values.min()), float(values.max())
    if greatest < _LEAST_RATIO * least:
        return ["none"]
    has_floor = least == 0.0 and np.count_nonzero(values == 0.0) >= _FEWEST_ZEROS
    unused = "none" if has_floor else "floor"
    return [
        name
        for name, function in TRANSFORMATIONS.items()
        if name != unused and function.takes(least)
    ]


def positive(values: Array) -> Array:
    """Return the values, with half of the least positive value in place of non-positive values.

    The square root has an infinite slope at zero. A zero stands for values that round to zero.
    """
    # All values may be zero: they are replaced by one.
    above = values[values > 0.0]
    return np.maximum(values, 0.5 * above.min()) if len(above) else np.ones_like(values)

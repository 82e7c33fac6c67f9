"""Monotone transformations after which a series may be a sum of Gaussian processes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from scipy.special import ndtr

from bochner._base.arrays import Array, Mask

_FAR = 9.0
"""Standard deviations above zero from which a normal law has no probability below zero: less than
1e-18, which no double has next to one."""

_INVERSE_ROOT = 1.0 / np.sqrt(2.0 * np.pi)  # Of the standard normal density at zero


class MonotoneTransformation(ABC):
    """A monotone function, its inverse and the logarithm of its derivative."""

    least: float = -np.inf
    """Lower bound of the domain of the function."""

    takes_least: bool = True
    """Whether the lower bound belongs to the domain of the function."""

    changes_scale: bool = True
    """Whether transformed values are on another scale than the values."""

    has_floor: bool = False
    """Whether all transformed values below zero stand for the lower bound of the values itself. The
    lower bound has then a probability, and no density."""

    def takes(self, least: float) -> bool:
        """Return whether the domain of the function contains values with this least value."""
        return bool(self.domain(np.array(least)))

    def domain(self, values: Array) -> Mask:
        """Return the mask (n,) of values in the domain of the function."""
        return values >= self.least if self.takes_least else values > self.least

    @abstractmethod
    def forward(self, values: Array) -> Array:
        """Return the function of values (n,)."""

    @abstractmethod
    def back(self, transformed: Array) -> Array:
        """Return the values from transformed values."""

    @abstractmethod
    def log_slope(self, values: Array) -> Array:
        """Return the logarithm of the derivative at values (n,)."""

    @abstractmethod
    def moments(self, means: Array, variances: Array) -> tuple[Array, Array]:
        """Return means and variances of values whose transforms are normal with given moments."""


class Identity(MonotoneTransformation):
    """The identity."""

    changes_scale = False

    def forward(self, values: Array) -> Array:
        return values

    def back(self, transformed: Array) -> Array:
        return transformed

    def log_slope(self, values: Array) -> Array:
        return np.zeros_like(values)

    def moments(self, means: Array, variances: Array) -> tuple[Array, Array]:
        return means, variances


class Floor(Identity):
    """The identity with a floor at zero: forecasts below zero are zero.

    The values are a normal law of which all below zero is at zero, as in a Tobit model.
    """

    least = 0.0
    has_floor = True

    def back(self, transformed: Array) -> Array:
        values: Array = np.maximum(transformed, 0.0)
        return values

    def moments(self, means: Array, variances: Array) -> tuple[Array, Array]:
        _, first, second, *_ = _moments_above_zero(means, variances)
        is_far = means > _FAR * np.sqrt(variances)
        return first, np.where(is_far, variances, second - first**2)


class SquareRoot(MonotoneTransformation):
    """The square root, for series such as counts, whose changes grow like the root of the level.

    All transformed values below zero stand for a value of zero.
    """

    least = 0.0
    has_floor = True

    def forward(self, values: Array) -> Array:
        return np.sqrt(np.maximum(values, 0.0))

    def back(self, transformed: Array) -> Array:
        values: Array = np.maximum(transformed, 0.0) ** 2
        return values

    def log_slope(self, values: Array) -> Array:
        log_slope: Array = -np.log(2.0) - 0.5 * np.log(values)
        return log_slope

    def moments(self, means: Array, variances: Array) -> tuple[Array, Array]:
        _, _, second, _, fourth = _moments_above_zero(means, variances)
        is_far = means > _FAR * np.sqrt(variances)
        of_squares = 2.0 * variances * (2.0 * means**2 + variances)
        return second, np.where(is_far, of_squares, fourth - second**2)


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

    def moments(self, means: Array, variances: Array) -> tuple[Array, Array]:
        with np.errstate(over="ignore"):  # Infinite, where a double has no such number
            expected = np.exp(means + 0.5 * variances)
            return expected, np.expm1(variances) * expected**2


def _moments_above_zero(means: Array, variances: Array) -> list[Array]:
    """Return E[max(x, 0)^k] for k = 1 to 4, and before them P(x > 0), of normal x."""
    std = np.sqrt(variances)
    scores = means / std
    density = _INVERSE_ROOT * np.exp(-0.5 * scores**2)
    moments = [ndtr(scores), means * ndtr(scores) + std * density]
    for k in (2, 3, 4):  # Integration by parts
        moments.append(means * moments[-1] + (k - 1) * variances * moments[-2])
    return moments


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

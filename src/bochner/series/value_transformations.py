"""Monotone transformations after which a series may be a sum of Gaussian processes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri

from bochner._base.arrays import Array, Mask, as_array, row_blocks


class MonotoneTransformation(ABC):
    """A monotone function, its inverse and the logarithm of its derivative."""

    least: float = -np.inf
    """Lower bound of the domain of the function."""

    takes_least: bool = True
    """Whether the lower bound belongs to the domain of the function."""

    numbers: str = "values"
    """Noun of the numbers that the function takes, in messages."""

    changes_scale: bool = True
    """Whether the function is not the identity."""

    has_floor: bool = False
    """Whether all transformed values below zero map to the lower bound of the values, which then
    has a positive probability."""

    def takes(self, least: float) -> bool:
        """Return whether the function is defined for values whose minimum is ``least``."""
        return bool(self.domain(np.array(least)))

    def domain(self, values: Array) -> Mask:
        """Return the mask (n,) of values in the domain of the function."""
        return values >= self.least if self.takes_least else values > self.least

    @abstractmethod
    def forward(self, values: Array) -> Array:
        """Return the function of values (n,)."""

    @abstractmethod
    def back(self, transformed: Array) -> Array:
        """Return the inverse function of transformed values."""

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
    """The identity with a floor at zero: forecasts below zero are zero."""

    least = 0.0
    has_floor = True

    def back(self, transformed: Array) -> Array:
        values: Array = np.maximum(transformed, 0.0)
        return values


class WholeNumbers(Floor):
    """The identity of whole numbers of zero or more, whose logarithm of the mean is modelled."""

    numbers = "whole numbers"

    def domain(self, values: Array) -> Mask:
        are_counts: Mask = (values >= 0.0) & (values == np.floor(values))
        return are_counts


class SquareRoot(MonotoneTransformation):
    """The square root, for series such as counts, whose changes grow like the root of the level."""

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
    {
        "none": Identity(),
        "floor": Floor(),
        "sqrt": SquareRoot(),
        "log": Logarithm(),
        "counts": WholeNumbers(),
    }
)
"""Transformations by name; only ``"counts"`` is not that of a sum of Gaussian processes."""

_ZEROS = 0.5
"""Share of zeros above which whole numbers have a law of counts, no square root."""


def are_mostly_zero(values: Array) -> bool:
    """Return whether known values (n,) are whole numbers of zero or more, and most are zero."""
    is_count = TRANSFORMATIONS["counts"].domain(values)
    return bool(is_count.all() and np.mean(values == 0.0) > _ZEROS)


def component_scale(transformation: str) -> str:
    """Return the transformation whose values the components of a model add up to."""
    return "log" if transformation == "counts" else transformation


_LEAST_RATIO = 1.25
"""Ratio of the greatest to the least value below which transformations are nearly linear: the
logarithm then deviates from its chord by less than three per cent of the range."""


_FEWEST_ZEROS = 2
"""Fewest zeros of a nonnegative series with a floor at zero; one may be a coincidence."""


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
        if name not in (unused, "counts") and function.takes(least)
    ]


def positive(values: Array) -> Array:
    """Return the values, with half of the least positive value in place of non-positive values."""
    # All values may be zero: they are replaced by one.
    above = values[values > 0.0]
    return np.maximum(values, 0.5 * above.min()) if len(above) else np.ones_like(values)


_HALVINGS = 60  # Number of bisections, which exhaust float64 precision
_BEYOND = 9.0
"""Half width of the bracket of all quantiles, in standard deviations: 1e-18 is outside."""

_NODES = np.linspace(-7.0, 7.0, 71)
"""Standardised nodes of integrals over a normal law: their error at a floor is a thousandth of its
standard deviation."""

_NODE_SHARES = np.exp(-0.5 * _NODES**2)  # Proportional to the weights of the nodes

_LAST = 1e-4
"""Probability of the upper tail whose values count as its smallest one in standard deviations: on a
logarithmic scale, one wide part of tiny weight would decide them."""

_LOG_TWO_PI = float(np.log(2.0 * np.pi))  # log(2 pi), of normal densities


@dataclass(frozen=True, slots=True, eq=False)
class PredictiveMixture:
    """Predictive laws at h times: mixtures of normal laws of the transformed value."""

    means: Array
    variances: Array
    weights: Array
    transformation: str

    @property
    def _function(self) -> MonotoneTransformation:
        return TRANSFORMATIONS[self.transformation]

    def centre(self) -> Array:
        """Return the back-transformed means (h,) of the transformed values."""
        return self._function.back(self.weights @ self.means)

    def std(self) -> Array:
        """Return standard deviations (h,) of the values, by quadrature if they are transformed."""
        if self.transformation == "none":
            means, mean = self.means, self.weights @ self.means
            return np.sqrt(self.weights @ (self.variances + (means - mean) ** 2))
        blocks = row_blocks(self.means.shape[1], 32 * len(self.weights) * len(_NODES))
        return np.concatenate([self._std(times) for times in blocks])

    def _std(self, times: slice) -> Array:
        """Return standard deviations (b,) at some of the times."""
        most = self._quantiles(times, np.array([1.0 - _LAST]))
        means, std = self.means[:, times, None], np.sqrt(self.variances[:, times, None])
        values = self._function.back(np.minimum(means + std * _NODES, most))
        shares = self.weights[:, None, None] * (_NODE_SHARES / _NODE_SHARES.sum())
        mean = np.sum(shares * values, axis=(0, 2))
        return as_array(np.sqrt(np.sum(shares * (values - mean[:, None]) ** 2, axis=(0, 2))))

    def quantiles(self, levels: Array) -> Array:
        """Return quantiles (h, q) at levels (q,) strictly between zero and one."""
        blocks = row_blocks(self.means.shape[1], 16 * len(self.weights) * len(levels))
        blocks_of_quantiles = [self._quantiles(times, levels) for times in blocks]
        return self._function.back(np.concatenate(blocks_of_quantiles))

    def _quantiles(self, times: slice, levels: Array) -> Array:
        """Return quantiles (b, q) of the transformed values at some of the times."""
        std = np.sqrt(self.variances[:, times])[..., None]
        means = self.means[:, times][..., None]
        lower = np.min(means - _BEYOND * std, axis=0) + 0.0 * levels
        upper = np.max(means + _BEYOND * std, axis=0) + 0.0 * levels
        # A single normal law has quantiles in closed form.
        if len(self.weights) == 1:
            exact: Array = means[0] + std[0] * ndtri(levels)
            return exact
        for _ in range(_HALVINGS):
            middle = 0.5 * (lower + upper)
            below = np.tensordot(self.weights, ndtr((middle - means) / std), 1) < levels
            lower, upper = np.where(below, middle, lower), np.where(below, upper, middle)
        return as_array(0.5 * (lower + upper))

    def log_density(self, values: Array) -> Array:
        """Return log densities (h,) of values (h,); minus infinity outside the domain."""
        function = self._function
        possible = values > function.least
        safe = np.where(possible, values, 1.0)
        gaps = (function.forward(safe) - self.means) ** 2 / self.variances
        normal = -0.5 * (gaps + np.log(self.variances) + _LOG_TWO_PI)
        density = logsumexp(normal, axis=0, b=self.weights[:, None]) + function.log_slope(safe)
        outside = np.where(np.isnan(values), np.nan, -np.inf)
        if function.has_floor:
            below = log_ndtr(-self.means / np.sqrt(self.variances))
            at_floor = logsumexp(below, axis=0, b=self.weights[:, None])
            outside = np.where(values == function.least, at_floor, outside)
        return np.where(possible, density, outside)

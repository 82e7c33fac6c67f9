"""Mixtures of normal laws of transformed values: means, quantiles and densities."""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri

from bochner._base.arrays import Array, as_array, row_blocks
from bochner.series.value_transformations import TRANSFORMATIONS, MonotoneTransformation

_HALVINGS = 60
"""Number of bisections of an interval of some deviations: more digits than doubles have."""

_BEYOND = 9.0
"""Standard deviations around the means that bracket all quantiles of the mixture: a normal law has
a probability below 1e-18 beyond."""

_LOG_TWO_PI = float(np.log(2.0 * np.pi))  # In the logarithm of a normal density


@dataclass(frozen=True, slots=True, eq=False)
class PredictiveMixture:
    """For each of h times, a mixture of normal laws of the transformed value.

    ``means`` and ``variances`` are (S, h), and ``weights`` (S,) sum to one.
    """

    means: Array
    variances: Array
    weights: Array
    transformation: str

    @property
    def _function(self) -> MonotoneTransformation:
        return TRANSFORMATIONS[self.transformation]

    def centre(self) -> Array:
        """Return the values (h,) whose transform is the mean of the transformed value.

        Without a transformation this is the mean. Otherwise it is close to the median.
        """
        return self._function.back(self.weights @ self.means)

    def std(self) -> Array:
        """Return standard deviations (h,), or half of the central 68.3 % interval.

        Transformed values have the interval instead, because rare huge values dominate the
        standard deviation of an exponential.
        """
        if self.transformation != "none":
            lower, upper = self.quantiles(ndtr(np.array([-1.0, 1.0]))).T
            half: Array = 0.5 * (upper - lower)
            return half
        return np.sqrt(self.variance())

    def variance(self) -> Array:
        """Return the variances (h,) of the values; infinite where they overflow."""
        means, variances = self._function.moments(self.means, self.variances)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = self.weights @ means
            total: Array = self.weights @ (variances + (means - mean) ** 2)
        return np.where(np.isnan(total), np.inf, total)

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
        """Return log densities (h,) of values (h,); minus infinity outside the domain.

        For a value of zero it is the logarithm of its probability, where forecasts below zero are
        zero: with a floor and with a square root.
        """
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

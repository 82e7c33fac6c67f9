"""Predictive laws of counts: mixtures of Poisson and negative binomial laws."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaln, logsumexp

from bochner._base.arrays import Array, as_array

_POISSON = 1e-6
"""Smallest squared coefficient of variation of the rate of a count: with less, its law differs from
a Poisson law by less than a millionth of the variance per unit of the mean."""

_ROUNDING = 1e-10  # Tolerance of distribution functions at quantiles: more than rounding errors


def sizes(means: Array, inverse_sizes: Array, excesses: Array) -> Array:
    r"""Return sizes r of negative binomial laws with means m and variances :math:`m + m^2 / r`.

    With inverse size c and excess e, the variance is :math:`m + c m^2 + e m`.
    """
    return as_array(1.0 / np.maximum(inverse_sizes + excesses / means, _POISSON))


def log_probabilities(counts: Array, means: Array, sizes_of_laws: Array) -> Array:
    """Return log probabilities of counts under negative binomial laws."""
    r = sizes_of_laws
    odds = -r * np.log1p(means / r) + counts * (np.log(means) - np.log(r + means))
    return as_array(odds - betaln(r, counts + 1.0) - np.log(r + counts))


@dataclass(frozen=True, slots=True, eq=False)
class CountMixture:
    """Predictive laws of counts at h times, with weights (m, h), means (m, h) and sizes (m, h)."""

    weights: Array
    means: Array
    sizes: Array

    @property
    def variances(self) -> Array:
        """Variances (m, h) of the parts."""
        return as_array(self.means + self.means**2 / self.sizes)

    def centre(self) -> Array:
        """Return the means (h,)."""
        return as_array(np.sum(self.weights * self.means, axis=0))

    def std(self) -> Array:
        """Return the standard deviations (h,)."""
        spread = (self.means - self.centre()) ** 2
        return as_array(np.sqrt(np.sum(self.weights * (self.variances + spread), axis=0)))

    def quantiles(self, levels: Array) -> Array:
        """Return quantiles (h, q): the least counts whose probability of no more is a level."""
        shape = self.means.shape[1], len(levels)
        lower, upper = np.full(shape, -1.0), np.ones(shape)
        while (is_below := self._distribution(upper) < levels - _ROUNDING).any():
            lower, upper = np.where(is_below, upper, lower), np.where(is_below, 2 * upper, upper)
        while (upper - lower).max() > 1.0:
            middle = np.floor(0.5 * (lower + upper))
            is_below = self._distribution(middle) < levels - _ROUNDING
            lower, upper = np.where(is_below, middle, lower), np.where(is_below, upper, middle)
        return upper

    def _distribution(self, counts: Array) -> Array:
        """Return the probabilities (h, q) of at most ``counts`` (h, q), -1 or more."""
        shares = (self.sizes / (self.sizes + self.means))[..., None]
        below = betainc(self.sizes[..., None], np.maximum(counts, 0.0) + 1.0, shares)
        return np.where(counts < 0.0, 0.0, np.einsum("mh,mhq->hq", self.weights, below))

    def log_density(self, values: Array) -> Array:
        """Return log probabilities (h,) of values (h,); minus infinity unless they are counts."""
        are_counts = (values >= 0.0) & (values == np.floor(values)) & np.isfinite(values)
        log_parts = log_probabilities(np.where(are_counts, values, 0.0), self.means, self.sizes)
        with np.errstate(divide="ignore"):
            total = logsumexp(log_parts, axis=0, b=self.weights)
        return np.where(are_counts, total, np.where(np.isnan(values), np.nan, -np.inf))

"""Quantiles of predictive distributions, by bisection."""

import numpy as np

from bochner._numerics.arrays import Array, as_array
from bochner.likelihoods.base import NumberLikelihood

_HALVINGS = 60
"""Bisections of a bracket: as many as change a float64."""

_LARGEST = 2.0**52
"""Count at which the search of an upper end stops. Beyond twice that float64 has no odd numbers."""


def quantiles(likelihood: NumberLikelihood, level: float, mean: Array, variance: Array) -> Array:
    """Return the least ``q`` (n,) with probability ``level`` of new targets up to ``q``.

    ``mean`` and ``variance`` (n,) are those of the latent values.
    """
    if likelihood.is_discrete:
        return _whole_quantiles(likelihood, level, mean, variance)
    width = np.sqrt(variance) + likelihood.unit
    low, high = mean - width, mean + width
    for _ in range(_HALVINGS):
        is_above = likelihood.distribution(low, mean, variance) > level
        is_below = likelihood.distribution(high, mean, variance) < level
        if not (is_above.any() or is_below.any()):
            break
        width = 2.0 * width
        low, high = np.where(is_above, mean - width, low), np.where(is_below, mean + width, high)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        reached = likelihood.distribution(middle, mean, variance) >= level
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return high


def _whole_quantiles(
    likelihood: NumberLikelihood, level: float, mean: Array, variance: Array
) -> Array:
    low = np.full(len(mean), -1.0)
    high = np.exp(np.clip(np.ceil(mean), 0.0, np.log(_LARGEST))).round()
    while True:
        is_below = (likelihood.distribution(high, mean, variance) < level) & (high < _LARGEST)
        if not is_below.any():
            break
        low, high = np.where(is_below, high, low), np.where(is_below, 2.0 * high + 1.0, high)
    while (high - low > 1.0).any():
        middle = np.floor(0.5 * (low + high))
        reached = likelihood.distribution(middle, mean, variance) >= level
        open_ = high - low > 1.0
        low = np.where(open_ & ~reached, middle, low)
        high = np.where(open_ & reached, middle, high)
    return as_array(high)

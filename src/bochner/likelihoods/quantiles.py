"""Quantiles of predictive distributions, by bisection."""

from collections.abc import Callable

import numpy as np

from bochner._numerics.arrays import Array, as_array

_HALVINGS = 60
"""Bisections of a bracket: as many as change a float64."""

_LARGEST = 2.0**52
"""Count at which the search of an upper end stops. Beyond twice that float64 has no odd numbers."""

_SETTLED = 1e-9
"""Width of a bracket, in that of the first one, at which bisection ends."""

Distribution = Callable[[Array], Array]
"""Probabilities (n,) that new targets are at most ``y`` (n,)."""


def quantiles(distribution: Distribution, level: float, centre: Array, width: Array) -> Array:
    """Return the least ``q`` (n,) with probability ``level`` of new targets up to ``q``.

    The search starts from ``centre`` (n,), and from ``width`` (n,) on either side.
    """
    low, high, far = centre - width, centre + width, width
    for _ in range(_HALVINGS):
        is_above = distribution(low) > level
        is_below = distribution(high) < level
        if not (is_above.any() or is_below.any()):
            break
        far = 2.0 * far
        low, high = np.where(is_above, centre - far, low), np.where(is_below, centre + far, high)
    for _ in range(_HALVINGS):
        if (high - low <= _SETTLED * width).all():
            break
        middle = 0.5 * (low + high)
        reached = distribution(middle) >= level
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return high


def whole_quantiles(distribution: Distribution, level: float, log_mean: Array) -> Array:
    """Return the least counts (n,) with probability ``level`` of new ones up to them.

    The search starts from logarithmic means (n,).
    """
    low = np.full(len(log_mean), -1.0)
    high = np.exp(np.clip(np.ceil(log_mean), 0.0, np.log(_LARGEST))).round()
    while True:
        is_below = (distribution(high) < level) & (high < _LARGEST)
        if not is_below.any():
            break
        low, high = np.where(is_below, high, low), np.where(is_below, 2.0 * high + 1.0, high)
    while (high - low > 1.0).any():
        middle = np.floor(0.5 * (low + high))
        reached = distribution(middle) >= level
        open_ = high - low > 1.0
        low = np.where(open_ & ~reached, middle, low)
        high = np.where(open_ & reached, middle, high)
    return as_array(high)

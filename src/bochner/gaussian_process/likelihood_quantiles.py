"""Quantiles of predictive distributions: roots of normal scores, and bisection for counts."""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from bochner._base.arrays import Array, as_array

_DOUBLINGS = 60
"""Largest number of doublings of a bracket: a factor of 1e18 includes all targets."""

_STEPS = 200
"""Largest number of steps inside a bracket. Every third step halves it: 60 halvings reach the
resolution of float64."""

_LARGEST = 2.0**52
"""Count at which the search of an upper end stops: float64 has no odd numbers beyond twice it."""

_SETTLED = 1e-10
"""Tolerance of the normal score of a probability: probabilities are exact to 4e-11."""

_HIGHEST = 40.0
"""Normal score instead of infinity, beyond the scores of all float64 probabilities."""

Distribution = Callable[[Array], Array]
"""Probabilities (n,) that new targets are at most ``y`` (n,)."""


def quantiles(distribution: Distribution, level: float, centre: Array, width: Array) -> Array:
    """Return the quantiles (n,) of new targets: the least ``q`` with ``P(y <= q) >= level``.

    The search starts from the bracket ``centre`` (n,) plus and minus ``width`` (n,).
    """

    def score(y: Array) -> Array:
        return np.clip(ndtri(distribution(y)), -_HIGHEST, _HIGHEST) - ndtri(level)

    low, high, far = centre - width, centre + width, width
    below, above = score(low), score(high)
    for _ in range(_DOUBLINGS):
        if not ((below > 0.0).any() or (above < 0.0).any()):
            break
        far = 2.0 * far
        low = np.where(below > 0.0, centre - far, low)
        high = np.where(above < 0.0, centre + far, high)
        below, above = score(low), score(high)
    return _root(score, low, high, below, above)


def _root(score: Distribution, low: Array, high: Array, below: Array, above: Array) -> Array:
    """Return the root (n,) of an increasing function in a bracket with values at both ends.

    Secant steps, which are exact for normal distributions. The value at an end that is not replaced
    is halved (Illinois method).
    """
    for step in range(_STEPS):
        middle = 0.5 * (low + high)
        if step % 3 < 2:  # Every third step bisects, which bounds the number of steps
            rise = above - below
            chord = low - below * (high - low) / np.where(rise > 0.0, rise, 1.0)
            middle = np.where((chord > low) & (chord < high), chord, middle)
        value = score(middle)
        is_settled = np.abs(value) <= _SETTLED
        reached = value >= 0.0
        above = np.where(reached, value, 0.5 * above)
        below = np.where(reached, 0.5 * below, value)
        low = np.where(is_settled | ~reached, middle, low)
        high = np.where(is_settled | reached, middle, high)
        if (high - low <= np.spacing(np.abs(high))).all():
            break
    return high


def whole_quantiles(distribution: Distribution, level: float, log_mean: Array) -> Array:
    """Return the quantiles (n,) of new counts: the least ``q`` with ``P(y <= q) >= level``.

    The search starts from log means (n,).
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

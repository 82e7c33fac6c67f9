"""Domains of parameters that are learned, and their maps to numbers without bounds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from bochner._base.arrays import Array, as_array


@dataclass(frozen=True, slots=True)
class Interval:
    r"""An open interval, mapped to all numbers by a logarithm or, with two ends, by log odds.

    :math:`x = \log(v - a)` for the interval :math:`(a, \infty)`, and
    :math:`x = \log((v - a) / (b - v))` for :math:`(a, b)`.
    """

    low: float = 0.0
    high: float = np.inf

    def contains(self, values: object) -> bool:
        """Return whether values are numbers inside of the interval; values at its ends are not."""
        try:
            numbers = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            return False
        return bool(numbers.size and (self.low < numbers).all() and (numbers < self.high).all())

    def free(self, values: ArrayLike) -> Array:
        """Return numbers without bounds from values inside of the interval."""
        numbers = as_array(values)
        above = np.log(numbers - self.low)
        return above if np.isinf(self.high) else as_array(above - np.log(self.high - numbers))

    def values(self, free: ArrayLike) -> Array:
        """Return values inside of the interval from numbers without bounds."""
        numbers = as_array(free)
        if np.isinf(self.high):
            return as_array(self.low + np.exp(numbers))
        return as_array(self.low + (self.high - self.low) * expit(numbers))


POSITIVE = Interval()
"""Scales and variances."""

PROPORTION = Interval(0.0, 1.0)
"""Probabilities and shares."""

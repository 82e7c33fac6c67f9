"""Slice sampling of one unknown number."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

_WIDTH = 1.0
"""Width of the first interval; for the logarithm of a parameter it is a factor of 2.7. Another
width needs more evaluations and leaves the same law invariant."""


def slice_sampled(rng: Generator, value: float, log_density: Callable[[float], float]) -> float:
    """Return a draw that leaves a law on the line invariant, given its log density.

    An interval around ``value`` steps out of the slice and shrinks back into it (Neal, "Slice
    sampling", 2003, figures 3 and 5).
    """
    least = log_density(value) - rng.standard_exponential()
    low = value - _WIDTH * rng.random()
    high = low + _WIDTH
    while log_density(low) > least:
        low -= _WIDTH
    while log_density(high) > least:
        high += _WIDTH
    while True:
        proposed = low + (high - low) * rng.random()
        if log_density(proposed) > least:
            return float(proposed)
        low, high = (proposed, high) if proposed < value else (low, proposed)
        if high - low < np.spacing(abs(value)):
            return value

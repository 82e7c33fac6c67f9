"""Exponentials of many non-positive numbers, for compiled loops in double precision."""

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner._base.compiling import inner
from bochner._base.wave_loops import LOOSE

_LOG2E = 1.4426950408889634
"""The number of powers of two in a power of e."""

_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
"""The logarithm of two in two parts; products of the first part with exponents are exact."""

_SHIFTER = 6755399441055744.0
"""1.5 times 2 to the power of 52: a sum with it is rounded to an integer in its last bits."""

_SMALLEST = -708.0
"""Smallest exponent of a normal number in double precision."""


@inner(fastmath=LOOSE)
def exponentials(values: Array, powers: Array, bits: NDArray[np.int64]) -> None:
    """Replace non-positive numbers by their exponentials; ``bits`` is ``powers`` as integers."""
    for k in range(values.size):
        values[k] = max(values[k], _SMALLEST)
        powers[k] = values[k] * _LOG2E + _SHIFTER
    for k in range(values.size):
        n = powers[k] - _SHIFTER
        r = (values[k] - n * _LN2_HIGH) - n * _LN2_LOW
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        values[k] = p * r + 1.0
    for k in range(values.size):
        bits[k] = (bits[k] << 52) + (1023 << 52)
    for k in range(values.size):
        values[k] *= powers[k]

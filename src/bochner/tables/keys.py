"""Numbers of 64 bits that are equal for equal rows, and nearly always differ for other rows."""

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

_MULTIPLIERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
"""Odd numbers of the finaliser of SplitMix64 (Steele, Lea and Flood, 2014)."""

_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
"""Its shifts of bits."""


def bits(values: NDArray[np.float64]) -> Keys:
    """Return the bits of numbers, the same ones for both zeros and for all that are missing."""
    canonical = np.where(np.isnan(values), np.nan, values + 0.0)
    return canonical.view(np.uint64)


def mixed(keys: Keys) -> Keys:
    """Return numbers of which every bit depends on every bit of the given ones."""
    for shift, multiplier in zip(_SHIFTS, _MULTIPLIERS, strict=False):
        keys = (keys ^ (keys >> shift)) * np.uint64(multiplier)
    return keys ^ (keys >> _SHIFTS[-1])

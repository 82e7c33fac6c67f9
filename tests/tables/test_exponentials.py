"""Exponentials of compiled loops, against NumPy's."""

import numpy as np
from numba import njit
from numpy.testing import assert_allclose

from bochner.tables.kernel_loops import exponential


@njit
def exponentials(exponents, out):
    for k in range(exponents.size):
        out[k] = exponential(exponents[k])


def test_exponentials_are_those_of_numpy():
    """Exponents from zero to that of the smallest normal number."""
    for dtype, largest, rtol in ((np.float64, 708.0, 4e-16), (np.float32, 87.0, 3e-7)):
        exponents = -np.r_[0.0, np.geomspace(1e-20, largest, 400)].astype(dtype)
        values = np.empty_like(exponents)
        exponentials(exponents, values)
        assert_allclose(values, np.exp(exponents), rtol=rtol)

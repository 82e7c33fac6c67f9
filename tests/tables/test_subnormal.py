"""Kernel matrices of rows far apart do not lead to subnormal numbers, which take long."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner._base.arrays import floored
from bochner.kernels import Exponential, Gaussian, Laplacian, Matern
from bochner.tables import kernel_loops, leave_one_out
from bochner.tables.landmark_fits import Blocks, LoopedKernel
from bochner.tables.leave_one_out import LearnedKernel

KERNELS = (Laplacian, Gaussian, Exponential, Matern)
DTYPES = (np.float32, np.float64)
ALPHA = {np.float32: 0.1, np.float64: 1e-5}
"""Ratios of noise to signal that are computed in single and in double precision."""

SPREADS = (30.0, 300.0, 1e4)
"""Diameters of the rows, in length scales: exponentials there reach the smallest numbers of single
precision, those of double precision, and zero."""

N = 120
_POINTS = np.sort(np.random.default_rng(0).uniform(size=(N, 1)), axis=0)


def line_of(spread):
    """Rows on a line, so that their kernel values have all sizes."""
    return spread * _POINTS


def assert_normal(values, name, power=0.5):
    """No product of two entries is subnormal, or no entry with another power; zeros may be."""
    sizes = np.abs(values[np.nonzero(values)])
    assert sizes.min() >= np.finfo(values.dtype).tiny ** power, name


def check_factors():
    """The matrices of a step of the search; the line has values of all sizes."""
    for kernel in KERNELS:
        for dtype in DTYPES:
            for spread in SPREADS:
                name = f"{kernel.__name__}, {dtype.__name__}, {spread:g}"
                distance = leave_one_out.distances_of(kernel(1.0), line_of(spread)).astype(dtype)
                gram, slope = leave_one_out._gram_and_slope(kernel(1.0), distance)
                assert gram.dtype == dtype, name
                inverse = leave_one_out.shifted_inverse(gram.copy(), ALPHA[dtype], np.ones(N))
                assert_normal(gram, name)
                # Cancellation may leave small entries of the inverse.
                for values in (slope, inverse):
                    assert_normal(values, name, 1.0)


def check_loops():
    """Values of compiled loops are those of the kernels, and their products are normal numbers."""
    none = np.empty(0, dtype=np.int64)
    for kernel in KERNELS:
        for dtype in DTYPES:
            for spread in SPREADS:
                X = line_of(spread)
                blocks = Blocks.of(X, none, none)
                learned = LearnedKernel(kernel(1.0), 1.0)
                looped = LoopedKernel.of(learned, np.array([0]), 1, blocks)
                levels = np.zeros((N, 0), np.uint16)
                values = np.empty((N, N), dtype)
                given = looped.rows(X, blocks.codes, dtype), *looped.arguments(X, levels, dtype)
                memory = np.empty((0, N), dtype), kernel_loops.scratch_of(dtype), np.empty((N, 0))
                kernel_loops.add_kernel_products(*given, *memory, values, False)
                limits = np.finfo(dtype)
                floor, rtol = limits.eps**2, 16.0 * limits.eps * spread  # Distances lose digits
                assert_allclose(values, kernel(1.0)(X, X), rtol=rtol, atol=2.0 * floor)
                assert_normal(values, kernel.__name__)


def check_floor():
    """Values above the squared rounding error stay as they are, in the same array."""
    for dtype in DTYPES:
        values = np.array([0.0, 1e-300, 1e-36, 1e-10, 0.3, 1.0], dtype)
        expected = np.maximum(values, np.array(np.finfo(dtype).eps, dtype) ** 2)
        result = floored(values)
        assert result is values
        np.testing.assert_array_equal(result, expected)


CHECKS = (check_factors, check_loops, check_floor)


@pytest.mark.parametrize("check", CHECKS)
def test_kernel_values_do_not_become_subnormal(check):
    check()

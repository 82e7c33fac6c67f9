"""The asymmetric kernels of the lag against their formulas, and at their edges."""

import math
import warnings

import numpy as np
import pytest
from laws.references import reference
from numpy.testing import assert_allclose, assert_array_equal

from bochner.kernels import Cauchy, CoshGaussian, Gaussian, ShiftGaussian, SinhGaussian

RNG = np.random.default_rng(0)
KINDS = (ShiftGaussian, SinhGaussian, CoshGaussian)


def points(dim, n=7):
    return RNG.normal(size=(n, dim)) / math.sqrt(dim)


@pytest.mark.parametrize("kind", KINDS)
def test_zero_makes_it_the_gaussian_kernel_which_is_symmetric(kind):
    X = points(3)
    for zero in (0.0, -0.0, (0.0, -0.0, 0.0)):
        kernel = kind(0.7, zero)
        assert kernel.is_symmetric
        assert kernel.T is kernel
        assert kernel.symmetrised is kernel
        assert_allclose(kernel(X), Gaussian(0.7)(X), rtol=1e-14)
    assert not kind(0.7, (0.0, 1e-9, 0.0)).is_symmetric


def test_the_symmetric_part_of_the_skewed_kernel_is_gaussian():
    assert SinhGaussian((0.5, 2.0), 0.8).symmetrised == Gaussian((0.5, 2.0))


@pytest.mark.parametrize("scale", [0.6, (0.6, 1.9)])
def test_the_tilted_kernel_is_a_shifted_one_of_its_greatest_value(scale):
    beta, X, Y = np.array([0.8, -0.3]), points(2), points(2, 4)
    square = np.square(scale)
    greatest = math.exp(0.5 * np.sum(square * beta**2))
    shifted = greatest * ShiftGaussian(scale, -square * beta)
    assert_allclose(CoshGaussian(scale, beta)(X, Y), shifted(X, Y), rtol=1e-12)
    peak = CoshGaussian(scale, beta)(X, X - square * beta)
    assert_allclose(np.diagonal(peak), greatest, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_overflows_where_the_value_is_finite(kind):
    # Both exp(beta . Delta) and the greatest value, exp(900), are beyond the largest number.
    kernel = kind(1.0, 30.0)
    lags = np.array([[50.0, 10.0], [60.0, 30.0], [-50.0, -10.0], [25.0, -25.0], [-31.0, -29.0]])
    far = np.array([[1e3, 1e3], [-1e3, 1e4], [1e150, 0.0]])
    origin = np.zeros((1, 2))
    with warnings.catch_warnings(action="error"):
        if kind is not ShiftGaussian:
            lags, values = lags[:4], kernel(lags[:4], origin)
            assert np.abs(values).max() > 1e190
        else:
            values = kernel(lags, origin)
            assert values.max() > 0.3
        expected = reference(kernel, lags.astype(np.longdouble))[:, None].astype(float)
        assert_allclose(values, expected, rtol=1e-10, atol=1e-290)
        assert_array_equal(kernel(far, origin), 0.0)
        assert_array_equal(kernel(origin, far), 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_bad_fields_are_refused(kind):
    X = points(3)
    with pytest.raises(ValueError, match="length_scale must be positive"):
        kind(0.0, 1.0)
    with pytest.raises(ValueError, match=r"(shift|beta) must be finite"):
        kind(1.0, np.inf)
    with pytest.raises(ValueError, match=r"(shift|beta) must be a number or one number per input"):
        kind(1.0, np.eye(2))
    kernels = kind((1.0, 2.0), 1.0), kind(1.0, (1.0, 2.0)), Cauchy() + kind(1.0, (1.0, 2.0))
    for kernel in kernels:
        for call in (kernel, kernel.T, kernel.diag):
            with pytest.raises(ValueError, match="has 2 entries, but the data have 3 inputs"):
                call(X)

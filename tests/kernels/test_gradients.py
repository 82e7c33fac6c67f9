"""Derivatives of kernels by their left argument, by finite differences of their values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner import kernels
from bochner.kernels.gradients import input_derivatives

RNG = np.random.default_rng(0)
SCALES = (0.7, 1.3, 2.0)
X, Y = RNG.normal(size=(5, 3)), RNG.normal(size=(6, 3))
STEP = 1e-6
MIXTURE = kernels.SpectralMixture(
    [0.6, 0.4], RNG.normal(size=(2, 3)), [np.diag(RNG.uniform(0.2, 1.0, size=3)) + 0.1] * 2
)
CASES = [
    kernels.Gaussian(SCALES),
    kernels.Gaussian(0.8),
    *(kernels.Matern(SCALES, nu=nu) for nu in (0.5, 0.8, 1.0, 1.5, 2.2, 2.5, 40.0)),
    kernels.Exponential(SCALES),
    kernels.Laplacian(SCALES),
    kernels.Cauchy(SCALES),
    kernels.RationalQuadratic(SCALES, alpha=0.7),
    MIXTURE,
    2.0 * kernels.Gaussian(1.1) + kernels.Matern(SCALES, nu=1.5),
    kernels.Gaussian(1.1) * kernels.Cauchy(SCALES) * (kernels.Laplacian(0.9) + MIXTURE),
]


ON_COLUMNS = [
    kernels.Periodic(1.7, 0.8),
    kernels.Periodic((1.7, 2.0, 0.9), SCALES) * kernels.Linear(0.7, 0.3),
    kernels.Linear(SCALES, (0.1, -0.2, 0.3)) + kernels.Constant(2.0),
    kernels.Gaussian((0.8, 1.4)).on([2, 0]),
    kernels.Matern(0.9).on(-1) * kernels.Linear().on(0) - kernels.Cauchy().on("b").resolved("abc"),
    (kernels.Periodic().on(1) * kernels.Gaussian().on(0)).on([2, 1]) + kernels.Gaussian(SCALES),
]


@pytest.mark.parametrize("kernel", CASES + ON_COLUMNS, ids=repr)
def test_derivatives_are_differences(kernel):
    found = list(input_derivatives(kernel, X, Y))
    assert len(found) == 3
    for a, matrix in enumerate(found):
        step = STEP * np.eye(3)[a]
        expected = (kernel(X + step, Y) - kernel(X - step, Y)) / (2.0 * STEP)
        assert_allclose(matrix, expected, atol=2e-7)


@pytest.mark.parametrize("kernel", CASES, ids=repr)
def test_derivatives_are_zero_at_equal_rows(kernel):
    at_zero = [np.diagonal(matrix) for matrix in input_derivatives(kernel, X, X)]
    assert_allclose(at_zero, 0.0, atol=1e-12)


def test_derivatives_by_codes_are_zero():
    codes = np.c_[X[:, 0], np.arange(5) % 3, X[:, 2]]
    k = kernels.Categorical(0.2).on(1) * kernels.Gaussian(SCALES[:2]).on([0, 2])
    k = k + kernels.Ordinal().on(1)
    found = list(input_derivatives(k, codes, codes[:4]))
    assert not found[1].any()
    for a in (0, 2):
        step = STEP * np.eye(3)[a]
        expected = (k(codes + step, codes[:4]) - k(codes - step, codes[:4])) / (2.0 * STEP)
        assert_allclose(found[a], expected, atol=2e-7)


def test_other_kernels_name_the_way_out():
    with pytest.raises(NotImplementedError, match=r"not known.*register\(NTK\)"):
        input_derivatives(kernels.NTK(), X, Y)

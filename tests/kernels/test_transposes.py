"""Transposes, symmetric parts and the algebra of both."""

import copy
import pickle

import numpy as np
import pytest
from laws.registry import bump, drift
from numpy.testing import assert_allclose, assert_array_equal

from bochner import kernels
from bochner.kernels import (
    Bilinear,
    Cauchy,
    CoshGaussian,
    Gaussian,
    Kernel,
    ShiftGaussian,
    SinhGaussian,
    Stationary,
    Sum,
    Tanh,
    Transposed,
)

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(9, 2)), RNG.normal(size=(5, 2))
LEFT, RIGHT = RNG.normal(size=(2, 2, 3)).round(2)


def slope(delta):
    return delta[..., 0] - 2.0 * delta[..., 1]


SKEW = SinhGaussian(0.8, (0.5, -0.2))
ASYMMETRIC = [
    ShiftGaussian(0.7, 0.4),
    SKEW,
    CoshGaussian((0.5, 1.2), 0.3),
    Stationary(drift),
    Transposed(Stationary(drift)),
    Bilinear(Gaussian(), LEFT, RIGHT),
    Bilinear(SKEW, LEFT[:, :2]),
    Bilinear(Stationary(drift), LEFT, RIGHT),
    SKEW + Cauchy(),
    SKEW + SKEW,
    ShiftGaussian() * Stationary(drift),
    -2.0 * SKEW,
    Gaussian() - 0.5 * (SKEW * Tanh() + CoshGaussian()),
    SKEW + ShiftGaussian(shift=0.4).T,
    SKEW + SKEW + SKEW.T,
]
SYMMETRIC = [
    Gaussian(),
    Tanh(),
    kernels.Radial(bump),
    Gaussian() - 0.5 * Cauchy() * Tanh(),
    Bilinear(Gaussian(), LEFT, LEFT.copy()),
    SKEW + SKEW.T,
    SKEW.T * SKEW,
    Stationary(drift) + Cauchy() + Stationary(drift).T,
    -1.0 * (SKEW + SKEW.T),
    Bilinear(Gaussian(), LEFT, RIGHT) + Bilinear(Gaussian(), RIGHT, LEFT),
]


@pytest.mark.parametrize("kernel", ASYMMETRIC, ids=repr)
def test_the_transpose_exchanges_the_arguments(kernel):
    assert not kernel.is_symmetric
    assert not kernel.T.is_symmetric
    K = kernel(X)
    assert np.abs(K - K.T).max() > 1e-2 * np.abs(K).max()
    assert_allclose(kernel.T(X, Y), kernel(Y, X).T, rtol=1e-12, atol=1e-14)
    assert_allclose(kernel.T(X), K.T, rtol=1e-12, atol=1e-14)
    assert_allclose(kernel.T.diag(X), kernel.diag(X), rtol=1e-12)
    assert_allclose(kernel.diag(X), np.diagonal(K), rtol=1e-12)
    assert kernel != kernel.T
    assert kernel == kernel.T.T
    assert hash(kernel.T.T) == hash(kernel)


@pytest.mark.parametrize("kernel", ASYMMETRIC, ids=repr)
def test_the_symmetric_part_is_the_mean_with_the_transpose(kernel):
    part = kernel.symmetrised
    assert part.is_symmetric
    assert part.T is part
    assert part.symmetrised is part
    K = kernel(X)
    assert_allclose(part(X), 0.5 * (K + K.T), rtol=1e-12, atol=1e-14)
    assert_allclose(part.diag(X), kernel.diag(X), rtol=1e-12)


@pytest.mark.parametrize("kernel", SYMMETRIC, ids=repr)
def test_symmetric_kernels_are_their_own_transposes_and_symmetric_parts(kernel):
    assert kernel.is_symmetric
    assert kernel.T is kernel
    assert kernel.symmetrised is kernel
    K = kernel(X)
    assert_allclose(K, K.T, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("a", ASYMMETRIC[:8], ids=repr)
@pytest.mark.parametrize("b", [Cauchy(), CoshGaussian(2.0, 0.1), Stationary(slope)], ids=repr)
def test_transposition_goes_into_sums_products_and_multiples(a, b):
    assert (a + b).T == a.T + b.T
    assert (a - b).T == a.T - b.T
    assert (a * b).T == a.T * b.T
    assert (2.5 * a).T == 2.5 * a.T
    assert (a * (b + 0.5 * a)).T == a.T * (b.T + 0.5 * a.T)


def test_a_kernel_of_no_known_transpose_is_wrapped():
    assert Transposed(Stationary(drift)) == Stationary(drift).T
    assert repr(Stationary(drift).T) == "Transposed(Stationary(drift))"
    wrapped = Transposed(SKEW)
    assert_allclose(wrapped(X, Y), SKEW.T(X, Y), rtol=1e-12)
    for twin in (pickle.loads(pickle.dumps(wrapped)), copy.deepcopy(wrapped)):
        assert twin == wrapped
        assert_array_equal(twin(X, Y), wrapped(X, Y))


class OnesLeftOfTwos(Kernel):
    """Defined on rows of ones to the left of rows of twos."""

    is_symmetric = False

    def evaluate(self, X, Y):
        return X.sum(axis=1)[:, None] - Y.sum(axis=1)

    def diag(self, X):
        return np.zeros(len(X))

    def check_dim(self, dim):
        if dim != 2:
            raise ValueError("two columns")

    def check_inputs(self, X):
        if (X != 1.0).any():
            raise ValueError("the left has others than ones")

    def check_right_inputs(self, Y):
        if (Y != 2.0).any():
            raise ValueError("the right has others than twos")


SIDED = OnesLeftOfTwos()
ONES, TWOS = np.ones((3, 2)), np.full((4, 2), 2.0)


@pytest.mark.parametrize(
    "kernel",
    [
        SIDED,
        SIDED.T.T,
        Sum((Gaussian(), SIDED)),
        Gaussian() * SIDED,
        3.0 * SIDED,
        Bilinear(SIDED, np.eye(2), np.eye(2)),
        Bilinear(SIDED, np.eye(2)),
    ],
    ids=range(7),
)
def test_each_side_is_checked_by_itself(kernel):
    assert kernel(ONES, TWOS).shape == (3, 4)
    assert kernel.T(TWOS, ONES).shape == (4, 3)
    for call in (lambda: kernel(TWOS, TWOS), lambda: kernel.T(TWOS, TWOS)):
        with pytest.raises(ValueError, match="the left has others"):
            call()
    for call in (lambda: kernel(ONES), lambda: kernel(ONES, ONES), lambda: kernel.T(ONES)):
        with pytest.raises(ValueError, match="the right has others"):
            call()
    for check in (kernel.check_inputs, kernel.T.check_right_inputs):
        check(ONES)
        with pytest.raises(ValueError, match="the left has others"):
            check(TWOS)
    for check in (kernel.check_right_inputs, kernel.T.check_inputs):
        check(TWOS)
        with pytest.raises(ValueError, match="the right has others"):
            check(ONES)


def test_widths_are_asked_of_every_member():
    wide = Bilinear(Gaussian(), LEFT, RNG.normal(size=(4, 3)))
    for kernel in (wide, 2.0 * wide, wide + wide, wide * wide, wide.T.T, Transposed(wide).T):
        kernel.check_widths(2, 4)
        with pytest.raises(ValueError, match=r"left argument .* has 2 inputs"):
            kernel.check_widths(4, 2)
        kernel.T.check_widths(4, 2)
        with pytest.raises(ValueError, match=r"has 2 inputs|has 4 inputs"):
            kernel.check_dim(2)
    Transposed(wide).check_widths(4, 2)
    for other in (wide + Gaussian(), Gaussian() * wide):
        with pytest.raises(ValueError, match="X has 2 columns and Y has 4: expected the same"):
            other(X, RNG.normal(size=(3, 4)))
    with pytest.raises(ValueError, match="X has 2 columns and Y has 3"):
        Gaussian().check_widths(2, 3)
    with pytest.raises(ValueError, match="2 entries, but the data have 3"):
        Gaussian((1.0, 2.0)).check_widths(3, 3)

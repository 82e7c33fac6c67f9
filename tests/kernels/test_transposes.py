"""Transposes, symmetric parts and the algebra of both."""

import copy
import pickle

import numpy as np
import pytest
from laws.registry import bump, drift
from numpy.testing import assert_allclose, assert_array_equal

import bochner
from bochner import kernels
from bochner.kernels import (
    Bilinear,
    Cauchy,
    CoshGaussian,
    Gaussian,
    ShiftGaussian,
    SinhGaussian,
    Stationary,
    Tanh,
    Transposed,
)

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(9, 2)), RNG.normal(size=(5, 2))
LEFT, RIGHT = RNG.normal(size=(2, 2, 3)).round(2)


SKEW = SinhGaussian(0.8, (0.5, -0.2))
ASYMMETRIC = [
    ShiftGaussian(0.7, 0.4), SKEW, CoshGaussian((0.5, 1.2), 0.3), Stationary(drift),
    Transposed(Stationary(drift)), Bilinear(Gaussian(), LEFT, RIGHT), Bilinear(SKEW, LEFT[:, :2]),
    Bilinear(Stationary(drift), LEFT, RIGHT), SKEW + Cauchy(), SKEW + SKEW,
    ShiftGaussian() * Stationary(drift), -2.0 * SKEW,
    Gaussian() - 0.5 * (SKEW * Tanh() + CoshGaussian()), SKEW + ShiftGaussian(shift=0.4).T,
    SKEW + SKEW + SKEW.T,
]  # fmt: skip
SYMMETRIC = [
    Gaussian(), Tanh(), kernels.Radial(bump), Gaussian() - 0.5 * Cauchy() * Tanh(),
    Bilinear(Gaussian(), LEFT, LEFT.copy()), SKEW + SKEW.T, SKEW.T * SKEW,
    Stationary(drift) + Cauchy() + Stationary(drift).T, -1.0 * (SKEW + SKEW.T),
    Bilinear(Gaussian(), LEFT, RIGHT) + Bilinear(Gaussian(), RIGHT, LEFT),
]  # fmt: skip


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


def test_a_kernel_of_no_known_transpose_is_wrapped():
    assert Transposed(Stationary(drift)) == Stationary(drift).T
    assert repr(Stationary(drift).T) == "Transposed(Stationary(drift))"
    wrapped = Transposed(SKEW)
    assert_allclose(wrapped(X, Y), SKEW.T(X, Y), rtol=1e-12)
    for twin in (pickle.loads(pickle.dumps(wrapped)), copy.deepcopy(wrapped)):
        assert twin == wrapped
        assert_array_equal(twin(X, Y), wrapped(X, Y))
    features = bochner.FourierFeatures(Stationary(drift).T, 400, random_state=0).fit(X)
    assert_allclose(features.gram(X), Stationary(drift)(X).T, atol=0.05)

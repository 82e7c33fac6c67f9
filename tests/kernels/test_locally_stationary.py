"""Locally stationary kernels, and which of them are positive definite."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner.kernels import (
    Anova,
    Cauchy,
    Definiteness,
    Gaussian,
    Kernel,
    LocallyStationary,
    Matern,
    Polynomial,
    RationalQuadratic,
    ShiftGaussian,
    SpectralMixture,
)
from bochner.kernels.definiteness import gaussian_terms

X = np.random.default_rng(0).normal(size=(20, 2))


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (ShiftGaussian(), "symmetric, positive definite function of the lag"),
        (Polynomial(2), "function of the lag"),
        (-1.0 * Gaussian(), "function of the lag"),
        (Gaussian() - Matern(), "function of the lag"),
        (LocallyStationary(Gaussian(), Gaussian()), "function of the lag"),
    ],
    ids=repr,
)
def test_other_factors_are_refused(factor, message):
    with pytest.raises(ValueError, match=f"envelope must be a {message}|{message}"):
        LocallyStationary(factor, Gaussian())
    with pytest.raises(ValueError, match="stationary must be"):
        LocallyStationary(Gaussian(), factor)


def test_what_is_no_kernel_is_refused():
    with pytest.raises(TypeError, match=r"envelope must be a kernel.*got 'gaussian'"):
        LocallyStationary("gaussian", Gaussian())
    with pytest.raises(ValueError, match="centre must be finite"):
        LocallyStationary(Gaussian(), Gaussian(), np.nan)
    with pytest.raises(ValueError, match="centre has 3 entries"):
        LocallyStationary(Gaussian(), Gaussian(), (1.0, 2.0, 3.0))(X)
    with pytest.raises(ValueError, match="length_scale has 3 entries"):
        LocallyStationary(Gaussian(), Gaussian((1.0, 2.0, 3.0))).diag(X)


def random_matrix(rng, dim, size):
    root = rng.normal(size=(dim, dim))
    return size * root @ root.T / dim


def random_mixture(rng, dim, size, first_is_centred):
    """A mixture, half of the time with one covariance for all."""
    q = int(rng.integers(1, 4))
    means = rng.normal(scale=rng.uniform(0.0, 1.5) * size**0.5, size=(q, dim))
    means[0] *= not first_is_centred
    common = random_matrix(rng, dim, size)
    shared = rng.random() < 0.5
    covariances = [common if shared else random_matrix(rng, dim, size) for _ in range(q)]
    weights = rng.uniform(0.05, 1.0, size=q)
    weights[0] += 1.0
    return SpectralMixture(weights, means, covariances)


def random_kernel(rng):
    dim = int(rng.integers(1, 4))
    size = 10.0 ** rng.uniform(-1.5, 1.0)
    envelope = random_mixture(rng, dim, size, first_is_centred=True)
    stationary = random_mixture(rng, dim, 1.0, first_is_centred=False)
    others = [
        stationary,
        stationary * Matern(),
        stationary + Gaussian(0.8),
        Gaussian(1.0),
        Anova(Gaussian(), 0.7),
        RationalQuadratic(),
    ]
    stationary = others[int(rng.integers(len(others)))]
    if rng.random() < 0.2:
        envelope = [Matern(), Cauchy(2.0), Anova(Gaussian(2.0), 0.5)][int(rng.integers(3))]
    return LocallyStationary(envelope, stationary, tuple(rng.normal(size=dim))), dim


def least_eigenvalue(k, rows):
    values = np.linalg.eigvalsh(k(rows))
    return values[0] / np.abs(values).max()


def assert_verdict(k: Kernel, dim, verdict: Definiteness, rng):
    for spread in (0.3, 1.0, 3.0) if verdict.holds else ():
        rows = np.asarray(k.centre) + spread * rng.normal(size=(40, dim))
        assert least_eigenvalue(k, rows) > -1e-10


def test_verdicts_agree_with_eigenvalues():
    rng = np.random.default_rng(0)
    held = []
    for _ in range(100):
        k, dim = random_kernel(rng)
        verdict = k.positive_definite(dim)
        assert_verdict(k, dim, verdict, rng)
        held.append(verdict.holds)
    assert min(held.count(answer) for answer in (True, None)) > 5


@pytest.mark.parametrize("dim", [1, 2, 4])
def test_gaussian_factors_are_decided_by_the_length_scales(dim):
    rng = np.random.default_rng(dim)
    scales = rng.uniform(0.5, 2.0, dim)
    for ratio, holds in ((1.99, True), (2.0, True), (2.01, False), (5.0, False)):
        # The last input decides.
        stationary = scales * np.where(np.arange(dim) == dim - 1, ratio, 1.0)
        k = LocallyStationary(Gaussian(scales), Gaussian(stationary), 0.5)
        verdict = k.positive_definite(dim)
        assert verdict.holds is holds
        if ratio == 5.0:
            rows = 0.5 + 3.0 * rng.normal(size=(40, dim))
            assert least_eigenvalue(k, rows) < -1e-4
        assert_verdict(k, dim, verdict, rng)


@pytest.mark.parametrize(
    "kernel",
    [
        2.0 * Gaussian((0.7, 1.9)) + Anova(Gaussian((0.5, 2.0)), (0.3, 0.8)),
        Anova(Gaussian(0.8), 0.4, constant=False),
        SpectralMixture([0.4, 0.9], [[0.0, 1.0], [2.0, -0.5]], [[0.3, 0.2], [0.1, 0.6]]),
        SpectralMixture([0.7], [[1.0, 0.4]], [[0.2, 0.1]])
        * SpectralMixture([0.5], [[0.3, -2.0]], [[0.4, 0.3]])
        * Gaussian(1.3),
    ],
)
def test_gaussian_terms_sum_to_the_kernel(kernel):
    lags = np.random.default_rng(0).normal(size=(40, 2))
    total = np.zeros(len(lags))
    for term in gaussian_terms(kernel, 2):
        assert term.is_exact
        quadratic = np.einsum("ni,ij,nj->n", lags, term.covariance, lags)
        total += term.weight * np.exp(-0.5 * quadratic) * np.cos(lags @ term.mean)
    assert_allclose(total, kernel(lags, np.zeros((1, 2)))[:, 0], rtol=1e-12, atol=1e-14)

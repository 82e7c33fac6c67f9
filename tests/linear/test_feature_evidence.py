"""The evidence of features and its gradient, by dense log densities and their differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from bochner import spectral_measure
from bochner.features.chunks import ArrayChunks, Chunk, Numbers
from bochner.kernels import (
    Anova,
    Cauchy,
    Exponential,
    Gaussian,
    Laplacian,
    Matern,
    RationalQuadratic,
    SpectralMixture,
)
from bochner.linear.feature_evidence import evidence_gradient
from bochner.linear.kernel_families import parameterised

RNG = np.random.default_rng(0)
N, D, M = 30, 3, 5
X = RNG.normal(size=(N, D))
Y = np.stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]], axis=1) + 0.2 * RNG.normal(size=(N, 2))
REPEAT = RNG.integers(0, 3, size=N)
TARGETS = Numbers(np.zeros(2))
COVARIANCES = np.array([[[1.0, 0.3, 0.0], [0.3, 0.5, 0.1], [0.0, 0.1, 2.0]], np.diag([0.1] * 3)])
MEANS = [[0.0, 1.0, 0.5], [2.0, 0.0, 0.3]]
KERNELS = {
    "gaussian": Gaussian(1.3),
    "matern": Matern((0.7, 1.5, 3.0), nu=1.5),
    "exponential": Exponential(1.3),
    "rational quadratic": RationalQuadratic(1.3, alpha=0.8),
    "laplacian": Laplacian(1.3),
    "cauchy": Cauchy(1.3),
    "anova": Anova(Gaussian(1.3), 0.5),
    "full mixture": SpectralMixture([0.7, 0.4], MEANS, COVARIANCES),
    "diagonal mixture": SpectralMixture([0.7, 0.4], MEANS, [[1.0, 0.5, 0.2], [0.1, 0.1, 0.1]]),
    "scalar mixture": SpectralMixture([0.7, 0.4], MEANS, [0.3, 0.6]),
}


def dense_log_evidence(frequencies, alpha, fit_intercept, X=X, Y=Y):
    """Return the log density of targets with the variance of greatest density, summed over them."""
    n = len(X)
    K = frequencies.gram(X) / alpha + np.eye(n)
    basis = np.eye(n)
    if fit_intercept:
        # Contrasts: an orthonormal basis of what is orthogonal to constants.
        basis = np.linalg.svd(np.ones((1, n)))[2][1:].T
    K, rows = basis.T @ K @ basis, basis.T @ Y
    total = 0.0
    for y in rows.T:
        noise = y @ np.linalg.solve(K, y) / len(y)
        total += multivariate_normal(cov=noise * K).logpdf(y)
    return total


def found_at(kernel, theta=None, log_alpha=-1.0, rows=None, seed=3, m=M, **options):
    family = parameterised(kernel, Chunk(X, Y), np.ones(X.shape[1]), np.random.default_rng(0))
    draws = family.draw(m, seed, "orthogonal")
    theta = family.origin if theta is None else theta
    rows = ArrayChunks(Chunk(X, Y)) if rows is None else rows
    f = family.frequencies(draws, theta)
    found = evidence_gradient(rows, f, TARGETS, float(np.exp(log_alpha)), **options)
    gradient = np.append(family.pulled_back(draws, theta, found.slopes), found.log_alpha)
    return found.log_evidence, gradient, f, family


def assert_slopes(family, rows, fit_intercept):
    """The evidence of moved features and its gradient are those of the dense density."""
    theta = family.origin + 0.3 * np.random.default_rng(1).normal(size=family.origin.size)
    draws = family.draw(24, 3, "orthogonal")

    def dense(at):
        return dense_log_evidence(family.frequencies(draws, at), 0.4, fit_intercept, rows.X, rows.y)

    f, targets = family.frequencies(draws, theta), Numbers(np.zeros(rows.y.shape[1]))
    found = evidence_gradient(ArrayChunks(rows), f, targets, 0.4, fit_intercept=fit_intercept)
    assert found.log_evidence == pytest.approx(dense(theta))
    steps = 1e-5 * np.eye(len(theta))
    slopes = np.array([(dense(theta + e) - dense(theta - e)) / 2e-5 for e in steps])
    gradient = family.pulled_back(draws, theta, found.slopes)
    assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6 * np.abs(slopes).max())


@pytest.mark.thorough_cases(but=r"False|anova|matern|gaussian|\bfull\b|laplacian")
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_value_and_gradient_are_those_of_the_dense_density(name, fit_intercept):
    kernel = KERNELS[name]
    _, _, _, family = found_at(kernel)
    point = np.append(family.origin, -1.0)
    point += 0.2 * np.random.default_rng(1).normal(size=len(point))
    value, gradient, f, _ = found_at(
        kernel, point[:-1], point[-1], m=6, fit_intercept=fit_intercept
    )
    assert value == pytest.approx(dense_log_evidence(f, np.exp(point[-1]), fit_intercept))
    draws = family.draw(6, 3, "orthogonal")

    def dense(at):
        f = family.frequencies(draws, at[:-1])
        return dense_log_evidence(f, np.exp(at[-1]), fit_intercept)

    step = 1e-5
    slopes = [(dense(point + e) - dense(point - e)) / (2 * step) for e in step * np.eye(len(point))]
    assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6 * np.abs(slopes).max())


@pytest.mark.parametrize("name", KERNELS)
def test_moved_draws_are_draws_of_the_moved_kernel(name):
    *_, family = found_at(KERNELS[name])
    theta = family.origin + 0.5 * np.random.default_rng(2).normal(size=len(family.origin))
    moved = family.frequencies(family.draw(12, 3, "orthogonal"), theta)
    kernel = family.kernel(theta)
    # Shares of components follow the weights, so that only laws are compared for mixtures.
    if not isinstance(kernel, SpectralMixture):
        assert_allclose(moved.omega, spectral_measure(kernel, D).sample(12, 3).omega, rtol=1e-10)
        return
    many = family.frequencies(family.draw(2**17, 3, "orthogonal"), theta)
    assert_allclose(many.gram(X), kernel(X), atol=0.01)
    assert many.weight.sum() == pytest.approx(sum(KERNELS[name].weights))


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_weights_are_repetitions(fit_intercept):
    weighted = ArrayChunks(Chunk(X, Y, REPEAT.astype(float)))
    rows = Chunk(np.repeat(X, REPEAT, axis=0), np.repeat(Y, REPEAT, axis=0))
    value, gradient, *_ = found_at(Matern(1.3), rows=weighted, fit_intercept=fit_intercept)
    again, same, *_ = found_at(Matern(1.3), rows=ArrayChunks(rows), fit_intercept=fit_intercept)
    assert value == pytest.approx(again)
    assert_allclose(gradient, same, rtol=1e-9)

"""The evidence of a kernel itself as a loss: normal densities, and differences of the loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

from bochner import kernels
from bochner.features.chunks import Chunk
from bochner.linear.kernel_families import parameterised
from bochner.linear.ridge_search import FeatureSearch, GramSearch

RNG = np.random.default_rng(3)
X = RNG.normal(size=(30, 2))
Y = np.stack([np.sin(2.0 * X[:, 0]), X[:, 1] ** 2], axis=1) + 2.0 + 0.2 * RNG.normal(size=(30, 2))
TIMES = 1 + np.arange(30) % 3
KERNEL = 2.0 * kernels.Matern((0.8, 1.5), nu=2.5) + kernels.Gaussian(0.4)


def search(kind=GramSearch, *others, fit_intercept=False, alpha=None, kernel=KERNEL):
    rows = Chunk(X, Y, TIMES.astype(float))
    family = parameterised(kernel, rows, np.ones(2), np.random.default_rng(0))
    return kind(family, rows, alpha, fit_intercept, *others)


def repeated_density(kernel, alpha, contrast):
    """Log density of contrasts of repeated rows, with the best noise variance of each target."""
    rows = np.repeat(np.arange(len(X)), TIMES)
    covariance = kernel(X[rows]) / alpha + np.eye(len(rows))
    covariance, targets = contrast @ covariance @ contrast.T, contrast @ Y[rows]

    def best(y):
        def negative(log_noise):
            return -multivariate_normal(cov=np.exp(log_noise) * covariance).logpdf(y)

        return -minimize_scalar(negative, bounds=(-12.0, 3.0), method="bounded").fun

    return sum(map(best, targets.T))


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("alpha", [0.01, 0.5])
def test_it_is_the_density_of_repeated_rows(alpha, fit_intercept):
    """With an intercept, of an orthonormal basis of all contrasts."""
    problem = search(fit_intercept=fit_intercept)
    theta = problem.family.origin + 0.2
    n = TIMES.sum()
    contrast = np.eye(n)
    if fit_intercept:
        contrast = np.linalg.svd(np.ones((1, n)))[2][1:]
    value = problem.value(np.append(theta, np.log(alpha))) * 2 * n - problem.penalty(theta)[0]
    expected = repeated_density(problem.family.kernel(theta), alpha, contrast)
    assert_allclose(-value, expected, atol=1e-4)


@pytest.mark.parametrize("kernel", [KERNEL, kernels.Gaussian((0.8, 1.5))])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_its_gradient_is_that_of_differences(fit_intercept, kernel):
    problem = search(fit_intercept=fit_intercept, kernel=kernel)
    point = np.append(problem.family.origin + 0.3, np.log(0.05))
    value, gradient = problem.loss(point)
    assert value == pytest.approx(problem.value(point), rel=1e-12)
    step = 1e-4
    expected = [
        (problem.value(point + move) - problem.value(point - move)) / (2.0 * step)
        for move in step * np.eye(len(point))
    ]
    assert_allclose(gradient, expected, atol=2e-6)


def test_features_approach_it():
    exact = search(kernel=kernels.Gaussian((0.8, 1.5)))
    point = np.append(exact.family.origin, np.log(0.1))
    draws = exact.family.draw(1_000, 0, "energy")
    near = search(FeatureSearch, draws, kernel=kernels.Gaussian((0.8, 1.5)))
    assert near.value(point) == pytest.approx(exact.value(point), abs=0.01)
    assert_allclose(near.loss(point)[1], exact.loss(point)[1], atol=0.02)

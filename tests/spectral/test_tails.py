"""Frequencies with tails: an unbiased estimate, of nearly constant error between rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bochner import kernels, spectral_measure
from bochner.spectral import NoMeasureError
from bochner.spectral.tails import sample_with_tails

FAMILY_ALPHA = 1e-6
M = 256
CASES = {
    "laplacian": (lambda d: kernels.Laplacian(tuple(np.linspace(1.0, 2.0, d))), 0.5),
    "exponential": (lambda d: kernels.Exponential(2.0), 0.5),
    "matern": (lambda d: kernels.Matern(1.5, nu=2.5), 0.5),
    "gaussian": (lambda d: kernels.Gaussian(1.5), 0.5),
}
every = pytest.mark.parametrize("name", CASES)
dims = pytest.mark.parametrize("dim", [1, 5, pytest.param(20, marks=pytest.mark.thorough)])


def sample(kernel, dim, seed=0, m=M):
    return sample_with_tails(spectral_measure(kernel, dim), m, np.random.default_rng(seed))


def assert_unbiased(name, dim, draws=150):
    """Means of kernel values over draws, at lags from a hundredth of a length scale on."""
    kernel = CASES[name][0](dim)
    lags = np.random.default_rng(1).normal(size=(6, dim)) * np.geomspace(0.01, 2.0, 6)[:, None]
    origin = np.zeros((1, dim))
    found = np.array([sample(kernel, dim, seed).gram(origin, lags)[0] for seed in range(draws)])
    error = found.std(axis=0, ddof=1) / np.sqrt(draws)
    bound = stats.t.isf(FAMILY_ALPHA / 12, draws - 1)
    assert (np.abs(found.mean(axis=0) - kernel(origin, lags)[0]) < bound * error).all()


@pytest.mark.thorough_cases("20|matern-5")
@dims
@every
def test_estimates_are_unbiased(name, dim):
    assert_unbiased(name, dim)


def assert_between_rows(name, dim, n=60, m=M):
    """What interpolation leaves of the waves, as a share of the variance that it leaves."""
    kernel, rng = CASES[name][0](dim), np.random.default_rng(2)
    X, new = rng.normal(size=(n, dim)), rng.normal(size=(8, dim))
    for alpha in (1e-6, 1e-3):
        weights = np.linalg.solve(kernel(X, X) + alpha * np.eye(n), kernel(X, new))
        variance = kernel.diag(new) - np.sum(kernel(X, new) * weights, axis=0)
        noise = alpha * np.sum(weights**2, axis=0)
        found = []
        for seed in range(40):
            frequencies = sample(kernel, dim, seed, m)
            left = frequencies.features(new) - weights.T @ frequencies.features(X)
            found.append((np.sum(left**2, axis=1) + noise) / variance)
        spread = np.std(found, axis=0)
        assert spread.max() < 0.18
        assert np.sqrt(np.mean(spread**2)) < 0.1
        assert_allclose(np.mean(found, axis=0), 1.0, atol=0.1)


@pytest.mark.thorough_cases("20")
@dims
@every
def test_variances_between_rows_are_nearly_those_of_the_kernel(name, dim):
    assert_between_rows(name, dim)


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.RationalQuadratic(1.0, 2.0),
        kernels.Gaussian() + kernels.Matern(),
        kernels.Anova(kernels.Gaussian(), 0.5),
        kernels.SpectralMixture([1.0], [[0.0, 0.0]], [np.eye(2)]),
    ],
)
def test_other_measures_are_refused(kernel):
    with pytest.raises(NoMeasureError, match=r"Draw them with measure\.sample"):
        sample(kernel, 2)

"""Draws of functions and of observations follow the moments that the same model predicts."""

import numpy as np
import pytest
from laws.function_laws import assert_draws

from bochner import Forecaster, KernelGLMRegressor, LearnedKernelRegressor, kernels
from bochner.learned import Chains

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.05 * RNG.normal(size=60)
NEW = np.concatenate((X[:2] + 1e-3, RNG.normal(size=(5, 2)), [[20.0, -10.0], [20.5, -10.0]]))
KERNELS = {
    "laplacian": kernels.Laplacian(2.0),
    "exponential": kernels.Exponential(2.0),
    "matern": kernels.Matern(2.0, nu=2.5),
    "gaussian": kernels.Gaussian(1.0),
}


def assert_moments(values, mean, std):
    """Draws (n, s) have means and standard deviations (n,), whatever their correlations."""
    cov = np.cov(values)
    np.fill_diagonal(cov, std**2)
    assert_draws(values, mean, cov)


@pytest.mark.parametrize("name", ["laplacian", "matern"])
def test_samples_of_counts(name):
    counts = np.random.default_rng(1).poisson(np.exp(1.0 + 0.5 * Y))
    model = KernelGLMRegressor("poisson", kernel=KERNELS[name], n_components=64, random_state=0)
    mean, std = model.fit(X, counts).predict(NEW[:-2], return_std=True)
    values = model.sample_y(NEW[:-2], 4000, random_state=0)
    assert_moments(values, mean, std)


@pytest.mark.thorough
def test_functions_of_learned_kernels():
    model = LearnedKernelRegressor(
        8, random_state=0, chains=Chains(n_burn_in=10, n_samples=40, n_chains=1)
    ).fit(X, Y)
    mean, cov = model.predict(NEW, return_cov=True)
    values = model.sample_y(NEW, 4000, random_state=0)
    assert_draws(values, mean, cov)


def test_paths_of_forecasts():
    y = np.cumsum(np.random.default_rng(1).normal(size=80))
    model = Forecaster(random_state=0).fit(y)
    mean, std = model.predict(6, return_std=True)
    values = np.asarray(model.sample(6, 3000, random_state=0))
    assert_moments(values, np.asarray(mean), np.asarray(std))

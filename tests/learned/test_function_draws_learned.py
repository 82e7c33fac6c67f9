"""Functions drawn from learned kernels, and joint covariances, against sums over the draws."""

import pickle

import numpy as np
import pytest
from files.same import round_trip
from laws.function_laws import assert_draws
from learned.grouped_parameters import grouped
from learned.test_learned_kernel_predictions import NEW, WEIGHT, X, Y, design, posterior
from learned.test_locally_stationary_models import own_noise, place, some_model
from numpy.testing import assert_allclose, assert_array_equal

from bochner import LearnedKernelRegressor

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
UNIT = WEIGHT.mean()
"""Noise variance of a weight of one, in that of the mean weight."""
COUNT = 8000
SHORT = {"n_burn_in": 6, "n_samples": 12, "thin": 1, "random_state": 0}
CASES = {
    "sparse": {"structure": "sparse", "n_chains": 1, "n_samples": 48},  # A third with covariances
    "trend": {"structure": "dense", "n_chains": 1, "trend": 2},
    "left-out rows": {"structure": "sparse", "n_chains": 3},
}
every = pytest.mark.parametrize("name", CASES)


def fitted(name):
    return LearnedKernelRegressor(6, **grouped(**SHORT | CASES[name])).fit(X, Y, WEIGHT)


@pytest.mark.parametrize("name", ["sparse", "trend"])
def test_covariances_are_those_of_the_mixture(name):
    model = fitted(name)
    draws = model.learned_[0].draws
    means, within = [], []
    for index in range(draws.n_draws):
        mean, P, shape, rate = posterior(model, index, WEIGHT / UNIT)
        Z = design(model, index, NEW)
        means.append(Z @ mean)
        if index in draws.whitened:
            within.append(rate / (shape - 1.0) * (Z @ P @ Z.T + UNIT * np.eye(len(NEW))))
    expected = np.cov(np.transpose(means), ddof=0) + np.mean(within, axis=0)
    found, cov = model.predict(NEW, return_cov=True)
    assert_array_equal(found, model.predict(NEW))
    scale = model.target_scale_**2
    assert_allclose(cov, scale * expected, rtol=1e-4, atol=1e-4 * scale)


@pytest.mark.thorough
@every
def test_functions_have_the_joint_posterior(name):
    model = fitted(name)
    mean, cov = model.predict(NEW, return_cov=True)
    std = model.predict(NEW, return_std=True)[1]
    assert_allclose(np.diagonal(cov), std**2, rtol=1e-5)
    assert (model._scale == 1.0) == (name != "left-out rows")
    draws = model.learned_[0].draws
    noise = UNIT * draws.noise_variance[draws.whitened].mean()
    level = (model._scale * model.target_scale_) ** 2 * noise
    samples = model.sample_functions(COUNT, random_state=1)(NEW)
    assert_draws(samples, mean, cov - level * np.eye(len(NEW)))
    assert_draws(model.sample_y(NEW, COUNT, random_state=2), mean, cov)


@pytest.mark.thorough
def test_functions_of_locally_stationary_kernels_have_the_joint_posterior():
    model = some_model()
    inputs = model._scaling.centre + model._scaling.scale * np.linspace(-1.0, 1.0, 5)[:, None]
    mean, cov = model.predict(inputs, return_cov=True)
    assert_allclose(np.sqrt(np.diagonal(cov)), model.predict(inputs, return_std=True)[1], rtol=1e-5)
    draws = model.learned_[0].draws
    assert any(len(draws.waves(index).modulated) for index in range(draws.n_draws))
    noise = [own_noise(draws, index, place(model, inputs)) for index in draws.whitened]
    level = model.target_scale_**2 * np.mean(noise, axis=0)
    functions = model.sample_functions(COUNT, random_state=1)
    assert_draws(functions(inputs), mean, cov - np.diag(level))
    assert_draws(model.sample_y(inputs, COUNT, random_state=2), mean, cov)
    assert_gradients(functions[:4], inputs, model._scaling.scale)


def assert_gradients(functions, rows, scale):
    gradient, values = functions.gradient(rows), functions(rows)
    assert gradient.shape == (*rows.shape, values.shape[-1])
    for a, step in enumerate(1e-5 * np.diag(scale)):
        expected = (functions(rows + step) - functions(rows - step)) / (2.0 * step[a])
        assert_allclose(
            scale[a] * gradient[:, a], scale[a] * expected, atol=1e-7 * np.abs(values).max()
        )


@every
def test_gradients_are_differences_of_values(name):
    model = fitted(name)
    assert_gradients(model.sample_functions(4, random_state=0), NEW, model._scaling.scale)


def test_functions_come_back(tmp_path):
    functions = fitted("left-out rows").sample_functions(3, random_state=0)
    values = functions(NEW)
    assert_allclose(functions[1](NEW), values[:, 1], rtol=1e-12)
    for again in (round_trip(functions, tmp_path), pickle.loads(pickle.dumps(functions))):
        assert_array_equal(again(NEW), values)


def test_both_spreads_at_once_are_refused():
    with pytest.raises(ValueError, match="return_std and return_cov are both true"):
        fitted("sparse").predict(NEW, return_std=True, return_cov=True)

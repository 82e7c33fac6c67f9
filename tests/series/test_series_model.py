"""Models of series are Gaussian processes with the kernels that their parts name.

Steps of irregular rows are rounded to a thousand-millionth of the range, which tolerances allow.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from series.dense import covariance, log_normal_density
from series.models import MODELS, model_and_theta, rows_of
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from bochner.series.components import Remainder, Variation
from bochner.series.series_model import ScaledSeries, SeriesEvidence, SeriesModel
from bochner.series.trends import Slope


def dense_evidence(model, theta, rows):
    known = rows.known
    times, inputs = rows.times[known], rows.inputs[known]
    cov = covariance(model, theta, times, times, inputs, inputs)
    return log_normal_density(rows.values[known], cov + model.noise(theta) * np.eye(len(times)))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("irregular", [True, False])
def test_the_evidence_is_that_of_the_kernels(name, irregular):
    assert_evidence(name, irregular)


def assert_evidence(name, irregular=True):
    model, theta = model_and_theta(name)
    rows = rows_of(irregular=irregular)
    assert_allclose(model.filtered(theta, rows)[0], dense_evidence(model, theta, rows), rtol=1e-7)


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_differences(name):
    assert_gradient(name)


def assert_gradient(name, irregular=True):
    model, theta = model_and_theta(name)
    rows = rows_of(irregular=irregular)
    found, gradient = SeriesEvidence(model, rows)(theta)
    assert_allclose(found, model.filtered(theta, rows)[0], rtol=1e-12)
    for i, unit in enumerate(1e-5 * np.eye(len(theta))):
        above, below = (model.filtered(theta + step, rows)[0] for step in (unit, -unit))
        assert_allclose(gradient[i], (above - below) / 2e-5, rtol=2e-5, atol=1e-6)


def test_variation_and_noise_are_scikit_learns_process():
    rows = rows_of(40, n_inputs=0)
    model = SeriesModel((Variation(0.2), Remainder(0.01)))
    theta = np.array([np.log(0.8), np.log(0.3), np.log(0.2), -30.0, 0.0])  # No share is variation
    known = rows.known
    kernel = ConstantKernel(0.8**2) * Matern(0.3, nu=0.5) + WhiteKernel(0.2**2)
    process = GaussianProcessRegressor(kernel, optimizer=None)
    process.fit(rows.times[known, None], rows.values[known])
    evidence = model.filtered(theta, rows)[0]
    assert_allclose(evidence, process.log_marginal_likelihood_value_, rtol=1e-7)
    mean, variance = model.components_of(theta, rows)
    expected, std = process.predict(rows.times[:, None], return_std=True)
    assert_allclose(mean[:, -1], expected, atol=1e-7)
    assert_allclose(variance[:, -1], std**2 - 0.2**2, atol=1e-7)


def test_slopes_that_never_return_are_an_integrated_wiener_process():
    """Its covariance is q s² (3 t - s) / 6 for s up to t (Wahba, 1978)."""
    rows = rows_of(12, gaps=())
    model = SeriesModel((Slope(has_line=True), Remainder(0.01)))
    q = 0.7
    theta = np.array([np.log(q), np.log(1e-7), np.log(0.1), -30.0, 0.0])
    s, t = np.minimum.outer(rows.times, rows.times), np.maximum.outer(rows.times, rows.times)
    middle = rows.times - 0.5
    cov = q * s**2 * (3.0 * t - s) / 6.0 + 100.0 + 9.0 * np.outer(middle, middle)
    expected = log_normal_density(rows.values, cov + 0.01 * np.eye(12))
    assert_allclose(model.filtered(theta, rows)[0], expected, rtol=1e-6)


@pytest.mark.parametrize("rate", [0.5, 1.9, 2.1, 8.0])
def test_slopes_have_no_jump_where_the_series_ends(rate):
    """Decay over a step of 0.01 is on both sides of the change from series to closed form."""
    model = SeriesModel((Slope(has_line=False), Remainder(0.01)))
    theta = np.array([0.0, np.log(rate), -1.0, 0.0, -3.0])
    rows = ScaledSeries(0.01 * np.arange(6.0), np.arange(6.0), np.zeros((6, 0)))
    assert_allclose(model.filtered(theta, rows)[0], dense_evidence(model, theta, rows), rtol=1e-9)


def test_steps_to_later_rows_are_those_of_the_filter():
    """`carried` jumps over unknown rows as the recursion walks over them."""
    model, theta = model_and_theta("line")
    rows = rows_of(30, irregular=False, gaps=range(18, 30))
    _, states = model.filtered(theta, rows)
    known = ScaledSeries(rows.times, np.zeros(30), rows.inputs)
    length = 7 * (rows.times[1] - rows.times[0])
    at = ScaledSeries(known.times[24:25], known.values[24:25], known.inputs[24:25])
    mean, variance = model.carried(theta, states.mean[17:18], states.cov[17:18], length, at)
    weight = model.weights(at)[0]
    assert_allclose(mean, weight @ states.mean[24], rtol=1e-7)
    expected = weight @ states.cov[24] @ weight + model.noise(theta)
    assert_allclose(variance, expected, rtol=1e-7)

"""Errors of forecasts from past origins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm
from series.models import model_and_theta, rows_of

from bochner.series import breaks as calibration
from bochner.series.breaks import calibrated
from bochner.series.series_model import ScaledSeries
from bochner.series.value_transformations import PredictiveMixture


def past_errors(name, scale=4.0):
    """Return the calibration, and squared errors of filters that stop at each origin by horizon."""
    model, theta = model_and_theta(name)
    n, step = 36, 1.0 / 35.0
    rows = rows_of(n, irregular=False, gaps=(20, 31))
    # Larger than the model expects
    rows = ScaledSeries(rows.times, scale * rows.values, rows.inputs, rows.clock)
    found = calibrated(model, theta, rows, step)
    counts = np.rint(found.horizons / step).astype(int).tolist()
    assert counts[0] == 1
    assert counts[-1] == 12
    squares = {}
    for horizon in counts:
        for origin in range(12, n - horizon):
            if np.isnan(rows.values[[origin, origin + horizon]]).any():
                continue
            hidden = rows.values.copy()
            hidden[origin + 1 :] = np.nan
            given = ScaledSeries(rows.times, hidden, rows.inputs, rows.clock)
            _, states = model.filtered(theta, given)
            weight = model.weights(rows)[origin + horizon]
            mean = weight @ states.mean[origin + horizon]
            variance = weight @ states.cov[origin + horizon] @ weight + model.noise(theta)
            square = (rows.values[origin + horizon] - mean) ** 2 / variance
            squares.setdefault(horizon, []).append(square)
    return found, squares


def log_posterior(point, squares):
    """Log density of variances by horizon and of the share of large errors, with their priors."""
    share, total = expit(point[0]), 0.0
    for log_variance, (horizon, of_horizon) in zip(point[1:], squares.items(), strict=True):
        std = np.exp(0.5 * log_variance)
        errors = np.sqrt(of_horizon)
        density = (1.0 - share) * norm.pdf(errors, scale=std)
        density += share * norm.pdf(errors, scale=3.0 * std)
        # One in ``horizon`` errors is independent, and five more were as large as expected.
        total += np.sum(np.log(density)) / horizon + 5.0 * norm.logpdf(1.0, scale=std)
    return total + 2.0 * np.log(share) + 20.0 * np.log1p(-share)


def assert_calibration(name="damped"):
    """The factors and the share of large errors are the most probable ones."""
    found, squares = past_errors(name)
    start = np.concatenate(([-2.0], 2.0 * np.log(found.factors)))
    best = minimize(lambda point: -log_posterior(point, squares), start, tol=1e-10)
    assert_allclose(found.factors, np.exp(0.5 * best.x[1:]), rtol=2e-3)
    assert_allclose(found.large, expit(best.x[0]), rtol=5e-3)
    assert found.factors.max() > 1.2


@pytest.mark.thorough_cases("clock")
@pytest.mark.parametrize("name", ["damped", "clock"])
def test_the_calibration_is_the_most_probable_one(name):
    assert_calibration(name)


def assert_tails():
    """Errors of which a share is large have intervals that hold what they should."""
    rng = np.random.default_rng(0)
    errors = rng.normal(size=4000) * np.where(rng.random(4000) < 0.15, 3.0, 1.0)
    (variance,), large = calibration.scales([errors**2], [1])
    mixture = PredictiveMixture(
        np.zeros((2, 1)),
        variance * np.array([[1.0], [9.0]]),
        np.array([1.0 - large, large]),
        "none",
    )
    levels = np.array([0.025, 0.1, 0.9, 0.975])
    expected = np.quantile(errors, levels)
    assert_allclose(mixture.quantiles(levels)[0], expected, rtol=0.05)
    # A normal law of the same variance has an 80 % interval that is too wide.
    assert norm.ppf(0.9) * errors.std() > 1.15 * expected[2]


def test_tails_are_those_of_the_errors():
    assert_tails()


def test_outliers_of_the_series_count_as_large_errors():
    """As many more, with certainty: on top of two in twenty-two that are as good as seen before."""
    shares = [calibration.scales([np.zeros(0)], [1], count)[1] for count in (0, 1, 5)]
    assert_allclose(shares, [2.0 / 22.0, 3.0 / 23.0, 7.0 / 27.0])
    model, theta = model_and_theta("damped")
    rows = rows_of(36, irregular=False, gaps=(20, 31))
    without, found = (calibrated(model, theta, rows, 1.0 / 35.0, count) for count in (0, 2))
    assert found.large > without.large + 0.02


def test_standard_deviations_are_never_reduced():
    """Standard deviations stay where errors are a tenth of those that the model expects."""
    for name in ("damped", "clock"):
        small, _ = past_errors(name, scale=0.1)
        variances = small.factors**2 * (1.0 + 8.0 * small.large)
        assert_allclose(variances.min(), 1.0)
        large, _ = past_errors(name)
        assert (large.factors**2 * (1.0 + 8.0 * large.large) > 1.0).all()

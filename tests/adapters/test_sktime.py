"""The adapter for sktime, by sktime's own checks and by the forecaster's own predictions."""

import numpy as np
import pandas as pd
import pytest

from bochner import Forecaster

pytest.importorskip("sktime")

from sktime.utils.estimator_checks import check_estimator

from bochner.adapters.sktime import BochnerForecaster


@pytest.mark.slow
def test_the_checks_of_sktime():
    found = check_estimator(BochnerForecaster, raise_exceptions=False, verbose=False)
    failed = {name: result for name, result in found.items() if result != "PASSED"}
    assert not failed


def test_predictions_are_those_of_the_forecaster():
    months = pd.period_range("2015-01", periods=72, freq="M")
    t = np.arange(72.0)
    y = pd.Series(np.exp(0.01 * t + 0.3 * np.sin(2.0 * np.pi * t / 12.0)), months)
    y *= np.random.default_rng(0).uniform(0.95, 1.05, size=72)
    adapted = BochnerForecaster(random_state=0).fit(y[:60], fh=[1, 3, 12])
    own = Forecaster(random_state=0).fit(y[:60])
    expected = own.predict(12).iloc[[0, 2, 11]]
    pd.testing.assert_series_equal(adapted.predict(), expected, check_names=False)
    lower, upper = own.predict_interval(12, level=0.8)
    intervals = adapted.predict_interval(coverage=0.8)
    np.testing.assert_allclose(intervals.iloc[:, 0], lower.iloc[[0, 2, 11]])
    np.testing.assert_allclose(intervals.iloc[:, 1], upper.iloc[[0, 2, 11]])
    quantiles = adapted.predict_quantiles(alpha=[0.1, 0.5])
    np.testing.assert_allclose(quantiles.iloc[:, 0], lower.iloc[[0, 2, 11]])


def test_variances_are_those_of_log_normal_values():
    """Mixtures of log-normal laws have closed forms: a normal interval has a third of it."""
    y = pd.Series(np.exp(np.random.default_rng(0).normal(size=80)))
    adapted = BochnerForecaster((), "log", find_cycle=False, random_state=0).fit(y, fh=[1, 6])
    forecasts = adapted.forecaster_._forecasts(np.array([80, 85]), None)
    (mixture,) = forecasts.laws().values()
    m, v, w = mixture.means, mixture.variances, mixture.weights
    mean = w @ np.exp(m + 0.5 * v)
    second = w @ np.exp(2.0 * m + 2.0 * v)
    np.testing.assert_allclose(adapted.predict_var().to_numpy()[:, 0], second - mean**2)

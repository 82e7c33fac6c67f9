"""The forecast of carbon dioxide."""

import numpy as np
import pytest

from bochner import Forecaster, datasets
from bochner.cli import demo
from bochner.comparison.contenders import OURS, TREES


@pytest.fixture(scope="module")
def split():
    return demo.co2_split()


def test_the_last_ten_years_are_held_out(split):
    assert split.X.max() < split.X_test.min()
    assert split.X_test.max() - split.X_test.min() == pytest.approx(10.0, abs=0.05)
    record = datasets.load("mauna_loa_co2_weekly")
    assert len(split.y) + len(split.y_test) == np.isfinite(record.y).sum()
    assert np.isfinite(split.y).all()


class Weeks(Forecaster):
    """Forecasts that are off by one in the first two years, by three later, without a fit."""

    def fit(self, y, X=None, *, times=None, callback=None):
        return self

    def predict(self, horizon, X=None, return_std=False):
        record = datasets.load("mauna_loa_co2_weekly")
        truth = np.interp(horizon, record.X[:, 0], record.y)
        return truth + np.where(horizon < horizon[0] + 2.0, 1.0, 3.0)

    def predict_interval(self, horizon, level=0.9, X=None):
        later = horizon >= horizon[0] + 2.0
        mean = self.predict(horizon)
        return mean - np.where(later, 2.0, 4.0), mean + 4.0


def test_errors_and_coverage_are_of_the_years_held_out(split):
    results = demo.compare_co2(split, Weeks())
    first = np.mean(split.X_test[:, 0] < split.X_test[0, 0] + 2.0)
    ours = results[OURS]
    assert ours["first"] == pytest.approx(1.0)
    assert ours["rmse"] == pytest.approx(np.sqrt(first + 9.0 * (1.0 - first)))
    assert ours["coverage"] == pytest.approx(first)


def test_the_last_year_is_repeated(split):
    results = demo.compare_co2(split, Weeks())
    shift = [
        (week, split.y[np.argmin(np.abs(split.X[:, 0] - week + years))])
        for years, week in zip(
            np.ceil(split.X_test[:, 0] - split.X[-1, 0]), split.X_test[:, 0], strict=True
        )
    ]
    nearest = np.array([value for _, value in shift])
    expected = np.sqrt(np.mean((split.y_test - nearest) ** 2))
    # The method interpolates between weeks, which are up to 0.3 ppm apart.
    assert results[demo.LAST_YEAR]["rmse"] == pytest.approx(expected, rel=0.02)


def test_the_forecast_is_ahead_of_others(split):
    few = type(split)(split.X[::3], split.y[::3], split.X_test, split.y_test, split.task)
    results = demo.compare_co2(few, Forecaster(random_state=0))
    for other in (demo.LAST_YEAR, demo.WAVES, TREES):
        assert results[OURS]["rmse"] < 0.5 * results[other]["rmse"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_demo_keeps_its_promises(split, seed):
    """The year is found to a hundredth, and the forecast of ten years is within 1.2 ppm."""
    model = Forecaster(n_jobs=2, random_state=seed)
    ours = demo.compare_co2(split, model)[OURS]
    assert model.periods_[0].length == pytest.approx(1.0, abs=0.01)
    assert ours["rmse"] <= 1.2
    assert 0.85 <= ours["coverage"] <= 0.97

"""The benchmark of forecasts: what is learned from, what is forecast, and how it is measured."""

import numpy as np
import pytest

from benchmarks.forecasts import benchmark, design, methods
from benchmarks.forecasts.series import Record, read
from benchmarks.harness import Cell, Options


def weeks(values):
    return Record(np.datetime64("2020-01-06") + 7 * np.arange(len(values)), values)


def test_the_last_season_and_its_intervals():
    values = np.array([1.0, 2.0, 3.0, 2.0, 1.0, 5.0])
    series = design.Series(horizon=5, season=1, seasons=(3,), naive=3)
    found = methods.forecast(design.NAIVE, weeks(values), series)
    assert found.mean.tolist() == [2.0, 1.0, 5.0, 2.0, 1.0]
    step = np.sqrt((1.0 + 1.0 + 4.0) / 3)
    half = 1.6448536269514722 * step * np.sqrt([1, 1, 1, 2, 2])
    np.testing.assert_allclose(found.upper - found.mean, half)
    np.testing.assert_allclose(found.mean - found.lower, half)


def test_unknown_values_lie_on_lines():
    filled = methods._filled(np.array([1.0, np.nan, 3.0, np.nan]))
    assert filled.tolist() == [1.0, 2.0, 3.0, 3.0]


@pytest.mark.parametrize("origin", [0, 4])
def test_forecasts_have_the_rows_before_their_origin(monkeypatch, origin):
    rng, seen = np.random.default_rng(0), []
    values = rng.normal(size=100)
    series = design.Series(horizon=10, season=1, seasons=(5,), naive=5, most_rows=30)
    monkeypatch.setattr(design, "SERIES", {"own": series})
    monkeypatch.setattr(benchmark, "read", lambda name, folder: weeks(values))

    def mean_of_the_past(method, past, of):
        seen.append(past)
        flat = np.full(of.horizon, past.values.mean())
        return methods.Forecast(flat, flat - 1.0, flat + 1.0)

    monkeypatch.setattr(benchmark, "forecast", mean_of_the_past)
    cell = Cell("own", design.NAIVE, origin, {})
    found = benchmark._run(cell, Options(data=None, quick=False))
    last = {0: 90, 4: 50}[origin]
    np.testing.assert_array_equal(seen[0].values, values[last - 30 : last])
    future, mean = values[last : last + 10], values[last - 30 : last].mean()
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((future - mean) ** 2)))
    past = seen[0].values
    scale = np.mean(np.abs(past[5:] - past[:-5]))
    assert found["mase"] == pytest.approx(np.mean(np.abs(future - mean)) / scale)
    assert found["coverage"] == np.mean(np.abs(future - mean) <= 1.0)


def test_bundled_series_have_their_dates():
    co2, seattle = read(design.DECADE, None), read("seattle, highest temperature", None)
    assert (str(co2.times[0]), str(co2.times[-1])) == ("1958-03-29", "2001-12-29")
    assert (str(seattle.times[0]), str(seattle.times[-1])) == ("2012-01-01", "2015-12-31")


def test_a_series_of_a_folder_needs_one():
    with pytest.raises(ValueError, match="airline_passengers is not bundled"):
        read("airline", None)

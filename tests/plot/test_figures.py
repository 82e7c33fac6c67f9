"""Figures: what is given is what is drawn."""

import numpy as np
import pytest

from bochner.plot.learned import Forecast, Spectrum, forecast_figure


@pytest.fixture
def forecast():
    time = np.linspace(1990.0, 2000.0, 21)
    return Forecast(time, np.sin(time), np.cos(time), 0.1 + 0.01 * (time - 1990.0), 1995.0)


def test_forecast(forecast):
    figure = forecast_figure(forecast, ylabel="ppm", title="A forecast")
    (axis,) = figure.axes
    assert (axis.get_title(), axis.get_ylabel(), axis.get_xlabel()) == ("A forecast", "ppm", "year")
    lines = {line.get_label(): line.get_xydata() for line in axis.lines}
    held_out = forecast.time >= 1995.0
    known = np.column_stack([forecast.time, forecast.observed])
    np.testing.assert_array_equal(lines["observed"], known[~held_out])
    np.testing.assert_array_equal(lines["held out"], known[held_out])
    np.testing.assert_array_equal(lines["prediction"][:, 1], forecast.mean)
    assert any(np.array_equal(line.get_xdata(), [1995.0, 1995.0]) for line in axis.lines)


def test_the_band_holds_ninety_per_cent(forecast):
    figure = forecast_figure(forecast, ylabel="ppm", title="A forecast")
    (band,) = figure.axes[0].collections
    assert band.get_label() == "90 % interval"
    drawn = np.unique(band.get_paths()[0].vertices, axis=0)
    half = 1.6448536269514722 * forecast.std
    edges = np.concatenate([forecast.mean - half, forecast.mean + half])
    expected = np.column_stack([np.tile(forecast.time, 2), edges])
    for point in expected:
        assert np.abs(drawn - point).max(axis=1).min() < 1e-9
    assert len(drawn) == len(expected)


def test_shares_are_drawn_at_their_periods():
    time = np.linspace(0.0, 20.0, 41)
    series = Forecast(time, time, time, np.ones(41), start=15.0)
    omega = 2.0 * np.pi / np.array([[1.0, 0.5, 8.0], [1.0, 0.5, 8.0]])
    energy = np.array([[0.6, 0.3, 0.1], [0.4, 0.5, 0.1]])
    figure = forecast_figure(
        series, Spectrum(omega, energy), ylabel="y", title="a series", unit="years"
    )
    left, right = figure.axes
    assert left.get_title() == "a series"
    assert right.get_xlabel() == "period (years)"
    (steps,) = right.patches
    values, edges, _ = steps.get_data()
    drawn = {
        period: float(values[np.searchsorted(edges, period, side="right") - 1])
        for period in (1.0, 0.500001, 8.0)
    }
    np.testing.assert_allclose(list(drawn.values()), [50.0, 40.0, 10.0])
    np.testing.assert_allclose(values.sum(), 100.0)

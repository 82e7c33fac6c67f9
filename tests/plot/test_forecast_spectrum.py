"""A learned spectrum beside a forecast."""

import numpy as np

from bochner.plot.forecast import Forecast, Spectrum, forecast_figure


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


def test_without_a_spectrum_there_is_one_panel():
    time = np.linspace(0.0, 20.0, 41)
    series = Forecast(time, time, time, np.ones(41), start=15.0)
    assert len(forecast_figure(series, ylabel="y", title="a series").axes) == 1

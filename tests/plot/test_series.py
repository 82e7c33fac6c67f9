"""Pictures of a Forecaster's forecasts take every kind of times that its ``predict`` takes."""

import numpy as np
import pandas as pd
import pytest

from bochner import Forecaster, plot

VALUES = 10.0 + np.sin(np.arange(60.0) * np.pi / 6.0)
VALUES += 0.1 * np.random.default_rng(0).normal(size=60)
MONTHS = pd.date_range("2015-01-01", periods=72, freq="MS")
HOURS = pd.date_range("2020-02-28 20:00", periods=72, freq="h", tz="Asia/Tokyo")

INDICES = {
    "positions": pd.RangeIndex(72),
    "decimal years": pd.Index(2000.0 + np.arange(72) / 12.0),
    "dates": MONTHS,
    "periods": pd.period_range("2015-01", periods=72, freq="M"),
    "dates with a zone": HOURS,
}
DRAWN = {"periods": MONTHS.to_numpy(), "dates with a zone": HOURS.tz_localize(None).to_numpy()}


@pytest.fixture(scope="module", params=INDICES)
def case(request):
    """A fitted series, its later times, and all of its times as they are drawn."""
    index = INDICES[request.param]
    y = pd.Series(VALUES, index=index[:60])
    model = Forecaster(find_cycle=False, random_state=0).fit(y)
    return model, y, index[60:], DRAWN.get(request.param, index.to_numpy())


def test_a_forecast_is_drawn_by_steps_and_by_times(case):
    model, y, later, drawn = case
    by_steps, by_times = plot.forecast(model, 12), plot.forecast(model, later)
    for display in (by_steps, by_times):
        np.testing.assert_allclose(_numbers(display.times), _numbers(drawn[60:]), rtol=1e-12)
        np.testing.assert_allclose(display.mean, model.predict(12))
        past = _numbers(drawn[12:60])  # Four horizons
        np.testing.assert_allclose(_numbers(display.history[0]), past, rtol=1e-12)
        np.testing.assert_allclose(display.history[1], y[12:])
        assert display.start == display.times[0]


@pytest.mark.thorough_cases("dates")
def test_components_are_drawn_by_steps_and_by_times(case):
    model, y, later, drawn = case
    columns = model.components(12)
    for times in (12, later):
        display = plot.components(model, times)
        np.testing.assert_allclose(_numbers(display.times), _numbers(drawn[60:]), rtol=1e-12)
        trend = np.asarray(columns["trend"])[:, 0]
        np.testing.assert_allclose(display.means[display.names.index("trend")], trend)
    past = plot.components(model, y.index[::-1])
    np.testing.assert_array_equal(past.times, drawn[:60])
    np.testing.assert_allclose(past.means.sum(axis=0), model.predict(y.index), rtol=1e-3)


@pytest.mark.thorough
def test_known_inputs_are_passed_on():
    x = np.arange(72.0)[:, None] % 5 == 0
    model = Forecaster(find_cycle=False, random_state=0).fit(VALUES + 2.0 * x[:60, 0], x[:60])
    for display in (plot.forecast(model, 12, inputs=x[60:]), model.plot(12, x[60:])):
        np.testing.assert_allclose(display.mean, model.predict(12, x[60:]))
    assert set(model.plot(12, x[60:], components=True).names) == set(model.components(12, x[60:]))


@pytest.mark.thorough
def test_one_of_several_series_is_drawn():
    model = Forecaster(find_cycle=False, random_state=0).fit({"a": VALUES, "b": VALUES[::-1]})
    np.testing.assert_array_equal(plot.forecast(model.of("b"), 12).mean, model.predict(12)["b"])
    for draw in (plot.forecast, plot.components, Forecaster.plot):
        with pytest.raises(ValueError, match=r"has 2 series: draw one .* model.of\('a'\)"):
            draw(model, 12)


def test_components_are_in_units_of_the_values():
    """Per cent of a logarithm and differences of squares; a season of weeks has weekdays."""
    days = pd.date_range("2024-01-01", periods=140)
    week = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0])[np.arange(140) % 7]
    for name, level, unit in (
        ("log", 100.0 * (np.exp(3 / 7) - np.exp(-0.5 / 7)), "%"),
        ("sqrt", 10.25, ""),
    ):
        values = 10.0 + week + 1e-3 * np.random.default_rng(0).normal(size=140)
        y = pd.Series(np.exp(values) if name == "log" else values**2, days)
        model = Forecaster(transformation=name, random_state=0).fit(y)
        display = plot.components(model, days)
        place = display.names.index("week")
        assert display.units[place] == unit
        cycle = display.cycles[place]
        assert np.ptp(display.means[place]) == pytest.approx(level, rel=0.02)
        assert cycle.labels[int(cycle.places[display.means[place][cycle.rows].argmax()])] == "Sat"
        trend = display.means[display.names.index("trend")]
        assert np.all(np.abs(trend / y.mean() - 1.0) < 0.1)


def test_outliers_do_not_squeeze_a_forecast():
    values = VALUES.copy()
    values[50] = 40.0
    display = plot.forecast(Forecaster(random_state=0).fit(pd.Series(values, MONTHS[:60])), 12)
    assert display.ax_.get_ylim()[1] < 20.0
    (mark,) = (line for line in display.ax_.lines if line.get_marker() == "^")
    assert mark.get_xdata() == MONTHS[50].to_numpy()
    assert display.outliers[1] == pytest.approx(40.0)
    y = pd.Series(VALUES, MONTHS[:60])
    gap = plot.forecast(Forecaster(random_state=0).fit(y.drop(MONTHS[40:44])), 12)
    assert np.isnan(gap.ax_.lines[0].get_ydata()).sum() == 1


def _numbers(times):
    return times.astype("M8[ns]").astype(np.int64) if times.dtype.kind == "M" else times

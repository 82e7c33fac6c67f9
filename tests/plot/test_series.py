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
DRAWN = {
    "periods": MONTHS.to_numpy(),
    "dates with a zone": HOURS.tz_localize(None).to_numpy(),
}


@pytest.fixture(scope="module", params=INDICES)
def case(request):
    """A fitted series, its later times, and all of its times as they are drawn."""
    index = INDICES[request.param]
    y = pd.Series(VALUES, index=index[:60])
    model = Forecaster(find_cycle=False, random_state=0).fit(y)
    return model, y, index[60:], DRAWN.get(request.param, index.to_numpy())


def test_a_forecast_is_drawn_by_steps_and_by_times(case):
    model, y, later, drawn = case
    by_steps = plot.forecast(model, 12, history=y)
    by_times = plot.forecast(model, later, history=(y.index, y.to_numpy()))
    for display in (by_steps, by_times):
        np.testing.assert_allclose(_numbers(display.times), _numbers(drawn[60:]), rtol=1e-12)
        np.testing.assert_allclose(display.mean, model.predict(12))
        np.testing.assert_array_equal(display.history[0], drawn[:60])
        np.testing.assert_array_equal(display.history[1], y)
        assert display.start == display.times[0]


def test_components_are_drawn_by_steps_and_by_times(case):
    model, y, later, drawn = case
    columns = model.components(12)
    for times in (12, later):
        display = plot.components(model, times)
        np.testing.assert_allclose(_numbers(display.times), _numbers(drawn[60:]), rtol=1e-12)
        np.testing.assert_allclose(display.means[0], np.asarray(columns["trend"])[:, 0])
    past = plot.components(model, y.index[::-1])
    np.testing.assert_array_equal(past.times, drawn[:60])
    np.testing.assert_allclose(past.means.sum(axis=0), model.predict(y.index), rtol=1e-3)


def test_known_inputs_are_passed_on():
    x = np.arange(72.0)[:, None] % 5 == 0
    model = Forecaster(find_cycle=False, random_state=0).fit(VALUES + 2.0 * x[:60, 0], x[:60])
    display = plot.forecast(model, 12, inputs=x[60:])
    np.testing.assert_allclose(display.mean, model.predict(12, x[60:]))
    assert len(plot.components(model, 12, x[60:]).names) > 1


def test_one_of_several_series_is_drawn():
    model = Forecaster(find_cycle=False, random_state=0).fit({"a": VALUES, "b": VALUES[::-1]})
    np.testing.assert_array_equal(plot.forecast(model.of("b"), 12).mean, model.predict(12)["b"])
    for draw in (plot.forecast, plot.components):
        with pytest.raises(ValueError, match=r"has 2 series: draw one .* model.of\('a'\)"):
            draw(model, 12)


def _numbers(times):
    return times.astype("M8[ns]").astype(np.int64) if times.dtype.kind == "M" else times

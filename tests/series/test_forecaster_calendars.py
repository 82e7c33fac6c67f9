"""Forecasts of dates with holes and zones: the next dates, and what happens by the clock."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from bochner import Forecaster
from bochner.series.rolling_origins import season_steps
from bochner.series.series_rows import read_series

QUICK = {"find_cycle": False, "transformation": "none", "random_state": 0}

THOROUGH = pytest.mark.thorough

NOISE = 0.1
"""Standard deviation of the noise."""


def noise(n, seed=0):
    return NOISE * np.random.default_rng(seed).normal(size=n)


def test_business_days_go_on_without_weekends_and_holidays():
    days = pd.bdate_range("2024-01-01", periods=90)
    days = days.delete([40, 60])
    by_weekday = np.array([10.0, 11.0, 12.0, 13.0, 14.0])
    sales = pd.Series(by_weekday[days.day_of_week] + noise(len(days)), index=days)
    predicted = Forecaster(**QUICK).fit(sales).predict(10)
    assert predicted.index.equals(pd.bdate_range(days[-1], periods=11)[1:])
    assert_allclose(predicted, by_weekday[predicted.index.day_of_week], atol=3.0 * NOISE)


@pytest.mark.parametrize(
    ("freq", "season"),
    [("B", 5), ("D", 7), ("h", 24), ("15min", 96), ("MS", 12), ("BME", 12), ("QE", 4), ("W", 52)],
)
def test_seasons_of_errors_are_counted_on_the_calendar(freq, season):
    """A week has five business days: errors are those of the same weekday a week before."""
    dates = pd.date_range("2015-01-01", periods=60, freq=freq)
    for kept in (dates, dates.delete([20, 31])):
        series = read_series(pd.Series(noise(len(kept)), index=kept), None, None)
        assert season_steps(series) == season


BERLIN = "Europe/Berlin"
AUTUMN, SPRING = "2023-10-20", "2024-03-22"


def hourly(start):
    """Two weeks, in which clocks change at the second week-end; all days have a peak at eight."""
    hours = pd.date_range(start, periods=14 * 24, freq="h", tz=BERLIN)
    values = 5.0 * np.exp(-0.5 * ((hours.hour.to_numpy() - 8.0) / 2.0) ** 2)
    return (
        hours,
        values + noise(len(hours)),
        5.0 * np.exp(-0.5 * ((hours.hour.to_numpy() - 8.0) / 2.0) ** 2),
    )


def forms(hours):
    """Ways to give times in a zone, or with offsets from UTC, that are no index of pandas."""
    naive = pl.Series(hours.tz_convert("UTC").tz_localize(None))
    return {
        "text": [hour.isoformat() for hour in hours],
        "objects": np.array([hour.to_pydatetime() for hour in hours], dtype=object),
        "series": pd.Series(hours),
        "polars": naive.dt.replace_time_zone("UTC").dt.convert_time_zone(BERLIN),
    }


@pytest.fixture(scope="module", params=[AUTUMN, pytest.param(SPRING, marks=THOROUGH)])
def daily(request):
    """A forecaster of a daily peak up to a day before clocks change, and its hours and truth."""
    hours, values, true = hourly(request.param)
    n = 8 * 24
    model = Forecaster([1.0], **QUICK).fit(pd.Series(values[:n], index=hours[:n]))
    return model, hours, values, true, n


@pytest.mark.thorough
def test_a_peak_stays_at_its_hour_when_clocks_change(daily):
    model, hours, _, true, n = daily
    predicted = model.predict(len(hours) - n)
    assert predicted.index.equals(hours[n:])
    assert len(set(predicted.index.map(pd.Timestamp.utcoffset))) == 2
    assert np.sqrt(np.mean((predicted - true[n:]) ** 2)) < 2.0 * NOISE
    peaks = predicted[: -(len(predicted) % 24 or 1)].groupby(lambda hour: hour.date()).idxmax()
    assert {peak.hour for peak in peaks} == {8}
    drawn = model.sample(len(hours) - n, 200, random_state=0)
    assert_allclose(drawn.mean(axis=1), predicted, atol=4.0 * NOISE)
    parts = model.components(len(hours) - n).xs("mean", axis=1, level=1)
    assert_allclose(parts.sum(axis=1), predicted, rtol=1e-8, atol=1e-8)


@pytest.mark.thorough
def test_times_of_another_zone_have_the_clock_of_the_series(daily):
    model, hours, _, _, n = daily
    predicted = model.predict(len(hours) - n)
    later = hours[n:].tz_convert("Asia/Tokyo")
    again = model.predict(later)
    assert again.index.equals(later)
    np.testing.assert_array_equal(again, predicted)
    for form in forms(hours[n:]).values():
        assert_allclose(model.predict(form), predicted, rtol=1e-12)


def test_tides_follow_utc():
    """A period that no day is a whole number of has no jump where clocks change."""
    hours = pd.date_range(AUTUMN, periods=14 * 24, freq="h", tz=BERLIN)
    tide = 12.42 / 24.0
    true = np.cos(2.0 * np.pi * np.arange(len(hours)) / 12.42)
    n = 8 * 24
    y = pd.Series(true[:n] + noise(n), index=hours[:n])
    predicted = Forecaster([tide], **QUICK).fit(y).predict(len(hours) - n)
    assert np.sqrt(np.mean((predicted - true[n:]) ** 2)) < NOISE

"""Spikes that return by the calendar: their days, statistics and forecasts."""

from datetime import date, timedelta
from functools import cache

import numpy as np
import pandas as pd
import pytest
from dateutil.easter import easter
from numpy.testing import assert_allclose
from series.dense import covariance
from series.models import model_and_theta, rows_of

from bochner import Forecaster, load, save
from bochner.series import breaks, calendar_patterns
from bochner.series.calendar_patterns import CalendarPattern, CalendarSearch

SIZE, NOISE = 40.0, 3.0


def on_days(dates, is_spike):
    """Return whether a row, which is a day, a part of one or a week, has a day of spikes."""
    weeks = {id(WEEKS): range(7), id(TO_SUNDAYS): range(-6, 1)}
    ahead = weeks.get(id(dates), range(1))
    return np.array([any(is_spike(t + pd.Timedelta(k, "D")) for k in ahead) for t in dates])


def is_easter(day, distance=0):
    return day.date() == easter(day.year) + timedelta(distance)


DAYS = pd.date_range("2019-01-01", periods=1_155)
WEEKS = pd.date_range("2014-01-06", periods=280, freq="W-MON")
TO_SUNDAYS = pd.date_range("2014-01-05", periods=280, freq="W-SUN")
MONTHS = pd.date_range("2004-01-01", periods=168, freq="MS")
PARTS = pd.date_range("2022-01-03", periods=4 * 500, freq="6h")
HOURS = pd.date_range("2023-01-02", periods=24 * 160, freq="h")
SPIKES = {
    "end of the month": (DAYS, lambda t: t.is_month_end, "last day of the month"),
    "date": (DAYS, lambda t: (t.month, t.day) == (12, 24), "24 December"),
    "feast": (DAYS, lambda t: is_easter(t, -2), "Good Friday"),
    "week": (WEEKS, lambda t: (t.month, t.day) == (12, 25), "week with 25 December"),
    "week of a feast": (WEEKS, is_easter, "week with Easter Sunday"),
    "week to Sunday": (TO_SUNDAYS, lambda t: (t.month, t.day) == (12, 25), "week with 25 December"),
    "month": (MONTHS, lambda t: t.month == easter(t.year).month, "month with Easter Sunday"),
    "month to its end": (
        MONTHS + pd.offsets.MonthEnd(),
        lambda t: t.month == easter(t.year).month,
        "month with Easter Sunday",
    ),
    **{
        f"months {numbers}": (MONTHS, lambda t, numbers=numbers: t.month in numbers, None)
        for numbers in ((12,), (3, 6, 9, 12), (6, 7), (2, 11))
    },
    "part of a last day": (
        PARTS,
        lambda t: t.is_month_end and t.hour == 18,
        "last day of the month, 18:00",
    ),
    "day of hours": (HOURS, lambda t: t.day == 1, "day 1 of the month"),
    "hour": (HOURS, lambda t: t.is_month_end and t.hour == 18, "last day of the month, 18:00"),
}


@cache
def spiky(name, kind="flat"):
    """Return a series with spikes, and its rows with spikes."""
    dates, is_spike, _ = SPIKES[name]
    rng, t = np.random.default_rng(1), np.arange(len(dates)) / len(dates)
    spikes = np.flatnonzero(on_days(dates, is_spike))
    y = 100.0 + NOISE * rng.normal(size=len(dates))
    y += {"flat": 0.0 * t, "trend": 40.0 * t, "shift": 30.0 * (t > 0.45)}[kind]
    if dates is HOURS or dates is PARTS:
        y += (15.0 if dates is HOURS else 3.0) * np.sin(2.0 * np.pi * dates.hour / 24.0)
    y[spikes] += SIZE
    return pd.Series(y, dates), spikes


def assert_forecast(name, kind="flat"):
    """Spikes are no outliers, the days have their name, and the last spike is forecast."""
    y, spikes = spiky(name, kind)
    days = y.index[spikes].normalize()
    start, last = spikes[days == days[-1]][0], spikes[-1]
    model = Forecaster(random_state=0, find_cycle=False, n_jobs=1).fit(y[: start - 3])
    expected = [SPIKES[name][2]] if SPIKES[name][2] else []  # A season has no pattern
    assert [pattern.name for pattern in model.series_["y"].patterns] == expected
    assert not len(model.outliers_)
    assert len(model.level_shifts_) == (kind == "shift")
    forecast = model.predict(last - start + 4).iloc[-1]
    # On a scale of logarithms, a shift of the level changes the size of a spike by three tenths.
    assert abs(forecast - y.iloc[last]) < 4.0 * NOISE + 0.3 * SIZE * (kind == "shift")
    lower, upper = model.predict_interval(last - start + 4, 0.995)
    assert lower.iloc[-1] < y.iloc[last] < upper.iloc[-1]


def test_labels_count_the_days_of_a_month():
    """Days, working days and days of the week from either end, by lists of the days."""
    numbers = ["1st ", "2nd ", "3rd ", "4th ", "5th "]
    ends = ["last ", *(f"{number}last " for number in numbers[1:])]
    for t in pd.date_range("2019-01-01", "2020-12-31"):
        month = pd.date_range(t.replace(day=1), t + pd.offsets.MonthEnd(0))
        working, same = month[month.weekday < 5], month[month.weekday == t.weekday()]
        nth, last = numbers[same.get_loc(t)], "last " * (t == same[-1])
        expected = {f"day {t.day} of the month", f"{t.day} {t:%B}"}
        expected |= {f"{which}{t:%A} of the month" for which in (nth, last) if which}
        expected.add(f"{last or nth}{t:%A} of {t:%B}")
        for name, names, days in (
            ("day", ends, month[::-1]),
            ("working day", numbers, working),
            ("working day", ends, working[::-1]),
        ):
            pairs = zip(names, days, strict=False)
            expected |= {f"{which}{name} of the month" for which, day in pairs if day == t}
        labels = dict(calendar_patterns._of_day(t.date()))
        labels.pop("Easter", None)
        assert set(labels.values()) == expected


@pytest.mark.thorough_cases("hour")
@pytest.mark.parametrize("name", ["end of the month", "date", "week", "hour"])
def test_spikes_that_return_are_forecast(name):
    assert_forecast(name)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "kind"),
    # Steps of an hour take ten seconds each.
    [(n, k) for n in SPIKES for k in ("flat", "trend", "shift") if k == "flat" or "hour" not in n],
)
def test_all_kinds_of_spikes_are_forecast(name, kind):
    assert_forecast(name, kind)


def test_gains_are_those_of_least_squares():
    """The gain of a pattern is that of generalised least squares, but for distant correlations."""
    model, theta = model_and_theta("level")
    rows = rows_of(120, irregular=False, gaps=(3,), n_inputs=0)
    days = np.arange(120.0)
    column = CalendarPattern("day 5 of the month", -1, 1).indicator(days)
    values = rows.values + 4.0 * column
    rows = rows.__class__(rows.times, values, rows.inputs, rows.clock)
    found = breaks.standardised(model, theta, rows)
    known = rows.part(rows.known)
    cov = covariance(model, theta, known.times, known.times, known.inputs, known.inputs)
    precision = np.linalg.inv(cov + model.noise(theta) * np.eye(len(known)))
    c = column[rows.known]
    exact = 0.5 * (c @ precision @ known.values) ** 2 / (c @ precision @ c)
    chosen = CalendarSearch(days).strongest(found.of_values, found.precisions, 1.0)
    assert chosen.pattern.label == "day 5 of the month"
    assert_allclose(chosen.gain + chosen.cost, exact, rtol=0.05)


def test_one_outlier_is_no_pattern():
    """One outlier, whatever its day, is no pattern; of white noise at most one series has one."""
    rng = np.random.default_rng(0)
    y = pd.Series(rng.normal(size=len(DAYS)), DAYS)
    y["2020-12-24"] += 40.0
    model = Forecaster(random_state=0, find_cycle=False, n_jobs=1).fit(y)
    assert not model.series_["y"].patterns
    assert y.index[model.outliers_].tolist() == [pd.Timestamp("2020-12-24")]
    search, ones = CalendarSearch(np.arange(1_000.0)), np.ones(1_000)
    found = [
        search.strongest(rng.standard_t(5, size=1_000) / np.sqrt(5.0 / 3.0), ones, 1.0)
        for _ in range(30)
    ]
    assert sum(one is not None and one.gain > 0.0 for one in found) <= 1


def test_a_weekday_is_no_day_of_the_month():
    """Errors of every Friday at eleven are no second or last Fridays of the month."""
    days = np.arange(0.0, 98.0, 1.0 / 24.0)
    is_friday = (days.astype(int) % 7 == 1) & (np.rint(24.0 * days).astype(int) % 24 == 23)
    deviations = np.random.default_rng(0).normal(size=len(days)) + 6.0 * is_friday
    chosen = CalendarSearch(days).strongest(deviations, np.ones(len(days)), 1.0)
    assert chosen is None or chosen.gain <= 0.0


def test_effects_are_sizes_of_spikes():
    """The effect of a day is its size, and its interval holds the truth."""
    y, _ = spiky("date")
    model = Forecaster(random_state=0, find_cycle=False, n_jobs=1, transformation="none").fit(y)
    mean, lower, upper = model.effects(level=0.99)["24 December"]
    assert lower < SIZE < upper
    assert abs(mean - SIZE) < 3.0 * NOISE


def test_easter_and_weeks_are_those_of_other_libraries():
    for year in range(1583, 2600):
        assert calendar_patterns._easter(year) == easter(year)
    for day in range(0, 30_000, 11):
        number = (date(1970, 1, 1) + timedelta(day)).isocalendar().week
        assert calendar_patterns._labels(day, 7)["week"] == f"week {number}"


def test_working_days_are_counted_as_numpy_counts_them():
    for day in np.arange("2023-01-01", "2024-12-31", dtype="M8[D]"):
        labels = calendar_patterns._labels(int(day.astype(int)), 1)
        first = day.astype("M8[M]").astype("M8[D]")
        number = int(np.busday_count(first, day))
        expected = np.is_busday(day) and number < 5
        assert ("working day" in labels) == expected
        if expected:
            ordinal = ("1st", "2nd", "3rd", "4th", "5th")[number]
            assert labels["working day"] == f"{ordinal} working day of the month"


def test_patterns_are_saved(tmp_path):
    y, _ = spiky("date")
    model = Forecaster(random_state=0, find_cycle=False, n_jobs=1).fit(y)
    save(model, tmp_path / "days.bochner")
    again = load(tmp_path / "days.bochner")
    assert again.series_["y"].patterns == model.series_["y"].patterns
    assert_allclose(again.predict(400), model.predict(400), rtol=0, atol=0)

"""The kernel of a table model along its dates, and the periods of its predictions."""

import re

import numpy as np
import pandas as pd
import pytest
from report.markup import Page
from report.studies import build, of_laws, page

from bochner import TableRegressor, report
from bochner.files.columns import read_column
from bochner.report.along_time import along_time
from bochner.report.periods import periods_of, spectrum

YEAR = 365.25


def names(lags, values, is_date=True):
    return [each.name for each in periods_of(lags, values, 0.0, is_date)]


def cycle(lags, length, sharpness=1.0):
    return np.exp(sharpness * (np.cos(2.0 * np.pi * lags / length) - 1.0))


HOURS = np.arange(0.0, 730.0, 1.0 / 24.0)
DAYS = np.arange(0.0, 3653.0)


@pytest.mark.parametrize("decay", [20.0, 200.0, 5000.0], ids=lambda d: f"{d:g} days")
@pytest.mark.parametrize("sharpness", [0.5, 4.0])
def test_a_cycle_is_found_and_its_harmonics_are_not(decay, sharpness):
    """Short correlations make broad peaks, sharp cycles strong harmonics."""
    trend = np.exp(-HOURS / decay)
    assert names(HOURS, trend * cycle(HOURS, 1.0, sharpness)) == ["1 day"]
    both = trend * (0.5 * cycle(HOURS, 1.0, sharpness) + 0.5 * cycle(HOURS, 7.0))
    assert names(HOURS, both) == ["7 days", "1 day"]


def test_days_that_differ_by_the_weekday_have_a_week():
    """A product of both cycles has lines around those of the day: sidebands of the week."""
    values = np.cos(2.0 * np.pi * HOURS) * (1.0 + np.cos(2.0 * np.pi * HOURS / 7.0))
    assert names(HOURS, values) == ["7 days", "1 day"]
    week, day = periods_of(HOURS, values, 0.0, True)
    assert day.std == pytest.approx(1.0, rel=0.05)
    assert week.std == pytest.approx(1.0, rel=0.05)


def test_half_a_day_without_a_day_is_its_own():
    assert names(HOURS, np.cos(4.0 * np.pi * HOURS)) == ["12 hours"]
    tides = np.cos(2.0 * np.pi * 24.0 * HOURS / 12.42) + 0.3 * np.cos(2.0 * np.pi * HOURS)
    assert names(HOURS, tides) == ["1 day", "12.4 hours"]


def test_a_year_needs_two_of_them():
    values = 0.7 + 0.3 * cycle(DAYS, YEAR)
    assert names(DAYS, values) == ["1 year"]
    assert names(DAYS[:600], values[:600]) == []


def test_other_periods_have_their_length():
    assert names(DAYS, np.cos(2.0 * np.pi * DAYS / 29.53)) == ["29.5 days"]
    assert names(HOURS, np.cos(2.0 * np.pi * 24.0 * HOURS / 11.0)) == ["11 hours"]
    steps = np.arange(500.0)
    assert names(steps, np.cos(2.0 * np.pi * steps / 12.0), is_date=False) == ["12"]


@pytest.mark.parametrize("length", [0.5, 5.0, 50.0, 500.0])
@pytest.mark.parametrize(
    "profile",
    [
        lambda t: np.exp(-0.5 * t**2),
        lambda t: np.exp(-t),
        lambda t: (1.0 + t) * np.exp(-t),
        lambda t: 1.0 / (1.0 + t**2),
    ],
    ids=["gaussian", "exponential", "matern", "cauchy"],
)
def test_smooth_kernels_have_no_period(profile, length):
    assert names(HOURS, profile(HOURS / length)) == []
    assert names(DAYS, 0.3 + 0.7 * profile(DAYS / length)) == []


def test_the_size_of_a_period_is_its_standard_deviation():
    values = 6.0 * np.exp(-DAYS / 900.0) + 4.0 * np.cos(2.0 * np.pi * DAYS / 7.0)
    (found,) = periods_of(DAYS, values, 0.0, True)
    assert (found.name, found.length) == ("7 days", pytest.approx(7.0, rel=1e-3))
    assert found.std == pytest.approx(2.0, rel=0.05)
    # Periods that are small next to the errors are none.
    assert list(periods_of(DAYS, values, 41.0, True)) == []
    assert len(list(periods_of(DAYS, values, 39.0, True))) == 1


def test_the_spectrum_has_the_variance():
    values = np.exp(-DAYS / 30.0) + 0.5 * np.cos(DAYS / 3.0)
    assert spectrum(DAYS, values)[1].sum() == pytest.approx(1.5, rel=0.01)


@pytest.fixture(scope="module")
def laws():
    (study,) = of_laws()
    return study, along_time(study.model, read_column("when", study.split.X["when"]), 0.3)


def test_the_kernel_is_that_of_the_laws(laws):
    """A row at all times, encoded here by the table, and the covariance of the mixture of laws."""
    study, found = laws
    last, count = study.split.X["when"].max(), len(found.lags)
    rows = study.split.X.iloc[np.zeros(count, dtype=int)].copy()
    rows["when"] = last - pd.to_timedelta(np.arange(count)[::-1], unit="h")
    encoded, head = study.model.encode(rows), study.model.head_
    total = np.zeros((count, count))
    for weight, law in zip(head.weights, head.laws.members, strict=True):
        part = encoded[:, law.columns]
        values = law.found(part, part)
        total += weight * law.signal * (values - values.mean())
    by_lag = np.array([np.diagonal(total, lag).mean() for lag in range(count)])
    # From fourteen of all the times, lags near the longest from few of these
    assert np.abs(found.kernel - by_lag / by_lag[0])[: count // 2].max() < 0.08
    assert found.kernel[0] == 1.0
    np.testing.assert_allclose(found.lags, np.arange(count) / 24.0)
    assert found.weights.sum() == pytest.approx(1.0)


def test_periods_are_those_of_predictions(laws):
    """Rows at all times, predicted here from the table, have the reported periods."""
    study, found = laws
    rows = study.split.X
    times = rows["when"].max() - pd.to_timedelta(np.arange(len(found.lags))[::-1], unit="h")
    # The wave of the target has a standard deviation of 3 / √2, and predictions a little less.
    assert found.periods[0].std == pytest.approx(3.0 / np.sqrt(2.0), rel=0.1)
    curves = []
    for place in range(20):
        same = rows.iloc[np.full(len(times), place)].copy()
        same["when"] = times
        curves.append(study.model.predict(same) - study.model.predict(same).mean())
    wave = np.exp(2j * np.pi * np.arange(len(times)) / 24.0)
    variance = 2.0 * np.mean(np.abs(np.array(curves) @ wave / len(times)) ** 2)
    assert found.periods[0].std == pytest.approx(np.sqrt(variance), rel=0.1)


def test_the_cycle_of_the_table_is_named(laws):
    assert [each.name for each in laws[1].periods] == ["1 day"]
    (section,) = Page(page("laws")).all("section", id="time")
    assert "1 day" in section.text
    assert not {"7 days", "1 year", "hours"} & set(section.text.replace("(", "").split())


@pytest.mark.parametrize("kernel", ["gaussian", "matern"])
def test_a_single_kernel_is_its_own(kernel):
    days = pd.Series(np.datetime64("2020-01-01") + np.arange(300).astype("m8[D]"))
    frame = pd.DataFrame({"day": days, "x": np.random.default_rng(0).normal(size=300)})
    y = np.sin(np.arange(300) / 20.0) + frame["x"]
    model = TableRegressor(kernel, 64, random_state=0).fit(frame, y)
    found = along_time(model, read_column("day", days), 1.0)
    rows = frame.iloc[np.full(300, 5)].copy()
    rows["day"] = days.to_numpy()
    encoded = model.encode(rows)
    values = model.kernel_(encoded, encoded)
    values = values / values[0, 0] - (values / values[0, 0]).mean()
    by_lag = np.array([np.diagonal(values, lag).mean() for lag in range(300)])
    np.testing.assert_allclose(found.kernel[:200], by_lag[:200] / by_lag[0], atol=0.05)


def test_columns_that_are_no_times_have_no_period():
    """A wave along a column of numbers is no period, and dates without a cycle have none."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 40.0, 250)
    dates = np.datetime64("2024-01-01") + rng.integers(0, 2000, 250).astype("m8[h]")
    frame = pd.DataFrame({"x": x, "hour": rng.integers(0, 24, 250).astype(float), "when": dates})
    trend = (dates - dates.min()) / np.timedelta64(1000, "h")
    y = pd.Series(3.0 * np.sin(x) + np.cos(2.0 * np.pi * frame["hour"] / 24.0) + trend, name="y")
    model = TableRegressor(effort="quick", random_state=0)
    studies = build(model, frame, y, "regression")
    text = Page(report.html(studies)).all("main")[0].text
    assert "no period stands out" in text
    assert "period of x" not in text
    assert not re.search(r"(?<![\d.])(1 day|7 days|1 year)", text)
    without = build(model, frame.drop(columns="when"), y, "regression")
    assert "period" not in Page(report.html(without)).all("main")[0].text

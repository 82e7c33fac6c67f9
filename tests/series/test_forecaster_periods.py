"""Lengths of seasons by name and by number, in one unit for each kind of times."""

import numpy as np
import pandas as pd
import pytest

from bochner import Forecaster
from bochner.series.timelines import timed

MONTHS = pd.date_range("2012-01-01", periods=96, freq="MS")
Y = 10.0 + np.sin(np.arange(96.0) * np.pi / 6.0) + 0.1 * np.random.default_rng(0).normal(size=96)

LENGTHS = {
    "days": (pd.date_range("2020-01-01", periods=30), {"week": 7.0, "year": 365.2425, "day": 1.0}),
    "hours": (pd.date_range("2020-01-01", periods=30, freq="h"), {"day": 1.0, "hour": 1.0 / 24.0}),
    "months": (MONTHS, {"year": 12.0, "quarter": 3.0}),
    "quarters": (pd.period_range("2000Q1", periods=30, freq="Q"), {"year": 12.0}),
}


@pytest.mark.parametrize("kind", LENGTHS)
def test_names_have_lengths_in_the_unit_of_the_times(kind):
    times, lengths = LENGTHS[kind]
    timeline = timed(times).timeline
    assert {name: timeline.length(name) for name in lengths} == lengths


def test_a_name_and_its_length_give_one_model():
    y = pd.Series(Y, index=MONTHS)
    by_name, by_number = (
        Forecaster(periods=[period], find_cycle=False, random_state=0).fit(y).predict(12)
        for period in ("year", 12)
    )
    pd.testing.assert_series_equal(by_name, by_number)


@pytest.mark.parametrize(
    ("y", "period", "message"),
    [
        (pd.Series(Y, MONTHS), 365.25, "of 95 months, got 365.25 months. A year .* is 12 months"),
        (pd.Series(Y, MONTHS), "week", "must be numbers, in months, or 'year', 'quarter', got 'we"),
        (Y, "year", "with positions for times must be numbers, got 'year'"),
        (Y, 200, "must not be longer than the series, of 95 steps, got 200 steps"),
        (Y, 0.0, "periods must be"),
    ],
)
def test_periods_that_the_series_cannot_have_are_refused(y, period, message):
    with pytest.raises(ValueError, match=message):
        Forecaster(periods=[period], random_state=0).fit(y)

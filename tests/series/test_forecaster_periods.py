"""Lengths of seasons by name and by number, in one unit for each kind of times."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bochner import Forecaster
from bochner.comparison.forecast_words import NO_SEASON, model_facts
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


HOURS = pd.date_range("2025-01-06", periods=24 * 42, freq="h")
DAYS = pd.date_range("2022-01-01", periods=800)
YEARS = pd.Index(np.arange(1800, 1950))
DECIMAL = pd.Index(1960.0 + np.arange(120) / 12.0)


def _sharp(times, length):
    """Return a season with many harmonics, of the length in units of the times."""
    phase = (times / length) % 1.0
    return 4.0 * np.exp(-0.5 * ((phase - 0.4) / 0.05) ** 2) + np.sin(2.0 * np.pi * phase)


def _wandering(n, period, memory, rng):
    """Return a stochastic cycle, whose phase and size change over a memory in steps."""
    turn = np.exp(2j * np.pi / period - 1.0 / memory)
    noise = (rng.normal(size=n) + 1j * rng.normal(size=n)) * np.sqrt(1.0 - np.abs(turn) ** 2)
    state, states = noise[0], []
    for each in noise:
        state = turn * state + each
        states.append(state.real)
    return np.array(states)


SEASONS = {
    "sharp days and weekends": (
        HOURS, lambda t, rng: _sharp(t, 24.0) * (1.0 - 0.7 * (t // 24 % 7 > 4)), "day, week"
    ),
    "tides": (HOURS, lambda t, rng: 2.0 * np.cos(2.0 * np.pi * t / 12.42), "12.4 hours"),
    "a short fluctuation of days": (
        HOURS, lambda t, rng: _sharp(t, 24.0) + _wandering(len(t), 13.4, 14.0, rng), "day"
    ),
    "sharp weeks": (DAYS, lambda t, rng: 5.0 * (t % 7 == 3), "week"),
    "weeks and years": (
        DAYS, lambda t, rng: (t % 7 > 4) + np.sin(2.0 * np.pi * t / 365.25), "year, week"
    ),
    "a cycle": (YEARS, lambda t, rng: 3.0 * _wandering(len(t), 11.0, 60.0, rng), "11 years"),
    "decimal years": (DECIMAL, lambda t, rng: _sharp(t, 12.0), "year"),
    "noise": (DAYS, lambda t, rng: np.zeros(len(t)), ""),
    "a trend": (DECIMAL, lambda t, rng: 0.1 * t, ""),
}  # fmt: skip


@pytest.mark.thorough_cases("sharp days and weekends")
@pytest.mark.parametrize("case", SEASONS)
def test_the_seasons_of_a_series_are_reported_and_no_others(case):
    """Neither parts of a season nor short fluctuations are seasons, but tides are."""
    index, mean, expected = SEASONS[case]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        steps = np.arange(len(index), dtype=float)
        y = pd.Series(50.0 + mean(steps, rng) + 0.3 * rng.normal(size=len(index)), index)
        facts = model_facts(Forecaster(random_state=0).fit(y).series_["y"])
        found = "" if facts["Seasons"] == NO_SEASON else facts["Seasons"]
        names = [name.removeprefix("cycle of ") for name in found.split(", ")]
        if case == "a cycle":  # Its length is uncertain by some per cent
            assert len(names) == 1, found
            assert float(names[0].split()[0]) == pytest.approx(11.0, rel=0.08)
        else:
            assert sorted(names) == sorted(expected.split(", ")), (seed, found)


def test_seasons_are_reported_by_one_rule():
    """A season of 40 % is nowhere, and one of 60 % everywhere, whatever the best model has."""
    y = pd.Series(Y, MONTHS)
    options = {"find_cycle": False, "find_breaks": False, "random_state": 0}
    models = [
        Forecaster(periods=p, transformation="none", **options).fit(y) for p in (["year"], [])
    ]
    laws = [model.series_["y"].law for model in models]
    for shares in ((0.4, 0.6), (0.6, 0.4)):
        members = [
            replace(member, weights=share / len(law.members) * member.weights / sum(member.weights))
            for law, share in zip(laws, shares, strict=True)
            for member in law.members
        ]
        fitted = models[0].series_["y"]
        models[0].series_ = {"y": replace(fitted, law=replace(laws[0], members=members))}
        names = [period.name for period in models[0].periods_]
        assert names == ["year"] * (shares[0] > 0.5)
        shown = models[0].components(3).columns.unique(0)
        assert set(shown) == {*names, "remainder", "trend"}
        facts = model_facts(models[0].series_["y"])
        assert facts["Seasons"] == ("year (probability 60 %)" if names else NO_SEASON)


def test_weekends_have_other_hours_than_weekdays():
    _, mean, _ = SEASONS["sharp days and weekends"]
    steps, rng = np.arange(24.0 * 42), np.random.default_rng(0)
    truth = 50.0 + mean(steps, rng)
    y = pd.Series(truth + rng.normal(size=len(steps)), HOURS)
    model = Forecaster(random_state=0).fit(y[: -24 * 7])
    assert np.abs(model.predict(24 * 7) - truth[-24 * 7 :]).mean() < 0.26  # 0.31 without

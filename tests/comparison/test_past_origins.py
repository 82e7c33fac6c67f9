"""Forecasts that repeat a season, and errors from past origins."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bochner import Forecaster
from bochner.comparison.contenders import OURS
from bochner.comparison.forecast_fits import (
    LAST_REPEATED,
    SEASON_REPEATED,
    OriginScores,
    forecast_coverage,
    forecast_verdict,
    model_facts,
    origin_scores,
    repeated_season,
    shown_times,
)

NAN = np.nan


@pytest.mark.parametrize(
    ("values", "season", "expected"),
    [
        ([1, 2, 3, 4, 5, 6], 3, [4, 5, 6, 4, 5]),
        ([1, 2, 3, 4, 5, 6], 1, [6, 6, 6, 6, 6]),
        ([1, 2, 3, 4, NAN, 6], 3, [4, 2, 6, 4, 2]),
        ([NAN, 2, 3, NAN, 5, 6], 3, [6, 5, 6, 6, 5]),
        ([1, 2, 3, NAN], 1, [3, 3, 3, 3, 3]),
    ],
)
def test_the_last_season_is_repeated(values, season, expected):
    np.testing.assert_array_equal(repeated_season(np.array(values, float), 5, season), expected)


@pytest.mark.parametrize(("n", "n_origins"), [(60, 3), (40, 2), (25, 1), (20, None), (9, None)])
def test_origins_are_as_many_as_the_series_allows(n, n_origins):
    y = pd.Series(np.random.default_rng(0).normal(size=n), pd.RangeIndex(n))
    found = origin_scores(Forecaster(find_cycle=False, random_state=0), y, None, 12, 0.9)
    assert (None if found is None else found.n_origins) == n_origins
    if found is not None:
        assert found.other == LAST_REPEATED
        assert len(found.covered) == 12 * n_origins


def _scores(ours, other, season=12):
    errors = {OURS: np.full(3, ours), SEASON_REPEATED if season > 1 else LAST_REPEATED: [other] * 3}
    errors = {name: np.asarray(values, float) for name, values in errors.items()}
    return OriginScores(3, 1, season, errors, errors, np.ones(3), np.zeros(3, int))


@pytest.mark.parametrize(
    ("ours", "other", "season", "message"),
    [
        (0.5, 1.0, 12, "50 % smaller than those of forecasts that repeat the last season."),
        (1.5, 1.0, 1, "50 % larger than those of forecasts that repeat the last value."),
        (1.01, 1.0, 12, "as large as those of forecasts that repeat the last season."),
        (1.0, NAN, 12, "could not be compared"),
    ],
)
def test_the_verdict_compares_scaled_errors(ours, other, season, message):
    assert message in forecast_verdict([_scores(ours, other, season)])


def test_errors_from_origins_use_the_values_before_them_only():
    """Seasons whose size grows: the last season and the scale depend on the origin."""
    season = np.array([0.0, 3.0, 1.0, 7.0])
    values = np.concatenate([(1.0 + i) ** 2 * season for i in range(10)])
    y = pd.Series(values, pd.date_range("2012-01-01", periods=40, freq="QS"))
    found = origin_scores(Forecaster(random_state=0), y, None, 4, 0.9)
    assert (found.season, found.n_origins) == (4, 3)
    errors, scaled = [], []
    for origin in (28, 32, 36):
        errors.extend(values[origin : origin + 4] - values[origin - 4 : origin])
        scale = np.abs(values[4:origin] - values[: origin - 4]).mean()
        scaled.extend(errors[-4:] / scale)
    np.testing.assert_allclose(found.errors[SEASON_REPEATED], errors)
    np.testing.assert_allclose(found.scaled[SEASON_REPEATED], scaled)
    assert found.mase(SEASON_REPEATED) == pytest.approx(np.mean(np.abs(scaled)))


def test_a_season_longer_than_the_values_before_an_origin_is_not_repeated():
    """Months whose first origin comes after eight of them have no season of twelve yet."""
    values = 100.0 + np.random.default_rng(0).normal(size=17).cumsum()
    y = pd.Series(values, pd.date_range("2020-01-01", periods=17, freq="MS"))
    found = origin_scores(Forecaster(random_state=0), y, None, 3, 0.9)
    assert (found.n_origins, found.season, found.other) == (3, 1, LAST_REPEATED)
    errors = [values[o : o + 3] - values[o - 1] for o in (8, 11, 14)]
    np.testing.assert_allclose(found.errors[LAST_REPEATED], np.concatenate(errors))
    assert np.isfinite(found.mase(OURS))


def test_values_of_one_forecast_are_no_independent_values():
    """All 72 values of three forecasts may be covered, all of 72 forecasts may not."""
    every = replace(_scores(1.0, 1.0), covered=np.ones(72))
    three = replace(every, origins=np.repeat(np.arange(3), 24))
    assert "100 % of these 72 values, as expected" in forecast_coverage([three], 0.9)
    many = replace(every, origins=np.arange(72))
    assert "100 % of these 72 values, wider than necessary" in forecast_coverage([many], 0.9)


def test_shares_of_trends_add_up():
    """Shares of 77.4, 21.6, 0.7 and 0.3 % are rounded together."""
    shares = {"a level": 0.774, "a line": 0.216, "a slope": 0.007, "a walk": 0.003}
    part = SimpleNamespace(name="1 year")
    members = [
        SimpleNamespace(weights=np.array([w, 0.05]), model=SimpleNamespace(components=names))
        for w, names in ((0.65, ["trend", "1 year"]), (0.25, ["trend", "1 year", "cycle of 9"]))
    ]
    law = SimpleNamespace(
        trends=lambda: shares,
        periods=lambda: [part],
        components=["trend", "1 year", "cycle of 9", "remainder"],
        members=members,
        transformation="none",
        outliers=np.array([0.1]),
        shifts=np.linspace(0.2, 0.7, 6),
        positions=lambda times: np.rint(10.0 * times).astype(int),
    )
    facts = model_facts(law, pd.RangeIndex(100, 120))
    assert "cycle of 9 (probability 30 %)" in facts["Seasons"]
    assert facts["Outliers"] == "101, ignored"
    assert facts["Shifts"] == "of the level at 102, 103, 104, 105 and 2 more"
    assert model_facts(law)["Shifts"] == "of the level at 6 times"
    assert facts["Trend"] == "a level (77 %), a line (22 %), a slope (1 %)"
    assert facts["Seasons"] == "1 year, cycle of 9 (probability 30 %)"


def test_times_are_shown_as_people_write_them():
    days = pd.date_range("2020-01-01", periods=2)
    assert shown_times(days) == ["2020-01-01", "2020-01-02"]
    assert shown_times(days + pd.Timedelta("90min")) == ["2020-01-01 01:30", "2020-01-02 01:30"]
    mixed = pd.DatetimeIndex(["2020-01-01 00:00", "2020-01-01 12:00"])
    assert shown_times(mixed) == ["2020-01-01 00:00", "2020-01-01 12:00"]
    assert shown_times(pd.Index([1990, 1991])) == ["1990", "1991"]
    assert shown_times(pd.Index([1990.5, 0.1])) == ["1990.5", "0.1"]
    assert shown_times(pd.period_range("2020-01", periods=1, freq="M")) == ["2020-01"]

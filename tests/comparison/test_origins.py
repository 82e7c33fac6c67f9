"""Forecasts that repeat a season, and errors from past origins."""

import numpy as np
import pandas as pd
import pytest

from bochner import Forecaster
from bochner.comparison.contenders import OURS
from bochner.comparison.forecasts import forecast_verdict, shown_times
from bochner.comparison.origins import (
    LAST_REPEATED,
    SEASON_REPEATED,
    OriginScores,
    origin_scores,
    repeated_season,
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
    return OriginScores(3, 1, season, errors, errors, np.ones(3))


@pytest.mark.parametrize(
    ("ours", "other", "season", "message"),
    [
        (0.5, 1.0, 12, "50 % smaller than those of the last season repeated."),
        (1.5, 1.0, 1, "50 % larger than those of the last value repeated."),
        (1.01, 1.0, 12, "as large as those of the last season repeated."),
        (1.0, NAN, 12, "could not be compared"),
    ],
)
def test_the_verdict_compares_scaled_errors(ours, other, season, message):
    assert message in forecast_verdict([_scores(ours, other, season)])


def test_without_scores_the_verdict_says_why():
    assert "too short" in forecast_verdict([])


def test_times_are_shown_as_people_write_them():
    days = pd.date_range("2020-01-01", periods=2)
    assert shown_times(days) == ["2020-01-01", "2020-01-02"]
    assert shown_times(days + pd.Timedelta("90min")) == ["2020-01-01 01:30", "2020-01-02 01:30"]
    assert shown_times(pd.Index([1990, 1991])) == ["1990", "1991"]
    assert shown_times(pd.Index([1990.5, 0.1])) == ["1990.5", "0.1"]
    assert shown_times(pd.period_range("2020-01", periods=1, freq="M")) == ["2020-01"]

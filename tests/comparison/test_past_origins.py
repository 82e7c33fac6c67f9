"""Forecasts that repeat a season, and errors from past origins."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bochner import Forecaster
from bochner.comparison import forecast_fits
from bochner.comparison.contenders import OURS
from bochner.comparison.forecast_fits import (
    OriginScores,
    SeriesForecast,
    best_other,
    on_calendar,
    origin_scores,
)
from bochner.comparison.forecast_words import (
    error_rows,
    forecast_coverage,
    forecast_verdict,
    horizon_rows,
    input_rows,
    missing_times,
    model_facts,
    number_of_values,
    origins_sentence,
    outlook_sentence,
    panel_sentence,
    period_rows,
    shown_times,
    uncompared,
)
from bochner.comparison.simple_forecasts import (
    LAST,
    LINE,
    REGRESSION,
    THETA,
    repeated_season,
    simple_forecasts,
)
from bochner.files.series_table import SeriesColumns
from bochner.series.series_law import SeriesLaw

NAN = np.nan
UNSETTLED = np.array([0.2, 1.0, 0.6]), 0.8, ", 33 % larger, a difference that 3 past forecasts do"


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
        assert set(found.errors) == {OURS, LAST, LINE, THETA}
        assert len(found.covered) == 12 * n_origins


@pytest.mark.parametrize("rate", [1.0, 1.03])
def test_the_theta_method_continues_seasons_and_half_of_the_slope(rate):
    """A season of six within one of two years, in units or per cent, and a straight line."""
    n, short, long = np.arange(96.0), np.array([3.0, -1, 0, 2, -4, 0]), 5.0 * np.eye(24)[7] - 5 / 24
    pattern = short[np.arange(108) % 6] + long[np.arange(108) % 24]
    if rate > 1.0:
        values, truth = 50.0 * rate ** pattern[:96], 50.0 * rate ** pattern[96:]
    else:
        values, truth = pattern[:96] - 5.0, pattern[96:] - 5.0
    found = simple_forecasts(values, 12, {"six": 6, "two years": 24, "too long": 97})
    np.testing.assert_allclose(found[THETA], truth, atol=1e-6)
    np.testing.assert_allclose(found["last cycle (two years) repeated"], truth, atol=1e-9)
    np.testing.assert_allclose(
        found["mean of each step of the cycle (two years)"], truth, atol=1e-9
    )
    assert not [name for name in found if "too long" in name]
    straight = simple_forecasts(-10.0 - 2.0 * n, 3, {})
    np.testing.assert_allclose(straight[LINE], straight[LAST] - [2.0, 4.0, 6.0])
    np.testing.assert_allclose(np.diff(straight[THETA]), -1.0)


@pytest.mark.parametrize("phase", [0, 11, 30])
def test_smooth_seasons_of_few_years_stay_where_they_are(phase):
    angles = 2.0 * np.pi * (np.arange(5 * 52) - phase) / 52
    found = simple_forecasts(np.cos(angles[:208]), 52, {"year": 52})[THETA]
    assert abs(np.sin(angles[208:]) @ found) < 0.01 * np.cos(angles[208:]) @ found


def _scores(ours, other, season=12):
    errors = {OURS: ours * np.ones(3), "week": other * np.ones(3), THETA: [9.0] * 3}
    errors = {name: np.asarray(values, float) for name, values in errors.items()}
    ones = np.ones(3)
    return OriginScores(
        1, 3, season, errors, ones, ones, ones, ones, np.arange(3), ones, pd.RangeIndex(9)
    )


@pytest.mark.parametrize(
    ("ours", "other", "message"),
    [
        (0.5, 1.0, "error of 0.500; that of .*, “week”, is 1.000, 100 % larger."),
        (1.5, 1.0, "error of 1.50; that of .*, “week”, is 1.00, 33 % smaller."),
        (8.8, 9.9, "best other method, “Theta method”, is 9.00, about as large."),
        UNSETTLED,
    ],
)
def test_the_verdict_compares_errors_with_the_best_other_method(ours, other, message):
    said = forecast_verdict([_scores(ours, other)])
    assert all(part in said for part in message.split(".*"))
    assert best_other([_scores(1.0, 2.0), _scores(1.0, 20.0)]) == THETA


def test_counts_are_not_compared_in_favour_of_zero():
    """A method that forecasts zero has the smaller absolute, and the larger squared error."""
    scores = _scores([1.0, 1.0, 1.0], [0.0, 0.0, 2.7])
    counts = replace(scores, are_counts=True)
    assert scores.methods[:2] == ["week", OURS]
    assert counts.methods[:2] == [OURS, "week"]
    assert "root mean squared error of 1.00; that of the best" in forecast_verdict([counts])
    assert "a mean scaled RMSE of 1.00" in forecast_verdict([counts, counts])
    assert "a mean scaled error of 1.00" in forecast_verdict([counts, scores])
    heads, rows = error_rows(counts)
    assert heads[1:4] == ["RMSE", "mean absolute error", "scaled RMSE"]
    assert [row[0] for row in rows[:2]] == [OURS, "week"]
    assert rows[1][-1] == "+56 %"
    assert not any("sMAPE" in head for head in [*heads, *horizon_rows(counts)[0]])


@pytest.mark.thorough
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
    np.testing.assert_allclose(found.errors["last year repeated"], errors)
    np.testing.assert_allclose(found.errors["last year repeated"] / found.scale, scaled)
    assert found.mase("last year repeated") == pytest.approx(np.mean(np.abs(scaled)))


@pytest.mark.parametrize(
    ("step", "digits"), [(0.5, 9), (1.0 / 12.0, 3), (1.0 / 12.0, 2), (1.0, 0), (7.0, 0)]
)
def test_numbers_with_gaps_are_on_their_grid(step, digits):
    """Rounded decimal times lie on the grid of all times; times off a grid stay as they are."""
    times = np.round(1950.0 + step * np.arange(120), digits).astype(float if digits else int)
    kept = np.delete(np.arange(120), [3, 4, *range(50, 70), 100])
    y = pd.Series(np.arange(120.0), times)
    found = on_calendar(y.iloc[kept])
    np.testing.assert_allclose(found.index, times, atol=0.1 * step)
    np.testing.assert_array_equal(found.index[kept], times[kept])
    np.testing.assert_array_equal(found.dropna(), kept)
    assert found.index.dtype == times.dtype
    off = pd.Series(np.arange(8.0), [0.0, 0.5, 1.0, 1.5, 2.2, 2.7, 3.2, 3.7])
    pd.testing.assert_series_equal(on_calendar(off), off)


@pytest.mark.thorough_cases("B")
@pytest.mark.parametrize("freq", ["B", "D"])
def test_rows_left_out_are_empty_cells(freq):
    """Other methods forecast by the calendar: every weekday, whatever rows the file lacks."""
    days, rng = pd.date_range("2022-01-03", periods=240, freq=freq), np.random.default_rng(0)
    pattern = 100.0 + 10.0 * np.array([0.0, 4, 1, 7, 2, 9, 5])
    y = pd.Series(pattern[days.day_of_week] + rng.normal(size=240), days)
    y.iloc[[*range(20, 23), *rng.choice(np.arange(24, 239), 12, replace=False)]] = NAN
    X = pd.DataFrame({"price": rng.normal(size=240)}, days)
    model = Forecaster(find_cycle=False, random_state=0)
    one, other = (
        origin_scores(model, each, X.loc[each.index], 10, 0.9) for each in (y, y.dropna())
    )
    for name, errors in one.errors.items():
        np.testing.assert_allclose(errors, other.errors[name], atol=0.1 if name == OURS else 1e-9)
    for name in ("last week repeated", "mean of each weekday", THETA, REGRESSION):
        assert one.mae(name) < 2.0, name


def test_a_season_longer_than_the_values_before_an_origin_is_not_repeated():
    """Months whose first origin comes after eight of them have no season of twelve yet."""
    values = 100.0 + np.random.default_rng(0).normal(size=17).cumsum()
    y = pd.Series(values, pd.date_range("2020-01-01", periods=17, freq="MS"))
    found = origin_scores(Forecaster(random_state=0), y, None, 3, 0.9)
    assert (found.n_origins, found.season, len(found.errors)) == (3, 1, 4)
    errors = [values[o : o + 3] - values[o - 1] for o in (8, 11, 14)]
    np.testing.assert_allclose(found.errors[LAST], np.concatenate(errors))
    assert np.isfinite(found.mase(OURS))


def test_values_of_one_forecast_are_no_independent_values():
    """All 72 values of three forecasts may be covered, all of 72 forecasts may not."""
    every = replace(_scores(1.0, 1.0), covered=np.ones(72))
    every = replace(every, origins=np.repeat(np.arange(3), 24), steps=np.ones(72))
    assert "100.0 % of 72 past values, too few independent" in forecast_coverage([every], 0.9)
    many = replace(every, origins=np.arange(72))
    assert "100.0 % of 72 past values, wider than necessary" in forecast_coverage([many], 0.9)


def test_values_forecast_before_a_shift_are_told_from_the_others():
    """A shift at row 6 precedes the last two values of the origin at row 4."""
    one = replace(
        _scores(1.0, 1.0),
        origins=np.repeat([0, 4, 8], 4),
        steps=np.tile(np.arange(1, 5), 3),
        covered=np.repeat([1.0, 0.0, 1.0], [6, 2, 4]),
        times=pd.date_range("2024-01-01", periods=12),
        shifts=np.array([6]),
    )
    np.testing.assert_array_equal(np.flatnonzero(one.are_before_shifts()), [6, 7])
    said = forecast_coverage([one], 0.9)
    of = "2 of these values were forecast before a shift of the level at 2024-01-07"
    assert said.endswith(f"{of}: the intervals contained 0 % of them and 100 % of the others.")
    assert "in 1 series" in forecast_coverage([one, replace(one, shifts=np.zeros(0))], 0.9)
    for place in (4, 8):  # An origin knows the rows before it alone
        n_before = {4: 4, 8: 4}[place]
        assert replace(one, shifts=np.array([place])).are_before_shifts().sum() == n_before
    assert "shift" not in forecast_coverage([replace(one, shifts=np.zeros(0))], 0.9)
    numbers = replace(one, times=pd.RangeIndex(5, 17))
    assert origins_sentence([numbers, numbers]) == "Past forecasts begin at 5, 9, 13."
    assert origins_sentence([one]).endswith("begin at 2024-01-01, 2024-01-05, 2024-01-09.")


@pytest.mark.parametrize("n_series", [19, 20, 24, 41])
def test_twenty_series_spread_evenly_are_compared(n_series, monkeypatch):
    law = SimpleNamespace(
        transformation="none", shifts=np.zeros(0), positions=lambda shifts: np.zeros(0, int)
    )
    fitted = SimpleNamespace(law=law)
    made = [
        SeriesForecast(f"{i}", pd.Series([float(i)]), pd.RangeIndex(1), *np.ones((3, 1)))
        for i in range(n_series)
    ]
    model = SimpleNamespace(series_={one.name: fitted for one in made})
    monkeypatch.setattr(forecast_fits, "origin_scores", lambda *given: _scores(1.0, 2.0))
    monkeypatch.setattr(forecast_fits, "_season_steps", lambda *given: {})
    request = forecast_fits.Request(SeriesColumns("y", "t", "name", ()))
    fits = forecast_fits.SeriesFits(model, made, {})
    chosen = np.array(list(forecast_fits.past_scores(fits, request, lambda *given: None)), int)
    assert len(chosen) == min(n_series, 20)
    assert (chosen[0], chosen[-1]) == (0, n_series - 1)
    gaps = np.diff(chosen)
    assert gaps.max() - gaps.min() <= 1
    said = uncompared(n_series, len(chosen) - 1)
    assert f"{len(chosen) - 1} of {n_series} series:" in said
    assert ("at most 20" in said) == (n_series > 20)
    assert "1 is too short" in said
    assert (not uncompared(n_series, len(chosen))) == (n_series <= 20)


def test_shares_of_trends_add_up():
    """Shares of 77.4, 21.6, 0.7 and 0.3 % are rounded together."""
    shares = {"a level": 0.774, "a line": 0.216, "a slope": 0.007, "a walk": 0.003}
    periods = [SimpleNamespace(name="year"), SimpleNamespace(name="cycle of 9")]
    members = [
        SimpleNamespace(weights=np.array([w, 0.05]), model=SimpleNamespace(components=names))
        for w, names in ((0.30, ["trend", "year"]), (0.60, ["trend", "year", "cycle of 9"]))
    ]
    law = SimpleNamespace(
        trends=lambda: shares,
        periods=lambda: periods,
        members=members,
        transformation="none",
        outliers=np.array([0.1]),
        shifts=np.linspace(0.2, 0.7, 6),
        positions=lambda times: np.rint(10.0 * times).astype(int),
    )
    law.probability = partial(SeriesLaw.probability, law)
    series = SimpleNamespace(law=law, patterns=[])
    facts = model_facts(series, pd.RangeIndex(100, 120))
    assert facts["Outliers"].startswith("101, ignored (")
    assert facts["Shifts"] == "of the level at 102, 103, 104, 105 and 2 more"
    assert model_facts(series)["Shifts"] == "of the level at 6 times"
    assert facts["Trend"] == "a level (77 %), a line (22 %), a slope (1 %)"
    assert facts["Seasons"] == "year, cycle of 9 (probability 65 %)"


def test_a_forecast_is_said_in_words():
    """Means and totals are those of joint draws; values that are no counts have no total."""
    days = pd.date_range("2024-01-01", periods=40)
    later, ones = pd.date_range("2024-02-10", periods=10), np.ones(10)
    draws = np.linspace(90.0, 110.0, 201)[:, None] * ones  # All days of a draw are alike
    parts = later, 100.0 * ones, 90.0 * ones, 110.0 * ones, None, draws, "day"
    one = SeriesForecast("a", pd.Series(np.arange(40.0), days).drop(days[3:6]), *parts)
    said = outlook_sentence(one, 0.9)
    average = "about 100 a day on average (90 % interval 91 to 109), "
    flat, total = "every forecast 100.0 (90.0 to 110.0)", "1,000 in all (910 to 1,090)"
    assert said == f"The next 10 days: {average}{flat} on 2024-02-19; {total}."
    peak = replace(one, mean=one.mean + 80.0 * (np.arange(10) == 6), unit="week")
    for places, low, high in (
        (pd.date_range("2024-03-02", periods=10, freq="W-SAT"), "to 2024-03-02", "to 2024-04-13"),
        (later[0] + 7 * pd.to_timedelta(np.arange(10), "D"), "to 2024-02-10", "to 2024-03-23"),
        (
            pd.date_range("2024-03-04", periods=10, freq="W-MON"),
            "from 2024-03-04",
            "from 2024-04-15",
        ),
    ):
        said = outlook_sentence(replace(peak, times=places), 0.9)
        assert f", lowest 100.0 (90.0 to 110.0) in the week {low}, highest 180.0 (" in said
        assert f"in the week {high};" in said
    fiscal = replace(peak, times=pd.date_range("2020-07-01", periods=10, freq="YS-JUL"))
    assert "at 2026-27;" in outlook_sentence(replace(fiscal, unit="year", fiscal="1999-00"), 0.9)
    assert number_of_values(one) == "37 values in 40 days"
    total = panel_sentence([one, one], 0.9, 3)
    assert total.startswith("The next 10 days of 2 series: about 2,0")
    assert total.endswith("independent), without 3 series that have no forecast.")
    assert missing_times(one) == "3 of 40 days are missing: 2024-01-04 to 2024-01-06"
    assert "in all" not in outlook_sentence(replace(one, values=one.values - 0.5), 0.8)


@pytest.mark.parametrize("scale", ["none", "sqrt", "log"])
def test_effects_of_inputs_have_the_units_of_the_values(scale):
    """What one more of an input adds, or multiplies in per cent, lies within its interval."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"weak": rng.normal(size=200), "strong": rng.random(200) < 0.1}) * 1.0
    linear = 20.0 + 0.5 * X["weak"] - 2.0 * X["strong"] + 0.1 * rng.normal(size=200)
    y = {"none": linear, "sqrt": linear**2, "log": np.exp(0.1 * linear)}[scale]
    model = Forecaster(transformation=scale, find_cycle=False, random_state=0).fit(y, X)
    flat = np.full(2, {"none": 20.0, "sqrt": 400.0, "log": np.exp(2.0)}[scale])
    one = SeriesForecast("a", y, pd.RangeIndex(200, 202), flat, flat - 1.0, flat + 1.0, X)
    rows = input_rows(one, model.series_["y"], 0.999)
    truth = {"none": (-2.0, 0.5), "sqrt": (-76.0, 20.25), "log": (-18.1, 5.1)}[scale]
    assert [row[0] for row in rows] == ["strong", "weak"]
    for row, expected in zip(rows, truth, strict=True):
        _, lower, upper = (float(text.removesuffix(" %").replace("−", "-")) for text in row[1:])
        assert lower - 0.5 <= expected <= upper + 0.5
        assert row[1].endswith(" %") == (scale == "log")


def test_a_long_forecast_has_totals_of_months():
    days, ones = pd.date_range("2024-01-16", periods=60), np.ones(60)
    draws = np.linspace(90.0, 110.0, 201)[:, None] * ones
    parts = days, 100.0 * ones, 90.0 * ones, 110.0 * ones, None, draws, "day"
    one = SeriesForecast("a", pd.Series(np.arange(9.0), days[:9] - pd.Timedelta("9D")), *parts)
    heads, rows = period_rows(one, 0.9)
    assert heads[:3] == ["month", "days", "mean per day"]
    assert [row[:2] for row in rows] == [["2024-01", "16"], ["2024-02", "29"], ["2024-03", "15"]]
    assert rows[1][5:] == ["2,640 to 3,160"]
    assert period_rows(replace(one, times=days[:9]), 0.9) == ([], [])


def test_times_are_shown_as_people_write_them():
    days = pd.date_range("2020-01-01", periods=2)
    assert shown_times(days) == ["2020-01-01", "2020-01-02"]
    assert shown_times(days + pd.Timedelta("90min")) == ["2020-01-01 01:30", "2020-01-02 01:30"]
    mixed = pd.DatetimeIndex(["2020-01-01 00:00", "2020-01-01 12:00"])
    assert shown_times(mixed) == ["2020-01-01 00:00", "2020-01-01 12:00"]
    assert shown_times(pd.Index([1990, 1991])) == ["1990", "1991"]
    assert shown_times(pd.Index([1990.5, 0.1])) == ["1990.5", "0.1"]
    assert shown_times(pd.period_range("2020-01", periods=1, freq="M")) == ["2020-01"]

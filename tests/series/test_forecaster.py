"""Forecasts of series: what goes in, what comes out, and what must not matter."""

import subprocess
import sys
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import bochner
from bochner import Forecaster
from bochner.series.series_law import SeriesLaw

N = 96
T = np.arange(float(N))
QUICK = {"find_cycle": False, "random_state": 0}

CLOSE = 0.05
"""Rounding changes where searches end, and so the draws: a tenth of the noise's deviation."""


def values(n=N, seed=0):
    """A line, a season of twelve steps, and noise."""
    t = np.arange(float(n))
    noise = 0.3 * np.random.default_rng(seed).normal(size=n)
    return 20.0 + 0.05 * t + 2.0 * np.sin(2.0 * np.pi * t / 12.0) + noise


def monthly(n=N, seed=0, name="sales"):
    index = pd.date_range("2000-01-01", periods=n, freq="MS")
    return pd.Series(values(n, seed), index=index, name=name)


@pytest.fixture(scope="module")
def fitted():
    return Forecaster(**QUICK).fit(monthly()[:84])


def test_the_line_and_the_season_go_on(fitted):
    later = monthly()[84:]
    mean, std = fitted.predict(12, return_std=True)
    assert mean.index.equals(later.index)
    assert np.abs(mean - later).max() < 4.0 * 0.35
    assert ((std > 0.25) & (std < 0.6)).all()
    assert [period.name for period in fitted.periods_] == ["year"]
    assert fitted.transformation_ == "none"


def test_ways_to_say_when(fitted):
    dates = monthly()[84:].index
    mean = fitted.predict(12)
    np.testing.assert_array_equal(fitted.predict(dates), mean)
    np.testing.assert_array_equal(fitted.predict(dates.to_numpy()), mean)
    turned = fitted.predict(dates[::-1])
    assert turned.index.equals(dates[::-1])
    np.testing.assert_array_equal(turned[::-1], mean)
    across = fitted.predict(monthly()[80:90].index)
    assert_allclose(across[4:], mean[:6])


AT_TIMES = {
    "predict": lambda model, y: np.column_stack(model.predict(y.index, return_std=True)),
    "predict_interval": lambda model, y: np.column_stack(model.predict_interval(y.index)),
    "predict_quantiles": lambda model, y: model.predict_quantiles(y.index, [0.2, 0.7]),
    "sample": lambda model, y: model.sample(y.index, 3, random_state=0),
    "components": lambda model, y: model.components(y.index),
    "log_density": lambda model, y: model.log_density(y),
}
"""What a model returns for the times of a series, of which only the last one takes the values."""


@pytest.mark.parametrize("method", AT_TIMES)
def test_times_may_be_in_any_order(fitted, method):
    assert_any_order(fitted, method)


def assert_any_order(model, method):
    """Each result belongs to its time; the order of times is not its own inverse."""
    later = monthly()[84:]
    order = np.random.default_rng(0).permutation(12)
    in_order = np.asarray(AT_TIMES[method](model, later))
    found = np.asarray(AT_TIMES[method](model, later.iloc[order]))
    np.testing.assert_array_equal(found, in_order[order])
    assert not np.array_equal(found[order], in_order)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_intervals_are_quantiles(fitted, level):
    lower, upper = fitted.predict_interval(12, level)
    ends = fitted.predict_quantiles(12, [0.5 - 0.5 * level, 0.5, 0.5 + 0.5 * level])
    np.testing.assert_array_equal(lower, ends.iloc[:, 0])
    np.testing.assert_array_equal(upper, ends.iloc[:, 2])
    # Mixtures of models are not symmetric: their median is near the mean.
    mean, std = fitted.predict(12, return_std=True)
    assert ((ends.iloc[:, 1] - mean) / std).abs().max() < 0.2
    assert ends.columns.tolist() == [0.5 - 0.5 * level, 0.5, 0.5 + 0.5 * level]


def test_draws_are_futures(fitted):
    drawn = fitted.sample(12, 2000, random_state=0)
    assert drawn.shape == (12, 2000)
    mean, std = fitted.predict(12, return_std=True)
    assert np.abs((drawn.mean(axis=1) - mean) / std).max() < 0.1
    assert_allclose(drawn.std(axis=1), std, rtol=0.1)
    np.testing.assert_array_equal(drawn, fitted.sample(12, 2000, random_state=0))
    with pytest.raises(ValueError, match="after the last known value"):
        fitted.sample(monthly()[80:].index)


def test_an_improbable_season_is_part_of_the_remainder(fitted, monkeypatch):
    monkeypatch.setattr(SeriesLaw, "probability", lambda law, name: 0.4 if "year" in name else 1.0)
    parts = fitted.components(12)
    assert set(parts.columns.get_level_values(0)) == {"trend", "remainder"}
    total = parts.xs("mean", axis=1, level=1).sum(axis=1)
    assert_allclose(total, fitted.predict(12), rtol=1e-9)


def test_components_add_up(fitted):
    parts = fitted.components(12)
    assert list(dict.fromkeys(parts.columns.get_level_values(0))) == ["trend", "year", "remainder"]
    total = parts.xs("mean", axis=1, level=1).sum(axis=1)
    assert_allclose(total, fitted.predict(12), rtol=1e-9)
    season = parts["year"]
    true = 2.0 * np.sin(2.0 * np.pi * np.arange(84, 96) / 12.0)
    assert np.abs(season["mean"] - true).max() < 0.4
    assert (season["lower"] < season["mean"]).all()
    assert (season["upper"] > season["mean"]).all()


def test_arrays_come_back_as_arrays():
    y = values()
    model = Forecaster(**QUICK).fit(y[:84])
    (found,) = model.periods_
    assert found.name == "12 steps"
    mean, std = model.predict(12, return_std=True)
    assert isinstance(mean, np.ndarray)
    assert mean.shape == std.shape == (12,)
    assert model.predict_quantiles(12, [0.1, 0.9]).shape == (12, 2)
    assert model.sample(12, 3, random_state=0).shape == (12, 3)
    parts = model.components(12)
    assert {part.shape for part in parts.values()} == {(12, 3)}
    assert_allclose(sum(part[:, 0] for part in parts.values()), mean, rtol=1e-9)
    assert_allclose(model.predict(np.arange(84.0, 96.0)), mean)
    assert_allclose(model.predict(np.arange(84.0, 96.0)[:, None]), mean)


def moved(y, times, later, **settings):
    model = Forecaster([12.0 * (times[1] - times[0])], transformation="none", **QUICK | settings)
    return model.fit(y, times=times).predict(later, return_std=True)


@pytest.fixture(scope="module")
def plain():
    return moved(values()[:84], T[:84], T[84:])


@pytest.mark.parametrize(("shift", "factor"), [(-500.0, 1.0), (0.0, 1e6), (7.0, -1e-4)])
def test_units_of_values_do_not_matter(plain, shift, factor):
    mean, std = moved(shift + factor * values()[:84], T[:84], T[84:])
    assert_allclose(mean, shift + factor * plain[0], atol=CLOSE * abs(factor))
    assert_allclose(std, abs(factor) * plain[1], rtol=CLOSE)


@pytest.mark.thorough
def test_unknown_rows_are_as_good_as_missing_ones(plain):
    """With NaN, and without the rows, where the usual step is the same."""
    y, gaps = values()[:84], [5, 6, 40]
    with_nan = y.copy()
    with_nan[gaps] = np.nan
    kept = np.setdiff1d(np.arange(84), gaps)
    first = moved(with_nan, T[:84], T[84:])
    second = moved(y[kept], T[kept], T[84:])
    assert_allclose(first[0], second[0], atol=CLOSE)
    assert_allclose(first[1], second[1], rtol=CLOSE)


@pytest.mark.thorough
def test_irregular_times():
    times = np.sort(np.random.default_rng(0).uniform(0.0, 8.0, 150))
    y = np.sin(2.0 * np.pi * times) + 0.1 * np.random.default_rng(1).normal(size=150)
    model = Forecaster([1.0], **QUICK).fit(y, times=times)
    later = np.linspace(8.1, 9.0, 10)
    assert np.abs(model.predict(later) - np.sin(2.0 * np.pi * later)).max() < 0.15
    with pytest.raises(ValueError, match="irregular"):
        model.predict(3)


@pytest.mark.thorough
def test_the_future_is_not_read():
    """Values, times and inputs after an origin change nothing before it."""
    y, X = monthly(), np.random.default_rng(3).normal(size=(N, 1))
    other, other_X = y.copy(), X.copy()
    other.iloc[90:] += 1000.0
    other_X[90:] += 50.0
    model = Forecaster(**QUICK)
    settings = {"n_origins": 2, "stride": 6}
    first = model.cross_validate(y, 6, X=X, **settings)
    second = model.cross_validate(other, 6, X=other_X, **settings)
    before = first["origin"] == 84
    columns = ["predicted", "lower", "upper", "scaled_error", "smape", "crps", "log_density"]
    np.testing.assert_array_equal(first.loc[before, columns], second.loc[before, columns])
    assert (first.loc[~before, "observed"] != second.loc[~before, "observed"]).all()


@pytest.mark.thorough
def test_rolling_origins_are_fits_to_the_values_before():
    y = monthly()
    model = Forecaster(**QUICK)
    table = model.cross_validate(y, 4, 3, stride=2, level=0.8)
    assert table["origin"].tolist() == [88] * 4 + [90] * 4 + [92] * 4
    assert table["step"].tolist() == [1, 2, 3, 4] * 3
    last = table[table["origin"] == 92].set_index("time")
    alone = clone(model).fit(y[:92])
    np.testing.assert_array_equal(last["predicted"], alone.predict(4))
    lower, upper = alone.predict_interval(4, 0.8)
    np.testing.assert_array_equal(last["lower"], lower)
    inside = (lower <= y[92:]) & (y[92:] <= upper)
    np.testing.assert_array_equal(last["covered"], inside)
    scale = np.abs(y[:92].to_numpy()[12:] - y[:92].to_numpy()[:-12]).mean()
    assert_allclose(last["scaled_error"], (y[92:] - alone.predict(4)) / scale)
    assert_allclose(last["log_density"], alone.log_density(y[92:]))
    unknown = y.copy()
    unknown.iloc[-1] = np.nan
    final = model.cross_validate(unknown, 4, 1).iloc[-1]
    assert final[["covered", "scaled_error", "smape", "crps", "log_density"]].isna().all()


@pytest.mark.parametrize("scale", ["none", "log"])
def test_two_plans_are_compared_by_paired_paths(scale):
    """Differences of paths with other inputs are draws of the effect, the same at all steps."""
    x = np.random.default_rng(5).random((N, 1))
    y = values() + 3.0 * x[:, 0]
    y = np.exp(0.1 * y) if scale == "log" else y
    model = Forecaster(transformation=scale, **QUICK).fit(y, x)
    ahead = np.full((4, 1), 0.9), np.full((4, 1), 0.1)
    one, other = (model.sample(4, 2_000, X, random_state=7) for X in ahead)
    gains = (np.log(one / other) if scale == "log" else one - other) / 0.8
    mean, lower, upper = model.effects()["input 0"]
    std = (upper - lower) / (2.0 * norm.ppf(0.95))
    assert np.corrcoef(gains).min() > 0.95
    assert_allclose(gains.mean(axis=1), mean, atol=5.0 * std / np.sqrt(2_000))
    assert np.all((0.9 * std < gains.std(axis=1)) & (gains.std(axis=1) < 1.6 * std))


class LastValue(Forecaster):
    """Repeats the last value, without a fit."""

    def fit(self, y, X=None, times=None):
        self.last_, self.is_single_, self.reconciliation_ = np.asarray(y)[-1], True, None
        return self

    def predict(self, horizon, X=None):
        return np.full(horizon, self.last_)

    def predict_interval(self, horizon, level, X=None):
        return self.predict(horizon) - 1.0, self.predict(horizon) + 1.0

    def log_density(self, y, X=None, *, times):
        return np.zeros(len(y))

    def predict_quantiles(self, horizon, levels, X=None):
        return self.predict(horizon)[:, None] + 20.0 * norm.ppf(levels)


class Noted(LastValue):
    """Notes what it is fitted to, and where it predicts."""

    notes: ClassVar[list] = []

    def fit(self, y, X=None, times=None):
        self.notes.append([np.asarray(y), np.asarray(X), np.asarray(times)])
        return super().fit(y)

    def predict(self, horizon, X=None):
        self.notes[-1] += [np.asarray(horizon), np.asarray(X)][: 5 - len(self.notes[-1])]
        return super().predict(len(horizon))


def test_fits_have_the_rows_before_an_origin_and_forecasts_those_after():
    y, X, times = np.arange(20.0) ** 1.5, np.arange(40.0).reshape(20, 2), 2.0 * np.arange(20.0)
    Noted.notes.clear()
    Noted().cross_validate(y, 3, 3, X, times=times, stride=2, season_length=4)
    for origin, note in zip((13, 15, 17), Noted.notes, strict=True):
        after = slice(origin, origin + 3)
        right = y[:origin], X[:origin], times[:origin], times[after], X[after]
        assert [part.tolist() for part in note] == [part.tolist() for part in right]


def test_errors_of_origins_are_scaled_by_the_values_before():
    """Errors are in units of the seasonal differences before each origin."""
    y = np.cumsum(np.arange(40.0) ** 1.5)  # Differences grow
    table = LastValue().cross_validate(y, 3, 4, stride=2, season_length=4)
    assert table["origin"].tolist() == np.repeat([31, 33, 35, 37], 3).tolist()
    for origin in (31, 33, 35, 37):
        after, before, of_origin = y[origin : origin + 3], y[:origin], table["origin"] == origin
        scale = np.abs(before[4:] - before[:-4]).mean()
        assert_allclose(table["observed"][of_origin], after)
        assert_allclose(table["scaled_error"][of_origin], (after - before[-1]) / scale)
        percent = 200.0 * (after - before[-1]) / (after + before[-1])
        assert_allclose(table["smape"][of_origin], percent)
        z = (after - before[-1]) / 20.0  # Closed form of a normal law (Gneiting and Raftery, 2007)
        crps = z * (2.0 * norm.cdf(z) - 1.0) + 2.0 * norm.pdf(z) - 1.0 / np.sqrt(np.pi)
        assert_allclose(table["crps"][of_origin], 20.0 * crps, rtol=0.005)


def test_known_inputs():
    rng = np.random.default_rng(0)
    y = monthly()
    X = pd.DataFrame({"holiday": rng.integers(0, 2, N), "price": rng.normal(size=N)}, y.index)
    y = y + 3.0 * X["holiday"]
    model = Forecaster(**QUICK).fit(y[:84], X[:84])
    mean = model.predict(12, X[84:])
    assert np.abs(mean - y[84:]).max() < 1.4
    none = X[84:].assign(holiday=0)
    assert_allclose(mean - model.predict(12, none), 3.0 * X["holiday"][84:], atol=0.4)
    assert "inputs" in model.components(12, X[84:]).columns.get_level_values(0)
    for wrong, message in (
        (None, "pass their values at the 12 times"),
        (X[84:90], r"shape \(12, 2\), got \(6, 2\)"),
        (X[84:][["price", "holiday"]], "must have columns"),
        (X[:12], "must be at the times to predict at"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict(12, wrong)
    with pytest.raises(ValueError, match="fitted without inputs"):
        Forecaster(**QUICK).fit(y).predict(3, X[:3])
    with pytest.raises(ValueError, match="same index"):
        Forecaster(**QUICK).fit(y[:84], X[1:85])
    with pytest.raises(ValueError, match="known at all times"):
        Forecaster(**QUICK).fit(y, X.mask(X > 2.0))


def test_inputs_at_times_of_the_series_are_those_of_the_fit():
    """Others would be ignored there: the values belong to the inputs of the fit."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 1))
    y = np.sin(np.arange(60) / 5.0) + X[:, 0] + 0.1 * rng.normal(size=60)
    y[20] = np.nan
    model = Forecaster(random_state=0).fit(y, X)
    times = np.array([62.0, 20.0, 10.0])
    later = rng.normal(size=(1, 1))
    assert len(model.predict(times, np.vstack([later, X[[20, 10]]]))) == 3
    # Units are taken off and put on again.
    assert len(model.predict(times, np.vstack([later, X[[20, 10]] * (1.0 + 1e-12)]))) == 3
    with pytest.raises(ValueError, match="differs from the inputs of the fit at 1 of the times"):
        model.predict(times, np.vstack([later, X[[20]], X[[10]] + 0.5]))


@pytest.mark.thorough
def test_several_series():
    frame = pd.DataFrame({"north": values(seed=1), "south": 3.0 * values(seed=2)},
                         index=monthly().index)  # fmt: skip
    model = Forecaster(**QUICK).fit(frame[:84])
    mean = model.predict(12)
    assert mean.columns.tolist() == ["north", "south"]
    assert mean.index.equals(frame.index[84:])
    lower, upper = model.predict_interval(12)
    assert ((lower < mean) & (mean < upper)).to_numpy().all()
    alone = Forecaster(**QUICK).fit(frame["south"][:84]).predict(12)
    np.testing.assert_array_equal(mean["south"], alone)
    assert model.periods_["south"][0].name == "year"
    assert set(model.components(3)) == {"north", "south"}
    by_name = Forecaster(**QUICK).fit({"a": values()[:84], "b": values(60)})
    assert {name: len(found) for name, found in by_name.predict(5).items()} == {"a": 5, "b": 5}
    with pytest.raises(ValueError, match="single series"):
        by_name.log_density(values(3))


@pytest.mark.parametrize("y", [monthly(), values(), {"a": values(), "b": values(50)}])
def test_models_are_saved(y, tmp_path):
    model = Forecaster(**QUICK).fit(y)
    bochner.save(model, tmp_path / "m.bochner")
    loaded = bochner.load(tmp_path / "m.bochner")
    first, second = model.predict(5), loaded.predict(5)
    if isinstance(y, dict):
        first, second = first["b"], second["b"]
    np.testing.assert_array_equal(first, second)
    if isinstance(y, pd.Series):
        assert first.index.equals(second.index)
    assert loaded.periods_ == model.periods_


def assert_refused(y, error, message, **given):
    with pytest.raises(error, match=message):
        Forecaster(**QUICK).fit(y, **given)


def test_series_that_are_none():
    assert_refused(np.ones(30), ValueError, "constant: all known values are 1")
    assert_refused(values(7), ValueError, "at least 8 known values to learn from, got 7")
    assert_refused(["a"] * 20, TypeError, "a series of numbers, got 'a' of type str")
    assert_refused([10**400] * 20, ValueError, "numbers that fit into a float")
    for complex_y in (values(20) + 0j, list(values(20) + 0j), pd.Series(values(20) + 0j)):
        assert_refused(complex_y, ValueError, "y must hold real numbers")
    assert_refused(values(20), ValueError, "X must hold real numbers", X=np.ones((20, 1)) + 0j)
    assert_refused(
        values(20), TypeError, "X must hold numbers.* got '1' of type str", X=[["1"]] * 20
    )
    assert_refused(np.ones((20, 2)), ValueError, "several series as a data frame")
    assert_refused({}, ValueError, "at least one series")
    assert_refused(values(20), ValueError, "18 follows 19. Sort", times=list(range(20))[::-1])
    assert_refused(values(20), ValueError, "4.0 follows 5.0", times=pd.Series(np.r_[:6.0, 4:18.0]))
    assert_refused(values(20), ValueError, "10 times and 20 values", times=T[:10])
    assert_refused(
        values(20), ValueError, "a row for each value, 20 rows, got 5", X=np.ones((5, 1))
    )


def test_durations_are_no_times(fitted):
    """pandas' hours after a start would else be dates in the first days of 1970."""
    hours = pd.timedelta_range(0, periods=20, freq="h")
    for times in (hours, hours.to_numpy(), hours.to_pytimedelta(), list(hours), pd.Series(hours)):
        assert_refused(values(20), TypeError, "numbers or dates, got durations", times=times)
    assert_refused(pd.Series(values(20), index=hours), TypeError, "numbers or dates, got durations")
    with pytest.raises(TypeError, match="got durations"):
        fitted.predict(hours)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"transformation": "cube"}, ValueError, "transformation must be one of"),
        ({"periods": "monthly"}, ValueError, "'auto' or a sequence of lengths"),
        ({"periods": 12.0}, TypeError, "sequence of lengths, got 12.0"),
        ({"periods": [-12.0]}, ValueError, "periods must be positive"),
        ({"n_jobs": 0}, ValueError, "nonzero integer"),
    ],
)
def test_parameters_out_of_range(given, error, message):
    with pytest.raises(error, match=message):
        Forecaster(**given).fit(values())


@pytest.mark.parametrize(
    ("name", "least", "message"),
    [
        ("log", 0.0, "'log' needs values above zero, and one value is 0: use"),
        ("log", -1e-9, "'log' needs values above zero"),
        ("sqrt", -2.5, "'sqrt' needs values of zero or more, and one value is -2.5"),
    ],
)
def test_transformations_refuse_values_that_they_do_not_take(monkeypatch, name, least, message):
    y = values()
    y[90] = least
    model = Forecaster(transformation=name, **QUICK)
    with pytest.raises(ValueError, match=message):
        model.fit(y)
    with pytest.raises(ValueError, match=f"^Series 'b': transformation={message}"):
        model.fit({"b": y})
    monkeypatch.delattr(Forecaster, "fit")  # The origins are 84, 88 and 92: none is fitted first
    with pytest.raises(ValueError, match=message):
        model.cross_validate(y, 4, 3)


def test_counts_are_never_forecast_below_zero():
    """Poisson counts of about two: a tenth of them are zero."""
    y = np.random.default_rng(1).poisson(2.0, 80).astype(float)
    model = Forecaster(**QUICK).fit(y)
    assert model.transformation_ == "floor"
    lower, upper = model.predict_interval(20, level=0.95)
    draws = model.sample(20, n_samples=500, random_state=0)
    assert (lower == 0.0).all()
    assert (upper > 2.0).all()
    assert draws.min() == 0.0
    assert 0.02 < np.mean(draws == 0.0) < 0.3
    free = Forecaster(transformation="none", **QUICK).fit(y)
    assert (free.predict_interval(20, level=0.95)[0] < 0.0).all()
    assert_allclose(free.predict(20), model.predict(20))
    with pytest.raises(ValueError, match="transformation='floor' needs values of zero or more"):
        Forecaster(transformation="floor").fit(y - 1.0)


def test_requests_that_cannot_be_met(fitted):
    with pytest.raises(ValueError, match="between 0 and 1"):
        fitted.predict_interval(3, 1.0)
    with pytest.raises(ValueError, match="not lie before those of the series"):
        fitted.predict(pd.date_range("1990-01-01", periods=3, freq="MS"))
    with pytest.raises(NotFittedError):
        Forecaster().predict(3)
    with pytest.raises(NotFittedError):
        _ = Forecaster().periods_


@pytest.mark.thorough
def test_arrays_need_no_pandas():
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "import numpy as np; from bochner import Forecaster\n"
        "y = np.sin(np.arange(40.0)) + 0.1 * np.random.default_rng(0).normal(size=40)\n"
        "model = Forecaster(find_cycle=False, random_state=0).fit(y)\n"
        "days = np.arange('2000-01-01', '2000-02-10', dtype='M8[D]')\n"
        "print(model.predict(3).shape, Forecaster(random_state=0).fit(y, times=days).predict(2))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(3,)")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["season", "walk", "growth"])
def test_intervals_cover_generated_series(kind):
    """24 series each, with 90 % intervals for twelve steps ahead: errors of one are dependent."""
    covered = []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        t = np.arange(84.0)
        season = np.sin(2.0 * np.pi * t / 12.0 + rng.uniform(0.0, 6.0))
        if kind == "season":
            y = rng.normal() * 0.05 * t + season + 0.4 * rng.normal(size=84)
        elif kind == "walk":
            y = np.cumsum(0.3 * rng.normal(size=84)) + 0.5 * season + 0.2 * rng.normal(size=84)
        else:
            y = np.exp(3.0 + 0.015 * t + 0.2 * season + 0.08 * rng.normal(size=84))
        model = Forecaster([12.0], **QUICK).fit(y[:72])
        lower, upper = model.predict_interval(12)
        covered.append(np.mean((lower <= y[72:]) & (y[72:] <= upper)))
    # The standard error of the mean is three per cent where the errors of a series go together.
    # Weights of models are tempered as months of economic series need, and these are easier.
    assert 0.8 < np.mean(covered) < 0.985


def test_masked_values_are_unknown():
    y = np.sin(np.arange(40.0)) + 0.1 * np.arange(40.0)
    hidden = np.arange(40) == 5
    expected = Forecaster(random_state=0).fit(np.where(hidden, np.nan, y)).predict(3)
    masked = np.ma.array(np.where(hidden, -999.0, y), mask=hidden)
    assert_allclose(Forecaster(random_state=0).fit(masked).predict(3), expected, rtol=0.0)
    with pytest.raises(ValueError, match="X must not have masked entries"):
        Forecaster().fit(y, masked[:, None])


def test_frames_of_polars_are_several_series():
    frame = pl.DataFrame({"a": values(30), "b": values(30)[::-1]})
    found = Forecaster(**QUICK).fit(frame).predict(2)
    assert_allclose(found["a"], Forecaster(**QUICK).fit(frame["a"]).predict(2), rtol=0.0)
    assert sorted(found) == ["a", "b"]
    assert_refused(frame.lazy(), TypeError, r"y is a lazy table.* y\.collect\(\)")
    hidden = np.ma.array(np.arange(30.0), mask=np.arange(30) == 3)
    assert_refused(values(30), ValueError, "times must not have masked entries", times=hidden)


def test_a_time_that_was_never_set_is_refused():
    y = np.sin(np.arange(60.0) / 3.0)
    with pytest.raises(ValueError, match=r"Times span 1e\+09 steps.*from 58.0 to 1000000000.0"):
        Forecaster(random_state=0).fit(y, times=np.append(np.arange(59.0), 1e9))
    dates = pd.date_range("2024-01-01", periods=59, freq="s").insert(0, pd.Timestamp("1970"))
    with pytest.raises(ValueError, match=r"The longest gap is from 1970-01-01 00:00:00 to 2024"):
        Forecaster(random_state=0).fit(pd.Series(y, index=dates))

"""Rows of a series: positions from the first row, unknown last values, zeros, and units."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from bochner import Forecaster, load, save
from bochner.comparison.forecast_words import model_facts
from bochner.series import series_rows

N, EARLIER = 140, 60
QUICK = {"find_cycle": False, "random_state": 0, "n_jobs": 1}
LEVELS = [0.05, 0.3, 0.7, 0.95]


def monthly(n=N, seed=0):
    """A line, a season of twelve months, and noise."""
    t = np.arange(float(n))
    noise = np.random.default_rng(seed).normal(size=n)
    y = 100.0 + 0.3 * t + 12.0 * np.sin(2.0 * np.pi * t / 12.0) + 3.0 * noise
    return pd.Series(y, index=pd.date_range("2000-01-01", periods=n, freq="MS"))


def fitted(y, X=None, **parameters):
    return Forecaster(["year"], **QUICK | parameters).fit(y, X)


def assert_positions():
    """Breaks are at their rows of the whole series where only the last rows are learned."""
    y = monthly()
    y.iloc[90] += 60.0
    y.iloc[115:] += 70.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(series_rows, "_MOST_LEARNED", N - EARLIER)
        model, cut = (fitted(rows, transformation="sqrt") for rows in (y, y[EARLIER:]))
        assert cut.outliers_.tolist() == [90 - EARLIER]
        assert cut.level_shifts_.tolist() == [115 - EARLIER]
    assert model.outliers_.tolist() == [90]
    assert model.level_shifts_.tolist() == [115]
    facts = model_facts(model.series_["y"], y.index)
    assert facts["Outliers"].startswith(f"{y.index[90]:%Y-%m-%d}, ignored")
    assert facts["Shifts"] == f"of the level at {y.index[115]:%Y-%m-%d}"
    np.testing.assert_array_equal(model.predict(12), cut.predict(12))
    np.testing.assert_array_equal(model.predict(y.index[70:]), cut.predict(y.index[70:]))
    # Rows before those of the fit are smoothed by all of their neighbours.
    signal = monthly() - 3.0 * np.random.default_rng(0).normal(size=N)
    mean, std = model.predict(y.index[:EARLIER], return_std=True)
    assert (np.abs(mean - signal[:EARLIER]) < 4.0 * std).all()
    assert np.abs(mean - signal[:EARLIER]).mean() < 3.0
    with pytest.raises(ValueError, match="not lie before those of the series"):
        model.predict(y.index - pd.DateOffset(months=1))
    return model


def test_positions_count_from_the_first_row_of_the_series(tmp_path):
    model = assert_positions()
    save(model, tmp_path / "m.bochner")
    assert load(tmp_path / "m.bochner").outliers_.tolist() == [90]


def test_positions_are_exact_next_to_long_gaps():
    """Positions are exact where a gap is a million times as long as other steps."""
    y = monthly(120).to_numpy()
    times = np.where(np.arange(120) < 60, 0.0, 5e6) + np.arange(120.0)
    model = Forecaster([12.0], transformation="none", **QUICK).fit(y, times=times)
    law = model.series_["y"].law
    assert law.positions(law.times[[3, 61, 90, 119]]).tolist() == [3, 61, 90, 119]


def assert_unknown_end():
    """Unknown values at the end are part of the future: the model is that of the rows before."""
    y = monthly(100)
    inputs = pd.DataFrame({"x": np.random.default_rng(1).normal(size=120)}, monthly(120).index)
    longer = y.where(np.arange(100) < 88)
    for X in (None, inputs):
        known, some = (None, None) if X is None else (X[:88], X[:100])
        model, cut = fitted(longer, some), fitted(y[:88], known)
        times = inputs.index[80:110]
        given = None if X is None else X.loc[times]
        np.testing.assert_array_equal(
            model.predict_quantiles(times, LEVELS, given),
            cut.predict_quantiles(times, LEVELS, given),
        )
        assert model.predict(2, None if X is None else X[100:102]).index[0] == inputs.index[100]
    drawn = fitted(longer).sample(inputs.index[88:110], 4, random_state=0)
    np.testing.assert_array_equal(
        drawn, fitted(y[:88]).sample(inputs.index[88:110], 4, random_state=0)
    )


def test_unknown_values_at_the_end_belong_to_the_future(tmp_path):
    assert_unknown_end()
    model = fitted(monthly(100).where(np.arange(100) < 88))
    save(model, tmp_path / "m.bochner")
    np.testing.assert_array_equal(load(tmp_path / "m.bochner").predict(5), model.predict(5))


@pytest.mark.parametrize("n_others", [0, 8])
def test_unknown_values_at_the_beginning_change_nothing(n_others):
    others = {f"s{i}": monthly(60, i) for i in range(n_others)}
    late, counts = monthly(60).where(np.arange(60) >= 40), monthly(60).round() % 3
    frame = pd.DataFrame({**others, "late": late, "counts": counts.where(np.arange(60) >= 25)})
    known = {**others, "late": late[40:], "counts": counts[25:]}
    model, expected = (Forecaster(**QUICK).fit(y) for y in (frame, known))
    assert_allclose(model.predict(3), expected.predict(3), rtol=1e-9)


def test_horizons_count_from_the_last_value_that_is_no_outlier():
    """The last value is an outlier: a forecast is two steps from the last value that counts."""
    y = monthly(100)
    y.iloc[99] += 150.0
    law = fitted(y, transformation="none").series_["y"].law
    assert law.positions(law.outliers).tolist() == [99]
    step = law.times[1] - law.times[0]
    ahead = law.times[-1] + step * np.array([1.0, 2.0, 5.0])
    expected = np.interp(np.log([2.0, 3.0, 6.0]), np.log(law.horizons / step), law.factors)
    assert_allclose(law._factors(ahead), expected, rtol=1e-6)


def test_few_values_among_the_last_rows_are_refused(monkeypatch):
    monkeypatch.setattr(series_rows, "_MOST_LEARNED", 20)
    y = monthly().where(np.arange(N) < 100)
    y.iloc[-1] = 100.0
    with pytest.raises(ValueError, match="8 known values to learn from in its last 20 rows, got 1"):
        fitted(y)


def test_zeros_have_their_probability():
    """Zeros have the probability of zeros among draws, in forecasts and in backtests."""
    y = np.random.default_rng(0).poisson(2.0, 80).astype(float)
    for transformation in ("sqrt", "floor"):
        model = Forecaster((), transformation=transformation, **QUICK).fit(y)
        drawn = model.sample(3, 20_000, random_state=0)
        share = (drawn == 0.0).mean(axis=1)
        # Four standard errors
        assert_allclose(np.exp(model.log_density(np.zeros(3))), share, atol=4 * 0.5 / 20_000**0.5)
        assert (share > 0.01).all()
        table = model.cross_validate(y, 10, 1)
        assert (table["observed"] == 0.0).any()
        assert np.isfinite(table["log_density"]).all()


UNITS = [(1.0 / 3.0, 1.0 / 86_400.0), (1e12, 1.0), (1e-12, 7.3), (0.01, 1.0 / 365.25)]


def assert_units(seed, factor, step, transformation="none"):
    """A series in other units has the same forecast in these units."""
    y, t = monthly(96, seed).to_numpy().copy(), np.arange(108.0)
    X = np.random.default_rng(seed).normal(size=(108, 1))
    y[np.r_[False, X[1:95, 0] > 0.5, False]] = np.nan
    forecasts = []
    for unit, length in ((1.0, 1.0), (factor, step)):
        times, inputs = 2.0 + length * t, 5.0 * length * X
        model = Forecaster([12.0 * length], transformation=transformation, **QUICK)
        model.fit(unit * y, inputs[:96], times=times[:96])
        forecasts.append(model.predict_quantiles(times[96:], LEVELS, inputs[96:]) / unit)
    assert_allclose(forecasts[1], forecasts[0], rtol=1e-6)


def assert_many_units():
    for seed, (factor, step) in enumerate(UNITS):
        assert_units(seed, factor, step)


def test_units_of_a_series_do_not_matter():
    assert_units(0, 1e4, 7.3, "auto")


def test_constant_inputs_have_a_unit():
    """An input that is constant up to rounding in the past has the unit of an indicator."""
    X = np.full((108, 1), 0.1)
    X[96:] = 0.2
    model = fitted(monthly(96), X[:96])
    assert model.series_["y"].law.units.scale.tolist() == [0.5]
    assert np.isfinite(model.predict_interval(12, X=X[96:])).all()


def test_effects_of_inputs_are_relative_to_their_means():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"x": 50.0 + rng.normal(size=112)}, monthly(112).index)
    y = monthly(112) + 20.0 * (X["x"] - 50.0)
    model = fitted(y[:100], X[:100], transformation="none")
    at_mean = X[100:101] * 0.0 + X["x"][:100].mean()
    assert abs(model.components(1, at_mean)["inputs"]["mean"].iloc[0]) < 1e-6
    above = model.components(1, at_mean + 1.0)["inputs"]["mean"].iloc[0]
    assert_allclose(above, 20.0, rtol=0.1)


def test_a_data_frame_of_ds_and_y_is_one_series():
    months = pd.date_range("2018-01-01", periods=40, freq="MS")
    y = pd.Series(np.arange(40.0) + np.random.default_rng(0).normal(size=40), months)
    frame = pd.DataFrame({"ds": months.astype(str), "y": y.to_numpy()})
    model = Forecaster(find_cycle=False, random_state=0)
    expected = clone(model).fit(y).predict(3)
    pd.testing.assert_series_equal(clone(model).fit(frame).predict(3), expected, check_freq=False)


@pytest.mark.parametrize("names", [(1, 2), (0, "b"), (("a", 1), ("a", 2))])
def test_results_have_the_names_of_the_series(names, tmp_path):
    """Names that are numbers or tuples are kept, also in files, and inputs are found by them."""
    index, values = pd.date_range("2019-01-01", periods=40, freq="MS"), np.sin(np.arange(40.0))
    y, X = pd.DataFrame(dict.fromkeys(names, values), index), np.arange(44.0)[:, None] ** 2
    save(fitted(y, dict.fromkeys(names, X[:40])), tmp_path / "m.bochner")
    model = load(tmp_path / "m.bochner")
    forecast = model.predict(4, dict.fromkeys(names, X[40:]))
    assert list(forecast.columns) == list(y.columns)
    assert list(model.periods_) == list(names)
    assert model.of(names[1]).predict(4, X[40:]).equals(forecast[names[1]].rename(None))
    with pytest.raises(ValueError, match="'elsewhere', which is not among the series"):
        model.predict(4, {"elsewhere": X[40:]})
    scores = model.cross_validate(y, horizon=2, n_origins=1)
    assert scores["series"].drop_duplicates().tolist() == list(names)

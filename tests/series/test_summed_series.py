"""Forecasts of several series of which some are sums of others."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

import bochner
from bochner import Forecaster
from bochner.files import ModelFileError
from bochner.files import safetensors_container as container
from bochner.series import summed_series
from bochner.series.series_rows import SeriesRows

QUICK = {"find_cycle": False, "random_state": 0}
SUMS = {"total": ["north", "south"]}
N = 60
NAN = np.nan


def shops(n=N):
    """Two series of months with seasons, of which the second falls."""
    rng, t = np.random.default_rng(0), np.arange(n)
    season = np.sin(2.0 * np.pi * t / 12.0)
    values = {
        "north": 50.0 + 0.2 * t + 6.0 * season + 2.0 * rng.normal(size=n),
        "south": 30.0 - 0.1 * t - 4.0 * season + rng.normal(size=n),
    }
    return pd.DataFrame(values, index=pd.date_range("2015-01-01", periods=n, freq="MS"))


@pytest.fixture(scope="module")
def fitted():
    return Forecaster(sums=SUMS, **QUICK).fit(shops()[:48])


def assert_adds_up(values, sums=SUMS):
    for name, parts in sums.items():
        assert_allclose(values[name], sum(values[part] for part in parts), rtol=1e-12, atol=1e-9)


def test_forecasts_draws_and_imputed_values_add_up(fitted):
    mean, std = fitted.predict(12, return_std=True)
    assert list(mean) == ["north", "south", "total"]
    assert mean.index.equals(shops()[48:].index)
    assert_adds_up(mean)
    assert (std["total"] < std["north"] + std["south"]).all()
    paths = fitted.sample(12, 500, random_state=0)
    assert_adds_up(paths)
    assert_array_equal(paths["north"], fitted.sample(12, 500, random_state=0)["north"])
    for name in mean:
        assert np.abs((paths[name].mean(axis=1) - mean[name]) / std[name]).max() < 0.2
        lower, upper = np.quantile(paths[name], norm.cdf([-1.0, 1.0]), axis=1)
        assert_allclose(0.5 * (upper - lower), std[name], rtol=0.2)
    assert_adds_up(fitted.predict(shops()[40:50].index))


def test_intervals_are_quantiles_of_sums(fitted):
    lower, upper = fitted.predict_interval(12, 0.8)
    ends = fitted.predict_quantiles(12, [0.1, 0.9])
    assert_allclose(lower["total"], ends["total"][0.1])
    assert_allclose(upper["total"], ends["total"][0.9])
    truth = shops()[48:].assign(total=lambda frame: frame.sum(axis=1))
    assert ((lower <= truth) & (truth <= upper)).to_numpy().mean() > 0.6


def test_series_alone_have_the_forecasts_of_fits_without_sums(fitted):
    alone = Forecaster(**QUICK).fit(shops()[:48])
    for name in ("north", "south"):
        single = fitted.of(name)
        assert single.sums is None
        assert_array_equal(single.predict(12), alone.of(name).predict(12))
        parts = fitted.components(12)[name].xs("mean", axis=1, level=1)
        assert_allclose(parts.sum(axis=1), single.predict(12))
    # The forecast of each time is the least change of those of the series, by their variances.
    moments = [fitted.of(name).predict(1, return_std=True) for name in fitted.series_]
    means, stds = np.array(moments)[..., 0].T
    changes = (means[2] - means[0] - means[1]) / np.sum(stds**2) * stds**2 * [1.0, 1.0, -1.0]
    assert_allclose(fitted.predict(1).iloc[0], means + changes)


def test_groups_in_groups_crossed_and_series_of_no_sum():
    rng, frame = np.random.default_rng(1), shops()[:36]
    for name in ("a x", "a y", "b x", "b y", "apart"):
        frame[name] = 20.0 + rng.normal(size=len(frame)).cumsum()
    sums = {
        "all": ["a", "b"],
        "a": ["a x", "a y"],
        "b": ["b x", "b y"],
        "x": ["a x", "b x"],
        "y": ["a y", "b y"],
    }
    model = Forecaster(sums=sums, **QUICK).fit(frame.drop(columns=["north", "south"]))
    mean = model.predict(3)
    assert_adds_up(mean, sums)
    assert_allclose(mean["all"], mean["x"] + mean["y"])
    assert_adds_up(model.sample(3, 20, random_state=0), sums)
    assert_array_equal(mean["apart"], model.of("apart").predict(3))


def test_unknown_values_and_later_beginnings():
    frame = shops()[:48]
    frame.iloc[20, 0] = np.nan
    series = {"north": frame["north"], "south": frame["south"][10:]}
    model = Forecaster(sums=SUMS, **QUICK).fit(series)
    total = model.of("total").series_["y"].law
    assert total.is_known.sum() == 37  # Ten unknown values of the south, and one of the north
    assert not total.is_known[[0, 9, 20]].any()
    assert_adds_up(model.predict(4))


def assert_floors():
    """Parts without a negative value have a floor, also those with zeros."""
    errors = SimpleNamespace(law=SimpleNamespace(standardised_errors=lambda: np.ones(4)))
    times = np.arange(4.0)
    values = {
        "zero": [0.0, 2.0, NAN, 1.0],
        "above": [3.0, 1.0, 2.0, 1.0],
        "below": [-1e-3, 2.0, NAN, 1.0],
    }
    values["sum"] = np.sum([*values.values()], axis=0)
    none = np.zeros((4, 0))
    rows = {k: SeriesRows(times, np.array(v), none, None, None) for k, v in values.items()}
    parts = {"sum": ["zero", "above", "below"]}
    found = summed_series.reconciliation(dict.fromkeys(values, errors), rows, parts)
    assert found.has_floor.tolist() == [True, True, False]


def test_parts_that_are_zero_at_times_have_a_floor():
    assert_floors()


def test_counts_that_add_up_are_never_negative():
    rng = np.random.default_rng(0)
    counts = pd.DataFrame({"a": rng.poisson(0.3, size=60), "b": rng.poisson(4.0, size=60)}) * 1.0
    model = Forecaster(sums={"both": ["a", "b"]}, **QUICK).fit(counts)
    lower, upper = model.predict_interval(6)
    paths = model.sample(6, 200, random_state=0)
    assert min(float(lower.min().min()), *(float(path.min().min()) for path in paths.values())) == 0
    assert (upper["both"] > upper["a"]).all()
    assert_adds_up(model.predict(6), {"both": ["a", "b"]})


def test_known_inputs():
    frame, price = shops()[:48], pd.DataFrame({"price": np.arange(60.0) % 5}, shops().index)
    frame["north"] -= 4.0 * price["price"]
    model = Forecaster(sums=SUMS, **QUICK).fit(frame, price[:48])
    mean = model.predict(12, price[48:])
    assert_adds_up(mean)
    cheap = model.predict(12, price[48:] * 0.0)
    assert ((cheap - mean)["total"][price["price"][48:] == 4.0] > 10.0).all()


@pytest.mark.parametrize(
    ("sums", "error", "message"),
    [
        (["north"], TypeError, "a mapping from the name of each sum"),
        ({}, TypeError, "a mapping from the name of each sum"),
        ({"total": "north"}, TypeError, "got 'north' as the parts of 'total'"),
        ({"total": []}, TypeError, r"got \[\] as the parts of 'total'"),
        ({"total": ["north", "west"]}, ValueError, "'west' of the sum 'total' is neither a"),
        ({"total": ["north", "north"]}, ValueError, "'total' counts 'north' twice"),
        ({"t": ["u", "north"], "u": ["north", "south"]}, ValueError, "'t' counts 'north' twice"),
        ({"t": ["u"], "u": ["v"], "v": ["u"]}, ValueError, "'u' -> 'v' -> 'u'"),
        ({"north": ["north", "south"]}, ValueError, "'north' -> 'north'"),
        ({"north": ["south"]}, ValueError, "'north' is not the sum of its parts: value 5 of 48"),
    ],
)
def test_sums_that_are_none(sums, error, message):
    frame = shops()[:48]
    frame.iloc[4, 0] = 1e4
    with pytest.raises(error, match=message):
        Forecaster(sums=sums, **QUICK).fit(frame)


def test_series_that_cannot_add_up(fitted):
    frame = shops()
    with pytest.raises(ValueError, match="sums needs several series, got one"):
        Forecaster(sums=SUMS, **QUICK).fit(frame["north"])
    arrays = {"north": frame["north"].to_numpy(), "south": frame["south"].to_numpy()[:50]}
    with pytest.raises(ValueError, match="'north': 60, 'south': 50"):
        Forecaster(sums=SUMS, **QUICK).fit(arrays)
    ends = {"north": frame["north"], "south": frame["south"][:50]}
    model = Forecaster(sums=SUMS, **QUICK).fit(ends)
    with pytest.raises(ValueError, match="'north' and 'south' are for different times"):
        model.predict(3)
    later = pd.date_range("2020-01-01", periods=3, freq="MS")
    assert_adds_up(model.predict(later))
    with pytest.raises(ValueError, match="after the last known value"):
        fitted.sample(frame.index[40:44])


def test_models_are_saved(fitted, tmp_path):
    path = tmp_path / "m.bochner"
    bochner.save(fitted, path)
    loaded = bochner.load(path)
    assert loaded.sums == SUMS
    assert_array_equal(loaded.predict(5), fitted.predict(5))
    assert_array_equal(
        loaded.sample(5, 9, random_state=0)["total"], fitted.sample(5, 9, random_state=0)["total"]
    )
    tree, tensors = container.read(path)
    text = json.dumps(tree)
    changed = text.replace('["north", "south", "total"]', '["north", "south", "other"]')
    assert changed != text
    container.write(path, json.loads(changed), {k: np.array(v) for k, v in tensors.items()})
    with pytest.raises(ModelFileError, match="sums contain series without a model"):
        bochner.load(path)


def test_rolling_origins_of_sums():
    frame = shops()[:40]
    table = Forecaster(sums=SUMS, **QUICK).cross_validate(frame, 3, 2, level=0.8)
    assert table["series"].unique().tolist() == ["north", "south", "total"]
    assert "log_density" not in table
    wide = table.pivot_table(index=["origin", "step"], columns="series", values="predicted")
    assert_adds_up(wide)
    observed = table.pivot_table(index=["origin", "step"], columns="series", values="observed")
    assert_adds_up(observed)
    last = Forecaster(sums=SUMS, **QUICK).fit(frame[:37])
    assert_allclose(wide.loc[37], last.predict(3), rtol=1e-12)
    lower, _ = last.predict_interval(3, 0.8)
    at_last = table[(table["origin"] == 37) & (table["series"] == "total")]
    assert_allclose(at_last["lower"], lower["total"], rtol=1e-12)
    assert at_last["time"].tolist() == frame.index[37:].tolist()


def test_rolling_origins_of_several_series_are_those_of_each():
    frame = shops()[:40]
    model = Forecaster(**QUICK)
    table = model.cross_validate(frame, 3, 2)
    for name in frame:
        of_one = table[table["series"] == name].drop(columns="series").reset_index(drop=True)
        pd.testing.assert_frame_equal(of_one, model.cross_validate(frame[name], 3, 2))
    with pytest.raises(ValueError, match=r"series of one length, got \{'a': 40, 'b': 30\}"):
        model.cross_validate({"a": frame["north"], "b": frame["south"][:30]}, 3, 2)

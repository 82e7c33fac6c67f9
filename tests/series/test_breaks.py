"""Outliers and shifts of the level: their statistics, and series with known ones."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from series.dense import covariance
from series.models import MODELS, model_and_theta, rows_of

from bochner import Forecaster
from bochner.series import breaks

SIZES = {"outlier": 60, "shift": 50}


def assert_statistics(name="damped", *, irregular=False):
    """Deviations are those of dense Gaussian conditioning and of generalised least squares."""
    model, theta = model_and_theta(name)
    rows = rows_of(30, irregular=irregular)
    found = breaks.standardised(model, theta, rows)
    known = rows.part(rows.known)
    cov = covariance(model, theta, known.times, known.times, known.inputs, known.inputs)
    precision = np.linalg.inv(cov + model.noise(theta) * np.eye(len(known)))
    solved = precision @ known.values
    of_values = solved / np.sqrt(np.diagonal(precision))
    assert_allclose(found.of_values[rows.known], of_values, rtol=1e-6, atol=2e-6)
    assert not found.of_values[~rows.known].any()
    for place in range(3, len(rows) - 2):  # Three rows before a shift, and three after it
        step = (known.times >= rows.times[place]).astype(float)
        shift = step @ solved / np.sqrt(step @ precision @ step)
        assert_allclose(found.of_levels[place], shift, rtol=1e-5, atol=1e-5)
    assert not found.of_levels[[0, 1, 2, -1, -2]].any()


@pytest.mark.parametrize("irregular", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_statistics_are_those_of_the_dense_process(name, irregular):
    assert_statistics(name, irregular=irregular)


def monthly(kind=None, seed=0, n=120):
    """Return months with a trend and a season, of which some have an outlier or another level."""
    rng = np.random.default_rng(seed)
    t = np.arange(n + 12.0)
    y = 100.0 + 0.3 * t + 12.0 * np.sin(2.0 * np.pi * t / 12.0) + 3.0 * rng.normal(size=n + 12)
    if kind == "outlier":
        y[[40, 91]] += [SIZES[kind], -SIZES[kind]]
    elif kind == "shift":
        y[80:] += SIZES[kind]
    dates = pd.date_range("2000-01-01", periods=n + 12, freq="MS")
    series = pd.Series(y, index=dates)
    return series[:n], series[n:]


def fitted(y, **parameters):
    return Forecaster(random_state=0, find_cycle=False, n_jobs=1, **parameters).fit(y)


@pytest.mark.thorough
def test_outliers_and_shifts_are_found():
    for seed in range(3):
        outliers = fitted(monthly("outlier", seed)[0])
        assert outliers.outliers_.tolist() == [40, 91]
        assert not len(outliers.level_shifts_)
        shifted = fitted(monthly("shift", seed)[0])
        assert shifted.level_shifts_.tolist() == [80]
        assert not len(shifted.outliers_)


@pytest.mark.thorough
def test_series_without_breaks_have_none():
    """At most one of ten series of normal errors has a break."""
    models = [fitted(monthly(seed=seed)[0]) for seed in range(10)]
    assert sum(len(one.outliers_) + len(one.level_shifts_) > 0 for one in models) <= 1


@pytest.mark.thorough
def test_intervals_are_narrower_without_breaks():
    """Breaks that are not looked for make intervals wide."""
    for kind in SIZES:
        y, later = monthly(kind)
        widths = {}
        for looks in (False, True):
            model = fitted(y, find_breaks=looks)
            lower, upper = model.predict_interval(12, 0.8)
            widths[looks] = float(np.mean(upper - lower))
            assert np.mean((lower < later) & (later < upper)) >= 0.7
        assert widths[True] < 0.75 * widths[False]


def test_breaks_are_left_out_of_the_components_and_imputed():
    y, _ = monthly("outlier")
    model = fitted(y)
    smoothed = model.predict(y.index)
    assert abs(smoothed.iloc[40] - (y.iloc[40] - SIZES["outlier"])) < 9.0
    shifted = fitted(y := monthly("shift")[0], transformation="none")
    trend = shifted.components(y.index)["trend"]["mean"]
    assert trend.iloc[80] - trend.iloc[79] > 0.6 * SIZES["shift"]


def test_nothing_is_looked_for_if_that_is_asked():
    model = fitted(monthly("outlier")[0], find_breaks=False)
    assert not len(model.outliers_)
    assert not len(model.level_shifts_)
    with pytest.raises((TypeError, ValueError), match="find_breaks"):
        fitted(monthly()[0], find_breaks="yes")


def test_several_series_have_breaks_by_name():
    frame = pd.DataFrame({"a": monthly("outlier")[0], "b": monthly("shift")[0]})
    model = fitted(frame)
    assert {name: rows.tolist() for name, rows in model.outliers_.items()} == {
        "a": [40, 91],
        "b": [],
    }
    assert {name: rows.tolist() for name, rows in model.level_shifts_.items()} == {
        "a": [],
        "b": [80],
    }


def test_frequent_breaks_are_kept():
    """Sales of a tenth of the months, or frequent spikes, are what a series is."""
    rng = np.random.default_rng(0)
    rare = rng.poisson(3.0, 120) * (rng.random(120) < 0.1) * 1.0
    spikes = rng.normal(size=120) + 20.0 * (np.arange(120) % 17 == 5)
    for values in (rare, spikes):
        model = fitted(pd.Series(values, index=monthly()[0].index))
        assert not len(model.outliers_)
        assert not len(model.level_shifts_)
        assert (model.predict_quantiles(12, [0.99]) > 0.1).all(axis=None)

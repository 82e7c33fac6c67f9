"""Models of tables with several targets."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import bochner
from bochner import TableRegressor

SUM = TableRegressor(effort="quick", random_state=0)
LEVELS = (0.1, 0.5, 0.9)


def drawn(n_rows=200, seed=0):
    """A smooth target, and one of kinks in other units whose errors are shared and lopsided."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(-2.0, 2.0, size=(n_rows, 3)), columns=["a", "b", "c"])
    shared = rng.exponential(size=n_rows) - 1.0
    first = np.sin(2.0 * X["a"]) + X["b"] + 0.4 * shared
    second = np.abs(X["c"]) + 0.3 * shared
    return X, np.column_stack((first, 1000.0 * second + 5.0))


def everything(model, X):
    """Predictions of every kind, each with the targets on the second axis if there are several."""
    lower, upper = model.predict_interval(X, level=0.8)
    mean, std = model.predict(X, return_std=True)
    return mean, std, lower, upper, model.predict_quantiles(X, LEVELS)


@pytest.fixture(scope="module")
def fitted():
    X, Y = drawn()
    return clone(SUM).fit(X[:150], Y[:150])


def test_distributions_are_those_of_the_methods(fitted):
    X, _ = drawn()
    weights, rows = np.linspace(0.5, 2.0, len(X)), fitted.distributions(X)
    mean, std, lower, upper, quantiles = everything(fitted, X)
    np.testing.assert_array_equal(rows.mean_and_std(), (mean, std))
    np.testing.assert_array_equal(rows.interval(0.8), (lower, upper))
    np.testing.assert_array_equal(rows.quantiles(np.array(LEVELS)), quantiles)
    np.testing.assert_allclose(fitted.predict(X), mean)
    weighted = fitted.predict(X, return_std=True, sample_weight=weights)
    np.testing.assert_array_equal(fitted.distributions(X, weights).mean_and_std(), weighted)
    gaps, some = X.assign(a=np.nan)[:3], np.array([1.0, 9.0, 0.1])
    alone = [
        fitted.predict(gaps[i : i + 1], return_std=True, sample_weight=some[i : i + 1])[1][0]
        for i in range(3)
    ]
    _, together = fitted.predict(gaps, return_std=True, sample_weight=some)
    np.testing.assert_allclose(together, alone)


@pytest.mark.thorough
def test_equal_targets_are_one_target():
    """Kernels, weights, scores and units are then those of the fit to one of them."""
    X, Y = drawn(120)
    one = everything(SUM.fit(X, Y[:, 0]), X)
    score = SUM.score_
    both = everything(SUM.fit(X, Y[:, [0, 0]]), X)
    for single, double in zip(one, both, strict=True):
        assert double.shape == (120, 2, *single.shape[1:])
        assert_allclose(double[:, 1], single, atol=5e-3)  # Searches end elsewhere
        assert_allclose(double[:, 0], double[:, 1], atol=1e-9)
    assert_allclose(SUM.score_, [score, score], rtol=5e-3)


UNITS = np.array([2.0**-10, 8.0])


def test_the_units_of_targets_are_free(fitted):
    X, Y = drawn()
    other = clone(fitted).fit(X[:150], Y[:150] * UNITS - 3.0)
    pairs = zip(everything(fitted, X), everything(other, X), strict=True)
    for number, (one, two) in enumerate(pairs):
        shift = 0.0 if number == 1 else -3.0
        unit = UNITS.reshape(1, 2, *[1] * (one.ndim - 2))
        scale = fitted.target_scale_.reshape(unit.shape) * unit
        assert_allclose(two / scale, (unit * one + shift) / scale, atol=1e-6)
    assert_allclose(other.score_, fitted.score_ * UNITS, rtol=1e-6)


@pytest.mark.thorough
def test_each_target_has_its_coverage_and_its_expected_error():
    """Pooled over tables, on rows that were not there."""
    inside, below, ratios = [], [], []
    for seed in range(4):
        X, Y = drawn(500, seed)
        model = SUM.fit(X[:200], Y[:200])
        lower, upper = model.predict_interval(X[200:], level=0.8)
        inside.append((lower <= Y[200:]) & (Y[200:] <= upper))
        below.append(Y[200:, :, None] <= model.predict_quantiles(X[200:], LEVELS))
        errors = np.sqrt(np.mean((model.predict(X[200:]) - Y[200:]) ** 2, axis=0))
        ratios.append(model.score_ / errors)
    assert_allclose(np.mean(np.concatenate(inside), axis=0), 0.8, atol=0.07)
    assert_allclose(np.mean(np.concatenate(below), axis=0), [LEVELS, LEVELS], atol=0.07)
    assert_allclose(np.mean(ratios, axis=0), 1.0, atol=0.2)


def test_draws_have_the_quantiles_of_each_target_and_shared_errors(fitted):
    X, _ = drawn()
    draws = fitted.sample(X[150:], 3000, random_state=0)
    assert draws.shape == (50, 2, 3000)
    quantiles = fitted.predict_quantiles(X[150:], LEVELS)
    found = np.moveaxis(np.quantile(draws, LEVELS, axis=2), 0, 2)
    unit = fitted.target_scale_[:, None]
    assert_allclose(found / unit, quantiles / unit, atol=0.2)
    correlation = np.mean([np.corrcoef(row)[0, 1] for row in draws])
    assert correlation > 0.4


@pytest.mark.thorough
def test_tables_of_targets_are_read_and_models_of_them_saved(fitted, tmp_path):
    X, Y = drawn()
    bochner.save(fitted, tmp_path / "m.bochner")
    loaded = bochner.load(tmp_path / "m.bochner")
    for one, two in zip(everything(loaded, X), everything(fitted, X), strict=True):
        assert_array_equal(one, two)
    assert_array_equal(loaded.score_, fitted.score_)
    other = bochner.TableRegressor(**fitted.get_params())
    expected = fitted.predict(X) / fitted.target_scale_
    for frame in (pd.DataFrame(Y, columns=["u", "v"]), pl.DataFrame(Y, schema=["u", "v"])):
        found = other.fit(X[:150], frame[:150]).predict(X)
        assert_allclose(found / fitted.target_scale_, expected, atol=1e-6)


def test_decimals_are_numbers_and_objects_are_classes():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = X[:, 0].round(2)
    model = TableRegressor(effort="quick", random_state=0)
    expected = clone(model).fit(X, y).predict(X)
    assert_array_equal(clone(model).fit(X, [Decimal(str(v)) for v in y]).predict(X), expected)
    for classifier in (
        bochner.TableClassifier(effort="quick", random_state=0),
        bochner.KreinRidgeClassifier(n_components=8, random_state=0),
    ):
        for labels in (y > 0.0, (y > 0.0).astype(int)):
            fitted = clone(classifier).fit(X, pd.Series(labels, dtype=object))
            assert fitted.classes_.dtype == labels.dtype
            assert_array_equal(fitted.predict(X), clone(classifier).fit(X, labels).predict(X))

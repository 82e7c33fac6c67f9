"""Targets that are transformed for the fit, and predictions on their own scale."""

import warnings

import numpy as np
import pytest
from files.same import round_trip
from numpy.testing import assert_allclose
from scipy.integrate import trapezoid
from scipy.stats import norm, rankdata

from bochner import TableRegressor
from bochner.tables import table_predictions
from bochner.tables import table_predictions as transformations
from bochner.tables.table_predictions import ScaledTargets, Transformation

RNG = np.random.default_rng(0)
POSITIVE = RNG.lognormal(size=500)
QUICK = {"effort": "quick", "random_state": 0}


def skewed(rng, n, spread=0.4):
    X = rng.uniform(-1.0, 1.0, (n, 2))
    return X, np.exp(2.0 * X[:, 0] + X[:, 1] ** 2 + spread * rng.normal(size=n))


@pytest.mark.parametrize("name", transformations.TRANSFORMATIONS)
@pytest.mark.parametrize("y", [POSITIVE, np.round(POSITIVE, 1) + 0.1, np.full(9, 3.0)])
def test_inverses_and_slopes(name, y):
    transformation = Transformation.of(name, y)
    found = transformation.inverse(transformation(y))
    assert_allclose(found, y, rtol=1e-9)
    order = np.sort(np.concatenate((y, [y.max() + 1.0, 0.5 * y.min()])))
    assert (np.diff(transformation(order)) >= 0.0).all()
    far = transformation(np.array([1e3 * y.max()]))
    assert_allclose(transformation.inverse(far), 1e3 * y.max(), rtol=1e-6)


@pytest.mark.parametrize("name", ["none", "auto", "rank"])
@pytest.mark.parametrize("value", [3.0, 0.0])
def test_equal_targets_are_predicted_without_spread(name, value, tmp_path):
    X = RNG.normal(size=(30, 2))
    model = TableRegressor(transformation=name, **QUICK).fit(X, np.full(30, value))
    new = np.vstack([X[:3], 50.0 * X[:1], np.full(2, np.nan)])
    for found in (model, round_trip(model, tmp_path)):
        mean, std = found.predict(new, return_std=True)
        assert_allclose(np.column_stack([mean, *found.predict_interval(new)]), value)
        assert_allclose(std, 0.0)


def test_ranks_are_normal_quantiles():
    y = np.arange(1.0, 101.0)
    found = Transformation.of("rank", y)(y)
    expected = norm.ppf((np.arange(100) + 0.5) / 100)
    knots, images = Transformation.of("rank", y).curve
    assert_allclose(images, expected[knots.astype(int) - 1], atol=1e-12)
    assert 3 <= len(knots) <= 7
    assert_allclose(found[[0, 99]], expected[[0, 99]])
    assert_allclose(found[25:75], expected[25:75], atol=0.1)


def test_equal_targets_have_their_middle_rank():
    """Equal targets have the normal quantile of their middle rank, which a reflection negates."""
    y = np.repeat([0.0, 1.0, 7.0], [60, 30, 10])
    found = Transformation.of("rank", y)(y)
    assert_allclose(found, norm.ppf((rankdata(y) - 0.5) / len(y)), atol=1e-12)
    assert_allclose(Transformation.of("rank", -y)(-y), -found, atol=1e-12)


@pytest.mark.thorough
def test_predictions_are_on_the_scale_of_the_target():
    """Means, medians and intervals are those of the log-normal law that drew the targets."""
    rng = np.random.default_rng(1)
    X, y = skewed(rng, 600)
    model = TableRegressor(transformation="log", **QUICK).fit(X, y)
    new, truth = skewed(rng, 8000)
    median = np.exp(2.0 * new[:, 0] + new[:, 1] ** 2)
    found = model.predict(new)
    assert abs(np.mean(found / (median * np.exp(0.08))) - 1.0) < 0.04
    assert_allclose(model.predict_quantiles(new, 0.5)[:, 0] / median, 1.0, atol=0.35)
    assert abs(np.mean(model.predict_quantiles(new, 0.5)[:, 0] / median) - 1.0) < 0.04
    lower, upper = model.predict_interval(new, 0.9)
    assert abs(np.mean((lower <= truth) & (truth <= upper)) - 0.9) < 0.03
    assert (lower > 0.0).all()
    _, std = model.predict(new, return_std=True)
    assert_allclose(np.mean(std / (median * np.exp(0.08))), np.sqrt(np.exp(0.16) - 1.0), rtol=0.12)
    error = np.sqrt(np.mean((found - truth) ** 2))
    assert abs(model.score_ / error - 1.0) < 0.12
    draws = model.sample(new[:500], 400, random_state=0)
    assert_allclose(np.mean(draws.mean(axis=1) / found[:500]), 1.0, atol=0.02)


def check_one_law(name, n_targets=None):
    """Means, deviations, samples, intervals and quantiles have one law; quantiles give the rest."""
    rng = np.random.default_rng(7)
    X, y = skewed(rng, 150, 1.0)
    if n_targets:
        y = np.column_stack([y, *(np.roll(y, shift) for shift in range(1, n_targets))])
    model = TableRegressor(transformation=name, **QUICK).fit(X, y)
    new = X[:4]
    levels = norm.cdf(np.linspace(-6.0, 6.0, 1200))
    mean, std = model.predict(new, return_std=True)
    assert_allclose(model.predict(new), mean)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # More levels than rows
        quantiles = model.predict_quantiles(new, levels)
    assert_allclose(trapezoid(quantiles, levels, axis=-1), mean, atol=0.005 * std.max())
    squares = (quantiles - mean[..., None]) ** 2
    assert_allclose(np.sqrt(trapezoid(squares, levels, axis=-1)), std, atol=0.02 * std.max())
    draws = model.sample(new, 4000, random_state=0)
    assert (np.abs(draws.mean(axis=-1) - mean) < 4.5 * std / np.sqrt(4000)).all()
    ends = np.stack(model.predict_interval(new, 0.8), axis=-1)
    assert_allclose(ends, model.predict_quantiles(new, (0.1, 0.9)))


@pytest.mark.parametrize(
    ("name", "n_targets"),
    [*((name, None) for name in transformations.TRANSFORMATIONS), ("none", 2)],
)
def test_all_predictions_have_one_law(name, n_targets):
    check_one_law(name, n_targets)


def counts(rng, n):
    X = rng.uniform(-1.0, 1.0, (n, 2))
    return X, rng.poisson(np.exp(0.3 + X[:, 0])).astype(float)


@pytest.mark.thorough
def test_counts_are_not_predicted_below_zero():
    """Counts have no prediction below zero, and intervals with the share of new counts."""
    inside, ratio = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        (X, y), (new, truth) = counts(rng, 200), counts(rng, 4000)
        model = TableRegressor(**QUICK).fit(X, y)
        assert model.target_floor_ == 0.0
        lower, upper = model.predict_interval(new, 0.9)
        assert np.min(lower) == np.min(model.sample(new[:100], 50, random_state=0)) == 0.0
        assert np.min(model.predict(new)) > 0.0
        inside.append(np.mean((lower <= truth) & (truth <= upper)))
        ratio.append(model.score_ / np.sqrt(np.mean((model.predict(new) - truth) ** 2)))
    assert abs(np.mean(inside) - 0.9) < 0.03
    assert abs(np.mean(ratio) - 1.0) < 0.08
    _, std = model.predict(new[:20], return_std=True)
    _, cov = model.predict(new[:20], return_cov=True)
    assert_allclose(np.sqrt(np.diagonal(cov)), std)
    assert np.linalg.eigvalsh(cov).min() > -1e-9


def test_floors_are_in_files_and_of_each_target(tmp_path):
    X, y = counts(np.random.default_rng(0), 80)
    for targets in (y, np.column_stack((y, X[:, 1]))):
        model = TableRegressor(**QUICK).fit(X, targets)
        again = round_trip(model, tmp_path)
        assert_allclose(again.target_floor_, model.target_floor_)
        assert_allclose(again.predict_interval(X, 0.8)[0], model.predict_interval(X, 0.8)[0])
        assert np.shape(model.score_) == np.shape(model.target_floor_) == targets.shape[1:]
    assert model.target_floor_.tolist() == [0.0, table_predictions._NO_FLOOR]
    lower, _ = model.predict_interval(X, 0.8)
    assert lower[:, 0].min() == 0.0
    assert lower[:, 1].min() < 0.0


def test_floors_are_for_targets_that_would_be_negative():
    """Zero is a floor where symmetric targets would be below it, and nowhere else."""
    rng = np.random.default_rng(9)
    with_floor = [
        rng.poisson(0.5, 100),
        rng.exponential(size=100),
        rng.lognormal(3.0, 1.0, 100),
        np.maximum(rng.normal(size=100), 0.0),
    ]
    without = [
        rng.normal(size=100),
        15.0 + 4.0 * np.abs(rng.normal(size=100)),
        np.abs(rng.normal(12.0, 4.0, 500)),  # Temperatures that happened to be positive
        np.append(rng.exponential(size=100), -0.1),
        rng.integers(1, 6, 100),
        np.zeros(5),
    ]
    assert {table_predictions.floor_of(y) for y in with_floor} == {0.0}
    assert {table_predictions.floor_of(y) for y in without} == {table_predictions._NO_FLOOR}
    both = ScaledTargets.of(np.column_stack((with_floor[0], without[0])), None)
    assert_allclose(
        both.inverse(np.full((1, 2), -9.0)), [[0.0, np.mean(without[0]) - 9.0 * np.std(without[0])]]
    )


@pytest.mark.thorough
def test_the_most_likely_transformation_is_chosen():
    """Density on the scale of the target chooses the function that made errors even."""
    X, y = skewed(np.random.default_rng(2), 300)
    chosen = TableRegressor(transformation="auto", **QUICK).fit(X, y)
    assert chosen.transformation_.name == "log"
    plain = TableRegressor(transformation="auto", **QUICK).fit(X, np.log(y) + 10.0)
    assert plain.transformation_ is None


def test_covariances_of_transformed_targets_are_refused():
    """Covariances of the logarithm are none of the target: they are refused by name."""
    X, y = skewed(np.random.default_rng(6), 60)
    model = TableRegressor(transformation="log", **QUICK).fit(X, y)
    message = ""
    try:
        model.predict(X, return_cov=True)
    except ValueError as error:
        message = str(error)
    assert "return_cov=True needs untransformed targets" in message


@pytest.mark.parametrize(
    ("transformation", "y", "message"),
    [
        ("log", np.r_[0.0, POSITIVE[:49]], "needs positive targets y, got 0"),
        ("sqrt", np.r_[-1.0, POSITIVE[:49]], "non-negative targets y, got -1"),
        ("square", POSITIVE[:50], "transformation must be"),
        ("log", np.ones((50, 2)), "single target"),
    ],
)
def test_what_has_no_transformation_is_refused(transformation, y, message):
    X = RNG.normal(size=(50, 2))
    with pytest.raises(ValueError, match=message):
        TableRegressor(transformation=transformation, **QUICK).fit(X, y)

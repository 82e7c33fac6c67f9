"""Forecasts that average over chains and trends."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import bochner
from bochner import BaNKRegressor
from bochner.estimators.bank_forecaster import BaNKForecaster

QUICK = {"n_frequencies": 16, "n_burn_in": 10, "n_samples": 6, "n_chains": 2, "random_state": 0}
NEW = np.array([[24.5], [30.0]])


def record(n=240):
    """A line with a season."""
    rng = np.random.default_rng(0)
    t = np.linspace(0.0, 24.0, n)
    return t[:, None], t + np.sin(2.0 * np.pi * t) + 0.1 * rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted():
    return BaNKForecaster(**QUICK).fit(*record())


def test_every_trend_is_learned_from_its_own_seed(fitted):
    X, y = record()
    # scikit-learn turns an integer seed into a RandomState, which draws the seeds of the models.
    seeds = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=2)
    for model, trend, seed in zip(fitted.models_, (1, 2), seeds.tolist(), strict=True):
        alone = BaNKRegressor(
            structure="dense", thin=4, trend=trend, **QUICK | {"random_state": seed}
        )
        with warnings.catch_warnings(action="ignore"):
            alone.fit(X, y)
        np.testing.assert_array_equal(model.predict(NEW), alone.predict(NEW))


def test_the_line_and_the_season_go_on(fitted):
    X, y = record()
    mean, std = fitted.predict(np.array([[24.25], [24.75]]), return_std=True)
    assert (np.abs(mean - [25.25, 23.75]) < 4.0 * std).all()
    assert fitted.score(X, y) > 0.99


def test_it_is_cloned_and_saved(fitted, tmp_path):
    assert clone(fitted).get_params() == BaNKForecaster(**QUICK).get_params()
    bochner.save(fitted, tmp_path / "m.bochner")
    loaded = bochner.load(tmp_path / "m.bochner")
    np.testing.assert_array_equal(
        loaded.predict(NEW, return_std=True), fitted.predict(NEW, return_std=True)
    )


def test_it_says_what_it_does():
    said = []
    BaNKForecaster((0,), **QUICK).fit(*record(40), progress=said.append)
    assert said[0] == "learning the kernel: 2 chains with a trend of degree 0"
    assert said[-1].startswith("sampling 6/6: log evidence")


def test_trends_that_are_none():
    with pytest.raises(ValueError, match="at least one of 0, 1 and 2"):
        BaNKForecaster((), **QUICK).fit(*record(40))
    with pytest.raises(ValueError, match="trend must be 0, 1 or 2, got 3"):
        BaNKForecaster((3,), **QUICK).fit(*record(40))


def test_models_that_disagree_widen_the_intervals(fitted):
    """The variance of a mixture is that within its parts and that between their means."""
    far = np.array([[60.0], [90.0]])
    parts = np.array([model.predict(far, return_std=True) for model in fitted.models_])
    weight = np.array([4.0, 1.0]) / 5.0  # A degree more is a quarter of the weight.
    mean, std = fitted.predict(far, return_std=True)
    within = weight @ parts[:, 1] ** 2
    between = weight @ (parts[:, 0] - mean) ** 2
    np.testing.assert_allclose(mean, weight @ parts[:, 0], rtol=1e-12)
    np.testing.assert_allclose(std**2, within + between, rtol=1e-10)
    assert (between > 0.01 * within).all()

"""Trends: how they go on after the rows, against exponential smoothing and dense regression."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner import Forecaster
from bochner.series.component_search import Plan, learn
from bochner.series.components import Remainder
from bochner.series.priors import SeriesPriors
from bochner.series.series_model import ScaledSeries, SeriesModel
from bochner.series.trends import WalkWithDrift

SHARE = 0.5


def walk_with_drift(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return 5.0 + 0.4 * np.arange(n) + rng.normal(size=n).cumsum() + rng.normal(size=n)


def test_forecasts_are_those_of_exponential_smoothing_with_a_share_of_the_drift():
    """The steady gain of a random walk with noise is a known function of their variances."""
    n, horizon, diffusion, noise = 4000, 8, 30.0, 0.02
    y, times = walk_with_drift(n) / 500.0, np.linspace(0.0, 1.0, n)
    model = SeriesModel((WalkWithDrift(SHARE), Remainder(0.01)))
    # A share of the remainder that is next to nothing leaves white noise.
    theta = np.array([np.log(diffusion), 0.5 * np.log(noise), -40.0, 0.0])
    rows = ScaledSeries(times, y, np.zeros((n, 0)))
    _, states = model.filtered(theta, rows)
    mean, cov = model.parts[0].onward(states.mean[-1], states.cov[-1])
    ahead = ScaledSeries(
        times[-1] + np.arange(horizon + 1) / (n - 1),
        np.full(horizon + 1, np.nan),
        np.zeros((horizon + 1, 0)),
    )
    means, _ = model.ahead(theta, ahead, mean, cov)
    ratio = diffusion / (n - 1) / noise
    gain = 0.5 * (np.sqrt(ratio**2 + 4.0 * ratio) - ratio)
    drift = states.mean[-1, 1] / (n - 1)
    level = y[0]
    for value in y[1:]:
        level += drift + gain * (value - level - drift)
    expected = level + SHARE * drift * np.arange(1, horizon + 1)
    assert_allclose(means[1:, -1], expected, rtol=1e-6)


def weights_of(priors, progress=None):
    options = {} if progress is None else {"progress": progress}
    plan = Plan((), str, False, False, ("none",), priors=priors, **options)
    y = walk_with_drift()
    law, _ = learn(np.arange(60.0), y, np.zeros((60, 0)), plan, np.random.default_rng(0))
    return law.trends()


def test_the_drift_has_its_weight_beside_the_weights_of_evidence():
    without = weights_of(SeriesPriors())
    assert "a random walk with drift" not in without
    found = weights_of(SeriesPriors(drift_weight=0.4, drift_share=0.7, drift_steps=60.0))
    assert found.pop("a random walk with drift") == pytest.approx(0.4, abs=1.0 / 64.0)
    for name, weight in found.items():
        assert weight == pytest.approx(0.6 * without[name], abs=0.05)


def test_the_weight_falls_beyond_the_lengths_that_it_was_learned_from():
    priors = SeriesPriors(drift_weight=0.5, drift_steps=100.0)
    steps = (10.0, 100.0, 200.0, 500.0, 800.0)
    assert [priors.weight_of_drift(n) for n in steps] == [0.5, 0.5, 0.125, 0.02, 0.0]
    assert SeriesPriors().weight_of_drift(10.0) == 0.0


def test_years_have_a_drift_and_long_series_without_dates_have_none():
    y = walk_with_drift(40)
    assert "a random walk with drift" in Forecaster(random_state=0).fit(y).series_["y"].law.trends()
    y = walk_with_drift(600)
    law = Forecaster(find_cycle=False, random_state=0).fit(y).series_["y"].law
    assert "a random walk with drift" not in law.trends()

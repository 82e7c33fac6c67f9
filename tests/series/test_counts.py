"""Laws of counts: sums over all paths of the level, calibration, effects, and other series."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom, kstest, nbinom, poisson

import bochner
from bochner import Forecaster
from bochner.series import count_law, count_levels
from bochner.series.count_levels import N_COINS, PRIOR, SCORES, LevelChains
from bochner.series.count_mixture import CountMixture, sizes

MEANS, SIZES = np.array([[0.2, 3.0], [1.5, 40.0]]), np.array([[1e6, 0.7], [2.0, 1e6]])
MIXTURE = CountMixture(np.array([[0.3, 0.5], [0.7, 0.5]]), MEANS, SIZES)
LEVELS = np.array([0.05, 0.5, 0.9, 0.999])
DAYS = pd.date_range("2021-01-04", periods=420)


def masses(mixture, most=4_000):
    """Return the probabilities (most, h) of counts by SciPy's laws."""
    counts = np.arange(most)[:, None, None]
    laws = nbinom.pmf(counts, mixture.sizes, mixture.sizes / (mixture.sizes + mixture.means))
    return np.sum(mixture.weights * laws, axis=1)


def assert_mixture():
    """Probabilities, quantiles and moments are those of sums over counts."""
    mass = masses(MIXTURE)
    for place in range(2):
        found = [np.exp(MIXTURE.log_density(np.full(2, float(k)))[place]) for k in range(60)]
        assert_allclose(found, mass[:60, place], rtol=1e-6, atol=1e-14)
        least = np.argmax(np.cumsum(mass[:, place])[:, None] >= LEVELS - 1e-9, axis=0)
        assert MIXTURE.quantiles(LEVELS)[place].tolist() == least.tolist()
    counts = np.arange(len(mass))
    assert_allclose(mean := MIXTURE.centre(), counts @ mass, rtol=1e-6)
    assert_allclose(MIXTURE.std() ** 2, counts**2 @ mass - mean**2, rtol=1e-5)
    assert MIXTURE.log_density(np.array([0.5, -1.0])).tolist() == [-np.inf, -np.inf]
    means = sizes(np.array([2.0]), np.array([0.0]), np.array([0.0]))
    assert_allclose(nbinom.pmf(3, means, means / (means + 2.0)), poisson.pmf(3, 2.0), rtol=1e-5)


def test_mixtures_of_counts_have_the_moments_of_sums():
    assert_mixture()


def coins(correlation):
    """Return transition probabilities of the number of heads, from laws of single coins."""
    keep, number = 0.5 + 0.5 * correlation, np.arange(N_COINS + 1)
    rows = [
        np.convolve(
            binom.pmf(np.arange(heads + 1), heads, keep),
            binom.pmf(np.arange(N_COINS - heads + 1), N_COINS - heads, 1.0 - keep),
        )
        for heads in number
    ]
    return np.array(rows)


def assert_chain():
    """Transitions are those of coins, and have the correlation of an autoregression."""
    for correlation in (0.0, 0.4, 0.97):
        (moves,) = count_levels.transitions(np.array([correlation]))
        assert_allclose(moves, coins(correlation), atol=1e-8)
        assert_allclose(moves @ SCORES, correlation * SCORES, atol=1e-7)
    assert_allclose([PRIOR.sum(), PRIOR @ SCORES, PRIOR @ SCORES**2], [1.0, 0.0, 1.0], atol=1e-12)


def test_the_number_of_heads_is_an_autoregression():
    assert_chain()


def law_of(y, times=None, index=None, **options):
    model = Forecaster(transformation="counts", **options)
    return model.fit(y if index is None else pd.Series(y, index), times=times)


def assert_paths():
    """Evidence and smoothed laws are sums over all paths of the level, unequal steps included."""
    times, values = np.array([0.0, 1.0, 3.5]), np.array([2.0, np.nan, 0.0])
    log_levels = -0.3 + 0.8 * SCORES
    logs = np.where(np.isnan(values)[:, None], 0.0, nbinom.logpmf(
        np.nan_to_num(values)[:, None], 1.5, 1.5 / (1.5 + np.exp(log_levels))))  # fmt: skip
    chains = LevelChains(times, np.array([4.0]), np.arange(3), logs[:, None])
    joint = PRIOR * np.exp(logs[0])
    for time in (1, 2):
        step = coins(np.exp(-(times[time] - times[time - 1]) / 4.0))
        joint = joint[..., None] * step * np.exp(logs[time])
    evidence, states = count_levels.filtered(chains, keep=True)
    assert_allclose(evidence[0, 0], np.log(joint.sum()), rtol=1e-7)
    assert_allclose(states[2, 0, 0], joint.sum((0, 1)) / joint.sum(), atol=1e-8)
    between = count_levels.smoothed(chains)[1, 0, 0]
    assert_allclose(between, joint.sum((0, 2)) / joint.sum(), atol=1e-8)


def test_the_filter_sums_over_all_paths_of_the_level():
    assert_paths()


def counts_of(rng, n, mean=0.4, std=0.8, memory=20.0, size=1.0, effect=0.0):
    """Draw counts with an autoregressive log level."""
    level, levels = rng.normal(), []
    for noise in rng.normal(size=n):
        level = np.exp(-1.0 / memory) * level + np.sqrt(1.0 - np.exp(-2.0 / memory)) * noise
        levels.append(level)
    rate = mean * np.exp(std * np.array(levels) - 0.5 * std**2 + effect)
    return rng.poisson(rng.gamma(size, rate / size)).astype(float)


def assert_weights():
    """Laws have weights in proportion to the evidence of their own parameters."""
    law = law_of(counts_of(np.random.default_rng(8), 120)).series_["y"].law
    effects = count_law.columns_of(law.rows, law.frequencies) @ law.coef
    patterns, logs = count_law.likelihoods(law.rows.values, effects, *law.laws)
    chains = LevelChains(law.times, law.memories, patterns, logs[:, :, None])
    evidence = count_levels.filtered(chains)[0][:, 0]
    assert_allclose(np.ptp(np.log(law.weights) - evidence), 0.0, atol=1e-6)


def test_laws_are_weighted_by_their_evidence():
    assert_weights()


def test_later_counts_have_the_predicted_law(n_series=48):
    """Randomised distribution functions of later counts are uniform, at several steps."""
    rng, shares = np.random.default_rng(5), []
    laws = list(product((0.2, 0.5), (0.3, 1.2), (5.0, 100.0), (0.7, 50.0)))
    for place in range(n_series):
        mean, std, memory, size = laws[place % len(laws)]
        y = counts_of(rng, 160, mean, std, memory, size)
        if np.count_nonzero(y[:150]) < 5:
            continue
        model = law_of(y[:150], random_state=0)
        law = model._forecasts(10, None).laws()["y"]
        at_most = np.cumsum(masses(law, 100), axis=0)
        for step in (0, 4, 9):
            k = int(min(y[150 + step], 99.0))
            below = at_most[k - 1, step] if k else 0.0
            shares.append(below + rng.random() * (at_most[k, step] - below))
    assert len(shares) > 2 * n_series
    assert kstest(shares, "uniform").pvalue > 1e-3
    assert abs(np.mean(np.array(shares) > 0.9) - 0.1) < 0.08


def assert_draws(n_samples=100_000):
    """Paths have the predicted law at each time, and the chain's correlation between times."""
    y = counts_of(np.random.default_rng(3), 200, mean=0.8, std=1.2, memory=8.0)
    model = law_of(y, random_state=0)
    law = model._forecasts(6, None).laws()["y"]
    paths = model.sample(6, n_samples=n_samples, random_state=1)
    mass = masses(law, 400)
    for step in (0, 5):
        found = np.bincount(paths[step].astype(int), minlength=400)[:6] / n_samples
        assert_allclose(found, mass[:6, step], atol=5.0 / np.sqrt(n_samples))
    own, step, both = model.series_["y"].law, 1.0 / 199.0, 0.0
    states = own._states(own.rows.part(slice(-1, None)))[0]
    laws = zip(own.weights, np.exp(own.laws[0]), own.memories, states, strict=True)
    for weight, rate, memory, state in laws:
        moves, far = coins(np.exp(-step / memory)), coins(np.exp(-5.0 * step / memory))
        both += weight * (state @ moves) @ (rate * (far @ rate))
    expected = both - law.centre()[0] * law.centre()[5]
    found = np.mean(paths[0] * paths[5]) - paths[0].mean() * paths[5].mean()
    error = np.std(paths[0] * paths[5]) / np.sqrt(n_samples)
    assert abs(found - expected) < 5.0 * error < 0.7 * expected


def test_paths_are_joint_draws_of_the_law():
    assert_draws()


def seasonal(seed, n=1_400):
    """Return a model of counts with a week, whose mean an input multiplies by e."""
    rng = np.random.default_rng(seed)
    x = (rng.random(n) < 0.15).astype(float)
    week = np.where(np.arange(n) % 7 < 2, 1.3, -0.7)
    y = counts_of(rng, n, mean=0.3, effect=week + x, std=0.3)
    days = pd.date_range("2021-01-04", periods=n)
    return Forecaster(random_state=0).fit(pd.Series(y, days), x[:, None])


def assert_effects():
    """A week and an input have their effects, on predictions and components as on log means."""
    models = [seasonal(seed) for seed in range(6)]
    means, lower, upper = np.transpose([model.effects()["input 0"] for model in models])
    assert np.sum((lower < 1.0) & (upper > 1.0)) >= 5
    assert abs(means.mean() - 1.0) < 0.1
    model, mean = models[0], means[0]
    assert model.transformation_ == "counts"
    assert [period.name for period in model.periods_] == ["week"]
    with_input = model.predict(14, np.ones((14, 1)))
    without = model.predict(14, np.zeros((14, 1)))
    assert_allclose(with_input / without, np.exp(mean), rtol=1e-6)
    assert without[:2].mean() > 3.0 * without[2:7].mean()
    parts = model.components(14, np.zeros((14, 1)))
    assert list(parts.columns.unique(0)) == ["trend", "week", "inputs"]
    logs = sum(parts[name]["mean"] for name in ("week", "inputs"))
    assert_allclose(np.ptp(np.log(without) - logs - parts["trend"]["mean"]), 0.0, atol=0.1)
    assert (parts["week"]["lower"] < parts["week"]["mean"]).all()


def test_seasons_and_inputs_multiply_the_mean():
    assert_effects()


GAUSSIAN = {
    "often above zero": np.random.default_rng(0).poisson(1.5, 80).astype(float),
    "no whole numbers": np.random.default_rng(0).poisson(0.3, 80) / 2.0,
    "below zero": -np.random.default_rng(0).poisson(0.3, 80).astype(float),
}


@pytest.mark.parametrize("name", GAUSSIAN)
def test_other_series_are_left_to_gaussian_processes(name):
    assert Forecaster(random_state=0).fit(GAUSSIAN[name]).transformation_ != "counts"


def test_counts_must_be_whole_numbers():
    with pytest.raises(ValueError, match="needs whole numbers of zero or more, and one value is 0"):
        Forecaster(transformation="counts").fit(np.arange(20.0) / 2.0)


def test_answers_are_whole_numbers_and_models_are_saved(tmp_path):
    """Unknown values, cross-validation, quantiles, and equal answers of a model file."""
    y = pd.Series(counts_of(np.random.default_rng(4), 420, mean=0.3), DAYS)
    y.iloc[[5, 60]] = np.nan
    model = Forecaster(random_state=0).fit(y)
    low, high = model.predict_interval(30)
    quantiles = model.predict_quantiles(30, [0.5, 0.99]).to_numpy()
    for part in (low, high, quantiles, model.sample(30, 5, random_state=0)):
        assert np.array_equal(part, np.round(np.asarray(part)))
    inside = model.predict(DAYS[[5, 60, 100]])
    assert (inside > 0.01).all() & (inside < 5.0).all()
    table = model.cross_validate(y.dropna().to_numpy(), 10, 3)
    assert table["covered"].mean() > 0.7
    assert np.isfinite(table["log_density"]).all()
    assert model.outliers_.tolist() == model.level_shifts_.tolist() == []
    bochner.save(model, tmp_path / "model.bochner")
    loaded = bochner.load(tmp_path / "model.bochner")
    assert_allclose(loaded.predict(30), model.predict(30))
    history = loaded.series_["y"].history()[1]
    assert_allclose(history, y.to_numpy())
    larger = law_of(np.random.default_rng(0).poisson(6.0, 200).astype(float))
    assert_allclose(larger.predict(3), 6.0, rtol=0.1)
    at_zero = np.exp(model.log_density(pd.Series(np.zeros(30), low.index)))
    assert_allclose(at_zero, masses(model._forecasts(30, None).laws()["y"], 1)[0])


def test_the_oldest_rows_are_smoothed_and_not_learned_from(monkeypatch):
    y = counts_of(np.random.default_rng(6), 300)
    monkeypatch.setattr("bochner.series.series_rows._MOST_LEARNED", 200)
    long, short = law_of(y), law_of(y[100:])
    assert_allclose(long.predict(5), short.predict(5), rtol=0.02)
    assert_allclose(long.series_["y"].law.weights, short.series_["y"].law.weights)
    assert len(long.predict(np.arange(50.0))) == 50

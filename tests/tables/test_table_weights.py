"""Weights of rows of a table: what intervals and expected errors mean, on freshly drawn rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from bochner import TableClassifier, TableRegressor, load, save

N, N_NEW, N_SEEDS = 250, 1500, 5
REGRESSOR = TableRegressor(effort="quick", random_state=0)


def function(X):
    return np.sin(2.0 * X[:, 0]) + X[:, 1]


def drawn(seed, heavy, scale=1.0, *, of_noise):
    """Return rows with weights of 1 or ``heavy``, related to the noise if ``of_noise``."""
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(N, 3)), np.where(rng.random(N) < 0.5, 1.0, heavy)
    noise = rng.normal(size=N) / np.sqrt(weight if of_noise else 1.0)
    return X, function(X) + noise, scale * weight, rng


def outcome(seed, heavy, *, of_noise):
    """Return the coverage of 90 % intervals, the expected and the actual error on new rows."""
    X, y, weight, rng = drawn(seed, heavy, of_noise=of_noise)
    model = REGRESSOR.fit(X, y, sample_weight=weight)
    new = rng.normal(size=(N_NEW, 3))
    noise = rng.normal(size=N_NEW) / np.sqrt(weight.mean() if of_noise else 1.0)
    lower, upper = model.predict_interval(new, 0.9)
    target = function(new) + noise
    covered = np.mean((lower <= target) & (target <= upper))
    error = np.sqrt(np.mean((model.predict(new) - target) ** 2))
    return covered, model.score_ / error


def check_numbers(heavy, of_noise, n_seeds=N_SEEDS):
    """Intervals of left-out copies of a row covered 70 to 80 %, and the ratio was 0.55."""
    found = np.array([outcome(seed, heavy, of_noise=of_noise) for seed in range(n_seeds)])
    mean = found.mean(axis=0)
    error = np.maximum(found.std(axis=0, ddof=1), 0.03) / np.sqrt(n_seeds)
    assert (np.abs(mean - [0.9, 1.0]) < 3.0 * error + [0.01, 0.03]).all(), (mean, error)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("heavy", "of_noise"), [(3.0, False), (3.1, False), (3.0, True), (40.0, True)]
)
def test_intervals_and_errors_are_those_of_new_rows(heavy, of_noise):
    check_numbers(heavy, of_noise)


@pytest.mark.thorough
def test_expected_losses_are_those_of_new_rows(n_seeds=N_SEEDS):
    """Copies of a left-out row told its class: 0.28 was expected where 1.02 occurred."""
    found = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X, weight = rng.normal(size=(N + N_NEW, 3)), rng.choice([1.0, 3.0], N)
        y = (rng.random(N + N_NEW) < expit(1.5 * X[:, 0])).astype(int)
        model = TableClassifier(effort="quick", random_state=0)
        model.fit(X[:N], y[:N], sample_weight=weight)
        p = model.predict_proba(X[N:])[np.arange(N_NEW), y[N:]]
        found.append([model.score_, -np.mean(np.log(p))])
    expected, actual = np.mean(found, axis=0)
    spread = np.std(np.diff(found), ddof=1) / np.sqrt(n_seeds)
    assert abs(expected - actual) < 3.0 * spread + 0.02
    assert actual < 0.62  # The entropy of the labels is 0.54, and a constant has 0.69


def test_a_row_is_one_observation_whatever_the_unit_of_its_weight():
    """A weight of three is hardly another than one of 3.1, and only ratios of weights matter."""
    X, y, weight, _ = drawn(0, 3.0, of_noise=False)
    X, y, weight = X[:60], y[:60], weight[:60]
    heavier = np.where(weight == 3.0, 3.1, 1.0)
    scores, ends = [], []
    for each in (weight, heavier, 1024.0 * weight):  # A power of two is not rounded
        model = REGRESSOR.fit(X, y, sample_weight=each)
        scores.append(model.score_)
        ends.append(np.column_stack(model.predict_interval(X, 0.9)))
        assert model.record_["n_samples"] == 60
    assert_allclose(scores[1], scores[0], rtol=0.05)
    assert_array_equal(scores[2], scores[0])
    assert_array_equal(ends[2], ends[0])


@pytest.mark.thorough
def test_new_rows_have_weights_in_the_unit_of_the_fit():
    """The noise of a new row is divided by its weight, in the unit of the weights of the fit."""
    X, y, weight, _ = drawn(1, 9.0, 50.0, of_noise=True)
    model = REGRESSOR.fit(X, y, sample_weight=weight)
    mean = np.full(len(X), weight.mean())
    assert_allclose(
        model.predict_interval(X, 0.9, sample_weight=mean), model.predict_interval(X, 0.9)
    )
    _, std = model.predict(X, return_std=True, sample_weight=np.full(len(X), 50.0))
    assert abs(np.median(std) - 1.0) < 0.2


@pytest.mark.parametrize("weights", ["precisions", "counts"])
def test_the_meaning_of_weights_is_saved(weights, tmp_path):
    X, y, weight, _ = drawn(3, 3.0, of_noise=False)
    model = TableRegressor(effort="quick", weights=weights, random_state=0)
    model.fit(X[:60], y[:60], sample_weight=weight[:60])
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.get_params()["weights"] == weights
    assert loaded.weight_unit_ == model.weight_unit_
    assert_array_equal(loaded.predict(X), model.predict(X))

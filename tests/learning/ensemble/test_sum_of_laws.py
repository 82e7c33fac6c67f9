"""Weights and calibration of sums of laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from bochner._numerics.progress import silent
from bochner.learning.ensemble.ensemble import Effort, Learner, SumOfLaws, mixture
from bochner.learning.ensemble.pooled import ChainSizes
from bochner.learning.ensemble.weights import member_weights

RNG = np.random.default_rng(0)


def residuals(*scales, n=400, shared=0.7):
    common = RNG.normal(size=(n, 1))
    return np.array(scales) * (shared * common + RNG.normal(size=(n, len(scales))))


@pytest.mark.parametrize("scales", [(1.0, 1.2, 0.8), (1.0, 3.0), (2.0, 2.0, 2.1, 9.0)])
def test_weights_are_those_of_least_penalised_error(scales):
    R = residuals(*scales)
    K = len(scales)
    G = R.T @ R / len(R)
    level = np.median(np.diag(G))

    def objective(w):
        return (w @ G @ w + 0.3 * level * np.sum((w - 1.0 / K) ** 2)) / level

    simplex = {"type": "eq", "fun": lambda w: w.sum() - 1.0}
    start = np.full(K, 1.0 / K)
    options = {"ftol": 1e-14, "maxiter": 1000}
    best = minimize(objective, start, bounds=[(0, 1)] * K, constraints=simplex, options=options)
    assert_allclose(member_weights(R), best.x, atol=1e-5)


def test_weights_do_not_depend_on_units_and_leave_accidents_out():
    R = residuals(1.0, 1.0, 5.0)
    weights = member_weights(R)
    assert_allclose(member_weights(1e-9 * R), weights, atol=1e-7)
    assert weights[2] < 0.02
    assert_allclose(weights[:2], 0.5, atol=0.05)
    assert_allclose(member_weights(np.zeros((5, 4))), 0.25)


def test_moments_are_those_of_draws_from_the_mixture():
    means, stds = np.array([[0.0, 2.0, -1.0]]), np.array([[1.0, 0.5, 2.0]])
    weights = np.array([0.2, 0.5, 0.3])
    which = RNG.choice(3, size=200_000, p=weights)
    draws = means[0, which] + stds[0, which] * RNG.normal(size=len(which))
    mean, std = mixture(means, stds, weights)
    assert abs(mean[0] - draws.mean()) < 5.0 * draws.std() / np.sqrt(len(draws))
    assert_allclose(std[0], draws.std(), rtol=0.01)


@pytest.mark.parametrize(
    ("count", "level", "rank"), [(99, 0.9, 90), (99, 0.5, 50), (9, 0.9, 9), (5, 0.95, 5)]
)
def test_the_score_of_a_level_is_the_conformal_quantile(count, level, rank):
    model = SumOfLaws([], np.empty(0), np.arange(1.0, count + 1.0), 1.0, 1.0)
    assert model.score(level) == rank


def check_new_rows():
    """Most of a function is between the landmarks, where features lack variance."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-2.0, 2.0, size=(2900, 3))
    y = np.sin(2.0 * X[:, 0]) * np.cos(2.0 * X[:, 1] * X[:, 2]) + 0.02 * rng.normal(size=2900)
    sizes = Effort(
        4, ChainSizes(20, 2, 2, 300), few_rows=3000, most_landmarks=80, most_frequencies=60
    )
    learner = Learner(sizes, is_fixed=True, n_threads=2, time_limit=None, progress=silent)
    model = learner.fit(X[:900], [np.arange(3)], y[:900], rng)
    lower, upper = model.interval(X[900:], 0.9)
    assert 0.85 < np.mean((lower <= y[900:]) & (y[900:] <= upper)) < 0.96


def test_intervals_hold_at_rows_that_are_no_landmarks():
    check_new_rows()

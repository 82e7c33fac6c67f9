"""The predictive distribution, next to simulations, other formulas and brute force."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import trapezoid
from scipy.stats import norm

from bochner.tables.predictive import Predictive, ScoreLaw
from bochner.tables.table_predictions import ScaledTargets, _spread, expected_error

LEVELS = np.array([0.05, 0.3, 0.5, 0.9])
INNER = norm.cdf(np.linspace(-6.0, 6.0, 1500))
"""Levels for integrals of quantiles by trapezoids."""

MAPS = {
    "line": (lambda values: 2.0 * values - 1.0, 2.0),
    "exponential": (lambda values: np.exp(0.7 * values), None),
    "square": (lambda values: np.maximum(values + 0.5, 0.0) ** 2, None),
    "floor": (lambda values: np.maximum(values, 0.0), None),
}


def scores_of(shape, seed=0):
    skewed = np.random.default_rng(seed).exponential(size=shape)
    return skewed - skewed.mean(axis=0)


def test_quantiles_are_ranks_among_one_more_score():
    """A quantile of the level k / (s + 1) is the k-th score, and levels between are between."""
    scores = scores_of(99)
    ordered = np.sort(scores)
    law = ScoreLaw.of(scores)
    found = law.quantiles(np.array([0.1, 0.5, 0.505, 0.9]))
    ranked = np.append(ordered[[9, 49]], (0.5 * (ordered[49] + ordered[50]), ordered[89]))
    assert_allclose(np.diff(found), np.diff(ranked), rtol=1e-12)
    assert abs(found[0] - ranked[0]) < 0.1  # The shift that makes the mean zero


@pytest.mark.parametrize("n_scores", [3, 20, 99, 400])
def test_negated_scores_have_negated_quantiles(n_scores):
    scores, levels = scores_of(n_scores), np.array([1e-4, 0.003, 0.02, 0.1, 0.4])
    law, other = ScoreLaw.of(scores), ScoreLaw.of(-scores)
    assert_allclose(law.quantiles(levels), -other.quantiles(1.0 - levels), rtol=1e-9)
    assert_allclose(law.std, other.std, rtol=1e-9)


def test_means_of_exponentials_are_those_of_normal_tails():
    """Means of exponentials do not depend on the largest score more than normal tails do."""
    errors, rng = [], np.random.default_rng(1)
    for _ in range(200):
        law = ScoreLaw.of(rng.normal(size=300))
        nodes, shares = law.nodes()
        errors.append([np.exp(1.5 * nodes) @ shares, nodes**2 @ shares, law.std**2])
    mean, deviation = np.mean(errors, axis=0), np.std(errors, axis=0)
    assert_allclose(mean / [np.exp(1.125), 1.0, 1.0], 1.0, atol=0.05)
    assert deviation[0] < 0.6  # The mean of 300 exponentials has 0.52
    assert_allclose(deviation[1], np.sqrt(2.0 / 300), rtol=0.25)


def test_the_distribution_is_the_inverse_of_the_quantiles():
    law = ScoreLaw.of(np.round(scores_of((200, 2)), 1))  # With ties
    levels = np.linspace(0.001, 0.999, 41)
    errors = np.moveaxis(law.quantiles(levels), -1, 0)
    assert (law.distribution(errors) >= levels[:, None] - 1e-12).all()
    assert (law.distribution(errors - 1e-9) <= levels[:, None] + 1e-6).all()


@pytest.mark.parametrize("n_targets", [None, 2])
@pytest.mark.parametrize("n_components", [1, 3])
@pytest.mark.parametrize("name", MAPS)
def test_all_are_functionals_of_one_distribution(name, n_components, n_targets):
    check_one_distribution(name, n_components, n_targets)


def check_one_distribution(name, n_components, n_targets, n=5):
    rng, targets = np.random.default_rng(2), () if n_targets is None else (n_targets,)
    law = ScoreLaw.of(scores_of((150, *targets)) + 0.2)
    mean = rng.normal(size=(n, n_components, *targets))
    std = 0.2 + rng.uniform(0.0, 0.8, mean.shape)
    inverse, slope = MAPS[name]
    weight = rng.dirichlet(np.ones(n_components), n)
    found = Predictive(mean, std, weight, law, inverse, slope)
    expected, deviation = found.mean_and_std()
    assert expected.shape == deviation.shape == (n, *targets)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # More levels than scores
        many = found.quantiles(INNER)
    assert (np.diff(many, axis=-1) >= -1e-12).all()
    integral = trapezoid(many, INNER, axis=-1)
    assert_allclose(integral, expected, atol=0.005 * np.max(deviation))
    variance = trapezoid((many - expected[..., None]) ** 2, INNER, axis=-1)
    assert_allclose(np.sqrt(variance), deviation, atol=0.01 * np.max(deviation))
    draws = found.sample(3000, np.random.default_rng(3))
    assert draws.shape == (n, *targets, 3000)
    assert (np.abs(draws.mean(axis=-1) - expected) <= 4.5 * deviation / np.sqrt(3000)).all()
    ends = found.quantiles(LEVELS)
    shares = np.mean(draws[..., None, :] <= ends[..., None] + 1e-12, axis=-1)
    is_atom = ends <= 0.0 if name in ("square", "floor") else np.zeros(ends.shape, dtype=bool)
    assert (np.abs(shares - LEVELS)[~is_atom] < 0.04).all()
    assert (shares >= LEVELS - 0.04).all()


class NormalLaw:
    """Independent standard normal errors."""

    def quantiles(self, levels):
        return norm.ppf(levels)

    def distribution(self, errors):
        return norm.cdf(errors)

    def check(self, levels):
        pass


def test_quantiles_of_mixtures_have_their_level():
    """Quantiles of normal mixtures have their level under SciPy's distribution."""
    rng = np.random.default_rng(4)
    mean, std = rng.normal(size=(6, 4)), rng.uniform(0.01, 1.0, (6, 4))
    weight = rng.dirichlet(np.ones(4), 6)
    ends = Predictive(mean, std, weight, NormalLaw(), lambda v: v, 1.0).quantiles(LEVELS)
    shares = norm.cdf((ends[:, None] - mean[..., None]) / std[..., None])
    assert_allclose(np.sum(weight[..., None] * shares, axis=1), np.tile(LEVELS, (6, 1)), atol=1e-9)


def test_draws_keep_the_correlations_of_targets():
    """All targets of a draw have the errors of one left-out row."""
    rng = np.random.default_rng(5)
    scores = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.8], [0.8, 1.0]], 500)
    zeros, ones = np.zeros((1, 2)), np.ones((1, 2))
    draws = Predictive.of_rows(zeros, ones, ScoreLaw.of(scores), lambda v: v).sample(4000, rng)
    assert abs(np.corrcoef(draws[0])[0, 1] - np.corrcoef(scores.T)[0, 1]) < 0.03


@pytest.mark.parametrize(("count", "level", "least"), [(12, 0.99, 99), (8, 0.9, 9), (12, 0.01, 99)])
def test_levels_of_too_few_scores_are_warned_of(count, level, least):
    with pytest.warns(UserWarning, match=f"at least {least} left-out rows, but there are {count}"):
        ScoreLaw.of(scores_of(count)).check(np.array([0.5, level]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ScoreLaw.of(scores_of(least)).check(np.array([0.5, level]))


def test_weighted_errors_are_those_of_repeated_rows_and_draws_vary_by_one_more():
    counts, y = np.array([1, 3, 2]), np.array([0.5, -2.0, 3.0])
    parts = np.zeros(3), np.ones(3), y, counts / 2.0
    many = [*(np.repeat(part, counts) for part in parts[:3]), np.ones(6)]
    found, right = (
        expected_error(ScaledTargets(0.0, 1.0), ScoreLaw.of(y), (mean, std), *rest)
        for mean, std, *rest in (parts, many)
    )
    assert found == pytest.approx(right)
    draws = np.random.default_rng(0).normal(size=(4000, 5))
    assert np.mean(np.var(_spread(draws), axis=1)) == pytest.approx(1.0 + 1.0 / 5, rel=0.06)

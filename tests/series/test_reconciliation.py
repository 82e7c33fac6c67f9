"""Reconciled forecasts, by dense conditioning, closed forms and simulated errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from bochner.series.reconciliation import Reconciliation, ScoredLaw, error_correlation
from bochner.series.value_transformations import PredictiveMixture

TWO = [[1, 1], [1, 0], [0, 1]]
"""A total of two parts."""

THREE = [[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1], *np.eye(4, dtype=int).tolist()]
"""A total, two groups of two parts each, and the parts."""

CROSSED = [
    [1] * 6,
    *([1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]),
    *([1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]),
    *np.eye(6, dtype=int).tolist(),
]
"""Two regions by three products, with the sums of each."""

HIERARCHIES = {"two": TWO, "three": THREE, "crossed": CROSSED}

DRAWN = 0.01
"""Deviation of moments and quantiles of 2048 points, relative to the standard deviation."""


def sums_of(summing, correlation=None, has_floor=None):
    S = np.array(summing, dtype=float)
    n, n_parts = S.shape
    R = np.eye(n) if correlation is None else correlation
    floor = np.zeros(n_parts, dtype=bool) if has_floor is None else np.array(has_floor)
    names = [f"s{place}" for place in range(n)]
    return Reconciliation(names, S, np.arange(n - n_parts, n), R, floor)


def normal_laws(means, stds):
    """Laws (n) of one normal value each."""
    return [
        ScoredLaw.of(PredictiveMixture(np.array([[m]]), np.array([[s**2]]), np.ones(1), "none"))
        for m, s in zip(means, stds, strict=True)
    ]


def random_problem(summing, seed):
    """Incoherent means, deviations, and correlations of rank n."""
    rng = np.random.default_rng(seed)
    n = len(summing)
    factor = rng.normal(size=(n, 2 * n))
    cov = factor @ factor.T
    scale = np.sqrt(np.diagonal(cov))
    return 10.0 * rng.normal(size=n), np.exp(rng.normal(size=n)), cov / scale[:, None] / scale


def moments(sums, means, stds):
    forecasts = sums.forecast(normal_laws(means, stds))
    centre = np.array([each.centre()[0] for each in forecasts])
    return centre, np.column_stack([each.draws[:, 0] for each in forecasts])


def conditioned(summing, means, cov):
    """Moments of a Gaussian given that all gaps between sums and parts are zero, step by step."""
    S = np.array(summing, dtype=float)
    n, n_parts = S.shape
    mean, cov = np.array(means), np.array(cov)
    for row in range(n - n_parts):
        gap = np.zeros(n)
        gap[row] = 1.0
        gap[n - n_parts :] -= S[row]
        gain = cov @ gap / (gap @ cov @ gap)
        mean = mean - gain * (gap @ mean)
        cov = cov - np.outer(gain, gap @ cov)
    return mean, cov


@pytest.mark.parametrize("name", HIERARCHIES)
def test_independent_forecasts_are_conditioned_on_the_sums(name):
    summing = HIERARCHIES[name]
    means, stds, _ = random_problem(summing, 0)
    mean, cov = conditioned(summing, means, np.diag(stds**2))
    centre, draws = moments(sums_of(summing), means, stds)
    assert_allclose(centre, mean, atol=1e-9)
    std = np.sqrt(np.diagonal(cov))
    assert_allclose((draws.mean(axis=0) - mean) / std, 0.0, atol=DRAWN)
    assert_allclose(np.cov(draws.T) / std[:, None] / std, cov / std[:, None] / std, atol=5 * DRAWN)


@pytest.mark.parametrize("name", HIERARCHIES)
def test_the_projection_is_that_of_least_squares(name):
    S = np.array(HIERARCHIES[name], dtype=float)
    means, stds, correlation = random_problem(S, 1)
    weights = np.diag(stds**-2.0)
    G = np.linalg.inv(S.T @ weights @ S) @ S.T @ weights
    sums = sums_of(S, correlation)
    assert_allclose(sums.projection(stds), G, atol=1e-10)
    centre, draws = moments(sums, means, stds)
    assert_allclose(centre, S @ G @ means, atol=1e-9)
    # Draws have the covariance of projected errors, correlated as these are.
    M = S @ G
    cov = M @ (stds[:, None] * correlation * stds) @ M.T
    std = np.sqrt(np.diagonal(cov))
    assert_allclose(np.cov(draws.T) / std[:, None] / std, cov / std[:, None] / std, atol=5 * DRAWN)


@pytest.mark.parametrize("name", HIERARCHIES)
def test_points_and_draws_add_up(name):
    S = np.array(HIERARCHIES[name], dtype=float)
    means, stds, correlation = random_problem(S, 2)
    centre, draws = moments(sums_of(S, correlation), means, stds)
    n_parts = S.shape[1]
    assert_allclose(centre, S @ centre[-n_parts:], rtol=1e-12)
    assert_allclose(draws, draws[:, -n_parts:] @ S.T, rtol=1e-12, atol=1e-12)


def test_parts_with_a_floor_are_never_negative():
    sums = sums_of(TWO, has_floor=[True, False])
    centre, draws = moments(sums, [1.0, 0.1, 3.0], [0.5, 1.0, 1.0])
    assert centre[1] == 0.0
    assert draws[:, 1].min() == 0.0
    assert draws[:, 2].min() < 0.0
    assert_allclose(draws[:, 0], draws[:, 1] + draws[:, 2])


@pytest.mark.parametrize("transformation", ["none", "log", "sqrt", "floor"])
def test_scores_are_normal_quantiles_of_the_law(transformation):
    rng = np.random.default_rng(0)
    means, variances = rng.normal(1.0, 0.5, size=(5, 1)), rng.uniform(0.1, 1.0, size=(5, 1))
    mixture = PredictiveMixture(means, variances, np.full(5, 0.2), transformation)
    law = ScoredLaw.of(mixture)
    levels = np.array([0.001, 0.05, 0.3, 0.5, 0.9, 0.999])
    expected = mixture.quantiles(levels)[0]
    assert_allclose(law.values_of(norm.ppf(levels), 0), expected, rtol=0.005, atol=1e-9)
    transformed = np.linspace(0.2, 2.0, 7)
    below = norm.cdf((transformed[:, None] - means.T) / np.sqrt(variances.T)).mean(axis=1)
    scores = law.scores_of(transformed[:, None])[:, 0]
    assert_allclose(scores, norm.ppf(below), atol=0.005)


def test_correlations_of_errors_at_common_times():
    rng = np.random.default_rng(0)
    shared = rng.normal(size=400)
    errors = np.column_stack([shared, -2.0 * shared + rng.normal(size=400), rng.normal(size=400)])
    errors[:100, 1] = np.nan
    errors[100:, 2] = np.nan
    correlation = error_correlation(errors)
    common = errors[100:, :2]
    second = common.T @ common / 300
    assert_allclose(correlation[0, 1], second[0, 1] / np.sqrt(second[0, 0] * second[1, 1]))
    assert abs(correlation[1, 2]) < 1e-12  # No common times
    assert_allclose(np.diagonal(correlation), 1.0)
    assert np.linalg.eigvalsh(correlation).min() > -1e-12


def test_paths_keep_the_law_of_each_time_and_their_memory():
    """Paths of independent series are projected, with the marginals of the forecast."""
    rng = np.random.default_rng(0)
    count, n_times = 4000, 3
    _, stds, correlation = random_problem(TWO, 4)
    sums = sums_of(TWO, correlation)
    means = np.array([7.0, 2.0, 3.0])
    laws = [
        ScoredLaw.of(
            PredictiveMixture(
                np.full((1, n_times), m), np.full((1, n_times), s**2), np.ones(1), "none"
            )
        )
        for m, s in zip(means, stds, strict=True)
    ]
    walks = rng.normal(size=(3, count, 1)) * 0.9 + np.sqrt(0.19) * rng.normal(
        size=(3, count, n_times)
    )
    paths = means[:, None, None] + stds[:, None, None] * walks
    drawn = sums.sample(laws, list(paths))
    assert drawn.shape == (3, count, n_times)
    assert_allclose(drawn[0], drawn[1] + drawn[2])
    forecasts = sums.forecast(laws)
    for path, forecast in zip(drawn, forecasts, strict=True):
        assert_allclose((path.mean(axis=0) - forecast.centre()) / forecast.std(), 0.0, atol=0.06)
        assert_allclose(path.std(axis=0), forecast.std(), rtol=0.05)
        assert_allclose(np.corrcoef(path.T)[0, 1], 0.81, atol=0.03)

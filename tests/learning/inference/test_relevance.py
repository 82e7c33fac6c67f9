"""Relevance and interactions against sums over frequencies, one after another."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner.learning.inference.relevance import relevance_of


def some_draws(seed=0, d=4, n_draws=3, m=5, n_fixed=2):
    rng = np.random.default_rng(seed)
    omega = 2.0 * rng.normal(size=(n_draws, m, d))
    omega[rng.random(omega.shape) < 0.5] = 0.0
    return omega, rng.normal(size=(n_draws, 2 * m + n_fixed))


def brute_force(omega, coef):
    n_draws, m, d = omega.shape
    inclusion, slope, together = np.zeros(d), np.zeros(d), np.zeros((d, d))
    for draw in range(n_draws):
        energy = [coef[draw, 2 * j] ** 2 + coef[draw, 2 * j + 1] ** 2 for j in range(m)]
        for j in range(m):
            share = energy[j] / sum(energy) / n_draws
            for a in range(d):
                here = omega[draw, j, a]
                inclusion[a] += share * (here != 0)
                slope[a] += share * here**2
                for b in range(d):
                    there = omega[draw, j, b]
                    if a != b:
                        pair = (1.0 - np.exp(-(here**2) / 2)) * (1.0 - np.exp(-(there**2) / 2))
                        together[a, b] += share * pair
                others = [omega[draw, j, b] for b in range(d) if b != a]
                alone = np.prod([np.exp(-(value**2) / 2) for value in others])
                together[a, a] += share * (1.0 - np.exp(-(here**2) / 2)) * alone
    return inclusion, np.sqrt(slope) / np.sqrt(slope).sum(), together


@pytest.mark.parametrize("d", [1, 4])
def test_against_sums_one_after_another(d):
    omega, coef = some_draws(d=d)
    relevance, together = relevance_of(omega, coef)
    inclusion, importance, pairs = brute_force(omega, coef)
    assert_allclose(relevance.inclusion, inclusion, rtol=1e-12)
    assert_allclose(relevance.importance, importance, rtol=1e-12)
    assert_allclose(together, pairs, rtol=1e-12)


def test_importance_is_the_root_mean_square_slope_of_the_function():
    """Of random phases: by Monte Carlo over places that cover many periods."""
    rng = np.random.default_rng(1)
    omega, coef = rng.normal(size=(1, 6, 3)), rng.normal(size=(1, 12))
    X = rng.uniform(-1e4, 1e4, size=(200_000, 3))
    angle = X @ omega[0].T
    tangent = coef[0, 1::2] * np.cos(angle) - coef[0, 0::2] * np.sin(angle)
    slope = np.sqrt(np.mean((tangent @ omega[0]) ** 2, axis=0))
    assert_allclose(relevance_of(omega, coef)[0].importance, slope / slope.sum(), rtol=0.02)


def test_signs_of_frequencies_and_sizes_of_weights_do_not_matter():
    omega, coef = some_draws()
    first, pairs = relevance_of(omega, coef)
    sign = np.random.default_rng(2).choice([-1.0, 1.0], size=(*omega.shape[:2], 1))
    second, others = relevance_of(sign * omega, -1e6 * coef)
    assert_allclose(first.importance, second.importance, rtol=1e-12)
    assert_allclose(first.inclusion, second.inclusion, rtol=1e-12)
    assert_allclose(pairs, others, rtol=1e-12)


def test_a_function_of_nothing_is_finite():
    omega, coef = some_draws()
    for parts in (relevance_of(omega, 0.0 * coef), relevance_of(0.0 * omega, coef)):
        relevance, together = parts
        assert_allclose(relevance.importance, 0.0)
        assert np.isfinite(together).all()


def test_frequencies_beyond_all_bounds_are_finite():
    omega, coef = some_draws()
    relevance, together = relevance_of(1e8 * omega, coef)
    assert np.isfinite(together).all()
    assert_allclose(relevance.importance.sum(), 1.0)

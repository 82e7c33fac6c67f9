"""Relevance and interactions against differences of the function and sums one after another."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner.learned import relevance
from bochner.learned.basis import Matched, Windows
from bochner.learned.draws import Draws
from bochner.learned.relevance import relevance_of
from bochner.learned.training_data import Trend

N, STEP = 60, 1e-4


def some_draws(seed=0, d=4, degree=2, n_draws=3, m=6):
    """Return draws, rows, and the trend of their fixed columns."""
    rng = np.random.default_rng(seed)
    omega = 2.0 * rng.normal(size=(n_draws, m, d))
    omega[rng.random(omega.shape) < 0.5] = 0.0
    X = rng.normal(size=(N, d))
    trend = Trend.of(X, degree)
    coef = rng.normal(size=(n_draws, 2 * m + len(trend.kept)))
    return draws_of(omega, coef), X, trend


def draws_of(omega, coef):
    ones, size = np.ones(len(omega)), coef.shape[1]
    empty = np.empty((0, size, size), dtype=np.float32), np.empty(0, dtype=np.int64)
    return Draws(omega, coef, ones, ones, ones, *empty)


def found(draws, X, trend, weight=None):
    fixed = draws.coef[:, 2 * draws.omega.shape[1] :]
    return relevance_of(draws, trend.polynomial(fixed, X.shape[1]), X, weight)


def functions(draws, X, trend):
    """Return each draw's function at some places, by the code that predicts."""
    parts = [values for _, values in draws.activations(X.T, trend.columns(X).T)]
    return np.concatenate(parts, axis=1)


def by_differences(draws, X, trend):
    """Return mean squares of second differences, as shares."""
    d, unit = X.shape[1], STEP * np.eye(X.shape[1])

    def mean(Z):
        return functions(draws, Z, trend).mean(axis=0)

    curvature = np.zeros((d, d))
    for i, j in product(range(d), repeat=2):
        a, b = 5.0 * unit[i], 5.0 * unit[j]
        cross = mean(X + a + b) - mean(X + a - b) - mean(X - a + b) + mean(X - a - b)
        curvature[i, j] = np.mean((cross / (100 * STEP**2)) ** 2)
    return curvature / curvature.sum()


def by_averages(draws, X, trend):
    """Return inclusion and importance: functions with each row's value of one input in turn."""
    whole = functions(draws, X, trend)
    shares, sizes = [], []
    for i in range(X.shape[1]):
        averages = np.zeros_like(whole)
        for row in X:
            moved = X.copy()
            moved[:, i] = row[i]
            averages += functions(draws, moved, trend) / len(X)
        taken = np.mean((whole - averages) ** 2, axis=1)
        shares.append(np.minimum(taken / whole.var(axis=1), 1.0).mean())
        sizes.append(np.sqrt(taken.mean()))
    return shares, np.array(sizes) / np.sum(sizes)


def assert_relevance(*some):
    relevance = found(*some)
    inclusion, importance = by_averages(*some)
    assert_allclose(relevance.interactions, by_differences(*some), rtol=1e-4, atol=1e-6)
    assert_allclose(relevance.inclusion, inclusion, rtol=1e-9)
    assert_allclose(relevance.importance, importance, rtol=1e-9)


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("d", [1, 4])
def test_against_differences_and_averages(d, degree):
    assert_relevance(*some_draws(d=d, degree=degree))


@pytest.mark.parametrize("basis", [Windows(), Matched()], ids=["windows", "cosines"])
def test_amplitudes_count(basis):
    draws, X, trend = some_draws(d=2)
    rng = np.random.default_rng(4)
    numbers = rng.normal(size=(3, 6, 3))
    numbers[:, ::3, 1] = 0.0
    numbers[:, 1, :2] = 0.0
    omega = np.concatenate([draws.omega, numbers], axis=2)
    assert_relevance(replace(draws, omega=omega, basis=basis), X, trend)


def test_a_column_of_zeros_and_ones_counts_by_what_it_changes():
    """And not by how steep the function is between its values, of which no row tells."""
    omega = np.array([[[20.5 * np.pi, 0.0], [0.0, 1.0]]])
    coef = np.array([[0.0, 1.0, 0.0, 10.0, 0.0]])
    X = np.random.default_rng(5).normal(size=(500, 2))
    X[:, 0] = X[:, 0] > 0
    relevance = found(draws_of(omega, coef), X, Trend.of(X, 0))
    ratio = np.std(X[:, 0]) / (10.0 * np.std(np.sin(X[:, 1])))
    assert_allclose(relevance.importance[0] / relevance.importance[1], ratio, rtol=1e-9)


@pytest.mark.parametrize(("omega", "coef"), [(1.0, 0.0), (0.0, 1.0), (1e8, 1.0)])
def test_functions_of_nothing_and_of_noise_are_finite(omega, coef):
    draws, X, trend = some_draws(degree=0)
    relevance = found(draws_of(omega * draws.omega, coef * draws.coef), X, trend)
    for name in ("inclusion", "importance", "interactions"):
        assert np.isfinite(getattr(relevance, name)).all()
    nothing = omega * coef == 0.0
    assert_allclose(relevance.importance.sum(), 0.0 if nothing else 1.0)


def test_blocks_of_rows_have_the_relevance_of_the_whole(monkeypatch):
    parts = some_draws()
    whole = found(*parts)
    monkeypatch.setattr(relevance, "_MOST_NUMBERS", 24 * 7)  # Seven rows of d m numbers
    assert_allclose(found(*parts).interactions, whole.interactions)

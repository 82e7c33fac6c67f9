"""Observations that share rows: the model without merging them, and refits without one of them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner.kernels import Exponential, Laplacian, Matern
from bochner.tables import kernel_laws
from bochner.tables import kernel_search as search
from bochner.tables import observations as observations_module
from bochner.tables.kernel_search import error_and_gradient
from bochner.tables.leave_one_out import LearnedKernel, error_across
from bochner.tables.observations import Observations, Rows

RNG = np.random.default_rng(0)
N, ALPHA = 60, 0.4
CELL = RNG.integers(0, 9, N)
X = RNG.normal(size=(9, 2))[CELL]
Y = np.round(np.column_stack((np.sin(X[:, 0]), X[:, 1])) + 0.6 * RNG.normal(size=(N, 2)))
WEIGHTS = RNG.choice([0.5, 1.0, 2.5], N)
GROUPS = RNG.integers(0, 7, N)
ORDER = RNG.permutation(N)
COLUMNS = np.arange(2)
KERNEL = LearnedKernel(Exponential(1.3), ALPHA)


def observations(weighted=True, groups=None):
    weights = WEIGHTS / WEIGHTS.mean() if weighted else np.ones(N)
    return Observations.of(X, Y, weights, groups)


def unmerged(data):
    """The same observations, each with a row of the kernel matrix."""
    groups = None if data.groups is None else np.unique(data.groups[ORDER], return_inverse=True)[1]
    return Rows(data.X[ORDER], data.Y[ORDER], data.weights[ORDER], groups)


def refits(data, removed, landmarks=None):
    """Means and relative variances of each observation, by fits without those removed with it.

    The targets of each fit are less their mean.
    """
    means, variances = np.empty((N, 2)), np.empty(N)
    for i in range(N):
        kept = np.flatnonzero(removed != removed[i])
        centre = np.average(data.Y[kept], axis=0, weights=data.weights[kept])
        targets = data.Y[kept] - centre
        K = KERNEL(data.X[kept], data.X[kept]) + np.diag(ALPHA / data.weights[kept])
        k = KERNEL(data.X[i : i + 1], data.X[kept])
        if landmarks is not None:
            cross = KERNEL(landmarks, data.X[kept]) * data.weights[kept]
            inner = cross @ KERNEL(data.X[kept], landmarks) + ALPHA * KERNEL(landmarks, landmarks)
            coef = np.linalg.solve(inner, cross @ targets)
            means[i] = centre + (KERNEL(data.X[i : i + 1], landmarks) @ coef)[0]
            continue
        means[i] = centre + (k @ np.linalg.solve(K, targets))[0]
        variances[i] = 1.0 - (k @ np.linalg.solve(K, k.T))[0, 0] + ALPHA / data.weights[i]
    return means, variances


def scored(data, n_last=N):
    return data.scored(ORDER, n_last, np.zeros(n_last, dtype=int))


def check_exact(grouped=False, n_last=N):
    data = observations(groups=GROUPS if grouped else None)
    last = scored(data, n_last)
    law, (means, variances, noise), _ = kernel_laws.exact(
        "", KERNEL, data.rows(ORDER, n_last), COLUMNS, 9, last, 1
    )
    expected = refits(data, GROUPS if grouped else np.arange(N))
    assert_allclose(means, expected[0][last.units], rtol=1e-7)
    relative = expected[1][last.units, None]
    squares = (data.Y[last.units] - means) ** 2 / relative
    assert_allclose(law.signal, squares.mean(axis=0), rtol=1e-8)
    assert_allclose(noise, np.broadcast_to(law.signal * ALPHA, means.shape))
    if grouped or n_last == N:
        assert_allclose(variances, law.signal * relative, rtol=1e-7)


@pytest.mark.parametrize("grouped", [False, True])
def test_each_observation_is_left_out_by_itself(grouped):
    check_exact(grouped)


def test_observations_are_left_out_of_landmarks():
    data, landmarks = observations(), np.unique(X, axis=0)[:5]
    rows = data.rows(ORDER, N)
    order = np.array([np.flatnonzero((x == rows.X).all(axis=1))[0] for x in landmarks])
    rows = rows.part(np.r_[order, np.setdiff1d(np.arange(9), order)])
    last = scored(data)
    place = {tuple(x): i for i, x in enumerate(rows.X)}
    observed = replace(last.observed, cell=np.array([place[tuple(x)] for x in data.X[last.units]]))
    _, (means, *_) = kernel_laws.on_landmarks(
        "", KERNEL, rows, COLUMNS, (5, 0), replace(last, observed=observed), 1
    )
    expected, _ = refits(data, np.arange(N), landmarks)
    assert_allclose(means, expected[last.units], rtol=1e-6)


def check_gradient(kernel, grouped=False, weighted=True):
    data = observations(weighted, GROUPS if grouped else None)
    merged, apart = data.rows(ORDER), unmerged(data)
    assert len(merged) < len(apart) == merged.n_observations
    point = np.log([0.7, 1.5, ALPHA])
    for alpha in (1e-4, ALPHA):
        point[-1] = np.log(alpha)
        expected = error_and_gradient(kernel, point, apart)
        error, slope = error_and_gradient(kernel, point, merged)
        assert_allclose(error, expected[0], rtol=1e-5)
        assert_allclose(slope, expected[1], rtol=1e-3, atol=1e-5)
    point[-1] = np.log(9e-4)  # Just below single precision
    _, slope = error_and_gradient(kernel, point, merged)
    for step, expected in zip(1e-4 * np.eye(3), slope, strict=True):
        above, below = (error_and_gradient(kernel, point + s, merged)[0] for s in (step, -step))
        assert_allclose((above - below) / 2e-4, expected, rtol=1e-3, atol=1e-6)
    return merged, apart


@pytest.mark.parametrize("kernel", [Laplacian(0.8), Exponential(1.3), Matern(1.1, nu=2.5)])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_merging_changes_no_error_and_no_gradient(kernel, grouped, weighted):
    merged, apart = check_gradient(kernel, grouped, weighted)
    wrong = LearnedKernel(kernel, 5e-4)  # In double precision
    assert_allclose(wrong.left_out_error(merged), wrong.left_out_error(apart))
    assert search.noise_factor(wrong, merged) == search.noise_factor(wrong, apart)


def test_halves_are_those_of_the_observations():
    data = observations()
    merged, apart = data.rows(ORDER).halves(), unmerged(data).halves()
    for half, whole in zip(merged, apart, strict=True):
        assert half.n_observations == len(whole)
        assert_allclose(half.weights.sum(), whole.weights.sum())
        assert_allclose(KERNEL.left_out_error(half), KERNEL.left_out_error(whole))
    pair = (KERNEL, KERNEL)
    assert_allclose(error_across(pair, merged), error_across(pair, apart))


def check_labels():
    """Labels of many rows are those of np.unique."""
    rng = np.random.default_rng(0)
    table, tag = rng.integers(-1, 2, (300, 4)) * 1.0, rng.integers(0, 2, 300)
    table[table == 0.0] *= rng.choice([-1.0, 1.0], np.sum(table == 0.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observations_module, "_FEW_ROWS", 0)
        labels = observations_module.equal_rows(table, tag)
    _, expected = np.unique(np.column_stack((table, tag)), axis=0, return_inverse=True)
    pairs = np.unique(np.column_stack((labels, expected.ravel())), axis=0)
    assert_array_equal(np.sort(pairs[:, 0]), np.arange(len(pairs)))
    assert_array_equal(np.sort(pairs[:, 1]), np.arange(len(pairs)))


def test_equal_rows_of_many_have_equal_labels():
    check_labels()
    single = observations_module.equal_rows(np.arange(5.0)[:, None])
    assert_array_equal(np.sort(single), np.arange(5))

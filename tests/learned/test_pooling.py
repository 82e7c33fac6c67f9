"""Blocks of rows that chains leave out, and pooled draws: against their statements and algebra."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import expit
from scipy.stats import binom, chi2, hypergeom

from bochner.features.chunks import Units
from bochner.learned import learned_kernel
from bochner.learned.chain_models import BANK
from bochner.learned.chain_state import evidence_of
from bochner.learned.draws import drawn, stacked
from bochner.learned.learned_kernel import blocks_of, parts_of, pooled
from bochner.learned.training_data import ScaledData

K, M, KEPT = 3, 4, 5
NOISE = BANK.likelihood().noise


def rows(n=150, *, is_binary=False):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=n)
    weight = rng.uniform(0.5, 2.0, size=n)
    y = np.sign(y) if is_binary else y
    return ScaledData(X, y, -np.ones((n, 1)), weight, is_binary)


def chains(data):
    """Draws of three chains, one after the other."""
    rng, given = np.random.default_rng(5), data.rows()
    fits = [evidence_of(given, rng.normal(size=(M, 2)), 0.1 + i, NOISE) for i in range(K * KEPT)]
    return stacked([drawn(fit, None, 0.0, in_full=True) for fit in fits])


def design(omega, data):
    waves = [f(data.X @ w) for w in omega for f in (np.cos, np.sin)]
    return np.column_stack([*(np.array(waves) / np.sqrt(len(omega))), data.fixed])


def test_blocks_are_equal_parts_of_single_observations():
    units = Units(np.ones(6), np.array([7.0, 1.0, 30.0, 4.0, 2.0, 16.0]))
    left = blocks_of(np.random.default_rng(0), units, None, 4)
    assert_array_equal(left.sum(axis=0), [15, 15, 15, 15])
    assert_array_equal(left.sum(axis=1), units.counts)
    few = Units(units.weights, units.counts - [0.0, 0.0, 26.0, 0.0, 0.0, 15.0])
    assert blocks_of(np.random.default_rng(0), few, None, 4) is None


def assert_random_blocks(law=None):
    """Of twelve equal observations among forty, a half has a hypergeometric number, or ``law``."""
    units = Units(np.ones(2), np.array([12.0, 28.0]))
    rng = np.random.default_rng(0)
    found = [blocks_of(rng, units, None, 2)[0, 0] for _ in range(4000)]
    expected = 4000.0 * (law or hypergeom(40, 12, 20)).pmf(np.arange(13))
    likely = expected > 5.0
    counts = np.bincount(found, minlength=13)
    statistic = np.sum((counts - expected)[likely] ** 2 / expected[likely])
    assert chi2.sf(statistic, likely.sum() - 1) > 1e-3


def test_a_row_has_a_random_number_of_observations_in_a_block(monkeypatch):
    assert_random_blocks()
    monkeypatch.setattr(learned_kernel, "_MOST_PERMUTED", 39)
    assert_random_blocks(binom(12, 0.5))


def test_blocks_of_one_class_each_leave_no_row_out():
    """As they are by chance with few rows: nothing is scored then, and chains have all rows."""

    class InOrder:
        def permutation(self, rows):
            return rows

    codes = np.arange(12) % 2  # The rows of even number are the first block, and the first class
    units = Units(np.ones(12), np.ones(12))
    assert blocks_of(InOrder(), units, codes, 2) is None
    assert blocks_of(InOrder(), units, np.arange(12) // 6, 2) is not None


def test_no_class_is_missing():
    codes = np.zeros(90, dtype=float)
    codes[:8], codes[88] = 1.0, 2.0
    units = Units.of(None, 90)
    for seed in range(20):
        left = blocks_of(np.random.default_rng(seed), units, codes, 4)
        assert not left[88].any()
        for part in parts_of(np.random.default_rng(0), units, left):
            assert set(codes[part.rows]) == {0.0, 1.0, 2.0}


def test_pooled_draws_are_a_ridge_regression_of_greatest_evidence():
    """The normal equations of ridge regression, and the evidence at its maximum."""
    data = rows()
    draws = chains(data)
    found = pooled(np.random.default_rng(0), draws, data, K, 1)
    # 75 features for 150 rows: three draws of each chain, the last and every one before.
    chosen = [KEPT * k + place for k in range(K) for place in (4, 3, 2)]
    assert_array_equal(found.omega[0], draws.omega[chosen].reshape(-1, 2))
    Z = design(found.omega[0], data)
    penalty = np.append(np.full(Z.shape[1] - 1, found.precision[0]), 0.0)
    A = (Z.T * data.weight) @ Z + np.diag(penalty)
    assert_allclose(A @ found.coef[0], Z.T @ (data.weight * data.y), rtol=1e-8)
    inverse = np.linalg.inv(A)
    assert_allclose(found.whitener[0] @ found.whitener[0].T, inverse, rtol=1e-3, atol=1e-4)

    def loss(log_precision):
        return -evidence_of(
            data.rows(), found.omega[0], np.exp(log_precision), NOISE
        ).log_evidence()

    best = minimize_scalar(loss, bounds=(-10.0, 5.0), method="bounded")
    assert abs(np.log(found.precision[0]) - best.x) < 0.3
    assert loss(np.log(found.precision[0])) < best.fun + 0.05


def test_pooled_labels_are_at_their_mode():
    """The gradient of the log posterior of the weights is zero at the mode."""
    data = rows(is_binary=True)
    draws = chains(data)
    found = pooled(np.random.default_rng(0), draws, data, K, 1)
    Z = design(found.omega[0], data)
    penalty = np.append(np.full(Z.shape[1] - 1, found.precision[0]), 0.0)
    slope = Z.T @ (data.weight * (0.5 * (data.y + 1.0) - expit(Z @ found.coef[0])))
    assert_allclose(slope, penalty * found.coef[0], atol=0.3)
    chosen = [KEPT * k + place for k in range(K) for place in (4, 3, 2)]
    assert_allclose(np.log(found.precision[0]), np.log(draws.precision[chosen]).mean())

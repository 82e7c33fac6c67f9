"""Blocks of rows that chains leave out, and pooled draws: against their statements and algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import expit

from bochner.learning.inference import pooling
from bochner.learning.inference.draws import drawn, stacked
from bochner.learning.inference.evidence import evidence_of
from bochner.learning.inference.models import BANK
from bochner.learning.inference.pooling import blocks_of, parts_of, pooled
from bochner.learning.inference.training_data import ScaledData

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


def test_equal_rows_share_a_block_and_blocks_are_as_large_as_can_be():
    X = np.repeat(np.arange(40.0)[:, None], 3, axis=0)
    block = blocks_of(np.random.default_rng(0), X, None, 4)
    assert (block.reshape(40, 3) == block[::3, None]).all()
    assert_array_equal(np.bincount(block), [30, 30, 30, 30])
    assert (np.diff(block[::3]) != 0).any()
    assert blocks_of(np.random.default_rng(0), X[:57], None, 4) is None


def test_classes_are_spread_and_none_is_missing():
    codes = np.zeros(90, dtype=float)
    codes[:8], codes[88] = 1.0, 2.0
    block = blocks_of(np.random.default_rng(0), np.arange(90.0)[:, None], codes, 4)
    assert_array_equal(np.bincount(block[codes == 1.0]), [2, 2, 2, 2])
    assert block[88] == -1
    assert np.ptp(np.bincount(block[codes == 0.0])) <= 1
    for part in parts_of(np.random.default_rng(0), block, 4):
        assert set(codes[part]) == {0.0, 1.0, 2.0}


def test_chains_learn_from_at_most_so_many_rows_outside_of_their_block(monkeypatch):
    block = np.arange(30) % 3
    parts = parts_of(np.random.default_rng(0), block, 3)
    for own, part in enumerate(parts):
        assert_array_equal(part, np.flatnonzero(block != own))
    monkeypatch.setattr(pooling, "MOST_ROWS", 12)
    for own, part in enumerate(parts_of(np.random.default_rng(0), block, 3)):
        assert len(set(part)) == 12
        assert (block[part] != own).all()


def assert_pooled():
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


def assert_pooled_labels():
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


def test_pooled_draws_are_a_ridge_regression_of_greatest_evidence():
    assert_pooled()


def test_pooled_labels_are_at_their_mode():
    assert_pooled_labels()


@pytest.mark.parametrize("n", [47, 20])
def test_few_rows_keep_their_draws(n):
    draws = chains(rows())
    assert pooled(np.random.default_rng(0), draws, rows(n), K, 1) is draws

"""Draws: features, mean functions, spreads and whiteners against plain matrix algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from bochner._base import limits
from bochner.learned.chain_state import InverseGammaNoise, evidence_of
from bochner.learned.draws import drawn, stacked
from bochner.learned.frequency_priors import SparseHyper, SparsePrior
from bochner.learned.training_data import TrainingData

N, M, D = 40, 4, 2
NOISE = InverseGammaNoise(0.5, 1e-6)


def evidence(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(N, D)), rng.normal(size=N)
    rows = TrainingData.of(
        X, y, np.column_stack([np.ones(N), X[:, 0]]), rng.uniform(0.5, 2.0, size=N)
    )
    return evidence_of(rows, rng.normal(size=(M, D)), 0.3 + seed, NOISE)


def some_draws():
    prior = SparsePrior.start(SparseHyper(np.ones(D)))
    kept = [drawn(evidence(seed), prior, -float(seed), in_full=seed % 2 == 1) for seed in range(5)]
    return stacked(kept)


@pytest.fixture(scope="module")
def some():
    return some_draws()


def places(n=30):
    rng = np.random.default_rng(9)
    return rng.normal(size=(D, n)), rng.normal(size=(2, n))


def design(omega, inputs, fixed):
    columns = [f(inputs.T @ w) / np.sqrt(M) for w in omega for f in (np.cos, np.sin)]
    return np.column_stack([*columns, *fixed])


def test_whiteners_are_roots_of_the_covariance(some):
    for place, index in enumerate(some.whitened):
        root = some.whitener[place].astype(np.float64)
        assert_array_equal(root, np.triu(root))
        assert_allclose(root @ root.T, evidence(int(index)).covariance, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("block_bytes", [2**24, 1])
def test_activations_and_spreads_are_those_of_the_design(some, block_bytes, monkeypatch):
    monkeypatch.setattr(limits, "BLOCK_BYTES", block_bytes)
    inputs, fixed = places(150)
    activation, spread = np.empty((5, 150)), np.empty((2, 150))
    parts = []
    for part, values in some.activations(inputs, fixed):
        activation[:, part] = values
        parts.append(part)
    for part, values in some.spreads(inputs, fixed):
        spread[:, part] = values
    assert len(parts) == (1 if block_bytes > 1 else 3)
    for index in range(5):
        Z = design(some.omega[index], inputs, fixed)
        assert_allclose(activation[index], Z @ some.coef[index], atol=1e-12)
        assert_allclose(some.features(index, inputs, fixed), Z.T, atol=1e-14)
    for place, index in enumerate(some.whitened):
        Z = design(some.omega[index], inputs, fixed)
        expected = np.einsum("ij,jk,ik->i", Z, evidence(int(index)).covariance, Z)
        assert_allclose(spread[place], expected, rtol=1e-4)


def test_every_draw_is_picked_as_often_and_whitened_ones_with_themselves(some):
    rng = np.random.default_rng(0)
    picked = [some.pick(rng) for _ in range(5000)]
    means = np.bincount([mean for mean, _, _ in picked], minlength=5)
    assert stats.chisquare(means).pvalue > 1e-6
    indices = np.bincount([index for _, index, _ in picked], minlength=5)
    assert_array_equal(indices[[0, 2, 4]], 0)
    assert stats.binomtest(int(indices[1]), 5000).pvalue > 1e-6
    for mean, index, place in picked:
        assert some.whitened[place] == index
        assert mean not in (1, 3) or index == mean

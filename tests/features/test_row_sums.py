"""Sums over rows of features: blocks, dtypes and what they refuse."""

from dataclasses import fields

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from bochner import Frequencies
from bochner._base import limits
from bochner.features import FeatureSums, feature_sums
from bochner.features.chunks import Chunk
from bochner.features.parameters import median_distance
from bochner.features.row_sums import RunningSums

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 3)), RNG.normal(size=(30, 2))
WEIGHT = RNG.uniform(size=30)
F = Frequencies(RNG.normal(size=(5, 3)), np.full(5, 0.2))


def assert_same(first, second, rtol=1e-10):
    for field in fields(FeatureSums):
        assert_allclose(getattr(first, field.name), getattr(second, field.name), rtol=rtol)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_blocks_give_the_whole(weight, monkeypatch):
    whole = FeatureSums.from_rows(F.features(X), Y, weight)
    monkeypatch.setattr(limits, "SUMS_BLOCK_BYTES", 4 * 16 * 5)
    assert_same(feature_sums(F, X, Y, weight), whole)
    assert_same(feature_sums(F, sparse.csr_array(X), Y, weight), whole)


def test_rows_of_no_weight_count_for_nothing():
    weight = np.where(np.arange(30) < 10, WEIGHT, 0.0)
    assert_same(feature_sums(F, X, Y, weight), feature_sums(F, X[:10], Y[:10], WEIGHT[:10]))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_the_median_counts_pairs_of_distinct_rows(container):
    rows = container(np.array([[0.0], [0.0], [1.0], [3.0]]))
    # Distances of distinct rows: 1, 1, 3, 3, 2.
    assert_allclose(median_distance(rows, np.random.default_rng(0)), 2.0)


def test_the_median_of_weights_is_that_of_repetitions():
    rows = np.array([[0.0], [1.0], [3.0], [7.0]])
    weight = np.array([1.0, 3.0, 0.0, 2.0])
    repeated = np.repeat(rows, weight.astype(int), axis=0)
    rng = np.random.default_rng(0)
    assert median_distance(rows, rng, weight) == median_distance(repeated, rng) == 6.0


def test_sums_of_float32_features_are_made_in_float64():
    rng = np.random.default_rng(3)
    Z = (1.0 + 1e-3 * rng.normal(size=(5000, 3))).astype(np.float32)
    Y, weight = rng.normal(size=(5000, 2)), rng.uniform(size=5000)
    single = FeatureSums.from_rows(Z, Y, weight)
    double = FeatureSums.from_rows(Z.astype(np.float64), Y, weight)
    for field in fields(FeatureSums):
        found, expected = getattr(single, field.name), getattr(double, field.name)
        assert_allclose(found, expected, rtol=1e-13, err_msg=field.name)


def test_products_of_many_rows_in_float32_do_not_lose_the_last_ones():
    """Float32 sums of millions would drop numbers below one; those of some thousand rows do not."""
    products = RunningSums(2, 1)
    Z = np.full((4096, 2), 1.0, dtype=np.float32)
    Z[:, 1] = 0.1
    n_blocks, ones = 200, np.ones((4096, 1))
    for _ in range(n_blocks):
        products.add(Z.copy(), ones, Chunk(Z, ones))
    sums = products.sums()
    n, tenth = 4096 * n_blocks, float(np.float32(0.1))
    expected = n * np.array([[1.0, tenth], [tenth, tenth**2]])
    assert_allclose(sums.gram, expected, rtol=3e-6)
    assert_allclose(sums.cross[:, 0], n * np.array([1.0, tenth]), rtol=3e-6)

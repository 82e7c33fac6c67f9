"""What is known of the data when a measure is made."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

from bochner.kernels import Metric
from bochner.spectral.decompositions import DesignData

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 3)), RNG.normal(size=(20, 3)) + 2.0
THIN = np.where(np.abs(X) > 0.7, X, 0.0)


def data(left=None, right=None, distances=None):
    return DesignData(3, 64, left=left, right=right, distances=distances)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_the_reach_is_the_greatest_lag_of_each_input(form):
    for left, right in ((THIN, None), (THIN, Y), (Y, THIN)):
        given = None if right is None else form(right)
        lags = left[:, None] - (left if right is None else right)[None]
        assert_allclose(data(form(left), given).reach(), np.abs(lags).max(axis=(0, 1)))


def test_the_reach_of_distances_is_the_greatest_in_every_input():
    assert_array_equal(data(distances=np.array([[0.5, 2.0], [1.0, 0.0]])).reach(), [2.0, 2.0, 2.0])
    assert data().reach() is None
    assert data(distances=np.empty(0)).reach() is None
    assert data().pairs(Metric.EUCLIDEAN) is None


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_pairs_are_of_the_rows_of_both_arguments(form):
    alone = data(form(X)).pairs(Metric.EUCLIDEAN)
    both = data(form(X), form(Y)).pairs(Metric.EUCLIDEAN)
    every = np.concatenate([X, Y])
    assert alone.reach < both.reach
    # A bound: at most the diameter of a ball around the rows.
    assert cdist(every, every).max() <= both.reach * (1.0 + 1e-9)


def test_maps_are_of_either_argument():
    left, right = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2))
    lags = (X @ left)[:, None] - (Y @ right)[None]
    mapped = data(X, Y).mapped(left, right)
    assert_allclose(mapped.reach(), np.abs(lags).max(axis=(0, 1)))
    same = data(X).mapped(left, right)
    lags = (X @ left)[:, None] - (X @ right)[None]
    assert_allclose(same.reach(), np.abs(lags).max(axis=(0, 1)))
    assert data(distances=np.ones(3)).mapped(left, right).reach().tolist() == [1.0, 1.0]

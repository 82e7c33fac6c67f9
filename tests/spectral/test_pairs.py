"""Samples of pairs of rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from bochner.kernels import Metric
from bochner.spectral.profiles import Pairs

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
SPHERE = 2.5 * X / np.linalg.norm(X, axis=1, keepdims=True)
DISTANCES = {Metric.EUCLIDEAN: "euclidean", Metric.CITY_BLOCK: "cityblock"}


def of_rows(rows, metric, seed=0):
    return Pairs.of_rows(rows, metric, np.random.default_rng(seed))


@pytest.mark.parametrize("metric", DISTANCES)
def test_distances_are_quantiles_of_all_pairs(metric):
    pairs = of_rows(X, metric)
    every = pdist(X, DISTANCES[metric])
    assert_allclose(pairs.reach, every.max())
    assert len(pairs.distance) == 400
    assert np.isin(pairs.distance, every).all()
    levels = np.linspace(0.05, 0.95, 19)
    gap = np.quantile(pairs.distance, levels) - np.quantile(every, levels)
    assert np.abs(gap).max() < 0.01 * every.max()
    assert_allclose(np.mean(pairs.distance), every.mean(), rtol=1e-3)
    assert pairs.inner == ()


@pytest.mark.parametrize("rows", [X, SPHERE], ids=["anywhere", "one norm"])
def test_inner_products_and_distances_are_of_the_same_pairs(rows):
    pairs = of_rows(rows, Metric.INNER_PRODUCT)
    index = np.triu_indices(60, k=1)
    gram, distance = rows @ rows.T, squareform(pdist(rows))
    every = np.stack([gram[index], distance[index]], axis=1)
    for inner, between in zip(pairs.inner, pairs.distance, strict=True):
        assert np.abs(every - [inner, between]).max(axis=1).min() < 1e-9
    assert_allclose(np.mean(pairs.inner), gram[index].mean(), atol=0.02)
    assert_allclose(pairs.least_inner, gram[index].min())
    assert_allclose(pairs.reach, distance.max())
    assert_allclose(pairs.norm, np.linalg.norm(rows, axis=1).max())
    assert pairs.spherical == (rows is SPHERE)


def test_pairs_of_rows_with_themselves():
    pairs = of_rows(X, Metric.INNER_PRODUCT)
    square = np.sort(np.sum(X**2, axis=1))
    assert pairs.n_rows == 60
    assert len(pairs.squared_norms) == 20
    assert_allclose(pairs.squared_norms, square[1::3])
    few = of_rows(X[:4], Metric.INNER_PRODUCT)
    assert_allclose(few.squared_norms, np.sort(np.sum(X[:4] ** 2, axis=1)))
    distances = of_rows(X, Metric.EUCLIDEAN)
    assert (distances.squared_norms, distances.n_rows) == ((), 60)


@pytest.mark.parametrize("metric", Metric)
def test_sparse_rows_are_dense_rows(metric):
    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    dense, same = of_rows(thin, metric), of_rows(sparse.csr_array(thin), metric)
    assert_allclose(same.distance, dense.distance, atol=1e-7)
    assert_allclose(same.inner, dense.inner, atol=1e-12)


@pytest.mark.parametrize("metric", Metric)
def test_many_rows_make_no_more_pairs(metric):
    many = np.random.default_rng(1).normal(size=(5000, 3))
    pairs = of_rows(many, metric)
    assert len(pairs.distance) == 400
    # A thousand rows stand for five thousand.
    other = of_rows(many, metric, seed=1)
    assert pairs != other
    gap = np.sort(pairs.distance) - np.sort(other.distance)
    assert np.abs(gap).mean() < 0.05 * np.mean(pairs.distance)
    assert pairs == of_rows(many, metric)


def test_all_rows_have_a_part_in_the_greatest_norm():
    rows = np.ones((3000, 2))
    rows[1234] = 40.0
    pairs = of_rows(rows, Metric.INNER_PRODUCT)
    assert_allclose(pairs.norm, np.hypot(40.0, 40.0))
    assert not pairs.spherical


@pytest.mark.parametrize("metric", Metric)
@pytest.mark.parametrize("rows", [X[:1], np.zeros((4, 3)), np.tile(X[:1], (4, 1))])
def test_rows_without_distances(rows, metric):
    pairs = of_rows(rows, metric)
    assert_allclose(pairs.distance, 0.0, atol=1e-7)
    assert pairs.reach < 1e-7
    if metric is Metric.INNER_PRODUCT:
        assert_allclose(pairs.inner, pairs.norm**2)


def test_the_sphere_has_all_distances():
    pairs = Pairs.of_sphere()
    assert_allclose(pairs.distance, np.linspace(0.0, 2.0, 400))
    assert_allclose(pairs.inner, 1.0 - 0.5 * np.square(pairs.distance))
    assert (pairs.reach, pairs.norm, pairs.spherical) == (2.0, 1.0, True)


def test_distances_of_any_shape():
    pairs = Pairs.of_distances([[0.0, 3.0], [1.0, 2.0]], Metric.EUCLIDEAN)
    assert pairs.distance == (0.0, 1.0, 2.0, 3.0)
    assert Pairs.of_distances([], Metric.EUCLIDEAN).distance == (0.0,)


@pytest.mark.parametrize("bad", [[-1.0], [np.nan, 1.0], [np.inf]])
def test_impossible_distances_are_refused(bad):
    with pytest.raises(ValueError, match="distances must be finite and not negative"):
        Pairs.of_distances(bad, Metric.EUCLIDEAN)

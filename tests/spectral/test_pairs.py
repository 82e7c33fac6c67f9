"""Samples of pairs of rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
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
@pytest.mark.parametrize("rows", [X[:1], np.zeros((4, 3)), np.tile(X[:1], (4, 1))])
def test_rows_without_distances(rows, metric):
    pairs = of_rows(rows, metric)
    assert_allclose(pairs.distance, 0.0, atol=1e-7)
    assert pairs.reach < 1e-7
    if metric is Metric.INNER_PRODUCT:
        assert_allclose(pairs.inner, pairs.norm**2)


@pytest.mark.parametrize("bad", [[-1.0], [np.nan, 1.0], [np.inf]])
def test_impossible_distances_are_refused(bad):
    with pytest.raises(ValueError, match="distances must be finite and not negative"):
        Pairs.of_distances(bad, Metric.EUCLIDEAN)

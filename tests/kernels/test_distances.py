"""Distances of rows, against SciPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from bochner.kernels.distances import distances


@pytest.mark.parametrize("metric", ["cityblock", "euclidean", "sqeuclidean"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 7, 2), (40, 511, 9), (5, 1300, 33), (2, 0, 4)])
def test_distances_are_those_of_scipy(metric, shape):
    n, n2, dim = shape
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(n, dim)), np.exp(4.0 * rng.normal(size=(n2, dim)))
    expected = cdist(X, Y, metric)
    assert_allclose(distances(X, Y, metric), expected, rtol=1e-14)
    for rows in (X, Y):
        rows.setflags(write=False)
    turned = np.asfortranarray(np.hstack([X, X]))[:, :dim]
    assert_allclose(distances(turned, Y, metric), expected, rtol=1e-14)
    assert not distances(X, X, metric).diagonal().any()


def test_rows_of_other_widths_are_refused():
    with pytest.raises(ValueError, match="X has 3 columns, but Y has 2"):
        distances(np.zeros((4, 3)), np.zeros((4, 2)), "euclidean")


def levels(rng, n, counts=(2, 3, 12, 30)):
    """One-hot columns of which some level is in most rows, with scales and numbers between them."""
    blocks = [rng.normal(size=(n, 3))]
    for count in counts:
        share = np.append(0.8, np.full(count - 1, 0.2 / (count - 1)))
        blocks.append(np.eye(count)[rng.choice(count, n, p=share)] * rng.uniform(0.1, 3.0, count))
    return np.hstack([*blocks, rng.normal(size=(n, 1))])


@pytest.mark.thorough_cases("-120-cityblock")
@pytest.mark.parametrize("metric", ["cityblock", "euclidean", "sqeuclidean"])
@pytest.mark.parametrize("scale", [1e-120, 1.0, 1e120])
def test_columns_of_levels(metric, scale):
    rng = np.random.default_rng(0)
    table = scale * levels(rng, 300)
    X, Y = table[:100], table
    found = distances(X, Y, metric)
    assert_allclose(found, cdist(X, Y, metric), rtol=1e-12)
    assert (np.diagonal(found) == 0.0).all()
    again = distances(table[::-1], table[::-1], metric)[::-1, ::-1]
    assert_allclose(again[:100], found, rtol=1e-12)

"""Distances of rows, against SciPy."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from bochner._numerics.distances import distances


@pytest.mark.parametrize("metric", ["cityblock", "euclidean", "sqeuclidean"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 7, 2), (40, 511, 9), (5, 1300, 33), (2, 0, 4)])
def test_distances_are_those_of_scipy(metric, shape):
    n, n2, dim = shape
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(n, dim)), np.exp(4.0 * rng.normal(size=(n2, dim)))
    expected = cdist(X, Y, metric)
    np.testing.assert_allclose(distances(X, Y, metric), expected, rtol=1e-14)
    for rows in (X, Y):
        rows.setflags(write=False)
    turned = np.asfortranarray(np.hstack([X, X]))[:, :dim]
    np.testing.assert_allclose(distances(turned, Y, metric), expected, rtol=1e-14)
    assert not distances(X, X, metric).diagonal().any()


def test_rows_of_other_widths_are_refused():
    with pytest.raises(ValueError, match="X has 3 columns, but Y has 2"):
        distances(np.zeros((4, 3)), np.zeros((4, 2)), "euclidean")

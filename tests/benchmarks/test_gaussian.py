"""The benchmark of the Gaussian Gram matrix."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

from benchmarks import Cell, Options
from benchmarks.gaussian import GAUSSIAN, RBF_SAMPLER


def test_the_error_of_rbf_sampler_by_hand():
    """All 178 rows of wine are used, so the subsample is a mere order of rows."""
    X = scale(load_wine().data)
    distance = pairwise_distances(X)
    gamma = 0.5 / np.median(distance[np.triu_indices(len(X), k=1)]) ** 2
    exact = rbf_kernel(X, gamma=gamma)
    Z = RBFSampler(gamma=gamma, n_components=8 * 13, random_state=4).fit_transform(X)
    expected = np.linalg.norm(Z @ Z.T - exact) / np.linalg.norm(exact)
    cell = Cell("wine", RBF_SAMPLER, 4, {"features_per_input": 8})
    assert GAUSSIAN.run(cell, Options())["relative_error"] == pytest.approx(expected, rel=1e-9)

"""The benchmark of sampling schemes."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from benchmarks import Cell, Options, find
from benchmarks.schemes.benchmark import METHODS
from bochner import FourierFeatures, kernels


@pytest.mark.parametrize("method", METHODS)
def test_the_error_of_a_gram_matrix_by_hand(method):
    X = np.random.default_rng(3).standard_normal((600, 2))
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    X /= np.median(distances[np.triu_indices(600, 1)])
    exact = RBF(1.0)(X)
    gram = FourierFeatures(kernels.Gaussian(1.0), 16, scheme=method, random_state=3).fit(X).gram(X)
    cell = Cell("Gaussian", method, 3, {"part": "gram", "inputs": 2, "features": 16})
    found = find("schemes").run(cell, Options())
    expected = np.linalg.norm(gram - exact) / np.linalg.norm(exact)
    assert found["relative_error"] == pytest.approx(expected, rel=1e-6)
    assert found["seconds"] > 0.0

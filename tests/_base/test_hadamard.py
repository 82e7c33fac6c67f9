"""The compiled loop against products with SciPy's Hadamard matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import hadamard

from bochner.spectral.hadamard import HadamardRows


@pytest.mark.parametrize("n_rounds", [1, 2, 3])
@pytest.mark.parametrize(
    ("order", "dim", "m"),
    [(1, 1, 3), (2, 1, 2), (4, 3, 9), (8, 8, 8), (32, 20, 1), (64, 64, 100), (512, 300, 700)],
)
def test_the_loop_multiplies_with_signs_and_hadamard_matrices(order, dim, m, n_rounds):
    rng = np.random.default_rng(order)
    signs = rng.choice((-1, 1), size=(-(-m // order), n_rounds, order)).astype(np.int8)
    X, scale = rng.normal(size=(5, dim)), rng.normal(size=m)
    values = np.zeros((5, len(signs), order))
    values[:, :, :dim] = X[:, None, :]
    for r in range(n_rounds):
        values = (values * signs[:, r]) @ hadamard(order) / np.sqrt(order)
    expected = values.reshape(5, -1)[:, :m] * scale
    assert_allclose(
        HadamardRows(signs, scale, np.ones(dim)).angles(X), expected, rtol=0.0, atol=4e-14
    )

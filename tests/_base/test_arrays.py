"""The Cholesky factor that survives rounding."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner._base.arrays import jittered_cholesky

RNG = np.random.default_rng(0)


def test_a_singular_matrix_is_changed_by_rounding_only():
    root = RNG.normal(size=(30, 3))
    matrix = 1e6 * root @ root.T
    before = matrix.copy()
    lower = jittered_cholesky(matrix)
    assert_allclose(lower @ lower.T, matrix, atol=1e-12 * np.trace(matrix))
    assert_allclose(matrix, before, rtol=0.0, atol=0.0)


def test_an_indefinite_matrix_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        jittered_cholesky(np.diag([1.0, -0.1]))

"""The value object of rows held by Hadamard blocks; its laws are in tests/laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from bochner.spectral import Directions, Iid, Structured
from bochner.spectral.hadamard import HadamardRows

RNG = np.random.default_rng(0)
SIGNS = RNG.choice((-1, 1), size=(2, 3, 8))
ROWS = HadamardRows(SIGNS, RNG.normal(size=11), RNG.normal(size=6))
X = RNG.normal(size=(4, 6))


def test_rows_and_columns_are_scaled():
    factor, divisor = RNG.normal(size=(11, 1)), RNG.uniform(1.0, 2.0, size=6)
    assert_allclose(np.asarray(ROWS * factor), np.asarray(ROWS) * factor, atol=1e-15)
    assert_allclose(np.asarray(ROWS / divisor), np.asarray(ROWS) / divisor, atol=1e-15)
    assert_allclose(np.asarray(ROWS / np.array(2.0)), np.asarray(ROWS) / 2.0, atol=1e-15)


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_is_dense(container):
    thin = np.where(X > 0.5, X, 0.0)
    assert_array_equal(ROWS.angles(container(thin)), ROWS.angles(thin))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SIGNS[0], np.ones(8), np.ones(6)), r"signs must have shape \(b, q, D\)"),
        ((SIGNS[:, :, :6], np.ones(8), np.ones(6)), "D a power of two"),
        ((0 * SIGNS, np.ones(16), np.ones(6)), "signs must be 1 and -1"),
        ((0.5 + SIGNS, np.ones(16), np.ones(6)), "signs must be 1 and -1"),
        ((SIGNS, np.ones(8), np.ones(6)), "2 blocks of order 8 have no 8 rows"),
        ((SIGNS, np.ones(17), np.ones(6)), "have no 17 rows"),
        ((SIGNS, np.ones(16), np.ones(9)), "and 9 columns"),
        ((SIGNS, np.ones(16), np.ones(0)), "and 0 columns"),
        ((SIGNS, np.full(16, np.nan), np.ones(6)), "row_scale must be finite"),
        ((SIGNS, np.ones((16, 1)), np.ones(6)), r"row_scale must have shape \(16,\)"),
    ],
)
def test_bad_arrays_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        HadamardRows(*arguments)


def test_only_structured_directions_in_many_inputs_are_held():
    rng = np.random.default_rng(0)
    assert isinstance(Structured().sample((Directions(64),), 9, rng)[0], HadamardRows)
    assert isinstance(Structured().sample((Directions(63),), 9, rng)[0], np.ndarray)
    assert isinstance(Iid().sample((Directions(64),), 9, rng)[0], np.ndarray)

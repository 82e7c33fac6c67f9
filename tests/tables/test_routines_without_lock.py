"""Routines of LAPACK and BLAS that let other threads go on, next to plain products of matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner.tables import leave_one_out as unlocked

RNG = np.random.default_rng(0)
PRECISION = {np.float32: 1e-4, np.float64: 1e-12}
KINDS = pytest.mark.parametrize("kind", PRECISION)
SIZES = pytest.mark.parametrize("n", [0, 1, 7])


def columns(n_rows, n, kind):
    return np.asfortranarray(RNG.normal(size=(n_rows, n)).astype(kind))


def positive(n, kind):
    root = columns(n + 3, n, kind)
    return np.asfortranarray(root.T @ root + np.eye(n, dtype=kind))


@KINDS
@SIZES
def test_a_factor_and_the_inverse_of_it(n, kind):
    matrix = positive(n, kind)
    factor = matrix.copy(order="F")
    assert unlocked.factorise(factor)
    lower = np.tril(factor)
    assert_allclose(lower @ lower.T, matrix, rtol=PRECISION[kind], atol=PRECISION[kind])
    assert_array_equal(np.triu(factor, 1), np.triu(matrix, 1))
    unlocked.invert_factor(factor)
    inverse = np.tril(factor) + np.tril(factor, -1).T
    assert_allclose(inverse @ matrix, np.eye(n), atol=20.0 * PRECISION[kind])
    assert_array_equal(np.triu(factor, 1), np.triu(matrix, 1))


@KINDS
@SIZES
def test_solutions_take_the_place_of_the_right_hand_side(n, kind):
    matrix, right = positive(n, kind), columns(n, 2, kind)
    found = right.copy(order="F")
    assert unlocked.solve_system(matrix.copy(order="F"), found)
    assert_allclose(matrix @ found, right, rtol=PRECISION[kind], atol=20.0 * PRECISION[kind])


def test_a_matrix_that_is_not_positive_definite_has_no_factor():
    matrix = np.asfortranarray([[1.0, 2.0], [2.0, 1.0]])
    assert not unlocked.factorise(matrix.copy(order="F"))
    assert not unlocked.solve_system(matrix, np.ones((2, 1), order="F"))


@KINDS
@SIZES
@pytest.mark.parametrize("n_rows", [0, 1, 5])
def test_products_of_columns(n_rows, n, kind):
    a, b, start = columns(n_rows, n, kind), columns(n_rows, n, kind), columns(n, n, kind)
    found = unlocked.products_of_columns(a)
    assert_allclose(found, np.tril(a.T @ a), rtol=PRECISION[kind], atol=PRECISION[kind])
    sums, rows = start.copy(order="F"), np.asfortranarray(a.T)
    unlocked.add_products_of_rows(sums, rows, 0.5)
    expected = np.tril(start + 0.5 * a.T @ a) + np.triu(start, 1)
    assert_allclose(sums, expected, rtol=PRECISION[kind], atol=PRECISION[kind])
    total = start.copy(order="F")
    unlocked.add_products(total, a, b, -0.5)
    expected = start + np.tril(-0.5 * (a.T @ b + b.T @ a))
    assert_allclose(total, expected, rtol=PRECISION[kind], atol=PRECISION[kind])


def test_matrices_in_another_order_are_refused():
    with pytest.raises(ValueError, match="Fortran"):
        unlocked.factorise(np.ascontiguousarray(positive(3, np.float64)[:, ::2]))

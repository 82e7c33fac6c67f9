"""Kernels of projected inputs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from bochner.kernels import NTK, Bilinear, Cauchy, CoshGaussian, Gaussian, Hellinger, Matern

RNG = np.random.default_rng(0)
LEFT, RIGHT = RNG.normal(size=(3, 2)).round(2), RNG.normal(size=(5, 2)).round(2)
X, Y = RNG.normal(size=(9, 3)), RNG.normal(size=(6, 5))


def test_one_matrix_serves_both_sides():
    kernel = Bilinear(Matern(), LEFT)
    assert kernel == Bilinear(Matern(), LEFT, LEFT.copy())
    assert hash(kernel) == hash(Bilinear(Matern(), LEFT, LEFT.copy()))
    assert kernel.is_symmetric
    assert_array_equal(kernel.diag(X), 1.0)
    assert not Bilinear(Matern(), LEFT, LEFT + 1e-9).is_symmetric
    assert not Bilinear(CoshGaussian(), LEFT).is_symmetric
    assert Bilinear(CoshGaussian(beta=-1.0), LEFT) == Bilinear(CoshGaussian(), LEFT).T


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_the_diagonal_is_found_in_blocks(n):
    rows = RNG.normal(size=(n, 3))
    kernel = Bilinear(Cauchy() + CoshGaussian(), LEFT, -LEFT[::-1])
    assert_allclose(kernel.diag(rows), np.diagonal(kernel(rows)), rtol=1e-12)


def test_kernels_of_different_widths_have_no_symmetric_part():
    with pytest.raises(ValueError, match="3 inputs on the left and 5 on the right cannot be symm"):
        _ = Bilinear(Gaussian(), LEFT, RIGHT).symmetrised


def test_nested_maps_are_products_of_matrices():
    inner = Bilinear(Gaussian(), RNG.normal(size=(2, 4)), RNG.normal(size=(3, 4)))
    right = RNG.normal(size=(5, 3))
    outer = Bilinear(inner, LEFT, right)
    together = Bilinear(Gaussian(), LEFT @ inner.left, right @ inner.right)
    assert_allclose(outer(X, Y), together(X, Y), rtol=1e-11)
    assert outer == outer.T.T


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_the_domain_is_that_of_the_products(form):
    left, right = np.eye(3)[:, :2], -np.eye(5)[:, :2]
    for kernel in (Bilinear(Hellinger(), left, right), 2.0 * Bilinear(Hellinger(), left, right)):
        good, below = (
            np.array([[1.0, 2.0, -3.0]] * 2),
            np.array([[1.0, 2.0, 0.0], [1.0, -2.0, 0.0]]),
        )
        kernel.check_inputs(form(good))
        with pytest.raises(ValueError, match=r"products X @ left: .* row 1 has -2 in column 1"):
            kernel.check_inputs(form(below))
        kernel.check_right_inputs(form(np.array([[-1.0, 0.0, 5.0, 5.0, -5.0]])))
        with pytest.raises(ValueError, match=r"products Y @ right: .* row 0 has -1 in column 0"):
            kernel.check_right_inputs(form(np.ones((2, 5))))
        with pytest.raises(ValueError, match="products Y @ right"):
            kernel(good, np.ones((2, 5)))
        with pytest.raises(ValueError, match=r"products X @ left: .* row 0 has -1"):
            kernel.T.check_inputs(form(np.ones((2, 5))))
    with pytest.raises(ValueError, match=r"products X @ right: .* row 0 has -1"):
        Bilinear(Hellinger(), left, -left).diag(np.ones((2, 3)))


def test_the_diagonal_is_refused_where_the_arguments_have_different_widths():
    kernel = Bilinear(Gaussian(), LEFT, RIGHT)
    for call in (kernel, kernel.diag):
        with pytest.raises(ValueError, match="right argument of this Bilinear kernel has 5 inputs"):
            call(X)
    with pytest.raises(ValueError, match=r"left argument .* has 3 inputs .* data have 5"):
        kernel(Y, Y)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bilinear("gaussian", LEFT), "Bilinear needs a Kernel"),
        (lambda: Bilinear(Gaussian(), [1.0, 2.0]), r"left must be a matrix .* got shape \(2,\)"),
        (lambda: Bilinear(Gaussian(), 1.0), r"left must be a matrix .* got shape \(\)"),
        (lambda: Bilinear(Gaussian(), np.ones((2, 0))), "both positive"),
        (lambda: Bilinear(Gaussian(), LEFT, np.ones((2, 2, 2))), "right must be a matrix"),
        (lambda: Bilinear(Gaussian(), LEFT * np.nan), "left must be finite"),
        (lambda: Bilinear(Gaussian(), LEFT, RIGHT[:, :1]), r"shape \(3, 2\) and right \(5, 1\)"),
        (lambda: Bilinear(Gaussian((1.0, 2.0, 3.0)), LEFT), "3 entries, but the data have 2"),
        (lambda: Bilinear(NTK(), np.eye(3))(X), "products X @ left: .* unit sphere"),
    ],
)
def test_bad_values_are_refused(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()

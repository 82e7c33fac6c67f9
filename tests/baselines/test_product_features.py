"""Random Maclaurin, tensorised projections and TensorSketch: unbiased, with known variances."""

import numpy as np
import pytest
from laws.registry import check_mean
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare

from bochner import kernels
from bochner._base import limits
from bochner.baselines import RandomMaclaurin, TensorizedRandomProjection, TensorSketch
from bochner.baselines.polynomial_features import polynomial_form

FAMILY_ALPHA = 1e-3
"""Chance that one test, over all of its pairs, rejects a right implementation."""

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 6, 3)) * 0.7
ALPHA = FAMILY_ALPHA / len(X)
SPHERE_X, SPHERE_Y = (rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (X, Y))
N_SEEDS, N_COMPONENTS = 300, 40

POSITIVE = [
    kernels.Polynomial(1, offset=0.0),
    kernels.Polynomial(2, offset=0.0),
    kernels.Polynomial(2, offset=1.5),
    kernels.Polynomial(3, offset=0.5),
    kernels.SphericalPolynomial(3, a=2.5),
]
COEFFICIENTS = [[0.0, 0.0, 2.0], [0.3, -1.0, 0.0, 0.5]]


def rows_for(kernel):
    return (SPHERE_X, SPHERE_Y) if isinstance(kernel, kernels.SphericalPolynomial) else (X, Y)


def exact(kernel):
    """Kernel values of the pairs of rows."""
    left, right = rows_for(kernel)
    if isinstance(kernel, list):
        return np.polynomial.polynomial.polyval(np.einsum("ij,ij->i", left, right), kernel)
    return np.diagonal(kernel(left, right))


def products(make, kernel):
    """Signed products of the features of pairs, of shape (seeds, pairs, features)."""
    left, right = rows_for(kernel)
    found = []
    for seed in range(N_SEEDS):
        map = make(kernel, N_COMPONENTS, random_state=seed).fit(left)
        found.append(map.transform(left) * map.signature_ * map.transform(right))
    return np.array(found)


def second_moment(left, right):
    """E[(s.x)^2 (s.y)^2] of a vector s of fair signs."""
    inner = np.einsum("ij,ij->i", left, right)
    norms = np.einsum("ij,ij->i", left, left) * np.einsum("ij,ij->i", right, right)
    return norms + 2.0 * inner**2 - 2.0 * np.einsum("ij,ij->i", left**2, right**2)


@pytest.mark.parametrize("make", [RandomMaclaurin, TensorizedRandomProjection, TensorSketch])
@pytest.mark.parametrize("kernel", POSITIVE, ids=repr)
def test_the_estimate_is_unbiased(make, kernel):
    check_mean(products(make, kernel).sum(axis=2), exact(kernel), ALPHA)


@pytest.mark.parametrize("kernel", [kernels.Polynomial(2, -0.5), *COEFFICIENTS], ids=repr)
def test_random_maclaurin_is_unbiased_with_signs(kernel):
    check_mean(products(RandomMaclaurin, kernel).sum(axis=2), exact(kernel), ALPHA)


@pytest.mark.parametrize("kernel", POSITIVE, ids=repr)
def test_the_second_moment_of_tensorised_projections(kernel):
    squares = (N_COMPONENTS * products(TensorizedRandomProjection, kernel)) ** 2
    gamma, constant, degree = polynomial_form(kernel)
    left, right = (
        np.hstack([np.sqrt(gamma) * rows, np.full((len(rows), 1), np.sqrt(constant))])
        for rows in rows_for(kernel)
    )
    check_mean(squares.mean(axis=2), second_moment(left, right) ** degree, ALPHA)


@pytest.mark.parametrize("kernel", [[1.0, 2.0, 0.0, 0.5], [0.0, 0.0, 2.0]], ids=repr)
@pytest.mark.parametrize("base", [2.0, 3.0])
def test_the_second_moment_of_random_maclaurin(kernel, base):
    def make(*arguments, **keywords):
        return RandomMaclaurin(*arguments, base=base, **keywords)

    squares = (N_COMPONENTS * products(make, kernel)) ** 2
    support = np.flatnonzero(kernel)
    probability = base ** -(support + 1.0)
    probability /= probability.sum()
    moment = second_moment(X, Y)
    expected = sum(
        kernel[n] ** 2 / q * moment**n for n, q in zip(support, probability, strict=True)
    )
    check_mean(squares.mean(axis=2), expected, ALPHA)


@pytest.mark.parametrize("base", [2.0, 1.5])
def test_degrees_are_geometric_on_the_support(base):
    map = RandomMaclaurin([1.0, 0.0, -2.0, 3.0], 5000, base=base, random_state=0).fit(X)
    counts = np.bincount(map.degrees_, minlength=4)
    assert counts[1] == 0
    weight = base ** -np.array([1.0, 3.0, 4.0])
    expected = 5000 * weight / weight.sum()
    assert chisquare(counts[[0, 2, 3]], expected).pvalue > FAMILY_ALPHA
    assert_array_equal(map.signature_, np.where(map.degrees_ == 2, -1.0, 1.0))


@pytest.mark.parametrize(
    "kernel",
    [*POSITIVE, kernels.Polynomial(3, offset=-1.0), kernels.SphericalPolynomial(4)],
    ids=repr,
)
def test_coefficients_are_those_of_the_kernel(kernel):
    coefficients = RandomMaclaurin(kernel, 4).fit(X).coefficients_
    left, right = rows_for(kernel)
    u = np.einsum("ij,ij->i", left, right)
    assert_allclose(np.polynomial.polynomial.polyval(u, coefficients), exact(kernel), rtol=1e-10)


def test_a_homogeneous_kernel_has_no_constant_column():
    without, with_one = (
        TensorizedRandomProjection(kernels.Polynomial(2, offset), 4).fit(X).projections_
        for offset in (0.0, 1.0)
    )
    assert [p.shape for p in without] == [(4, 3)] * 2
    assert [p.shape for p in with_one] == [(4, 4)] * 2


@pytest.mark.parametrize("make", [RandomMaclaurin, TensorizedRandomProjection, TensorSketch])
def test_gram_is_the_signed_product(make):
    map = make(kernels.SphericalPolynomial(2), 16, random_state=0).fit(X)
    expected = map.transform(X) * map.signature_ @ map.transform(Y).T
    assert_allclose(map.gram(X, Y), expected, rtol=1e-12)
    assert_allclose(map.gram(X), map.gram(X, X), rtol=1e-12)
    assert map.gram(X.astype(np.float32)).dtype == np.float32


def test_blocks_of_rows_are_the_whole(monkeypatch):
    map = TensorSketch(n_components=8, random_state=0).fit(X)
    whole = map.transform(X)
    monkeypatch.setattr(limits, "BLOCK_BYTES", 2 * 16 * 8 * 3)
    assert_allclose(map.transform(X), whole, atol=1e-12)


@pytest.mark.parametrize("make", [RandomMaclaurin, TensorizedRandomProjection, TensorSketch])
def test_seeds_repeat_and_names_resolve(make):
    first, second, third = (
        make("spherical_polynomial", 16, random_state=seed).fit_transform(X) for seed in (1, 1, 2)
    )
    assert_array_equal(first, second)
    assert np.abs(first - third).max() > 0.1

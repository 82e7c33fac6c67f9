"""Kernels of one number at their edges: small angles, the ends of domains, what they refuse."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.preprocessing import Normalizer

from bochner import kernels
from bochner.kernels import (
    NTK,
    TL1,
    ArcCosine,
    DeltaGaussian,
    DotProduct,
    NonNegative,
    Polynomial,
    Profiled,
    Radial,
    SphericalPolynomial,
    Tanh,
    UnitSphere,
)
from bochner.kernels.kernel_names import kernel_called, named_kernel

X = np.random.default_rng(0).normal(size=(9, 3))
ON_SPHERE = Normalizer().fit_transform(X)
SPHERICAL = [SphericalPolynomial(2), SphericalPolynomial(3, 2.5), ArcCosine(0), ArcCosine(1), NTK()]


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-6, 1e-3])
def test_arc_cosine_kernels_keep_their_digits_at_small_angles(angle):
    near = np.array([[math.cos(angle), math.sin(angle)]])
    at = np.array([[1.0, 0.0]])
    fall = 1.0 - ArcCosine(0)(at, near)[0, 0]
    assert_allclose(fall, angle / np.pi, rtol=1e-6, atol=1e-16)


@pytest.mark.parametrize("kernel", SPHERICAL, ids=repr)
def test_rounded_rows_are_on_the_sphere_and_opposite_ones_two_apart(kernel):
    k0 = kernel.profile(np.zeros(1))[0]
    for rows in (ON_SPHERE, ON_SPHERE.astype(np.float32), (1 + 9e-6) * ON_SPHERE):
        K = kernel(rows, -rows)
        assert_allclose(np.diagonal(K), kernel.profile(np.array([2.0]))[0], atol=1e-2 * k0)
        assert_array_equal(np.diagonal(kernel(rows)), k0)
        assert_array_equal(kernel.diag(rows), k0)


@pytest.mark.parametrize(
    ("domain", "rows", "message"),
    [
        (
            UnitSphere(),
            X,
            r"row 0 has norm 0\.6658\d+\. .*Normalizer\(\), or use DotProduct\(function\)",
        ),
        (UnitSphere(), ON_SPHERE + 1e-4, "row 0 has norm"),
        (UnitSphere(), 1.00002 * ON_SPHERE, r"row 0 has norm 1\.00002"),
        (UnitSphere(), 0.99998 * ON_SPHERE, r"row 0 has norm 0\.99998"),
        (UnitSphere(), np.vstack([ON_SPHERE, 0 * X]), r"row 9 has norm 0\. "),
        (NonNegative(), [[1, 0], [2, -0.5]], r"row 1 has -0\.5 in column 1.*MinMaxScaler\(clip="),
        (NonNegative(), [[0, 0], [3, -1e-30]], r"row 1 has -1e-30 in column 1"),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_rows_outside_a_domain_are_named(domain, rows, message, form):
    with pytest.raises(ValueError, match=message):
        domain.check(form(np.asarray(rows, dtype=float)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DeltaGaussian(tau1=0.0), "tau1 must be positive"),
        (lambda: DeltaGaussian(tau2=np.inf), "tau2 must be positive and finite"),
        (lambda: DeltaGaussian(2, 2.0), "tau1 and tau2 must differ"),
        (lambda: TL1(-1.0), "tau must be positive"),
        (lambda: SphericalPolynomial(0), "degree must be at least 1"),
        (lambda: SphericalPolynomial(2, 1.9), "a must be at least 2, .*got 1.9"),
        (lambda: Polynomial(-2), "degree must be at least 1"),
        (lambda: Polynomial(2, np.nan), "offset must be finite"),
        (lambda: Tanh(np.inf), "scale must be finite"),
        (lambda: ArcCosine(2), "order must be 0 or 1, got 2"),
        (lambda: ArcCosine(True), "order must be 0 or 1, got True"),
        (lambda: Radial(lambda z: 1.0 / z)(X), r"returned inf at the distance 0\.0; "),
        (
            lambda: Radial(lambda z: np.where(z == 5.0, np.nan, z))([[0.0, 0.0]], [[0, 1], [3, 4]]),
            r"returned nan at the distance 5\.0; it must be finite at every distance",
        ),
        (lambda: DotProduct(np.log)(X), r"Dot.*\(log\) returned nan at the inner product -"),
        (lambda: DotProduct(np.log).diag([[1.0], [0.0]]), r"returned -inf at .* 0\.0;"),
        (lambda: Radial(lambda z: z + 0j)(X), "real numbers, got complex128"),
        (lambda: Radial(lambda z: z.astype(str))(X), "real numbers, got <U"),
        (lambda: Radial(lambda z: 1.0)(X), r"shape \(9, 9\) into \(\)\. .*array of the same shape"),
        (lambda: Radial(lambda z: z[0])(X), r"shape \(9, 9\) into \(9,\)"),
        (lambda: Radial(lambda z: math.exp(-z))(X), "failed: .*with an array .*numpy.vectorize"),
        (lambda: DotProduct(lambda u: max(u, 0))(X), "failed: .*inner products .*vectorize"),
        (lambda: kernel_called("ntkk", 2), "Did you mean 'ntk'"),
        (lambda: kernel_called("gausian", 2), "Did you mean 'gaussian'"),
        (lambda: named_kernel("arcosine1"), "Did you mean 'arccosine1'"),
        (lambda: named_kernel("?"), "Names: gaussian, .*cosh_gaussian.*;"),
        (
            lambda: named_kernel("tl1"),
            "'tl1' is not made from a length scale, .*that are: gaussian, ",
        ),
    ],
)
def test_bad_values_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: DeltaGaussian("1"),
        lambda: TL1(None),
        lambda: TL1((1.0, 2.0)),
        lambda: SphericalPolynomial(2.0),
        lambda: Polynomial(True),
        lambda: Polynomial(2, "1"),
        lambda: Tanh(1j),
        lambda: Tanh(offset=False),
        lambda: Radial("cos"),
        lambda: DotProduct(np.ones(3)),
        lambda: Profiled(),
        lambda: kernels.Domain(),
    ],
)
def test_bad_types_are_refused(make):
    with pytest.raises(TypeError):
        make()

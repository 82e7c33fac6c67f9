"""Kernels as functions of one number."""

import numpy as np
import pytest
from laws.references import reference_gram
from laws.registry import bump, odd
from numpy.testing import assert_allclose

from bochner import kernels
from bochner.kernels import (
    NTK,
    TL1,
    ArcCosine,
    DeltaGaussian,
    DotProduct,
    Exponential,
    Gaussian,
    Hellinger,
    Laplacian,
    Matern,
    Metric,
    NonNegative,
    Polynomial,
    Radial,
    RationalQuadratic,
    RealSpace,
    SphericalPolynomial,
    Tanh,
    UnitSphere,
)
from bochner.spectral import profile

RNG = np.random.default_rng(0)
X, Y = np.abs(RNG.normal(size=(2, 7, 3)))
X /= np.linalg.norm(X, axis=1, keepdims=True)
Y /= np.linalg.norm(Y, axis=1, keepdims=True)
EUCLIDEAN = [
    Gaussian(0.7),
    Exponential(0.7),
    Matern(0.7, nu=0.8),
    RationalQuadratic(0.7, alpha=0.3),
    DeltaGaussian(0.5, 2.0),
    Radial(bump),
    Gaussian() - 0.5 * Matern(3.0),
    2.0 * (Gaussian() * (Exponential() + Radial(bump))),
]
CITY_BLOCK = [Laplacian(0.4), TL1(1.3), TL1(1.0) - 0.5 * Laplacian(2.0) * Laplacian(0.5)]
INNER = [Polynomial(2), Tanh(0.5, 0.1), DotProduct(odd), Tanh() * Polynomial(1) - DotProduct(odd)]
SPHERE = [
    SphericalPolynomial(2),
    ArcCosine(0),
    ArcCosine(1),
    NTK(),
    NTK() + Gaussian(),
    # On the sphere inner products are distances, too.
    NTK() - 0.5 * Polynomial(2),
    Gaussian() * Tanh() * ArcCosine(1),
]
CASES = [
    *((kernel, Metric.EUCLIDEAN, RealSpace()) for kernel in EUCLIDEAN),
    *((kernel, Metric.CITY_BLOCK, RealSpace()) for kernel in CITY_BLOCK),
    *((kernel, Metric.INNER_PRODUCT, RealSpace()) for kernel in INNER),
    *(
        (kernel, Metric.INNER_PRODUCT, NonNegative())
        for kernel in (Hellinger(), Hellinger() * Tanh())
    ),
    *((kernel, Metric.EUCLIDEAN, UnitSphere()) for kernel in SPHERE),
]


@pytest.mark.parametrize(("kernel", "metric", "domain"), CASES, ids=str)
def test_the_profile_of_the_pairs_is_the_kernel(kernel, metric, domain):
    found = profile(kernel)
    assert (found.metric, found.domain) == (metric, domain)
    t = metric.pairs(X, Y)
    assert_allclose(found.function(t), reference_gram(kernel, X, Y), rtol=1e-8, atol=1e-11)
    assert found.function(t.reshape(7, 1, 7)).shape == (7, 1, 7)


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian((1.0, 2.0, 3.0)),
        Laplacian((1.0, 2.0, 3.0)),
        kernels.Cauchy(1.0),
        kernels.Anova(Gaussian(), 0.5),
        kernels.SpectralMixture([1.0], [[0.0] * 3], [1.0]),
        Gaussian() + Laplacian(),
        Gaussian() * Tanh(),
        TL1(1.0) + NTK(),
        NTK() * Hellinger(),
        Gaussian() - kernels.Cauchy(),
        -2.0 * kernels.Cauchy(),
        "gaussian",
    ],
    ids=str,
)
def test_kernels_of_more_than_one_number_have_none(kernel):
    assert profile(kernel) is None

"""Kernels as functions of one number."""

import numpy as np
import pytest
from laws.references import reference_gram
from laws.registry import bump, odd
from numpy.testing import assert_allclose

from bochner import kernels
from bochner.spectral.profiles import profile

RNG = np.random.default_rng(0)
X, Y = np.abs(RNG.normal(size=(2, 7, 3)))
X /= np.linalg.norm(X, axis=1, keepdims=True)
Y /= np.linalg.norm(Y, axis=1, keepdims=True)
EUCLIDEAN = [
    kernels.Gaussian(0.7),
    kernels.Exponential(0.7),
    kernels.Matern(0.7, nu=0.8),
    kernels.RationalQuadratic(0.7, alpha=0.3),
    kernels.DeltaGaussian(0.5, 2.0),
    kernels.Radial(bump),
    kernels.Gaussian() - 0.5 * kernels.Matern(3.0),
    2.0 * (kernels.Gaussian() * (kernels.Exponential() + kernels.Radial(bump))),
]
CITY_BLOCK = [
    kernels.Laplacian(0.4),
    kernels.TL1(1.3),
    kernels.TL1(1.0) - 0.5 * kernels.Laplacian(2.0) * kernels.Laplacian(0.5),
]
INNER = [
    kernels.Polynomial(2),
    kernels.Tanh(0.5, 0.1),
    kernels.DotProduct(odd),
    kernels.Tanh() * kernels.Polynomial(1) - kernels.DotProduct(odd),
]
SPHERE = [
    kernels.SphericalPolynomial(2),
    kernels.ArcCosine(0),
    kernels.ArcCosine(1),
    kernels.NTK(),
    kernels.NTK() + kernels.Gaussian(),
    # On the sphere inner products are distances, too.
    kernels.NTK() - 0.5 * kernels.Polynomial(2),
    kernels.Gaussian() * kernels.Tanh() * kernels.ArcCosine(1),
]
CASES = [
    *((kernel, kernels.Metric.EUCLIDEAN, kernels.RealSpace()) for kernel in EUCLIDEAN),
    *((kernel, kernels.Metric.CITY_BLOCK, kernels.RealSpace()) for kernel in CITY_BLOCK),
    *((kernel, kernels.Metric.INNER_PRODUCT, kernels.RealSpace()) for kernel in INNER),
    *(
        (kernel, kernels.Metric.INNER_PRODUCT, kernels.NonNegative())
        for kernel in (kernels.Hellinger(), kernels.Hellinger() * kernels.Tanh())
    ),
    *((kernel, kernels.Metric.EUCLIDEAN, kernels.UnitSphere()) for kernel in SPHERE),
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
        kernels.Gaussian((1.0, 2.0, 3.0)),
        kernels.Laplacian((1.0, 2.0, 3.0)),
        kernels.Cauchy(1.0),
        kernels.Anova(kernels.Gaussian(), 0.5),
        kernels.SpectralMixture([1.0], [[0.0] * 3], [1.0]),
        kernels.Gaussian() + kernels.Laplacian(),
        kernels.Gaussian() * kernels.Tanh(),
        kernels.TL1(1.0) + kernels.NTK(),
        kernels.NTK() * kernels.Hellinger(),
        kernels.Gaussian() - kernels.Cauchy(),
        -2.0 * kernels.Cauchy(),
        "gaussian",
    ],
    ids=str,
)
def test_kernels_of_more_than_one_number_have_none(kernel):
    assert profile(kernel) is None

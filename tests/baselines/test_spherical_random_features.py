"""Spherical random features: what they fit, and what their features estimate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import nnls
from scipy.special import gamma, jv
from scipy.stats import multivariate_normal, norm

from bochner import kernels
from bochner.baselines import SphericalRandomFeatures

ALPHA = 1e-3
"""Chance that the test of unbiasedness rejects a right implementation."""

Z = np.linspace(0.0, 2.0, 201)
POLYNOMIALS = [kernels.SphericalPolynomial(degree) for degree in (1, 2, 3)]


def fitted(kernel, dim, **parameters):
    parameters = {"n_components": 2, "random_state": 0} | parameters
    return SphericalRandomFeatures(kernel, **parameters).fit(np.eye(2, dim))


def least_error(atoms, values):
    """The least root mean square error of a positive sum of atoms that is exact at zero."""
    weight = np.full(len(Z), 1.0 / (len(Z) - 1))
    weight[[0, -1]] *= 0.5
    weight[0] += 1e4
    root = np.sqrt(weight)
    amplitude, _ = nnls(atoms * root[:, None], values * root, maxiter=100_000)
    error = atoms @ amplitude - values
    return np.sqrt(np.mean(error[1:] ** 2))


def shells(dim):
    """The kernels of frequencies of one length, by Bessel's function."""
    u = np.maximum(np.outer(Z, np.geomspace(0.05, 60.0, 500)), 1e-4)
    order = dim / 2.0 - 1.0
    return gamma(dim / 2.0) * (2.0 / u) ** order * jv(order, u)


GAUSSIANS = np.exp(-np.outer(Z**2, np.geomspace(1e-2, 1e2, 500)))


@pytest.mark.parametrize("density", ["clipped", "mixture"])
@pytest.mark.parametrize("dim", [1, 2, 5, 64, 1000])
def test_a_gaussian_is_recovered(density, dim):
    features = fitted(kernels.Gaussian(0.7), dim, density=density)
    assert features.fit_error_ < 1e-4
    assert_allclose(features.profile(Z), np.exp(-(Z**2) / (2.0 * 0.7**2)), atol=1e-3)
    if density == "mixture":
        amplitudes, rates = features.amplitudes_, features.rates_
        assert_allclose(amplitudes @ rates / amplitudes.sum(), 0.5 / 0.7**2, rtol=1e-2)


def test_a_mixture_is_recovered():
    kernel = 0.7 * kernels.Gaussian(0.4) + 1.6 * kernels.Gaussian(1.5)
    features = fitted(kernel, 5, density="mixture")
    assert features.fit_error_ < 1e-3
    terms = features.amplitudes_ @ np.exp(-np.outer(features.rates_, Z**2))
    assert_allclose(terms, features.profile(Z), atol=1e-3)
    assert_allclose(terms, kernel([[0.0]], Z[:, None])[0], atol=5e-3)


@pytest.mark.parametrize("kernel", [*POLYNOMIALS, kernels.NTK()], ids=repr)
def test_a_mixture_is_as_near_as_positive_least_squares(kernel):
    least = least_error(GAUSSIANS, kernel.profile(Z))
    assert least > 0.02
    assert_allclose(fitted(kernel, 5, density="mixture").fit_error_, least, rtol=0.02)


@pytest.mark.parametrize("kernel", [*POLYNOMIALS, kernels.NTK()], ids=repr)
@pytest.mark.parametrize("dim", [2, 16])
def test_a_clipped_density_is_almost_as_near_as_any_positive_measure(kernel, dim):
    least = least_error(shells(dim), kernel.profile(Z))
    error = fitted(kernel, dim).fit_error_
    assert 0.97 * least < error < 1.35 * least
    assert error < least_error(GAUSSIANS, kernel.profile(Z))


@pytest.mark.parametrize("density", ["clipped", "mixture"])
def test_the_profile_is_the_transform_of_the_positive_part_of_the_density(density):
    features = fitted(kernels.SphericalPolynomial(2), 3, density=density, radius=1.0)
    laws = [multivariate_normal(np.zeros(3), 2.0 * rate) for rate in features.rates_]

    def integrand(r, z):
        at = np.array([r, 0.0, 0.0])
        signed = sum(c * law.pdf(at) for c, law in zip(features.amplitudes_, laws, strict=True))
        return 4.0 * np.pi * r**2 * max(signed, 0.0) * np.sinc(r * z / np.pi)

    if density == "clipped":
        assert features.amplitudes_.min() < 0.0
    # Radii are on a grid of steps of one hundredth, and a clipped density has narrow peaks.
    mass = quad(integrand, 0.0, 40.0, args=(0.0,), limit=400)[0]
    assert_allclose(mass, 1.0, rtol=0.02)
    for z in (0.4, 1.1, 1.9, 3.0):
        expected = quad(integrand, 0.0, 40.0, args=(z,), limit=400)[0]
        assert_allclose(features.profile([z])[0], expected / mass, atol=5e-3)


@pytest.mark.parametrize("density", ["clipped", "mixture"])
def test_features_are_unbiased_for_the_profile(density):
    dim, n_seeds, m = 5, 12, 400
    rng = np.random.default_rng(0)
    X, Y = (rows / np.linalg.norm(rows, axis=1)[:, None] for rows in rng.normal(size=(2, 12, dim)))
    distance = np.linalg.norm(X - Y, axis=1)
    parameters = {"n_components": 2 * m, "n_starts": 1, "n_gaussians": 3, "density": density}
    error = variance = 0.0
    for seed in range(n_seeds):
        features = fitted(kernels.NTK(), dim, **parameters, random_state=seed)
        mean, twice = features.profile(distance), features.profile(2.0 * distance)
        mass = features.profile([0.0])[0]
        error = error + np.diagonal(features.gram(X, Y)) - mean
        # One pair of features is mass * cos(omega . delta).
        variance = variance + (0.5 * mass * (mass + twice) - mean**2) / m
    z = error / np.sqrt(variance)
    assert np.abs(z).max() < norm.isf(ALPHA / (2 * len(z)))


def test_the_diagonal_is_exact():
    features = fitted(kernels.NTK(), 4, n_components=64)
    X = np.random.default_rng(0).normal(size=(5, 4))
    assert_allclose(np.diagonal(features.gram(X)), 2.0, rtol=1e-12)
    assert_allclose(features.signature_, 1.0)


@pytest.mark.parametrize(
    ("kernel", "same"),
    [
        (kernels.Polynomial(2, offset=1.0), 4.0 * kernels.SphericalPolynomial(2)),
        (kernels.SphericalPolynomial(2), lambda z: (1.0 - z**2 / 4.0) ** 2),
        ("spherical_polynomial", kernels.SphericalPolynomial(2)),
    ],
)
def test_one_function_given_in_two_ways(kernel, same):
    first, second = (fitted(k, 4, n_starts=1) for k in (kernel, same))
    assert_allclose(first.profile(Z), second.profile(Z), atol=1e-2)
    assert_allclose(first.fit_error_, second.fit_error_, rtol=1e-2)


def test_the_radius_scales_distances():
    unit = fitted(kernels.Exponential(0.5), 3, n_starts=1)
    wide = fitted(kernels.Exponential(2.0), 3, n_starts=1, radius=4.0)
    assert_allclose(wide.profile(4.0 * Z), unit.profile(Z), atol=1e-3)
    assert_allclose(wide.profile(4.0 * Z), np.exp(-2.0 * Z), atol=0.04)
    mixture = fitted(kernels.Gaussian(2.0), 3, n_starts=1, radius=4.0, density="mixture")
    terms = mixture.amplitudes_ @ np.exp(-np.outer(mixture.rates_, (4.0 * Z) ** 2))
    assert_allclose(terms, mixture.profile(4.0 * Z), atol=1e-3)


def test_a_kernel_that_is_not_positive_at_zero_gets_features_of_zero():
    with pytest.warns(UserWarning, match="not positive at distance zero"):
        features = fitted(kernels.DeltaGaussian(), 3)
    exact = kernels.DeltaGaussian().profile(Z)
    assert_allclose(features.fit_error_, np.sqrt(np.mean(exact**2)), rtol=1e-2)
    assert not features.transform(np.eye(3)).any()
    assert not features.amplitudes_.any()

"""Positive features: their mean, variance, maps and precisions, against quadrature and search."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import trapezoid
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from bochner.spectral import Iid
from bochner.spectral.positive_measure import PositiveMeasure, best_precision

DIMS = (1, 2, 5)
N_PAIRS = 12
LIMIT = float(norm.isf(0.5e-3 / N_PAIRS))
"""Largest z-score: a family-wise error of one in a thousand for the pairs of one test."""


def relative_variance(mu, X, Y, m):
    r"""Return variances (n, n2) of :math:`\hat k / k` from ``m`` iid frequencies, m even.

    .. math:: \frac 2m \Big[ \tfrac12 |S (2 - S)|^{-1/2}\, e^{-\|z\|^2}
              \big(e^{2 z^\top (2 - S)^{-1} z} + 1\big) - 1 \Big]

    for :math:`m/2` pairs of opposite frequencies, which is
    :math:`(2/m)(\cosh \|z\|^2 - 1)` with :math:`S = 1`.
    """
    u = X @ mu.left - mu.centre_left
    v = Y @ mu.right - mu.centre_right
    z = u[:, None] + v[None]
    S = mu.precision
    constant = -0.5 * np.log(S * (2.0 - S)).sum() - (z**2).sum(axis=2)
    second = 0.5 * (np.exp(constant + 2.0 * (z**2 / (2.0 - S)).sum(axis=2)) + np.exp(constant))
    return (second - 1.0) * (2.0 / m)


def measure(d, seed=0):
    """A measure with everything that it may have: maps, centres and precisions."""
    rng = np.random.default_rng(seed)
    left = np.eye(d) + 0.3 * rng.normal(size=(d, d))
    right = np.linalg.inv(left).T / 1.7
    centres = 0.3 * rng.normal(size=(2, d))
    return PositiveMeasure(left, right, *centres, rng.uniform(0.6, 1.0, d))


def rows(d, seed=1):
    """Queries and keys off the axes, with kernels from below one to above it."""
    X, Y = np.random.default_rng(seed).normal(size=(2, 4, d)) * 0.6 / np.sqrt(d)
    return X, Y[:3]


def assert_mean(d):
    mu, (X, Y) = measure(d), rows(d)
    exact, m = np.exp(X @ Y.T / 1.7), 200_000
    found = mu.sample(m, np.random.default_rng(2), Iid()).gram(X, Y)
    z = (found / exact - 1.0) / np.sqrt(relative_variance(mu, X, Y, m))
    assert np.abs(z).max() < LIMIT


@pytest.mark.parametrize("d", DIMS)
def test_estimates_are_unbiased(d):
    assert_mean(d)


@pytest.mark.parametrize("d", DIMS)
def test_dependent_frequencies_are_unbiased_and_vary_less(d):
    mu, (X, Y) = measure(d), rows(d)
    m = 4 * d
    rng = np.random.default_rng(3)
    estimates = np.stack([mu.sample(m, rng, "orthogonal").gram(X, Y) for _ in range(400)])
    estimates /= np.exp(X @ Y.T / 1.7)
    error = estimates.std(axis=0) / np.sqrt(len(estimates))
    assert np.abs((estimates.mean(axis=0) - 1.0) / error).max() < LIMIT
    assert np.mean(estimates.var(axis=0) / relative_variance(mu, X, Y, m)) < 1.0


def second_moments(S, z):
    """Return E f(w)^2 and E f(w) f(-w) of one coordinate by quadrature, the mean being one."""
    w = np.linspace(-20.0, 20.0, 4001)
    ratio = norm.pdf(w) ** 2 / norm.pdf(w, scale=S**-0.5)
    return [trapezoid(ratio * np.exp(tilt * w * z - z * z), w) for tilt in (2.0, 0.0)]


def assert_variance(d):
    mu, (X, Y) = measure(d), rows(d)
    found = relative_variance(mu, X, Y, 10)
    z = (X @ mu.left - mu.centre_left)[:, None] + (Y @ mu.right - mu.centre_right)[None]
    for i, j in np.ndindex(found.shape):
        each = [second_moments(S, t) for S, t in zip(mu.precision, z[i, j], strict=True)]
        own, opposite = np.prod(each, axis=0)
        assert_allclose(found[i, j], (0.5 * (own + opposite) - 1.0) / 5.0, rtol=1e-8)


@pytest.mark.parametrize("d", DIMS)
def test_the_variance_is_that_of_quadrature(d):
    assert_variance(d)


@pytest.mark.parametrize("d", DIMS)
def test_estimates_vary_as_much_as_is_said(d):
    mu, (X, Y) = measure(d), rows(d)
    rng = np.random.default_rng(4)
    m, n = 20, 4000
    estimates = mu.sample(m * n, rng, Iid())
    # Frequency j and its opposite are half of all apart: take both for each estimate.
    left, right = np.exp(estimates.log_features(X)), np.exp(estimates.log_features_right(Y))
    terms = n * np.einsum("il,jl->lij", left, right) / np.exp(X @ Y.T / 1.7)
    pairs = terms[: m * n // 2] + terms[m * n // 2 :]
    sums = pairs.reshape(n, m // 2, *pairs.shape[1:]).sum(axis=1)
    square = (sums - 1.0) ** 2
    error = square.std(axis=0) / np.sqrt(n)
    z = (square.mean(axis=0) - relative_variance(mu, X, Y, m)) / error
    assert np.abs(z).max() < LIMIT


def test_precisions_are_the_best():
    for size in (0.0, 1e-6, 0.3, 1.0, 20.0, 1e6):

        def mean_log(S, size=size):
            return -0.5 * np.log(S) - 0.5 * np.log(2.0 - S) + 2.0 * size / (2.0 - S)

        S = float(best_precision(np.array([size]))[0])
        found = minimize_scalar(mean_log, bounds=(1e-9, 1.5), method="bounded")
        assert mean_log(S) <= found.fun + 1e-9 * (1.0 + abs(found.fun))


def assert_maps(d):
    """Maps are inverse to each other, and no others make the rows' squares smaller."""
    rng = np.random.default_rng(5)
    mixing = rng.normal(size=(d, d))
    X, Y = rng.normal(size=(300, d)) @ mixing + 3.0, rng.normal(size=(200, d)) - 1.0
    mu = PositiveMeasure.adapted(X, Y, 0.5)
    assert_allclose(mu.left @ mu.right.T, np.eye(d) / 0.5, atol=1e-10)
    assert_allclose((X @ mu.left).mean(axis=0), mu.centre_left, atol=1e-10)
    assert_allclose((Y @ mu.right).mean(axis=0), mu.centre_right, atol=1e-10)
    covariances = []
    for rows in (X, Y):
        plain = np.atleast_2d(np.cov(rows.T, bias=True))
        covariances.append(plain + np.trace(plain) / d * np.eye(d))

    def size(M):
        others = mu.left @ M, mu.right @ np.linalg.inv(M).T
        return sum(np.trace(A.T @ C @ A) for A, C in zip(others, covariances, strict=True))

    least = size(np.eye(d))
    for scale in (1e-3, 0.1):
        for _ in range(20):
            assert size(np.eye(d) + scale * rng.normal(size=(d, d))) >= least * (1.0 - 1e-12)


@pytest.mark.parametrize("d", DIMS)
def test_maps_make_squares_least(d):
    assert_maps(d)


def test_equal_rows_have_a_measure():
    mu = PositiveMeasure.adapted(np.ones((4, 2)), np.ones((3, 2)))
    assert_allclose(relative_variance(mu, np.ones((1, 2)), np.ones((1, 2)), 2), 0.0, atol=1e-12)


CHECKS = tuple(partial(check, 2) for check in (assert_mean, assert_variance, assert_maps))

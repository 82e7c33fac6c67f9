"""Features with those of landmarks: their covariance is the exact kernel there, and on average."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats

from bochner import kernels, spectral_measure
from bochner.features.landmarks import ResidualFeatures

FAMILY_ALPHA = 1e-6
RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(60, 2)), RNG.normal(size=(6, 2))
KERNELS = [
    kernels.Gaussian(1.2),
    kernels.Matern((0.8, 1.5), nu=1.5),
    2.5 * kernels.Laplacian(1.0),
    kernels.SpectralMixture([0.7, 0.5], [[1.0, 0.0], [0.0, 2.0]], [0.5, 0.1]),
]
every = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def features_of(kernel, n_landmarks=25, m=12):
    frequencies = spectral_measure(kernel, 2).sample(m, 0)
    return ResidualFeatures.of(frequencies, kernel, X, n_landmarks, np.random.default_rng(1))


@every
def test_the_kernel_is_exact_between_a_landmark_and_any_row(kernel):
    features = features_of(kernel)
    assert features.landmarks.shape == (25, 2)
    at, new = features.features(features.landmarks), features.features(NEW)
    assert at.shape == (25, features.n_features)
    assert_allclose(at @ at.T, kernel(features.landmarks), atol=1e-9)
    assert_allclose(new @ at.T, kernel(NEW, features.landmarks), atol=1e-9)


@every
def test_elsewhere_the_features_are_conditioned_on_the_landmarks(kernel):
    """The covariance is that of Matheron's rule, by dense algebra."""
    features = features_of(kernel)
    L, f = features.landmarks, features.frequencies
    solved = np.linalg.solve(kernel(L), kernel(L, NEW))
    changed = f.features(NEW) - solved.T @ f.features(L)
    expected = kernel(NEW, L) @ solved + changed @ changed.T
    Z = features.features(NEW)
    assert_allclose(Z @ Z.T, expected, atol=1e-8)


@pytest.mark.thorough
@every
def test_the_covariance_is_unbiased(kernel):
    n = 400
    found, measure, given = np.empty((n, 6, 6)), spectral_measure(kernel, 2), features_of(kernel, 8)
    for seed in range(n):
        drawn = measure.sample(4, seed, "iid")
        projected = np.linalg.solve(given.lower, drawn.features(given.landmarks))
        Z = replace(given, frequencies=drawn, projected=projected).features(NEW)
        found[seed] = Z @ Z.T
    z = (found.mean(axis=0) - kernel(NEW)) / (found.std(axis=0, ddof=1) / np.sqrt(n))
    assert np.abs(z).max() < stats.norm.isf(FAMILY_ALPHA / 72)


def test_landmarks_are_the_pivots_of_greatest_variance():
    kernel = kernels.Matern(1.0)
    features, K = features_of(kernel, 10), kernel(X)
    left = K.copy()
    for landmark in features.landmarks:
        variance = np.diagonal(left)
        row = int(np.argmin(np.sum((X - landmark) ** 2, axis=1)))
        assert_allclose(variance[row], variance.max(), rtol=1e-9)
        left = left - np.outer(left[row], left[row]) / left[row, row]
    assert_allclose(features.lower @ features.lower.T, kernel(features.landmarks), atol=1e-12)


def test_sparse_is_dense_and_types_are_kept():
    features, thin = features_of(KERNELS[1]), np.where(np.abs(NEW) > 0.5, NEW, 0.0)
    dense = features.features(thin)
    assert_allclose(features.features(sparse.csr_array(thin)), dense, rtol=1e-14)
    out = np.empty(dense.shape, np.float32)
    assert features.features(thin, np.float32, out) is out
    assert_allclose(out, dense, atol=1e-6)


@every
def test_parts_are_the_same_function(kernel):
    features = features_of(kernel)
    coef = RNG.normal(size=(features.n_features, 3))
    waves, near = features.split(coef)
    expected = features.features(NEW) @ coef
    values = features.frequencies.features(NEW) @ waves + kernel(NEW, features.landmarks) @ near
    assert_allclose(values, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (kernels.Gaussian() - 0.5 * kernels.Gaussian(0.5), "needs a positive definite kernel"),
        (lambda X, Y: X @ Y.T, "of bochner.kernels, got .*lambda"),
        (0.0 * kernels.Gaussian(), "is zero on all rows"),
    ],
)
def test_other_kernels_are_refused(kernel, message):
    found = kernel if isinstance(kernel, kernels.Kernel) else kernels.Gaussian()
    measure = spectral_measure(found if "zero" not in message else kernels.Gaussian(), 2)
    with pytest.raises(ValueError, match=message):
        ResidualFeatures.of(measure.sample(4, 0), kernel, X, 5, np.random.default_rng(0))


def test_a_negative_eigenvalue_on_the_rows_is_refused():
    frequencies = spectral_measure(kernels.Gaussian(), 2).sample(4, 0)
    with pytest.raises(ValueError, match="has a negative eigenvalue on these rows"):
        ResidualFeatures.of(frequencies, kernels.TL1(1.0), X, 60, np.random.default_rng(0))

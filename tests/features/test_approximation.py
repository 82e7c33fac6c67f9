"""From kernels and data to frequencies: designed measures and least-squares weights."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import chi2_kernel, cosine_similarity

from bochner import FourierFeatures
from bochner.kernels import NTK, TL1, Cauchy, DeltaGaussian, Gaussian, Laplacian, Matern, Tanh

RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(400, 5))) / 2.0
NEW = np.abs(RNG.normal(size=(150, 5))) / 2.0
SPHERE, NEW_SPHERE = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (X, NEW))
INDEFINITE = [
    (DeltaGaussian(0.5, 3.0), X, NEW),
    (TL1(2.5), X, NEW),
    (Tanh(), X, NEW),
    (NTK(), SPHERE, NEW_SPHERE),
]


def name(value):
    return "" if isinstance(value, np.ndarray) else str(value)[:30]


def fitted(kernel, rows=X, n_components=128, **parameters):
    parameters = {"weights": "least_squares", "random_state": 0, **parameters}
    return FourierFeatures(kernel, n_components, **parameters).fit(rows)


def error(features, kernel, rows):
    """The relative Frobenius error on rows that had no part in the fit."""
    with warnings.catch_warnings(
        action="ignore", category=UserWarning
    ):  # some rows may lie outside the region
        gram = features.gram(rows)
    exact = kernel(rows, rows)
    return np.linalg.norm(gram - exact) / np.linalg.norm(exact)


@pytest.mark.thorough
@pytest.mark.parametrize(("kernel", "rows", "new"), INDEFINITE, ids=name)
def test_fitted_weights_are_better_on_new_rows(kernel, rows, new):
    sampled = FourierFeatures(kernel, 128, random_state=0).fit(rows)
    features = fitted(kernel, rows)
    assert_array_equal(features.frequencies_.omega, sampled.frequencies_.omega)
    assert error(features, kernel, new) < error(sampled, kernel, new)
    # Half an order of magnitude: some of the new rows are farther out than any seen.
    assert 0.3 < features.fit_error_ / error(features, kernel, new) < 3.0
    assert (features.max_error_, features.predicted_error_) == (None, None)
    assert sampled.fit_error_ is None
    assert sampled.max_error_ > 0.0


@pytest.mark.parametrize(
    "kernel", [Gaussian(0.7), Matern(0.5), Laplacian() * Cauchy(), Gaussian() + Matern()], ids=str
)
def test_weights_of_positive_measures_stay_nonnegative(kernel):
    features = fitted(kernel)
    assert features.frequencies_.weight.min() >= 0.0
    assert_array_equal(features.signature_, 1.0)
    sampled = FourierFeatures(kernel, 128, random_state=0).fit(X)
    assert error(features, kernel, NEW) < error(sampled, kernel, NEW)


def additive(X, Y):
    """A kernel of which the library knows nothing: neither stationary nor of inner products."""
    return np.sqrt(X) @ np.sqrt(Y).T + np.exp(-np.abs(X[:, None] - Y[None]).sum(axis=-1))


@pytest.mark.parametrize("kernel", [cosine_similarity, chi2_kernel, additive])
def test_functions_that_return_gram_matrices_are_fitted(kernel):
    with warnings.catch_warnings(action="error"):
        features = fitted(kernel, n_components=256)
        assert features.transform(NEW).shape == (150, 256)
    assert features.kernel_ is kernel
    assert features.fit_error_ < 0.2
    assert error(features, kernel, NEW) < 2.0 * features.fit_error_
    Z, signature = features.transform(NEW), features.signature_
    assert_allclose(features.gram(NEW), (Z * signature) @ Z.T, atol=1e-10)
    assert -1.0 in signature


def test_functions_need_fitted_weights():
    message = r"(?s)weights='least_squares'.*Radial\(function\) or DotProduct\(function\)"
    with pytest.raises(TypeError, match=message):
        FourierFeatures(cosine_similarity).fit(X)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X, Y: np.full((len(X), len(Y)), np.nan), "not finite"),
        (lambda X, Y: np.full((len(X), len(Y)), np.inf), "not finite"),
        (lambda X, Y: np.ones(len(X)), r"shape \(400, 400\).*got \(400,\)"),
        (lambda X, Y: np.ones((3, 3)), r"shape \(400, 400\).*got \(3, 3\)"),
    ],
)
def test_functions_that_are_no_kernels_are_refused(function, message):
    with pytest.raises(ValueError, match=message):
        fitted(function)


def test_a_bad_fit_is_called_so():
    def same(X, Y):
        return (X[:, None] == Y[None]).all(axis=-1).astype(float)

    with pytest.warns(UserWarning, match=r"approximate the kernel badly: relative error 0\.[5-9]"):
        features = fitted(same, n_components=16)
    assert features.fit_error_ > 0.5


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kernel", "decomposition"),
    [
        (DeltaGaussian(0.5, 3.0), "jordan"),
        (Gaussian(), "designed"),
        (TL1(2.0) * Gaussian(), "auto"),
    ],
    ids=str,
)
def test_weights_are_fitted_to_frequencies_of_any_measure(kernel, decomposition):
    features = fitted(kernel, decomposition=decomposition)
    sampled = FourierFeatures(kernel, 128, decomposition=decomposition, random_state=0).fit(X)
    assert error(features, kernel, NEW) < error(sampled, kernel, NEW)

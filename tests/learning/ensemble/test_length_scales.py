"""Length scales learned by leave-one-out errors, against fits without each row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner.kernels import Gaussian, Laplacian, Matern
from bochner.learning.ensemble.length_scales import error_and_gradient, with_length_scales

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * RNG.normal(size=40)
POINT = np.array([0.3, 0.1, -0.2, -2.0])
STEP = 1e-5


def brute(kernel, point):
    """Mean square error of fits without each row."""
    K = type(kernel)(tuple(np.exp(point[:-1])), **({"nu": 2.5} if hasattr(kernel, "nu") else {}))
    total = 0.0
    for i in range(len(Y)):
        kept = np.delete(np.arange(len(Y)), i)
        A = K(X[kept], X[kept]) + np.exp(point[-1]) * np.eye(len(kept))
        total += (Y[i] - K(X[[i]], X[kept])[0] @ np.linalg.solve(A, Y[kept])) ** 2
    return total / len(Y)


def check_gradient(kernel):
    error, gradient = error_and_gradient(kernel, POINT, X, Y)
    assert_allclose(error, brute(kernel, POINT), rtol=1e-9)
    moved = [(brute(kernel, POINT + h) - brute(kernel, POINT - h)) for h in STEP * np.eye(4)]
    assert_allclose(gradient, np.array(moved) / (2.0 * STEP), rtol=1e-5)


@pytest.mark.parametrize("kernel", [Gaussian(), Laplacian(), Matern(nu=2.5)], ids=repr)
def test_errors_and_gradients_are_those_of_fits_without_each_row(kernel):
    check_gradient(kernel)


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(4.0), Matern(2.0, nu=2.5)], ids=repr)
def test_inputs_without_influence_get_long_scales(kernel):
    rows = np.random.default_rng(0).uniform(-1.5, 1.5, size=(200, 4))
    y = np.sin(3.0 * rows[:, 1])
    found, _, error = with_length_scales(kernel, rows, y, 0.1, np.random.default_rng(1))
    scales = np.asarray(found.length_scale)
    assert np.argmin(scales) == 1
    assert np.min(np.delete(scales, 1)) > 4.0 * scales[1]
    assert error < 0.01 * np.var(y)


def test_noise_keeps_one_length_scale():
    rng = np.random.default_rng(2)
    rows, y = rng.normal(size=(150, 10)), rng.normal(size=150)
    _, alpha, error = with_length_scales(Laplacian(10.0), rows, y, 3.0, rng)
    assert alpha > 0.5
    assert error > 0.85 * np.var(y)


@pytest.mark.parametrize("n_samples", [2, 3, 5])
def test_few_rows_and_constant_targets_have_a_kernel(n_samples):
    for y in (np.zeros(n_samples), np.arange(n_samples) - 1.0):
        found, alpha, _ = with_length_scales(Gaussian(), X[:n_samples], y, 0.1, RNG)
        assert np.all(np.isfinite(found.length_scale))
        assert alpha > 0.0

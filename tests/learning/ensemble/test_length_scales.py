"""Length scales learned by leave-one-out errors, against fits without each row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner.kernels import Gaussian, Laplacian, Matern
from bochner.learning.ensemble import length_scales

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * RNG.normal(size=40)
POINT = np.array([0.3, 0.1, -0.2, -2.0])
STEP = 1e-5


def residuals(kernel, point, kept, others):
    """Errors of rows by a fit to other rows."""
    K = type(kernel)(tuple(np.exp(point[:-1])), **({"nu": 2.5} if hasattr(kernel, "nu") else {}))
    A = K(X[kept], X[kept]) + np.exp(point[-1]) * np.eye(len(kept))
    return Y[others] - K(X[others], X[kept]) @ np.linalg.solve(A, Y[kept])


def brute(kernel, point):
    """Mean square error of fits without each row."""
    rows = np.arange(len(Y))
    return np.mean([residuals(kernel, point, np.delete(rows, i), [i]) ** 2 for i in rows])


def check_gradient(kernel):
    error, gradient = length_scales.error_and_gradient(kernel, POINT, X, Y)
    assert_allclose(error, brute(kernel, POINT), rtol=1e-9)
    moved = [(brute(kernel, POINT + h) - brute(kernel, POINT - h)) for h in STEP * np.eye(4)]
    assert_allclose(gradient, np.array(moved) / (2.0 * STEP), rtol=1e-5)


@pytest.mark.parametrize("kernel", [Gaussian(), Laplacian(), Matern(nu=2.5)], ids=repr)
def test_errors_and_gradients_are_those_of_fits_without_each_row(kernel):
    check_gradient(kernel)


def check_halves():
    points, parts = (POINT, POINT[::-1]), (np.arange(15), np.arange(15, 40))
    expected = sum(
        np.sum(residuals(Laplacian(), point, own, others) ** 2)
        for point, own, others in zip(points, parts, parts[::-1], strict=True)
    )
    assert_allclose(
        length_scales.error_across(Laplacian(), points, parts, X, Y), expected, rtol=1e-9
    )


def test_each_part_of_the_rows_predicts_the_other():
    check_halves()


@pytest.mark.parametrize("penalty", [1.0, 30.0])
def test_the_penalised_error_is_stationary(penalty):
    centre = np.array([0.5, 0.5, 0.5, -1.0])
    found = length_scales.descended(Gaussian(), X, Y, centre, centre, penalty, 200)
    error, gradient = length_scales.error_and_gradient(Gaussian(), found, X, Y)
    pull = np.append(2.0 * penalty / len(Y) * (found - centre)[:-1], 0.0)
    assert np.abs(pull).max() > 0.05
    assert_allclose(gradient / error, -pull, atol=2e-3)


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(4.0), Matern(2.0, nu=2.5)], ids=repr)
def test_inputs_without_influence_get_long_scales(kernel):
    rows = np.random.default_rng(0).uniform(-1.5, 1.5, size=(200, 4))
    y = np.sin(3.0 * rows[:, 1])
    found, _, error = length_scales.with_length_scales(
        kernel, rows, y, 0.1, np.random.default_rng(1)
    )
    scales = np.asarray(found.length_scale)
    assert np.argmin(scales) == 1
    assert np.min(np.delete(scales, 1)) > 4.0 * scales[1]
    assert error < 0.01 * np.var(y)


def test_noise_keeps_one_length_scale():
    rng = np.random.default_rng(2)
    rows, y = rng.normal(size=(150, 10)), rng.normal(size=150)
    _, alpha, error = length_scales.with_length_scales(Laplacian(10.0), rows, y, 3.0, rng)
    assert alpha > 0.5
    assert error > 0.85 * np.var(y)


@pytest.mark.parametrize("n_samples", [2, 3, 5])
def test_few_rows_and_constant_targets_have_a_kernel(n_samples):
    for y in (np.zeros(n_samples), np.arange(n_samples) - 1.0):
        found, alpha, _ = length_scales.with_length_scales(Gaussian(), X[:n_samples], y, 0.1, RNG)
        assert np.all(np.isfinite(found.length_scale))
        assert alpha > 0.0

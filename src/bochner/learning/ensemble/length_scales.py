r"""A length scale for each input, learned by the gradient of the leave-one-out error."""

from dataclasses import replace
from typing import Any

import numpy as np
from numba import njit
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.optimize import Bounds, minimize

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.wave_loops import LOOSE
from bochner.kernels import Gaussian, Laplacian, Matern

_PENALTIES = (100.0, 10.0, 1.0)
"""Pulls towards a common length scale, per squared logarithm, in rows. Halves of the rows choose:
inputs of a few hundred noisy rows are hardly told apart, and without noise one row tells much."""

_REACH = 5.0
"""Most change of a logarithm: an input 150 times as long as the others is out of the kernel, and
one 150 times as short makes every row a stranger."""

_LOG_ALPHA = np.log((1e-9, 10.0))
"""Bounds of the logarithm of noise over signal: rounding, and hardly any signal."""

_ITERATIONS = 25
"""Most steps of the quasi-Newton search, which gains less than a per cent after them."""

_STEPS_OF_HALVES = 12
"""Steps on each half of the rows, which only compare penalties."""

Rows = NDArray[np.int64]
Learnable = Gaussian | Laplacian | Matern


def with_length_scales(
    kernel: Learnable, X: Array, y: Array, alpha: float, rng: Generator
) -> tuple[Learnable, float, float]:
    """Return the kernel with a length scale for each input, noise over signal, and their error.

    The error is the mean square of leave-one-out residuals on the rows (n, d) and targets (n,). The
    kernel of one length scale is returned where halves of the rows predict each other best with it.
    """
    start = np.append(np.full(X.shape[1], np.log(as_array(kernel.length_scale))), np.log(alpha))
    order = rng.permutation(len(y))
    halves = order[: len(y) // 2], order[len(y) // 2 :]

    best, penalty = error_across(kernel, (start, start), halves, X, y), None
    points = (start, start)
    for pull in _PENALTIES:
        first, second = (
            descended(kernel, X[half], y[half], start, point, pull, _STEPS_OF_HALVES)
            for half, point in zip(halves, points, strict=True)
        )
        points = first, second
        error = error_across(kernel, points, halves, X, y)
        if error < best:
            best, penalty = error, pull
    found = start
    if penalty is not None:
        found = descended(kernel, X, y, start, start, penalty, _ITERATIONS)
    return (
        _moved(kernel, found),
        float(np.exp(found[-1])),
        error_and_gradient(kernel, found, X, y)[0],
    )


def error_and_gradient(kernel: Learnable, point: Array, X: Array, y: Array) -> tuple[float, Array]:
    r"""Return the mean square of leave-one-out residuals, and its gradient (d + 1,).

    ``point`` holds logarithms of length scales and of alpha. With :math:`A = K + \alpha I`,
    :math:`c = A^{-1} y` and :math:`e_i = c_i / (A^{-1})_{ii}`, a change of the kernel adds
    :math:`\langle dK, A^{-1} \mathrm{diag}(v) A^{-1} - u c^\top \rangle` to the mean of
    :math:`e_i^2`, where :math:`v_i = 2 e_i c_i / (n (A^{-1})_{ii}^2)` and
    :math:`u = A^{-1} (2 e_i / (n (A^{-1})_{ii}))`. A matrix that is not positive definite has an
    infinite error.
    """
    n_samples = len(y)
    scaled = X / np.exp(point[:-1])
    gram, slope = _gram_and_slope(kernel, scaled)
    gram[np.diag_indices(n_samples)] += np.exp(point[-1])
    lower, failed = lapack.dpotrf(gram.T, lower=1, overwrite_a=1)
    if failed:
        return np.inf, np.zeros(len(point))
    inverse, _ = lapack.dpotri(lower, lower=1, overwrite_c=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    coefficients, diagonal = inverse @ y, np.diagonal(inverse).copy()
    residuals = coefficients / diagonal
    u = inverse @ (2.0 * residuals / (n_samples * diagonal))
    v = 2.0 * residuals * coefficients / (n_samples * diagonal**2)
    change = (inverse * v) @ inverse - np.outer(u, coefficients)
    slope *= change
    # Half of the sum with its transpose, since moments take lower triangles of symmetric matrices.
    slope += slope.T
    slope *= 0.5
    moments = _absolute_moments if isinstance(kernel, Laplacian) else _square_moments
    gradient = np.append(moments(slope, scaled), np.trace(change) * np.exp(point[-1]))
    return float(np.mean(residuals**2)), gradient


def _gram_and_slope(kernel: Learnable, scaled: Array) -> tuple[Array, Array]:
    """Return the Gram matrix, and minus its slope by the distance, or by half of its square."""
    gram = kernel.correlation(scaled, scaled)
    if not isinstance(kernel, Matern):
        return gram, gram.copy()
    # The slope of nu is the kernel of nu - 1, up to a factor.
    slope = replace(kernel, nu=kernel.nu - 1.0, length_scale=1.0)
    factor = kernel.nu / (kernel.nu - 1.0)
    return gram, factor * slope.correlation(scaled * np.sqrt(factor), scaled * np.sqrt(factor))


def _square_moments(weights: Array, X: Array) -> Array:
    """Return sums (d,) of symmetric weights (n, n) times squared differences of each input."""
    moments: Array = 2.0 * (weights.sum(axis=1) @ X**2 - np.sum(X * (weights @ X), axis=0))
    return moments


@njit(cache=True, nogil=True, fastmath=LOOSE | {"reassoc"})
def _absolute_moments(weights: Array, X: Array) -> Array:
    """Return sums (d,) of symmetric weights (n, n) times distances of each input."""
    columns = np.ascontiguousarray(X.T)
    moments = np.zeros(columns.shape[0])
    for j in range(columns.shape[0]):
        column = columns[j]
        for i in range(column.size):
            total = 0.0
            for other in range(i):
                total += weights[i, other] * abs(column[i] - column[other])
            moments[j] += 2.0 * total
    return moments


def descended(
    kernel: Learnable,
    X: Array,
    y: Array,
    centre: Array,
    start: Array,
    penalty: float,
    iterations: int,
) -> Array:
    """Return the least logarithm of the error, plus a pull of scales to the ``centre``."""
    pull = np.append(np.full(len(centre) - 1, penalty / len(y)), 0.0)

    def loss(point: Array) -> tuple[float, Array]:
        error, gradient = error_and_gradient(kernel, point, X, y)
        if not 0.0 < error < np.inf:
            return np.inf, np.zeros(len(point))
        away = point - centre
        return np.log(error) + pull @ away**2, gradient / error + 2.0 * pull * away

    scales = centre[:-1]
    low = np.append(scales - _REACH, _LOG_ALPHA[0])
    high = np.append(scales + _REACH, _LOG_ALPHA[1])
    options: dict[str, Any] = {"jac": True, "method": "L-BFGS-B", "bounds": Bounds(low, high)}
    found = minimize(loss, start, options={"maxiter": iterations}, **options)
    return as_array(found.x)


def error_across(
    kernel: Learnable, points: tuple[Array, Array], halves: tuple[Rows, Rows], X: Array, y: Array
) -> float:
    """Return the sum of squared errors of two parts of the rows that predict each other.

    The kernel of each point, as in :func:`error_and_gradient`, is fitted to its own part.
    """
    total = 0.0
    for point, own, others in zip(points, halves, halves[::-1], strict=True):
        moved = _moved(kernel, point)
        gram = moved(X[own], X[own])
        gram[np.diag_indices(len(own))] += np.exp(point[-1])
        _, coefficients, failed = lapack.dposv(gram, y[own])
        if failed:
            return np.inf
        total += float(np.sum((y[others] - moved(X[others], X[own]) @ coefficients) ** 2))
    return total


def _moved(kernel: Learnable, point: Array) -> Learnable:
    return replace(kernel, length_scale=tuple(np.exp(point[:-1]).tolist()))

r"""A length scale for each input, learned by the gradient of the leave-one-out error."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import njit
from scipy.linalg import lapack
from scipy.optimize import Bounds, minimize

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.wave_loops import LOOSE
from bochner.kernels import Exponential, Gaussian, Kernel, Laplacian, Matern
from bochner.learning.ensemble.rows import Rows
from bochner.registry import register

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
"""Steps on each half of the rows, from the best point of the stronger pull before."""

_MAP_TOLERANCE = 1e-3
"""The same of linear maps, whose many entries have many directions of little slope."""

_METRIC_PENALTIES = (100.0, 10.0)
"""Pulls of linear maps to the length scales, per squared entry, in rows; halves choose as above."""

_ROWS_PER_ENTRY = 10
"""Fewest rows for each entry of a map: with fewer, leave-one-out errors fall and others rise."""

_TINY = 1e-6
"""Least distance whose slope is finite, in length scales; equal rows have none."""

_TOLERANCE = 1e-4
"""Relative decrease of the error below which a search ends: chance moves it by some per cent."""

Learnable = Gaussian | Laplacian | Matern | Exponential


@register(shapes={"metric": "dd"})
@dataclass(frozen=True, slots=True, eq=False)
class LearnedKernel:
    """A kernel of linear maps of rows, and its ratio of noise to signal."""

    kernel: Kernel
    alpha: float
    metric: Array | None = None  # (d, d): The map; None for the identity

    @classmethod
    def at(cls, kernel: Learnable, point: Array) -> "LearnedKernel":
        """Return the kernel with length scales and alpha at logarithms (d + 1,)."""
        scales = tuple(np.exp(point[:-1]).tolist())
        return cls(replace(kernel, length_scale=scales), float(np.exp(point[-1])))

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return kernel values (n, n2) of rows (n, d) and (n2, d)."""
        if self.metric is None:
            return self.kernel(X, Y)
        return self.kernel(X @ self.metric, Y @ self.metric)


@dataclass(frozen=True, slots=True)
class Found:
    """What was learned on all rows of a search, and on either half of them."""

    whole: LearnedKernel
    halves: tuple[LearnedKernel, ...]
    error: float  # Leave-one-out error of the whole
    across: float  # Error of halves that predict each other

    def with_noise(self, factor: float) -> "Found":
        """Return the same with all ratios of noise to signal multiplied by a number."""
        return replace(
            self,
            whole=replace(self.whole, alpha=factor * self.whole.alpha),
            halves=tuple(replace(half, alpha=factor * half.alpha) for half in self.halves),
        )


def with_length_scales(kernel: Learnable, alpha: float, rows: Rows, *, is_tied: bool) -> Found:
    """Return the kernel with length scales and a ratio of noise to signal of least error.

    The error is the mean square of leave-one-out residuals. Halves of the rows choose the pull to a
    common length scale by how well they predict each other. The pull is without limit if
    ``is_tied``, or if that is best.
    """
    halves = tuple(rows.part(half) for half in rows.halves())
    start = np.append(np.full(rows.X.shape[1], np.log(as_array(kernel.length_scale))), np.log(alpha))

    def moved(points: tuple[Array, ...], pull: float) -> tuple[Array, ...]:
        pairs = zip(halves, points, strict=True)
        return tuple(descended(kernel, *pair, pull, _STEPS_OF_HALVES) for pair in pairs)

    def ends(points: tuple[Array, ...]) -> tuple[LearnedKernel, ...]:
        return tuple(LearnedKernel.at(kernel, point) for point in points)

    points = best = moved((start, start), np.inf)
    least, penalty = error_across(ends(best), halves), np.inf
    for pull in () if is_tied or rows.X.shape[1] == 1 else _PENALTIES:
        points = moved(points, pull)
        error = error_across(ends(points), halves)
        if not error < least:
            break
        best, least, penalty = points, error, pull
    found = descended(kernel, rows, np.mean(best, axis=0), penalty, _ITERATIONS)
    error, _ = error_and_gradient(kernel, found, rows)
    return Found(LearnedKernel.at(kernel, found), ends(best), error, least)


def with_metric(found: Found, rows: Rows) -> Found:
    """Return the kernel with a linear map of all inputs, where halves of the rows gain by it.

    The map starts from the length scales, with a pull to them that the halves choose.
    """
    if len(rows) < _ROWS_PER_ENTRY * rows.X.shape[1] ** 2:
        return found
    halves = tuple(rows.part(half) for half in rows.halves())
    best, penalty, points = found, None, found.halves
    for pull in _METRIC_PENALTIES:
        points = tuple(
            mapped(half, start, part, pull, _STEPS_OF_HALVES)
            for half, start, part in zip(found.halves, points, halves, strict=True)
        )
        across = error_across(points, halves)
        if not across < best.across:
            break
        best, penalty = replace(best, halves=points, across=across), pull
    if penalty is None:
        return found
    whole = mapped(found.whole, found.whole, rows, penalty, _ITERATIONS)
    return replace(best, whole=whole, error=_at(whole, rows)[0])


def error_and_gradient(kernel: Learnable, point: Array, rows: Rows) -> tuple[float, Array]:
    """Return the mean square of leave-one-out residuals, and its gradient (d + 1,).

    ``point`` holds logarithms of length scales and of alpha.
    """
    scaled = rows.X / np.exp(point[:-1])
    error, slope, noise = _error_and_slope(kernel, scaled, np.exp(point[-1]), rows)
    if isinstance(kernel, Laplacian):
        return error, np.append(_absolute_moments(slope, scaled), noise)
    return error, np.append(np.diagonal(_square_moments(slope, scaled)), noise)


def _error_and_slope(
    kernel: Learnable, mapped_rows: Array, alpha: float, rows: Rows
) -> tuple[float, Array, float]:
    r"""Return the error, minus its slopes (n, n) by distances, and the slope by log alpha.

    Distances are those of the mapped rows: halves of their squares but for the Laplacian kernel.
    Kernel and targets are multiplied by the roots of the weights, so that all rows have equal
    noise. With :math:`M = (K + \alpha I)^{-1}`, :math:`c = M y` and residuals
    :math:`e = M_{gg}^{-1} c` of the group ``g``, a change of the kernel adds
    :math:`\langle dK, M V M - M u c^\top \rangle` to the mean of squares, where
    :math:`u = 2 M_{gg}^{-1} e / n` and ``V`` consists of the groups' blocks of
    :math:`u e^\top`. A matrix that is not positive definite has an infinite error.
    """
    root = np.sqrt(rows.weights)
    gram, slope = _gram_and_slope(kernel, mapped_rows)
    gram *= np.outer(root, root)
    inverse = shifted_inverse(gram, alpha)
    if inverse is None:
        return np.inf, np.zeros_like(slope), 0.0
    coefficients = inverse @ (root[:, None] * rows.Y)
    residuals = rows.solved(inverse, coefficients)
    u = rows.solved(inverse, residuals) * (2.0 / len(rows))
    if rows.groups is None:
        change = (inverse * np.sum(u * residuals, axis=1)) @ inverse
    else:
        blocks = (u @ residuals.T) * (rows.groups[:, None] == rows.groups)
        change = inverse @ blocks @ inverse
    change -= (inverse @ u) @ coefficients.T
    noise = float(np.trace(change) * alpha)
    slope *= change
    slope *= np.outer(root, root)
    # Half of the sum with its transpose, since moments take symmetric matrices.
    slope += slope.T.copy()
    slope *= 0.5
    return float(np.sum(residuals**2)) / len(rows), slope, noise


def _at(found: LearnedKernel, rows: Rows) -> tuple[float, Array, float]:
    unit = replace(found.kernel, length_scale=1.0)
    return _error_and_slope(unit, _image(found, rows.X), found.alpha, rows)


def _image(found: LearnedKernel, X: Array) -> Array:
    """Return rows mapped and divided by length scales, where the kernel's scale is one."""
    if found.metric is not None:
        X = X @ found.metric
    return X / as_array(found.kernel.length_scale)


def mapped(origin: LearnedKernel, start: LearnedKernel, rows: Rows, penalty: float, iterations: int) -> LearnedKernel:
    """Return the map of least logarithm of the error, plus a pull to the length scales of a kernel.

    Rows divided by the length scales of ``origin`` are multiplied by a matrix near the identity,
    and the pull is on their squared distance. ``start`` is ``origin`` or has been mapped from it.
    """
    scales = np.broadcast_to(as_array(origin.kernel.length_scale), rows.X.shape[1])
    scaled, dim, pull = rows.X / scales, rows.X.shape[1], penalty / len(rows)
    unit = replace(origin.kernel, length_scale=1.0)
    first = np.eye(dim) if start.metric is None else scales[:, None] * start.metric

    def loss(point: Array) -> tuple[float, Array]:
        matrix, alpha = point[:-1].reshape(dim, dim), np.exp(point[-1])
        error, slope, noise = _error_and_slope(unit, scaled @ matrix, alpha, rows)
        if not 0.0 < error < np.inf:
            return np.inf, np.zeros(len(point))
        away = matrix - np.eye(dim)
        gradient = 2.0 * pull * away - _square_moments(slope, scaled) @ matrix / error
        return np.log(error) + pull * np.sum(away**2), np.append(gradient, noise / error)

    high = np.append(np.full(dim**2, np.inf), _LOG_ALPHA[1])
    low = np.append(np.full(dim**2, -np.inf), _LOG_ALPHA[0])
    found = _least(loss, np.append(first, np.log(start.alpha)), low, high, iterations, _MAP_TOLERANCE)
    return LearnedKernel(unit, float(np.exp(found[-1])), found[:-1].reshape(dim, dim) / scales[:, None])


def _least(
    loss: Any, start: Array, low: Array, high: Array, iterations: int, tolerance: float
) -> Array:
    options = {"maxiter": iterations, "ftol": tolerance}
    found = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=Bounds(low, high), options=options
    )
    return as_array(found.x)


def shifted_inverse(gram: Array, alpha: float) -> Array | None:
    """Return the inverse of ``gram + alpha I``, which overwrites ``gram``; ``None`` if it fails."""
    gram[np.diag_indices(len(gram))] += alpha
    is_single = gram.dtype == np.float32
    potrf, potri = (
        (lapack.spotrf, lapack.spotri) if is_single else (lapack.dpotrf, lapack.dpotri)
    )
    lower, failed = potrf(gram.T, lower=1, overwrite_a=1)
    if failed:
        return None
    inverse, _ = potri(lower, lower=1, overwrite_c=1)
    _mirror(inverse.T)
    return np.asarray(inverse.T)


@njit(cache=True, nogil=True)
def _mirror(upper: Array) -> None:
    """Copy the upper triangle of a matrix (n, n) in C order to the lower one, tile by tile."""
    n_rows, tile = len(upper), 64
    for first in range(0, n_rows, tile):
        for second in range(first, n_rows, tile):
            for i in range(first, min(first + tile, n_rows)):
                for j in range(max(second, i + 1), min(second + tile, n_rows)):
                    upper[j, i] = upper[i, j]


def _gram_and_slope(kernel: Learnable, scaled: Array) -> tuple[Array, Array]:
    """Return the Gram matrix, and minus its slope by the distance, or by half of its square."""
    gram = kernel.correlation(scaled, scaled)
    if isinstance(kernel, Exponential):
        # No distance has a slope at zero; the diagonal does not move.
        return gram, gram / np.maximum(-np.log(np.maximum(gram, _TINY)), _TINY)
    if not isinstance(kernel, Matern):
        return gram, gram.copy()
    # The slope of nu is the kernel of nu - 1, up to a factor.
    slope = replace(kernel, nu=kernel.nu - 1.0, length_scale=1.0)
    factor = kernel.nu / (kernel.nu - 1.0)
    return gram, factor * slope.correlation(scaled * np.sqrt(factor), scaled * np.sqrt(factor))


def _square_moments(weights: Array, X: Array) -> Array:
    """Return sums (d, d) of symmetric weights (n, n) times products of differences of inputs."""
    moments: Array = 2.0 * ((X.T * weights.sum(axis=1)) @ X - X.T @ (weights @ X))
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
    kernel: Learnable, rows: Rows, start: Array, penalty: float, iterations: int
) -> Array:
    """Return the point of least logarithm of the error, plus a pull to a common length scale.

    The pull is on the squared deviations of the logarithms of scales from their mean. Without limit
    it leaves the shape of ``start`` as it is, and scales move together.
    """
    dim = len(start) - 1
    is_tied = not np.isfinite(penalty)

    def loss(point: Array) -> tuple[float, Array]:
        error, gradient = error_and_gradient(kernel, point, rows)
        if not 0.0 < error < np.inf:
            return np.inf, np.zeros(len(point))
        if is_tied:
            return np.log(error), gradient / error
        away = np.append(point[:-1] - point[:-1].mean(), 0.0)
        pull = penalty / len(rows)
        return np.log(error) + pull * away @ away, gradient / error + 2.0 * pull * away

    def tied(short: Array) -> tuple[float, Array]:
        value, gradient = loss(np.append(start[:-1] + short[0], short[1]))
        return value, np.array([gradient[:-1].sum(), gradient[-1]])

    first = np.array([0.0, start[-1]]) if is_tied else start
    low, high = first - _REACH, first + _REACH
    low[-1], high[-1] = _LOG_ALPHA
    found = _least(tied if is_tied else loss, first, low, high, iterations, _TOLERANCE)
    return np.append(start[:-1] + found[0], found[1]) if is_tied else found


def error_across(pair: tuple[LearnedKernel, ...], parts: tuple[Rows, ...]) -> float:
    """Return the sum of squared errors of two parts of the rows that predict each other."""
    total = 0.0
    for found, own, others in zip(pair, parts, parts[::-1], strict=True):
        gram = found(own.X, own.X)
        gram[np.diag_indices(len(own))] += found.alpha / own.weights
        _, coefficients, failed = lapack.dposv(gram, own.Y)
        if failed:
            return np.inf
        errors = others.Y - found(others.X, own.X) @ coefficients
        total += float(np.sum(others.weights[:, None] * errors**2))
    return total

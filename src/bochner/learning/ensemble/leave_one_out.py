r"""The error of kernels at rows that are left out, and its slopes by distances of rows."""

from dataclasses import dataclass, replace

import numpy as np
from numba import njit
from scipy.linalg import lapack

from bochner._numerics.arrays import Array
from bochner._numerics.wave_loops import LOOSE
from bochner.kernels import Exponential, Gaussian, Laplacian, Matern
from bochner.learning.ensemble.rows import Rows
from bochner.registry import register

_TINY = 1e-6
"""Least distance whose slope is finite, in length scales. Slopes of nearer rows count for less; the
distance of a row to itself does not move."""

Learnable = Gaussian | Laplacian | Matern | Exponential


@register(shapes={"matrix": "dd"})
@dataclass(frozen=True, slots=True, eq=False)
class LearnedKernel:
    """A kernel of linear maps of rows, and its ratio of noise to signal."""

    kernel: Learnable
    alpha: float
    matrix: Array | None = None  # (d, d): The map; None for the identity

    @classmethod
    def at(cls, kernel: Learnable, point: Array) -> "LearnedKernel":
        """Return the kernel with length scales and alpha at logarithms (d + 1,)."""
        scales = tuple(np.exp(point[:-1]).tolist())
        return cls(replace(kernel, length_scale=scales), float(np.exp(point[-1])))

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return kernel values (n, n2) of rows (n, d) and (n2, d)."""
        return self.kernel(self.mapped(X), self.mapped(Y))

    def mapped(self, X: Array) -> Array:
        """Return the images (n, d) of rows (n, d)."""
        return X if self.matrix is None else X @ self.matrix


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


def error_and_slope(
    kernel: Learnable, X: Array, alpha: float, rows: Rows
) -> tuple[float, Array, float]:
    r"""Return the error, minus its slopes (n, n) by distances, and the slope by log alpha.

    ``X`` (n, d) are the rows where the kernel's length scale is one. Distances are halves of
    squares, but for the Laplacian kernel.
    Kernel and targets are multiplied by the roots of the weights, so that all rows have equal
    noise. With :math:`M = (K + \alpha I)^{-1}`, :math:`c = M y` and residuals
    :math:`e = M_{gg}^{-1} c` of the group ``g``, a change of the kernel adds
    :math:`\langle dK, M V M - M u c^\top \rangle` to the mean of squares, where
    :math:`u = 2 M_{gg}^{-1} e / n` and ``V`` consists of the groups' blocks of
    :math:`u e^\top`. A matrix that is not positive definite has an infinite error.
    """
    root = np.sqrt(rows.weights)
    gram, slope = _gram_and_slope(kernel, X)
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


def shifted_inverse(gram: Array, alpha: float) -> Array | None:
    """Return the inverse of ``gram + alpha I``, which overwrites ``gram``; ``None`` if it fails."""
    gram[np.diag_indices(len(gram))] += alpha
    is_single = gram.dtype == np.float32
    potrf, potri = (lapack.spotrf, lapack.spotri) if is_single else (lapack.dpotrf, lapack.dpotri)
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


def square_moments(weights: Array, X: Array) -> Array:
    """Return sums (d, d) of symmetric weights (n, n) times products of differences of inputs."""
    moments: Array = 2.0 * ((X.T * weights.sum(axis=1)) @ X - X.T @ (weights @ X))
    return moments


@njit(cache=True, nogil=True, fastmath=LOOSE | {"reassoc"})
def absolute_moments(weights: Array, X: Array) -> Array:
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

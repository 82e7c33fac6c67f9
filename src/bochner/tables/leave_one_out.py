r"""Leave-one-out errors of kernels, and their derivatives by the distances of rows."""

from collections.abc import Callable
from ctypes import CFUNCTYPE, byref, c_char, c_double, c_float, c_int, c_void_p
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import cho_solve, solve_triangular

from bochner._base.arrays import Array, as_array, floored, jittered_cholesky, row_blocks
from bochner._base.compiling import compiled
from bochner._base.registry import register
from bochner._base.vector_loops import FASTER
from bochner.kernels import Exponential, Gaussian, Laplacian, Matern
from bochner.kernels.distances import distances
from bochner.kernels.stationary import matern_profile
from bochner.tables.observations import CellObservations, Rows

_TINY = 1e-6
"""Least divisor of slopes: the exponential kernel has an infinite one at zero."""

LEAST_SINGLE = 1e-3
"""Least ratio of noise to signal for single precision: predictions of 5,000 rows have errors of a
hundredth of the target's deviation, and ten times as large at a tenth of the ratio."""

EQUAL_ROWS = 1e-8
"""Jitter of the landmarks' kernel matrix, relative to the signal: its inverse keeps its digits."""

_WIDTH = 64
"""Columns of a matrix that are copied together: rows of them fit the first cache."""

_MODULES = {"blas": "scipy.linalg.cython_blas", "lapack": "scipy.linalg.cython_lapack"}

_KINDS: dict[str, tuple[str, Any]] = {"f": ("s", c_float), "d": ("d", c_double)}
"""First letter of a routine's name, and its number type, by the type code of the matrices."""

_LOWER, _TRANSPOSED, _AS_IT_IS = c_char(b"L"), c_char(b"T"), c_char(b"N")

Learnable = Gaussian | Laplacian | Matern | Exponential


@register(shapes={"matrix": "dd"})
@dataclass(frozen=True, slots=True, eq=False)
class LearnedKernel:
    """A kernel of rows after a linear map, with its ratio of noise to signal (alpha)."""

    kernel: Learnable
    alpha: float
    matrix: Array | None = None  # (d, d): The map; None for the identity

    def __post_init__(self) -> None:
        if not self.alpha >= 0.0:
            raise ValueError(f"the ratio of noise to signal must not be negative, got {self.alpha}")

    @classmethod
    def at(cls, kernel: Learnable, point: Array) -> "LearnedKernel":
        """Return a kernel; ``point`` (d + 1,) has the logarithms of its length scales and alpha."""
        scales = tuple(np.exp(point[:-1]).tolist())
        return cls(replace(kernel, length_scale=scales), float(np.exp(point[-1])))

    def point(self, dim: int) -> Array:
        """Return the logarithms (dim + 1,) of the length scales and of alpha."""
        scales = np.broadcast_to(as_array(self.kernel.length_scale), dim)
        return as_array(np.log(np.append(scales, self.alpha)))

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return kernel values (n, n2) of rows (n, d) and (n2, d), with a tiny positive minimum."""
        return kernel_values(self.kernel, self.mapped(X), self.mapped(Y))

    def mapped(self, X: Array) -> Array:
        """Return rows (n, d) after the linear map of the kernel."""
        return X if self.matrix is None else X @ self.matrix

    def left_out_error(self, rows: Rows) -> float:
        """Return the mean square of leave-one-out residuals of rows."""
        distance = distances_of(
            self.kernel, self.mapped(rows.X) / as_array(self.kernel.length_scale)
        )
        dtype: DTypeLike = np.float32 if self.alpha >= LEAST_SINGLE else np.float64
        gram, _ = _gram_and_slope(self.kernel, distance.astype(dtype))
        inverse = shifted_inverse(gram, self.alpha, rows.weights)
        if inverse is None:
            return np.inf
        coefficients = (inverse @ rows.Y.astype(dtype)).astype(np.float64)
        return rows.left_out_squares(inverse, coefficients, self.alpha) / rows.n_observations

    def map_in_scales(self, dim: int) -> Array:
        """Return the map (d, d) divided by the length scales: images have length scale one."""
        matrix = np.eye(dim) if self.matrix is None else self.matrix
        return matrix / as_array(self.kernel.length_scale)


@dataclass(frozen=True, slots=True)
class Found:
    """The kernels learned on all rows of a search, and on each half of these rows."""

    full: LearnedKernel  # Learned on all rows
    halves: tuple[LearnedKernel, ...]
    error: float  # Leave-one-out error of the kernel of all rows
    across: float  # Error of halves that predict each other

    def with_noise(self, factor: float) -> "Found":
        """Return the kernels with all ratios of noise to signal multiplied by a factor."""
        return replace(
            self,
            full=replace(self.full, alpha=factor * self.full.alpha),
            halves=tuple(replace(half, alpha=factor * half.alpha) for half in self.halves),
        )


def kernel_values(kernel: Learnable, X: Array, Y: Array) -> Array:
    """Return kernel values (n, n2) of finite rows, at least a tiny number, computed in blocks."""
    scale, values = as_array(kernel.length_scale), np.empty((len(X), len(Y)))
    right = Y / scale
    for rows in row_blocks(len(X), values.itemsize * len(Y)):
        values[rows] = kernel.correlation(X[rows] / scale, right)
    return floored(values)


def distances_of(kernel: Learnable, X: Array) -> Array:
    """Return the distances (n, n) on which the kernel with length scale one depends."""
    return distances(X, X, "cityblock" if isinstance(kernel, Laplacian) else "euclidean")


def error_and_slope(
    kernel: Learnable, distance: Array, alpha: float, rows: Rows
) -> tuple[float, Array, float]:
    r"""Return the error, its negative derivatives (n, n) by distances, its derivative by log alpha.

    Derivatives are by distances for the Laplacian kernel, else by half of the squared distances.
    With :math:`M = (K + \alpha W^{-1})^{-1}`, :math:`c = M y` and residuals
    :math:`e = M_{gg}^{-1} c` of the group ``g``, a change of the kernel adds
    :math:`\langle dK, M V M - M u c^\top \rangle` to the mean of squares, where
    :math:`u = 2 M_{gg}^{-1} W e / n` and ``V`` consists of the groups' blocks of :math:`u e^\top`.
    """
    dtype: DTypeLike = np.float32 if alpha >= LEAST_SINGLE else np.float64
    gram, slope = _gram_and_slope(kernel, distance.astype(dtype))
    inverse = shifted_inverse(gram, alpha, rows.weights)
    if inverse is None:
        return np.inf, np.zeros_like(slope), 0.0
    coefficients = inverse @ rows.Y.astype(dtype)
    by_noise = 0.0
    if rows.groups is None:
        diagonal = np.diagonal(inverse).astype(np.float64)
        error, u, v, by_noise = rows.observations.error(
            rows.weights, coefficients.astype(np.float64), diagonal, alpha
        )
        # V is diagonal and not negative: M V M is a matrix times its transpose, half the work.
        half = inverse.T * np.sqrt(v).astype(dtype)  # Symmetric, in Fortran order
        change = np.zeros_like(half)
        add_products_of_rows(change, half, 1.0)
    else:
        error, u, residuals = _without_groups(rows, inverse, coefficients)
        # Products with one column per group and target are cheaper if there are few groups.
        n_columns = u.shape[1] * (int(rows.groups.max()) + 1)
        if n_columns < len(rows):
            # V is a sum of one matrix of rank one per group and target, which takes fewer products.
            of_group = rows.groups[:, None, None] == np.arange(rows.groups.max() + 1)[:, None]
            left, right = (
                inverse @ (part[:, None] * of_group).reshape(-1, n_columns).astype(dtype)
                for part in (u, residuals)
            )
            change = np.zeros((len(rows), len(rows)), dtype=dtype, order="F")
            add_products(change, left.T, right.T, 0.5)
        else:
            blocks = (u @ residuals.T) * (rows.groups[:, None] == rows.groups)
            change = (inverse @ (blocks + blocks.T).astype(dtype) @ (0.5 * inverse)).T
    pair = (inverse @ u.astype(dtype)).T, coefficients.T
    add_products(change, *pair, -0.5)
    noise = float(np.sum(as_array(np.diagonal(change)) / rows.weights)) * alpha + by_noise
    # Minus the derivative of the kernel, times the derivative of the error by kernel values.
    slope *= change.T
    _mirror(slope)
    return error, slope, noise


def _without_groups(rows: Rows, inverse: Array, coef: Array) -> tuple[float, Array, Array]:
    """Return the leave-group-out error, ``u`` of :func:`error_and_slope`, and the residuals."""
    residuals = rows.solved(inverse, coef)
    weighted = rows.weights[:, None] * residuals
    squares = float(np.sum(weighted * residuals)) + rows.scatter()
    u = rows.solved(inverse, weighted) * (2.0 / rows.n_observations)
    return squares / rows.n_observations, u, residuals


def error_across(pair: tuple[LearnedKernel, ...], parts: tuple[Rows, ...]) -> float:
    """Return the sum of squared errors when each part of the rows predicts the other part."""
    total = 0.0
    for learned, training, new in zip(pair, parts, parts[::-1], strict=True):
        # Each part is the training set for predictions of the other part.
        gram = learned(training.X, training.X)
        gram[np.diag_indices(len(training))] += learned.alpha / training.weights
        coefficients = np.array(training.Y, order="F")
        if not solve_system(gram.T, coefficients):
            return np.inf
        errors = new.Y - learned(new.X, training.X) @ coefficients
        total += float(np.sum(new.weights[:, None] * errors**2)) + new.scatter()
    return total


def shifted_inverse(gram: Array, alpha: float, weights: Array) -> Array | None:
    """Invert ``gram``, overwritten, plus a diagonal; ``None`` if it is not positive definite."""
    gram[np.diag_indices(len(gram))] += alpha / weights
    return factor_inverse(gram.T) if factorise(gram.T) else None


def factor_inverse(lower: NDArray[Any]) -> NDArray[Any]:
    """Return the inverse of the matrix with a lower Cholesky factor, which is overwritten."""
    n, failed = c_int(len(lower)), c_int()
    _call("lapack", "potri", _LOWER, n, lower, _stride(n), failed)
    _mirror(lower.T)
    return lower.T


def _mirror(upper: Array) -> None:
    """Copy the upper triangle of a matrix (n, n) in C order to its lower triangle."""
    for first in range(0, len(upper), _WIDTH):
        stop = first + _WIDTH
        upper[stop:, first:stop] = upper[first:stop, stop:].T
        square = upper[first:stop, first:stop]
        np.copyto(square, square.T, where=np.tri(len(square), k=-1, dtype=np.bool_))


def _gram_and_slope(kernel: Learnable, distance: Array) -> tuple[Array, Array]:
    """Return the Gram matrix, and its negative derivative by the distance or half its square."""
    if isinstance(kernel, Gaussian):
        gram = floored(np.exp(-0.5 * distance**2))
        return gram, gram.copy()
    if isinstance(kernel, Matern):
        # The slope of a Matérn kernel of order nu is proportional to the kernel of order nu - 1.
        distance *= np.sqrt(2.0 * kernel.nu)
        slope = matern_profile(distance, kernel.nu - 1.0)
        slope *= kernel.nu / (kernel.nu - 1.0)
        return floored(matern_profile(distance, kernel.nu)), floored(slope)
    gram = floored(np.exp(-distance))
    if isinstance(kernel, Laplacian):
        return gram, gram.copy()
    # The slope by half the square is infinite at zero; rows keep a distance of zero to themselves.
    return gram, gram / np.maximum(distance, distance.dtype.type(_TINY))


def square_moments(weights: Array, X: Array) -> Array:
    """Return sums (d, d) of symmetric weights (n, n) times products of differences of inputs."""
    weights = weights.astype(np.float64, copy=False)  # Float32 loses digits: the terms cancel
    moments: Array = 2.0 * ((X.T * weights.sum(axis=1)) @ X - X.T @ (weights @ X))
    return moments


def square_sums(weights: Array, X: Array) -> Array:
    """Return the diagonal (d,) of :func:`square_moments`."""
    weights = weights.astype(np.float64, copy=False)
    sums: Array = 2.0 * (weights.sum(axis=1) @ X**2 - np.einsum("ij,ij->j", X, weights @ X))
    return sums


def absolute_moments(weights: Array, X: Array) -> Array:
    """Return sums (d,) of symmetric weights (n, n) times distances of each input."""
    moments = np.zeros(X.shape[1])
    _add_moments(weights, np.ascontiguousarray(X.T), moments)
    return moments


@compiled(fastmath=FASTER)
def _add_moments(weights: Array, columns: Array, moments: Array) -> None:
    for j in range(columns.shape[0]):
        column = columns[j]
        for i in range(column.size):
            total = 0.0
            for other in range(i):
                total += weights[i, other] * abs(column[i] - column[other])
            moments[j] += 2.0 * total


def left_out_latent(
    learned: LearnedKernel, rows: Rows, sums: Array, observed: CellObservations
) -> Array:
    r"""Return leave-one-out variances (s,) of the function, approximated by landmarks.

    With the landmarks ``L``, ``sums`` :math:`S = k(L, X) W k(X, L)`, :math:`G = k(L, L)`,
    :math:`B = G + S / \alpha`, ``u`` the kernel values of a row at the landmarks and its weight
    ``w``, the variance is :math:`1 - u^\top G^{-1} u + u^\top C u`, where
    :math:`C = (B - w u u^\top / \alpha)^{-1}`. If the row is a landmark without other
    observations, its rows and columns of ``G`` and of :math:`C^{-1}` are left out, too.
    """
    landmarks, alpha = rows.X[: len(sums)], learned.alpha
    first = int(observed.cell.min())
    U = learned(landmarks, rows.X[first:])
    gram = learned(landmarks, landmarks)
    of_gram = jittered_cholesky(gram, EQUAL_ROWS)
    shifted = jittered_cholesky(gram + sums / alpha, EQUAL_ROWS)
    explained = np.sum(solve_triangular(of_gram, U, lower=True) ** 2, axis=0)
    # All solutions at once, for the rank-one updates of single observations.
    V = as_array(cho_solve((shifted, True), U))
    remainder = np.sum(U * V, axis=0)
    precision, of_shifted = (
        np.diagonal(factor_inverse(np.array(part, order="F"))) for part in (of_gram, shifted)
    )
    cell = observed.cell - first
    share = observed.weights * remainder[cell] / alpha
    rest = remainder[cell] / (1.0 - share)
    latent = 1.0 - explained[cell] + rest
    # A cell has a single observation if the weights of both are equal.
    is_single = observed.weights >= rows.weights[observed.cell]
    chosen = np.flatnonzero((observed.cell < len(landmarks)) & is_single)
    place, growth = observed.cell[chosen], 1.0 / (1.0 - share[chosen])
    v = V[place, cell[chosen]]
    inner = of_shifted[place] + observed.weights[chosen] / alpha * growth * v**2
    latent[chosen] = 1.0 / precision[place] + rest[chosen] - (growth * v) ** 2 / inner
    return as_array(np.maximum(latent, 0.0))


# Routines of scipy.linalg.lapack and blas hold the interpreter's lock, so that threads which share
# small matrices wait for each other. These are the same routines, called by their addresses, on
# matrices in Fortran order.


def factorise(matrix: NDArray[np.floating]) -> bool:
    """Write the lower Cholesky factor of a matrix (n, n) over it; return whether it exists."""
    n, failed = c_int(len(matrix)), c_int()
    _call("lapack", "potrf", _LOWER, n, matrix, _stride(n), failed)
    return failed.value == 0


def solve_system(matrix: NDArray[np.floating], right: NDArray[np.floating]) -> bool:
    """Write the solution (n, t) over the right-hand side; return whether there is one."""
    n, n_columns, failed = c_int(len(matrix)), c_int(right.shape[1]), c_int()
    stride = _stride(n)
    _call("lapack", "posv", _LOWER, n, n_columns, matrix, stride, right, stride, failed)
    return failed.value == 0


def add_products_of_rows(
    matrix: NDArray[np.floating], rows: NDArray[np.floating], factor: float
) -> None:
    """Add ``factor rows @ rows.T`` of rows (n, m) to the lower triangle of a matrix (n, n)."""
    n, n_columns = (c_int(size) for size in rows.shape)
    number = _KINDS[matrix.dtype.char][1]
    a, c = (rows, _stride(n)), (matrix, _stride(n))
    shape = _LOWER, _AS_IT_IS, n, n_columns
    _call("blas", "syrk", *shape, number(factor), *a, number(1.0), *c)


def add_products(
    matrix: NDArray[np.floating], a: NDArray[np.floating], b: NDArray[np.floating], factor: float
) -> None:
    """Add ``factor (a.T @ b + b.T @ a)`` to the lower triangle (n, n); a and b are (m, n)."""
    n_rows, n = (c_int(size) for size in a.shape)
    number = _KINDS[matrix.dtype.char][1]
    shape = _LOWER, _TRANSPOSED, n, n_rows
    factors, c = (a, _stride(n_rows), b, _stride(n_rows)), (matrix, _stride(n))
    _call("blas", "syr2k", *shape, number(factor), *factors, number(1.0), *c)


def _stride(n_rows: c_int) -> c_int:
    """Return the leading dimension of a matrix with ``n_rows`` rows, at least one."""
    return c_int(max(1, n_rows.value))


def _call(module: str, name: str, *arguments: Any) -> None:
    """Call a LAPACK or BLAS routine, given its name without the type letter."""
    matrices = [each for each in arguments if isinstance(each, np.ndarray)]
    (kind,) = {each.dtype.char for each in matrices}
    if not all(each.flags.f_contiguous for each in matrices):
        raise ValueError(f"{name} takes matrices in Fortran order")
    addresses = (
        each.ctypes.data if isinstance(each, np.ndarray) else byref(each) for each in arguments
    )
    _routine(module, _KINDS[kind][0] + name, len(arguments))(*addresses)


@cache
def _routine(module: str, name: str, n_arguments: int) -> Callable[..., None]:
    address = get_cython_function_address(_MODULES[module], name)
    return CFUNCTYPE(None, *[c_void_p] * n_arguments)(address)

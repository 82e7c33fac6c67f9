"""Linear algebra that survives rounding."""

from contextlib import suppress
from typing import TypeVar

import numpy as np
from scipy.linalg import LinAlgError, cholesky, lapack

from bochner._numerics.arrays import Array, Floats, Index

SomeFloats = TypeVar("SomeFloats", bound=Floats)


def floored(values: SomeFloats) -> SomeFloats:
    """Raise values of a positive kernel to at least the squared rounding error, in place.

    Products of smaller values, and the entries of factors and inverses of matrices of them, soon
    are subnormal numbers, with which processors compute a hundred times as slowly. Values of the
    squared rounding error change no digit of sums with values of about one.
    """
    np.maximum(values, np.finfo(values.dtype).eps ** 2, out=values)
    return values


def jittered_cholesky(matrix: Array, ridge: float = 0.0, scale: float = 0.0) -> Array:
    """Return the lower Cholesky factor of ``matrix + ridge I`` plus the least jitter it needs.

    The jitter starts at 1e-15, about the rounding error, of the mean diagonal and grows tenfold to
    1e-6; a matrix that needs more raises ``LinAlgError``. A ``scale`` above the mean diagonal takes
    its place: that of numbers of which the matrix is a difference. Only the factor is allocated.
    """
    diagonal = np.arange(len(matrix))
    scale = max(float(np.mean(np.diagonal(matrix))), scale) + ridge
    for jitter in (0.0, *(10.0**exponent * scale for exponent in range(-15, -5))):
        # A symmetric matrix in C order is one in Fortran order, and needs no transposition.
        shifted = np.array(matrix.T, dtype=np.float64, order="F")
        shifted[diagonal, diagonal] += ridge + jitter
        with suppress(LinAlgError):
            return cholesky(shifted, lower=True, overwrite_a=True)
    raise LinAlgError("The matrix is not positive definite, even with a jitter of 1e-6.")


def pivoted_cholesky(matrix: Array) -> tuple[Array, Index]:
    r"""Return a factor of a positive semidefinite matrix (p, p) of rank r, and its pivots.

    The factor ``L`` (p, r) has :math:`L L^\top` equal to the matrix up to rounding. The pivots (r,)
    are its rows that are, in this order, lower triangular with a positive diagonal.
    """
    factor, order, rank, _ = lapack.dpstrf(matrix, lower=1)
    rows = np.asarray(order, dtype=np.intp) - 1
    lower = np.empty((len(matrix), rank))
    lower[rows] = np.tril(factor)[:, :rank]
    return lower, rows[:rank]

"""Linear algebra that survives rounding."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import LinAlgError, cholesky, lapack

from bochner._base.arrays import Array, Floats, Index
from bochner._base.threads import in_order, single_threaded_blas

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


def upper_triangle(
    values: Callable[[slice], NDArray[Any]],
    blocks: Sequence[slice],
    dtype: DTypeLike,
    n_threads: int | None = None,
) -> NDArray[Any]:
    """Return a square matrix with zeros below its diagonal, filled by blocks of rows in threads.

    ``values`` returns the rows of a block from the block's own columns on. The transpose is a lower
    triangle in Fortran order, which LAPACK factors in its place.
    """
    size = blocks[-1].stop
    matrix = np.zeros((size, size), dtype)

    def fill(block: slice) -> None:
        matrix[block, block.start :] = values(block)

    with single_threaded_blas() as n_all:
        for _ in in_order(fill, blocks, n_threads or n_all):
            pass
    return matrix


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

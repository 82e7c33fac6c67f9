"""Routines of LAPACK and BLAS during which other threads of Python go on.

Those of :mod:`scipy.linalg.lapack` and :mod:`scipy.linalg.blas` hold the interpreter's lock, so
that threads which share small matrices wait for each other. These are the same routines, called by
their addresses. Matrices are in Fortran order, in single or double precision.
"""

from collections.abc import Callable
from ctypes import CFUNCTYPE, byref, c_char, c_double, c_float, c_int, c_void_p
from functools import cache
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address
from numpy.typing import NDArray

from bochner._base.arrays import Floats

_MODULES = {"blas": "scipy.linalg.cython_blas", "lapack": "scipy.linalg.cython_lapack"}

_KINDS: dict[str, tuple[str, Any]] = {"f": ("s", c_float), "d": ("d", c_double)}
"""The letter of a routine's name, and its numbers, by the character of the matrices' type."""

_LOWER, _TRANSPOSED, _AS_IT_IS = c_char(b"L"), c_char(b"T"), c_char(b"N")


def factorise(matrix: NDArray[np.floating]) -> bool:
    """Write the lower Cholesky factor of a matrix (n, n) over its lower triangle."""
    n, failed = c_int(len(matrix)), c_int()
    _call("lapack", "potrf", _LOWER, n, matrix, _stride(n), failed)
    return failed.value == 0


def invert_factor(lower: NDArray[np.floating]) -> None:
    """Write the inverse of a matrix over the lower Cholesky factor (n, n) of it."""
    n, failed = c_int(len(lower)), c_int()
    _call("lapack", "potri", _LOWER, n, lower, _stride(n), failed)


def solve(matrix: NDArray[np.floating], right: NDArray[np.floating]) -> bool:
    """Write the solution (n, t) of a system over its right-hand side.

    The lower triangle of the matrix (n, n) becomes its Cholesky factor. Return whether the matrix
    is positive definite; if not, there is no solution.
    """
    n, n_columns, failed = c_int(len(matrix)), c_int(right.shape[1]), c_int()
    stride = _stride(n)
    _call("lapack", "posv", _LOWER, n, n_columns, matrix, stride, right, stride, failed)
    return failed.value == 0


def products_of_columns(columns: NDArray[np.floating]) -> Floats:
    """Return the lower triangle of products (n, n) of the columns of a matrix (m, n)."""
    n_rows, n = (c_int(size) for size in columns.shape)
    number = _KINDS[columns.dtype.char][1]
    products = np.zeros((n.value, n.value), dtype=columns.dtype, order="F")
    shape = _LOWER, _TRANSPOSED, n, n_rows
    a, c = (columns, _stride(n_rows)), (products, _stride(n))
    _call("blas", "syrk", *shape, number(1.0), *a, number(0.0), *c)
    return products


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
    """Add ``factor (a.T @ b + b.T @ a)`` of columns (m, n) to the lower triangle of (n, n)."""
    n_rows, n = (c_int(size) for size in a.shape)
    number = _KINDS[matrix.dtype.char][1]
    shape = _LOWER, _TRANSPOSED, n, n_rows
    factors, c = (a, _stride(n_rows), b, _stride(n_rows)), (matrix, _stride(n))
    _call("blas", "syr2k", *shape, number(factor), *factors, number(1.0), *c)


def _stride(n_rows: c_int) -> c_int:
    """Return the entries from one column to the next, which are at least one."""
    return c_int(max(1, n_rows.value))


def _call(module: str, name: str, *arguments: Any) -> None:
    """Call a routine by its name without the letter of the type."""
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

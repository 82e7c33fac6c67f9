"""Linear algebra that survives rounding."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, lapack

from bochner._numerics.arrays import Array


def jittered_cholesky(matrix: Array) -> Array:
    """Return the lower Cholesky factor of ``matrix`` plus the least jitter that it needs.

    The jitter starts at rounding error relative to the mean diagonal and grows tenfold to 1e-6.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite up to that jitter.
    """
    try:
        return cholesky(matrix, lower=True)
    except LinAlgError:
        scale = float(np.mean(np.diagonal(matrix)))
    for exponent in range(-15, -5):
        try:
            return cholesky(matrix + 10.0**exponent * scale * np.eye(len(matrix)), lower=True)
        except LinAlgError:
            continue
    raise LinAlgError("The matrix is not positive definite, even with a jitter of 1e-6.")


def pivoted_cholesky(matrix: Array) -> tuple[Array, NDArray[Any]]:
    r"""Return the factor of least rank of a positive semidefinite matrix.

    Parameters
    ----------
    matrix : ndarray of shape (p, p)

    Returns
    -------
    lower : ndarray of shape (p, r)
        :math:`L` with :math:`L L^\top` equal to the matrix up to rounding; ``r`` is its
        numerical rank.
    pivots : ndarray of shape (r,)
        Rows of ``lower`` that are lower triangular with a positive diagonal, in this order.

    Examples
    --------
    >>> import numpy as np
    >>> lower, pivots = pivoted_cholesky(np.array([[1.0, 2.0], [2.0, 4.0]]))
    >>> lower.round(12), pivots
    (array([[1.],
           [2.]]), array([1]))
    """
    factor, order, rank, _ = lapack.dpstrf(matrix, lower=1)
    rows = np.asarray(order, dtype=np.intp) - 1
    lower = np.empty((len(matrix), rank))
    lower[rows] = np.tril(factor)[:, :rank]
    return lower, rows[:rank]

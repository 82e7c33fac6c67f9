"""The Walsh-Hadamard transform, and products with blocks of it and random signs."""

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array


def hadamard_transform(array: Array) -> Array:
    """Return the orthonormal Walsh-Hadamard transform along the last axis.

    Parameters
    ----------
    array : ndarray of shape (..., D)
        ``D`` a power of two.

    Returns
    -------
    transformed : ndarray of shape (..., D)
        A new array, in ``O(D log D)`` operations a row; the transform is its own inverse.

    Raises
    ------
    ValueError
        If ``D`` is not a power of two.

    Examples
    --------
    >>> import numpy as np
    >>> hadamard_transform(np.array([3.0, 1.0, 0.0, 0.0]))
    array([2., 1., 2., 1.])
    """
    order = array.shape[-1]
    if order < 1 or order & (order - 1):
        raise ValueError(f"The last axis must have a power of two entries, got {order}.")
    result = np.array(array, dtype=np.float64)
    half = 1
    while half < order:
        pairs = result.reshape(*array.shape[:-1], order // (2 * half), 2, half)
        result = np.stack(
            [pairs[..., 0, :] + pairs[..., 1, :], pairs[..., 0, :] - pairs[..., 1, :]], -2
        )
        half *= 2
    result /= np.sqrt(order)
    return result.reshape(array.shape)


def signed_transforms(X: Array, signs: NDArray[np.int8], scale: Array) -> Array:
    r"""Return products of rows with blocks :math:`H S_q \cdots H S_1`, row by row scaled.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        In C order; rows are filled up with zeros to ``D`` entries.
    signs : ndarray of shape (b, q, D)
        Diagonals of :math:`S_1, \ldots, S_q` for each block.
    scale : ndarray of shape (m,)
        One for each of the first ``m`` of the ``b D`` rows of all blocks.

    Returns
    -------
    products : ndarray of shape (n, m)
        In :math:`O(q D \log D)` operations for a row and a block. The loop is compiled at the
        first call and kept on disk.
    """
    out = np.empty((len(X), len(scale)))
    _compiled().fill_angles(X, signs, scale * _norm(signs), out)
    return out


def reference_signed_transforms(X: Array, signs: NDArray[np.int8], scale: Array) -> Array:
    """Do what :func:`signed_transforms` does, with :func:`hadamard_transform`."""
    n_blocks, n_rounds, order = signs.shape
    values = np.zeros((len(X), n_blocks, order))
    values[:, :, : X.shape[1]] = X[:, None, :]
    for r in range(n_rounds):
        values = hadamard_transform(values * signs[:, r])
    return values.reshape(len(X), -1)[:, : len(scale)] * scale


def _norm(signs: NDArray[np.int8]) -> float:
    """Return what makes ``q`` transforms of order ``D`` orthonormal."""
    _, n_rounds, order = signs.shape
    return math.pow(order, -0.5 * n_rounds)


@cache
def _compiled() -> Any:
    # Numba takes half a second to import: not before it is needed.
    from bochner._numerics import hadamard_loops

    return hadamard_loops

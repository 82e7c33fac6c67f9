"""The Walsh-Hadamard transform."""

import numpy as np

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

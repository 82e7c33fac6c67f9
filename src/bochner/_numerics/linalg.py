"""Linear algebra that survives rounding."""

import numpy as np
from scipy.linalg import LinAlgError, cholesky

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

"""The trigonometric feature map, in blocks of rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bochner._numerics.arrays import Array, row_blocks
from bochner._numerics.waves import waves
from bochner.frequencies.envelope import Envelope


def trigonometric_features(
    X: "Array | sparse.csr_array | sparse.csr_matrix",
    omega: Array,
    phase: Array,
    amplitude: Array,
    dtype: "np.dtype[Any] | type[np.floating[Any]]",
    envelope: Envelope | None = None,
) -> NDArray[Any]:
    r"""Return :math:`[r_j \cos(\omega_j \cdot x + \theta_j)]_j \,\|\, [r_j \sin(\ldots)]_j`.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    omega : ndarray of shape (m, d)
    phase : ndarray of shape (m,)
        :math:`\theta`.
    amplitude : ndarray of shape (m,)
        :math:`r`.
    dtype : float32 or float64
        Of the computation and of the result.
    envelope : Envelope, default=None
        Of ``m`` factors, by which both features of a frequency are multiplied.

    Returns
    -------
    Z : ndarray of shape (n, 2m)
        Nothing else of size n is allocated: the angles exist for one block of rows at a time.
    """
    n_frequencies = len(omega)
    transposed = np.ascontiguousarray(omega.T, dtype=dtype)
    theta = phase.astype(dtype)
    radius = amplitude.astype(dtype)
    Z = np.empty((X.shape[0], 2 * n_frequencies), dtype=dtype)
    for rows in row_blocks(X.shape[0], Z.itemsize * n_frequencies):
        angle = X[rows].astype(dtype, copy=False) @ transposed
        angle += theta
        factors = radius if envelope is None else radius * envelope.factors(X[rows]).astype(dtype)
        out = Z[rows].reshape(-1, 2, n_frequencies)
        waves(angle, 1.0, out)
        out *= factors[..., None, :]
    return Z

"""The trigonometric feature map, in blocks of rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bochner._numerics.arrays import Array, row_blocks
from bochner._numerics.threads import in_order, scratch, single_threaded_blas
from bochner._numerics.waves import feature_waves
from bochner.frequencies.envelope import Envelope
from bochner.sampling import HadamardRows, Matrix

_BLOCK_BYTES = 2**20
"""Of angles, which stay in a core's own cache until they are features."""


def trigonometric_features(
    X: "Array | sparse.csr_array | sparse.csr_matrix",
    omega: Matrix,
    phase: Array,
    amplitude: Array,
    dtype: "np.dtype[Any] | type[np.floating[Any]]",
    envelope: Envelope | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    r"""Return :math:`[r_j \cos(\omega_j \cdot x + \theta_j)]_j \,\|\, [r_j \sin(\ldots)]_j`.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    omega : ndarray or HadamardRows of shape (m, d)
    phase : ndarray of shape (m,)
        :math:`\theta`.
    amplitude : ndarray of shape (m,)
        :math:`r`.
    dtype : float32 or float64
        Of the result.
    envelope : Envelope, default=None
        Of ``m`` factors, by which both features of a frequency are multiplied.
    out : ndarray of shape (n, 2m), default=None
        Of that type, in C order: where to write the result.

    Returns
    -------
    Z : ndarray of shape (n, 2m)
        Nothing else of size n is allocated: angles exist for a block of rows in each thread.
    """
    angles, m = _angles(omega), len(phase)
    radius = amplitude.astype(dtype)
    Z = np.empty((X.shape[0], 2 * m), dtype=dtype) if out is None else out

    def fill(rows: slice) -> None:
        # In float64 whatever the type of the features: what a large angle loses is not regained.
        angle = angles(X[rows].astype(np.float64, copy=False))
        waves = Z[rows].reshape(len(angle), 2, m)
        feature_waves(angle, phase, radius, waves)
        if envelope is not None:
            waves *= envelope.factors(X[rows]).astype(dtype)[:, None, :]

    blocks = list(row_blocks(X.shape[0], 8 * m, block_bytes=_BLOCK_BYTES))
    with single_threaded_blas() as n_threads:
        for _ in in_order(fill, blocks, n_threads):
            pass
    return Z


def _angles(omega: Matrix) -> Callable[[Any], Array]:
    """Return the map from a block of rows, dense or CSR, to the angles of all frequencies."""
    if isinstance(omega, HadamardRows):
        return omega.angles
    transposed = np.ascontiguousarray(omega.T)

    def products(X: Any) -> Array:
        if not isinstance(X, np.ndarray):
            product: Array = X @ transposed
            return product
        return np.matmul(X, transposed, out=scratch(len(X), transposed.shape[1]))

    return products

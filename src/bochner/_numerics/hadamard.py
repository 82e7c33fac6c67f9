"""Products with blocks of Hadamard matrices and random signs."""

import math

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array


def signed_transforms(X: Array, signs: NDArray[np.int8], scale: Array) -> Array:
    r"""Return the products (n, m) of rows with blocks :math:`H S_q \cdots H S_1`, scaled.

    ``H`` is the orthonormal Walsh-Hadamard matrix of order D, a power of two. Rows ``X`` (n, d), in
    C order, are padded with zeros to D entries; ``signs`` (b, q, D) are the diagonals of
    :math:`S_1, \ldots, S_q` of each block; ``scale`` (m,) belongs to the first m of the b D rows of
    all blocks. A row takes :math:`O(q D \log D)` operations per block. The loop is compiled at the
    first call and cached on disk.
    """
    # Numba takes half a second to import: not before it is needed.
    from bochner._numerics.hadamard_loops import fill_angles

    _, n_rounds, order = signs.shape
    norm = math.pow(order, -0.5 * n_rounds)  # makes all rounds orthonormal
    out = np.empty((len(X), len(scale)))
    fill_angles(X, signs, scale * norm, out)
    return out

"""The trigonometric feature map, in blocks of rows."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bochner._base import limits
from bochner._base.arrays import Array, Floats, row_blocks
from bochner._base.threads import in_order, single_threaded_blas
from bochner._base.waves import write_waves
from bochner.spectral.amplitudes import Amplitudes
from bochner.spectral.factors import CosineFactors, Envelope
from bochner.spectral.hadamard import Matrix
from bochner.spectral.wave_formulas import MemoryLayout, angle_map

Side = tuple[Matrix, Array, Array, Envelope | None, CosineFactors | Amplitudes | None]
"""Frequencies, phases, amplitudes and factors of the left or the right features: envelope
and modulation."""


def trigonometric_features(
    X: "Array | sparse.csr_array | sparse.csr_matrix",
    omega: Matrix,
    phase: Array,
    amplitude: Array,
    envelope: Envelope | None,
    modulation: CosineFactors | Amplitudes | None,
    *,
    dtype: np.dtype[np.generic] | type[np.floating],
    out: NDArray[np.floating] | None = None,
) -> Floats:
    r"""Return :math:`[r_j \cos(\omega_j \cdot x + \theta_j)]_j \,\|\, [r_j \sin(\ldots)]_j`.

    The features have shape (n, 2m) for rows ``X`` (n, d), dense or CSR, :math:`\omega` (m, d),
    ``phase`` :math:`\theta` (m,) and ``amplitude`` r (m,). Both features of a frequency are
    multiplied by its factors of ``envelope`` and ``modulation``. ``out`` has type ``dtype`` and
    is in C order. No other array of size n is allocated: threads hold angles of one block each.
    """
    angles, m, layout = angle_map(omega, MemoryLayout.BY_SAMPLE), len(phase), MemoryLayout.BY_SAMPLE
    Z = np.empty((X.shape[0], 2 * m), dtype=dtype) if out is None else out

    def fill(rows: slice) -> None:
        # In float64 for every type of features, because rounding of large angles is irreversible.
        wide = X[rows].astype(np.float64, copy=False)
        waves = layout.pairs(Z[rows])
        write_waves(angles(wide), waves, phase, amplitude)
        if envelope is not None:
            waves *= envelope.factors(X[rows]).astype(dtype)[:, None, :]
        if modulation is not None:
            waves *= modulation.factors(wide).astype(dtype, copy=False)[:, None, :]

    blocks = list(row_blocks(X.shape[0], 16 * m, block_bytes=limits.CACHE_BLOCK_BYTES))
    with single_threaded_blas() as n_threads:
        for _ in in_order(fill, blocks, n_threads):
            pass
    return Z

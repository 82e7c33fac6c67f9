"""The trigonometric feature map, in blocks of rows."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from bochner._base import limits
from bochner._base.arrays import Array, Floats, InputRows, row_blocks
from bochner._base.namespaces import like, namespace, retyped, taken, widened
from bochner._base.threads import in_order, single_threaded_blas
from bochner._base.waves import write_waves
from bochner.spectral.amplitudes import Amplitudes
from bochner.spectral.factors import CosineFactors, Envelope
from bochner.spectral.hadamard import HadamardRows, Matrix
from bochner.spectral.wave_formulas import MemoryLayout, angle_map

_TURN = 2.0 * np.pi
"""Radians of a whole turn."""

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
    factors = None if modulation is None else modulation.to_device_of(X)
    Z = np.empty((X.shape[0], 2 * m), dtype=dtype) if out is None else out

    def fill(rows: slice) -> None:
        # In float64 for every type of features, because rounding of large angles is irreversible.
        wide = X[rows].astype(np.float64, copy=False)
        waves = layout.pairs(Z[rows])
        write_waves(angles(wide), waves, phase, amplitude)
        if envelope is not None:
            waves *= envelope.factors(X[rows]).astype(dtype)[:, None, :]
        if factors is not None:
            waves *= factors(wide).astype(dtype, copy=False)[:, None, :]

    blocks = list(row_blocks(X.shape[0], 16 * m, block_bytes=limits.CACHE_BLOCK_BYTES))
    with single_threaded_blas() as n_threads:
        for _ in in_order(fill, blocks, n_threads):
            pass
    return Z


class DeviceMap:
    """The map for rows of the namespace and on the device of ``X``, where all its numbers are."""

    def __init__(
        self,
        X: InputRows,
        omega: Matrix,
        phase: Array,
        amplitude: Array,
        envelope: Envelope | None,
        modulation: CosineFactors | Amplitudes | None,
    ) -> None:
        wide = widened(taken(X, slice(0, 0)))
        self._blocks = omega if isinstance(omega, HadamardRows) else None
        transposed = (
            np.empty(0) if self._blocks is not None else np.ascontiguousarray(np.asarray(omega).T)
        )
        self._numbers = tuple(like(values, wide) for values in (transposed, phase, amplitude))
        self._has_phases = bool(phase.any())
        self._envelope = envelope
        self._modulation = None if modulation is None else modulation.to_device_of(wide)

    @property
    def n_frequencies(self) -> int:
        """Number of frequencies, ``m``."""
        return int(self._numbers[1].shape[0])

    def to_device_of(self, X: InputRows) -> "DeviceMap":
        """Return the map itself."""
        return self

    def features(self, X: Any, dtype: DTypeLike | None = None, out: object = None) -> Any:
        """Return features (n, 2m) in ``dtype``, by default that of ``X``; ``out`` is ignored."""
        xp, m = namespace(X), self.n_frequencies
        omega, phase, amplitude = self._numbers
        dtype = retyped(taken(X, slice(0, 0)), dtype or X.dtype).dtype
        Z = xp.empty((X.shape[0], 2 * m), dtype=dtype, device=X.device)
        for rows in row_blocks(X.shape[0], 16 * m, block_bytes=_block_bytes(X)):
            block = widened(taken(X, rows))
            angle = block @ omega if self._blocks is None else self._blocks.device_angles(block)
            if self._has_phases:
                angle = angle + phase
            radius = amplitude
            if self._envelope is not None:
                radius = radius * self._envelope.factors(block)
            if self._modulation is not None:
                radius = radius * self._modulation(block)
            # Whole turns are taken away in the wide type: what is left is a number of the other.
            if angle.dtype != dtype:
                angle = angle - xp.round(angle / _TURN) * _TURN
            angle, radius = retyped(angle, dtype), retyped(radius, dtype)
            # In place: a pass over the memory takes as long as a wave.
            for columns, wave in ((slice(0, m), xp.cos), (slice(m, 2 * m), xp.sin)):
                made = wave(angle)
                made *= radius
                Z[rows, columns] = made
        return Z


def _block_bytes(X: Any) -> int:
    """Return the size in bytes of feature blocks; blocks on a CPU should fit in its cache."""
    is_cpu = "cpu" in str(X.device).lower()
    return limits.BLOCK_BYTES if is_cpu else limits.DEVICE_BLOCK_BYTES

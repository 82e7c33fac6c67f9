r"""Features :math:`r \cos(\omega \cdot x + \theta)` and :math:`r \sin(\omega \cdot x + \theta)`."""

import logging
from collections.abc import Callable
from enum import Enum
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._base import limits
from bochner._base.arrays import Array, Floats, Scratch, row_blocks
from bochner._base.threads import in_order, single_threaded_blas
from bochner.spectral.feature_factors import FeatureFactor
from bochner.spectral.hadamard import HadamardRows, Matrix

_ANGLES = Scratch()


class MemoryLayout(Enum):
    """Inputs (n, d) and features (n, 2m), cosines first, by sample; both transposed by wave."""

    BY_SAMPLE = "by sample"
    BY_WAVE = "by wave"

    def pairs(self, Z: NDArray[np.floating]) -> Floats:
        """Return a view of features ``Z`` of shape (n, 2, m) by sample, or (m, 2, n) by wave."""
        if self is MemoryLayout.BY_SAMPLE:
            return Z.reshape(len(Z), 2, Z.shape[1] // 2)
        return Z.reshape(len(Z) // 2, 2, Z.shape[1])


def angle_map(omega: Matrix, layout: MemoryLayout) -> Callable[[Any], NDArray[Any]]:
    r"""Return the map of a block to :math:`\omega \cdot x`, (n, m) by sample in reused memory."""
    if layout is MemoryLayout.BY_WAVE:
        frequencies = np.asarray(omega)
        return lambda inputs: frequencies.astype(inputs.dtype, copy=False) @ inputs
    if isinstance(omega, HadamardRows):
        return omega.angles
    transposed = np.ascontiguousarray(omega.T)

    def products(X: Any) -> NDArray[Any]:
        if not isinstance(X, np.ndarray):
            product: Array = X @ transposed
            return product
        return np.matmul(X, transposed, out=_ANGLES.block(len(X), transposed.shape[1]))

    return products


def wave_features(
    inputs: object,
    omega: Matrix,
    layout: MemoryLayout,
    *,
    phase: Array | None = None,
    amplitude: float = 1.0,
    out: NDArray[np.floating] | None = None,
) -> NDArray[Any]:
    """Return the features of one block of inputs, (n, 2m) by sample and (2m, n) by wave."""
    angle = angle_map(omega, layout)(inputs)
    if layout is MemoryLayout.BY_WAVE and phase is not None:
        angle += phase[:, None].astype(angle.dtype, copy=False)
        phase = None
    if out is None:
        rows, columns = angle.shape
        shape = (rows, 2 * columns) if layout is MemoryLayout.BY_SAMPLE else (2 * rows, columns)
        out = np.empty(shape, dtype=angle.dtype)
    write_waves(angle, layout.pairs(out), phase, amplitude)
    return out


def angle_gradient(waves: NDArray[np.floating], slope: NDArray[np.floating]) -> NDArray[Any]:
    r"""Return derivatives :math:`a\, \partial_b - b\, \partial_a` by the angles of features."""
    angle: Floats = waves[:, 0] * slope[:, 1]
    angle -= waves[:, 1] * slope[:, 0]
    return angle


def trigonometric_features(
    X: Any, omega: Matrix, phase: Array, amplitude: Array, factor: FeatureFactor | None, out: Floats
) -> Floats:
    r"""Write :math:`[r_j \cos(\omega_j \cdot x + \theta_j)]_j \,\|\, [r_j \sin(\ldots)]_j`.

    These features of rows ``X`` (n, d) are multiplied by the values of ``factor`` and written to
    ``out`` (n, 2m); :math:`\omega` is (m, d), ``phase`` and ``amplitude`` are (m,).
    """
    angles, m = angle_map(omega, MemoryLayout.BY_SAMPLE), len(phase)

    def fill(rows: slice) -> None:
        # In float64 for every type of features, because rounding of large angles is irreversible.
        wide = X[rows].astype(np.float64, copy=False)
        waves = out[rows].reshape(-1, 2, m)
        write_waves(angles(wide), waves, phase, amplitude)
        if factor is not None:
            waves *= factor.values(wide).astype(out.dtype, copy=False)[:, None, :]

    blocks = list(row_blocks(X.shape[0], 16 * m, block_bytes=limits.CACHE_BLOCK_BYTES))
    with single_threaded_blas() as n_threads:
        for _ in in_order(fill, blocks, n_threads):
            pass
    return out


_LOG = logging.getLogger("bochner")


def write_waves(
    angle: NDArray[np.floating],
    out: NDArray[np.floating],
    phase: Array | None = None,
    amplitude: float | Floats = 1.0,
) -> None:
    r"""Write :math:`r_j \cos(\alpha_{ij} + \theta_j)` and the same sines, row by row.

    Angles :math:`\alpha` are (r, c) and phases (c,); cosines go to ``out[:, 0]``, sines to ``out[:,
    1]``.
    """
    n_rows, n_angles = angle.shape
    shift = 0.0 if phase is None else phase
    sizes = {np.shape(shift), np.shape(amplitude)} - {(), (n_angles,)}
    if out.shape != (n_rows, 2, n_angles) or sizes:
        raise ValueError(f"Waves of {angle.shape} angles do not fit {out.shape} or {sizes}.")
    radius = np.asarray(amplitude, dtype=out.dtype)[()]
    if not _compiled().fill(angle, shift, radius, out):
        reference_waves(angle, out, shift, radius)


def reference_waves(
    angle: Floats, out: Floats, phase: Array | float, amplitude: float | Floats
) -> None:
    """Compute the result of :func:`write_waves` with NumPy's functions."""
    theta = angle + phase
    out[:, 0] = np.cos(theta)
    out[:, 1] = np.sin(theta)
    out *= amplitude


@cache
def _compiled() -> ModuleType:
    # Imported here, because Numba takes half a second to import.
    _LOG.info("Loading the loops of sines and cosines; the first time they are compiled.")
    from bochner._base import wave_loops

    return wave_loops

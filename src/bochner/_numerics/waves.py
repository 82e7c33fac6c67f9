"""Cosines and sines of many angles, the inner loop of every trigonometric feature."""

import logging
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array

_LOG = logging.getLogger("bochner")


def write_waves(
    angle: NDArray[Any],
    out: NDArray[Any],
    phase: Array | None = None,
    amplitude: float | NDArray[Any] = 1.0,
) -> None:
    r"""Write :math:`r_j \cos(\alpha_{ij} + \theta_j)` and the sines of every angle, row by row.

    Parameters
    ----------
    angle : ndarray of shape (r, c)
        :math:`\alpha` in radians, float32 or float64, in C order.
    out : ndarray of shape (r, 2, c)
        float32 or float64, in C order: cosines in ``out[:, 0]``, sines in ``out[:, 1]``.
    phase : ndarray of shape (c,), default=None
        :math:`\theta`, float64; ``None`` means zero.
    amplitude : float or ndarray of shape (c,), default=1.0
        :math:`r`, rounded to the type of ``out``.

    Notes
    -----
    Angles are reduced to within :math:`\pi / 4` in float64, whatever their type. Errors for an
    amplitude of one, against exact functions of the angles as they are: at most 2.3e-16 for float64
    and 1.2e-7 for float32, up to 1e5 radians; NumPy's functions compute an array with
    angles beyond. The loop is compiled at the first call and cached on disk.
    """
    shift = 0.0 if phase is None else phase
    radius = np.asarray(amplitude, dtype=out.dtype)[()]
    if not _compiled().fill(angle, shift, radius, out):
        reference_waves(angle, out, shift, radius)


def reference_waves(
    angle: NDArray[Any], out: NDArray[Any], phase: Array | float, amplitude: Any
) -> None:
    """Do what :func:`write_waves` does, with NumPy's functions."""
    theta = angle + phase
    out[:, 0] = np.cos(theta)
    out[:, 1] = np.sin(theta)
    out *= amplitude


@cache
def _compiled() -> Any:
    # Numba takes half a second to import: not before it is needed.
    _LOG.info("Loading the loops of sines and cosines; the first time they are compiled.")
    from bochner._numerics import wave_loops

    return wave_loops

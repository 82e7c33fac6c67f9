"""Cosines and sines of many angles, the inner loop of every trigonometric feature."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

FARTHEST = 1e5
"""Radians up to which the compiled loop reduces angles; NumPy takes those beyond."""


def waves(angle: NDArray[Any], scale: float, out: NDArray[Any]) -> None:
    r"""Write :math:`a \cos \theta` and :math:`a \sin \theta` of every angle, row by row.

    Parameters
    ----------
    angle : ndarray of shape (r, n)
        :math:`\theta` in radians, float32 or float64, in C order.
    scale : float
        :math:`a`.
    out : ndarray of shape (r, 2, n)
        Of the angles' type and in C order: cosines in ``out[:, 0]``, sines in ``out[:, 1]``.

    Notes
    -----
    Angles are reduced to within :math:`\pi / 4` in float64, whatever their type. Errors for
    ``scale=1``, against exact functions of the angles as they are: at most 2.3e-16 for float64
    and 1.2e-7 for float32, up to :data:`FARTHEST`. The loop is compiled at the first call and
    kept on disk.
    """
    if not _compiled()(angle, angle.dtype.type(scale), out):
        reference_waves(angle, scale, out)


def reference_waves(angle: NDArray[Any], scale: float, out: NDArray[Any]) -> None:
    """Do what :func:`waves` does, with NumPy's functions."""
    np.cos(angle, out=out[:, 0])
    np.sin(angle, out=out[:, 1])
    out *= out.dtype.type(scale)


@cache
def _compiled() -> Callable[..., bool]:
    # Numba takes half a second to import: not before it is needed.
    from bochner._numerics.wave_loops import fill

    return fill

r"""The compiled loop of :mod:`bochner.spectral.wave_formulas`, on whole vector registers.

In float64 an angle is :math:`k \pi/2 + r` with :math:`|r| \le \pi/4`; the quarter ``k`` exchanges
polynomials of sine and cosine (fdlibm, 1993) and gives their signs. In float32 an angle is
:math:`2 \pi (k + f)`, and one polynomial computes both, as
:math:`\cos 2 \pi f = \sin 2 \pi (1/4 - |f|)`; ``f`` is computed in float64.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from bochner._base.arrays import Floats
from bochner._base.compiling import compiled, inner
from bochner._base.vector_loops import LOOSE

FARTHEST = 1e5
"""Radians up to which the loop reduces angles; arrays with angles beyond are left to the caller.
The reduction is exact up to 1.6 million (2**20 quarters); half or twice changes no result."""

_QUARTERS = 2.0 / math.pi  # Quarters of a turn per radian
_HIGH = 1.57079632673412561417e00
"""First 33 bits of half of pi, so that its products with quarters up to 2^20 are exact."""

_LOW = 6.07710050650619224932e-11  # Half of pi less its first 33 bits
_TURNS = 0.5 / math.pi
"""Turns per radian. Rounding of the product is below 1e-11 of a turn for angles to ``FARTHEST``."""

_SHIFTER = 6755399441055744.0
"""1.5 times 2 to the 52nd: a sum with it is a whole number, the nearest one."""

_FRACTIONS = 65_536
"""Fractions of turns that are computed before their waves: 256 kB, within the second cache."""

_QUARTER, _ZERO = np.float32(0.25), np.float32(0.0)  # float64 would promote the waves

_S1, _S3, _S5, _S7, _S9 = (
    np.float32(6.283185005187988),
    np.float32(-41.341617584228516),
    np.float32(81.59864807128906),
    np.float32(-76.49602508544922),
    np.float32(39.13364028930664),
)
"""Coefficients of the odd polynomial nearest to the sine of a quarter of a turn, fitted one after
the other, each rounded before the next. The polynomial differs by at most 7.6e-9 from the sine."""


@inner(fastmath=LOOSE, inline="always")
def _polynomials(r: float) -> tuple[float, float]:
    """Return sine and cosine of an angle in [-pi/4, pi/4]."""
    z = r * r
    p = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
    p = -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * p)
    sine = r + r * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * p))
    p = 2.08757232129817482790e-09 - z * 1.13596475577881948265e-11
    p = 2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * p)
    p = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * p)
    return sine, 1.0 - 0.5 * z + z * z * p


@inner(fastmath=LOOSE, inline="always")
def _wave(theta: float) -> tuple[float, float]:
    """Return cosine and sine of an angle in float64."""
    quarter = np.floor(theta * _QUARTERS + 0.5)
    sine, cosine = _polynomials((theta - quarter * _HIGH) - quarter * _LOW)
    k = np.int32(quarter)
    swapped = (k & 1) != 0
    first = sine if swapped else cosine
    second = cosine if swapped else sine
    return -first if ((k + 1) & 2) != 0 else first, -second if (k & 2) != 0 else second


@inner(fastmath=LOOSE, inline="always")
def _sine_of_turns(turn: np.float32) -> np.float32:
    """Return the float32 sine of an angle of at most a quarter of a turn."""
    z = turn * turn
    p = z * (_S7 + z * _S9)
    return turn * _S1 + turn * z * (_S3 + z * (_S5 + p))


def _at(values: float | Floats, j: int) -> float:
    """Return entry ``j`` of an array, or the number itself if ``values`` is a scalar."""
    raise NotImplementedError


@overload(_at, inline="always")
def _at_by_type(values: Any, j: int) -> Any:
    def entry(values: Any, j: int) -> Any:
        return values[j]

    def number(values: Any, j: int) -> Any:
        return values

    return entry if isinstance(values, types.Array) else number


# Rows are passed as arguments, so that the compiler knows that they are contiguous.
@inner(fastmath=LOOSE)
def _fill_row(
    angle: Floats, phase: float | Floats, amplitude: float | Floats, cosines: Floats, sines: Floats
) -> int:
    n_far = 0
    for j in range(angle.size):
        theta = np.float64(angle[j]) + _at(phase, j)
        n_far += not abs(theta) <= FARTHEST
        cosine, sine = _wave(theta)
        cosines[j] = _at(amplitude, j) * cosine
        sines[j] = _at(amplitude, j) * sine
    return n_far


@inner(fastmath=LOOSE)
def _fractions_of_turns(
    angle: Floats, phase: float | Floats, fractions: NDArray[np.float32]
) -> int:
    n_far = 0
    for j in range(angle.size):
        theta = np.float64(angle[j]) + _at(phase, j)
        n_far += not abs(theta) <= FARTHEST
        turns = theta * _TURNS
        fractions[j] = np.float32(turns - ((turns + _SHIFTER) - _SHIFTER))
    return n_far


@inner(fastmath=LOOSE)
def _cosines_of_turns(
    fractions: NDArray[np.float32], amplitude: float | Floats, out: NDArray[np.float32]
) -> None:
    for j in range(fractions.size):
        out[j] = _at(amplitude, j) * -_sine_of_turns(abs(fractions[j]) - _QUARTER)


@inner(fastmath=LOOSE)
def _sines_of_turns(
    fractions: NDArray[np.float32], amplitude: float | Floats, out: NDArray[np.float32]
) -> None:
    for j in range(fractions.size):
        size = _QUARTER - abs(abs(fractions[j]) - _QUARTER)
        within = -size if fractions[j] < _ZERO else size
        out[j] = _at(amplitude, j) * _sine_of_turns(within)


def _fill(angle: Floats, phase: float | Floats, amplitude: float | Floats, out: Floats) -> int:
    """Write cosines and sines to ``out``; return the number of angles beyond ``FARTHEST``."""
    raise NotImplementedError


@overload(_fill, jit_options={"fastmath": LOOSE})
def _fill_by_type(
    angle: Floats, phase: float | Floats, amplitude: float | Floats, out: Floats
) -> Callable[..., int]:
    def single(angle: Floats, phase: float | Floats, amplitude: float | Floats, out: Floats) -> int:
        n_far, rows = 0, max(1, min(len(angle), _FRACTIONS // max(1, angle.shape[1])))
        fractions = np.empty((rows, angle.shape[1]), np.float32)
        for start in range(0, len(angle), rows):
            size = min(rows, len(angle) - start)
            for i in range(size):
                n_far += _fractions_of_turns(angle[start + i], phase, fractions[i])
            # First all cosines, then all sines, because processors prefetch one output stream best.
            for i in range(size):
                _cosines_of_turns(fractions[i], amplitude, out[start + i, 0])
                _sines_of_turns(fractions[i], amplitude, out[start + i, 1])
        return n_far

    def double(angle: Floats, phase: float | Floats, amplitude: float | Floats, out: Floats) -> int:
        n_far = 0
        for i in range(len(angle)):
            n_far += _fill_row(angle[i], phase, amplitude, out[i, 0], out[i, 1])
        return n_far

    return single if out.dtype == types.float32 else double


@compiled(fastmath=LOOSE)
def fill(angle: Floats, phase: float | Floats, amplitude: float | Floats, out: Floats) -> bool:
    """Write cosines and sines; return whether all angles are finite and at most ``FARTHEST``."""
    return _fill(angle, phase, amplitude, out) == 0

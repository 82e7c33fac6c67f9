r"""The compiled loop of :mod:`bochner._numerics.waves`.

An angle is :math:`k \pi/2 + r` with :math:`|r| \le \pi/4`; sine and cosine of ``r`` are
polynomials, and the quarter ``k`` exchanges them and gives their signs. Without branches or
table look-ups, the loop runs on whole vector registers.

References
----------
Cody and Waite, "Software manual for the elementary functions", 1980, for the reduction with
:math:`\pi/2` in parts. The coefficients for float64 are those of fdlibm (Sun Microsystems,
1993), those for float32 of Cephes (Moshier, 1992).
"""

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from bochner._numerics.compiling import compiled, inner

FARTHEST = 1e5
"""Radians up to which the loop reduces angles; arrays with angles beyond are left to the caller.
The reduction is exact up to 1.6 million (2**20 quarters); half or twice changes no result."""

_QUARTERS = 2.0 / math.pi
"""Quarters of a turn per radian."""

_HIGH = 1.57079632673412561417e00
"""First 33 bits of half of pi, so that its products with quarters up to 2^20 are exact."""

_LOW = 6.07710050650619224932e-11
"""Half of pi less its first 33 bits."""

LOOSE = {"contract", "nsz"}
"""Allow fused products and sums, and either sign of zero; order and rounding stay."""


def _polynomials(r: Any) -> Any:
    """Return sine and cosine of numbers within a quarter of pi, in their own type."""
    raise NotImplementedError


@overload(_polynomials, inline="always", jit_options={"fastmath": LOOSE})
def _polynomials_by_type(r: Any) -> Any:
    if r == types.float32:

        def single(r: Any) -> Any:
            z = r * r
            p = np.float32(8.3321608736e-3) + z * np.float32(-1.9515295891e-4)
            sine = r + r * z * (np.float32(-1.6666654611e-1) + z * p)
            p = np.float32(-1.388731625493765e-3) + z * np.float32(2.443315711809948e-5)
            p = np.float32(4.166664568298827e-2) + z * p
            return sine, np.float32(1.0) - np.float32(0.5) * z + z * z * p

        return single

    def double(r: Any) -> Any:
        z = r * r
        p = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
        p = -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * p)
        sine = r + r * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * p))
        p = 2.08757232129817482790e-09 - z * 1.13596475577881948265e-11
        p = 2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * p)
        p = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * p)
        return sine, 1.0 - 0.5 * z + z * z * p

    return double


@inner(fastmath=LOOSE, inline="always")
def _wave(theta: float, like: NDArray[Any]) -> Any:
    """Return cosine and sine, of the type of the entries of ``like``."""
    quarter = np.floor(theta * _QUARTERS + 0.5)
    remainder = (theta - quarter * _HIGH) - quarter * _LOW
    sine, cosine = _polynomials(like.dtype.type(remainder))
    k = np.int32(quarter)
    swapped = (k & 1) != 0
    first = sine if swapped else cosine
    second = cosine if swapped else sine
    return -first if ((k + 1) & 2) != 0 else first, -second if (k & 2) != 0 else second


def _at(values: Any, j: int) -> Any:
    """Return entry ``j`` of an array, or a number that is the same for all entries."""
    raise NotImplementedError


@overload(_at, inline="always")
def _at_by_type(values: Any, j: int) -> Any:
    def entry(values: Any, j: int) -> Any:
        return values[j]

    def number(values: Any, j: int) -> Any:
        return values

    return entry if isinstance(values, types.Array) else number


# Rows are arguments of a function: only then is it known that their entries are contiguous.
@inner(fastmath=LOOSE)
def _fill_row(
    angle: NDArray[Any], phase: Any, amplitude: Any, cosines: NDArray[Any], sines: NDArray[Any]
) -> int:
    n_far = 0
    for j in range(angle.size):
        theta = np.float64(angle[j]) + _at(phase, j)
        n_far += not abs(theta) <= FARTHEST
        cosine, sine = _wave(theta, cosines)
        cosines[j] = _at(amplitude, j) * cosine
        sines[j] = _at(amplitude, j) * sine
    return n_far


@compiled(fastmath=LOOSE)
def fill(angle: NDArray[Any], phase: Any, amplitude: Any, out: NDArray[Any]) -> bool:
    """Write cosines and sines; return whether every angle is a number of at most FARTHEST."""
    n_far = 0
    for i in range(angle.shape[0]):
        n_far += _fill_row(angle[i], phase, amplitude, out[i, 0], out[i, 1])
    return n_far == 0

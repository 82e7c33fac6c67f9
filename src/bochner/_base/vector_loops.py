"""Sums and copies of vectors for compiled loops, and flags of the compiler.

Pass rows of matrices to these functions, so that the compiler knows that they are contiguous.
"""

from bochner._base.arrays import Floats
from bochner._base.compiling import inner

LOOSE = {"contract", "nsz"}
"""Allow fused products and sums, and either sign of zero; order and rounding stay."""

FASTER = LOOSE | {"reassoc"}
"""Allow another order of sums, too; NaN still marks unknown values and failures."""


@inner(fastmath=FASTER)
def dot(left: Floats, right: Floats) -> float:
    """Return the inner product of two vectors."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


# Assignments `out[:] = values` would compile the message on shapes that differ: three seconds.
@inner(fastmath=LOOSE)
def copy(values: Floats, out: Floats) -> None:
    """Write ``values`` to ``out``."""
    for i in range(out.size):
        out[i] = values[i]


@inner(fastmath=LOOSE)
def add(factor: float, values: Floats, out: Floats) -> None:
    """Add ``factor`` times ``values`` to ``out``."""
    for i in range(out.size):
        out[i] += factor * values[i]

"""The compiled loop of :class:`bochner.experimental.Hashes`."""

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner._numerics.compiling import compiled, inner

# SplitMix64: 2^64 over the golden ratio, and the two odd multipliers of its finaliser (Steele, Lea
# and Flood, "Fast splittable pseudorandom number generators", 2014)
_GOLDEN, _FIRST, _SECOND = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)
# Its shifts, that to the first bit, and what this bit is then for positive signs
_30, _27, _31, _63, _ONE = (
    np.uint64(30),
    np.uint64(27),
    np.uint64(31),
    np.uint64(63),
    np.uint64(1),
)


@inner()
def _mixed(state: np.uint64) -> np.uint64:
    """Return 64 pseudorandom bits, a bijection of the given bits."""
    z = state + _GOLDEN
    z = (z ^ (z >> _30)) * _FIRST
    z = (z ^ (z >> _27)) * _SECOND
    return z ^ (z >> _31)


@compiled()
def fill_signs(
    logs: Array,
    indices: NDArray[np.int64],
    starts: NDArray[np.int64],
    step: Array,
    shift: Array,
    log_cost: Array,
    keys: NDArray[np.uint64],
    out: Array,
) -> None:
    """Write the signs (n, h) of the hashes of rows.

    Rows are CSR: the logarithms of their positive entries, their columns, and where each row
    starts. ``step``, ``shift`` and ``log_cost`` have shape (h, q), and ``keys`` (h,).
    """
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            least, chosen, level = np.inf, -1, 0.0
            for entry in range(starts[i], starts[i + 1]):
                column = indices[entry]
                r, beta = step[j, column], shift[j, column]
                t = np.floor(logs[entry] / r + beta)
                cost = log_cost[j, column] - r * (t - beta + 1.0)
                if cost < least:
                    least, chosen, level = cost, column, t
            bits = _mixed(keys[j] ^ _mixed(np.uint64(chosen + 1)))
            bits = _mixed(bits ^ np.uint64(np.int64(level)))
            out[i, j] = 1.0 if bits >> _63 == _ONE else -1.0

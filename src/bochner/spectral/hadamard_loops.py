"""The compiled loop of :class:`bochner.spectral.hadamard.HadamardRows`."""

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, Floats
from bochner._base.compiling import compiled, inner
from bochner._base.vector_loops import LOOSE


@inner(fastmath=LOOSE)
def _two(old: Array, new: Array) -> None:
    half = old.size // 2
    for i in range(half):
        new[i] = old[2 * i] + old[2 * i + 1]
        new[i + half] = old[2 * i] - old[2 * i + 1]


@inner(fastmath=LOOSE)
def _four(old: Array, new: Array) -> None:
    """Apply two passes of :func:`_two` at once."""
    quarter = old.size // 4
    for i in range(quarter):
        low, high = old[4 * i] + old[4 * i + 1], old[4 * i + 2] + old[4 * i + 3]
        new[i] = low + high
        new[i + 2 * quarter] = low - high
        low, high = old[4 * i] - old[4 * i + 1], old[4 * i + 2] - old[4 * i + 3]
        new[i + quarter] = low + high
        new[i + 3 * quarter] = low - high


@inner(fastmath=LOOSE)
def _transform(values: Array, spare: Array) -> tuple[Array, Array]:
    """Return the unscaled Hadamard transform of ``values``, and the array that is then unused."""
    size = 1
    while 4 * size <= values.size:
        _four(values, spare)
        values, spare = spare, values
        size *= 4
    if size < values.size:
        _two(values, spare)
        values, spare = spare, values
    return values, spare


@inner(fastmath=LOOSE)
def _times(values: Array, factors: Floats, out: Array) -> None:
    for i in range(out.size):
        out[i] = values[i] * factors[i]


@compiled(fastmath=LOOSE)
def fill_angles(X: Array, signs: NDArray[np.int8], scale: Array, out: Array) -> None:
    """Write the products of rows ``X`` (n, d) with all Hadamard blocks to ``out`` (n, m)."""
    n_blocks, n_rounds, order = signs.shape
    dim, m = X.shape[1], scale.size
    values, spare = np.empty(order), np.empty(order)
    for i in range(X.shape[0]):
        for block in range(n_blocks):
            _times(X[i], signs[block, 0], values[:dim])
            values[dim:] = 0.0
            values, spare = _transform(values, spare)
            for r in range(1, n_rounds):
                _times(values, signs[block, r], values)
                values, spare = _transform(values, spare)
            some = slice(block * order, min((block + 1) * order, m))
            _times(values, scale[some], out[i, some])

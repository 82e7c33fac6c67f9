"""Hilbert's curve, which visits the points of a lattice from neighbour to neighbour."""

import numpy as np
from numpy.typing import NDArray


def hilbert_order(index: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the order (n,) in which a Hilbert curve visits lattice points ``index`` (n, d).

    Coordinates are nonnegative; consecutive points of the curve are neighbours (Skilling,
    "Programming the Hilbert curve", 2004).

    >>> square = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> square[hilbert_order(square)].tolist()
    [[0, 0], [0, 1], [1, 1], [1, 0]]
    """
    axes, dim = index.T.copy(), index.shape[1]
    bits = max(int(index.max(initial=0)).bit_length(), 1)
    for bit in range(bits - 1, 0, -1):
        low = (1 << bit) - 1
        for axis in range(dim):
            upper = (axes[axis] >> bit) & 1 == 1
            swap = np.where(upper, 0, (axes[0] ^ axes[axis]) & low)
            axes[0] ^= np.where(upper, low, swap)
            axes[axis] ^= swap
    for axis in range(1, dim):
        axes[axis] ^= axes[axis - 1]
    flip = np.zeros_like(axes[0])
    for bit in range(bits - 1, 0, -1):
        flip ^= np.where((axes[-1] >> bit) & 1 == 1, (1 << bit) - 1, 0)
    axes ^= flip
    place = np.zeros_like(flip)
    for bit in range(bits - 1, -1, -1):
        for axis in range(dim):
            place = (place << 1) | ((axes[axis] >> bit) & 1)
    return np.argsort(place, kind="stable")

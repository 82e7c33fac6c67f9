r"""Rank-one lattices in the unit cube, constructed component by component.

The points :math:`\{i z / m + \Delta\}`, :math:`i < m`, integrate :math:`e^{2 \pi i h \cdot u}`
exactly unless :math:`h \cdot z` is a multiple of ``m``. The integers ``z`` are chosen one after
another so that

.. math:: e^2 = \sum_{h \ne 0,\; m \mid h \cdot z} \prod_{j:\, h_j \ne 0} \frac{\gamma}{h_j^2}

is small: the square of the worst error over periodic functions of mixed smoothness one (Dick, Kuo
and Sloan, "High-dimensional integration: the quasi-Monte Carlo way", 2013, Section 5).
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array

_WEIGHT = 0.3
"""The factor gamma of each coordinate. With 0.1 errors of kernels are the same; with 1 they are
larger from five inputs on, because sets of many inputs then count as much as sets of few."""

_MOST_CANDIDATES = 256
"""Integers that are tried for each coordinate; more candidates hardly improve the best one."""

_KEPT = 64  # cached results, each with one integer per coordinate


@lru_cache(_KEPT)
def generating_vector(m: int, dim: int) -> NDArray[np.int64]:
    """Return the generating vector z (dim,) of a lattice of ``m`` points; its first entry is one.

    The cost is of order ``m`` for each of at most 256 candidates and each coordinate.
    """
    index = np.arange(m)
    u = index / m
    # The sum over h of exp(2 pi i h u) / h^2 is 2 pi^2 times Bernoulli's second polynomial.
    factor = 1.0 + _WEIGHT * 2.0 * np.pi**2 * (u**2 - u + 1.0 / 6.0)
    # The factor is even in u, so that candidates z and m - z are equally good.
    coprime = [a for a in range(1, m // 2 + 1) if np.gcd(a, m) == 1] or [1]
    candidates = coprime[:: -(-len(coprime) // _MOST_CANDIDATES)]
    z, product = [1], factor.copy()
    for _ in range(1, dim):
        errors = [float(product @ factor[index * a % m]) for a in candidates]
        z.append(candidates[int(np.argmin(errors))])
        product *= factor[index * z[-1] % m]
    vector = np.array(z, dtype=np.int64)
    vector.flags.writeable = False
    return vector


def shifted_lattice(m: int, dim: int, rng: np.random.Generator) -> Array:
    """Return the points (m, dim) of a lattice with a random shift, in random order."""
    if not dim:
        return np.empty((m, 0))
    index = rng.permutation(m)[:, None]
    points: Array = (index * generating_vector(m, dim) % m / m + rng.random(dim)) % 1.0
    return points

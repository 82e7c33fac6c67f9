r"""Rank-one lattices: points of the cube that share one step, found component by component.

The points :math:`\{i z / m + \Delta\}`, :math:`i < m`, integrate :math:`e^{2 \pi i h \cdot u}`
exactly unless :math:`h \cdot z` is a multiple of ``m``. The integers ``z`` are chosen one after
another so that

.. math:: e^2 = \sum_{h \ne 0,\; m \mid h \cdot z} \prod_{j:\, h_j \ne 0} \frac{\gamma}{h_j^2}

is small: the square of the worst error over periodic functions of mixed smoothness one (Dick, Kuo
and Sloan, "High-dimensional integration: the quasi-Monte Carlo way", 2013, Section 5).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, ndtri

from bochner._base.arrays import Array
from bochner._base.registry import register
from bochner.spectral.energy import normalised
from bochner.spectral.hadamard import Matrix
from bochner.spectral.layouts import (
    Coordinates,
    Directions,
    Layout,
    Scheme,
    Uniforms,
    open_interval,
)

_WEIGHT = 0.3
"""The factor of each coordinate in the criterion. With 0.1 errors of kernels are the same; with 1
they are larger from five inputs on, as many inputs together then count as much as a few."""

_MOST_CANDIDATES = 256
"""Integers that are tried for each coordinate; more candidates hardly improve the best one."""

_KEPT = 64  # Results in memory, of one integer for each coordinate


@register
@dataclass(frozen=True, slots=True)
class ShiftedLattice(Scheme):
    r"""A rank-one lattice over all blocks jointly, shifted at random, on half of the cube.

    The points come from :func:`~bochner.spectral.lattice_points.shifted_lattice`; each is uniform.
    Directions and their radii come from normal vectors, with one coordinate for each input. Because
    cosines are even, the points fill the half of the cube in which the first coordinate is above
    one half, and each point is then reflected with probability one half. For a smooth integrand the
    variance falls like :math:`m^{-2}` up to logarithms. Errors are smaller than with
    :class:`MinimumEnergy` and :class:`QuasiMonteCarlo` for Laplacian kernels in few inputs and for
    scale mixtures such as the rational quadratic kernel.

    References
    ----------
    Dick, Kuo and Sloan, "High-dimensional integration: the quasi-Monte Carlo way", 2013.
    """

    def sample(self, layout: Layout, m: int, rng: np.random.Generator) -> list[Matrix]:
        counts = _coordinates_of(layout)
        points = shifted_lattice(m, sum(counts), rng)
        if not isinstance(layout[0], Uniforms):
            # The least step above 1/2 keeps directions from being zero.
            points[:, 0] = 0.5 + 0.5 * np.maximum(points[:, 0], 2.0**-52)
        split = np.split(open_interval(points), np.cumsum(counts)[:-1], axis=1)
        sign = rng.choice((-1.0, 1.0), size=(m, 1))
        blocks: list[Matrix] = []
        radial = np.empty((m, 0))  # Uniforms of the norms of the vectors before
        for block, u in zip(layout, split, strict=True):
            if isinstance(block, Directions):
                vectors = ndtri(u)
                blocks.append(sign * normalised(vectors))
                half_square = 0.5 * np.sum(vectors**2, axis=1, keepdims=True)
                radial = open_interval(gammainc(0.5 * block.dim, half_square))
                continue
            if isinstance(block, Coordinates):
                blocks.append(np.where(sign > 0.0, u, 1.0 - u))
            else:
                blocks.append(np.hstack((radial, u))[:, : block.dim])
            radial = np.empty((m, 0))
        return blocks


@lru_cache(_KEPT)
def generating_vector(m: int, dim: int) -> NDArray[np.int64]:
    """Return the integers z (dim,) of a lattice of ``m`` points, the first of them one.

    The cost is of order ``m`` for each of at most 256 candidates and each coordinate.
    """
    index = np.arange(m)
    u = index / m
    # The sum over h of exp(2 pi i h u) / h^2 is 2 pi^2 times Bernoulli's second polynomial.
    factor = 1.0 + _WEIGHT * 2.0 * np.pi**2 * (u**2 - u + 1.0 / 6.0)
    # The factor is even in u: a candidate and m less the candidate are as good.
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


def _coordinates_of(layout: Layout) -> list[int]:
    """Return the coordinates that each block takes; a radius comes with its directions."""
    before = (None, *layout)
    return [
        max(block.dim - 1, 0) if isinstance(block, Uniforms) and isinstance(b, Directions)
        else block.dim
        for b, block in zip(before, layout, strict=False)
    ]  # fmt: skip

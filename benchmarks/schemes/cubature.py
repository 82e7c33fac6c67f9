"""Frequencies with weights: product and sparse rules of Gauss and Hermite, and shifted grids."""

from collections.abc import Iterator
from itertools import product
from math import comb

import numpy as np
from scipy.special import gammainc, ndtr, ndtri, roots_hermitenorm

from bochner._base.arrays import Array
from bochner.spectral import Directions
from bochner.spectral.energy import haar_rows, normalised
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.laws import BlockLaw

_MOST_NODES = (
    120  # Nodes of a rule in one dimension: weights of the outer nodes of larger rules underflow
)


def product_rule(dim: int, m: int) -> Frequencies:
    """Return the product of Gauss-Hermite rules with the most nodes that ``m`` frequencies hold.

    It is a rule for the standard normal law, exact for polynomials of degree ``2 q - 1`` in each
    coordinate with ``q`` nodes. A node and its negative are one frequency. Not random, so biased.
    """
    q = next(q for q in range(_MOST_NODES, 0, -1) if (q**dim + 1) // 2 <= m)
    return _folded([_tensor([q] * dim)])


def sparse_rule(dim: int, m: int) -> Frequencies:
    """Return the sparse grid (Smolyak's) with the most nodes that ``m`` frequencies hold.

    It is a rule for the standard normal law, exact for polynomials of total degree ``2 l - 1`` at
    level ``l``; rules in one dimension have 1, 3, 5, ... nodes. Weights have either sign, so the
    estimate need not be positive semi-definite. Not random, so biased.
    """
    rule = _folded(_smolyak(dim, 1))
    for level in range(2, m + 1):
        finer = _folded(_smolyak(dim, level))
        if len(finer.weight) > m:
            break
        rule = finer
    return rule


def _smolyak(dim: int, level: int) -> Iterator[tuple[Array, Array]]:
    """Yield nodes and weights of the products that the combination formula adds up."""
    for excess in range(max(0, level - dim), level):
        sign = (-1) ** (level - 1 - excess) * comb(dim - 1, level - 1 - excess)
        for steps in _sums(dim, excess):
            nodes, weight = _tensor([2 * step + 1 for step in steps])
            yield nodes, sign * weight


def _sums(dim: int, total: int) -> Iterator[tuple[int, ...]]:
    if dim == 1:
        yield (total,)
        return
    for first in range(total + 1):
        yield from ((first, *later) for later in _sums(dim - 1, total - first))


def _tensor(counts: list[int]) -> tuple[Array, Array]:
    """Return nodes (n, d) and weights (n,) of a product of Gauss-Hermite rules."""
    rules = [roots_hermitenorm(count) for count in counts]
    nodes = np.array(list(product(*(x for x, _ in rules))))
    weights = np.array(list(product(*(w / w.sum() for _, w in rules))))
    return nodes, weights.prod(axis=1)


def _folded(rules: list[tuple[Array, Array]] | Iterator[tuple[Array, Array]]) -> Frequencies:
    """Return a sum of rules, a node and its negative as one frequency, which cosines allow."""
    nodes, weights = map(np.concatenate, zip(*rules, strict=True))
    nodes = np.round(nodes, 9) + 0.0  # Nodes of two rules that are the same differ by rounding
    first = np.take_along_axis(nodes, (nodes != 0.0).argmax(axis=1)[:, None], axis=1)
    unique, place = np.unique(nodes * np.where(first < 0.0, -1.0, 1.0), axis=0, return_inverse=True)
    return Frequencies(unique + 0.0, np.bincount(place.ravel(), weights))


def shifted_grid(law: BlockLaw, m: int, rng: np.random.Generator) -> Frequencies:
    r"""Return a grid of frequencies with a random shift, weighted by their density.

    Standard normal coordinates :math:`z_k = h (k + U)` have the weights :math:`h^c \varphi(z_k)`,
    ``k`` over a cube of integers and ``U`` one uniform vector: the mean of the sum is the integral
    over the box that the cells of the grid fill. Draws from outside the box, at least one of
    the ``m``, share what weight is left, so the whole is unbiased. An isotropic law is rotated at
    random.
    """
    first, *further_blocks = law.layout
    is_isotropic = isinstance(first, Directions)
    extra = sum(block.dim for block in further_blocks) - is_isotropic
    count = first.dim + extra
    z, weight = _weighted_normals(count, m, rng)
    u = np.clip(ndtr(z), 2.0**-54, 1.0 - 2.0**-53)
    if is_isotropic:
        vectors = z[:, : first.dim]
        half_square = 0.5 * np.sum(vectors**2, axis=1, keepdims=True)
        radial = np.clip(gammainc(0.5 * first.dim, half_square), 2.0**-54, 1.0 - 2.0**-53)
        turned = normalised(vectors) @ haar_rows(first.dim, first.dim, rng)
        blocks = [turned, np.hstack((radial, u[:, first.dim :]))]
    else:
        blocks = [u[:, : first.dim], *([u[:, first.dim :]] if extra else [])]
    return Frequencies(law.assemble([*blocks]), weight)


def _weighted_normals(dim: int, m: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return points (m, dim) and weights (m,) whose sums are unbiased for the normal law."""
    side = max(int((m - 1) ** (1.0 / dim) + 1e-9), 1)
    # The reach at which the mass outside is as small as the kernel one period less two length
    # scales away; no farther than the largest of as many draws, which heavy tails need.
    balanced = np.sqrt(1.0 + np.pi * side) - 1.0
    reach = min(balanced, float(np.sqrt(2.0 * np.log(2.0 * m))))
    step = 2.0 * reach / side
    axes = step * (np.arange(side)[:, None] + rng.random(dim)) - reach
    grid = np.stack(np.meshgrid(*axes.T, indexing="ij"), axis=-1).reshape(-1, dim)
    weight = np.exp(-0.5 * np.sum(grid**2, axis=1)) * (step / np.sqrt(2.0 * np.pi)) ** dim
    outside = normals_outside(reach, m - len(grid), dim, rng)
    left = np.full(len(outside), (1.0 - weight.sum()) / len(outside))
    return np.concatenate((grid, outside)), np.concatenate((weight, left))


def normals_outside(reach: float, count: int, dim: int, rng: np.random.Generator) -> Array:
    """Return normal vectors (count, dim) given that they are outside the cube of that reach."""
    tail = ndtr(-reach)
    inside = 1.0 - 2.0 * tail
    chance = inside ** np.arange(dim)  # That a coordinate is the first to be outside
    first = rng.choice(dim, size=(count, 1), p=chance / chance.sum())
    before = ndtri(tail + inside * rng.random((count, dim)))
    beyond = ndtri(tail * (1.0 - rng.random((count, dim)))) * rng.choice((-1.0, 1.0), (count, dim))
    after = rng.standard_normal((count, dim))
    column = np.arange(dim)
    return np.where(column < first, before, np.where(column == first, beyond, after))

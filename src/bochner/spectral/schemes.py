"""Sampling schemes: joint distributions of the points that are mapped to frequencies.

A scheme draws blocks of unit vectors and points of the cube, which a law maps to frequencies. Each
row of each block is marginally uniform, hence every estimate is unbiased (except
:class:`Structured` in 64 inputs and more).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, ndtr, ndtri
from scipy.stats import chi, qmc

from bochner._base.arrays import Array
from bochner._base.registry import register, resolved
from bochner.spectral.energy import MOST_INPUTS, MOST_ROWS, haar_rows, normalised, spread_directions
from bochner.spectral.hadamard import HadamardRows, Matrix

_WEIGHT = 0.3
"""The factor gamma of each coordinate. With 0.1 errors of kernels are the same; with 1 they are
larger from five inputs on, because sets of many inputs then count as much as sets of few."""

_MOST_CANDIDATES = 256
"""Integers that are tried for each coordinate; more candidates hardly improve the best one."""

_KEPT = 64  # cached results, each with one integer per coordinate


@lru_cache(_KEPT)
def generating_vector(m: int, dim: int) -> NDArray[np.int64]:
    """Return the generating vector (dim,) of a lattice of ``m`` points; its first entry is one."""
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


@dataclass(frozen=True, slots=True)
class Directions:
    """Block of unit vectors, uniform on the sphere in ``dim`` dimensions."""

    dim: int


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Block of points uniform on the cube, with one coordinate for each of ``dim`` inputs."""

    dim: int


@dataclass(frozen=True, slots=True)
class Uniforms:
    """Block of ``dim`` auxiliary uniforms, for radii and mixing variables."""

    dim: int


Block = Directions | Coordinates | Uniforms
Layout = tuple[Block, ...]
"""The blocks that one draw of a law needs."""


class Scheme(ABC):
    """Base of sampling schemes: ``m`` dependent rows per block, each marginally uniform."""

    __slots__ = ()

    @abstractmethod
    def sample(self, layout: Layout, m: int, rng: np.random.Generator) -> list[Matrix]:
        """Return a matrix (m, dim) for each block of the layout; directions may be HadamardRows."""


def open_interval(u: Array) -> Array:
    """Clip uniforms to the open interval (0, 1)."""
    # Bounds: half the spacing of random numbers, and the greatest float64 below one.
    return np.clip(u, 2.0**-54, 1.0 - 2.0**-53)


_STRUCTURED_FROM = 64
"""Inputs from which on Hadamard blocks are used: at 64 the bias, of order 1/D, is about 2 %."""

_ROUNDS = 3  # Products of a Hadamard matrix and signs in a block, as in Choromanski et al. (2017)


class Blockwise(Scheme):
    """A scheme that samples each block independently of the other blocks."""

    __slots__ = ()

    def sample(self, layout: Layout, m: int, rng: np.random.Generator) -> list[Matrix]:
        streams = rng.spawn(len(layout))
        return [self._block(block, m, s) for block, s in zip(layout, streams, strict=True)]

    def _block(self, block: Block, m: int, rng: np.random.Generator) -> Matrix:
        if isinstance(block, Directions):
            return self.directions(m, block.dim, rng)
        if isinstance(block, Coordinates):
            return self.coordinates(m, block.dim, rng)
        return self.uniforms(m, block.dim, rng)

    @abstractmethod
    def directions(self, m: int, dim: int, rng: np.random.Generator) -> Matrix:
        """Return ``m`` unit vectors, each uniform on the sphere."""

    @abstractmethod
    def coordinates(self, m: int, dim: int, rng: np.random.Generator) -> Array:
        """Return ``m`` points, each uniform on the open cube."""

    def uniforms(self, m: int, dim: int, rng: np.random.Generator) -> Array:
        """Return ``m`` auxiliary points, each uniform on the open cube; stratified by default."""
        return _stratified(m, dim, rng)


@register
@dataclass(frozen=True, slots=True)
class Iid(Blockwise):
    r"""Independent random draws.

    The variance of one kernel value from ``m`` frequencies is exactly
    :math:`(1 + k(2\Delta) - 2 k(\Delta)^2) / (2m)` for a kernel with :math:`k(0) = 1`.
    """

    def directions(self, m: int, dim: int, rng: np.random.Generator) -> Array:
        return normalised(rng.standard_normal((m, dim)))

    def coordinates(self, m: int, dim: int, rng: np.random.Generator) -> Array:
        return open_interval(rng.random((m, dim)))

    def uniforms(self, m: int, dim: int, rng: np.random.Generator) -> Array:
        return self.coordinates(m, dim, rng)


@register
@dataclass(frozen=True, slots=True)
class Orthogonal(Blockwise):
    r"""Haar orthogonal blocks of directions, with radii stratified over all rows.

    For a Gaussian kernel the variance is below that of :class:`Iid` wherever the kernel is not
    close to zero, and far below at small lags and with whole blocks of ``d`` (Yu et al., 2016,
    with independent radii; stratified ones lower it a little more). Laws with independent
    coordinates use the Gaussian copula: each row of an orthogonal block times a chi radius is
    standard normal, so its coordinates, mapped by the normal distribution function and the law's
    quantiles, follow the law exactly; the gain is then modest and not proven.

    References
    ----------
    Yu, Suresh, Choromanski, Holtmann-Rice and Kumar, "Orthogonal random features", 2016.
    """

    def directions(self, m: int, dim: int, rng: np.random.Generator) -> Array:
        return haar_rows(m, dim, rng)

    def coordinates(self, m: int, dim: int, rng: np.random.Generator) -> Array:
        radius = chi.ppf(_stratified(m, 1, rng), dim)
        return open_interval(ndtr(radius * haar_rows(m, dim, rng)))


@register
@dataclass(frozen=True, slots=True)
class Structured(Blockwise):
    r"""Blocks :math:`H D_1 H D_2 H D_3` of Hadamard matrices and random signs.

    A block has ``D`` directions, ``D`` the smallest power of two that is at least ``d``. It costs
    :math:`O(D^2 \log D)` where a Haar block costs :math:`O(d^3)`, and its product with a row
    :math:`O(D \log D)` instead of :math:`O(D d)`: frequencies of isotropic laws stay
    ``HadamardRows``. Laws with independent coordinates are refused. Rows of a block are
    orthogonal before they are cut to ``d`` entries and normalised. A row is uniform
    on the sphere only up to terms of order :math:`1/D`, so estimates have a bias of that order
    (Choromanski et al., 2017); below 64 inputs the Haar blocks of :class:`Orthogonal` are used.

    References
    ----------
    Yu et al., "Orthogonal random features", 2016; Choromanski, Rowland and Weller,
    "The unreasonable effectiveness of structured random orthogonal embeddings", 2017.
    """

    def directions(self, m: int, dim: int, rng: np.random.Generator) -> Matrix:
        if dim < _STRUCTURED_FROM:
            return haar_rows(m, dim, rng)
        order = 1 << (dim - 1).bit_length()
        # The signs that were drawn first are applied last.
        drawn = [rng.choice((-1, 1), size=(-(-m // order), order)) for _ in range(_ROUNDS)]
        return HadamardRows.unit(np.stack(drawn[::-1], axis=1).astype(np.int8), m, dim)

    def coordinates(self, m: int, dim: int, rng: np.random.Generator) -> Array:
        raise ValueError(
            "scheme='structured' makes directions, and this law has independent coordinates "
            "(Laplacian, Cauchy and Anova kernels); use scheme='orthogonal', 'energy' or 'iid'."
        )


@register
@dataclass(frozen=True, slots=True)
class MinimumEnergy(Scheme):
    r"""Evenly spread frequencies: minimum-energy directions in a random rotation.

    Directions together with their radii minimise the mean square error of a Gaussian kernel over
    normally distributed lags, a discrete energy (:mod:`bochner.spectral.energy`). A random rotation
    and radii drawn at random within their strata keep every estimate unbiased. With thirty times as
    many frequencies as inputs, errors are about a third of the errors of :class:`Orthogonal`.
    With few frequencies, or more than about fifty inputs, errors are
    close to the errors of :class:`Orthogonal`. From 513 frequencies on, blocks of at most 512 are
    independent. The directions for a number of frequencies and inputs are computed once per
    process. Independent coordinates use the Gaussian copula, as in :class:`Orthogonal`.

    References
    ----------
    Avron, Sindhwani, Yang and Mahoney, "Quasi-Monte Carlo feature maps for shift-invariant
    kernels", 2016, Section 6, who minimise another discrepancy, over boxes of lags, from
    sequences that are not random.
    """

    def sample(self, layout: Layout, m: int, rng: np.random.Generator) -> list[Matrix]:
        blocks: list[Matrix] = []
        ranks = None  # Ranks of the radii of the preceding block of directions
        streams = rng.spawn(len(layout))
        for i, (block, stream) in enumerate(zip(layout, streams, strict=True)):
            if isinstance(block, Directions):
                after = layout[i + 1] if i + 1 < len(layout) else None
                has_radii = isinstance(after, Uniforms) and after.dim > 0
                directions, ranks = _spread(m, block.dim, stream, are_equal=not has_radii)
                blocks.append(directions)
            elif isinstance(block, Coordinates):
                directions, places = _spread(m, block.dim, stream)
                radius = chi.ppf(_within(places, stream), block.dim)
                blocks.append(open_interval(ndtr(radius[:, None] * directions)))
            else:
                if ranks is None or not block.dim:
                    uniforms = _stratified(m, block.dim, stream)
                else:
                    uniforms = _within(ranks, stream)[:, None]
                    if block.dim > 1:
                        # The ranks and a Sobol sequence in rank order form a Hammersley set.
                        later_uniforms = _sobol(m, block.dim - 1, stream)[ranks]
                        uniforms = np.hstack((uniforms, later_uniforms))
                blocks.append(uniforms)
                ranks = None
        return blocks


def _stratified(m: int, dim: int, rng: np.random.Generator) -> Array:
    stratum = rng.permuted(np.tile(np.arange(m)[:, None], (1, dim)), axis=0)
    return open_interval((stratum + rng.random((m, dim))) / m)


def _sobol(m: int, dim: int, rng: np.random.Generator) -> Array:
    """Return the first points (m, dim) of a scrambled Sobol sequence."""
    sobol = qmc.Sobol(dim, scramble=True, rng=rng)
    # Cell centres of Sobol's grid avoid 0 and 1, where quantiles are infinite, and 1/2 in all
    # coordinates, which gives the zero vector.
    points: Array = sobol.random_base2((m - 1).bit_length())[:m] + 2.0 ** -(sobol.bits + 1)
    return points


def _within(ranks: NDArray[np.int64], rng: np.random.Generator) -> Array:
    """Return uniforms (m,), each within the stratum given by its rank."""
    return open_interval((ranks + rng.random(len(ranks))) / len(ranks))


def _spread(
    m: int, dim: int, rng: np.random.Generator, *, are_equal: bool = False
) -> tuple[Array, NDArray[np.int64]]:
    """Return evenly spread directions (m, dim), and the ranks (m,) of their radii."""
    if dim > MOST_INPUTS:
        return haar_rows(m, dim, rng), rng.permutation(m)
    n_blocks = -(-m // MOST_ROWS)
    spread = spread_directions(-(-m // n_blocks), dim, are_equal)
    ranks = [np.arange(first, m, n_blocks) for first in range(n_blocks)]
    # An incomplete block lacks a direction at random, not the one of a fixed radius.
    places = [np.sort(rng.permutation(len(spread))[: len(block)]) for block in ranks]
    turned = [spread[rows] @ haar_rows(dim, dim, rng) for rows in places]
    order = rng.permutation(m)
    directions = np.concatenate(turned)[order] * rng.choice((-1.0, 1.0), size=(m, 1))
    return directions, np.concatenate(ranks)[order]


@register
@dataclass(frozen=True, slots=True)
class ShiftedLattice(Scheme):
    """A randomly shifted and reflected lattice of all blocks, with variance near :math:`m^{-2}`."""

    def sample(self, layout: Layout, m: int, rng: np.random.Generator) -> list[Matrix]:
        counts = _coordinates_of(layout)
        points = shifted_lattice(m, sum(counts), rng)
        if not isinstance(layout[0], Uniforms):
            # A coordinate strictly above 1/2 keeps direction vectors nonzero.
            points[:, 0] = 0.5 + 0.5 * np.maximum(points[:, 0], 2.0**-52)
        split = np.split(open_interval(points), np.cumsum(counts)[:-1], axis=1)
        sign = rng.choice((-1.0, 1.0), size=(m, 1))
        blocks: list[Matrix] = []
        radial = np.empty((m, 0))  # Uniforms from the norms of the preceding vectors
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


def _coordinates_of(layout: Layout) -> list[int]:
    """Return each block's number of coordinates: one less for uniforms after directions."""
    before = (None, *layout)
    return [
        max(block.dim - 1, 0) if isinstance(block, Uniforms) and isinstance(b, Directions)
        else block.dim
        for b, block in zip(before, layout, strict=False)
    ]  # fmt: skip


_LATTICE_COORDINATES = 2
"""Inputs up to which lattices are best for laws with independent coordinates: in three inputs they
are better for Laplacian kernels and worse for Cauchy kernels."""

_LATTICE_MIXTURES = 3  # Inputs up to which lattices are best for mixtures of scales

LEAST_TRANSFORMED = 256
"""Inputs from which on Hadamard blocks are considered: their bias is of order 1/d."""

_LEAST_GAIN = 25.0
"""Ratio of a matrix's multiplications to a transform's additions from which blocks are faster."""


def best_scheme(layout: Layout) -> Scheme:
    """Return the scheme that had the least error in benchmarks of such a layout."""
    match layout:
        case (Coordinates(dim=dim), *_) if dim <= _LATTICE_COORDINATES and len(layout) <= 2:
            return ShiftedLattice()
        case (Directions(dim=dim), Uniforms(dim=n)) if n > 1 and dim <= _LATTICE_MIXTURES:
            return ShiftedLattice()
    return MinimumEnergy() if layout[0].dim <= MOST_INPUTS else Orthogonal()


def transforms_pay(n_nonzero: float, dim: int, m: int) -> bool:
    """Return whether products with ``m`` frequencies are faster in Hadamard blocks."""
    order = 1 << (dim - 1).bit_length()
    additions = -(-m // order) * order * math.log2(order)
    return dim >= LEAST_TRANSFORMED and m * n_nonzero >= _LEAST_GAIN * additions


@register
@dataclass(frozen=True, slots=True)
class Automatic(Scheme):
    """The default scheme, which chooses a scheme by the layout of the law."""

    def sample(self, layout: Layout, m: int, rng: np.random.Generator) -> list[Matrix]:
        return best_scheme(layout).sample(layout, m, rng)


SCHEMES: Mapping[str, Scheme] = MappingProxyType(
    {
        "iid": Iid(),
        "orthogonal": Orthogonal(),
        "structured": Structured(),
        "energy": MinimumEnergy(),
        "lattice": ShiftedLattice(),
        "auto": Automatic(),
    }
)


def resolve_scheme(scheme: "str | Scheme") -> Scheme:
    """Return the scheme called by a name; a :class:`Scheme` is returned unchanged."""
    return resolved("scheme", scheme, Scheme, SCHEMES)

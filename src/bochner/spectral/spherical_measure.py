r"""The signed measure of the spherical polynomial kernel, split into its Jordan parts.

Algorithm 1 of Liu, Huang, Chen and Suykens, "Fast learning in reproducing kernel Krein spaces via
signed measures", 2021: the faithful reference to which designed measures are compared.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import elementwise, minimize_scalar
from scipy.special import gammaln, xlogy

from bochner._base.arrays import Array, frozen_array, row_blocks
from bochner._base.warn import warn_user
from bochner.spectral.atoms import sphere_mean
from bochner.spectral.laws import Isotropic, RadialLaw
from bochner.spectral.measure import Part, SpectralMeasure

_FEWEST_BINS = 1024  # least number of bins of a table


class Tabulated:
    """The positive (``sign=1``) or negative part (``sign=-1``) of a density on [0, upper].

    Bins, ``left`` to ``right`` (n_bins,), end at zeros of the density. ``cumulative`` (n_bins + 1,)
    is the mass to the left of each bin; ``lean`` (n_bins,) is the left edge's share of the density.
    """

    def __init__(
        self, density: Callable[[Array], Array], upper: float, sign: int, bins_per_unit: int = 512
    ) -> None:
        n_bins = int(np.ceil(max(bins_per_unit, _FEWEST_BINS / upper) * upper))
        edges = _split_at_zeros(density, np.linspace(0.0, upper, n_bins + 1))
        nodes, weights = gauss_legendre(edges, 4)
        masses = sign * (weights * density(nodes)).sum(axis=1)
        cumulative = np.cumsum(np.maximum(masses, 0.0))
        has_mass = np.diff(cumulative, prepend=0.0) > 0.0
        at_edges = np.maximum(sign * density(edges), 0.0)
        left, at_both_edges = at_edges[:-1][has_mass], (at_edges[:-1] + at_edges[1:])[has_mass]
        lean = np.divide(
            left, at_both_edges, out=np.full_like(at_both_edges, 0.5), where=at_both_edges > 0.0
        )
        # Tables are cached: read-only.
        self.left = frozen_array("left", edges[:-1][has_mass], None)
        self.right = frozen_array("right", edges[1:][has_mass], None)
        self.cumulative = frozen_array("cumulative", np.append(0.0, cumulative[has_mass]), None)
        self.lean = frozen_array("lean", lean, None)

    @property
    def mass(self) -> float:
        """The total mass of the part; zero if the density has no such sign."""
        return float(self.cumulative[-1])

    def quantile(self, probability: Array) -> Array:
        """Return the quantiles of ``probability`` in [0, 1] under the normalised density."""
        target = probability * self.mass
        index = np.searchsorted(self.cumulative, target, side="right") - 1
        index = np.clip(index, 0, len(self.left) - 1)
        start, stop = self.cumulative[index], self.cumulative[index + 1]
        share = np.clip((target - start) / (stop - start), 0.0, 1.0)
        lean, left, right = self.lean[index], self.left[index], self.right[index]
        # The root t in [0, 1] of lean t + (1/2 - lean) t^2 = share / 2, without cancellation.
        slope = lean + np.sqrt(lean**2 + (1.0 - 2.0 * lean) * share)
        fraction = share / np.maximum(slope, np.finfo(np.float64).tiny)
        return np.minimum(left + fraction * (right - left), right)


def gauss_legendre(edges: Array, order: int) -> tuple[Array, Array]:
    """Return Gauss and Legendre's nodes and weights on every panel, of shape (n_panels, order)."""
    unit, weight = np.polynomial.legendre.leggauss(order)
    half = 0.5 * np.diff(edges)[:, None]
    return edges[:-1, None] + half * (1.0 + unit), half * weight


def _split_at_zeros(density: Callable[[Array], Array], edges: Array) -> Array:
    signs = np.sign(density(edges))
    (changes,) = np.nonzero(signs[:-1] * signs[1:] < 0.0)
    if not len(changes):
        return edges
    zeros = elementwise.find_root(density, (edges[changes], edges[changes + 1])).x
    return np.sort(np.concatenate([edges, zeros]))


_REACH = 2.0  # diameter of the unit sphere; the kernel is set to zero beyond


def spherical_polynomial_measure(
    degree: int, a: float, dim: int, truncation: float = 10.0
) -> SpectralMeasure:
    r"""Return the Jordan parts of :math:`k(z) = (1 - z^2/a^2)^p`, :math:`z \leq 2`, truncated."""
    masses = {sign: _table(degree, a, dim, truncation, sign).mass for sign in (1, -1)}
    if not masses[1] > 0.0:
        raise ValueError(
            f"The spherical polynomial's measure in {dim} inputs has no mass within "
            f"truncation={truncation:g}; give a larger truncation."
        )
    parts = tuple(
        Part(sign * mass, Isotropic(SignedRadial(degree, a, truncation, sign), dim))
        for sign, mass in masses.items()
        if mass > 0.0
    )
    error = truncation_error(degree, a, dim, truncation)
    if not has_finite_mass(degree, a, dim):
        warn_user(
            f"The spectral measure of the spherical polynomial kernel with degree={degree} and "
            f"a={a:g} in {dim} inputs has infinite total mass, so its Jordan parts cannot be "
            f"sampled (the mass is finite for a = 2 and degree > (dim - 1)/2 = {(dim - 1) / 2:g} "
            f"only). What follows is a truncation to frequencies of norm at most {truncation:g}, "
            f"with total masses of {masses[1]:.3g} (positive) and {masses[-1]:.3g} (negative), "
            f"whose transform is off the kernel by up to {error:.2g} at distances on the sphere. "
            f'The designed measure, decomposition="designed", the default, has no such limit.'
        )
    return SpectralMeasure(parts, max_error=error)


def has_finite_mass(degree: int, a: float, dim: int) -> bool:
    """Return whether the total mass of the untruncated measure is finite."""
    return a == _REACH and 2 * degree > dim - 1


def radial_density(radius: ArrayLike, degree: int, a: float, dim: int) -> Array:
    r"""Return the signed density of the norm of a frequency, :math:`|S^{d-1}| r^{d-1} \mu(r)`.

    The density of the measure is the paper's (3), here without its factor :math:`(2\pi)^{d/2}`.
    With :func:`~bochner.spectral.atoms.sphere_mean` for Bessel's function there is no singularity:

    .. math:: |S^{d-1}| r^{d-1} \mu(r) = \sum_{i=0}^p \frac{p!}{(p-i)!}
        \Bigl(1 - \frac{4}{a^2}\Bigr)^{p-i} \Bigl(\frac{2}{a^2}\Bigr)^i
        \frac{2^{i+1} r^{d-1}}{\Gamma(d/2)\, \Gamma(d/2+i+1)} \Lambda_{d+2i+2}(2r).
    """
    r: Array = np.asarray(radius, dtype=np.float64)
    half = 0.5 * dim
    total: Array = np.zeros_like(r)
    # At a = 2 only the last term is nonzero.
    for i in range(degree if a == _REACH else 0, degree + 1):
        binomial = (
            gammaln(degree + 1.0)
            - gammaln(degree - i + 1.0)
            + xlogy(degree - i, 1.0 - (_REACH / a) ** 2)
            + i * np.log(2.0 / a**2)
        )
        scale = binomial + (i + 1) * np.log(2.0) - gammaln(half) - gammaln(half + i + 1.0)
        total += np.exp(scale + xlogy(dim - 1, r)) * sphere_mean(2.0 * r, dim + 2 * i + 2)
    return total


def truncated_transform(
    distance: ArrayLike, degree: int, a: float, dim: int, truncation: float = 10.0
) -> Array:
    r"""Return :math:`\int_0^T |S^{d-1}| r^{d-1} \mu(r) \Lambda_d(r z)\, dr` at distances."""
    z: Array = np.asarray(distance, dtype=np.float64)
    edges = np.linspace(0.0, truncation, int(np.ceil(truncation)) + 1)
    nodes, weights = (part.ravel() for part in gauss_legendre(edges, 20))
    mass = weights * radial_density(nodes, degree, a, dim)
    flat = z.ravel()
    transform: Array = np.empty_like(flat)
    for rows in row_blocks(len(flat), 8 * mass.size):
        transform[rows] = sphere_mean(np.outer(flat[rows], nodes), dim) @ mass
    return transform.reshape(z.shape)


@lru_cache(maxsize=64)
def truncation_error(degree: int, a: float, dim: int, truncation: float = 10.0) -> float:
    """Return the largest error; it tends to zero if :math:`a = 2` and :math:`p > (d - 3)/2`."""

    def error(z: Array) -> Array:
        kernel = (1.0 - (z / a) ** 2) ** degree
        return np.abs(truncated_transform(z, degree, a, dim, truncation) - kernel)

    grid = np.linspace(0.0, _REACH, 256 + int(np.ceil(16.0 * truncation * _REACH / (2.0 * np.pi))))
    on_grid = error(grid)
    best = int(np.argmax(on_grid))
    bounds = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    search = minimize_scalar(lambda z: -float(error(np.asarray(z))), bounds=bounds)
    return max(float(on_grid[best]), -float(search.fun))


@dataclass(frozen=True, slots=True)
class SignedRadial(RadialLaw):
    """The truncated radial law of the positive or negative Jordan part."""

    degree: int
    a: float
    truncation: float
    sign: int

    n_uniforms = 1

    def radius(self, uniforms: Array, dim: int) -> Array:
        table = _table(self.degree, self.a, dim, self.truncation, self.sign)
        if not table.mass > 0.0:
            raise ValueError(f"The part that {self!r} describes has no mass in {dim} dimensions.")
        return table.quantile(uniforms[:, 0])


@lru_cache(maxsize=64)
def _table(degree: int, a: float, dim: int, truncation: float, sign: int) -> Tabulated:
    return Tabulated(lambda r: radial_density(r, degree, a, dim), truncation, sign)

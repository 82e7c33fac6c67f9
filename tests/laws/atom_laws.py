"""What the atoms of designed measures obey.

The references are quadrature over a coordinate of the sphere, and frequencies drawn with NumPy
alone. Random checks are z-tests; the chance that the battery rejects right atoms is at most
``FAMILY_ALPHA``, shared evenly among its comparisons.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from laws.registry import Streams
from scipy import stats
from scipy.spatial.distance import cdist

from bochner.spectral import Envelope, Iid
from bochner.spectral.atoms import (
    Atoms,
    CityBlockExponentials,
    DampedGaussians,
    Shells,
    sphere_mean,
)
from bochner.spectral.frequencies import Frequencies

FAMILY_ALPHA = 1e-3
N_PAIRS = 6


@dataclass(frozen=True)
class Case(Streams):
    """A family of atoms and one of its members, with pairs of rows of norm one at most."""

    atoms: Atoms
    scale: float

    def __str__(self):
        return f"{self.atoms}-{self.scale}"

    def rows(self):
        """Return two blocks of rows; the i-th of each are a pair."""
        rows = self.rng("rows").normal(size=(2, N_PAIRS, self.atoms.dim))
        rows /= np.linalg.norm(rows, axis=2, keepdims=True)
        return rows * np.linspace(0.5, 1.0, N_PAIRS)[:, None]

    def pairs(self):
        """Return the pairs' distances and dampings as the atoms count them."""
        X, Y = self.rows()
        if isinstance(self.atoms, CityBlockExponentials):
            return np.abs(X - Y).sum(axis=1), np.zeros(N_PAIRS)
        distance = np.linalg.norm(X - Y, axis=1)
        if isinstance(self.atoms, Shells):
            return distance, np.zeros(N_PAIRS)
        lifted = 2.0 * self.atoms.radius**2 - 2.0 * np.sum(X * Y, axis=1)
        return np.sqrt(lifted), lifted - distance**2


CASES = (
    *(Case(Shells(dim), 0.9 * np.sqrt(dim)) for dim in (1, 2, 3, 5, 16)),
    *(Case(Shells(dim), 4.0 * np.sqrt(dim)) for dim in (2, 5)),
    *(Case(CityBlockExponentials(dim), 0.5) for dim in (1, 2, 5, 16)),
    *(Case(DampedGaussians(dim, 1.2), 0.4) for dim in (1, 2, 5, 16)),
    *(Case(DampedGaussians(dim, 1.0), 2.5) for dim in (2, 5)),
)
BLOCKED = tuple(case for case in CASES if case.atoms.block > 1)
_TESTS = (2 * len(CASES) + len(BLOCKED)) * N_PAIRS
THRESHOLD = float(stats.norm.isf(FAMILY_ALPHA / _TESTS / 2.0))


legendre = lru_cache(np.polynomial.legendre.leggauss)


def mean_over_the_sphere(u, dim):
    """The mean of cos(u v) over a coordinate v of the sphere, by Gauss and Legendre's rule.

    The density, (1 - v^2)^((d - 3) / 2), is smooth in the angle, and a peak in many dimensions.
    """
    nodes, weights = legendre(200 + 100 * int(np.max(u) / 50.0))
    angle = min(0.5 * np.pi, 12.0 / np.sqrt(dim)) * nodes
    density = weights * np.cos(angle) ** (dim - 2)
    return np.cos(np.multiply.outer(u, np.sin(angle))) @ (density / density.sum())


def check_sphere_mean(dim):
    """The mean over the sphere is that of the density of a coordinate."""
    seam = np.sqrt(20.0 * dim)  # where the power series ends
    u = np.concatenate([[0.0, 1e-9], np.linspace(0.1, 2.0, 40) * seam, np.linspace(1.0, 300.0, 40)])
    gap = np.abs(sphere_mean(u, dim) - mean_over_the_sphere(u, dim)).max()
    assert gap < 1e-10, gap


def check_transform(case, draws=40_000):
    """A member's values are the means of its law's cosines, times its envelope."""
    values = _single(case, draws)
    expected = case.atoms.transform(case.pairs()[0], np.array([case.scale]))[:, 0]
    _compare(values, expected, "transform")


def check_variance(case, draws=40_000):
    """``block=1``: the variance of one frequency's cosine."""
    distance, damping = case.pairs()
    scale = np.array([case.scale])
    mean = case.atoms.transform(distance, scale)[:, 0]
    expected = case.atoms.variance(distance, damping, scale, 1)[:, 0]
    _compare((_single(case, draws) - mean) ** 2, expected, "variance")


def check_blocks(case, blocks=10_000):
    """``block=d``: ``d`` times the variance of a mean over a Haar block, given the radii."""
    distance, damping = case.pairs()
    dim, scale = case.atoms.dim, np.array([case.scale])
    values, mean = _blocked(case, blocks)
    expected = case.atoms.variance(distance, damping, scale, dim)[:, 0]
    _compare(dim * (values - mean) ** 2, expected, "variance in blocks")


def check_dampening(case):
    """The envelope and the Gaussian of the lag make the exponential of the inner product."""
    X, Y = case.rows()
    law = case.atoms.law(case.scale)
    f = Frequencies(np.zeros((1, case.atoms.dim)), [1.0], factor=_envelope(case))
    radius = case.atoms.radius
    got = np.exp(-cdist(X, Y, "sqeuclidean") / (2.0 * law.length_scale**2)) * f.gram(X, Y)
    expected = np.exp(-2.0 * case.scale * (radius**2 - X @ Y.T))
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def _envelope(case):
    rate, radius = case.atoms.envelope(case.scale)
    return Envelope([rate], [radius])


def _damping_factor(case):
    X, Y = case.rows()
    return (_envelope(case).values(X) * _envelope(case).values(Y))[:, 0]


def _single(case, draws):
    """Values of single frequencies of the law, of shape (draws, n_pairs)."""
    X, Y = case.rows()
    omega = case.atoms.law(case.scale).draw(draws, case.rng("single"), Iid()).omega
    return np.cos(omega @ (X - Y).T) * _damping_factor(case)


def _blocked(case, blocks):
    """Means over Haar blocks, of shape (blocks, n_pairs), and their expectations given radii."""
    X, Y = case.rows()
    dim, rng = case.atoms.dim, case.rng("blocks")
    q, r = np.linalg.qr(rng.standard_normal((blocks, dim, dim)))
    q *= np.sign(np.einsum("bii->bi", r))[:, None, :]
    lag = X - Y
    if isinstance(case.atoms, Shells):
        radius = np.full((blocks, dim), case.scale)
    else:
        radius = np.sqrt(2.0 * case.scale * rng.chisquare(dim, (blocks, dim)))
    values = np.cos(radius[..., None] * (q @ lag.T)).mean(axis=1)
    means = np.empty((blocks, N_PAIRS))
    for i, z in enumerate(np.linalg.norm(lag, axis=1)):
        # A table in place of ten thousand quadratures; linear interpolation errs by 1e-5.
        grid = np.linspace(0.0, radius.max() * z, 2001)
        means[:, i] = np.interp(radius * z, grid, mean_over_the_sphere(grid, dim)).mean(axis=1)
    factor = _damping_factor(case)
    return values * factor, means * factor


def _compare(values, expected, what):
    error = np.maximum(values.std(axis=0, ddof=1), 1e-12) / np.sqrt(len(values))
    gap = np.abs(values.mean(axis=0) - expected)
    assert (gap < THRESHOLD * error + 1e-9).all(), f"{what}: z = {(gap / error).round(1)}"

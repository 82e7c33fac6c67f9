"""Lattices: exact integration, the criterion by brute force, and what is gained."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtr
from scipy.stats import chi

from bochner import kernels, spectral_measure
from bochner.spectral import schemes as lattice
from bochner.spectral import schemes as sampling


def is_dual(h, z, m):
    return np.dot(h, z) % m == 0


@pytest.mark.parametrize(("m", "dim"), [(1, 2), (2, 2), (15, 1), (16, 2), (31, 3), (60, 3)])
def test_waves_are_integrated_exactly_unless_they_are_dual(m, dim):
    points = lattice.shifted_lattice(m, dim, np.random.default_rng(m))
    z = lattice.generating_vector(m, dim)
    assert points.shape == (m, dim)
    assert points.min() >= 0.0
    assert points.max() < 1.0
    for h in product(range(-3, 4), repeat=dim):
        mean = np.exp(2j * np.pi * points @ h).mean()
        assert_allclose(abs(mean), float(is_dual(h, z, m)), atol=1e-9)


@pytest.mark.thorough_cases("60")
@pytest.mark.parametrize(("m", "dim", "most"), [(24, 2, 400), (15, 3, 50), (44, 3, 60)])
def test_every_integer_is_the_best_after_those_before(m, dim, most):
    # The sum over the dual lattice itself, up to a frequency.
    h = np.arange(-most, most + 1)
    size = np.where(h == 0, 1.0, lattice._WEIGHT / np.where(h == 0, 1, h) ** 2)

    def error(z):
        weight, remainder = np.ones(1), np.zeros(1, dtype=int)
        for a in z:
            weight = np.multiply.outer(weight, size).ravel()
            remainder = np.add.outer(remainder, h * a).ravel()
        return weight[remainder % m == 0].sum() - 1.0

    found = lattice.generating_vector(m, dim)
    assert found[0] == 1
    for j in range(1, dim):
        best = min(error([*found[:j], a]) for a in range(1, m) if np.gcd(a, m) == 1)
        assert_allclose(error(found[: j + 1]), best, rtol=1e-6)


def fractions(points, z):
    """How far points are from the lattice through the first of them, in steps of it."""
    m = len(points)
    index = np.arange(m)[:, None] * z % m / m
    gaps = (points[:, None] - points[0] - index + 0.5) % 1.0 - 0.5
    return np.abs(gaps).max(axis=-1).min(axis=1)


@pytest.mark.parametrize("m", [1, 20, 37])
def test_coordinates_are_a_lattice_on_half_of_the_cube(m):
    (u,) = sampling.ShiftedLattice().sample((sampling.Coordinates(3),), m, np.random.default_rng(m))
    folded = np.where(u[:, :1] > 0.5, u, 1.0 - u)
    points = np.column_stack([2.0 * folded[:, 0] - 1.0, folded[:, 1:]])
    assert_allclose(fractions(points, lattice.generating_vector(m, 3)), 0.0, atol=1e-12)


def test_directions_and_radii_are_those_of_normal_vectors():
    layout = (sampling.Directions(3), sampling.Uniforms(2))
    directions, uniforms = sampling.ShiftedLattice().sample(layout, 20, np.random.default_rng(0))
    assert_allclose(np.linalg.norm(directions, axis=1), 1.0)
    vectors = chi.ppf(uniforms[:, :1], 3) * directions
    folded = ndtr(vectors * np.sign(vectors[:, :1]))
    points = np.column_stack([2.0 * folded[:, 0] - 1.0, folded[:, 1:], uniforms[:, 1]])
    assert_allclose(fractions(points, lattice.generating_vector(20, 4)), 0.0, atol=1e-9)


def error(kernel, dim, scheme, m):
    measure = spectral_measure(kernel, dim)
    X = np.random.default_rng(0).normal(size=(150, dim)) / np.sqrt(2.0 * dim)
    grams = [measure.sample(m, seed, scheme).gram(X) for seed in range(8)]
    return np.sqrt(np.mean((np.array(grams) - kernel(X)) ** 2))


@pytest.mark.parametrize(
    ("kernel", "dim"),
    [
        (kernels.Laplacian(1.0), 2),
        (kernels.RationalQuadratic(1.0, 0.5), 2),
        (kernels.RationalQuadratic(1.0, 2.0), 3),
    ],
    ids=str,
)
def test_errors_are_smaller_where_it_is_the_default(kernel, dim):
    found = error(kernel, dim, "auto", 256)
    assert found == error(kernel, dim, "lattice", 256)
    assert found < 0.85 * error(kernel, dim, "energy", 256)

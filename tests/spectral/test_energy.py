"""Directions of least energy: known best ones, the energy by brute force, and what is gained."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import check_grad

from bochner import kernels, spectral_measure
from bochner.spectral import energy


def cosines(directions):
    """Absolute cosines of all pairs of directions, sorted."""
    products = np.abs(directions @ directions.T)
    return np.sort(products[np.triu_indices(len(directions), 1)])


def test_lines_in_the_plane_are_equally_spaced():
    angles = np.arctan2(*energy.spread_directions(7, 2, are_equal=True).T) % np.pi
    assert_allclose(np.diff(np.sort(angles)), np.pi / 7.0, atol=2e-3)


def test_six_lines_in_space_are_the_axes_of_the_icosahedron():
    assert_allclose(cosines(energy.spread_directions(6, 3, are_equal=True)), 0.2**0.5, atol=2e-3)


@pytest.mark.parametrize("dim", [2, 5, 16])
def test_as_many_lines_as_inputs_are_orthogonal(dim):
    assert cosines(energy.spread_directions(dim, dim, are_equal=True)).max() < 1e-3


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_the_energy_is_the_mean_square_of_sums_of_cosines(dim):
    rng = np.random.default_rng(dim)
    z = rng.normal(size=(6, dim))
    found, _ = energy._energy(z.ravel(), np.linalg.norm(z, axis=1))
    expected = 0.0
    for lag in energy._LAGS:
        lags = rng.normal(size=(400_000, dim)) * lag / np.sqrt(dim)
        expected += len(z) * np.mean(np.cos(lags @ z.T).mean(axis=1) ** 2)
    assert_allclose(found, expected, rtol=0.01)


@pytest.mark.parametrize("dim", [2, 5])
def test_slopes_are_those_of_differences(dim):
    rng = np.random.default_rng(dim)
    radii, v = rng.uniform(0.5, 3.0, 9), rng.normal(size=9 * dim)

    def part(index):
        return lambda v: energy._energy(v, radii)[index]

    assert check_grad(part(0), part(1), v) < 1e-6


@pytest.mark.parametrize(
    ("kernel", "most"), [(kernels.Gaussian(1.0), 0.5), (kernels.Matern(1.0, nu=1.5), 0.9)]
)
@pytest.mark.parametrize("dim", [2, 5, 16])
def test_errors_are_smaller(kernel, most, dim):
    measure = spectral_measure(kernel, dim)
    X = np.random.default_rng(0).normal(size=(200, dim)) / np.sqrt(2.0 * dim)

    def error(scheme):
        grams = [measure.sample(16 * dim, seed, scheme).gram(X) for seed in range(8)]
        return np.sqrt(np.mean((np.array(grams) - kernel(X)) ** 2))

    assert error("energy") < most * error("orthogonal")

"""Measures of locally stationary kernels, and how their frequencies are paired."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner import spectral_measure
from bochner.features.transformer import FourierFeatures
from bochner.kernels import Gaussian, LocallyStationary, SpectralMixture
from bochner.spectral.composite_laws import grid_sides
from bochner.spectral.schemes import SCHEMES

PLAIN = LocallyStationary(Gaussian(2.0), Gaussian(0.5), (0.3, -0.2))
MIXTURE = SpectralMixture([0.5, 1.5], [[0.0, 0.0], [1.0, 2.0]], [0.4, 1.2])
X = np.random.default_rng(0).normal(size=(30, 2))


def test_masses_multiply_and_every_pair_of_parts_is_a_part():
    measure = spectral_measure(LocallyStationary(2.0 * MIXTURE, MIXTURE + Gaussian()), 2)
    expected = np.outer([1.0, 3.0], [0.5, 1.5, 1.0]).ravel()
    assert_allclose([part.mass for part in measure.parts], expected)
    assert_allclose(measure.mass, expected.sum())
    assert_allclose(measure.total_variation, expected.sum())
    assert not measure.is_positive
    assert measure.is_two_sided
    assert not spectral_measure(Gaussian(), 2).is_two_sided


def test_sums_products_and_multiples_are_those_of_the_measures():
    mu, nu = (spectral_measure(k, 2) for k in (PLAIN, MIXTURE))
    assert spectral_measure(PLAIN + MIXTURE, 2) == mu + nu
    assert spectral_measure(PLAIN * MIXTURE, 2) == mu * nu
    assert spectral_measure(-2.0 * PLAIN, 2) == -2.0 * mu


@pytest.mark.parametrize("scheme", [*SCHEMES])
@pytest.mark.parametrize("m", [1, 2, 3, 12, 36, 37, 64])
def test_a_grid_has_few_frequencies_of_either_kind(m, scheme):
    f = spectral_measure(PLAIN, 2, pairs="grid").sample(m, 0, scheme)
    s, v = 0.5 * (f.omega + f.nu), f.omega - f.nu
    rows, columns = grid_sides(m)
    distinct = [len(np.unique(a.round(10), axis=0)) for a in (s, v)]
    assert distinct == [rows, min(columns, m)]
    assert len(np.unique(np.hstack([s, v]).round(10), axis=0)) == m
    assert_allclose(f.phase, -v @ PLAIN.centre, atol=1e-12)


def test_sides_of_a_grid_are_near_each_other():
    assert [grid_sides(m) for m in (1, 4, 6, 36, 72, 16)] == [
        (1, 1),
        (2, 2),
        (3, 2),
        (6, 6),
        (9, 8),
        (4, 4),
    ]
    for m in range(1, 400):
        rows, columns = grid_sides(m)
        assert m <= rows * columns < m + columns
        assert columns <= rows <= 4 * columns or (rows, columns) == (-(-m // columns), columns)
        assert rows + columns <= 2.5 * np.sqrt(m) + 1.0


@pytest.mark.parametrize("pairs", ["square", None, 3])
def test_unknown_pairs_are_refused(pairs):
    with pytest.raises(ValueError, match="pairs must be one of 'matched', 'grid', got"):
        spectral_measure(PLAIN, 2, pairs=pairs)
    with pytest.raises(ValueError, match="pairs must be one of 'matched', 'grid'"):
        FourierFeatures(Gaussian(), pairs=pairs).fit(X)

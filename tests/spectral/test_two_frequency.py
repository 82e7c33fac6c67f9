"""Measures of locally stationary kernels, with a part for each pair of parts."""

import numpy as np
from numpy.testing import assert_allclose

from bochner import spectral_measure
from bochner.kernels import Gaussian, LocallyStationary, SpectralMixture

PLAIN = LocallyStationary(Gaussian(2.0), Gaussian(0.5), (0.3, -0.2))
MIXTURE = SpectralMixture([0.5, 1.5], [[0.0, 0.0], [1.0, 2.0]], [0.4, 1.2])


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

"""Estimates of symmetric kernels are symmetric."""

import numpy as np
import pytest
from laws.registry import late
from numpy.testing import assert_allclose, assert_array_equal

from bochner import FourierFeatures, kernels
from bochner.spectral import Envelope
from bochner.spectral.frequencies import Frequencies

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
PHASED = Frequencies(RNG.normal(size=(5, 2)), RNG.normal(size=5), RNG.uniform(-4.0, 4.0, 5))


def test_what_is_left_is_the_symmetric_part():
    found = PHASED.one_sided()
    assert found.is_symmetric
    both = PHASED.gram(X)
    assert not np.allclose(both, both.T)
    assert_allclose(found.gram(X), 0.5 * (both + both.T), atol=1e-13)


def test_other_frequencies_on_the_right_become_two_of_one_side():
    nu = PHASED.omega.copy()
    nu[:2] += 1.0  # the others have no wave of the midpoint, but a phase
    mixed = Frequencies(PHASED.omega, PHASED.weight, PHASED.phase, nu)
    found = mixed.one_sided()
    assert found.is_symmetric
    assert found.n_frequencies == 10
    both = mixed.gram(X)
    assert_allclose(found.gram(X), 0.5 * (both + both.T), atol=1e-13)


def test_an_envelope_stays_beside_the_waves():
    envelope = Envelope([0.1, 0.2, 0.0, 0.3, 0.1], [5.0] * 5)
    given = Frequencies(
        PHASED.omega, PHASED.weight, PHASED.phase, PHASED.omega[::-1], factor=envelope
    )
    both = given.gram(X)
    found = given.one_sided()
    assert_allclose(found.gram(X), 0.5 * (both + both.T), atol=1e-13)


SYMMETRISED = {
    "shift": kernels.ShiftGaussian(1.0, 1.5).symmetrised,
    "cosh": kernels.CoshGaussian(1.0, 0.7).symmetrised,
    "lag": kernels.Stationary(late).symmetrised,
    "product": kernels.ShiftGaussian(1.0, 1.5).symmetrised * kernels.Gaussian(2.0),
}


@pytest.mark.thorough_cases("lag")
@pytest.mark.parametrize("kernel", SYMMETRISED.values(), ids=SYMMETRISED)
@pytest.mark.parametrize("weights", ["sampled", "least_squares"])
def test_a_symmetrised_kernel_has_the_same_features_on_either_side(kernel, weights):
    map = FourierFeatures(kernel, 512, weights=weights, random_state=0).fit(X)
    assert map.frequencies_.is_symmetric
    assert -1.0 in map.signature_
    assert_array_equal(map.transform(X), map.transform_right(X))
    exact = kernel(X)
    assert np.linalg.norm(map.gram(X) - exact) < 0.2 * np.linalg.norm(exact)

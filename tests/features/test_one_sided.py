"""Estimates of symmetric kernels are symmetric."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner import FourierFeatures, kernels
from bochner.features.one_sided import one_sided
from bochner.frequencies import Frequencies

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
PHASED = Frequencies(RNG.normal(size=(5, 2)), RNG.normal(size=5), RNG.uniform(-4.0, 4.0, 5))


def late(delta):
    return np.exp(-np.square(delta - 0.4).sum(axis=-1))


def test_what_is_left_is_the_symmetric_part():
    found = one_sided(kernels.Gaussian(), PHASED)
    assert found.is_symmetric
    both = PHASED.gram(X)
    assert not np.allclose(both, both.T)
    assert_allclose(found.gram(X), 0.5 * (both + both.T), atol=1e-13)


def test_asymmetric_kernels_and_functions_keep_their_phases():
    for kernel in (kernels.ShiftGaussian(), lambda A, B: A @ B.T):
        assert one_sided(kernel, PHASED) is PHASED


def test_other_frequencies_on_the_right_stay():
    nu = PHASED.omega.copy()
    nu[:2] += 1.0
    mixed = Frequencies(PHASED.omega, PHASED.weight, PHASED.phase, nu)
    found = one_sided(kernels.Gaussian(), mixed)
    assert_array_equal(found.is_two_sided, [True, True, False, False, False])
    assert_array_equal(found.phase[:2], PHASED.phase[:2])
    assert_array_equal(found.weight[:2], PHASED.weight[:2])
    assert_allclose(found.weight[2:], PHASED.weight[2:] * np.cos(PHASED.phase[2:]))


SYMMETRISED = {
    "shift": kernels.ShiftGaussian(1.0, 1.5).symmetrised,
    "cosh": kernels.CoshGaussian(1.0, 0.7).symmetrised,
    "lag": kernels.Stationary(late).symmetrised,
    "product": kernels.ShiftGaussian(1.0, 1.5).symmetrised * kernels.Gaussian(2.0),
}


@pytest.mark.parametrize("kernel", SYMMETRISED.values(), ids=SYMMETRISED)
@pytest.mark.parametrize("weights", ["sampled", "least_squares"])
def test_a_symmetrised_kernel_has_the_same_features_on_either_side(kernel, weights):
    map = FourierFeatures(kernel, 512, weights=weights, random_state=0).fit(X)
    assert map.frequencies_.is_symmetric
    assert -1.0 in map.signature_
    assert_array_equal(map.transform(X), map.transform_right(X))
    exact = kernel(X)
    assert np.linalg.norm(map.gram(X) - exact) < 0.2 * np.linalg.norm(exact)

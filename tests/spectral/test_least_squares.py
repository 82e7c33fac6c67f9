"""Least-squares weights."""

import numpy as np
import pytest
from laws import weight_laws
from laws.weight_laws import problem

from bochner.spectral.least_squares import Sample, least_squares_weights


@pytest.mark.parametrize("envelope", [False, True])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_weights_are_those_of_brute_force(envelope, nonnegative):
    weight_laws.check_weights(envelope=envelope, nonnegative=nonnegative)


@pytest.mark.parametrize(
    "check", [weight_laws.check_optimality, weight_laws.check_never_worse, weight_laws.check_start]
)
def test_weights(check):
    check()


def test_repeated_frequencies_share_their_weight():
    f, fit, held_out = problem()
    twice = f + f
    found = least_squares_weights(twice, fit, held_out)
    single = least_squares_weights(f.with_weights(2.0 * f.weight), fit, held_out)
    assert np.isfinite(found.weight).all()
    assert found.error < 1.02 * single.error


def test_a_kernel_of_zero_is_no_difficulty():
    f, fit, held_out = problem()
    zero = (Sample(s.left, s.left, np.zeros_like(s.gram)) for s in (fit, held_out))
    found = least_squares_weights(f, *zero)
    assert np.abs(found.weight).max() < 1e-5 * np.abs(f.weight).max()

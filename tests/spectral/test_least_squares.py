"""Least-squares weights."""

import numpy as np
import pytest
from laws import weight_laws
from laws.weight_laws import DIM, M, brute_force, problem, relative_error
from numpy.testing import assert_allclose, assert_array_equal

from bochner.spectral.least_squares import Sample, least_squares_weights


@pytest.mark.parametrize("envelope", [False, True])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_weights_are_those_of_brute_force(envelope, nonnegative):
    weight_laws.check_weights(envelope=envelope, nonnegative=nonnegative)


def test_nonnegative_weights_are_optimal():
    weight_laws.check_optimality()


def test_weights_are_never_worse_on_held_out_rows():
    weight_laws.check_never_worse()


def test_nonnegative_weights_differ_from_clipped_ones():
    f, fit, held_out = problem()
    f = f.with_weights(np.abs(f.weight))
    free = least_squares_weights(f, fit, held_out).weight
    kept = least_squares_weights(f, fit, held_out, nonnegative=True).weight
    assert free.min() < 0.0 == kept.min()
    assert np.abs(kept - np.maximum(free, 0.0)).max() > 1e-3


def test_a_kernel_that_is_a_finite_sum_is_found():
    f, fit, held_out = problem()
    truth = np.linspace(-1.0, 2.0, M)
    exact = f.with_weights(truth)
    fit, held_out = (Sample(s.left, s.left, exact.gram(s.left)) for s in (fit, held_out))
    found = least_squares_weights(f, fit, held_out)
    assert_allclose(found.weight, truth, atol=1e-5)
    assert found.error < 1e-6
    assert not found.is_prior


def test_the_prior_is_kept_where_no_fit_is_better():
    # What is held out is the start's own kernel; what is fitted on has nothing to do with it.
    f, fit, held_out = problem()
    wrong = Sample(fit.left, fit.left, 10.0 * np.eye(len(fit.left)))
    right = Sample(held_out.left, held_out.left, f.gram(held_out.left))
    found = least_squares_weights(f, wrong, right)
    assert found.is_prior
    assert_array_equal(found.weight, f.weight)
    assert found.error == found.prior_error < 1e-12


def test_few_rows_leave_weights_near_the_start():
    weight_laws.check_start()


def test_repeated_frequencies_share_their_weight():
    f, fit, held_out = problem()
    twice = f + f
    found = least_squares_weights(twice, fit, held_out)
    single = least_squares_weights(f.with_weights(2.0 * f.weight), fit, held_out)
    assert np.isfinite(found.weight).all()
    assert found.error < 1.02 * single.error


def test_far_values_stay_below_the_ceiling():
    f, fit, held_out = problem()
    far = 50.0 * np.random.default_rng(0).normal(size=(30, DIM))
    free = least_squares_weights(f, fit, held_out)
    value = np.abs(f.with_weights(free.weight).gram(far, held_out.left)).max()
    at_start = np.abs(f.gram(far, held_out.left)).max()
    assert at_start < value
    for ceiling in (0.5 * (at_start + value), 2.0 * value):
        tame = least_squares_weights(f, fit, held_out, far=far, ceiling=ceiling)
        assert np.abs(f.with_weights(tame.weight).gram(far, held_out.left)).max() <= ceiling
    assert_array_equal(tame.weight, free.weight)
    kept = least_squares_weights(f, fit, held_out, far=far, ceiling=0.0)
    assert kept.is_prior


def test_a_kernel_of_zero_is_no_difficulty():
    f, fit, held_out = problem()
    zero = (Sample(s.left, s.left, np.zeros_like(s.gram)) for s in (fit, held_out))
    found = least_squares_weights(f, *zero)
    assert np.abs(found.weight).max() < 1e-5 * np.abs(f.weight).max()


def test_stronger_ridges_are_nearer_to_the_start():
    f, fit, held_out = problem()
    weights = [
        brute_force(f, fit, ridge, lambda A, b: np.linalg.lstsq(A, b)[0]) for ridge in (1e-6, 10.0)
    ]
    gaps = [np.linalg.norm(weight - f.weight) for weight in weights]
    assert gaps[1] < 0.5 * gaps[0]
    assert relative_error(f, held_out, weights[0]) < relative_error(f, held_out, f.weight)

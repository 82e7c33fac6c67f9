"""Weights are counts of independent observations, or precisions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner.features.chunks import Chunk, RowSample, Units, are_whole
from bochner.features.parameters import is_symmetric


def test_whole_weights_count_observations_of_weight_one():
    units = Units.of(np.array([2.0, 0.0, 5.0]), 3)
    assert_array_equal(units.weights, [1.0, 1.0, 1.0])
    assert_array_equal(units.counts, [2.0, 0.0, 5.0])
    assert units.n_observations == 7.0
    assert units.are_counts


@pytest.mark.parametrize("factor", [1.0, 0.1, 30.0])
def test_a_row_of_fractional_weight_is_one_observation(factor):
    given = factor * np.array([0.25, 3.0, 0.0, 1.5])
    units = Units.of(given, 4)
    assert_array_equal(units.weights, given)
    assert_array_equal(units.counts, [1.0, 1.0, 0.0, 1.0])
    assert units.n_observations == 3.0
    assert not units.are_counts


def test_no_weights_are_ones():
    units = Units.of(None, 2)
    assert_array_equal(units.totals, [1.0, 1.0])
    assert units.n_observations == len(units) == 2.0


def test_rounding_leaves_weights_whole():
    assert_array_equal(are_whole(np.array([3 * 0.1 * 10, 3.0, 0.0, 2.5, 1e-12])), [1, 1, 1, 0, 0])


def test_forgetting_twice_multiplies_repeats():
    """Rows that are forgotten twice have the product of both factors, as weights and repeats."""
    weight = np.array([2.0, 0.5, 1.5, 1.0])
    rows = Chunk(np.arange(4.0)[:, None], np.ones((4, 1)), weight)
    factors = 0.72 ** np.array([3.0, 2.0, 1.0, 0.0])
    aged = rows.aged(0.9).aged(0.8)
    assert_allclose(aged.weights, weight * factors)
    assert_allclose(aged.repeats, factors)
    assert_allclose(aged.units.weights, weight)
    assert_allclose(aged.units.counts, factors)
    both = aged + rows
    assert_allclose(both.repeats, [*factors, 1.0, 1.0, 1.0, 1.0])
    assert_allclose(both[[5, 0]].units.totals, [0.5, weight[0] * factors[0]])


def test_samples_that_are_forgotten_twice():
    """Rows of a sample that are forgotten twice have the product of both factors."""
    weight = np.array([2.0, 0.5, 1.5])
    rows = Chunk(np.arange(3.0)[:, None], np.ones((3, 1)), weight)
    sample = RowSample(3, np.array([0.1, 0.2, 0.4]), rows, np.inf, 3, float(weight @ weight))
    twice = sample.weighted(0.5).weighted(0.2)
    assert_allclose(twice.rows.weights, 0.1 * weight)
    assert_allclose(twice.rows.repeats, 0.1)
    assert_allclose(twice.keys, 10.0 * sample.keys)
    assert_allclose(twice.square, 0.01 * sample.square)
    assert_allclose(twice.unit_weights, 0.1)


def test_a_matrix_of_zeros_is_symmetric():
    """A Gram matrix of zeros is symmetric, and so is one that is off by the tolerance."""
    assert is_symmetric(np.zeros((3, 3)), 1e-12)
    off = np.array([[4.0, 1.0], [0.75, 2.0]])  # The difference is a sixteenth of the greatest entry
    assert is_symmetric(off, 0.0625)
    assert not is_symmetric(off, 0.0624)

"""Weights are counts of independent observations, or precisions."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bochner.features.units import Units, are_whole


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

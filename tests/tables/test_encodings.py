"""Entries of a column for effects, in which the extremes are."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bochner.tables.encodings import grid

NUMBERS = {"kind": "numeric", "indicator": False}


def entries(values, most):
    return grid(NUMBERS, np.asarray(values, dtype=float), np.empty((len(values), 1)), most)


@pytest.mark.parametrize("most", [2, 5, 30])
@pytest.mark.parametrize("size", [2, 12, 30, 101])
def test_entries_reach_from_the_least_number_to_the_greatest(size, most):
    values = np.random.default_rng(size).permutation(size)
    found, rows = entries(values, most)
    assert_array_equal(found[[0, -1]], [0.0, size - 1.0])
    assert_array_equal(values[rows], found)
    assert len(found) == min(size, most)


def test_all_of_few_entries_are_there():
    assert_array_equal(entries([3.0, 1.0, 1.0, 1.0, 2.0], 5)[0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("n_others", [0, 2])
def test_missing_numbers_are_the_last_entry_whatever_features_follow(n_others):
    state = {"name": "a", "kind": "numeric", "indicator": True, "points": [0.0, 3.0]}
    values = np.array([2.0, 0.0, 1.0, 3.0])
    is_missing = np.array([0.0, 0.0, 1.0, 0.0])
    features = np.column_stack((values, is_missing, np.zeros((4, n_others))))
    found, rows = grid(state, values, features, 4)
    assert_array_equal(found, [0.0, 2.0, 3.0, np.nan])
    assert_array_equal(rows, [1, 0, 3, 2])

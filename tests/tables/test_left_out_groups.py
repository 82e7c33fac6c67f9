"""What is removed together: groups, and blocks in time without ties between them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bochner.tables.level_means import Removal
from bochner.tables.observations import fold_numbers

RNG = np.random.default_rng(0)


def check_times(times):
    removal, order = Removal.of_times(times), np.argsort(times, kind="stable")
    n = len(times)
    for time in np.unique(times):  # One time is in one block
        assert len(np.unique(removal.groups[times == time])) == 1
    assert np.all(np.diff(removal.groups[order]) >= 0)
    assert_array_equal(np.unique(removal.groups), np.arange(removal.groups.max() + 1))
    assert_array_equal(removal.latest, removal.groups == removal.groups.max())
    assert not removal.latest.all()
    first = times[removal.latest].min()
    n_earlier = len(np.unique(times[~removal.latest]))
    assert removal.latest.sum() >= n // 5 or n_earlier == 1
    # Without its first time, the block would be smaller than a fifth.
    assert np.sum(times > first) < n // 5
    check_stretches(removal, times)
    return removal


def check_stretches(removal, times):
    """Stretches follow each other in time, hold whole blocks, and have rows before them."""
    assert np.all(np.diff(removal.stretches[np.argsort(times, kind="stable")]) >= 0)
    pairs = np.unique(np.stack((removal.groups, removal.stretches)), axis=1)
    assert len(np.unique(pairs[0])) == pairs.shape[1]
    assert_array_equal(np.unique(removal.stretches), np.arange(removal.stretches.max() + 1))
    for number in range(1, removal.stretches.max()):
        assert np.sum(removal.stretches == number) >= len(times) // 5
        assert np.sum(removal.stretches < number) >= 20
    assert_array_equal(np.unique(times)[removal.times], times)


@pytest.mark.parametrize(("n", "n_stretches"), [(30, 1), (33, 2), (46, 2), (50, 3), (1000, 3)])
def test_the_last_three_fifths_are_stretches_if_enough_rows_are_before(n, n_stretches):
    removal = check_times(np.arange(n))
    sizes = np.bincount(removal.stretches)
    assert_array_equal(sizes[1:], [n // 5] * n_stretches)


@pytest.mark.parametrize("n", [5, 9, 10, 11, 57, 300])
def test_different_times_are_nine_blocks_of_which_the_last_has_a_fifth(n):
    removal = check_times(RNG.permutation(n))
    assert removal.latest.sum() == n // 5
    if n >= 50:
        assert removal.groups.max() == 8
        assert np.ptp(np.bincount(removal.groups)[:-1]) <= 1


@pytest.mark.parametrize("n_folds", [2, 10])
def test_folds_have_whole_groups_of_nearly_equal_number(n_folds):
    groups = RNG.integers(0, 37, 400)
    folds = fold_numbers(groups, 400, n_folds)
    for group in range(37):
        assert len(np.unique(folds[groups == group])) == 1
    pairs = np.unique(np.stack((groups, folds)), axis=1)
    assert np.ptp(np.bincount(pairs[1])) <= 1
    assert_array_equal(fold_numbers(None, 5, 2), [0, 1, 0, 1, 0])
    assert_array_equal(fold_numbers(np.zeros(3, dtype=int), 3, 2), [0, 1, 0])


def test_groups_need_two_labels():
    assert_array_equal(Removal.of_labels(np.array(["b", "a", "b"])).groups, [1, 0, 1])
    with pytest.raises(ValueError, match="at least two different labels"):
        Removal.of_labels(np.zeros(4))

"""Which rows are held out."""

import numpy as np
import pandas as pd
import pytest

from bochner.comparison.split import split_rows
from bochner.files.errors import InputError

N = 100
FEATURES = pd.DataFrame({"a": np.arange(float(N))})
TARGET = pd.Series(np.arange(N) % 2)


def rows(split):
    return split.X["a"].to_numpy().astype(int), split.X_test["a"].to_numpy().astype(int)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_groups_are_held_out_whole(task):
    groups = np.arange(N) // 2 % 10
    weight = np.linspace(1.0, 2.0, N)
    split = split_rows(FEATURES, TARGET, task, 0.2, 0, groups=groups, weight=weight)
    fit, test = rows(split)
    assert sorted([*fit, *test]) == list(range(N))
    assert len(set(groups[test])) == 2
    assert not set(groups[test]) & set(groups[fit])
    np.testing.assert_array_equal(split.groups, groups[fit])
    np.testing.assert_array_equal(split.weight, weight[fit])
    np.testing.assert_array_equal(split.y, TARGET[fit])


def test_the_latest_rows_are_held_out():
    time = np.random.default_rng(0).permutation(N)
    split = split_rows(FEATURES, TARGET, "regression", 0.25, 0, time=time)
    fit, test = rows(split)
    assert (len(fit), len(test)) == (75, 25)
    assert time[fit].max() < time[test].min()
    np.testing.assert_array_equal(split.time, time[fit])


def test_classes_have_equal_shares_in_random_rows():
    split = split_rows(FEATURES, TARGET, "classification", 0.3, 5)
    assert split.y_test.sum() == 15
    assert split.weight is split.groups is split.time is None


def test_a_class_of_test_rows_alone_is_refused():
    late = pd.Series(np.where(np.arange(N) < 90, TARGET, 2))
    with pytest.raises(InputError, match="No row to fit has the class 2, which"):
        split_rows(FEATURES, late, "classification", 0.1, 0, time=np.arange(N))


def check_fewest():
    """Two rows to fit are enough for a regression, and one is not."""
    n_fitted = []
    for n in (3, 4):
        frame, y = FEATURES[:n], pd.Series(np.arange(float(n)))
        try:
            n_fitted.append(len(split_rows(frame, y, "regression", 0.5, 0).y))
        except InputError as error:
            n_fitted.append(str(error))
    assert n_fitted[1] == 2
    assert "leaves 1 to fit and 2 to test: expected at least 2" in n_fitted[0]


def test_two_rows_are_enough_to_fit():
    check_fewest()

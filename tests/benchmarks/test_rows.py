"""Rows of data sets as benchmarks of features split, scale and thin them."""

import numpy as np
import pytest

from benchmarks.datasets import Dataset
from benchmarks.rows import scaled

N = 40
VALUES = np.random.default_rng(0).permutation(N).astype(float)


def dataset(*, own_test=False):
    """Rows that are known by their label."""
    y = np.arange(N)
    X = np.column_stack((VALUES, -3.0 * VALUES))
    test = (1.5 * X[:7], 100 + y[:7]) if own_test else (None, None)
    return Dataset("some", X=X, y=y, X_test=test[0], y_test=test[1], task="classification")


def split(n_train=100, sizes=None, *, own_test=False, seed=2):
    return scaled(dataset(own_test=own_test), seed, sizes or {}, n_train)


@pytest.mark.parametrize(
    ("sizes", "n_train", "expected"),
    [({}, 100, (20, 20)), ({"some": (25, 10)}, 100, (25, 10)), ({}, 12, (12, 20))],
)
def test_parts_are_apart(sizes, n_train, expected):
    train, y, test, y_test = split(n_train, sizes)
    assert (len(train), len(test)) == expected
    assert len(set(y)) == len(y)
    assert not set(y) & set(y_test)


def test_the_parts_of_the_source_are_kept():
    train, y, test, y_test = split(own_test=True)
    assert set(y) == set(range(N))
    assert set(y_test) == set(range(100, 107))
    assert (len(train), len(test)) == (N, 7)


@pytest.mark.parametrize("own_test", [False, True])
def test_columns_are_scaled_by_the_training_part(own_test):
    train, y, test, y_test = split(own_test=own_test)
    X = dataset().X
    low, high = X[y].min(axis=0), X[y].max(axis=0)
    np.testing.assert_allclose(train, (X[y] - low) / (high - low), atol=1e-12)
    raw = 1.5 * X[y_test - 100] if own_test else X[y_test]
    np.testing.assert_allclose(test, np.clip((raw - low) / (high - low), 0.0, 1.0), atol=1e-12)


def test_the_scale_does_not_depend_on_how_many_rows_are_kept():
    few, y, _, _ = split(5)
    many, every, _, _ = split()
    np.testing.assert_array_equal(few, many[:5])
    np.testing.assert_array_equal(y, every[:5])

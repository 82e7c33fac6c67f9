"""Distinct rows, scaling, trends and typical frequencies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner.features.chunks import Units
from bochner.learned.training_data import Scaling, Trend, distinct_rows, frequency_scales

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("high", [2, 9])
def test_weights_and_repetitions_are_the_same_data(high):
    """Few repetitions become rows of their own, many become weights: either way the same."""
    X, y = RNG.integers(0, 4, size=(40, 2)).astype(float), RNG.integers(0, 2, size=40) * 1.0
    weight = RNG.integers(1, high, size=40)
    weight[5:] = np.where(high == 2, 1, weight[5:])
    order = RNG.permutation(weight.sum())
    repeated = distinct_rows(
        np.repeat(X, weight, axis=0)[order],
        np.repeat(y, weight)[order],
        Units.of(None, weight.sum()),
    )
    weighted = distinct_rows(X, y, Units.of(weight.astype(float), 40))
    for one, other in zip(flat(repeated), flat(weighted), strict=True):
        assert_array_equal(one, other)


def flat(found):
    """Return rows, targets, weights and counts."""
    return *found[:2], found[2].weights, found[2].counts


def test_rows_of_other_precisions_stay_observations_of_their_own():
    given = Units.of(np.array([0.5, 0.25, 0.5, 0.5]), 4)
    rows, target, units = distinct_rows(np.ones((4, 1)), np.zeros(4), given)
    assert_array_equal(rows, [[1.0], [1.0]])
    assert len(target) == 2
    assert_array_equal(units.weights, [0.25, 0.5])
    assert_array_equal(units.counts, [1.0, 3.0])


@pytest.mark.parametrize("n", [50, 200, 1000])
@pytest.mark.parametrize("size", [1e3, 1e6, -1e12])
def test_a_gross_outlier_does_not_move_the_scale(n, size):
    X = np.random.default_rng(1).normal(size=(n, 1))
    outlying = X.copy()
    outlying[n // 3] = size
    assert_allclose(Scaling.of(outlying).scale, Scaling.of(X).scale, rtol=0.2)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 500])
def test_constants_and_rare_events_have_a_scale(n):
    X = np.zeros((n, 3))
    X[:, 0] = 0.1
    X[n // 2, 1] = 7.0
    X[:, 2] = np.arange(n)
    scaling = Scaling.of(X)
    assert (scaling.scale > 0).all()
    assert np.isfinite(scaling.apply(X)).all()
    assert_array_equal(scaling.apply(X)[:, 0], 0.0)
    assert scaling.scale[0] == 1.0
    assert np.ptp(scaling.apply(X)[:, 1]) > 0 or n == 1


def powers(X, degree):
    return np.hstack([np.ones((len(X), 1)), *(X**k for k in range(1, degree + 1))])


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_trends_are_orthonormal_and_span_the_powers(degree):
    X = RNG.normal(size=(60, 3))
    trend = Trend.of(X, degree)
    columns = trend.columns(X)
    q = 1 + 3 * degree
    assert_allclose(columns.T @ columns / 60, np.eye(q), atol=1e-10)
    new = RNG.normal(size=(20, 3))
    coef = np.linalg.lstsq(columns, powers(X, degree), rcond=None)[0]
    assert_allclose(trend.columns(new) @ coef, powers(new, degree), atol=1e-9)


def test_dependent_columns_are_left_out_but_never_the_constant():
    X = RNG.normal(size=(60, 1))
    X = np.hstack([X, 2.0 * X - 1.0, np.full((60, 1), 5.0), RNG.integers(0, 2, size=(60, 1))])
    trend = Trend.of(X, 2)
    columns = trend.columns(X)
    assert columns.shape[1] == np.linalg.matrix_rank(powers(X, 2)) == 4
    assert trend.kept[0] == 0
    assert_allclose(columns.T @ columns / 60, np.eye(4), atol=1e-9)


@pytest.mark.parametrize(("n", "d", "degree"), [(1, 2, 1), (3, 2, 1), (20, 50, 1), (5, 2, 2)])
def test_a_trend_without_rows_to_spare_is_refused(n, d, degree):
    X = np.random.default_rng(2).normal(size=(n, d))
    with pytest.raises(ValueError, match=f"trend={degree} has .* columns, which leave nothing"):
        Trend.of(X, degree)
    assert_array_equal(np.abs(Trend.of(X, 0).columns(X)), np.ones((n, 1)))


def test_typical_frequencies_are_the_reciprocals_of_median_distances():
    rng = np.random.default_rng(3)
    X = np.column_stack([np.arange(1000.0), np.full(1000, 2.0), rng.integers(0, 2, size=1000)])
    scales = frequency_scales(X, rng)
    # The median distance of two uniform values is 1 - 1/sqrt(2) of the range.
    assert_allclose(scales[0], 1.0 / (1000.0 * (1.0 - np.sqrt(0.5))), rtol=0.1)
    assert scales[1] == 1.0
    assert scales[2] == 1.0

"""Features, sums and heads against dense algebra."""

import pytest
from laws import head_laws as laws

INTERCEPT = pytest.mark.parametrize("fit_intercept", [False, True])
# Fewer features than rows, as many as rows, and more.
SIZES = pytest.mark.parametrize("m", [10, 20, 35])


@pytest.mark.parametrize(
    "check",
    [laws.check_posterior, laws.check_best_alpha, laws.check_poles, laws.check_cross_validation],
)
@SIZES
@INTERCEPT
def test_heads_are_those_of_dense_algebra(check, fit_intercept, m):
    check(fit_intercept, m)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_a_commutative_monoid(weighted):
    laws.check_sums(weighted)


@pytest.mark.parametrize("n_components", [20, 40, 70])
@INTERCEPT
def test_ridge_is_kernel_ridge(fit_intercept, n_components):
    laws.check_ridge(fit_intercept, n_components)


@pytest.mark.thorough
@pytest.mark.parametrize("repetitions", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_coverage(repetitions):
    laws.check_coverage(repetitions)


def test_drawn_functions_have_the_posterior():
    laws.check_draws()


def test_probabilities_are_projections():
    laws.check_probabilities()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("negative", [None, False, True], ids=["both", "positive", "negative"])
@SIZES
@INTERCEPT
def test_the_stationary_point_is_the_dense_one(fit_intercept, m, negative, weighted):
    laws.check_krein(fit_intercept, m, negative=negative, weighted=weighted)

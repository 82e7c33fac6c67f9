"""Features, sums and heads against dense algebra."""

import pytest
from laws import head_laws as laws

INTERCEPT = pytest.mark.parametrize("fit_intercept", [False, True])
# Fewer features than rows, as many as rows, and more.
SIZES = pytest.mark.parametrize("m", [10, 20, 35])


@pytest.mark.parametrize("kind", ["symmetric", "general"])
def test_features_are_the_finite_sum(kind):
    laws.check_features(kind)


@SIZES
@INTERCEPT
def test_the_posterior_is_the_dense_one(fit_intercept, m):
    laws.check_posterior(fit_intercept, m)


@SIZES
@INTERCEPT
def test_best_alpha_is_the_best(fit_intercept, m):
    laws.check_best_alpha(fit_intercept, m)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_a_commutative_monoid(weighted):
    laws.check_sums(weighted)


@pytest.mark.parametrize("n_components", [20, 40, 70])
@INTERCEPT
def test_ridge_is_kernel_ridge(fit_intercept, n_components):
    laws.check_ridge(fit_intercept, n_components)


def test_coverage():
    laws.check_coverage()


@pytest.mark.slow
def test_coverage_at_length():
    laws.check_coverage(repetitions=1000)


def test_probabilities_are_projections():
    laws.check_probabilities()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("negative", [None, False, True], ids=["both", "positive", "negative"])
@SIZES
@INTERCEPT
def test_the_stationary_point_is_the_dense_one(fit_intercept, m, negative, weighted):
    laws.check_krein(fit_intercept, m, negative=negative, weighted=weighted)


@SIZES
@INTERCEPT
def test_poles_are_noticed(fit_intercept, m):
    laws.check_poles(fit_intercept, m)


@SIZES
@INTERCEPT
def test_cross_validation_is_the_dense_one(fit_intercept, m):
    laws.check_cross_validation(fit_intercept, m)

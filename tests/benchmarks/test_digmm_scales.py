"""The leave-one-out error of class indicators by length scales, and its gradients."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.digmm.scales import GAUSSIAN, MATERN, LeaveOneOut, minimise

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(15, 3)), RNG.normal(size=(15, 2)) + 1.0
CRITERION = LeaveOneOut.of(X, Y)
THETA = 0.9 + 0.5 * RNG.normal(size=3)
PAIRS = np.triu_indices(15, k=1)

each_family = pytest.mark.parametrize("family", [GAUSSIAN, MATERN], ids=str)


@each_family
def test_correlations_are_those_of_the_kernel(family):
    correlation, _ = family.correlation(CRITERION.lags, THETA)
    assert_allclose(correlation, family.kernel(THETA)(X)[PAIRS], rtol=1e-10)


@pytest.mark.parametrize("log_alpha", [-3.0, 1.0])
@each_family
def test_the_loss_is_that_of_leaving_each_row_out(family, log_alpha):
    C = family.kernel(THETA)(X) + np.exp(log_alpha) * np.eye(15)
    centred = Y - Y.mean(axis=0)
    residual = np.empty_like(Y)
    for i in range(15):
        rest = np.delete(np.arange(15), i)
        weights = np.linalg.solve(C[np.ix_(rest, rest)], C[rest, i])
        residual[i] = centred[i] - weights @ centred[rest]
    loss, _, _ = CRITERION.loss(family.correlation(CRITERION.lags, THETA)[0], log_alpha)
    assert_allclose(loss, 0.5 * Y.size * np.log(np.mean(residual**2)), rtol=1e-9)


@each_family
def test_the_gradients_are_those_of_finite_differences(family):
    theta = np.append(THETA, -1.0)

    def loss(theta):
        return CRITERION.loss(family.correlation(CRITERION.lags, theta[:-1])[0], theta[-1])[0]

    correlation, pullback = family.correlation(CRITERION.lags, theta[:-1])
    _, gradient, slope = CRITERION.loss(correlation, theta[-1])
    # Central differences: errors of the order of the step's square.
    expected = np.array([(loss(theta + h) - loss(theta - h)) / 2e-5 for h in 1e-5 * np.eye(4)])
    scale = np.abs(expected).max()
    assert_allclose(np.append(pullback(gradient), slope), expected, atol=1e-6 * scale)


def test_what_is_not_positive_definite_has_infinite_loss():
    loss, gradient, slope = CRITERION.loss(np.full(len(PAIRS[0]), -1.0), -9.0)
    assert loss == np.inf
    assert not gradient.any()
    assert slope == 0.0


def test_a_second_search_starts_where_the_first_ended():
    first = minimise(CRITERION, GAUSSIAN, 200)
    assert_allclose(minimise(CRITERION, GAUSSIAN, 1, start=first), first, atol=1e-3)

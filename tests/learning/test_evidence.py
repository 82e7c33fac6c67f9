"""The exact evidence, its gradients, and the families it is maximised over."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

from bochner.learning.families import FAMILIES
from bochner.learning.kernel_search import ExactEvidence, LeaveOneOut

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(15, 3)), RNG.normal(size=(15, 2)) + 1.0
EVIDENCE = ExactEvidence.of(X, Y)
PAIRS = np.triu_indices(15, k=1)

each_family = pytest.mark.parametrize("family", FAMILIES, ids=str)


def somewhere(family):
    start = family.prior(3)[0]
    return start + 0.5 * np.random.default_rng(1).normal(size=len(start))


@each_family
def test_correlations_are_those_of_the_kernel(family):
    theta = somewhere(family)
    correlation, _ = family.correlation(EVIDENCE.lags, theta)
    assert_allclose(correlation, family.kernel(theta)(X)[PAIRS], rtol=1e-10)


@each_family
def test_parameters_priors_and_starts_have_one_shape(family):
    mean, precision = family.prior(3)
    assert precision.shape == mean.shape
    assert (precision > 0.0).all()


@pytest.mark.parametrize("log_alpha", [-4.0, 0.0, 2.0])
@each_family
def test_the_loss_is_the_dense_evidence(family, log_alpha):
    theta = somewhere(family)
    C = family.kernel(theta)(X) + np.exp(log_alpha) * np.eye(15)
    centred = Y - Y.mean(axis=0)
    # At the best scale of each target, found numerically.
    dense = sum(
        minimize_scalar(
            lambda s, y=y: -multivariate_normal(cov=np.exp(s) * C).logpdf(y), bracket=(-2.0, 2.0)
        ).fun
        for y in centred.T
    )
    loss, _, _ = EVIDENCE.loss(family.correlation(EVIDENCE.lags, theta)[0], log_alpha)
    constant = centred.size / 2.0 * (np.log(2.0 * np.pi) + 1.0)
    assert_allclose(loss + constant, dense, rtol=1e-8)


@pytest.mark.parametrize("log_alpha", [-3.0, 1.0])
@each_family
def test_the_leave_one_out_loss_is_that_of_leaving_each_row_out(family, log_alpha):
    theta = somewhere(family)
    C = family.kernel(theta)(X) + np.exp(log_alpha) * np.eye(15)
    centred = Y - Y.mean(axis=0)
    residual = np.empty_like(Y)
    for i in range(15):
        rest = np.delete(np.arange(15), i)
        weights = np.linalg.solve(C[np.ix_(rest, rest)], C[rest, i])
        residual[i] = centred[i] - weights @ centred[rest]
    criterion = LeaveOneOut.of(X, Y)
    loss, _, _ = criterion.loss(family.correlation(criterion.lags, theta)[0], log_alpha)
    assert_allclose(loss, 0.5 * Y.size * np.log(np.mean(residual**2)), rtol=1e-9)


@pytest.mark.parametrize("criterion", [EVIDENCE, LeaveOneOut.of(X, Y)], ids=["evidence", "loo"])
@each_family
def test_the_gradients_are_those_of_finite_differences(family, criterion):
    theta = np.append(somewhere(family), -1.0)

    def loss(theta):
        return criterion.loss(family.correlation(criterion.lags, theta[:-1])[0], theta[-1])[0]

    correlation, pullback = family.correlation(criterion.lags, theta[:-1])
    _, gradient, slope = criterion.loss(correlation, theta[-1])
    # Central differences: errors of the order of the step's square.
    steps = 1e-5 * np.eye(len(theta))
    expected = np.array([(loss(theta + h) - loss(theta - h)) / 2e-5 for h in steps])
    scale = np.abs(expected).max()
    assert_allclose(np.append(pullback(gradient), slope), expected, atol=1e-6 * scale)


def test_what_is_not_positive_definite_has_infinite_loss():
    loss, gradient, slope = EVIDENCE.loss(np.full(len(PAIRS[0]), -1.0), -9.0)
    assert loss == np.inf
    assert not gradient.any()
    assert slope == 0.0

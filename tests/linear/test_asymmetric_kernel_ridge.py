"""Regression with an asymmetric kernel against dense algebra on its exact Gram matrix."""

from functools import partial

import numpy as np
import pytest
from laws.head_laws import dense_gram
from numpy.testing import assert_allclose
from scipy.linalg import null_space
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

from bochner import Frequencies
from bochner._base import limits
from bochner.features import feature_sums
from bochner.linear.asymmetric_kernel_ridge import composition, fit_composed, right_gram

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(40, 3)), RNG.normal(size=(9, 3))
TARGETS = np.stack([np.sin(X[:, 0]) + 2.0, X[:, 1] * X[:, 2]], axis=1)
WEIGHT = RNG.uniform(0.2, 3.0, size=40)
OMEGA, NU = RNG.normal(size=(2, 8, 3))
FREQUENCIES = Frequencies(OMEGA, RNG.normal(size=8) / 4.0, RNG.uniform(0.0, 6.0, size=8), NU)
gram = partial(dense_gram, FREQUENCIES)


def composed(left, right, weight):
    return (gram(left, X) * weight) @ gram(right, X).T / weight.sum()


def fitted(alpha, weight=None, fit_intercept=False, targets=TARGETS):
    sums = feature_sums(FREQUENCIES, X, targets, weight)
    right = right_gram(FREQUENCIES, X, weight)
    return fit_composed(sums, right, FREQUENCIES.signature, alpha, fit_intercept=fit_intercept)


def test_the_example_is_asymmetric_and_indefinite():
    assert np.abs(gram(X, X) - gram(X, X).T).max() > 0.1
    assert set(FREQUENCIES.signature) == {-1.0, 1.0}


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_it_minimises_the_penalised_squares_of_its_dual_coefficients(alpha, weight):
    each = np.ones(40) if weight is None else weight
    root = np.sqrt(each)[:, None]
    penalty = np.sqrt(alpha * each.sum()) * np.diag(root[:, 0])
    rows = np.concatenate([root * gram(X, X) * each, penalty])
    right = np.concatenate([root * TARGETS, np.zeros((40, 2))])
    beta = each[:, None] * np.linalg.lstsq(rows, right, rcond=None)[0]
    mean = fitted(alpha, weight).mean(FREQUENCIES.features(NEW))
    assert_allclose(mean, gram(NEW, X) @ beta, rtol=1e-7, atol=1e-9)
    # The transposed kernel is another model.
    assert np.abs(mean - gram(X, NEW).T @ beta).max() > 0.01


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_it_is_a_gaussian_process(fit_intercept):
    posterior = fitted(0.3, fit_intercept=fit_intercept)
    ones = np.ones(40)
    kernel, cross = composed(X, X, ones), composed(NEW, X, ones)
    inverse = np.linalg.inv(kernel / 0.3 + np.eye(40))
    spread = np.diagonal(composed(NEW, NEW, ones)) / 0.3
    spread = spread - np.sum(cross @ inverse * cross, axis=1) / 0.3**2
    basis, constant = np.eye(40), 0.0
    if fit_intercept:  # universal kriging
        basis = null_space(np.ones((1, 40)))
        constant = inverse.sum(axis=0) @ TARGETS / inverse.sum()
        spread += (1.0 - cross @ inverse.sum(axis=0) / 0.3) ** 2 / inverse.sum()
    residual = TARGETS - constant
    noise = np.sum(residual * (inverse @ residual), axis=0) / basis.shape[1]
    Z = FREQUENCIES.features(NEW)
    assert_allclose(posterior.mean(Z), cross @ inverse @ residual / 0.3 + constant, atol=1e-9)
    assert_allclose(posterior.noise_variance, noise, rtol=1e-8)
    assert_allclose(posterior.law.std(Z), np.sqrt((1.0 + spread)[:, None] * noise), rtol=1e-7)
    covariance = basis.T @ (kernel / 0.3 + np.eye(40)) @ basis
    evidence = sum(
        multivariate_normal(cov=variance * covariance).logpdf(basis.T @ target)
        for variance, target in zip(noise, TARGETS.T, strict=True)
    )
    assert_allclose(posterior.log_evidence, evidence, rtol=1e-9)


def test_the_evidence_chooses_the_regularisation():
    kernel, target = composed(X, X, np.ones(40)), TARGETS[:, :1]

    def loss(log_alpha):
        covariance = kernel / np.exp(log_alpha) + np.eye(40)
        noise = float(np.squeeze(target.T @ np.linalg.solve(covariance, target))) / 40
        return -multivariate_normal(cov=noise * covariance).logpdf(target[:, 0])

    best = minimize_scalar(loss, bounds=(-8.0, 4.0), method="bounded", options={"xatol": 1e-8})
    posterior = fitted(None, targets=target)
    assert_allclose(posterior.log_evidence, -best.fun, rtol=1e-9)
    assert_allclose(posterior.alpha, np.exp(best.x), rtol=1e-4)


def test_the_regularisation_does_not_depend_on_the_number_of_rows():
    G = right_gram(FREQUENCIES, X)
    many = right_gram(FREQUENCIES, np.tile(X, (5, 1)))
    few, more = (composition(g, FREQUENCIES.signature, n) for g, n in ((G, 40.0), (many, 200.0)))
    assert_allclose(few @ few.T, more @ more.T, rtol=1e-9, atol=1e-12)


def test_blocks_of_rows_give_the_whole(monkeypatch):
    whole = right_gram(FREQUENCIES, X, WEIGHT)
    Z = FREQUENCIES.features_right(X)
    assert_allclose(whole, (Z * WEIGHT[:, None]).T @ Z, rtol=1e-12)
    monkeypatch.setattr(limits, "BLOCK_BYTES", 8 * 16 * 7)
    assert_allclose(right_gram(FREQUENCIES, X, WEIGHT), whole, rtol=1e-12, atol=1e-13)

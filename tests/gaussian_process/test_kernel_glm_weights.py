"""Weights of generalised linear models: counts, precisions, and few distinct rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from bochner import KernelGLMClassifier, KernelGLMRegressor, kernels
from bochner.gaussian_process import (
    CensoredGaussianLikelihood,
    GaussianLikelihood,
    StudentTLikelihood,
)

OPTIONS = {"n_components": 40, "kernel": kernels.Gaussian(1.0), "random_state": 0}


def problem(n=60, seed=0):
    """Targets whose noise has the variance 0.09 over fractional weights, and these."""
    rng = np.random.default_rng(seed)
    X, weight = rng.uniform(-2, 2, (n, 2)), 10.0 ** rng.uniform(-1, 1, n)
    return X, np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=n) / np.sqrt(weight), weight


@pytest.mark.parametrize("scale", [None, 0.4])
def test_normal_targets_have_the_evidence_of_their_precisions(scale):
    X, y, weight = problem()
    likelihood = GaussianLikelihood(scale)
    model = KernelGLMRegressor(likelihood, fit_intercept=False, **OPTIONS).fit(X, y, weight)
    Z, left_out = model._features(X)
    covariance_of_unit = Z @ Z.T + np.diag(left_out)
    residual = y - np.average(y, weights=weight)

    def log_density(logs):
        variance = np.exp(2.0 * logs[1]) if scale is None else scale**2
        covariance = covariance_of_unit / np.exp(logs[0]) + np.diag(variance / weight)
        return multivariate_normal(cov=covariance).logpdf(residual)

    at = np.log([model.alpha_, model.likelihood_.scale])
    assert_allclose(model.log_evidence_, log_density(at), atol=1e-6)
    best = minimize(lambda logs: -log_density(logs), at + 0.1, method="Nelder-Mead").x
    assert_allclose(at[: 2 if scale is None else 1], best[: 2 if scale is None else 1], atol=1e-3)


@pytest.mark.thorough_cases(but="median")
@pytest.mark.parametrize(
    ("likelihood", "length_scale"),
    [
        ("gaussian", "median"),
        ("gaussian", "evidence"),
        # With learned degrees of freedom the evidence has several maxima on these rows.
        (StudentTLikelihood(4.0), "median"),
        (CensoredGaussianLikelihood(left=-0.8), "median"),
    ],
)
def test_a_factor_of_fractional_weights_is_a_unit_of_the_scale(likelihood, length_scale):
    X, y, weight = problem()
    y = np.maximum(y, -0.8)
    options = OPTIONS | {"kernel": "gaussian", "length_scale": length_scale}
    one, other = (
        KernelGLMRegressor(likelihood, **options).fit(X, y, factor * weight)
        for factor in (1.0, 37.0)
    )
    assert_allclose(other.predict(X), one.predict(X), atol=1e-6)
    assert_allclose(other.likelihood_.scale, np.sqrt(37.0) * one.likelihood_.scale, rtol=1e-5)
    assert_allclose(other.log_evidence_, one.log_evidence_, rtol=1e-8)


@pytest.mark.thorough_cases(but="median")
@pytest.mark.parametrize("length_scale", ["median", "evidence"])
@pytest.mark.parametrize("model", [KernelGLMRegressor, KernelGLMClassifier])
def test_counts_of_few_distinct_rows_are_repeated_rows(model, length_scale):
    rng = np.random.default_rng(3)
    cells = rng.normal(size=(6, 2))
    table = np.stack(np.meshgrid(np.arange(6), np.arange(1, 4)), axis=-1).reshape(-1, 2)
    counts = rng.integers(0, 9, len(table))
    X, y = cells[table[:, 0]], table[:, 1]
    options = {"n_components": 32, "random_state": 0, "length_scale": length_scale}
    weighted = model(**options).fit(X, y, counts)
    order = rng.permutation(counts.sum())
    repeated = model(**options).fit(np.repeat(X, counts, 0)[order], np.repeat(y, counts)[order])
    assert_allclose(weighted.log_evidence_, repeated.log_evidence_, rtol=1e-6)
    predict = "predict_proba" if model is KernelGLMClassifier else "predict"
    found, right = (getattr(each, predict)(cells) for each in (weighted, repeated))
    assert_allclose(found, right, atol=1e-5)

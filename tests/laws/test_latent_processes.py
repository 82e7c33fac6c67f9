"""Processes of labels and counts are calibrated on draws of their kernels, as exact ones are.

Functions are drawn from a kernel, and models with that kernel, its variance and few landmarks are
compared with the exact process by Laplace's approximation, which is not calibrated exactly.
"""

import numpy as np
import pytest
from laws.latent_oracle import exact_laplace
from scipy import stats
from scipy.special import expit

from bochner import KernelGLMClassifier, KernelGLMRegressor, kernels

LEVELS = np.array([0.5, 0.8, 0.9])
SIGMAS = 4.0
"""Standard errors, over draws, by which a mean may differ by chance."""
CONSERVATIVE = 0.12
"""Excess of the coverage of the latent function over that of the exact process: intervals are wider
because residuals of neighbours count as independent."""
UNDERCONFIDENT = 0.02
"""Excess of the mean error of probabilities over that of the exact process, for the same reason."""
EVIDENCE = 0.06
"""Largest mean difference of log evidences, in nats per row."""
VARIANCES = {"bernoulli": 4.0, "poisson": 1.0}
KERNELS = {
    "gaussian": kernels.Gaussian(1.0),
    "matern52": kernels.Matern(1.0, nu=2.5),
    "exponential": kernels.Exponential(1.0),
}


def drawn(law, kernel, dim, n, n_new, seed):
    """Return rows, new rows, the latent function at the new rows, and targets of both."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n + n_new, dim))
    cov = VARIANCES[law] * (kernel(X) + 1e-9 * np.eye(len(X)))
    f = np.linalg.cholesky(cov) @ rng.normal(size=len(X))
    y = rng.random(len(X)) < expit(f) if law == "bernoulli" else rng.poisson(np.exp(f))
    return X[:n], X[n:], f[n:], y[:n].astype(float), y[n:].astype(float)


def fitted(law, kernel, X, y, n_landmarks):
    model = KernelGLMRegressor if law == "poisson" else KernelGLMClassifier
    options = {"alpha": 1.0 / VARIANCES[law], "fit_intercept": False, "random_state": 0}
    return model(law, kernel, n_landmarks, **options).fit(X, y)


def latent(model, X):
    ((_, mean, covariance),) = model._latent_blocks(X)
    return mean[:, 0], covariance[:, 0, 0]


def covered(f, mean, variance):
    """Return the shares of the intervals of each level that hold the function."""
    z = np.abs(f - mean) / np.sqrt(variance)
    return (z[:, None] < stats.norm.ppf(0.5 + 0.5 * LEVELS)).mean(axis=0)


def check(law, kernel, dim, n_landmarks, n, n_draws, n_new=40):
    """Compare models with the truth and with exact processes, over draws of the function."""
    shares, errors, evidences = [], [], []
    for seed in range(n_draws):
        X, new, f, y, y_new = drawn(law, kernel, dim, n, n_new, seed)
        model = fitted(law, kernel, X, y, n_landmarks)
        centre = model.posterior_.centre
        exact = exact_laplace(law, kernel, X, y, new, VARIANCES[law], centre)
        own = covered(f, *latent(model, new))
        shares.append((own, covered(f, exact.mean, exact.variance)))
        evidences.append((model.log_evidence_ - exact.evidence) / n)
        if law == "bernoulli":
            p = model.predict_proba(new)[:, 1]
            moments = exact.mean[:, None], exact.variance[:, None, None]
            of_exact = model.likelihood_.probabilities(*moments)[:, 1]
            errors.append((label_errors(y_new, p), label_errors(y_new, of_exact)))
    own, of_exact = np.swapaxes(shares, 0, 1)
    shortfall = np.maximum(LEVELS - of_exact.mean(axis=0), 0.0)  # Of the approximation by Laplace
    assert (own.mean(axis=0) > LEVELS - shortfall - SIGMAS * error_of(own)).all()
    difference = own - of_exact
    assert (np.abs(difference.mean(axis=0)) < CONSERVATIVE + SIGMAS * error_of(difference)).all()
    assert (difference.mean(axis=0) > -SIGMAS * error_of(difference)).all()
    assert np.abs(np.mean(evidences)) < EVIDENCE
    if errors:
        own, of_exact = np.swapaxes(errors, 0, 1)
        bound = np.abs(of_exact.mean(axis=0)) + UNDERCONFIDENT
        assert (np.abs(own.mean(axis=0)) < bound + SIGMAS * error_of(own - of_exact)).all()


def label_errors(y, p):
    """Return mean errors of labels, where they are improbable and where they are probable."""
    return [np.mean((y - p) * part) for part in (p < 0.5, p >= 0.5)]


def error_of(values):
    """Return the standard error of a mean over draws; a draw is one observation."""
    return np.std(values, axis=0, ddof=1) / np.sqrt(len(values)) + 1e-9


@pytest.mark.parametrize(
    ("law", "kernel", "dim", "n_landmarks"),
    [("bernoulli", "exponential", 2, 30), ("poisson", "gaussian", 5, 60)],
)
def test_few_landmarks_are_calibrated(law, kernel, dim, n_landmarks):
    check(law, KERNELS[kernel], dim, n_landmarks, n=120, n_draws=8)


@pytest.mark.thorough
@pytest.mark.parametrize(("dim", "n_landmarks"), [(1, 8), (2, 30), (5, 60)])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("law", VARIANCES)
def test_landmarks_are_calibrated(law, kernel, dim, n_landmarks):
    check(law, KERNELS[kernel], dim, n_landmarks, n=250, n_draws=60)


@pytest.mark.parametrize("law", VARIANCES)
def test_as_many_landmarks_as_rows_are_the_exact_process(law):
    kernel = KERNELS["exponential"]
    X, new, _, y, _ = drawn(law, kernel, 2, 100, 20, seed=0)
    model = fitted(law, kernel, X, y, 100)
    centre = model.posterior_.centre
    exact = exact_laplace(law, kernel, X, y, new, VARIANCES[law], centre)
    mean, variance = latent(model, new)
    np.testing.assert_allclose(mean, exact.mean, atol=1e-6)
    np.testing.assert_allclose(variance, exact.variance, atol=1e-6)
    assert model.log_evidence_ == pytest.approx(exact.evidence, abs=1e-5)


def test_equal_rows_share_a_residual():
    """Three equal rows with a label each are one row of three observations."""
    X, new, _, y, _ = drawn("bernoulli", KERNELS["exponential"], 2, 60, 20, seed=1)
    weights = np.random.default_rng(0).integers(1, 4, size=60)
    one = KernelGLMClassifier("bernoulli", KERNELS["exponential"], 10, random_state=0)
    one.fit(X, y, sample_weight=weights)
    other = KernelGLMClassifier("bernoulli", KERNELS["exponential"], 10, random_state=0)
    other.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(other.predict_proba(new), one.predict_proba(new), atol=1e-8)
    assert other.log_evidence_ == pytest.approx(one.log_evidence_, abs=1e-8)

"""Laplace's approximation on features: modes, evidences and their slopes."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegression, PoissonRegressor

from bochner import KernelGLMClassifier, KernelGLMRegressor, KreinRidge, kernels
from bochner.features.chunks import Chunk
from bochner.gaussian_process import (
    BernoulliLikelihood,
    CensoredGaussianLikelihood,
    GaussianLikelihood,
    NegativeBinomialLikelihood,
    OrdinalLikelihood,
    PoissonLikelihood,
    SoftmaxLikelihood,
    StudentTLikelihood,
)
from bochner.gaussian_process.laplace import LaplacePosterior, find_mode
from bochner.gaussian_process.laplace_evidence import EvidenceSlopes, LaplaceProblem
from bochner.gaussian_process.latent_rows import LatentRows
from bochner.spectral.decompositions import spectral_measure

KERNEL = kernels.Gaussian(1.5)
N, M = 60, 8


def rows_of(y, *, has_constant=True, weight=None, n=N, m=M):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    frequencies = spectral_measure(KERNEL, 2).sample(m, 1)
    offset = 0.2 * rng.normal(size=n)
    return LatentRows.of(Chunk(X, y, weight), offset, 0.3, frequencies, has_constant)


def cases():
    """Yield likelihoods with targets that they may have."""
    rng = np.random.default_rng(5)
    f = np.sin(np.linspace(0.0, 9.0, N))
    yield GaussianLikelihood(0.4), rng.normal(f, 0.4)
    yield StudentTLikelihood(3.0, 0.4), f + 0.4 * rng.standard_t(2.0, N)
    yield CensoredGaussianLikelihood(-0.5, 0.8, 0.4), rng.normal(f, 0.4)
    yield PoissonLikelihood(), rng.poisson(np.exp(1.0 + f)).astype(float)
    yield NegativeBinomialLikelihood(0.3), rng.poisson(np.exp(1.0 + f) * rng.gamma(3, 1 / 3, N))
    yield BernoulliLikelihood(), (rng.random(N) < expit(2.0 * f)).astype(float)
    yield OrdinalLikelihood((-1.0, 0.0, 1.5)), rng.integers(4, size=N).astype(float)
    yield SoftmaxLikelihood(3), rng.integers(3, size=N).astype(float)


every = pytest.mark.parametrize(
    ("likelihood", "y"), [pytest.param(*case, id=type(case[0]).__name__) for case in cases()]
)


def prior(rows, alpha=0.7):
    precision = np.full(rows.width, alpha)
    precision[-1] = 0.01 if rows.has_constant else alpha
    return precision


def log_joint(rows, likelihood, precision, w):
    """Return the log joint density of targets and weights, by the formula."""
    Z = np.column_stack(
        (rows.features.features(rows.X), *([np.ones(len(rows.y))] * rows.has_constant))
    )
    f = Z @ w.reshape(likelihood.n_latent, -1).T + rows.origin
    f = f[:, 0] if likelihood.n_latent == 1 else f
    log_prior = -0.5 * np.sum(np.tile(precision, likelihood.n_latent) * w**2)
    log_prior += 0.5 * np.sum(np.log(np.tile(precision, likelihood.n_latent) / (2 * np.pi)))
    return rows.weight @ likelihood.log_density(rows.y, f) + log_prior


def hessian(function, x, step=1e-4):
    """Return second derivatives by central differences."""
    eye = step * np.eye(len(x))
    found = np.empty((len(x), len(x)))
    for i in range(len(x)):
        for j in range(i + 1):
            ends = [function(x + a * eye[i] + b * eye[j]) * a * b for a in (1, -1) for b in (1, -1)]
            found[i, j] = found[j, i] = np.sum(ends) / (4 * step**2)
    return found


@pytest.mark.thorough_cases("SoftmaxLikelihood")
@every
def test_the_mode_and_the_evidence_are_those_of_the_definition(likelihood, y):
    weight = np.random.default_rng(1).uniform(0.2, 2.0, N)
    rows = rows_of(y, weight=weight, m=3)
    precision = prior(rows)
    mode = find_mode(rows, likelihood, precision)
    w = mode.weights.T.ravel()

    def function(x):
        return log_joint(rows, likelihood, precision, x)

    steps = 1e-5 * np.eye(len(w))
    slope = [(function(w + step) - function(w - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(slope, 0.0, atol=1e-5)
    curved = -hessian(function, w)
    log_determinant = np.linalg.slogdet(curved / (2 * np.pi))[1]
    assert mode.log_evidence == pytest.approx(function(w) - 0.5 * log_determinant, abs=1e-4)
    covariance = mode.whitener @ mode.whitener.T
    np.testing.assert_allclose(covariance, np.linalg.inv(curved), rtol=2e-3, atol=1e-4)


def assert_slopes(rows, likelihood, step):
    """Slopes of the evidence by the logarithm of alpha and by parameters are differences."""
    names = likelihood.learnable
    vector = np.append(np.log(0.7), likelihood.vector(names))

    def mode_at(x):
        return find_mode(rows, likelihood.with_vector(names, x[1:]), prior(rows, np.exp(x[0])))

    slopes = EvidenceSlopes.of(rows, mode_at(vector))
    ends = [
        [mode_at(vector + sign * each).log_evidence for sign in (1.0, -1.0)]
        for each in step * np.eye(len(vector))
    ]
    expected = [(up - down) / (2.0 * step) for up, down in ends]
    found = np.append(slopes.by_log_alpha(), slopes.by_parameters(names))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@every
def test_slopes_of_the_evidence_are_differences(likelihood, y):
    assert_slopes(rows_of(y), likelihood, 1e-4)


def test_normal_targets_are_the_exact_process():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=80)
    y -= y.mean()  # So that the latent function has its centre at zero
    options = {"n_components": 80, "random_state": 0, "fit_intercept": False}
    model = KernelGLMRegressor(GaussianLikelihood(0.2), KERNEL, alpha=0.5, **options).fit(X, y)
    exact = GaussianProcessRegressor(2.0 * RBF(1.5), alpha=0.04, optimizer=None).fit(X, y)
    new = rng.normal(size=(9, 2))
    mean, std = exact.predict(new, return_std=True)
    np.testing.assert_allclose(model.predict(new), mean, atol=1e-5)
    noisy = np.sqrt(std**2 + 0.04)
    np.testing.assert_allclose(model.predict(new, return_std=True)[1], noisy, atol=1e-5)
    exact_evidence = exact.log_marginal_likelihood_value_
    assert model.log_evidence_ == pytest.approx(exact_evidence, abs=1e-3)


def fitted(likelihood, X, y, alpha, offset=0.0):
    """Return sixteen random features of rows, and the posterior of their weights."""
    frequencies = spectral_measure(KERNEL, 2).sample(8, 1)
    offsets = np.zeros(len(y)) + offset
    problem = LaplaceProblem(Chunk(X, y), offsets, 0.0, likelihood, (), alpha, has_constant=False)
    return frequencies.features(X), problem.solved(frequencies)[1]


def test_learned_noise_and_alpha_are_those_of_ridge_regression():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=120)
    y -= y.mean()
    options = {"n_components": 32, "random_state": 0, "fit_intercept": False}
    ridge = KreinRidge(KERNEL, alpha="evidence", **options).fit(X, y)
    frequencies = ridge.frequencies_
    likelihood = GaussianLikelihood(1.0)
    problem = LaplaceProblem(
        Chunk(X, y), np.zeros(120), 0.0, likelihood, ("scale",), None, has_constant=False
    )
    learned, posterior = problem.solved(frequencies)
    assert posterior.log_evidence == pytest.approx(ridge.log_evidence_, abs=1e-8)
    # The greatest likelihood of the features, which also explains what they miss as noise.
    noise = y @ (y - frequencies.features(X) @ ridge.coef_) / 120
    assert learned.scale**2 == pytest.approx(noise, rel=1e-6)
    assert posterior.alpha == pytest.approx(ridge.alpha_ / noise, rel=1e-5)
    np.testing.assert_allclose(posterior.coef[:, 0], ridge.coef_, atol=1e-7)


@pytest.mark.parametrize(
    ("likelihood", "levels"), [(BernoulliLikelihood(), [0.5]), (SoftmaxLikelihood(3), [0.3, 0.7])]
)
def test_classes_are_logistic_regression(likelihood, levels):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 2))
    noisy = X[:, 0] + 0.5 * rng.logistic(size=100)
    y = np.digitize(noisy, np.quantile(noisy, levels))
    Z, posterior = fitted(likelihood, X, y.astype(float), 0.5)
    expected = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-12, max_iter=10_000)
    np.testing.assert_allclose(posterior.coef.T, expected.fit(Z, y).coef_, atol=1e-5)


def test_counts_are_poisson_regression():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 2))
    exposure = rng.uniform(0.5, 3.0, 100)
    y = rng.poisson(exposure * np.exp(0.5 + np.sin(X[:, 0])))
    Z, posterior = fitted(PoissonLikelihood(), X, y.astype(float), 0.5, np.log(exposure))
    # PoissonRegressor has no exposure: it learns rates, weighted by exposure, and its penalty is
    # that of the mean over these weights.
    expected = PoissonRegressor(
        alpha=0.5 / exposure.sum(),
        fit_intercept=False,
        tol=1e-12,
        max_iter=10_000,
        solver="newton-cholesky",
    ).fit(Z, y / exposure, sample_weight=exposure)
    np.testing.assert_allclose(posterior.coef[:, 0], expected.coef_, atol=1e-8)


def test_the_evidence_of_two_classes_is_that_of_the_dense_kernel():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 1))
    y = np.tile([0, 1], 20)
    kernel = ConstantKernel(2.0, "fixed") * RBF(1.2, "fixed")
    dense = GaussianProcessClassifier(kernel, optimizer=None).fit(X, y)
    model = KernelGLMClassifier(
        "bernoulli", kernels.Gaussian(1.2), 512, 0.5, fit_intercept=False, random_state=0
    ).fit(X, y)
    assert model.log_evidence_ == pytest.approx(dense.log_marginal_likelihood_value_, abs=1e-5)
    # scikit-learn approximates the integral over the latent value.
    np.testing.assert_allclose(
        model.predict_proba(X)[:, 1], dense.predict_proba(X)[:, 1], atol=1e-3
    )


def test_draws_have_the_law_of_the_weights():
    """Of two latent functions of three features: weights are ordered by latent function."""
    rng, n_draws = np.random.default_rng(0), 20_000
    coef, root = rng.normal(size=(3, 2)), rng.normal(size=(6, 6))
    posterior = LaplacePosterior(coef, root, 0.0, 1.0, 0.0, 1)
    draws = posterior.draw(rng, n_draws)
    assert draws.shape == (n_draws, 3, 2)
    by_function = (draws - coef).swapaxes(1, 2).reshape(n_draws, 6)
    cov = root @ root.T
    variance = np.diagonal(cov)
    error = np.sqrt((np.outer(variance, variance) + cov**2) / n_draws)
    assert np.abs((by_function.T @ by_function / n_draws - cov) / error).max() < 5.0
    assert np.abs(by_function.mean(axis=0) / np.sqrt(variance / n_draws)).max() < 5.0
    # Latent values of the draws have the moments of the posterior.
    mean, covariance = posterior.latent(Z := rng.normal(size=(4, 3)), np.zeros(4))
    values = np.einsum("np,spl->nsl", Z, draws)
    for i in range(4):
        np.testing.assert_allclose(np.cov(values[i].T), covariance[i], rtol=0.1, atol=0.3)
        np.testing.assert_allclose(values[i].mean(axis=0), mean[i], atol=0.15)

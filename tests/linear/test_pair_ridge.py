"""Regression on pairs of rows against one dense least-squares problem in all its unknowns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import null_space
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression

from bochner import Frequencies
from bochner.linear import asymmetric_pair_ridge as pair_ridge
from bochner.linear.asymmetric_pair_ridge import PairFeatures, best_pair_alpha, fit_pairs

SOLVERS = {"direct": 2000, "iterative": 0}
"""The most pairs that each solves for in their covariance matrix."""


@pytest.fixture(params=sorted(SOLVERS))
def solver(request, monkeypatch):
    monkeypatch.setattr(pair_ridge, "_DIRECT", SOLVERS[request.param])
    monkeypatch.setattr(pair_ridge, "_TOLERANCE", 1e-9)
    return request.param


def problem(n, m=3, seed=0):
    """Frequencies with phases, signs and two widths, and pairs with targets and weights."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, 3)), rng.normal(size=(n, 2))
    weight, phase = rng.normal(size=m), rng.uniform(0.0, 6.0, size=m)
    f = Frequencies(rng.normal(size=(m, 3)), weight, phase, rng.normal(size=(m, 2)))
    targets = np.tanh(X[:, 0] - Y[:, 1]) + 0.1 * rng.normal(size=n) + 1.0
    return f, X, Y, targets, rng.uniform(0.1, 3.0, size=n)


def cosines(f, X, Y):
    """The kernel at pairs, from its definition."""
    return np.cos(X @ f.omega.T - Y @ f.nu.T + f.phase) @ f.weight


def dense(f, X, Y, targets, alpha, weight, fit_intercept):
    """``A`` and the constant, from all unknowns at once: A, the multiple of S, the constant."""
    p, n = 2 * f.n_frequencies, len(targets)
    products = np.einsum("ni,nj->nij", f.features(X), f.features_right(Y)).reshape(n, p * p)
    data = np.column_stack([products, np.zeros(n), np.full(n, float(fit_intercept))])
    signs = np.diag(f.signature).reshape(-1, 1)
    penalty = np.hstack([np.eye(p * p), -signs, np.zeros_like(signs)]) * np.sqrt(alpha)
    root = np.sqrt(weight)[:, None]
    rows = np.concatenate([root * data, penalty])
    right = np.concatenate([root[:, 0] * targets, np.zeros(p * p)])
    solution = np.linalg.lstsq(rows, right, rcond=None)[0]
    return solution[:-2].reshape(p, p), solution[-1]


def assert_minimises(alpha, loss):
    best = minimize_scalar(loss, bounds=(-8.0, 8.0), method="bounded", options={"xatol": 1e-8})
    assert -7.0 < best.x < 7.0
    assert_allclose(np.log(alpha), best.x, atol=1e-4)


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_solves_the_dense_problem(n, alpha, fit_intercept, weighted):
    f, X, Y, targets, weight = problem(n)
    given = weight if weighted else None
    features = PairFeatures.of(f, X, Y)
    solution = fit_pairs(features, targets, alpha, weight=given, fit_intercept=fit_intercept)
    used = weight if weighted else np.ones(n)
    coef, intercept = dense(f, X, Y, targets, alpha, used, fit_intercept)
    assert_allclose(solution.coef, coef, rtol=1e-5, atol=1e-6)
    assert_allclose(solution.intercept, intercept, rtol=1e-5, atol=1e-6)
    mean = np.einsum("ni,ij,nj->n", f.features(X), coef, f.features_right(Y)) + intercept
    assert_allclose(solution.mean(*features.at(slice(None))), mean, atol=1e-6)


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_much_regularisation_leaves_a_multiple_of_the_kernel(fit_intercept):
    f, X, Y, targets, weight = problem(50)
    kernel = cosines(f, X, Y)[:, None]
    best = LinearRegression(fit_intercept=fit_intercept).fit(kernel, targets, weight)
    solution = fit_pairs(
        PairFeatures.of(f, X, Y), targets, 1e9, weight=weight, fit_intercept=fit_intercept
    )
    assert_allclose(solution.coef, best.coef_[0] * np.diag(f.signature), atol=1e-5)
    assert_allclose(solution.intercept, best.intercept_, atol=1e-5)


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_weights_are_repetitions(fit_intercept):
    f, X, Y, targets, _ = problem(60)
    repeat = np.random.default_rng(1).integers(0, 4, size=60)
    rows = np.repeat(np.arange(60), repeat)
    few, many = PairFeatures.of(f, X, Y), PairFeatures.of(f, X[rows], Y[rows])
    weighted = {"weight": repeat.astype(float), "fit_intercept": fit_intercept}
    one = fit_pairs(few, targets, 0.5, **weighted)
    other = fit_pairs(many, targets[rows], 0.5, fit_intercept=fit_intercept)
    assert_allclose(one.coef, other.coef, atol=1e-6)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("kind", ["none", "fractions", "counts"])
def test_the_evidence_is_that_of_contrasts_of_the_observations(kind, fit_intercept):
    """Pairs of fractional weights are one observation each, counts are as many pairs."""
    n = 120 if kind == "none" else 60
    f, X, Y, noise, fractions = problem(n)
    counts = np.random.default_rng(2).integers(1, 4, n)
    weight = {"none": None, "fractions": fractions, "counts": counts.astype(float)}[kind]
    left, right = f.features(X), f.features_right(Y)
    A = np.random.default_rng(1).normal(size=(6, 6))
    targets = np.sum((left @ A) * right, axis=1) + noise
    repeat = np.repeat(np.arange(n), counts if kind == "counts" else 1)
    root = np.sqrt(fractions) if kind == "fractions" else np.ones(len(repeat))
    flat = [cosines(f, X, Y)[repeat]] + [np.ones(len(repeat))] * fit_intercept
    basis = null_space(root * np.stack(flat))
    kernel = np.outer(root, root) * ((left @ left.T) * (right @ right.T))[np.ix_(repeat, repeat)]
    kernel = basis.T @ kernel @ basis
    contrasts = basis.T @ (root * targets[repeat])

    def loss(log_alpha):
        covariance = kernel / np.exp(log_alpha) + np.eye(len(kernel))
        noise = contrasts @ np.linalg.solve(covariance, contrasts) / len(kernel)
        return -multivariate_normal(cov=noise * covariance).logpdf(contrasts)

    features, rng = PairFeatures.of(f, X, Y), np.random.default_rng(0)
    alpha = best_pair_alpha(features, targets, rng, weight=weight, fit_intercept=fit_intercept)
    assert_minimises(alpha, loss)


def test_the_preconditioner_saves_steps(monkeypatch):
    monkeypatch.setattr(pair_ridge, "_DIRECT", 0)
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 2000, 4))
    f = Frequencies(rng.normal(size=(12, 4)) / 2.0, np.full(12, 1.0 / 12.0), rng.normal(size=12))
    features, targets = PairFeatures.of(f, X, Y), np.sign(X[:, 0] - Y[:, 0])
    with_it = fit_pairs(features, targets, 0.1)
    monkeypatch.setattr(pair_ridge.PairSystem, "precondition", lambda self, coef: coef)
    without = fit_pairs(features, targets, 0.1)
    assert_allclose(with_it.coef, without.coef, atol=1e-4)
    assert 3 * with_it.n_iterations < without.n_iterations


def test_too_few_steps_are_said(monkeypatch):
    monkeypatch.setattr(pair_ridge, "_DIRECT", 0)
    f, X, Y, targets, _ = problem(100)
    monkeypatch.setattr(pair_ridge, "_MAX_ITERATIONS", 2)
    with pytest.warns(ConvergenceWarning, match="did not converge in 2 steps. Raise alpha"):
        fit_pairs(PairFeatures.of(f, X, Y), targets, 1e-3)

"""Conjugate gradients and minimal residuals against dense linear algebra."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from bochner import Frequencies
from bochner.features.chunks import ArrayChunks, Chunk, Numbers, sample_rows
from bochner.linear import iterative as iterative

N, M, D, T = 400, 30, 3, 2
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(N, D)), RNG.normal(size=(N, T)) + 3.0
WEIGHT = RNG.integers(0, 4, size=N).astype(float)
OMEGA = RNG.normal(size=(M, D))
POSITIVE = Frequencies(OMEGA, np.full(M, 1.0 / M))
SIGNED = Frequencies(OMEGA, np.where(np.arange(M) % 3, 1.0, -1.0) / M)
NUMBERS = Numbers(np.zeros(T))


def solve(frequencies, alpha, weight=None, rows=None, **parameters):
    rows = rows or ArrayChunks(Chunk(X, Y, weight))
    given = {"tol": 1e-12, "n_landmarks": 100} | parameters
    rng = np.random.default_rng(1)
    return iterative.fit_iteratively(
        rows, frequencies, NUMBERS, frequencies.signature, alpha, rng, **given
    )


def dense(frequencies, alpha, weight, fit_intercept):
    """Solve the stationarity conditions of weights and intercept as one system."""
    Z = np.hstack((frequencies.features(X), np.ones((N, 1))))
    penalty = alpha * np.diag(np.append(frequencies.signature, 0.0))
    if not fit_intercept:
        Z, penalty = Z[:, :-1], penalty[:-1, :-1]
    W = np.ones(N) if weight is None else weight
    solution = np.linalg.solve(Z.T * W @ Z + penalty, Z.T * W @ Y)
    if not fit_intercept:
        return solution, np.zeros(T)
    return solution[:-1], solution[-1]


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("frequencies", [POSITIVE, SIGNED], ids=["positive", "signed"])
def test_the_solution_is_that_of_the_normal_equations(frequencies, keep, fit_intercept, weight):
    found = solve(frequencies, 0.37, weight, fit_intercept=fit_intercept, keep=keep)
    coef, intercept = dense(frequencies, 0.37, weight, fit_intercept)
    assert_allclose(found.coef, coef, rtol=1e-7, atol=1e-8)
    assert_allclose(found.intercept, intercept, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("n", [2, 3, N])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_noise_is_that_of_greatest_likelihood(fit_intercept, n):
    rows = ArrayChunks(Chunk(X[:n], Y[:n]))
    found = solve(POSITIVE, 0.5, rows=rows, fit_intercept=fit_intercept)
    y = Y[:n] - Y[:n].mean(axis=0) if fit_intercept else Y[:n]
    Z = POSITIVE.features(X[:n])
    Z = Z - Z.mean(axis=0) if fit_intercept else Z
    # y' (I + Z Z' / alpha)^-1 y over the degrees of freedom.
    covariance = np.eye(n) + Z @ Z.T / 0.5
    fit = np.sum(y * np.linalg.solve(covariance, y), axis=0)
    assert_allclose(found.noise_variance, fit / (n - fit_intercept), rtol=1e-8)


def test_the_preconditioner_is_the_inverse_of_what_it_says():
    sample = sample_rows([Chunk(X, Y, WEIGHT)], 50, np.random.default_rng(0))
    Z = POSITIVE.features(sample.rows.X)
    share = sample.shares * WEIGHT.sum() / sample.shares.sum()
    P = (Z.T * share) @ Z + 0.1 * np.eye(2 * M)
    inverse = iterative.preconditioner(Z.copy(), sample, WEIGHT.sum(), 0.1)
    assert_allclose(inverse(np.eye(2 * M)), np.linalg.inv(P), atol=1e-8)


def test_a_preconditioner_saves_steps():
    few, many = (solve(POSITIVE, 1e-2, n_landmarks=s, tol=1e-6).n_iter for s in (1, 200))
    assert many < few / 2


def test_at_a_pole_it_says_that_it_has_not_converged():
    gram = SIGNED.features(X) * SIGNED.signature @ SIGNED.features(X).T
    pole = -np.linalg.eigvalsh(gram)[0]
    with pytest.warns(ConvergenceWarning, match="solver='cholesky'"):
        solve(SIGNED, pole)
    with warnings.catch_warnings(action="error"):
        solve(SIGNED, 3.0 * pole)


def test_samples_of_rows_are_uniform_and_add_up():
    counts = np.zeros(30)
    y = np.arange(30.0)
    rng = np.random.default_rng(0)
    for _ in range(600):
        parts = [Chunk(y[s, None], y[s]) for s in (slice(0, 11), slice(11, 12), slice(12, 30))]
        sample = sample_rows(parts, 10, rng)
        assert len(sample.rows) == len(np.unique(sample.rows.y)) == 10
        assert (sample.n_samples, sample.weight_rms) == (30, 1.0)
        counts[sample.rows.y.astype(int)] += 1
    # Each row is in 200 of the samples, give or take sqrt(600 * 1/3 * 2/3) = 11.5.
    assert np.abs(counts - 200).max() < 4 * 11.5
    assert np.abs(counts - 200).mean() < 1.3 * 11.5 * np.sqrt(2 / np.pi)


def test_samples_by_weight_estimate_sums_without_bias():
    y, weight = RNG.normal(size=60) + 2.0, np.append(np.zeros(20), RNG.gamma(0.3, size=40))
    rng, totals = np.random.default_rng(0), []
    for _ in range(2000):
        parts = [Chunk(y[s, None], y[s], weight[s]) for s in (slice(0, 25), slice(25, 60))]
        sample = sample_rows(parts, 12, rng)
        assert (sample.rows.weight > 0.0).all()
        totals.append([sample.shares.sum(), sample.shares @ sample.rows.y])
    errors = np.mean(totals, axis=0) - [weight.sum(), weight @ y]
    assert (np.abs(errors) < 4.0 * np.std(totals, axis=0) / np.sqrt(2000)).all()
    assert sample.weight_rms == pytest.approx(np.sqrt(np.mean(weight**2)))
    whole = sample_rows([Chunk(y[:, None], y, weight)], 40, rng)
    assert_allclose(whole.shares, weight[20:])

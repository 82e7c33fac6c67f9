"""Landmarks with nearest neighbours, next to dense matrices and brute force."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.stats import multivariate_normal
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from bochner.gaussian_process.full_scale import (
    Covariance,
    FullScaleProcess,
    ObservedRows,
    Residuals,
    nearest,
    nearest_earlier,
    rates,
)

RNG = np.random.default_rng(0)
X = RNG.uniform(-3.0, 3.0, size=(40, 2))
Y = RNG.normal(size=(40, 2))
NEW = RNG.uniform(-4.0, 4.0, size=(6, 2))
COVARIANCE = Covariance(2.0 * Matern(1.0, nu=1.5) + WhiteKernel(0.05))
NOISE = np.linspace(0.05, 0.3, 40)
GIVEN = ObservedRows(X, Y, NOISE)


def landmarks_of(count):
    """Return the residual process of some rows, and its dense covariance."""
    landmarks = RNG.uniform(-3.0, 3.0, size=(count, 2))
    lower = np.linalg.cholesky(COVARIANCE(landmarks)) if count else np.empty((0, 0))
    residuals = Residuals(COVARIANCE, landmarks, lower)

    def dense(A, B):
        values = COVARIANCE(A, B)
        if count:
            across = COVARIANCE(A, landmarks), COVARIANCE(landmarks, B)
            values = values - across[0] @ np.linalg.solve(COVARIANCE(landmarks), across[1])
        return values

    return residuals, dense


def conditional_density(S, earlier):
    """Return the covariance of the density of rows given earlier ones, by its definition."""
    n = len(S)
    B, D = np.eye(n), np.empty(n)
    for i, near in enumerate(earlier):
        a = np.linalg.solve(S[np.ix_(near, near)], S[near, i])
        B[i, near] = -a
        D[i] = S[i, i] - a @ S[near, i]
    inverse = np.linalg.inv(B)
    return inverse @ np.diag(D) @ inverse.T


def random_neighbours(n, count):
    return [RNG.permutation(i)[:count] for i in range(n)]


@pytest.mark.parametrize("count", [0, 7])
def test_whitened_rows_have_the_density_given_their_neighbours(count):
    residuals, dense = landmarks_of(count)
    earlier = random_neighbours(40, 5)
    U, V, variance = residuals.whitened(GIVEN, earlier)
    R = conditional_density(dense(X, X) + np.diag(NOISE), earlier)
    phi = residuals.features(X)
    np.testing.assert_allclose(phi @ phi.T, COVARIANCE(X) - dense(X, X), atol=1e-10)
    np.testing.assert_allclose(U.T @ U, phi.T @ np.linalg.solve(R, phi), atol=1e-8)
    np.testing.assert_allclose(V.T @ U, Y.T @ np.linalg.solve(R, phi), atol=1e-8)
    assert np.sum(np.log(variance)) == pytest.approx(np.linalg.slogdet(R)[1])


@pytest.mark.parametrize("sizes", [(8, 12), (0, 12), (12, 4)])
def test_the_evidence_is_that_of_the_dense_covariance(sizes):
    process = FullScaleProcess.of(COVARIANCE, GIVEN, sizes, seed=3)
    order = np.random.default_rng(3).spawn(3)[0].permutation(40)
    rows, noise = X[order], NOISE[order]
    earlier = nearest_earlier(rows * process.rate, sizes[1] // 4)
    phi = Residuals(COVARIANCE, process.landmarks, process.lower).features(rows)
    S = COVARIANCE(rows) - phi @ phi.T + np.diag(noise)
    C = phi @ phi.T + conditional_density(S, earlier)
    law = multivariate_normal(np.zeros(40), C)
    assert process.log_likelihood == pytest.approx(law.logpdf(Y[order].T).sum())
    # The coefficients of landmarks given the targets.
    np.testing.assert_allclose(process.coef, phi.T @ np.linalg.solve(C, Y[order]), atol=1e-8)
    cov = np.eye(phi.shape[1]) - phi.T @ np.linalg.solve(C, phi)
    np.testing.assert_allclose(np.linalg.inv(process.root @ process.root.T), cov, atol=1e-8)


@pytest.mark.parametrize("n_landmarks", [0, 8])
def test_moments_are_those_of_functions_given_coefficients_and_neighbours(n_landmarks):
    process = FullScaleProcess.of(COVARIANCE, GIVEN, (n_landmarks, 5), seed=0)
    mean, cov = process.joint(COVARIANCE, GIVEN, NEW)
    residuals = Residuals(COVARIANCE, process.landmarks, process.lower)
    phi, new = residuals.features(X), residuals.features(NEW)
    # Errors are linear in independent coefficients and the residuals of all rows.
    S = COVARIANCE(np.vstack((NEW, X)))
    S -= np.vstack((new, phi)) @ np.vstack((new, phi)).T
    S[6:, 6:] += np.diag(NOISE)
    weights = np.zeros((6, 40))
    for i, near in enumerate(nearest(X * process.rate, NEW * process.rate, 5)):
        weights[i, near] = np.linalg.solve(S[np.ix_(6 + near, 6 + near)], S[6 + near, i])
    p = new - weights @ phi
    posterior = np.linalg.inv(process.root @ process.root.T)
    maps = np.hstack((np.eye(6), -weights, p))
    expected = maps @ block_diag(S, posterior) @ maps.T
    np.testing.assert_allclose(cov, expected, atol=1e-10)
    np.testing.assert_allclose(mean, weights @ Y + p @ process.coef, atol=1e-10)
    each, variance = process.moments(COVARIANCE, GIVEN, NEW)
    np.testing.assert_allclose(each, mean)
    np.testing.assert_allclose(variance, np.diag(cov), atol=1e-10)


@pytest.mark.parametrize("dim", [1, 3, 12])
def test_neighbours_are_near_earlier_rows(dim):
    points = RNG.normal(size=(300, dim))
    n_right = 0
    for i, near in enumerate(nearest_earlier(points, 6)):
        assert len(near) == len(set(near)) == min(i, 6)
        assert (near < i).all()
        distance = np.linalg.norm(points[:i] - points[i], axis=1)
        n_right += len(np.intersect1d(near, np.argsort(distance)[:6]))
    assert n_right > 0.75 * 6 * 300


def test_the_estimated_error_is_the_divergence_from_the_exact_law():
    rng = np.random.default_rng(0)
    rows = rng.uniform(-3.0, 3.0, size=(300, 2))
    covariance = Covariance(RBF(0.7) + WhiteKernel(0.01))
    given = ObservedRows(rows, np.zeros((300, 1)), np.full(300, 0.01))
    process = FullScaleProcess.of(covariance, given, (10, 32), seed=0)
    order = np.random.default_rng(0).spawn(3)[0].permutation(300)
    earlier = nearest_earlier(rows[order] * process.rate, 8)
    residuals = Residuals(covariance, process.landmarks, process.lower)
    phi = residuals.features(rows[order])
    S = covariance(rows[order]) - phi @ phi.T + 0.01 * np.eye(300)
    approximate = np.linalg.slogdet(conditional_density(S, earlier))[1]
    divergence = 0.5 * (approximate - np.linalg.slogdet(S)[1])
    assert process.log_likelihood_error == pytest.approx(divergence, rel=0.3)


def test_kernels_reach_as_far_as_their_length_scales():
    rng = np.random.default_rng(0)
    rows = rng.uniform(-3.0, 3.0, size=(500, 3))
    kernel = RBF([0.1, 1.0, 1e5]) + ConstantKernel(9.0)
    found = rates(Covariance(kernel), rows, rng)
    assert found[0] / found[1] == pytest.approx(10.0, rel=0.4)
    assert found[2] == 0.0
    np.testing.assert_array_equal(rates(Covariance(ConstantKernel(2.0)), rows, rng), 0.0)

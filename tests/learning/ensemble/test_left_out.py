"""Predictions of rows left out, and what is chosen by them, against brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner import Frequencies
from bochner.kernels import Gaussian, Laplacian
from bochner.learning.ensemble import blocks
from bochner.learning.ensemble.landmarks import LandmarkFeatures, best_kernel, leave_one_out_error
from bochner.learning.ensemble.pooled import PooledChains, WaveFeatures
from bochner.learning.ridge import fit_ridge

RNG = np.random.default_rng(0)
N, ALPHA = 90, 0.3
X, NEW = RNG.normal(size=(N, 2)), RNG.normal(size=(7, 2))
Y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.2 * RNG.normal(size=N) + 4.0
WAVES = WaveFeatures(Frequencies(RNG.normal(size=(20, 2)), np.full(20, 0.05)))
LANDMARKS = LandmarkFeatures.of(Laplacian(2.0), X[:40])


def rows_of(n_scored=3, n_blocks=5):
    numbers = blocks.left_out_blocks(N, n_blocks, np.random.default_rng(1))
    return blocks.Rows(X, Y, numbers, n_scored)


def check_left_out(features, n_blocks=5, n_scored=3):
    """Predictions without each part that is left out at once, from the normal equations."""
    rows = rows_of(n_scored, n_blocks)
    whole = fit_ridge(rows.sums(features), ALPHA, fit_intercept=True)
    mean, std = blocks.left_out_predictions(rows, features, whole)
    assert_array_equal(np.isnan(mean), rows.blocks >= rows.n_scored)
    for block in range(rows.n_scored):
        own = np.flatnonzero(rows.blocks == block)
        for part in np.array_split(own, -(-len(own) // blocks._MOST_AT_ONCE)):
            Z = np.column_stack((features.features(X), np.ones(N)))
            kept = np.delete(Z, part, axis=0)
            A = kept.T @ kept + ALPHA * np.diag(np.append(np.ones(Z.shape[1] - 1), 0.0))
            expected = Z[part] @ np.linalg.solve(A, kept.T @ np.delete(Y, part))
            spread = np.sum(Z[part] * np.linalg.solve(A, Z[part].T).T, axis=1)
            lacking = features.lacking_variance(X[part], Z[part, :-1]) / ALPHA
            assert_allclose(mean[part], expected, rtol=1e-8)
            variance = whole.noise_variance[0] * (1.0 + spread + lacking)
            assert_allclose(std[part], np.sqrt(variance), rtol=1e-8)


@pytest.mark.parametrize("features", [WAVES, LANDMARKS], ids=["waves", "landmarks"])
def test_left_out_predictions_are_those_of_fits_without_the_block(features):
    check_left_out(features)


def test_large_blocks_are_left_out_in_parts(monkeypatch):
    monkeypatch.setattr(blocks, "_MOST_AT_ONCE", 20)
    check_left_out(WAVES, n_blocks=2, n_scored=1)


def test_all_rows_as_landmarks_are_a_gaussian_process():
    """Mean and variance of kriging with an unknown constant, at rows that are no landmarks."""
    kernel = Laplacian(2.0)
    features = LandmarkFeatures.of(kernel, X)
    posterior = fit_ridge(rows_of().sums(features), ALPHA, fit_intercept=True)
    mean, std = blocks.predictions(posterior, features, NEW)
    A, k, one = kernel(X, X) + ALPHA * np.eye(N), kernel(X, NEW), np.ones(N)
    inverse = np.linalg.inv(A)
    constant = one @ inverse @ Y / (one @ inverse @ one)
    assert_allclose(mean, constant + k.T @ inverse @ (Y - constant), rtol=1e-8)
    noise = (Y - constant) @ inverse @ (Y - constant) * ALPHA / (N - 1)
    assert_allclose(posterior.noise_variance, noise, rtol=1e-8)
    spread = 1.0 - np.sum(k * (inverse @ k), axis=0)
    spread += (1.0 - one @ inverse @ k) ** 2 / (one @ inverse @ one)
    assert_allclose(std, np.sqrt(noise * (1.0 + spread / ALPHA)), rtol=1e-7)


def test_leave_one_out_errors_are_those_of_fits_without_each_row():
    K, y = Gaussian(0.7)(X, X), Y - Y.mean()
    error, alpha = leave_one_out_error(K, y)

    def brute(alpha):
        residuals = []
        for i in range(N):
            rest = np.delete(np.arange(N), i)
            A = K[np.ix_(rest, rest)] + alpha * np.eye(N - 1)
            residuals.append(y[i] - K[i, rest] @ np.linalg.solve(A, y[rest]))
        return np.mean(np.square(residuals))

    assert_allclose(error, brute(alpha), rtol=1e-7)
    tried = [brute(alpha * 10.0**step) for step in (-1.0, -0.5, 0.5, 1.0)]
    assert error <= 1.005 * min(tried)


@pytest.mark.parametrize("length", [0.3, 1.2])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_kernel_that_made_the_data_is_found(length, threads):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(300, 2))
    root = np.linalg.cholesky(Gaussian(length)(rows, rows) + 1e-9 * np.eye(300))
    y = root @ rng.normal(size=300) + 0.1 * rng.normal(size=300)
    families = (Laplacian, Gaussian)
    ranks = np.argsort(np.argsort(rows, axis=0), axis=0) / 300.0
    kernel, index, alpha = best_kernel(families, [ranks, rows], y, rng, threads)
    assert isinstance(kernel, Gaussian)
    assert index == 1
    assert np.all(np.abs(np.log2(np.asarray(kernel.length_scale) / length)) < 1.01)
    assert 3e-4 < alpha < 0.1


def test_noise_is_chosen_by_errors_and_not_by_repetitions():
    """Rows that come twice with equal targets look like no noise at all."""
    y = RNG.normal(size=N)
    # Copies lie in the same block: nothing predicts noise.
    rows = blocks.Rows(np.tile(X, (2, 1)), np.tile(y, 2), np.tile(np.arange(N) % 6, 2), 6)
    features = LandmarkFeatures.of(Laplacian(1.0), X)
    posterior, (mean, _) = blocks.best_by_left_out(rows, features, 0.1)
    evidence = blocks.best_by_evidence(rows.sums(features))
    assert evidence.alpha < 1e-3 < 1.0 < posterior.alpha
    assert np.mean((rows.y - mean) ** 2) < 1.1 * np.var(y)


def test_the_noise_of_many_features_is_that_of_some(monkeypatch):
    rows = rows_of()
    whole = blocks.best_by_evidence(rows.sums(WAVES))
    monkeypatch.setattr(blocks, "_SPECTRUM", 20)
    few = blocks.best_by_evidence(rows.sums(WAVES))
    assert abs(np.log(few.alpha / whole.alpha)) < np.log(4.0)


@pytest.mark.parametrize(("n", "n_blocks"), [(90, 8), (7, 7), (64, 4)])
def test_blocks_are_random_and_nearly_equal(n, n_blocks):
    found = blocks.left_out_blocks(n, n_blocks, np.random.default_rng(0))
    sizes = np.bincount(found)
    assert len(sizes) == n_blocks
    assert np.ptp(sizes) <= 1
    assert (np.diff(found) < 0).any()


def test_pooled_frequencies_are_of_all_chains_and_of_their_last_draws():
    omega = np.arange(3 * 5 * 4.0).reshape(3, 5, 4, 1)  # chains, draws, frequencies, inputs
    pooled = PooledChains(tuple(omega))
    assert_array_equal(pooled.of_all(12).frequencies.omega, omega[:, -1].reshape(12, 1))
    assert set(pooled.of_all(20).frequencies.omega.ravel()) > set(omega[:, -1].ravel())
    assert_array_equal(np.sort(pooled.of_one(1).frequencies.omega, axis=0), omega[1].reshape(20, 1))
    assert_allclose(np.sum(pooled.of_all(20).features(X[:, :1]) ** 2, axis=1), 1.0)

"""Laws on all rows and on landmarks, and what they predict at rows left out, by brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner.kernels import Exponential, Gaussian, Matern
from bochner.tables import kernel_laws, landmark_fits, leave_one_out
from bochner.tables import kernel_search as search
from bochner.tables.leave_one_out import LearnedKernel
from bochner.tables.observations import CellObservations, Rows, Scored

RNG = np.random.default_rng(0)
N, ALPHA = 90, 0.3
TABLE, NEW = RNG.normal(size=(N, 3)), RNG.normal(size=(7, 3))
COLUMNS = np.array([0, 2])
X = TABLE[:, COLUMNS]
Y = np.column_stack((np.sin(2.0 * X[:, 0]) + X[:, 1], X[:, 0] * X[:, 1]))
Y += 0.2 * RNG.normal(size=Y.shape)
WEIGHTS = RNG.uniform(0.5, 1.5, N)
GROUPS = np.arange(N) % 13
KERNEL = LearnedKernel(Exponential(1.5), ALPHA, np.array([[1.0, 0.4], [-0.3, 0.8]]))
M = 25  # Landmarks


def rows_of(grouped):
    return Rows(TABLE, Y, WEIGHTS / WEIGHTS.mean(), GROUPS if grouped else None)


def last_of(rows, n_last):
    """The last rows, each a single observation."""
    cell = np.arange(len(rows) - n_last, len(rows))
    single = CellObservations(cell, np.zeros((n_last, 2)), rows.weights[cell], np.ones(n_last))
    return Scored(cell, np.zeros(n_last, dtype=int), single, np.zeros((n_last, 2)))


def without(rows, left, kernel, landmarks=None):
    """Coefficients of the other rows, or of landmarks, by the normal equations."""
    kept = np.setdiff1d(np.arange(N), left)
    noise = ALPHA / rows.weights[kept]
    if landmarks is None:
        return np.linalg.solve(kernel(X[kept], X[kept]) + np.diag(noise), rows.Y[kept]), kept
    cross = kernel(X[landmarks], X[kept]) / noise
    A = cross @ kernel(X[kept], X[landmarks]) + kernel(X[landmarks], X[landmarks])
    return np.linalg.solve(A, cross @ rows.Y[kept]), landmarks


def groups_of(rows):
    labels = np.arange(N) if rows.groups is None else rows.groups
    return [np.flatnonzero(labels == label) for label in np.unique(labels)]


def assert_exact(grouped=True, n_scored=N):
    rows = rows_of(grouped)
    law, (means, variances, _), _ = kernel_laws.exact(
        "", KERNEL, rows, COLUMNS, N, last_of(rows, n_scored), 1
    )
    whole = KERNEL(X, X) + np.diag(ALPHA / rows.weights)
    kernel = KERNEL(NEW[:, COLUMNS], X)
    assert_allclose(law.mean(NEW, TABLE), kernel @ np.linalg.solve(whole, Y), rtol=1e-9)
    explained = np.sum(kernel * np.linalg.solve(whole, kernel.T).T, axis=1)
    latent = 1.0 - explained[:, None]
    # The factor has single precision.
    assert_allclose(law.variance(NEW, TABLE), law.signal * (ALPHA + latent), rtol=1e-5)
    squares, first = [], N - n_scored
    for own in groups_of(rows)[first:]:
        coef, kept = without(rows, own, KERNEL)
        K = KERNEL(X[own], X[kept])
        assert_allclose(means[own - first], K @ coef, rtol=1e-8)
        A = KERNEL(X[kept], X[kept]) + np.diag(ALPHA / rows.weights[kept])
        latent = 1.0 - np.sum(K * np.linalg.solve(A, K.T).T, axis=1)
        relative = (latent + ALPHA / rows.weights[own])[:, None]
        assert_allclose(variances[own - first], law.signal * relative, rtol=1e-8)
        squares.append((Y[own] - means[own - first]) ** 2 / relative)
    assert_allclose(law.signal, np.mean(np.concatenate(squares), axis=0), rtol=1e-9)


def test_the_last_rows_may_be_scored_alone():
    assert_exact(grouped=False, n_scored=30)


@pytest.mark.thorough
def test_memory_that_is_not_written_is_not_read():
    """Whatever is left in memory, laws are those of what was computed."""
    kept = np.empty
    assert_exact()  # Numba registers the functions of NumPy when it first compiles

    def empty(*args, **named):
        found = kept(*args, **named)
        if np.issubdtype(found.dtype, np.floating):
            found[...] = np.nan
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np, "empty", empty)
        patch.setattr(landmark_fits, "BLOCK_BYTES", 8 * N * 7)
        try:
            assert_exact()
            assert_exact(grouped=False)
            assert_landmarks()
            # A matrix of ones, which has no factor without a jitter.
            kernel_laws._cholesky(LearnedKernel(Gaussian(1e9), 1e-20), rows_of(False), 1, 0)
        except ValueError as error:  # SciPy refuses what is not finite
            raise AssertionError("memory that was not written was read") from error


@pytest.mark.parametrize("grouped", [False, True])
def test_exact_laws_are_gaussian_processes(grouped):
    assert_exact(grouped)


def assert_landmarks(grouped=True):
    rows, scored = rows_of(grouped), np.arange(M, N)
    law, found = kernel_laws.on_landmarks(
        "", KERNEL, rows, COLUMNS, (M, M), last_of(rows, N - M), 1
    )
    means, variances = (
        np.concatenate((np.full_like(part[:M], np.nan), part)) for part in found[:2]
    )
    coef, landmarks = without(rows, [], KERNEL, np.arange(M))
    expected = KERNEL(NEW[:, COLUMNS], X[landmarks]) @ coef
    assert_allclose(law.mean(NEW, TABLE), expected, rtol=1e-7)
    for own in groups_of(Rows(TABLE, Y, WEIGHTS, rows.groups)):
        own = np.intersect1d(own, scored)
        if len(own):
            coef, landmarks = without(rows, own, KERNEL, np.arange(M))
            assert_allclose(means[own], KERNEL(X[own], X[landmarks]) @ coef, rtol=1e-6)
    expected = law.variance(TABLE[scored], TABLE, rows.weights[scored])
    assert_allclose(variances[scored], expected, rtol=1e-9)
    squares = (Y - means)[scored] ** 2 / variances[scored]
    assert_allclose(np.mean(squares, axis=0), 1.0, rtol=1e-9)


@pytest.mark.parametrize("grouped", [False, True])
def test_laws_on_landmarks_solve_the_normal_equations(grouped):
    assert_landmarks(grouped)


def latent_without(kernel, weights, cell, weight, n_landmarks):
    """Variance of the function at a row, with dense matrices of the other observations."""
    weights = weights.copy()
    weights[cell] -= weight
    kept = np.flatnonzero(weights > 1e-12)
    landmarks = np.intersect1d(np.arange(n_landmarks), kept)
    gram, cross = kernel.kernel(X[landmarks]), kernel.kernel(X[landmarks], X[kept])
    shifted = gram + cross * weights[kept] / kernel.alpha @ cross.T
    k = kernel.kernel(X[landmarks], X[[cell]])[:, 0]
    return 1.0 - k @ np.linalg.solve(gram, k) + k @ np.linalg.solve(shifted, k)


def test_variances_by_landmarks_are_those_of_fits_without_the_observation():
    """Landmarks and other rows, and two observations each of a landmark and of another row."""
    cell = np.r_[np.arange(N), 3, 60]
    weights = WEIGHTS[cell].copy()
    weights[[3, 60]] *= 0.4
    weights[[N, N + 1]] *= 0.6
    observed = CellObservations(cell, np.zeros((N + 2, 1)), weights, np.ones(N + 2))
    for kernel in (LearnedKernel(Exponential(1.5), 0.3), LearnedKernel(Matern(1.5, nu=2.5), 0.01)):
        rows = Rows(X, np.zeros((N, 1)), WEIGHTS)
        sums, _ = landmark_fits.summed_products(kernel, rows, X[:M], 1)
        found = leave_one_out.left_out_latent(kernel, rows, sums, observed)
        pairs = zip(cell, weights, strict=True)
        expected = [latent_without(kernel, WEIGHTS, *pair, M) for pair in pairs]
        assert_allclose(found, expected, rtol=1e-4)


class InParts:
    """Rows elsewhere, in parts of several sizes."""

    def __init__(self, rows, cuts):
        self.parts = [rows.part(part) for part in np.split(np.arange(len(rows)), cuts)]

    def __call__(self, function):
        return sum(function(part) for part in self.parts)


def check_elsewhere(sizes=(M, M - 5)):
    """Rows may be in memory or elsewhere, as long as landmarks and scored rows are in memory."""
    rows, few = rows_of(False), np.r_[: M + 5, N - 20 : N]
    others = InParts(rows.part(np.arange(M + 5, N - 20)), [3, 4, 22])
    whole = kernel_laws.on_landmarks("", KERNEL, rows, COLUMNS, sizes, last_of(rows, 20), 1)
    some = kernel_laws.on_landmarks(
        "", KERNEL, rows.part(few), COLUMNS, sizes, last_of(rows.part(few), 20), 1, others
    )
    for found, expected in zip(some[1], whole[1], strict=True):
        assert_allclose(found, expected, rtol=1e-7)
    table = TABLE[few]
    assert_allclose(some[0].mean(NEW, table), whole[0].mean(NEW, TABLE), rtol=1e-7)
    assert_allclose(some[0].variance(NEW, table), whole[0].variance(NEW, TABLE), rtol=1e-7)


@pytest.mark.parametrize("sizes", [(M, M - 5), (M - 5, M)])
def test_sums_over_rows_elsewhere_are_added(sizes):
    check_elsewhere(sizes)


def test_groups_larger_than_the_landmarks_are_left_out_too():
    rows = Rows(TABLE, Y, np.ones(N), np.arange(N) % 2)
    _, (means, *_) = kernel_laws.on_landmarks(
        "", KERNEL, rows, COLUMNS, (M, 0), last_of(rows, N), 1
    )
    for label in range(2):
        own = np.flatnonzero(rows.groups == label)
        coef, landmarks = without(rows, own, KERNEL, np.arange(M))
        assert_allclose(means[own], KERNEL(X[own], X[landmarks]) @ coef, rtol=1e-6)


def test_rows_are_left_out_in_blocks():
    """Rows that are left out may be too many for their kernel values to be in memory together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_laws, "_ROWS_LEFT_OUT", 7)
        assert_landmarks()
        assert_landmarks(grouped=False)
        test_groups_larger_than_the_landmarks_are_left_out_too()


def test_variances_of_landmarks_have_what_the_approximation_lacks():
    """The Nyström approximation's variance with what it lacks, at new rows."""
    rows = rows_of(False)
    law, _, _ = kernel_laws.exact("", KERNEL, rows, COLUMNS, M, last_of(rows, N), 1)
    K, new = KERNEL(X, X[:M]), KERNEL(NEW[:, COLUMNS], X[:M])
    inner = np.linalg.inv(KERNEL(X[:M], X[:M]))
    posterior = np.linalg.inv(KERNEL(X[:M], X[:M]) + K.T @ (rows.weights[:, None] * K) / ALPHA)
    lacking = 1.0 - np.sum((new @ inner) * new, axis=1)
    latent = np.sum((new @ posterior) * new, axis=1)
    relative = (ALPHA + lacking + latent)[:, None]
    assert_allclose(law.variance(NEW, TABLE), law.signal * relative, rtol=1e-6)


def brute(kernel, alpha, rows):
    errors = []
    for own in groups_of(rows):
        kept = np.setdiff1d(np.arange(N), own)
        A = kernel(X[kept], X[kept]) + alpha * np.diag(1.0 / rows.weights[kept])
        residuals = Y[own] - kernel(X[own], X[kept]) @ np.linalg.solve(A, Y[kept])
        errors.append(np.sum(rows.weights[own, None] * residuals**2))
    return np.sum(errors) / N


@pytest.mark.thorough_cases(but="True")
@pytest.mark.parametrize("grouped", [False, True])
def test_the_noise_of_least_error_is_found(grouped):
    rows, kernel = rows_of(grouped).columns(COLUMNS), Gaussian(0.7)
    alpha = min(10.0 ** np.arange(-4.0, 1.5, 0.5), key=lambda alpha: brute(kernel, alpha, rows))
    error = LearnedKernel(kernel, alpha).left_out_error(rows)
    assert_allclose(error, brute(kernel, alpha, rows), rtol=1e-5)
    for wrong in (1e-3 * alpha, 1e3 * alpha):
        factor = search.noise_factor(LearnedKernel(kernel, wrong), rows)
        assert brute(kernel, factor * wrong, rows) < brute(kernel, wrong, rows)
        assert abs(np.log(factor * wrong / alpha)) < abs(np.log(wrong / alpha))


def half_numbers(half):
    return np.argmin(np.abs(half.X[:, None] - TABLE).sum(axis=2), axis=1)


def test_rows_keep_their_groups_together():
    rows = rows_of(True)
    first, second = (half_numbers(half) for half in rows.halves())
    assert not set(GROUPS[first]) & set(GROUPS[second])
    assert_array_equal(np.sort(np.concatenate((first, second))), np.arange(N))
    part = rows.part(np.array([3, 16, 5]))
    assert_array_equal(part.groups, [0, 0, 1])
    for matrix in [KERNEL(X, X) + np.eye(N)]:
        own = rows_of(True)
        blocks = np.zeros((N, N))
        for members in groups_of(own):
            blocks[np.ix_(members, members)] = matrix[np.ix_(members, members)]
        assert_allclose(own.solved(matrix, Y), np.linalg.solve(blocks, Y), rtol=1e-9)
        assert_allclose(own.left_out_variance(matrix), np.diag(np.linalg.inv(blocks)), rtol=1e-9)

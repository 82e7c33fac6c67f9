"""Coefficients by passes over many rows, next to normal equations of the public kernels."""

from contextlib import contextmanager
from time import perf_counter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner.kernels import Exponential, Laplacian, Matern
from bochner.tables import kernel_laws, landmark_fits
from bochner.tables.leave_one_out import LearnedKernel
from bochner.tables.observations import CellObservations, Rows, Scored

N, M, V = 3000, 30, 12
SHARED = np.r_[0:3, [3] * 4]
COLUMNS = np.r_[0, 2:7]
SCALES = (1.5, 0.8, *[2.0] * 4)
KERNELS = {
    "Laplacian": LearnedKernel(Laplacian(SCALES), 0.3),
    "Matern": LearnedKernel(Matern(SCALES, nu=2.5), 0.05),
    "mapped": LearnedKernel(Exponential(1.5), 0.2, np.eye(6) + 0.1),
    "little noise": LearnedKernel(Matern(SCALES, nu=2.5), 1e-5),
}


def table(n_rows=N, seed=0, is_one_hot=True):
    rng = np.random.default_rng(seed)
    levels = np.eye(4)[rng.integers(0, 4, n_rows)]
    if not is_one_hot:
        levels[n_rows // 2] = 0.25
    X = np.hstack([rng.normal(size=(n_rows, 3)), levels])
    Y = np.column_stack((np.sin(2.0 * X[:, 0]) + levels[:, 0], X[:, 0] * levels[:, 1]))
    Y += 0.3 * rng.normal(size=Y.shape)
    return Rows(
        X, np.column_stack((Y, np.ones(n_rows))), rng.uniform(0.5, 1.5, n_rows), None, SHARED
    )


@contextmanager
def passes(**numbers):
    """Tables of any size are solved by passes, with blocks that do not fit the rows."""
    defaults = {"_FEWEST_ROWS": 0, "_ROWS_OF_A_BLOCK": 700, "_ROWS_OF_PRODUCTS": 170}
    with pytest.MonkeyPatch.context() as patch:
        for name, number in {**defaults, **numbers}.items():
            patch.setattr(landmark_fits, name, number)
        yield


def expected(learned, rows):
    """Coefficients by the normal equations, in the order of the columns of the kernel."""
    X, Z = rows.X[:, COLUMNS], rows.X[:M, COLUMNS]
    if learned.matrix is not None:
        X, Z = X @ learned.matrix, Z @ learned.matrix
    K, G = learned.kernel(X, Z), learned.kernel(Z, Z)
    inner = K.T @ (rows.weights[:, None] * K)
    coef = np.linalg.solve(inner + learned.alpha * G, K.T @ (rows.weights[:, None] * rows.Y))
    return coef, K, inner


def solved(learned, rows, n_threads=1, sizes=(M, V)):
    return landmark_fits.solved_by_passes(learned, COLUMNS, rows, sizes, n_threads)


def check_solution(is_one_hot=True):
    rows = table(is_one_hot=is_one_hot)
    for learned in KERNELS.values():
        coef, K, _ = expected(learned, rows)
        with passes(_TOLERANCE=1e-7):
            found = solved(learned, rows).coef
        single = learned.alpha >= 1e-3
        assert_allclose(K @ found, K @ coef, atol=2e-5 if single else 1e-6)


def test_coefficients_solve_the_normal_equations():
    check_solution()


def test_rows_that_are_not_one_hot_are_numbers():
    check_solution(is_one_hot=False)


def test_few_steps_suffice():
    """A few steps from the sample to an error of a hundredth of the noise."""
    rows = table()
    for learned in KERNELS.values():
        coef, K, _ = expected(learned, rows)
        noise = np.sqrt(np.mean((rows.Y - K @ coef) ** 2, axis=0))
        with passes(_MOST_STEPS=0):
            start = solved(learned, rows).coef
        with passes(_MOST_STEPS=4):
            found = solved(learned, rows).coef
        before, after = (
            np.sqrt(np.mean((K @ (part - coef)) ** 2, axis=0)) / noise for part in (start, found)
        )
        assert (before[:-1] > 0.02).all()
        assert (after[:-1] < 0.012).all()


def test_iterations_end_in_time():
    """No pass begins that would end too late; the first one tells how long they take."""
    rows, learned = table(), KERNELS["Matern"]
    with passes(_MOST_STEPS=0):
        start = solved(learned, rows).coef
    with passes():
        late = landmark_fits.solved_by_passes(learned, COLUMNS, rows, (M, V), 1, perf_counter())
        found = solved(learned, rows).coef
    assert np.array_equal(late.coef, start)
    assert not np.allclose(found, start, rtol=1e-3)


def test_the_sample_represents_all_rows():
    """The sample estimates the matrix: landmarks count once, other rows represent all others."""
    rows, learned = table(), KERNELS["Laplacian"]
    inner = expected(learned, rows)[2]
    Z = rows.X[:M, COLUMNS]
    with passes():
        part = landmark_fits._Passes.of(learned, COLUMNS, rows, rows.X[:M], 1)
        whole, cross, squares = part.sampled(N, np.float64)
        some, _, of_some = part.sampled(N // 3, np.float64)
    assert_allclose(np.tril(whole), np.tril(inner), rtol=1e-9)
    K = learned.kernel(rows.X[:, COLUMNS], Z)
    assert_allclose(cross, K.T @ (rows.weights[:, None] * rows.Y), rtol=1e-9, atol=1e-9)
    weights = rows.weights * np.repeat(
        [1.0, (N - M) / (N // 3 - M), 0.0], [M, N // 3 - M, N - N // 3]
    )
    assert_allclose(np.tril(some), np.tril(K.T @ (weights[:, None] * K)), rtol=1e-9)
    assert_allclose(squares, rows.weights @ rows.Y**2)
    assert_allclose(of_some, weights @ rows.Y**2)


def test_precision_is_that_of_the_noise():
    """Rounding is compared to the residuals of the targets, without the constant one."""
    rows, learned, noise = table(), KERNELS["Matern"], []
    coef, K, _ = expected(learned, rows)
    with passes(suffices_single=lambda coef, noise_of_targets: noise.append(noise_of_targets)):
        solved(learned, rows)
    residuals = np.sqrt(np.sum(rows.weights[:, None] * (rows.Y - K @ coef) ** 2, axis=0) / N)
    assert_allclose(noise[0], 16.0 * residuals[:-1], rtol=0.1)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_results_do_not_depend_on_threads(n_threads):
    rows, learned = table(), KERNELS["Matern"]
    with passes():
        one, found = solved(learned, rows), solved(learned, rows, n_threads)
    assert np.array_equal(one.coef, found.coef)
    assert np.array_equal(one.of_variance, one.of_variance.T)


def test_fewer_rows_and_other_kernels_are_not_solved_by_passes():
    assert not landmark_fits.has_passes(10**5 - 1, 10)
    assert landmark_fits.has_passes(200_000, 4000)
    assert not landmark_fits.has_passes(199_999, 4000)
    assert solved(KERNELS["Matern"], table()) is None
    with passes():
        assert solved(LearnedKernel(Matern(1.0, nu=1.1), 0.1), table()) is None


def check_law(sizes=(M, V)):
    """Laws by passes are those by products, up to what iterations leave out."""
    rows, n_last = table(), 200
    rows = Rows(rows.X, rows.Y[:, :2], rows.weights, None, SHARED)
    cell = np.arange(N - n_last, N)
    single = CellObservations(cell, np.zeros((n_last, 2)), rows.weights[cell], np.ones(n_last))
    scored = Scored(cell, np.zeros(n_last, dtype=int), single, np.zeros((n_last, 2)))
    learned = KERNELS["Matern"]
    arguments = ("", learned, rows, COLUMNS, sizes, scored, 1)
    law, left_out = kernel_laws.on_landmarks(*arguments)
    with passes(_TOLERANCE=1e-6):
        by_passes, of_passes = kernel_laws.on_landmarks(*arguments)
    new = table(50, seed=1).X
    assert_allclose(by_passes.mean(new, rows.X), law.mean(new, rows.X), atol=1e-5)
    # Leverages and variances are estimated by the sample.
    assert_allclose(of_passes.means, left_out.means, atol=2e-2)
    assert_allclose(of_passes.variances, left_out.variances, rtol=2e-2)
    assert_allclose(of_passes.unit_noise, left_out.unit_noise, rtol=1e-2)


@pytest.mark.parametrize("sizes", [(M, V), (V, M), (M, 0)])
def test_laws_of_many_rows(sizes):
    check_law(sizes)

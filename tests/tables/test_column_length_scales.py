"""Length scales and linear maps learned by leave-one-out errors, against fits without rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner import TableRegressor
from bochner.kernels import Exponential, Gaussian, Laplacian, Matern
from bochner.tables import kernel_search, leave_one_out
from bochner.tables.leave_one_out import LearnedKernel
from bochner.tables.observations import Rows

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 3))
Y = np.column_stack((np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1], X[:, 2] ** 2))
Y += 0.1 * RNG.normal(size=Y.shape)
WEIGHTS = RNG.uniform(0.5, 2.0, 40)
WEIGHTS /= WEIGHTS.mean()
GROUPS = np.arange(40) % 11
ROWS = {
    "plain": Rows(X, Y[:, :1], np.ones(40)),
    "all": Rows(X, Y, WEIGHTS, GROUPS),
    "pairs": Rows(X, Y, WEIGHTS, np.arange(40) // 2),
}
POINT = np.array([0.3, 0.1, -0.2, -2.0])
CENTRE = np.array([0.9, -0.4, 0.9, 0.0])
STEP = 1e-5
KERNELS = [Gaussian(), Laplacian(), Matern(nu=2.5), Exponential()]


def rows_of(X, y, groups=None):
    return Rows(X, y.reshape(len(y), -1), np.ones(len(y)), groups)


def residuals(learned, rows, kept, others):
    """Errors of rows by a fit to other rows, of noise variances inverse to the weights."""
    A = learned(rows.X[kept], rows.X[kept]) + learned.alpha * np.diag(1.0 / rows.weights[kept])
    return rows.Y[others] - learned(rows.X[others], rows.X[kept]) @ np.linalg.solve(A, rows.Y[kept])


def brute(learned, rows):
    """Weighted mean square error of fits without each group."""
    groups = np.arange(len(rows)) if rows.groups is None else rows.groups
    total = 0.0
    for group in np.unique(groups):
        others, kept = np.flatnonzero(groups == group), np.flatnonzero(groups != group)
        errors = residuals(learned, rows, kept, others)
        total += np.sum(rows.weights[others, None] * errors**2)
    return total / len(rows)


def assert_gradient(kernel, rows=ROWS["all"]):
    error, gradient = kernel_search.error_and_gradient(kernel, POINT, rows)

    def at(point):
        return brute(LearnedKernel.at(kernel, point), rows)

    moved = [at(POINT + h) - at(POINT - h) for h in STEP * np.eye(4)]
    assert_allclose(error, at(POINT), rtol=1e-5)
    assert_allclose(gradient, np.array(moved) / (2.0 * STEP), rtol=1e-3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leave_one_out, "LEAST_SINGLE", np.inf)
        double = kernel_search.error_and_gradient(kernel, POINT, rows)
    assert_allclose(double[0], at(POINT), rtol=1e-9)
    assert_allclose(double[1], np.array(moved) / (2.0 * STEP), rtol=1e-4)
    assert double[0] != error


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_errors_and_gradients_are_those_of_fits_without_each_group(kernel, rows):
    assert_gradient(kernel, ROWS[rows])


def test_each_part_of_the_rows_predicts_the_other():
    pair = LearnedKernel.at(Laplacian(), POINT), LearnedKernel.at(Laplacian(), POINT[::-1])
    chosen, rows = (np.arange(15), np.arange(15, 40)), ROWS["all"]
    expected = sum(
        np.sum(rows.weights[others, None] * residuals(learned, rows, own, others) ** 2)
        for learned, own, others in zip(pair, chosen, chosen[::-1], strict=True)
    )
    parts = tuple(rows.part(part) for part in chosen)
    assert_allclose(leave_one_out.error_across(pair, parts), expected, rtol=1e-9)


def test_scales_that_are_tied_move_together():
    rows, start = ROWS["plain"], np.array([0.5, 0.0, 1.0, -1.0])
    found = kernel_search.descended(Gaussian(), rows, start, None, 200)
    moved = found[:-1] - start[:-1]
    assert_allclose(moved, moved[0])
    error = kernel_search.error_and_gradient(Gaussian(), found, rows)[0]
    for step in (-0.1, 0.1):
        near = found + step * np.array([1.0, 1.0, 1.0, 0.0])
        assert kernel_search.error_and_gradient(Gaussian(), near, rows)[0] > error


def searched(family, rows):
    return kernel_search.finished(family, kernel_search.begun(family, rows), rows)


@pytest.mark.parametrize("n_samples", [2, 3, 5])
def test_few_rows_and_constant_targets_have_a_kernel(n_samples):
    for y in (np.zeros(n_samples), np.arange(n_samples) - 1.0):
        rows = rows_of(X[:n_samples], y)
        found = searched(kernel_search.Family(Gaussian), rows)
        assert np.all(np.isfinite(found.full.kernel.length_scale))
        assert found.full.alpha > 0.0


def test_searches_begin_at_the_greatest_noise_of_least_error():
    """Without noise errors hardly depend on small ratios, which descents would not raise."""
    rows = np.random.default_rng(3).uniform(size=(60, 2))
    rows, family = rows_of(rows, np.sign(rows.sum(axis=1) - 0.9)), kernel_search.Family(Exponential)
    scales, noises, errors = family.prior.log_scales(rows), [0.1, 1.0, 0.01, 1e-4, 1e-7], []
    for factor in np.log((1.0, 0.25, 4.0)):
        for noise in np.log(noises):
            learned = LearnedKernel.at(Exponential(), np.append(scales + factor, noise))
            errors.append(brute(learned, rows))
    best = np.tile(noises, 3)[np.array(errors) < 1.005 * min(errors)]
    assert best.max() > 100.0 * best.min()
    assert_allclose(kernel_search.begun(family, rows).start.alpha, best.max())


def turned_rows(n_samples=300):
    """A target that changes along one direction, oblique to the inputs."""
    rows = np.random.default_rng(1).normal(size=(n_samples, 3))
    return rows_of(rows, np.sin(1.5 * (rows @ np.array([1.0, 1.0, -1.0]))))


def test_the_penalised_error_of_a_map_is_stationary():
    """The map that is found, against finite differences of errors without each row."""
    rows, origin = turned_rows(60), LearnedKernel(Matern((1.0, 2.0, 1.5), nu=2.5), 0.1)
    rows.Y[:] += 0.05 * np.random.default_rng(2).normal(size=(60, 1))
    penalty = 100.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_search, "_MAP_TOLERANCE", 1e-12)
        found = kernel_search.mapped(origin, origin, rows, penalty, 300)
    scales = np.asarray(origin.kernel.length_scale)[:, None]

    def loss(matrix, alpha):
        learned = LearnedKernel(Matern(nu=2.5), alpha, matrix / scales)
        return np.log(brute(learned, rows)) + penalty / 60 * np.sum((matrix - np.eye(3)) ** 2)

    matrix = scales * found.matrix
    assert np.abs(matrix - np.eye(3)).max() > 0.1
    steps = [1e-4 * step.reshape(3, 3) for step in np.eye(9)]
    slopes = [loss(matrix + step, found.alpha) - loss(matrix - step, found.alpha) for step in steps]
    assert np.abs(np.array(slopes) / 2e-4).max() < 0.05
    assert loss(matrix, found.alpha) < loss(np.eye(3), origin.alpha)


@pytest.mark.thorough
@pytest.mark.parametrize("matrix", [None, np.diag([1.0, 0.7, 1.2])])
def test_more_rows_move_a_kernel_on(matrix):
    rows = turned_rows(200)
    rows.Y[:] += 0.1 * np.random.default_rng(0).normal(size=(200, 1))
    begin = LearnedKernel(Matern((1.0, 4.0, 3.0), nu=2.5), 0.1, matrix)
    found = kernel_search.refined(begin, rows)
    assert (found.matrix is None) == (matrix is None)
    assert brute(found, rows) < 0.8 * brute(begin, rows)


@pytest.mark.thorough
@pytest.mark.parametrize("centre", [CENTRE, None])
def test_columns_may_share_a_length_scale(centre):
    """The point is that of least penalised error among points with equal scales."""
    shared = Rows(X, Y[:, :1], np.ones(40), shared=np.array([7, 2, 7]))
    start = np.array([0.5, 0.2, 0.5, -1.0])
    found = kernel_search.descended(Matern(nu=2.5), shared, start, centre, 100)
    assert found[0] == found[2] != found[1]

    def loss(point):
        away = 0.0 if centre is None else (point - centre)[[0, 1]]
        pull = 5.0 * (1.0 + 200 / 40) / 40 * np.sum(np.log(1.0 + (away - np.mean(away)) ** 2))
        return np.log(brute(LearnedKernel.at(Matern(nu=2.5), point), shared)) + pull

    steps = [[1, 1, 1, 0]] if centre is None else [[1, 0, 1, 0], [0, 1, 0, 0]]
    for step in (0.1, -0.1):
        assert all(
            loss(found) < loss(found + step * np.array(way)) for way in [*steps, [0, 0, 0, 1]]
        )


def test_a_table_with_many_levels_has_several_length_scales():
    rng = np.random.default_rng(0)
    levels, number = rng.integers(45, size=(2, 300)), rng.normal(size=300)
    table = np.column_stack((np.eye(45)[levels[0]], np.eye(45)[levels[1]], number))
    y = rng.normal(size=45)[levels[0]] * number
    shared = np.repeat([0, 1, 2], [45, 45, 1])
    rows = Rows(table, y[:, None], np.ones(300), shared=shared)
    scales = searched(kernel_search.Family(Laplacian), rows).full.kernel.length_scale
    used, unused, _ = np.asarray(scales)[[0, 45, 90]]
    assert_allclose(scales, np.asarray(scales)[[0, 45, 90]][shared])
    assert unused > 5.0 * used


def test_sixty_rows_without_noise_tell_a_smooth_function():
    """Errors at new rows are a twentieth of deviations; penalties of noisy rows double them."""
    # Means: 0.052, and 0.100 with penalties of noisy rows; 0.047 if halves choose the penalty.
    errors = []
    for seed in (0, 1):
        X = np.random.default_rng(seed).uniform(size=(560, 5))
        y = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2
        y += X[:, 3:] @ [10.0, 5.0]
        model = TableRegressor(random_state=0, n_jobs=1).fit(X[:60], y[:60])
        errors.append(np.std(model.predict(X[60:]) - y[60:]) / np.std(y))
    assert np.sqrt(errors[0] * errors[1]) < 0.06

"""Functions and joint covariances of sums of laws, against dense Gaussian processes."""

import numpy as np
import pytest
from laws.function_laws import assert_draws, assert_normal_draws
from learning.tables.test_kernel_laws import ALPHA, COLUMNS, KERNEL, NEW, TABLE, M, N, Y
from numpy.testing import assert_allclose

from bochner.kernels import Exponential, Laplacian, Matern
from bochner.tables import drawn_functions as function_draws
from bochner.tables import kernel_laws
from bochner.tables.base_laws import Laws
from bochner.tables.ensemble import SumOfLaws
from bochner.tables.leave_one_out import LearnedKernel
from bochner.tables.observations import Observations
from bochner.tables.predictive import ScoreLaw

OTHER, SECOND = LearnedKernel(Laplacian((1.0, 2.0, 1.5)), 0.2), np.arange(3)
DATA = Observations.of(TABLE, Y, np.random.default_rng(1).uniform(0.5, 1.5, N))
ORDER = np.arange(N)
ROWS = DATA.rows(ORDER)


def last(count):
    return DATA.scored(ORDER, count, np.zeros(count, dtype=int))


WEIGHTS = np.array([[0.7, 0.2], [0.3, 0.8]])
SCORES = np.random.default_rng(7).normal(size=(40, 2)) * np.array([1.3, 1.0])
SCALE = ScoreLaw.of(SCORES).std


def head(with_landmarks=False):
    first, _ = kernel_laws.exact("first", KERNEL, ROWS, COLUMNS, N, last(N), 1)
    second = kernel_laws.on_landmarks("second", OTHER, ROWS, SECOND, (40, M), last(30), 1)[0]
    if not with_landmarks:
        second, _ = kernel_laws.exact("second", OTHER, ROWS, SECOND, N, last(N), 1)
    return SumOfLaws(Laws(TABLE, [first, second]), WEIGHTS, SCORES, np.ones(2))


def explained(kernel, inputs, new, n_landmarks):
    """What rows explain of the covariance of new ones: exactly, or through landmarks."""
    noise = kernel.alpha / ROWS.weights
    if not n_landmarks:
        cross = kernel(new, inputs)
        return cross @ np.linalg.solve(kernel(inputs, inputs) + np.diag(noise), cross.T)
    L = inputs[:n_landmarks]
    K, cross, at = kernel(L, L), kernel(L, inputs), kernel(new, L)
    posterior = K + (cross * ROWS.weights) @ cross.T / kernel.alpha
    return at @ (np.linalg.inv(K) - np.linalg.inv(posterior)) @ at.T


def expected(found, with_landmarks):
    """Mean (n, t) and covariance (n, n, t) of the functions, densely."""
    means, covs = [], []
    for law, kernel, columns, n_landmarks in zip(
        found.laws.members,
        (KERNEL, OTHER),
        (COLUMNS, SECOND),
        (0, M if with_landmarks else 0),
        strict=True,
    ):
        new, inputs = NEW[:, columns], TABLE[:, columns]
        relative = kernel(new, new) - explained(kernel, inputs, new, n_landmarks)
        means.append(kernel(new, inputs[: len(law.coef)]) @ law.coef)
        covs.append(relative[:, :, None] * law.signal)
    mean = np.einsum("knt,kt->nt", means, WEIGHTS)
    deviation = np.array(means) - mean
    cov = np.einsum("knmt,kt->nmt", covs, WEIGHTS)
    cov += np.einsum("knt,kmt,kt->nmt", deviation, deviation, WEIGHTS)
    return mean, SCALE**2 * cov


@pytest.mark.parametrize("with_landmarks", [False, True])
def test_covariances_are_those_of_the_mixture(with_landmarks):
    found = head(with_landmarks)
    mean, cov = expected(found, with_landmarks)
    noise = np.einsum("k,kt,kt->t", [ALPHA, OTHER.alpha], WEIGHTS, [
        law.signal for law in found.laws.members
    ])  # fmt: skip
    means, covariances = found.predict(NEW, return_cov=True)
    assert_allclose(means, mean, rtol=1e-5, atol=1e-6)
    identity = np.eye(len(NEW))[:, :, None]
    assert_allclose(covariances, cov + identity * SCALE**2 * noise, rtol=1e-5, atol=1e-7)
    std = found.predict(NEW, return_std=True)[1]
    assert_allclose(np.sqrt(np.einsum("iit->it", covariances)), std, rtol=1e-5)


@pytest.mark.parametrize("with_landmarks", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_functions_of_one_call_have_the_moments_of_the_mixture(monkeypatch, with_landmarks):
    """With few frequencies a function: over functions the covariance is unbiased."""
    monkeypatch.setattr(function_draws, "_N_FREQUENCIES", 20)
    found = head(with_landmarks)
    mean, cov = expected(found, with_landmarks)
    values = found.functions(400, np.random.default_rng(0))(NEW)
    for target in range(2):
        assert_draws(values[:, target], mean[:, target], cov[:, :, target])


TURN = np.array([[1.0, 0.4, 0.0], [-0.3, 0.8, 0.2], [0.1, 0.0, 0.5]])
LEARNED = {
    "laplacian": LearnedKernel(Laplacian((1.0, 2.0, 1.5)), 1e-3),
    "exponential, turned": LearnedKernel(Exponential(3.0), 1e-4, TURN),
    "matern, turned": LearnedKernel(Matern(4.0, nu=2.5), 1e-4, TURN),
}
FAR = np.array([[30.0, 0.0, -20.0], [31.0, 0.5, -20.0]])
BY_ROWS = np.concatenate((TABLE[:3] + 1e-3, NEW, FAR))


def dense(kernel, law, new, n_landmarks):
    """Mean (n, t) and relative covariance (n, n) of the functions of a law of all columns."""
    mean = kernel(new, TABLE[: len(law.coef)]) @ law.coef
    return mean, kernel(new, new) - explained(kernel, TABLE, new, n_landmarks)


def assert_each_call_keeps_the_promise(name, n_landmarks, seed, count=120):
    """Means and covariances of the functions of one call, near the rows and far from them."""
    kernel, all_columns = LEARNED[name], np.arange(3)
    if n_landmarks:
        law = kernel_laws.on_landmarks(
            "", kernel, ROWS, all_columns, (40, n_landmarks), last(30), 1
        )[0]
    else:
        law, _ = kernel_laws.exact("", kernel, ROWS, all_columns, N, last(N), 1)
    found = SumOfLaws(Laws(TABLE, [law]), np.ones((1, 2)), SCORES, np.ones(2))
    mean, relative = dense(kernel, law, BY_ROWS, n_landmarks)
    values = found.functions(count, np.random.default_rng(seed))(BY_ROWS)
    for target in range(2):
        cov = SCALE[target] ** 2 * law.signal[target] * relative
        assert_normal_draws(values[:, target], mean[:, target], cov)


CALLS = [
    *((name, 0, 0) for name in LEARNED),
    ("matern, turned", M, 0),
    *(
        pytest.param(name, n_landmarks, seed, marks=pytest.mark.thorough)
        for name in LEARNED
        for n_landmarks in (0, M)
        for seed in range(1, 5)
    ),
]


@pytest.mark.parametrize(("name", "n_landmarks", "seed"), CALLS)
def test_each_call_keeps_the_promise(name, n_landmarks, seed):
    assert_each_call_keeps_the_promise(name, n_landmarks, seed)


def test_functions_do_not_depend_on_the_rows_that_they_are_asked_at():
    # A function with kinks moves by 1e-8 where its input moves by rounding.
    functions = head().functions(4, np.random.default_rng(0))
    values = functions(BY_ROWS)
    for row in (0, 5, -1):
        assert_allclose(functions(BY_ROWS[[row]])[0], values[row], atol=1e-7)
    assert_allclose(functions[2](BY_ROWS[::-1]), values[::-1, :, 2], atol=1e-7)


def test_gradients_by_columns_are_differences_of_values():
    # Waves of kernels with kinks are too short for differences.
    smooth = LearnedKernel(Matern((1.0, 2.0), nu=2.5), ALPHA, KERNEL.matrix)
    law, _ = kernel_laws.exact("", smooth, ROWS, COLUMNS, N, last(N), 1)
    laws = Laws(TABLE, [law])
    single = SumOfLaws(laws, np.ones((1, 2)), SCORES, np.ones(2))
    functions = single.functions(3, np.random.default_rng(0))
    gradient = functions.gradient(NEW)
    assert gradient.shape == (*NEW.shape, 2, 3)
    for a, step in enumerate(1e-6 * np.eye(3)):
        differences = (functions(NEW + step) - functions(NEW - step)) / 2e-6
        assert_allclose(gradient[:, a], differences, atol=1e-5)

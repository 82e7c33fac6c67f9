"""Functions and joint covariances of sums of laws, against dense Gaussian processes."""

import numpy as np
import pytest
from learning.ensemble.test_kernel_laws import ALPHA, COLUMNS, KERNEL, NEW, TABLE, M, N, Y
from numpy.testing import assert_allclose
from scipy import stats

from bochner.kernels import Laplacian, Matern
from bochner.learning.ensemble import function_draws, kernel_laws
from bochner.learning.ensemble.ensemble import SumOfLaws
from bochner.learning.ensemble.function_draws import drawn_functions
from bochner.learning.ensemble.learner import Laws
from bochner.learning.ensemble.leave_one_out import LearnedKernel
from bochner.learning.ensemble.observations import Observations

FAMILY_ALPHA = 1e-6
OTHER, SECOND = LearnedKernel(Laplacian((1.0, 2.0, 1.5)), 0.2), np.arange(3)
DATA = Observations.of(TABLE, Y, np.random.default_rng(1).uniform(0.5, 1.5, N))
ORDER = np.arange(N)
ROWS = DATA.rows(ORDER)


def last(count):
    return DATA.scored(ORDER, count, np.zeros(count, dtype=int))


WEIGHTS = np.array([[0.7, 0.2], [0.3, 0.8]])
SCALE = np.array([1.3, 1.0])


def head(with_landmarks=False):
    first, _ = kernel_laws.exact("first", KERNEL, ROWS, COLUMNS, N, last(N), 1)
    second = kernel_laws.on_landmarks("second", OTHER, ROWS, SECOND, (40, M), last(30), 1)[0]
    if not with_landmarks:
        second, _ = kernel_laws.exact("second", OTHER, ROWS, SECOND, N, last(N), 1)
    return SumOfLaws(Laws(TABLE, [first, second]), WEIGHTS, np.ones((3, 2)), SCALE, np.ones(2))


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
    assert_allclose(means, mean, rtol=1e-8)
    identity = np.eye(len(NEW))[:, :, None]
    assert_allclose(covariances, cov + identity * SCALE**2 * noise, rtol=1e-5, atol=1e-7)
    std = found.predict(NEW, return_std=True)[1]
    assert_allclose(np.sqrt(np.einsum("iit->it", covariances)), std, rtol=1e-9)


@pytest.mark.parametrize("with_landmarks", [False, True])
def test_functions_have_the_joint_posterior(monkeypatch, with_landmarks):
    """Over draws of features, which are few: their covariance is unbiased."""
    monkeypatch.setattr(function_draws, "_N_FREQUENCIES", 20)
    found, size, batches = head(with_landmarks), 40, 150
    mean, cov = expected(found, with_landmarks)
    rng = np.random.default_rng(0)
    sums, products = np.empty((batches, *mean.shape)), np.empty((batches, *cov.shape))
    for batch in range(batches):
        values = drawn_functions(found, size, rng)(NEW)
        deviation = values - mean[:, :, None]
        sums[batch] = values.mean(axis=-1)
        products[batch] = np.einsum("its,jts->ijt", deviation, deviation) / size
    bound = stats.norm.isf(FAMILY_ALPHA / (2 * (mean.size + cov.size)))
    for each, truth in ((sums, mean), (products, cov)):
        error = each.std(axis=0, ddof=1) / np.sqrt(batches)
        assert (np.abs(each.mean(axis=0) - truth) < bound * error).all()


def test_gradients_by_columns_are_differences_of_values():
    # Waves of kernels with kinks are too short for differences.
    smooth = LearnedKernel(Matern((1.0, 2.0), nu=2.5), ALPHA, KERNEL.matrix)
    law, _ = kernel_laws.exact("", smooth, ROWS, COLUMNS, N, last(N), 1)
    laws = Laws(TABLE, [law])
    single = SumOfLaws(laws, np.ones((1, 2)), np.ones((3, 2)), SCALE, np.ones(2))
    functions = drawn_functions(single, 3, np.random.default_rng(0))
    gradient = functions.gradient(NEW)
    assert gradient.shape == (*NEW.shape, 2, 3)
    for a, step in enumerate(1e-6 * np.eye(3)):
        differences = (functions(NEW + step) - functions(NEW - step)) / 2e-6
        assert_allclose(gradient[:, a], differences, atol=1e-5)

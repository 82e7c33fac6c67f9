"""Means and variances by compiled loops are those of dense matrices of the public kernels."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner.kernels import Exponential, Gaussian, Laplacian, Matern
from bochner.tables import base_laws
from bochner.tables.base_laws import Laws
from bochner.tables.kernel_laws import KernelLaw
from bochner.tables.leave_one_out import LearnedKernel
from bochner.tables.trees import TreeInputs

N, M = 700, 40
SHARED = np.r_[0, 1, [2] * 5, 3, [4] * 3]
BLOCKS = TreeInputs.of(np.arange(len(SHARED)), SHARED)
KERNELS = {
    "Laplacian": Laplacian,
    "Gaussian": Gaussian,
    "Exponential": Exponential,
    "Matern-3/2": lambda scale: Matern(scale, nu=1.5),
    "Matern-5/2": lambda scale: Matern(scale, nu=2.5),
}


def table(n_rows, seed):
    rng = np.random.default_rng(seed)
    first, second = (np.eye(width)[rng.integers(0, width, n_rows)] for width in (5, 3))
    numbers = rng.normal(size=(n_rows, 3))
    return np.hstack([numbers[:, :2], first, numbers[:, 2:], second])


ROWS, NEW = table(N, 0), table(600, 1)


def law_of(name="Matern-5/2", alpha=1.0, columns=None, scales=None, mapped=False):
    """A law with coefficients that targets with such noise would have."""
    rng = np.random.default_rng(2)
    columns = np.arange(len(SHARED)) if columns is None else columns
    scales = rng.uniform(1.0, 3.0, 5)[SHARED] if scales is None else scales
    scale = 1.5 if mapped else tuple(scales[columns])
    matrix = rng.normal(size=(len(columns),) * 2) / 4.0 if mapped else None
    learned = LearnedKernel(KERNELS[name](scale), alpha, matrix)
    coef = rng.normal(size=(N, 2)) / np.sqrt(alpha)
    factor = np.tril(rng.normal(size=(M, M)) / M).astype(np.float32)
    return KernelLaw("law", learned, columns, coef, factor, np.array([1.0, 2.0]))


def dense(law, X, count):
    """Values of the public kernel, of the images of rows."""
    X, Z = X[:, law.columns], ROWS[:count, law.columns]
    if law.found.matrix is not None:
        X, Z = X @ law.found.matrix, Z @ law.found.matrix
    return law.found.kernel(X, Z)


def assert_dense(law, X=NEW, blocks=BLOCKS, atol=1e-3):
    laws = Laws(ROWS, [law], blocks)
    noise = np.sqrt(law.found.alpha * law.signal)
    errors = laws.means(X)[:, 0] - dense(law, X, N) @ law.coef
    assert np.abs(errors / noise).max() < atol
    explained = np.sum((dense(law, X, M) @ law.factor) ** 2, axis=1)
    weight = np.random.default_rng(3).uniform(0.5, 2.0, len(X))
    relative = np.maximum(1.0 - explained, 0.0) + law.found.alpha / weight
    variances = laws.variances(X, weight)[:, 0]
    assert_allclose(variances, relative[:, None] * law.signal, rtol=1e-5)
    return laws._prepared[1][0]


@pytest.mark.thorough
def test_loops_are_the_public_kernels_in_the_precision_that_the_noise_needs():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base_laws, "_LEAST_SINGLE_ROWS", N)
        for name in KERNELS:
            for mapped in (False, True):
                single = assert_dense(law_of(name, mapped=mapped))
                assert single.of_means.values.dtype == np.float32
                assert single.of_variances.values.dtype == np.float32
                assert len(single.kernel.used) == (0 if mapped else 2)
                double = assert_dense(law_of(name, 1e-6, mapped=mapped), atol=1e-6)
                assert double.of_means.values.dtype == np.float64


def test_rows_without_one_level_of_each_block():
    X = NEW.copy()
    X[3, 2:7] = 0.0
    X[300, 8:] = [0.5, 0.5, 0.0]
    assert_dense(law_of(), X)
    assert_dense(law_of(), X, None)


def test_equal_blocks_are_looked_up_once_where_new_rows_have_them_too():
    rows, new = (np.hstack([X, X[:, 2:7]]) for X in (ROWS, NEW))
    found = LearnedKernel(Laplacian(tuple(np.linspace(1.0, 2.0, 5)[np.r_[SHARED, [2] * 5]])), 1.0)
    law = replace(law_of(), columns=np.arange(16), found=found)
    laws = Laws(rows, [law], TreeInputs.of(np.arange(16), np.r_[SHARED, [5] * 5]))
    assert_array_equal(laws._prepared[0].twin, [0, 1, 0])
    assert len(laws._prepared[1][0].kernel.used) == 2
    for X in (new, np.hstack([NEW, NEW[::-1, 2:7]])):
        assert_allclose(laws.means(X)[:, 0], found.kernel(X, rows) @ law.coef, atol=1e-4)


def test_predictions_do_not_depend_on_the_rows_next_to_them():
    laws = Laws(ROWS, [law_of(), law_of("Laplacian")], BLOCKS)
    one_by_one = np.concatenate([laws.means(NEW[i : i + 1]) for i in range(20)])
    assert_array_equal(one_by_one, laws.means(NEW)[:20])


def test_similar_rows_have_the_values_of_the_public_kernels():
    """Rows differ from the one before in few columns, in one far out, or in all columns."""
    exchanged = np.repeat(NEW[:40], 12, axis=0)
    for column, row in enumerate(exchanged):
        block = [[0], [1], range(2, 7), [7], range(8, 11), []][column % 6]
        row[list(block)] = NEW[100 + column, list(block)]
    exchanged[5, 0], exchanged[7, 7] = 1e4, -300.0
    for name in KERNELS:
        for alpha, atol in ((1.0, 1e-3), (1e-6, 1e-6)):
            law = law_of(name, alpha)
            for X in (exchanged, exchanged[:1], NEW):
                means = Laws(ROWS, [law], BLOCKS).means(X, are_similar=True)[:, 0]
                errors = (means - dense(law, X, N) @ law.coef) / np.sqrt(alpha * law.signal)
                assert np.abs(errors).max() < atol

"""Choosing parameters of kernels by the evidence of sampled features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.stats import t

from bochner import kernels
from bochner.features.chunks import Chunk
from bochner.linear import kernel_selection as selection
from bochner.linear import ridge_search as ridge_search
from bochner.linear.kernel_selection import SearchStage, select_kernel
from bochner.linear.ridge_search import GramSearch


def selected(kernel, X, Y, m=64, alpha=None, seed=0, scheme="orthogonal", **options):
    rows = Chunk(X, Y[:, None] if Y.ndim == 1 else Y, options.pop("weight", None))
    rng = np.random.default_rng(seed)
    return select_kernel(kernel, rows, m, scheme, alpha, rng, **options)


def relevant(n=600, seed=0):
    """Return rows of four inputs, of which the last one is irrelevant, and noisy values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    f = np.sin(3.0 * X[:, 0]) + np.sin(1.0 * X[:, 1]) + 0.5 * np.cos(X[:, 2])
    return X, f + 0.1 * rng.normal(size=n)


@pytest.mark.thorough
def test_length_scales_of_a_known_process_are_recovered():
    """The mean of the logarithms over draws, by its standard error; features are many enough."""
    true = np.array([1.0, 3.0])
    logs = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-3.0, 3.0, size=(300, 2))
        K = kernels.Gaussian(tuple(true))(X)
        f = np.linalg.cholesky(K + 1e-8 * np.eye(len(X))) @ rng.normal(size=len(X))
        y = f + 0.3 * rng.normal(size=len(X))
        logs.append(
            np.log(selected("gaussian", X, y, m=128, seed=seed, scheme="energy").length_scale)
        )
    error = np.std(logs, axis=0, ddof=1) / np.sqrt(len(logs))
    assert error.max() < 0.2
    assert (np.abs(np.mean(logs, axis=0) - np.log(true)) < t.isf(5e-4, 4) * error).all()


@pytest.mark.thorough
def test_units_of_columns_do_not_matter():
    X, y = relevant(300)
    units = np.array([1.0, 1e-3, 1e4, 7.0])
    scale = np.array(selected("matern52", X, y).length_scale)
    other = np.array(selected("matern52", units * X, 10.0 * y).length_scale)
    assert_allclose(other / units, scale, rtol=1e-12)
    moved = np.array(selected("matern52", units * X + 3.0 * units, y).length_scale)
    assert_allclose(moved / units, scale, rtol=1e-3)


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_rounding_does_not_decide_between_maxima(kernel):
    """Repeated rows, another order and another unit of the targets change their last digits."""
    X, y = relevant(60)
    scale = selected(kernel, X, y).length_scale
    order = np.random.default_rng(1).permutation(len(y))
    for again in (
        selected(kernel, X, 3.7 * y).length_scale,
        np.array(selected(kernel, 7.3 * X, y).length_scale) / 7.3,
        selected(kernel, X[order], y[order]).length_scale,
    ):
        assert_allclose(again, scale, rtol=1e-12)
    times = 1 + np.arange(len(y)) % 2
    for rows in (X, sparse.csr_array(X)):
        weighted = selected(kernel, rows, y, weight=times.astype(float))
        twice = np.repeat(np.arange(len(y)), times)
        repeated = selected(kernel, rows[twice], y[twice])
        assert_allclose(repeated.length_scale, weighted.length_scale, rtol=1e-12)


def test_a_mixture_finds_a_period():
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0.0, 10.0, size=(300, 1)), axis=0)
    y = np.sin(2 * np.pi * X[:, 0] / 1.5) + 0.1 * rng.normal(size=300)
    start = kernels.SpectralMixture([0.5, 0.5], [[0.0], [4.0]], [0.5, 0.1])
    found = selected(start, X, y, m=64)
    strongest = np.argmax(found.weights * (np.abs(np.ravel(found.means)) > 1.0))
    assert np.abs(found.means[strongest][0]) == pytest.approx(2 * np.pi / 1.5, rel=0.05)
    assert sum(found.weights) == pytest.approx(1.0)


def test_few_rows_have_the_exact_evidence(monkeypatch):
    """The last stage has the exact evidence up to twice as many rows as frequencies."""
    made = []
    monkeypatch.setattr(
        selection, "GramSearch", lambda *rest: made.append(len(rest[1])) or GramSearch(*rest)
    )
    monkeypatch.setattr(selection, "_STAGES", [SearchStage(1000, 128, 1)] * 3)
    for n in (31, 32, 33):
        X, y = relevant(n)
        selected("gaussian", X, y, m=16)
    assert made == [31, 32]

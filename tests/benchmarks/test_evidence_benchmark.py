"""The benchmark of learned length scales."""

import numpy as np
import pytest
from pages import metrics_of
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from benchmarks import read_rows
from benchmarks.evidence import design
from benchmarks.evidence.approximation import exact_posterior
from benchmarks.evidence.training import standardised
from bochner.kernels import Gaussian

RNG = np.random.default_rng(0)


def test_the_exact_posterior_is_that_of_scikit_learn():
    X, new, alpha = RNG.normal(size=(40, 2)), RNG.normal(size=(7, 2)), 0.3
    y = np.sin(X[:, 0])
    mean, std = exact_posterior(Gaussian((0.8, 1.5)), alpha, X, y, new)
    K = Gaussian((0.8, 1.5))(X) / alpha + np.eye(40)
    noise = y @ np.linalg.solve(K, y) / 40
    kernel = ConstantKernel(noise / alpha) * RBF([0.8, 1.5]) + WhiteKernel(noise)
    theirs = GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0).fit(X, y)
    expected = theirs.predict(new, return_std=True)
    np.testing.assert_allclose(mean, expected[0], rtol=1e-8)
    np.testing.assert_allclose(std, expected[1], rtol=1e-8)


def test_standardised_by_training_rows():
    X, y, is_test = RNG.normal(3.0, 2.0, (50, 2)), RNG.normal(size=50), np.arange(50) >= 40
    (train, target, new, new_target), scale = standardised(X, y, is_test)
    assert train.mean() == pytest.approx(0.0, abs=1e-12)
    assert (len(train), len(new)) == (40, 10)
    assert target.std() == pytest.approx(1.0)
    np.testing.assert_allclose(new * X[:40].std(axis=0) + X[:40].mean(axis=0), X[40:])
    np.testing.assert_allclose(new_target * scale + y[:40].mean(), y[40:])


def test_quick_run(quick_run):
    rows = read_rows(quick_run("evidence"))
    for found in metrics_of(rows, "training").values():
        assert {"rmse", "nlpd", "fit_seconds"} <= found
    for found in metrics_of(rows, "approximation").values():
        assert {"mean_error", "std_error", "rmse_ratio", "nlpd_gap"} <= found
    (found,) = metrics_of(rows, "generated").values()
    assert {"fit_seconds", "peak_megabytes", "function_rmse"} <= found
    errors = {
        (row["method"], row["p"]): row["value"] for row in rows if row["metric"] == "std_error"
    }
    few, many = design.QUICK_APPROXIMATIONS
    assert all(errors[scheme, many] < errors[scheme, few] for scheme in design.SCHEMES)

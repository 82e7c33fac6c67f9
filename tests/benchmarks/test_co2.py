"""The forecast of carbon dioxide."""

import numpy as np
import pytest

from bochner import datasets
from bochner.benchmarks.co2 import co2_kernel, co2_split, compare_co2, fit_co2
from bochner.benchmarks.contenders import LINEAR, OURS, TREES, evaluate


@pytest.fixture(scope="module")
def split():
    return co2_split()


def test_the_last_ten_years_are_held_out(split):
    assert split.X.max() < split.X_test.min()
    assert split.X_test.max() - split.X_test.min() == pytest.approx(10.0, abs=0.05)
    record = datasets.load("mauna_loa_co2_weekly")
    assert len(split.y) + len(split.y_test) == np.isfinite(record.y).sum()
    assert np.isfinite(split.y).all()


@pytest.mark.parametrize("variance", [10.0, 100.0])
def test_the_kernel_is_positive_definite(split, variance):
    years = np.vstack([split.X, split.X_test])[::17]
    kernel = co2_kernel(50.0, variance)
    gram = kernel(years)
    np.testing.assert_allclose(gram, gram.T)
    eigenvalues = np.linalg.eigvalsh(gram)
    assert eigenvalues.min() > -1e-10 * eigenvalues.max()
    total = variance + 0.02 * (1.0 + 1.0 / 4.0 + 1.0 / 9.0) + 0.003
    np.testing.assert_allclose(np.diagonal(gram), total)


def test_seasons_return_after_a_year():
    kernel = co2_kernel(100.0, 10.0)
    half, whole = (float(kernel(np.zeros((1, 1)), np.full((1, 1), t))[0, 0]) for t in (0.5, 1.0))
    assert whole > half


def test_the_model_is_ahead_in_the_held_out_decade(split):
    model = fit_co2(split, 256, 0)
    results = compare_co2(split, model, 64, 0)
    assert results[OURS] == evaluate(model, split)
    assert results[OURS]["rmse"] < 0.5 * results[LINEAR]["rmse"]
    assert results[OURS]["rmse"] < 0.5 * results[TREES]["rmse"]
    assert results[OURS]["coverage"] > 0.7


def test_the_trend_is_the_one_of_greatest_evidence(split):
    few = type(split)(split.X[::8], split.y[::8], split.X_test, split.y_test, split.task)
    best = fit_co2(few, 64, 0)
    for years in (25.0, 50.0, 100.0):
        for variance in (10.0, 100.0):
            other = type(best)(**best.get_params() | {"kernel": co2_kernel(years, variance)})
            assert other.fit(few.X, few.y).log_evidence_ <= best.log_evidence_

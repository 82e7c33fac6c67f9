"""Quick runs of the benchmarks of learned kernels: methods have what they can have."""

import pytest
from pages import metrics_of

from benchmarks import read_rows
from benchmarks.bank import design as bank
from benchmarks.digmm import design as digmm
from benchmarks.gabasr import design as gabasr


@pytest.fixture
def metrics(quick_run):
    """Return a function from benchmark and part to the names of metrics by data set and method."""
    return lambda name, part="accuracy": metrics_of(read_rows(quick_run(name)), part)


def methods_on(found, name):
    return {method for dataset, method in found if dataset == name}


def test_bank(metrics):
    found = metrics("bank")
    regression, classification = bank.BUNDLED_REGRESSION, bank.BUNDLED_CLASSIFICATION
    assert methods_on(found, regression) == {
        bank.OURS, bank.RANKS, bank.MH, bank.RKS, bank.MKL, bank.ALAC, bank.TREES
    }  # fmt: skip
    assert methods_on(found, classification) == {
        bank.OURS, bank.RKS, bank.MKL, bank.RFO, bank.TREES
    }  # fmt: skip
    for method in (bank.OURS, bank.RANKS, bank.MH, bank.ALAC):
        assert {"mse", "coverage", "nlpd", "fit_seconds"} <= found[regression, method]
    for method in methods_on(found, classification):
        assert {"error", "nlpd", "fit_seconds"} <= found[classification, method]


def test_gabasr(metrics):
    found = metrics("gabasr")
    regression, classification = gabasr.BUNDLED_REGRESSION, gabasr.BUNDLED_CLASSIFICATION
    assert methods_on(found, classification) == set(gabasr.METHODS)
    assert methods_on(found, regression) == set(gabasr.METHODS) - {gabasr.PUBLISHED}
    for (name, method), has in found.items():
        is_sampled = method in (gabasr.OURS, gabasr.PUBLISHED, gabasr.BANK)
        has_density = is_sampled
        if name == classification:
            has_density = method not in (gabasr.LINEAR_SVM, gabasr.RBF_SVM)
        assert ({"auc", "error"} if name == classification else {"mse", "r2"}) <= has
        assert (("n_draws" in has), ("nlpd" in has)) == (is_sampled, has_density)


def test_digmm(metrics, quick_run):
    accuracy, error = metrics("digmm"), metrics("digmm", "error")
    known = {*digmm.ACCURACY_METHODS, digmm.LINEAR, digmm.BEST}
    assert methods_on(accuracy, digmm.BUNDLED) == known
    assert all({"accuracy", "C"} <= has for has in accuracy.values())
    assert {"candidate", "choice_seconds"} <= accuracy[digmm.BUNDLED, digmm.BEST]
    assert methods_on(error, digmm.BUNDLED) == set(digmm.ERROR_METHODS)
    asked = {"rmse", "relative_error", "test_rmse", "fit_seconds"}
    assert all(asked <= has for has in error.values())
    for method in digmm.DIGMMS:
        has = metrics("digmm", "convergence")[digmm.BUNDLED, method]
        assert {"n_iter", "change(1)", "bound(1)"} <= has
        for part in ("sketch", "truncation"):
            assert {"accuracy", "rmse"} <= metrics("digmm", part)[digmm.BUNDLED, method]
    bounds = {"accuracy": (0.6, 1.0), "relative_error": (0.0, 2.0)}
    for row in read_rows(quick_run("digmm")):
        low, high = bounds.get(row["metric"], (-float("inf"), float("inf")))
        assert low < float(row["value"]) <= high or row["metric"] not in bounds

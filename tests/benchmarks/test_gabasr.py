"""The benchmark of locally stationary kernels, run small."""

import pytest
from pages import metrics_of

from benchmarks import Options, read_rows
from benchmarks.gabasr import design

QUICK = Options(quick=True)


@pytest.fixture(scope="module")
def quick(quick_run):
    return quick_run("gabasr")


def test_methods_have_what_they_can_have(quick):
    found = metrics_of(read_rows(quick), "accuracy")
    regression, classification = design.BUNDLED_REGRESSION, design.BUNDLED_CLASSIFICATION
    methods = {
        name: {method for other, method in found if other == name}
        for name in (regression, classification)
    }
    assert methods[classification] == set(design.METHODS)
    assert methods[regression] == set(design.METHODS) - {design.PUBLISHED}
    for (name, method), metrics in found.items():
        assert ({"auc", "error"} if name == classification else {"mse", "r2"}) <= metrics
        assert ("n_draws" in metrics) == (method in (design.OURS, design.PUBLISHED, design.BANK))
        has_density = method in (design.OURS, design.PUBLISHED, design.BANK)
        if name == classification:
            has_density = method not in (design.LINEAR_SVM, design.RBF_SVM)
        assert ("nlpd" in metrics) == has_density

"""The benchmark of learned kernels, run small."""

import pytest
from pages import metrics_of

from benchmarks import Options, read_rows
from benchmarks.bank import design

QUICK = Options(quick=True)


@pytest.fixture(scope="module")
def quick(quick_run):
    return quick_run("bank")


def test_methods_have_what_they_can_have(quick):
    found = metrics_of(read_rows(quick), "accuracy")
    regression, classification = design.BUNDLED_REGRESSION, design.BUNDLED_CLASSIFICATION
    assert {method for name, method in found if name == regression} == {
        design.OURS, design.RANKS, design.MH, design.RKS, design.MKL, design.ALAC, design.TREES
    }  # fmt: skip
    assert {method for name, method in found if name == classification} == {
        design.OURS, design.RKS, design.MKL, design.RFO, design.TREES
    }  # fmt: skip
    for method in (design.OURS, design.RANKS, design.MH, design.ALAC):
        assert {"mse", "coverage", "nlpd", "fit_seconds"} <= found[regression, method]
    for (name, _), metrics in found.items():
        if name == classification:
            assert {"error", "nlpd", "fit_seconds"} <= metrics

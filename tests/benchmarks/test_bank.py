"""The benchmark of learned kernels, run small."""

from pathlib import Path

import pytest
from pages import metrics_of

from benchmarks import Options, read_rows
from benchmarks.bank import design
from benchmarks.bank.benchmark import BANK

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


def test_the_full_design(tmp_path):
    """Every data set, five folds, ours first and then ``mh``, which needs its seconds."""
    cells = [
        cell
        for cell in BANK.cells(Options(data=Path(tmp_path)))
        if cell.settings["part"] == "accuracy"
    ]
    assert {cell.dataset for cell in cells} == set(design.PAPER)
    assert {cell.seed for cell in cells} == set(range(5))
    assert {cell.settings["m"] for cell in cells} == {384}
    for place, cell in enumerate(cells):
        if cell.method == design.MH:
            before = cells[place - 1]
            assert (before.dataset, before.seed) == (cell.dataset, cell.seed)
            assert before.method == design.OURS
    assert {c.dataset for c in cells if c.method == design.MH} == {"airfoil", "concrete"}
    ranked = {c.dataset for c in cells if c.method == design.RANKS}
    assert ranked == {"airfoil", "concrete", "bike_hourly"}

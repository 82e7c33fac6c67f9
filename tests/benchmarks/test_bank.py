"""The benchmark of learned kernels, run small."""

import re
from pathlib import Path

import pytest
from pages import metrics_of

from benchmarks import Options, find, read_rows, render, run
from benchmarks.bank import design
from benchmarks.bank.benchmark import BANK, VIEWS
from benchmarks.figures import FIGURES

QUICK = Options(quick=True)


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    return run(BANK, out=tmp_path_factory.mktemp("bank"), quick=True)


@pytest.fixture(scope="module")
def written(quick):
    page, *figures = render(BANK, quick, FIGURES["bank"])
    return page.read_text(encoding="utf-8"), figures


def test_the_benchmark_has_its_name():
    assert find("bank") is BANK


def test_the_quick_design_is_measured_whole(quick):
    rows = read_rows(quick)
    measured = [row for row in rows if row["metric"] == "seconds"]
    assert len(measured) == len(list(BANK.cells(QUICK)))
    assert {row["part"] for row in rows} == set(design.PARTS)


def test_methods_have_what_they_can_have(quick):
    found = metrics_of(read_rows(quick), design.ACCURACY)
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


def test_a_finished_run_measures_nothing_again(quick):
    before = quick.read_bytes()
    assert run(BANK, out=quick.parent, quick=True) == quick
    assert quick.read_bytes() == before


def test_every_view_is_drawn_and_shown(written):
    text, figures = written
    shown = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert shown == [figure.name for figure in figures]
    assert shown == [f"bank-quick-{view.name}.svg" for view in VIEWS]
    for figure in figures:
        assert figure.read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_the_page_says_which_classes_and_which_rows(written):
    text, _ = written
    assert "Rad Flow" in text
    assert "50,000 rows for RKS" in text


def test_the_full_design(tmp_path):
    """Every data set, five folds, ours first and then ``mh``, which needs its seconds."""
    cells = [
        cell
        for cell in BANK.cells(Options(data=Path(tmp_path)))
        if cell.settings["part"] == design.ACCURACY
    ]
    assert {cell.dataset for cell in cells} == set(design.ASKED) == set(design.PAPER)
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


def test_the_benchmark_can_be_made_and_is_tried_in_ci():
    root = Path(__file__).parents[2]
    assert "bench-bank:" in (root / "Makefile").read_text(encoding="utf-8")
    assert "bench bank" in (root / ".ci" / "run").read_text(encoding="utf-8")

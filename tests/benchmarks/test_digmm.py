"""The benchmark of double mixtures, run small."""

import re
from collections import Counter
from pathlib import Path

import pytest
from pages import metrics_of, table_lines

from benchmarks import Options, find, read_rows, render, run
from benchmarks.digmm import design
from benchmarks.digmm.benchmark import DIGMM, VIEWS
from benchmarks.figures import FIGURES

QUICK = Options(quick=True)
NAME = design.BUNDLED


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    return run(DIGMM, out=tmp_path_factory.mktemp("digmm"), quick=True)


@pytest.fixture(scope="module")
def written(quick):
    page, *figures = render(DIGMM, quick, FIGURES["digmm"])
    return page.read_text(encoding="utf-8"), figures


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return list(DIGMM.cells(Options(data=Path(tmp_path_factory.mktemp("data")))))


def test_the_benchmark_has_its_name():
    assert find("digmm") is DIGMM


def test_the_quick_design_is_measured_whole(quick):
    rows = read_rows(quick)
    measured = [row for row in rows if row["metric"] == "seconds"]
    assert len(measured) == len(list(DIGMM.cells(QUICK)))
    assert {row["part"] for row in rows} == set(design.PARTS)


def test_methods_have_what_they_can_have(quick):
    rows = read_rows(quick)
    accuracy = metrics_of(rows, design.ACCURACY)
    known = (*design.ACCURACY_METHODS, design.LINEAR, design.BEST)
    assert {method for _, method in accuracy} == set(known)
    assert all({"accuracy", "C"} <= metrics for metrics in accuracy.values())
    assert {"candidate", "choice_seconds"} <= accuracy[NAME, design.BEST]
    error = metrics_of(rows, design.ERROR)
    assert {method for _, method in error} == set(design.ERROR_METHODS)
    asked = {"rmse", "relative_error", "test_rmse", "fit_seconds"}
    assert all(asked <= found for found in error.values())
    for method in design.DIGMMS:
        ascent = metrics_of(rows, design.CONVERGENCE)[NAME, method]
        assert {"n_iter", "change(1)", "bound(1)"} <= ascent
        for part in (design.SKETCH, design.TRUNCATION):
            assert {"accuracy", "rmse"} <= metrics_of(rows, part)[NAME, method]


def test_accuracies_and_errors_are_of_the_size_to_be_expected(quick):
    for row in read_rows(quick):
        if row["metric"] == "accuracy":
            assert 0.6 < float(row["value"]) <= 1.0
        if row["metric"] == "relative_error":
            assert 0.0 < float(row["value"]) < 2.0


def test_a_finished_run_measures_nothing_again(quick):
    before = quick.read_bytes()
    assert run(DIGMM, out=quick.parent, quick=True) == quick
    assert quick.read_bytes() == before


def test_every_figure_is_drawn_and_shown(written):
    text, figures = written
    shown = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert shown == [figure.name for figure in figures]
    # One iteration of the published updates may leave no change to draw.
    names = [f"digmm-quick-{view.name}.svg" for view in VIEWS if view.name != "changes"]
    assert [name for name in shown if name != "digmm-quick-changes.svg"] == names
    for figure in figures:
        assert figure.read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_the_page_has_a_line_for_every_cell(written):
    lines = table_lines(written[0])
    for kernel in design.SIMILARITIES:
        assert f"**{kernel}**" in written[0]
    assert f"{NAME}, {design.LINEAR}" in lines
    assert f"{NAME}, {design.BEST}, M = 1 d" in lines


def accuracy_cells(cells):
    return [cell for cell in cells if cell.settings["part"] == design.ACCURACY]


def test_the_full_design_has_all_tables(full):
    """Four kernels on five data sets at four sizes; two kernels on digits at one."""
    cells = {
        (cell.dataset, cell.settings["kernel"], cell.settings["size"])
        for cell in accuracy_cells(full)
        if cell.method == design.EXACT
    }
    expected = {
        (name, kernel, size)
        for name in design.TABLES
        for kernel in design.SIMILARITIES
        for size in (2, 8, 16, 32)
    }
    assert cells == expected | {(design.MNIST, kernel, 2) for kernel in design.FIGURE_KERNELS}


def test_the_full_design_has_the_other_studies(full):
    studied = Counter(str(cell.settings["part"]) for cell in full)
    assert set(studied) == set(design.PARTS)
    options = {
        part: {cell.settings["option"] for cell in full if cell.settings["part"] == part}
        for part in (design.TRUNCATION, design.SHIFT, design.SKETCH)
    }
    assert options[design.TRUNCATION] == {1, 5, 10}
    assert options[design.SHIFT] == {1.1, 2.0, 5.0, 10.0, 20.0}
    assert options[design.SKETCH] == {2, 5, 10, 50, 100}
    ascents = [cell for cell in full if cell.settings["part"] == design.CONVERGENCE]
    assert {cell.dataset for cell in ascents} == set(design.TABLES)


def test_maclaurin_features_are_of_polynomials_alone(full):
    kernels = {cell.settings["kernel"] for cell in full if cell.method == design.MACLAURIN}
    assert kernels == {design.POLYNOMIAL}


@pytest.mark.parametrize(
    ("name", "seeds"),
    [
        (design.IJCNN1, [5, 2, 1, 1]),
        (design.COVTYPE, [2, 1, 1, 1]),
        (design.SKIN, [10, 10, 5, 5]),
        (design.EEG, [10, 5, 5, 2]),
        (design.SPAMBASE, [10, 5, 2, 2]),
        (design.MNIST, [1]),
    ],
)
def test_large_cells_have_few_seeds(full, name, seeds):
    found = Counter(
        cell.settings["size"]
        for cell in accuracy_cells(full)
        if (cell.dataset, cell.method, cell.settings["kernel"])
        == (name, design.TAYLOR, design.POLYNOMIAL)
    )
    assert [found[size] for size in sorted(found)] == seeds


def test_the_benchmark_can_be_made():
    makefile = Path(__file__).parents[2] / "Makefile"
    assert "bench-digmm:" in makefile.read_text(encoding="utf-8")

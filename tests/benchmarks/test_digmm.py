"""The benchmark of double mixtures, run small."""

from collections import Counter
from pathlib import Path

import pytest
from pages import metrics_of, table_lines

from benchmarks import Options, read_rows, render
from benchmarks.digmm import design
from benchmarks.digmm.benchmark import DIGMM

QUICK = Options(quick=True)
NAME = design.BUNDLED


@pytest.fixture(scope="module")
def quick(quick_run):
    return quick_run("digmm")


@pytest.fixture(scope="module")
def written(quick):
    page, *figures = render(DIGMM, quick)
    return page.read_text(encoding="utf-8"), figures


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return list(DIGMM.cells(Options(data=Path(tmp_path_factory.mktemp("data")))))


def test_methods_have_what_they_can_have(quick):
    rows = read_rows(quick)
    accuracy = metrics_of(rows, "accuracy")
    known = (*design.ACCURACY_METHODS, design.LINEAR, design.BEST)
    assert {method for _, method in accuracy} == set(known)
    assert all({"accuracy", "C"} <= metrics for metrics in accuracy.values())
    assert {"candidate", "choice_seconds"} <= accuracy[NAME, design.BEST]
    error = metrics_of(rows, "error")
    assert {method for _, method in error} == set(design.ERROR_METHODS)
    asked = {"rmse", "relative_error", "test_rmse", "fit_seconds"}
    assert all(asked <= found for found in error.values())
    for method in design.DIGMMS:
        ascent = metrics_of(rows, "convergence")[NAME, method]
        assert {"n_iter", "change(1)", "bound(1)"} <= ascent
        for part in ("sketch", "truncation"):
            assert {"accuracy", "rmse"} <= metrics_of(rows, part)[NAME, method]


def test_accuracies_and_errors_are_of_the_size_to_be_expected(quick):
    for row in read_rows(quick):
        if row["metric"] == "accuracy":
            assert 0.6 < float(row["value"]) <= 1.0
        if row["metric"] == "relative_error":
            assert 0.0 < float(row["value"]) < 2.0


def test_the_page_has_a_line_for_every_cell(written):
    lines = table_lines(written[0])
    for kernel in design.SIMILARITIES:
        assert f"**{kernel}**" in written[0]
    assert f"{NAME}, {design.LINEAR}" in lines
    assert f"{NAME}, {design.BEST}, M = 1 d" in lines


def accuracy_cells(cells):
    return [cell for cell in cells if cell.settings["part"] == "accuracy"]


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
    assert set(studied) == {part.name for part in DIGMM.parts}
    options = {
        part: {cell.settings["option"] for cell in full if cell.settings["part"] == part}
        for part in ("truncation", "shift", "sketch")
    }
    assert options["truncation"] == {1, 5, 10}
    assert options["shift"] == {1.1, 2.0, 5.0, 10.0, 20.0}
    assert options["sketch"] == {2, 5, 10, 50, 100}
    ascents = [cell for cell in full if cell.settings["part"] == "convergence"]
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

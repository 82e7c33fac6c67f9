"""The benchmark of double mixtures, run small."""

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

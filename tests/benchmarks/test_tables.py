"""The benchmark of test errors on tables."""

import numpy as np
import pytest

from benchmarks import read_rows, render
from benchmarks.tables import TABLES
from bochner.comparison.contenders import MORE_CONTENDERS, OURS, RBF_SAMPLER


@pytest.fixture(scope="module")
def quick(quick_run):
    return quick_run("tables")


def test_the_quick_design_is_measured_whole(quick):
    rows = read_rows(quick)
    keys = {(row["dataset"], row["method"], row["seed"], row["n_components"]) for row in rows}
    assert keys == {(name, method, 0, 128) for name in ("diabetes", "breast_cancer")
                    for method in MORE_CONTENDERS}  # fmt: skip
    errors = {(row["dataset"], row["method"]): row["value"] for row in rows
              if row["metric"] == "error"}  # fmt: skip
    assert all(0.0 < errors["diabetes", method] < 1.0 for method in MORE_CONTENDERS)
    assert all(0.0 <= errors["breast_cancer", method] < 0.15 for method in MORE_CONTENDERS)
    (coverage,) = (row["value"] for row in rows if row["metric"] == "coverage")
    assert 0.75 < coverage <= 1.0


def test_the_tables_say_what_the_rows_say(quick):
    (page,) = render(TABLES, quick)
    text = page.read_text(encoding="utf-8")
    error = {
        row["method"]: row["value"]
        for row in read_rows(quick)
        if row["dataset"] == "diabetes" and row["metric"] == "error"
    }
    ratio = error[OURS] / error[RBF_SAMPLER]
    assert f"{ratio:.2f} ({ratio:.2f} to {ratio:.2f})" in text
    line = next(line for line in text.splitlines() if "diabetes" in line)
    shown = [float(cell) for cell in line.strip("| ").split("|")[1:]]
    np.testing.assert_allclose(shown, [error[method] for method in MORE_CONTENDERS], rtol=0.02)


def row(method, seed, metric, value):
    return {"dataset": "toy", "method": method, "seed": seed, "metric": metric, "value": value}


def test_ratios_are_taken_split_by_split():
    rows = [
        row(method, seed, metric, value)
        for metric in ("error", "fit_seconds")
        for method, values in ((OURS, (1.0, 2.0, 9.0)), (RBF_SAMPLER, (4.0, 2.0, 10.0)))
        for seed, value in enumerate(values)
    ]
    text = TABLES.page(rows)
    assert "0.90 (0.25 to 1.00)" in text

"""Figures that pages show are those of the committed results."""

import sys

import pytest
from docs.test_pages import ROOT

sys.path.insert(0, str(ROOT / "docs"))

import measured


def test_the_figures_of_the_readme_are_those_of_the_results():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert measured.filled(readme) == readme, "run: python docs/measured.py"


@pytest.mark.parametrize("metric", measured.KINDS)
def test_the_chart_of_tables_has_every_table_and_its_best_other_method(metric):
    rows = [
        row for row in measured.rows_of("real")
        if row["part"] == "tables" and row["metric"] == metric and str(row["seed"]) == "0"
    ]  # fmt: skip
    ratios = measured.ratios_to_best(metric)
    assert ratios.keys() == {row["dataset"] for row in rows}
    for table, (ratio, other) in ratios.items():
        values = {row["method"]: float(row["value"]) for row in rows if row["dataset"] == table}
        assert other in values.keys() - {measured.OURS}
        if other in measured.ONE_FOLD:
            assert ratio == pytest.approx(values[measured.OURS] / values[other])

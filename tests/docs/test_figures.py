"""Figures that pages show are those of the committed results."""

import sys

import pytest
from docs.test_pages import ROOT

sys.path.insert(0, str(ROOT / "docs"))

import measured
import verdicts


@pytest.mark.thorough
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


@pytest.mark.parametrize(("block", "metric"), [("numbers", "rmse"), ("classes", "log_loss")])
def test_the_page_of_results_names_every_table_with_a_higher_error(block, metric):
    ratios = measured.ratios_to_best(metric)
    higher = {table for table, (ratio, _) in ratios.items() if ratio >= 1.0}
    text = measured.BLOCKS[f"verdict_{block}"]()
    sentence, _, chart = text.partition("\n\n")
    assert sentence.startswith(f"**Worse on {len(higher)} of {len(ratios)} tables**")
    assert {table for table in ratios if f"*{table.replace('_', ' ')}*" in sentence} == higher
    assert all(f">{table.replace('_', ' ')}<" in chart for table in ratios)


def test_series_are_compared_with_the_best_other_method():
    ratios = verdicts.series_ratios()
    assert len(ratios) == 13  # Eight series and five groups of the competitions
    for dataset, (ratio, other) in ratios.items():
        benchmark = "competitions" if dataset[:2] in ("M3", "M4") else "forecasts"
        errors = {}
        for row in measured.rows_of(benchmark):
            if row["dataset"] == dataset and row["metric"] == "mase":
                errors.setdefault(row["method"], []).append(float(row["value"]))
        means = {method: sum(found) / len(found) for method, found in errors.items()}
        ours = means.pop("bochner")
        assert other == min(means, key=means.get)
        assert ratio == pytest.approx(ours / means[other])

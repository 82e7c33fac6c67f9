"""Errors of methods on a screen of 80 columns."""

import io
import re
from dataclasses import replace

import numpy as np
import pytest
from report.studies import of_laws
from rich.console import Console

from bochner.cli.screen import print_checks, scores_table
from bochner.comparison.contenders import CATBOOST, LINEAR, OURS, RBF_SAMPLER, TREES
from bochner.comparison.outcomes import Outcome
from bochner.report.diagnostics import checks
from bochner.report.page import html

HEADINGS = ["method", "RMSE", "MAE", "explained", "coverage", "seconds"]


def numbers(size, seed, seconds=1.0, n=60):
    """Predictions with errors of a size."""
    rng = np.random.default_rng(seed)
    y = rng.normal(scale=3.0 * size, size=n)
    mean = y + size * rng.normal(size=n)
    return Outcome(y, mean, mean - 2.0 * size, mean + 2.0 * size, unit=9.0, seconds=seconds)


def printed(table, width=80):
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


@pytest.mark.parametrize("size", [2.864e-12, 2.864e-8, 1.23456e-4, 0.01, 1.0, 26941.0, 9e5, 3e6])
def test_no_heading_and_no_number_is_cut(size):
    """Next to errors of one, as where a target is a function of the columns."""
    methods = (OURS, LINEAR, RBF_SAMPLER, TREES, CATBOOST)
    sizes = (size, 1.0, size, 1.0, size)
    outcomes = {
        name: numbers(each, seed, seconds=12345.6 if seed else 0.00123)
        for seed, (name, each) in enumerate(zip(methods, sizes, strict=True))
    }
    lines = printed(scores_table(outcomes))
    assert lines[0].split() == HEADINGS
    assert "…" not in "".join(lines)
    assert max(map(len, lines)) <= 80
    text = " ".join(lines)
    assert all(word in text for name in methods for word in name.split())
    for name, outcome in outcomes.items():
        score = outcome.scores()["rmse"]
        line = next(line for line in lines if line.startswith(name.split()[0]))
        value, error, power = re.search(r"\(?([\d.,]+) ± ([\d.,]+)\)?(e\S+)?", line).groups()
        found = [float(f"{part.replace(',', '')}{power or ''}") for part in (value, error)]
        assert found == pytest.approx([score.value, score.std_error], rel=0.15)
        assert found[0] == pytest.approx(score.value, abs=0.5 * score.std_error)


@pytest.mark.thorough
def test_the_checks_of_a_report_are_on_the_screen():
    """A line for each check that needs attention, within 80 columns, in the words of the report."""
    (study,) = of_laws()
    own = replace(study.own, y=study.own.y + 9.0)
    biased = replace(study, outcomes={"bochner": own})
    console = Console(file=io.StringIO(), width=80)
    print_checks(console, biased)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    titles = [each.title for each in checks(biased) if each.weight == "check"]
    assert "Predictions are too low on average" in titles
    assert lines[1] == f"To look at  {titles[0]}"
    assert [" ".join(line.split()) for line in lines[2:]] == titles[1:]
    assert max(map(len, lines)) <= 80
    page = html([biased])
    assert all(title in page.replace("\u00a0", " ") for title in titles[:1])

"""Checks in plain words: each finds what it is for, and nothing else."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from report.studies import build, of_classes, of_laws, table, with_quantiles

from bochner import TableRegressor
from bochner._base.number_texts import number
from bochner.comparison.outcomes import Outcome, coverage_of
from bochner.comparison.verdict import calibration
from bochner.files.columns import read_column
from bochner.report import diagnostics, error_checks
from bochner.report.accuracy import intervals_section
from bochner.report.diagnostics import diagnostics_section, findings
from bochner.report.residual_section import drift
from bochner.report.subject import subjects_of


def subject(outcome=None, **changes):
    (study,) = of_laws()
    if outcome is not None:
        changes["outcomes"] = {"bochner": outcome}
    changed = replace(study, **changes)
    (found,) = subjects_of([changed if outcome is None else with_quantiles(changed)])
    return found


def outcome(n=600, seed=0, *, noise=1.0, width=1.645, bias=0.0, spread=3.0, errors=None):
    """Predictions with normal errors, and intervals for errors of deviation one."""
    rng = np.random.default_rng(seed)
    mean = spread * rng.normal(size=n)
    drawn = noise * rng.normal(size=n) if errors is None else errors(rng, mean)
    return Outcome(mean + bias + drawn, mean, mean - width, mean + width, unit=spread**2 + 1.0)


@pytest.mark.thorough_cases("0|1")
@pytest.mark.parametrize("seed", range(5))
def test_good_predictions_raise_no_alarm(seed):
    (study,) = of_laws()
    model = study.model
    expected = float(model.score_)
    own = outcome(2000, seed, noise=expected, width=1.645 * expected)
    checked = subject(own)
    found = [
        error_checks.expectation(checked),
        error_checks.bias(checked),
        error_checks.coverage(checked),
        error_checks.heavy_tails(checked),
        diagnostics.rows(checked),
    ]
    # With five checks at two standard errors, one in five reports has a false alarm
    assert sum(each.weight != "fine" for each in found) <= 1


@pytest.mark.parametrize(
    ("check", "own", "title"),
    [
        (error_checks.bias, outcome(bias=0.5), "Predictions are too low on average"),
        (error_checks.bias, outcome(bias=-0.5), "Predictions are too high on average"),
        (error_checks.coverage, outcome(noise=1.5), "Intervals are too narrow"),
        (error_checks.coverage, outcome(noise=0.5), "Intervals are too wide"),
        (error_checks.heavy_tails,
         outcome(errors=lambda rng, mean: rng.standard_t(1.5, size=len(mean))),
         "A few rows dominate the error"),
        (error_checks.expectation, outcome(noise=30.0), "The RMSE is higher than expected"),
        (diagnostics.rows, outcome(20), "Few test rows: 20"),
    ],
)  # fmt: skip
def test_each_check_finds_what_it_is_for(check, own, title):
    found = check(subject(own))
    assert found.weight in ("check", "note")
    assert found.title.startswith(title)
    assert found.meaning
    assert found.advice


def fixed_coverage(n_covered, n=80):
    """Predictions of which as many are within 90 % intervals, evenly in all thirds."""
    mean = np.arange(float(n))
    outside = np.zeros(n, dtype=bool)
    outside[np.linspace(0, n - 1, n - n_covered).astype(int)] = True
    y = mean + np.where(outside, 3.0, np.linspace(-1.0, 1.0, n))
    return Outcome(y, mean, mean - 1.645, mean + 1.645, unit=10.0)


@pytest.mark.parametrize(
    ("n_covered", "judgement", "weight"),
    [(65, "too narrow", "check"), (67, "as expected", "fine"), (80, "wider than", "check")],
)
def test_all_texts_on_coverage_agree(n_covered, judgement, weight):
    """65 of 80 values in 90 % intervals have a probability of about 1 %."""
    checked = subject(fixed_coverage(n_covered))
    assert judgement in calibration(checked.study)
    assert error_checks.coverage(checked).weight == weight
    section = intervals_section(checked)
    assert judgement in section.blocks[0]
    caption, share = section.blocks[1].caption, f"{n_covered / 0.8:.1f} %"
    at_level = coverage_of(np.arange(80) < n_covered, 0.9)
    assert (at_level.is_narrow or at_level.is_wide) == (weight != "fine")
    if n_covered == 65:
        assert "is outside of the range" in caption
        assert share in error_checks.coverage(checked).title


@pytest.mark.thorough
def test_the_range_of_coverage_is_that_of_repeated_samples():
    """Calibrated intervals are outside in 5 % of the samples, in 11 % with 30 clusters."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(30), 10)
    outside = np.zeros(2)
    for _ in range(1000):
        alone = rng.random(300) < 0.9
        group = rng.normal(size=30)[clusters] * 0.8 + 0.6 * rng.normal(size=300) < 1.2816
        found = [coverage_of(alone, 0.9), coverage_of(group, 0.9, clusters)]
        outside += [each.is_narrow or each.is_wide for each in found]
    assert (outside / 1000 <= (0.06, 0.12)).all()


def test_several_comparisons_are_outside_together_as_rarely_as_one():
    rng = np.random.default_rng(1)
    covered = rng.random((400, 5, 300)) < 0.9
    outside = [
        any(
            each.is_narrow or each.is_wide
            for each in (coverage_of(values, 0.9, n_comparisons=5) for values in sample)
        )
        for sample in covered
    ]
    assert np.mean(outside) < 0.08


def test_drifts_are_named():
    rng = np.random.default_rng(0)
    x = rng.normal(size=900)
    drifts = [
        drift(read_column("x", x), rng.normal(size=900) + 2.0 * (x > 1.0)),
        drift(read_column("z", x), rng.normal(size=900)),
    ]
    found = error_checks.drifting(drifts)
    assert found.title == "Residuals depend on 'x'"
    high = drifts[0].extremes[1]
    assert number(float(drifts[0].mean[high]), 3) in found.meaning
    assert "'z'" not in found.meaning
    assert error_checks.drifting(drifts[1:]).weight == "fine"
    assert error_checks.drifting([]) is None


def test_classes_that_are_never_predicted():
    (study,) = of_classes(26)
    own = study.own
    said = own.prediction.copy()
    said[said == "class C"] = "class D"
    (checked,) = subjects_of([replace(study, outcomes={"bochner": replace(own, prediction=said)})])
    found = diagnostics.classes(checked)
    assert found.weight == "check"
    assert "'class C'" in found.title
    (two,) = subjects_of(of_classes(2))
    assert diagnostics.classes(two).weight == "fine"
    assert diagnostics.classes(subject()) is None


def test_columns_of_the_table():
    rng = np.random.default_rng(1)
    frame, y = table(150)
    # The order of a twin is that of the other column, its values are not proportional.
    twin = np.exp(frame["size"] + 0.01 * rng.normal(size=150))
    frame = frame.assign(twin=twin, same=1.0)
    frame.loc[frame.index[:100], "gaps"] = np.nan
    # Length scales by evidence would leave one of the twins out.
    model = TableRegressor(effort="quick", random_state=0)
    studies = build(model, frame, pd.Series(y + 2.0 * frame["twin"], name="y"), "regression")
    (checked,) = subjects_of(studies)
    assert "'gaps' (7" in diagnostics.missing(checked).title
    assert diagnostics.left_out(checked).title == "1 column not used"
    assert "'same' has one value only" in diagnostics.left_out(checked).meaning
    correlated = diagnostics.correlated(checked)
    assert "'size' and 'twin' (1.00)" in correlated.title
    found = findings(checked, [])
    section = diagnostics_section(found)
    counts = [sum(each.weight == weight for each in found) for weight in ("check", "note", "fine")]
    text = section.blocks[0]
    assert text.startswith(f"Of {len(found)} checks, {counts[0] or 'none'} need")
    assert text.endswith(f"{counts[2]} passed.")


def test_few_rows_for_the_columns():
    frame, y = table(60)
    more = {f"x{i}": np.random.default_rng(i).normal(size=60) for i in range(6)}
    model = TableRegressor(effort="quick", random_state=0)
    (checked,) = subjects_of(build(model, frame.assign(**more), y, "regression"))
    assert diagnostics.rows(checked).title == "Few rows: 42 for 11 columns"


def test_a_bias_of_groups_has_their_error():
    """A mean of four groups has the error of four values, however many rows they have."""
    rng, groups = np.random.default_rng(2), np.arange(400) % 4
    y = rng.normal(size=400) + np.array([1.5, -0.5, 1.0, -0.8])[groups]
    own = Outcome(y, np.zeros(400), unit=1.0)
    for clusters, is_fine in ((None, False), (groups, True)):
        judged = SimpleNamespace(
            study=SimpleNamespace(own=replace(own, clusters=clusters)), residuals=y
        )
        assert (error_checks.bias(judged).weight == "fine") == is_fine

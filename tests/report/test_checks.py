"""Checks in plain words: each finds what it is for, and nothing else."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from report.studies import build, of_classes, of_laws, table, with_quantiles

from bochner import TableRegressor
from bochner._base.number_texts import number
from bochner.comparison.outcomes import Outcome, are_outside, coverage_of
from bochner.comparison.study import row_names
from bochner.comparison.verdict import calibration, no_pairs
from bochner.files.columns import read_column
from bochner.report import diagnostics, error_checks
from bochner.report.accuracy import intervals_section, predictions_section, thirds
from bochner.report.blocks import Table
from bochner.report.column_sections import importance_section
from bochner.report.diagnostics import diagnostics_section, findings
from bochner.report.residual_section import drift, residuals_section
from bochner.report.subject import subjects_of
from bochner.tables.sensitivity import VarianceShares


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


def growing(rng, mean):
    """Return errors that are twice as large for large predictions."""
    return rng.normal(size=len(mean)) * np.where(mean > 1.5, 2.0, 0.8)


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
        error_checks.coverage_by_size(checked),
        error_checks.heavy_tails(checked),
        diagnostics.rows(checked),
    ]
    # With six checks at two standard errors, one in four reports has a false alarm
    assert sum(each.weight != "fine" for each in found) <= 1


@pytest.mark.parametrize(
    ("check", "own", "title"),
    [
        (error_checks.bias, outcome(bias=0.5), "Predictions are too low on average"),
        (error_checks.bias, outcome(bias=-0.5), "Predictions are too high on average"),
        (error_checks.coverage, outcome(noise=1.5), "Intervals are too narrow"),
        (error_checks.coverage, outcome(noise=0.5), "Intervals are too wide"),
        (error_checks.coverage_by_size,
         outcome(errors=growing),
         "90 % intervals depend on the size of the prediction"),
        (error_checks.heavy_tails,
         outcome(errors=lambda rng, mean: rng.standard_t(1.5, size=len(mean))),
         "A few rows dominate the error"),
        (error_checks.expectation, outcome(noise=30.0), "The RMSE is higher than expected"),
        (error_checks.expectation, outcome(noise=0.01), "The RMSE is lower than expected"),
        (diagnostics.rows, outcome(20), "Few test rows: 20"),
    ],
)  # fmt: skip
def test_each_check_finds_what_it_is_for(check, own, title):
    found = check(subject(own))
    assert found.weight in ("check", "note")
    assert found.title.startswith(title)
    assert found.meaning
    assert found.advice


def test_where_intervals_are_too_narrow():
    found = error_checks.coverage_by_size(subject(outcome(3000, errors=growing)))
    assert "too narrow in the highest third" in found.meaning
    assert "too wide in the lowest third" in found.meaning


def fixed_coverage(n_covered, n=80):
    """Predictions of which as many are within 90 % intervals, evenly in all thirds."""
    mean = np.arange(float(n))
    outside = np.zeros(n, dtype=bool)
    outside[np.linspace(0, n - 1, n - n_covered).astype(int)] = True
    y = mean + np.where(outside, 3.0, np.linspace(-1.0, 1.0, n))
    return Outcome(y, mean, mean - 1.645, mean + 1.645, unit=10.0)


@pytest.mark.parametrize(
    ("n_covered", "judgement", "weight"),
    [(65, "too narrow", "check"), (67, "as expected", "fine"), (80, "wider than", "note")],
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
    assert (at_level in are_outside([at_level])) == (weight != "fine")
    if "outside of the range" in caption and "intervals of 90 %" not in caption:
        assert f"Those of 90 % are {judgement}" in caption
    if n_covered == 65:
        assert "is outside of the range" in caption
        assert share in error_checks.coverage(checked).title


def test_a_third_with_narrow_intervals_is_named():
    """19 of 27 values of a third in 90 % intervals are too few, also among three thirds."""
    own = fixed_coverage(80, 81)
    y = own.y.copy()
    y[27:35] = own.prediction[27:35] + 3.0
    found = error_checks.coverage_by_size(subject(replace(own, y=y)))
    assert "too narrow in the middle third" in found.meaning


def test_the_range_of_coverage_is_that_of_repeated_samples():
    """Calibrated intervals are outside in 5 % of the samples, in 11 % with 30 clusters."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(30), 10)
    outside = np.zeros(2)
    for _ in range(1000):
        alone = rng.random(300) < 0.9
        group = rng.normal(size=30)[clusters] * 0.8 + 0.6 * rng.normal(size=300) < 1.2816
        found = [coverage_of(alone, 0.9), coverage_of(group, 0.9, clusters)]
        outside += [len(are_outside([each])) for each in found]
    assert (outside / 1000 <= (0.06, 0.12)).all()


def test_several_comparisons_are_outside_together_as_rarely_as_one():
    rng = np.random.default_rng(1)
    covered = rng.random((400, 5, 300)) < 0.9
    outside = [
        any(are_outside([coverage_of(values, 0.9, n_comparisons=5) for values in sample]))
        for sample in covered
    ]
    assert np.mean(outside) < 0.08


def test_the_share_of_the_worst_rows_is_counted():
    errors = np.ones(1000)
    errors[:10] = 30.0 - 0.01 * np.arange(10.0)
    own = outcome(1000, errors=lambda rng, mean: errors)
    share = np.sum(errors[:10] ** 2) / np.sum(errors**2)
    names = [f"row {place} ('id' 7{place})" for place in range(1000)]
    found = error_checks.heavy_tails(subject(own, row_names=names))
    assert f"{100.0 * share:.0f} %" in found.title
    assert found.weight == "check"  # More than half of the squared error
    shown = [f"{names[i]} (observed {number(own.y[i])}, predicted {number(own.prediction[i])})"
             for i in range(5)]  # fmt: skip
    assert f"The largest errors: {'; '.join(shown)}." in found.meaning
    assert "row 1 of the test rows (observed" in error_checks.heavy_tails(subject(own)).meaning


def test_residuals_beyond_the_axis_are_counted():
    own = outcome(600)
    y = own.y.copy()
    y[[3, 77]] = own.prediction[[3, 77]] + [-400.0, 300.0]
    section = residuals_section(subject(replace(own, y=y)), [], 0)
    (figure,) = section.blocks[1]
    assert "2 residuals lie beyond the axis: triangles at its edge." in figure.caption
    (plain,) = residuals_section(subject(own), [], 0).blocks[1]
    assert "beyond" not in plain.caption


def test_rows_of_a_file_are_named_by_their_numbers():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "pid": ["x", "y", "z"]})
    assert row_names(frame.iloc[[2, 0]]) == ["row 3", "row 1"]
    assert row_names(frame.iloc[[1]], frame["pid"]) == ["row 2 ('pid' y)"]
    X, y = frame[["a"]].set_axis([7, 8, 9]), np.array([1.0, 2.0, 4.0])
    model = TableRegressor(effort="quick", random_state=0).fit(X, y)
    assert model.report(X, y).studies[0].row_names == ["row 7", "row 8", "row 9"]


def test_what_is_said_of_pairs_is_what_was_examined():
    pairs = VarianceShares((("a", "b"), ("a", "c"), ("b", "c")), np.array([5e-3, 1e-3, 0.0]),
                           np.array([1e-3] * 3))  # fmt: skip
    expected = "No pair of the 3 most important columns has an interaction with a share of 1 %"
    assert no_pairs(pairs).startswith(expected)
    section = importance_section(subject(interactions=pairs))
    assert no_pairs(pairs) in section.blocks


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


def test_another_method_is_better():
    own, other = outcome(noise=1.2), outcome(noise=1.2)
    better = replace(other, prediction=other.y - 0.5 * (other.y - other.prediction))
    found = error_checks.others(subject(outcomes={"bochner": own, "trees": better}))
    assert found.title == "trees has a lower error"
    assert "100 % higher" in found.meaning
    assert error_checks.others(subject(outcomes={"bochner": better, "trees": own})).weight == "fine"
    assert error_checks.others(subject(own)) is None


def test_classes_that_are_rare_or_never_predicted():
    (study,) = of_classes(26)
    own = study.own
    said = own.prediction.copy()
    said[said == "class C"] = "class D"
    (checked,) = subjects_of([replace(study, outcomes={"bochner": replace(own, prediction=said)})])
    found = diagnostics.classes(checked)
    assert found.weight == "check"
    assert "'class C'" in found.title
    assert "fewer than 10 test rows" in found.meaning
    (two,) = subjects_of(of_classes(2))
    assert diagnostics.classes(two).weight == "fine"
    assert diagnostics.classes(subject()) is None


def test_the_thirds_of_predictions_say_by_how_much_observations_are_above_them():
    of_all = outcome(bias=0.5)
    parts = np.array_split(np.argsort(of_all.prediction, kind="stable"), 3)
    found = [np.mean(third.y - third.prediction) for third in thirds(of_all).values()]
    assert found == pytest.approx([np.mean((of_all.y - of_all.prediction)[p]) for p in parts])
    assert min(found) > 0.3
    (table,) = (b for b in predictions_section(subject(of_all)).blocks if isinstance(b, Table))
    place = table.heads.index("observed − predicted")
    assert [row[place].value for row in table.rows] == found


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


def test_numbers_that_may_identify_rows_are_named():
    frame, y = table(200)
    number = 1000 + (37 * np.arange(len(frame))) % 4001
    (study,) = build(
        TableRegressor(effort="quick", random_state=0),
        frame.assign(ticket_no=number)[["size", "ticket_no"]],
        y,
        "regression",
    )
    (checked,) = subjects_of([study])
    assert diagnostics.left_out(checked).title == "Possible identifiers: 'ticket_no'"
    assert "none is an identifier" not in diagnostics.left_out(subject()).title


def test_methods_are_compared_by_the_same_rows():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=30) ** 3
    y = rng.normal(size=30)
    own = Outcome(y + noise, y)
    worse = Outcome(y + noise, y - 0.3 * noise)
    checked = subject(outcomes={"bochner": own, "trees": worse})
    found = diagnostics.rows(checked)
    assert found.title == "Few test rows: 30"
    assert "the difference is significant" in found.meaning
    assert "chance" not in found.meaning


def test_few_rows_for_the_columns():
    frame, y = table(60)
    more = {f"x{i}": np.random.default_rng(i).normal(size=60) for i in range(6)}
    model = TableRegressor(effort="quick", random_state=0)
    (checked,) = subjects_of(build(model, frame.assign(**more), y, "regression"))
    assert diagnostics.rows(checked).title == "Few rows: 42 for 11 columns"


def check_bias_of_groups():
    """A mean of four groups has the error of four values, however many rows they have."""
    rng, groups = np.random.default_rng(2), np.arange(400) % 4
    y = rng.normal(size=400) + np.array([1.5, -0.5, 1.0, -0.8])[groups]
    own = Outcome(y, np.zeros(400), unit=1.0)
    for clusters, is_fine in ((None, False), (groups, True)):
        judged = SimpleNamespace(
            study=SimpleNamespace(own=replace(own, clusters=clusters)), residuals=y
        )
        assert (error_checks.bias(judged).weight == "fine") == is_fine


def test_a_bias_of_groups_has_their_error():
    check_bias_of_groups()

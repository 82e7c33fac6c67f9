"""All checks of a report, and the checks of the rows and columns of a table."""

import shlex
from collections.abc import Sequence
from itertools import combinations, compress
from typing import Any

import numpy as np
from scipy.stats import rankdata

from bochner._base.names import listed
from bochner._base.number_texts import counted, percent, with_error
from bochner.comparison.study import Study
from bochner.files.identifiers import may_identify
from bochner.report import accuracy as unlike_rows
from bochner.report import error_checks
from bochner.report.html_blocks import Finding, Section, fine, quoted
from bochner.report.residual_section import Drift, drifts
from bochner.report.subject import Subject, subjects_of

_ROUGH_ERROR = 0.1
"""Relative standard error above which an error metric is too uncertain to compare methods."""

_FEWEST_TESTED = 20
"""Number of test rows below which a standard error is itself uncertain by more than 20 %."""

_FEWEST_RARE = 50
"""Number of test rows of a rare class below which a recall has a standard error above 7 %."""

_ROWS_PER_COLUMN = 10
"""Rows per column below which effects are hardly identifiable, a rule of thumb in regression."""

_MUCH_MISSING = 0.05
"""Share of missing entries from which a column is reported; fewer hardly change the error."""

_CORRELATED = 0.8
"""Absolute rank correlation from which two columns are reported as correlated."""

_IMPORTANT = 0.01
"""Share of the variance above which a column is examined for correlations."""

_COPIES = "equal to another row in every column"
"""Words of the note on copies of rows."""


def rows(subject: Subject) -> Finding:
    """Check that there are enough training rows, and enough test rows to estimate the error."""
    outcome = subject.study.own
    score = outcome.scores()[outcome.metrics[0]]
    n_columns = len(subject.columns)
    if subject.n_fit < _ROWS_PER_COLUMN * n_columns:
        return Finding(
            "check",
            f"Few rows: {subject.n_fit:,} for {counted(n_columns, 'column')}",
            "With fewer than ten rows per column, the importance and the effects of columns depend "
            "strongly on the sample of rows.",
            "Add rows, or leave out irrelevant columns.",
        )
    if (rare := outcome.rare) is not None and rare.n < _FEWEST_RARE:
        return Finding(
            "check",
            f"Few test rows of the class {quoted(rare.name)}: {rare.n}",
            "Recall, precision and the area under the ROC curve depend strongly on these rows.",
            "Hold more rows out, or add rows of this class.",
        )
    if len(outcome.y) < _FEWEST_TESTED or score.std_error > _ROUGH_ERROR * score.value > 0.0:
        return Finding(
            "check",
            f"Few test rows: {len(outcome.y):,}",
            f"The error is known as {with_error(score.value, score.std_error)} only.",
            "Hold more rows out, repeat the split with other seeds, or add rows.",
        )
    return fine(f"There are enough rows: {subject.n_fit:,} to fit, {len(outcome.y):,} to test.")


def leaking(subject: Subject) -> Finding:
    """Check for columns that nearly determine the target alone."""
    names = [quoted(leak.column) for leak in subject.study.leaks]
    if not names:
        return fine("No column determines the target alone.")
    verb = "determines" if len(names) == 1 else "determine"
    flags = " ".join(f"--drop {shlex.quote(leak.column)}" for leak in subject.named.leaks)
    return Finding(
        "check",
        f"Too good to be true: {listed(names)} nearly {verb} the target",
        "A column that is computed from the target, or known only after it, is not there when you "
        "predict. Without it, errors are larger than in this report.",
        f"If it is not known in time, fit without it ({flags}).",
    )


def copied(subject: Subject) -> Finding | None:
    """Check for copies of rows, as noted when the rows were split."""
    notes = [note for note in subject.study.table.notes if _COPIES in note]
    if not notes:
        return None
    return Finding(
        "check",
        f"Copied rows: {notes[0].partition(',')[0]}",
        "Copies are held out together, and the model is fitted to one of each. A copy in both "
        "parts would make the error look smaller.",
        "Find out why rows repeat: a table may have been joined or exported twice.",
    )


def missing(subject: Subject) -> Finding:
    """Check for columns with many missing entries."""
    table = subject.study.table
    counts = {c.name: c.n_missing / max(table.n_rows, 1) for c in table.columns}
    much = sorted((n for n in counts if counts[n] >= _MUCH_MISSING), key=lambda n: -counts[n])
    if not table.share_missing:
        return fine("No entry is missing.")
    if not much:
        return fine(f"Few entries are missing: {percent(table.share_missing)} of the table.")
    names = listed([f"{quoted(name)} ({percent(counts[name])})" for name in much])
    return Finding(
        "note",
        f"Missing entries in {names}",
        "The model replaces missing numbers by the median, and adds an indicator of missing "
        "entries. Predictions may use the pattern of missing entries.",
        "Find out why they are missing. If new rows lack entries for other reasons, errors there "
        "may be larger.",
    )


_WHY = {
    "constant": "has one value only",
    "empty": "has no entries",
    "identifier": "is an identifier, most of its texts occur once",
}


def left_out(subject: Subject) -> Finding:
    """Check for columns from which no features are made."""
    states = subject.study.model.encoder_.columns_
    reasons = [f"{quoted(s['name'])} {_WHY[s['kind']]}" for s in states if s["kind"] in _WHY]
    columns = subject.columns.values()
    suspects = [c.name for c in columns if c.kind == "numeric" and may_identify(c.name, c.values)]
    if suspects and not reasons:
        names = listed([quoted(name) for name in suspects])
        return Finding(
            "check",
            f"Possible identifiers: {names}",
            "Whole numbers that differ in nearly every row and have the name or the length of a "
            "code. The order of such numbers predicts new rows by chance only, unless they were "
            "assigned by place or time.",
            "If they name rows, leave them out of the table (--drop).",
        )
    flags = " ".join(f"--drop {shlex.quote(s['name'])}" for s in states if s["kind"] in _WHY)
    if not reasons:
        return fine("All columns are used: none is constant or empty, or text that never repeats.")
    return Finding(
        "note",
        f"{counted(len(reasons), 'column')} not used",
        f"{listed(reasons)}. Such columns carry no information about new rows.",
        f"Drop them: {flags}. To use an identifier, make a column of a part that repeats, such as "
        "a site.",
    )


def classes(subject: Subject) -> Finding | None:
    """Check for classes that are never predicted."""
    outcome = subject.study.own
    if outcome.classes is None:
        return None
    absent = np.array([not np.any(outcome.prediction == name) for name in outcome.classes])
    never = [quoted(name) for name in outcome.classes[absent]]
    if not never:
        return fine("All classes are predicted.")
    if len(outcome.classes) > 2 or outcome.probability is None:
        return Finding(
            "check",
            f"Never predicted: {listed(never)}",
            "In each row, another class has a higher probability.",
            "Use the probabilities, add rows of rare classes, or join classes.",
        )
    largest = float(outcome.probability[:, absent].max())
    usual = " This is usual for a rare class." if outcome.rare is not None else ""
    return Finding(
        "note" if usual else "check",
        f"No row is more likely {listed(never)} than not",
        f"The highest probability is {percent(largest)}.{usual}",
        "Rank the rows by probability, or choose a threshold by the costs (section Discrimination "
        "of the classes).",
    )


def correlated(subject: Subject) -> Finding | None:
    """Check for strong correlations of important columns."""
    study = subject.study
    values = study.model.background_values_
    if values is None:
        return None
    states, importance = study.model.encoder_.columns_, study.importance
    names: set[Any] = {state["name"] for state in states}
    if importance is not None:
        names = {*compress(importance.columns, importance.share > _IMPORTANT)}
    used = {
        i: quoted(state["name"])
        for i, state in enumerate(states)
        if state["kind"] in ("numeric", "date") and state["name"] in names
    }
    if len(used) < 2:
        return None
    ranks, columns = rankdata(values[:, list(used)], axis=0), list(used.values())
    pairs = list(combinations(range(len(used)), 2))
    correlations = np.asarray(np.corrcoef(ranks, rowvar=False))
    found = correlations[tuple(zip(*pairs, strict=True))]
    order = [k for k in np.argsort(-np.abs(found)) if abs(found[k]) > _CORRELATED]
    if not order:
        return fine("No two important columns are strongly correlated.")
    texts = [f"{' and '.join(columns[i] for i in pairs[k])} ({found[k]:.2f})" for k in order]
    return Finding(
        "note",
        f"Correlated columns: {listed(texts, 3)}",
        "The numbers are rank correlations. These columns are strongly correlated, so their "
        "importances are interchangeable, and the effect of one column at fixed values of the "
        "other is an extrapolation.",
        "Interpret the sum of their importances. If one column causes the other, keep the cause "
        "only.",
    )


_WEIGHTS = ("check", "note", "fine")
"""Levels of urgency of findings, the most urgent first."""


def diagnostics_section(all_findings: Sequence[Finding]) -> Section:
    """Return the section that lists all findings, the most urgent first."""
    order = sorted(all_findings, key=lambda each: _WEIGHTS.index(each.weight))
    check, note, passed = (sum(each.weight == weight for each in order) for weight in _WEIGHTS)
    parts = [f"{check or 'none'} {'needs' if check < 2 else 'need'} attention"]
    if note:
        parts.append(f"{note} {'is' if note == 1 else 'are'} for information")
    text = f"Of {len(order)} checks, {listed([*parts, f'{passed} passed'])}."
    return Section("diagnostics", "Diagnostics", [text, order])


def findings(subject: Subject, drifts: Sequence[Drift]) -> list[Finding]:
    """Return the findings of all checks that apply to a target."""
    found = [
        leaking(subject),
        copied(subject),
        rows(subject),
        error_checks.expectation(subject),
        error_checks.others(subject),
        error_checks.bias(subject),
        error_checks.coverage(subject),
        error_checks.below_zero(subject),
        unlike_rows.unlike(subject),
        error_checks.drifting(drifts),
        error_checks.heavy_tails(subject),
        classes(subject),
        missing(subject),
        left_out(subject),
        correlated(subject),
    ]
    return [finding for finding in found if finding is not None]


def checks(study: Study) -> list[Finding]:
    """Return the findings of all checks of a study, as shown in its report."""
    (subject,) = subjects_of([study])
    return findings(subject, drifts(subject))

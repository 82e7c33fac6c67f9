"""Reports on table models: sections on the model, their order, and the HTML page."""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from html import escape
from importlib.resources import files
from itertools import count
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from sklearn.utils.validation import check_is_fitted

from bochner._base.checks import check_targets, labels, numbers, refuse_missing_targets
from bochner._base.file_writing import as_path, replacing
from bochner._base.frames import as_frame
from bochner._base.names import listed
from bochner._base.number_texts import counted, duration, number, percent
from bochner.comparison.split import Split
from bochner.comparison.study import PACKAGES, Model, Study, measured_studies, table_facts, versions
from bochner.comparison.verdict import FUNCTIONS, calibration, metric_text, scope, verdict
from bochner.plot.class_errors import check_labels
from bochner.plot.drawn_inputs import series_of
from bochner.report.accuracy import (
    errors_section,
    intervals_section,
    predictions_section,
    unlike_section,
)
from bochner.report.class_sections import probabilities_section, recognition_section
from bochner.report.column_sections import effects_section, importance_section
from bochner.report.diagnostics import diagnostics_section, findings
from bochner.report.html_blocks import (
    MOST_UNFOLDED,
    Block,
    Finding,
    Section,
    Table,
    cells,
    counts,
    cut,
    plain,
    quoted,
    shares,
    typeset,
    without_control,
)
from bochner.report.residual_section import MOST_COLUMNS, Drift, drifts, residuals_section
from bochner.report.subject import Subject, subjects_of
from bochner.tables.kernel_laws import KernelLaw
from bochner.tables.table_classifier import TableClassifier
from bochner.tables.weighted_sum import SoftmaxOfLaws, SumOfLaws

_DECIMALS = re.compile(r"\d+\.\d{3,}")
"""Numbers with three decimals or more, such as a share of a time limit."""

_TRANSFORMED = {"log": "the logarithm", "sqrt": "the square root", "rank": "the ranks"}
"""Transformations of the target in words."""

_MOST_COLUMNS = 200
"""Largest number of listed columns, which limits the file size."""


def data_section(subject: Subject) -> Section:
    """Return the section on the table and the choice of test rows."""
    study = subject.study
    table = study.table
    kinds = [column.kind for column in table.columns]
    counts = [f"{kinds.count(kind)} of {kind}" for kind in dict.fromkeys(kinds)]
    targets = "target" if subject.n_targets == 1 else "targets"
    missing = table.share_missing
    texts = [
        f"{plain(table.source)} has {counted(table.n_rows, 'row')} and "
        f"{counted(len(kinds), 'column')} besides the {targets}: {listed(counts, len(counts))}.",
        f"{percent(missing)} of the entries are missing." if missing else "No entry is missing.",
        plain(study.split.reason),
    ]
    if study.split.weight is not None:
        texts.append("Rows have weights in the fit; errors on test rows are not weighted.")
    if study.own.clusters is not None:
        count = len(np.unique(study.own.clusters))
        texts.append(
            f"The test rows belong to {counted(count, 'group')}; standard errors are over groups."
        )
    blocks: list[Block] = [" ".join(texts)]
    if table.notes:
        blocks.append([plain(note) for note in table.notes])
    return Section("data", "The data", [*blocks, _columns_table(study)])


def _columns_table(study: Study) -> Table:
    columns = study.table.columns[:_MOST_COLUMNS]
    n_unlisted = len(study.table.columns) - len(columns)
    note = f"{counted(n_unlisted, 'more column')} not listed." if n_unlisted else ""
    missing = [column.n_missing / max(study.table.n_rows, 1) for column in columns]
    entries_or_texts = [c.summary if c.kind == "numbers" else cut(c.summary) for c in columns]
    table = {
        "column": cells(cut(column.name) for column in columns),
        "kind": cells(column.kind for column in columns),
        "missing": shares(missing),
        "distinct": counts(column.n_distinct for column in columns),
        "range, or most frequent texts": cells(entries_or_texts),
    }
    return Table.of("Columns", table, note=note, is_folded=len(columns) > MOST_UNFOLDED)


def model_section(subjects: Sequence[Subject]) -> Section:
    """Return the section on the model: what was chosen, and a table of its parts."""
    model, head = subjects[0].study.model, subjects[0].study.model.head_
    blocks: list[Block] = [f"{_model_sentences(subjects[0])} {_expected(subjects)}".strip()]
    blocks.append(_laws_table(head, subjects))
    settings = _DECIMALS.sub(lambda found: number(float(found[0])), " ".join(repr(model).split()))
    blocks.append({"parameters": plain(settings)})
    return Section("model", "The model", blocks)


def _model_sentences(subject: Subject) -> str:
    """Return sentences on the rows, the parts of the model and the transformation of the target."""
    study, members = subject.study, subject.study.model.head_.laws.members
    others = list(dict.fromkeys(plain(m.kind) for m in members if not isinstance(m, KernelLaw)))
    n_kernels = sum(isinstance(member, KernelLaw) for member in members)
    is_sum = isinstance(study.model.head_, SumOfLaws)
    kind = counted(n_kernels, "Gaussian process", "Gaussian processes")
    if not is_sum:
        kind = "kernel regression" + f" with {n_kernels} kernels" * (n_kernels > 1)
    parts = [kind] * bool(n_kernels) + others
    seconds = study.own.seconds
    took = f" in {duration(seconds)}" if np.isfinite(seconds) else ""
    texts = [f"The model was fitted to {counted(subject.n_fit, 'row')}{took}."]
    if is_sum:
        texts.append(f"Its prediction is a weighted average of {listed(parts)}.")
        uses = "the kernels, the weights and the width of the intervals"
    else:
        texts.append(f"Its class probabilities combine the scores of {listed(parts)}.")
        uses = "the kernels and their weights"
    texts.append(f"Errors on rows left out of the fit decided on {uses}.")
    transformation = getattr(study.model, "transformation_", None)
    if transformation is not None:
        texts.append(f"The model is fitted to {_TRANSFORMED[transformation.name]} of the target.")
    return " ".join(texts)


def _expected(subjects: Sequence[Subject]) -> str:
    """Return a sentence on the expected error on new rows, estimated by leaving out rows."""
    study = subjects[0].study
    if study.model.score_ is None:
        return ""
    scores = np.atleast_1d(study.model.score_)
    each = [number(float(scores[subject.study.number])) for subject in subjects]
    if len(subjects) > 1:
        each = [f"{n} for {quoted(s.study.target)}" for n, s in zip(each, subjects, strict=True)]
    name = "log loss" if study.is_classification else "RMSE"
    return f"The expected {name} on new rows, from rows left out of the fit, is {listed(each)}."


def _laws_table(head: SumOfLaws | SoftmaxOfLaws, subjects: Sequence[Subject]) -> Table:
    """Return a table of the kernels in a sum, with their weights for each target."""
    sums = isinstance(head, SumOfLaws)
    weights = head.weights if isinstance(head, SumOfLaws) else head.softmax.weights
    weights = weights.reshape(len(head.laws.members), -1)
    members = head.laws.members
    columns = {
        "functions": cells(FUNCTIONS.get(law.name, law.name) for law in members),
        "kernel": cells(law.kind for law in members),
    }
    for subject in subjects:
        name = "weight" if len(subjects) == 1 else f"weight for {subject.name}"
        of_target = weights[:, subject.study.number if sums else 0]
        columns[name] = shares(of_target / max(float(of_target.sum()), 1e-300))
    return Table.of("Parts of the model", columns)


def reproduction_section(subject: Subject) -> Section:
    """Return the section with the command or call, seed, versions, date and row counts."""
    study = subject.study
    record = {str(name): value for name, value in study.record.items()}
    command = record.pop("command", None)
    seed_of_model = f"random_state={study.model.random_state!r}"
    facts = {
        "random seed": plain(record.pop("seed", seed_of_model)),
        "rows": f"{subject.n_fit:,} to fit, {len(study.own.y):,} to test",
        "date of the report": date.today().isoformat(),
    }
    recorded = {name: record.pop(name) for name in ("python", *PACKAGES) if name in record}
    facts["versions"] = ", ".join(
        f"{name.replace('python', 'Python')} {number}"
        for name, number in (versions() | recorded).items()
    )
    facts |= {name.replace("_", " "): plain(value) for name, value in record.items()}
    blocks: list[Block] = [] if command is None else [("Command", plain(command))]
    return Section("reproduction", "How to reproduce it", [*blocks, facts])


_HEIGHT = 720
"""Height in pixels of the report's frame in a notebook."""


@dataclass(frozen=True, eq=False)
class Report:
    """A report on a fitted model, which notebooks show and :meth:`save` writes.

    ``studies`` are the studies in the report, one for each target, and ``html`` is the page.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bochner import TableRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TableRegressor(effort="quick", random_state=0).fit(X[:400], y[:400])
    >>> report = model.report(X[400:], y[400:])
    >>> len(report.studies), report.html[-8:].strip()
    (1, '</html>')
    """

    studies: Sequence[Study] = field(repr=False)
    html: str = field(repr=False)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page into a file, which it replaces once it is complete."""
        write_page(self.html, path)

    def _repr_html_(self) -> str:
        """Return an HTML frame with the page, which isolates the page's styles."""
        return (
            f'<iframe title="Report" srcdoc="{escape(self.html)}" '
            f'style="width:100%;height:{_HEIGHT}px;border:1px solid #8886" '
            'sandbox="allow-scripts allow-popups"></iframe>'
        )


def report_of(model: Model, X: Any, y: object) -> Report:
    """Return a report on a fitted model and rows with known targets, preferably new ones."""
    check_is_fitted(model, "head_")
    X = as_frame("X", X)
    is_class = isinstance(model, TableClassifier)
    refuse_missing_targets(y, "report")
    targets = np.asarray(labels(y) if is_class else numbers(y))
    if targets.shape[:1] != (len(X),) or not len(targets):
        raise ValueError(
            f"y must have one entry for each of the {len(X)} rows of X, at least one, got shape "
            f"{targets.shape}."
        )
    if is_class:
        check_labels(targets, model.classes_, len(X))
    elif not np.isfinite(targets).all():
        raise ValueError("y must be finite; some entries are infinite. Drop their rows.")
    else:
        check_targets(targets)
    task = "classification" if is_class else "regression"
    reason = f"Predictions are compared with known targets of {counted(len(targets), 'row')}."
    frame = X
    if not isinstance(X, pd.DataFrame):
        frame = pd.DataFrame({name: np.asarray(entries) for name, entries in series_of(X)})
    studies = measured_studies(
        model,
        Split(X, targets, X, targets, task, kind="file", reason=reason),
        _names(model, y, targets),
        table_facts(frame, "The data frame"),
        record={"call": "model.report(X, y)"},
        row_names=[f"row {label}" for label in getattr(X, "index", ())],
    )
    return Report(studies, html(studies))


def _names(model: Model, y: object, targets: np.ndarray) -> list[str]:
    """Return the names of the targets, taken from ``y`` or else from the fit."""
    if targets.ndim == 1:
        name = getattr(y, "name", None) or model.record_.get("target", "target")
        return [name if isinstance(name, str) else "target 0"]
    named: Any = getattr(y, "columns", model.record_.get("target", ()))
    names, count = [name for name in named if isinstance(name, str)], targets.shape[1]
    return names if len(names) == count else [f"target {number}" for number in range(count)]


_MOST_FIGURES = {"residuals": MOST_COLUMNS, "effects": 8, "pairs": 2}
"""Largest number of figures of a kind, shared between targets, so that the file stays small."""

_FEWEST_FIGURES = 2
"""Smallest number of figures of a kind for each of several targets."""

_KEY_FIGURES = {
    "rmse": "RMSE",
    "r2": "of the variance explained",
    "coverage": "of observations in {level} intervals",
    "error": "of the rows predicted wrong",
    "top_tenth": "of the class {rare} is in the riskiest tenth",
    "log_loss": "log loss",
    "auc": "area under the ROC curve",
    "average_precision": "average precision (random order: {share})",
}
"""Labels of the metrics in the head of a report."""


@dataclass(frozen=True, slots=True)
class Title:
    """Kind and subject of a report, with its source file and rows."""

    kind: str
    before: str
    name: str
    source: str
    rows: str


@dataclass(frozen=True, slots=True)
class Head:
    """Summary of a target in the head of a report."""

    name: str
    verdict: str
    calibration: str
    figures: Sequence[tuple[str, str]]
    to_check: Sequence[Finding]
    anchor: str


def html(studies: Sequence[Study]) -> str:
    """Return a report on the targets of a model as one self-contained HTML page."""
    subjects = subjects_of(studies)
    first, several = subjects[0], len(subjects) > 1
    heads, sections = [], list[Section]()
    for place, subject in enumerate(subjects, 1):
        prefix = f"t{place}-" if several else ""
        drifted = drifts(subject)
        checks = findings(subject, drifted)
        heads.append(_head(subject, checks, prefix))
        parts = _target_sections(subject, drifted, checks, prefix, len(subjects))
        title = f"Target {quoted(subject.study.target)}"
        sections += [Section(f"{prefix}target", title, parts=parts)] if several else parts
    if several and (section := importance_section(first)):
        sections.append(section)
    sections += [model_section(subjects), data_section(first), reproduction_section(first)]
    study = first.study
    rows = f"{first.n_fit:,} rows to fit, {counted(len(study.own.y), 'test row')} ({scope(study)})"
    names = " and ".join(subject.name for subject in subjects)
    about = "Report on a model", "Predictions of", names, cut(study.table.source)
    return rendered(Title(*about, rows), heads, sections)


def write(studies: Sequence[Study], path: str | PathLike[str]) -> None:
    """Write a report on a model into an HTML file, as :func:`html` returns it."""
    write_page(html(studies), path)


def write_page(page: str, path: str | PathLike[str]) -> None:
    """Write a page into a file atomically, so that an old file is replaced only at the end."""
    with replacing(as_path(path)) as fresh:
        fresh.write_text(page, encoding="utf-8")


def _target_sections(
    subject: Subject,
    column_drifts: Sequence[Drift],
    checks: Sequence[Finding],
    prefix: str,
    n_subjects: int,
) -> list[Section]:
    """Return the sections on a target in the order of the report."""
    most = {name: max(_FEWEST_FIGURES, n // n_subjects) for name, n in _MOST_FIGURES.items()}
    sections: list[Section | None] = [
        errors_section(subject),
        importance_section(subject) if n_subjects == 1 else None,
        effects_section(subject, most["effects"], most["pairs"]),
    ]
    if subject.study.is_classification:
        sections += [recognition_section(subject), probabilities_section(subject)]
    else:
        sections.append(predictions_section(subject))
        if subject.study.own.lower is not None:
            sections.append(intervals_section(subject))
    sections += [
        residuals_section(subject, column_drifts, most["residuals"]),
        unlike_section(subject),
        diagnostics_section(checks),
    ]
    return [replace(each, anchor=prefix + each.anchor) for each in sections if each is not None]


def _head(subject: Subject, checks: Sequence[Finding], prefix: str) -> Head:
    study = subject.named
    outcome, scores = study.own, study.own.scores()
    facts = {"level": f"{100.0 * outcome.level:g} %", "rare": "", "share": ""}
    if (rare := outcome.rare) is not None:
        facts |= {"rare": quoted(rare.name), "share": percent(float(rare.is_observed.mean()))}
    figures = [
        (metric_text(name, scores[name]), label.format(**facts))
        for name, label in _KEY_FIGURES.items()
        if name in outcome.metrics
    ]
    has_calibration = outcome.lower is not None or outcome.probability is not None
    return Head(
        subject.name,
        verdict(study),
        calibration(study) if has_calibration else "",
        figures,
        [finding for finding in checks if finding.weight == "check"],
        f"{prefix}diagnostics",
    )


def rendered(title: Title, heads: Sequence[Head], sections: Sequence[Section]) -> str:
    """Render the page: text is escaped; pictures, styles and the script are inserted verbatim."""
    environment = Environment(
        loader=PackageLoader("bochner.report", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        # Numbers of texts are typeset; markup and other types stay as they are.
        finalize=lambda x: typeset(x) if isinstance(x, str) and not isinstance(x, Markup) else x,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["next_figure"] = count(1).__next__
    folder = files("bochner.report") / "template"
    style, script = ((folder / name).read_text("utf-8") for name in ("report.css", "report.js"))
    page = environment.get_template("report.html.jinja").render(
        title=title,
        heads=heads,
        sections=sections,
        style=Markup(style),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    return without_control(page)

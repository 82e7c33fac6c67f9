"""Reports on table models: orders the sections and renders the HTML page."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
from bochner._base.number_texts import counted, percent
from bochner.comparison.split import Split
from bochner.comparison.study import Model, Study, measured_studies, table_facts
from bochner.comparison.verdict import calibration, metric_text, scope, verdict
from bochner.plot.class_errors import check_labels
from bochner.plot.drawn_inputs import series_of
from bochner.report.accuracy import errors_section, intervals_section, predictions_section
from bochner.report.class_sections import probabilities_section, recognition_section
from bochner.report.column_sections import effects_section, importance_section
from bochner.report.diagnostics import diagnostics_section, findings
from bochner.report.html_blocks import Finding, Section, typeset, without_control
from bochner.report.model_sections import data_section, model_section, reproduction_section
from bochner.report.name_texts import cut, quoted
from bochner.report.residual_section import MOST_COLUMNS, Drift, drifts, residuals_section
from bochner.report.subject import Subject, subjects_of
from bochner.report.unlike_rows import unlike_section
from bochner.tables.table_classifier import TableClassifier

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
    studies = measured_studies(
        model,
        Split(X, targets, X, targets, task, kind="file", reason=reason),
        _names(model, y, targets),
        table_facts(_frame(X), "The data frame"),
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


def _frame(X: Any) -> pd.DataFrame:
    """Return a table as a pandas frame."""
    if isinstance(X, pd.DataFrame):
        return X
    return pd.DataFrame({name: np.asarray(entries) for name, entries in series_of(X)})


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
        finalize=_unbroken,
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


def _unbroken(value: object) -> Any:
    """Typeset the numbers of a text; return markup and other types unchanged."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return typeset(value)

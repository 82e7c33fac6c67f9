"""The page of a report: its sections in order, put into the template."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from os import PathLike
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bochner._base.file_writing import as_path, replacing
from bochner._base.number_texts import counted
from bochner.comparison.study import Study
from bochner.comparison.verdict import calibration, scope, verdict
from bochner.report.about import data_section, model_section, reproduction_section
from bochner.report.accuracy import errors_section, intervals_section, predictions_section, shown
from bochner.report.blocks import Finding, Section, numbered
from bochner.report.class_sections import probabilities_section, recognition_section
from bochner.report.column_sections import effects_section, importance_section
from bochner.report.diagnostics import diagnostics_section, findings
from bochner.report.drift import Drift
from bochner.report.figures import typeset, without_control
from bochner.report.residual_section import MOST_COLUMNS, drifts, residuals_section
from bochner.report.subject import Subject, subjects_of
from bochner.report.unlike_rows import unlike_section
from bochner.report.words import cut, quoted

_MOST_FIGURES = {"residuals": MOST_COLUMNS, "effects": 8, "pairs": 2}
"""Most figures of a kind; several targets share them, so that the file stays small."""

_FEWEST_FIGURES = 2
"""Fewest figures of a kind for each of several targets."""

_KEY_FIGURES = {
    "rmse": "RMSE",
    "r2": "of the variance explained",
    "coverage": "of observations in {level} intervals",
    "error": "of the rows predicted wrong",
    "log_loss": "log loss",
    "auc": "area under the ROC curve",
}
"""Metrics in the head of a report, and what stands next to them."""


@dataclass(frozen=True, slots=True)
class Title:
    """Kind and subject of a report, with its source file and rows."""

    kind: str
    before: str
    name: str
    source: str
    rows: str

    @property
    def short_source(self) -> str:
        """The source, cut if it is long."""
        return cut(self.source)


@dataclass(frozen=True, slots=True)
class Head:
    """Facts on a target in the head of a report."""

    name: str
    verdict: str
    calibration: str
    figures: Sequence[tuple[str, str]]
    to_check: Sequence[Finding]
    anchor: str


def html(studies: Sequence[Study]) -> str:
    """Return a report on a model as one self-contained HTML page.

    Parameters
    ----------
    studies : sequence of Study
        One for each target of a model, with the same table and model.

    Returns
    -------
    page : str

    Raises
    ------
    ValueError
        If there is no study, or if the studies belong to several models.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bochner import TableRegressor, report
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TableRegressor(effort="quick", random_state=0).fit(X[:300], y[:300])
    >>> page = report.html(report.report_of(model, X[300:], y[300:]).studies)
    >>> page[:15]
    '<!doctype html>'
    """
    subjects = subjects_of(studies)
    drifts_of_targets = [drifts(subject) for subject in subjects]
    checks = [findings(*each) for each in zip(subjects, drifts_of_targets, strict=True)]
    prefixes = [f"t{n}-" for n in range(1, len(subjects) + 1)] if len(subjects) > 1 else [""]
    parts = [
        _target_sections(subject, drifted, own_checks, prefix, len(subjects))
        for subject, drifted, own_checks, prefix in zip(
            subjects, drifts_of_targets, checks, prefixes, strict=True
        )
    ]
    first = subjects[0]
    if len(subjects) > 1:
        targets = [
            Section(f"{prefix}target", f"Target {quoted(subject.study.target)}", parts=target_parts)
            for subject, target_parts, prefix in zip(subjects, parts, prefixes, strict=True)
        ]
        targets += filter(None, [importance_section(first)])
    else:
        targets = parts[0]
    sections = [*targets, model_section(subjects), data_section(first), reproduction_section(first)]
    heads = [_head(*each) for each in zip(subjects, checks, prefixes, strict=True)]
    study = first.study
    rows = f"{first.n_fit:,} rows to fit, {counted(len(study.own.y), 'test row')}"
    title = Title(
        "Report on a model",
        "Predictions of",
        " and ".join(subject.name for subject in subjects),
        study.table.source,
        f"{rows} ({scope(study)})",
    )
    return rendered(title, heads, numbered(sections))


def write(studies: Sequence[Study], path: str | PathLike[str]) -> None:
    """Write a report on a model into an HTML file; see :func:`html`.

    A file of that name is replaced once the report is complete.
    """
    target = as_path(path)
    page = html(studies)
    with replacing(target) as fresh:
        fresh.write_text(page, encoding="utf-8")


def _target_sections(
    subject: Subject,
    column_drifts: Sequence[Drift],
    checks: Sequence[Finding],
    prefix: str,
    n_subjects: int,
) -> list[Section]:
    """Return the sections on a target, in order."""
    most = {
        name: max(_FEWEST_FIGURES, count // n_subjects) for name, count in _MOST_FIGURES.items()
    }
    sections: list[Section | None] = [errors_section(subject)]
    if subject.study.is_classification:
        sections += [recognition_section(subject), probabilities_section(subject)]
    else:
        sections.append(predictions_section(subject))
        if subject.study.own.lower is not None:
            sections.append(intervals_section(subject))
    sections.append(unlike_section(subject))
    sections.append(residuals_section(subject, column_drifts, most["residuals"]))
    if n_subjects == 1:
        sections.append(importance_section(subject))
    sections += [
        effects_section(subject, most["effects"], most["pairs"]),
        diagnostics_section(checks),
    ]
    return [replace(each, anchor=prefix + each.anchor) for each in sections if each is not None]


def _head(subject: Subject, checks: Sequence[Finding], prefix: str) -> Head:
    study = subject.named
    outcome, scores = study.own, study.own.scores()
    level = f"{100.0 * outcome.level:g} %"
    figures = [
        (shown(name, scores[name]), label.format(level=level))
        for name, label in _KEY_FIGURES.items()
        if name in scores and (name != "error" or outcome.classes is not None)
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
    """Typeset the numbers of a text; markup and other values are returned unchanged."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return typeset(value)

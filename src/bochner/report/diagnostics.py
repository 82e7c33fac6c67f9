"""Section on the findings of checks of a model and its data."""

from collections.abc import Iterator, Sequence

from bochner.comparison.study import Study
from bochner.report import data_checks, error_checks, unlike_rows
from bochner.report.blocks import Finding, Findings, Paragraph, Section
from bochner.report.drift import Drift
from bochner.report.residual_section import drifts
from bochner.report.subject import Subject, subjects_of
from bochner.report.words import listed

_WEIGHTS = ("check", "note", "fine")
"""Weights of findings, the most urgent first."""


def diagnostics_section(all_findings: Sequence[Finding]) -> Section:
    """Return the section of all findings, the most urgent first."""
    order = [each for weight in _WEIGHTS for each in all_findings if each.weight == weight]
    counts = {weight: sum(each.weight == weight for each in all_findings) for weight in _WEIGHTS}
    verb = "needs" if counts["check"] < 2 else "need"
    parts = [f"{counts['check'] or 'none'} {verb} attention"]
    if counts["note"]:
        parts.append(f"{counts['note']} {'is' if counts['note'] == 1 else 'are'} for information")
    parts.append(f"{counts['fine']} passed")
    text = f"Of {len(all_findings)} checks, {listed(parts)}."
    return Section("diagnostics", "Diagnostics", [Paragraph(text), Findings(order)])


def findings(subject: Subject, drifts: Sequence[Drift]) -> list[Finding]:
    """Return the findings of all checks that apply to a target."""
    return [finding for finding in _all(subject, drifts) if finding is not None]


def checks(study: Study) -> list[Finding]:
    """Return the findings of all checks of a study, as its report has them."""
    (subject,) = subjects_of([study])
    return findings(subject, drifts(subject))


def _all(subject: Subject, drifts: Sequence[Drift]) -> Iterator[Finding | None]:
    """Yield findings in the order of their importance; ``None`` where a check does not apply."""
    yield data_checks.rows(subject)
    yield error_checks.expectation(subject)
    yield error_checks.others(subject)
    yield error_checks.bias(subject)
    yield error_checks.coverage(subject)
    yield error_checks.coverage_by_size(subject)
    yield unlike_rows.unlike(subject)
    yield error_checks.drifting(drifts)
    yield error_checks.heavy_tails(subject)
    yield data_checks.classes(subject)
    yield data_checks.missing(subject)
    yield data_checks.left_out(subject)
    yield data_checks.correlated(subject)

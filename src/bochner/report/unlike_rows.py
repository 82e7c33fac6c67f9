"""Report section on test rows unlike the training rows, and a check of their predictions."""

from collections.abc import Callable, Mapping

import numpy as np
from scipy.stats import norm

from bochner._base.names import listed
from bochner._base.number_texts import percent
from bochner.comparison.outcomes import (
    KINDS_OF_ROWS,
    LIKE,
    METRICS,
    OF_SPREAD,
    Outcome,
    mean_score,
    outcome_coverage,
)
from bochner.comparison.verdict import excess, metric_text
from bochner.report.accuracy import score_columns
from bochner.report.html_blocks import Block, Finding, Section, Table, cells, counts, fine
from bochner.report.subject import Subject

_FEWEST = 5
"""Smallest number of rows of a kind whose errors are compared; with fewer rows, standard errors are
unreliable."""

_FALSE_ALARMS = 0.05
"""Family-wise false alarm rate over all kinds of rows."""

_OTHERS = "Fit again once targets of such rows are known, and until then rely on their errors here."
_ADVICE = {
    KINDS_OF_ROWS["missing"]: f"Fill in missing entries where you can. {_OTHERS}",
    KINDS_OF_ROWS["later"]: "Fit again with newer rows, and until then take a higher level.",
}
"""Advice by kind of rows."""


def unlike_section(subject: Subject) -> Section | None:
    """Return the section with errors by kind of rows; ``None`` without unlike rows."""
    by_kind, finding = subject.by_kind, unlike(subject)
    if finding is None:
        return None
    blocks: list[Block] = [finding.meaning or finding.title, _table(by_kind)]
    return Section("unlike", "Rows unlike the training rows", blocks)


def _table(by_kind: Mapping[str, Outcome]) -> Table:
    metrics = next(iter(by_kind.values())).metrics
    names = [name for name in metrics if name not in OF_SPREAD]
    kinds = {
        "kind of rows": cells(KINDS_OF_ROWS[kind] for kind in by_kind),
        "rows": counts([len(outcome.y) for outcome in by_kind.values()]),
    }
    note = "A row may be of several kinds."
    return Table.of(
        "Errors by kind of rows", kinds | score_columns(list(by_kind.values()), names), note=note
    )


def unlike(subject: Subject) -> Finding | None:
    """Check calibration and errors of rows unlike the training rows, next to the other rows."""
    by_kind = dict(subject.by_kind)
    if not by_kind:
        return None
    own, like = subject.study.own, by_kind.pop(LIKE, None)
    metric, sure, fault = own.metrics[0], "probabilities", "Probabilities are too high"
    meaning = "Predicted classes are right less often than their mean probability states"
    if own.classes is None:
        sure, fault = "intervals", "Intervals are too narrow"
        meaning = f"{100.0 * own.level:g} % intervals contain too few observations"
    unsafe = _noted(by_kind, lambda outcome: _unsafe(outcome, len(by_kind)))
    texts, larger = [f"{meaning} for rows {listed(unsafe)}."] if unsafe else [], list[str]()
    if like is not None:
        larger = _noted(by_kind, lambda outcome: _larger(metric, outcome, like, len(by_kind)))
        if larger:
            error = metric_text(metric, like.scores()[metric])
            texts.append(
                f"The {METRICS[metric]} is {error} for rows {LIKE}, and significantly larger for "
                f"rows {listed(larger)}."
            )
    if not texts:
        return fine(
            f"Errors and {sure} show no significant fault for rows unlike the training rows."
        )
    kinds = [text.partition(" (")[0] for text in unsafe or larger]
    title = f"{fault if unsafe else 'Errors are larger'} for rows {listed(kinds)}"
    advice = " ".join(dict.fromkeys(_ADVICE.get(kind, _OTHERS) for kind in kinds))
    return Finding("check" if unsafe else "note", title, " ".join(texts), advice)


def _noted(by_kind: Mapping[str, Outcome], note: Callable[[Outcome], str]) -> list[str]:
    """Return a text, such as "kind (note)", for each kind of rows with a nonempty note."""
    notes = {KINDS_OF_ROWS[kind]: note(outcome) for kind, outcome in by_kind.items()}
    return [f"{kind} ({text})" for kind, text in notes.items() if text]


def _unsafe(outcome: Outcome, n_kinds: int) -> str:
    """Return a note on the coverage, or the accuracy, if it is significantly too low."""
    covered = outcome_coverage(outcome, n_kinds)
    if covered is not None:
        return percent(covered.observed, digits=1) if covered.is_narrow else ""
    if outcome.probability is None or len(outcome.y) < _FEWEST:
        return ""
    gap, predicted = excess(outcome), float(np.mean(outcome.probability.max(axis=1)))
    if gap.value >= -_limit(n_kinds) * gap.std_error:
        return ""
    return f"{percent(predicted + gap.value, digits=1)}, not {percent(predicted, digits=1)}"


def _larger(metric: str, outcome: Outcome, like: Outcome, n_kinds: int) -> str:
    """Return a note on the error if it is significantly larger than for other rows."""
    if min(len(outcome.y), len(like.y)) < _FEWEST:
        return ""
    losses, others = (mean_score(each.losses(), each.clusters) for each in (outcome, like))
    chance = _limit(n_kinds) * np.hypot(losses.std_error, others.std_error)
    if not losses.value - others.value > chance:
        return ""
    return metric_text(metric, outcome.scores()[metric])


def _limit(n_kinds: int) -> float:
    """Return the critical number of standard errors for comparisons of ``n_kinds`` kinds."""
    return float(norm.isf(0.5 * _FALSE_ALARMS / n_kinds))

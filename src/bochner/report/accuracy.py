"""Report sections on errors, predictions, intervals and rows unlike the training rows."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.stats import norm

from bochner._base.arrays import as_array
from bochner._base.names import listed
from bochner._base.number_texts import counted, percent
from bochner.comparison.contenders import OURS
from bochner.comparison.outcomes import (
    KINDS_OF_ROWS,
    LIKE,
    METRICS,
    OF_SPREAD,
    Coverage,
    Outcome,
    Score,
    mean_score,
    outcome_coverage,
)
from bochner.comparison.verdict import (
    calibration,
    difference,
    excess,
    metric_text,
    metric_texts,
    scope,
    seconds_texts,
    without_probabilities,
)
from bochner.plot import comparison
from bochner.plot.class_errors import LEVELS, CalibrationDisplay, central_intervals
from bochner.plot.regression_errors import PredictionsDisplay
from bochner.report.html_blocks import (
    Block,
    Cell,
    Figure,
    Finding,
    Section,
    Table,
    cells,
    counts,
    drawn,
    fine,
)
from bochner.report.residual_section import beyond_axes
from bochner.report.subject import Subject

_FEWEST = 5
"""Fewest rows of a kind whose errors are compared, so that standard errors are reliable."""

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


def errors_section(subject: Subject) -> Section:
    """Return the section with the test errors of all methods and their standard errors."""
    study, metric = subject.named, subject.study.own.metrics[0]
    blocks: list[Block] = [_errors_text(subject), _errors_table(subject)]
    if without := without_probabilities(study):
        blocks.append(without)
    if study.others:
        known = {name: each for name, each in study.outcomes.items() if metric in each.metrics}
        title = subject.titled(f"{METRICS[metric]} of all methods")
        caption = _comparison_caption(known, metric)
        blocks.append(drawn(comparison(known, metric), title, caption))
    return Section("errors", "Errors", blocks)


def _errors_text(subject: Subject) -> str:
    study = subject.named
    parts = "groups" if study.own.clusters is not None else "rows"
    n_rows = len(study.own.y)
    text = (
        f"These are the errors on {counted(n_rows, 'test row')} ({scope(study)}) that no method "
        f"was fitted to. ± is one standard error over test {parts}."
    )
    if study.split.kind == "file":
        text = (
            f"These are the errors of {counted(n_rows, 'row')}. ± is one standard error over "
            f"{parts}. If the model was fitted to some of the rows, errors on new rows are larger."
        )
    if study.others:
        text += (
            " The last column divides the error of the model by the error of the method; its "
            "interval is two standard errors of the differences row by row."
        )
    return text


def _errors_table(subject: Subject) -> Table:
    own, others = subject.study.own, subject.study.others
    metric = own.metrics[0]
    known = (item for item in subject.study.outcomes.items() if metric in item[1].scores())
    outcomes = dict(sorted(known, key=lambda item: _rank(item[1], metric)))
    # Metrics known for the model alone allow no comparison, and are shown in other sections.
    least = min(2, len(outcomes))
    names = [n for n in own.metrics if sum(n in o.metrics for o in outcomes.values()) >= least]
    columns = {"method": cells(outcomes), **score_columns(list(outcomes.values()), names)}
    seconds = [outcome.seconds for outcome in outcomes.values()]
    if np.isfinite(seconds).any():
        columns["seconds to fit"] = cells(seconds_texts(seconds), seconds)
    if others:
        heading = f"{METRICS[metric]} of {OURS} / method"
        columns[heading] = [_ratio_cell(own, *item) for item in outcomes.items()]
    emphasized = list(outcomes).index(OURS)
    return Table.of("Errors on test rows", columns, emphasized=emphasized)


def _rank(outcome: Outcome, metric: str) -> float:
    return outcome.scores().get(metric, Score(np.inf)).value


def score_columns(outcomes: Sequence[Outcome], names: Sequence[str]) -> dict[str, list[Cell]]:
    """Return columns of metrics with their standard errors; unknown metrics are dashes."""
    scores = [outcome.scores() for outcome in outcomes]
    columns = {name: [each.get(name, Score(np.nan)) for each in scores] for name in names}
    return {
        METRICS[name]: cells(metric_texts(name, column), [score.value for score in column])
        for name, column in columns.items()
    }


def _ratio_cell(our_outcome: Outcome, method: str, other: Outcome) -> Cell:
    if method == OURS:
        return Cell("1", 1.0)
    gap = difference(our_outcome, method, other)
    return Cell(f"{gap.ratio:.2f} ({gap.lower:.2f} to {gap.upper:.2f})", gap.ratio)


def _comparison_caption(known: Mapping[str, Outcome], metric: str) -> str:
    best = min(known, key=lambda name: _rank(known[name], metric))
    lowest = metric_text(metric, known[best].scores()[metric])
    return f"{best} has the lowest {METRICS[metric]}, {lowest}. Whiskers are standard errors."


def predictions_section(subject: Subject) -> Section:
    """Return the section with predictions against observations, and errors by prediction size."""
    outcome = subject.study.own
    display = PredictionsDisplay(
        outcome.y, as_array(outcome.prediction), outcome.lower, outcome.upper, outcome.level
    )
    title = subject.titled("Predicted against observed values")
    caption = f"{_predictions_caption(subject)}{beyond_axes(display)}"
    blocks: list[Block] = [drawn(display, title, caption)]
    return Section("predictions", "Predicted and observed", blocks)


def _predictions_caption(subject: Subject) -> str:
    outcome = subject.study.own
    texts = ["Points on the line are predicted exactly."]
    scores = outcome.scores()
    if "coverage" in scores:
        texts.append(
            f"Bars are {100.0 * outcome.level:g} % prediction intervals, which contain "
            f"{percent(scores['coverage'].value, digits=1)} of the observations."
        )
    return " ".join(texts)


def intervals_section(subject: Subject) -> Section:
    """Return the section on the coverage of intervals at several levels."""
    study = subject.named
    return Section("calibration", "Calibration", [calibration(study), _coverage_figure(subject)])


def _coverage_figure(subject: Subject) -> Figure:
    study, outcome, levels = subject.study, subject.study.own, as_array(LEVELS)
    ends = central_intervals(study.model, study.split.X_test, levels, subject.study.number)
    display = CalibrationDisplay.from_intervals(outcome.y, *ends, levels, outcome.clusters)
    text = _coverage_caption(display)
    return drawn(display, subject.titled("Coverage of intervals by level"), text)


def _coverage_caption(display: CalibrationDisplay) -> str:
    """Return a sentence on levels with a coverage out of its range."""
    if not len(display.outside):
        return "Coverage is within the range of calibrated intervals at all levels."
    parts = display.predicted, display.observed, display.lower, display.upper
    worst = Coverage(*(float(part[display.outside[0]]) for part in parts))
    return (
        f"Coverage is outside of the range of calibrated intervals at {len(display.outside)} of "
        f"{len(display.observed)} levels. The largest difference: intervals of "
        f"{100.0 * worst.level:.0f} % contain {percent(worst.observed, digits=1)} of the "
        f"observations, {worst.judgement}."
    )

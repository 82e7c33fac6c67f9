"""Report sections on errors compared with other methods, numeric predictions and intervals."""

from collections.abc import Mapping, Sequence

import numpy as np

from bochner._base.arrays import as_array
from bochner._base.number_texts import counted, number, percent
from bochner.comparison.contenders import OURS
from bochner.comparison.outcomes import METRICS, Coverage, Outcome, Score, outcome_coverage
from bochner.comparison.verdict import best_other, calibration, difference, metric_text, scope
from bochner.plot import comparison
from bochner.plot.class_errors import LEVELS, CalibrationDisplay, central_intervals
from bochner.plot.regression_errors import PredictionsDisplay
from bochner.report.html_blocks import (
    Block,
    Cell,
    Figure,
    Section,
    Table,
    count_cell,
    drawn,
    number_cell,
    share_cell,
)
from bochner.report.subject import Subject

_THIRDS = ("lowest third", "middle third", "highest third")
_FEWEST = 5
"""Smallest number of rows in each third of the predictions for a table of errors."""


def errors_section(subject: Subject) -> Section:
    """Return the section with the test errors of all methods and their standard errors."""
    study, metric = subject.named, subject.study.own.metrics[0]
    blocks: list[Block] = [_errors_text(subject), _errors_table(subject)]
    if study.others:
        known = {name: each for name, each in study.outcomes.items() if metric in each.metrics}
        title = subject.titled(f"{METRICS[metric]} of all methods")
        caption = _comparison_caption(subject, known, metric)
        blocks.append(drawn(comparison(known, metric), title, caption))
    return Section("errors", "Errors", blocks)


def _errors_text(subject: Subject) -> str:
    study = subject.named
    parts = "groups" if study.own.clusters is not None else "rows"
    text = (
        f"Errors are those of {counted(len(study.own.y), 'test row')} ({scope(study)}), which no "
        f"method was fitted to; ± is one standard error over test {parts}."
    )
    if study.split.kind == "file":
        text = (
            f"Errors are those of {counted(len(study.own.y), 'row')}; ± is one standard error over "
            f"{parts}. If the model was fitted to some of them, errors on new rows are larger."
        )
    if study.others:
        text += (
            " The last column is the error of the model relative to that of the other method, with "
            "an interval of two standard errors from differences row by row."
        )
    return text


def _errors_table(subject: Subject) -> Table:
    outcomes, own = subject.study.outcomes, subject.study.own
    metric, others = own.metrics[0], subject.study.others
    # Metrics known for the model alone allow no comparison, and are shown in other sections.
    least = min(2, len(outcomes))
    names = [n for n in own.metrics if sum(n in o.metrics for o in outcomes.values()) >= least]
    timed = any(np.isfinite(outcome.seconds) for outcome in outcomes.values())
    heads = ["method", *(METRICS[name] for name in names), *["seconds to fit"] * timed]
    heads += [f"{METRICS[metric]} of {OURS} / method"] * bool(others)
    rows = []
    for method, outcome in outcomes.items():
        cells = [Cell(method), *score_cells(outcome, names)]
        cells += [number_cell(outcome.seconds)] * timed
        if others:
            cells.append(_ratio_cell(own, method, outcome, metric))
        rows.append((_rank(outcome, metric), cells))
    rows.sort(key=lambda row: row[0])
    order = [cells for _, cells in rows]
    emphasized = [cells[0].text for cells in order].index(OURS)
    return Table("Errors on test rows", heads, order, emphasized=emphasized)


def _rank(outcome: Outcome, metric: str) -> float:
    return outcome.scores().get(metric, Score(np.inf)).value


def score_cells(outcome: Outcome, names: Sequence[str]) -> list[Cell]:
    """Return cells with metrics and their standard errors, or dashes for unknown metrics."""
    scores = outcome.scores()
    return [
        Cell(metric_text(name, scores[name]), scores[name].value) if name in scores else _UNKNOWN
        for name in names
    ]


_UNKNOWN = Cell("–", np.nan)


def _ratio_cell(our_outcome: Outcome, method: str, other: Outcome, metric: str) -> Cell:
    if method == OURS:
        return Cell("1", 1.0)
    if metric not in other.metrics:
        return _UNKNOWN
    gap = difference(our_outcome, method, other)
    return Cell(f"{gap.ratio:.2f} ({gap.lower:.2f} to {gap.upper:.2f})", gap.ratio)


def _comparison_caption(subject: Subject, known: Mapping[str, Outcome], metric: str) -> str:
    best = min(known, key=lambda name: _rank(known[name], metric))
    lowest = metric_text(metric, known[best].scores()[metric])
    text = f"{best} has the lowest {METRICS[metric]}, {lowest}."
    if (gap := best_other(subject.named)) is not None:
        text += f" That of {OURS} is {gap.change} than that of {gap.other}; {gap.conclusion}."
    return f"{text} Whiskers are standard errors."


def thirds(outcome: Outcome) -> dict[str, Outcome]:
    """Return outcomes for small, middle and large predictions; empty for too few rows."""
    parts = np.array_split(np.argsort(outcome.prediction, kind="stable"), len(_THIRDS))
    if min(map(len, parts)) < _FEWEST:
        return {}
    return {name: outcome.part(rows) for name, rows in zip(_THIRDS, parts, strict=True)}


def predictions_section(subject: Subject) -> Section:
    """Return the section with predictions against observations, and errors by prediction size."""
    outcome, of_thirds = subject.study.own, thirds(subject.study.own)
    display = PredictionsDisplay(
        outcome.y, as_array(outcome.prediction), outcome.lower, outcome.upper, outcome.level
    )
    title = subject.titled("Predicted against observed values")
    blocks: list[Block] = [drawn(display, title, _predictions_caption(subject, of_thirds))]
    if of_thirds:
        blocks.append(_thirds_table(of_thirds))
    return Section("predictions", "Predicted and observed", blocks)


def _predictions_caption(subject: Subject, of_thirds: Mapping[str, Outcome]) -> str:
    outcome = subject.study.own
    texts = ["Points on the line are predicted exactly."]
    scores = outcome.scores()
    if "coverage" in scores:
        texts.append(
            f"Bars are {100.0 * outcome.level:g} % prediction intervals, which contain "
            f"{percent(scores['coverage'].value, digits=1)} of the observations."
        )
    if of_thirds:
        low, _, high = (part.scores()["rmse"].value for part in of_thirds.values())
        if max(low, high) > 1.25 * min(low, high):  # Smaller differences are hardly visible
            end, ratio = ("high", high / low) if high > low else ("low", low / high)
            times = f"{ratio:.1f} times" if ratio < 100.0 else "more than a hundred times"
            texts.append(f"Errors are largest at the {end} end: {times} those at the other.")
        else:
            texts.append("Errors are about equal at both ends.")
    return " ".join(texts)


def _thirds_table(of_thirds: Mapping[str, Outcome]) -> Table:
    rows = []
    for place, (name, part) in enumerate(of_thirds.items()):
        scores, unknown = part.scores(), Score(np.nan)
        low, high = (number(float(pick(part.prediction)), 3) for pick in (np.min, np.max))
        cells = [Cell(f"{name} ({low} to {high})", place), count_cell(len(part.y))]
        cells += [number_cell(scores["rmse"].value)]
        cells += [number_cell(float(np.mean(part.y - part.prediction)), 2)]
        cells += [share_cell(scores.get("coverage", unknown).value, digits=1)]
        rows.append([*cells, number_cell(scores.get("width", unknown).value)])
    heads = ("predictions", "rows", "RMSE", "observed − predicted", "coverage", "mean width")
    return Table("Errors by size of the prediction", heads, rows)


def intervals_section(subject: Subject) -> Section:
    """Return the section on the coverage of intervals at several levels."""
    study = subject.named
    return Section("calibration", "Calibration", [calibration(study), _coverage_figure(subject)])


def _coverage_figure(subject: Subject) -> Figure:
    study, outcome, levels = subject.study, subject.study.own, as_array(LEVELS)
    ends = central_intervals(study.model, study.split.X_test, levels, subject.study.number)
    display = CalibrationDisplay.from_intervals(outcome.y, *ends, levels, outcome.clusters)
    text = _coverage_caption(display, outcome_coverage(outcome))
    return drawn(display, subject.titled("Coverage of intervals by level"), text)


def _coverage_caption(display: CalibrationDisplay, at_level: Coverage | None) -> str:
    """Return a sentence on levels with a coverage out of its range, and on the study's level."""
    if not len(display.outside):
        return "Coverage is within the range of calibrated intervals at all levels."
    parts = display.predicted, display.observed, display.lower, display.upper
    worst = Coverage(*(float(part[display.outside[0]]) for part in parts))
    text = (
        f"Coverage is outside of the range of calibrated intervals at {len(display.outside)} of "
        f"{len(display.observed)} levels. The largest difference: intervals of "
        f"{100.0 * worst.level:.0f} % contain {percent(worst.observed, digits=1)} of the "
        f"observations, {worst.judgement}."
    )
    if at_level is None or at_level.level == worst.level:
        return text
    return f"{text} Those of {100.0 * at_level.level:g} % are {at_level.judgement}."

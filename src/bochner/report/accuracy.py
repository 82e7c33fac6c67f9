"""Report sections on errors compared with other methods, numeric predictions and intervals."""

from collections.abc import Mapping, Sequence

import numpy as np

from bochner._base.arrays import Array, as_array
from bochner._base.number_texts import counted, number, percent, with_error
from bochner.comparison.contenders import OURS
from bochner.comparison.outcomes import (
    METRICS,
    OF_CLASSES,
    OF_NUMBERS,
    Coverage,
    Outcome,
    Score,
    coverage_of,
    outcome_coverage,
)
from bochner.comparison.verdict import calibration, difference, scope
from bochner.plot import comparison
from bochner.plot.class_errors import CalibrationDisplay
from bochner.plot.regression_errors import PredictionsDisplay
from bochner.report.html_blocks import Block, Cell, Figure, Section, Table, drawn
from bochner.report.subject import Subject

_LEVELS = tuple(np.linspace(0.05, 0.95, 19).round(2).tolist())
"""Number of nominal levels at which interval coverage is drawn."""

_SHARES = ("r2", "coverage", "error")
"""Metrics that are shown in per cent."""

_THIRDS = ("lowest third", "middle third", "highest third")
_FEWEST = 5
"""Smallest number of rows in each third of the predictions for a table of errors."""


def metric_of(subject: Subject) -> str:
    """Return the name of the metric by which methods are compared."""
    outcome = subject.study.own
    if outcome.classes is None:
        return "rmse"
    return "log_loss" if outcome.probability is not None else "error"


def shown(name: str, score: Score) -> str:
    """Return the text of a table cell with a metric and its standard error."""
    if name in _SHARES:
        return percent(score.value, score.std_error)
    if name == "auc":
        return f"{score.value:.3f}"
    return with_error(score.value, score.std_error)


def errors_section(subject: Subject) -> Section:
    """Return the section with the test errors of all methods and their standard errors."""
    study = subject.named
    blocks: list[Block] = [_errors_text(subject), _errors_table(subject)]
    if study.others:
        metric = metric_of(subject)
        with_metric = {n: o for n, o in study.outcomes.items() if metric in o.scores()}
        caption = _comparison_caption(subject, metric)
        title = subject.titled(f"{METRICS[metric]} of all methods")
        blocks.append(drawn(comparison(with_metric, metric), title, caption))
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
    study, metric = subject.study, metric_of(subject)
    names = [*(OF_NUMBERS if study.own.classes is None else OF_CLASSES)]
    scores = {method: outcome.scores() for method, outcome in study.outcomes.items()}
    # Metrics known for the model alone allow no comparison, and are shown in other sections.
    least = 2 if len(scores) > 1 else 1
    names = [
        n for n in names if sum(n in method_scores for method_scores in scores.values()) >= least
    ]
    order = sorted(scores, key=lambda m: scores[m][metric].value if metric in scores[m] else np.inf)
    timed = any(np.isfinite(outcome.seconds) for outcome in study.outcomes.values())
    heads = ["method", *(METRICS[name] for name in names), *["seconds to fit"] * timed]
    heads += [f"{METRICS[metric]} of {OURS} / method"] * bool(study.others)
    rows = []
    for method in order:
        outcome, method_scores = study.outcomes[method], scores[method]
        cells = [Cell(method)] + [_score_cell(name, method_scores.get(name)) for name in names]
        if timed:
            cells.append(Cell(number(outcome.seconds, 3), outcome.seconds))
        if study.others:
            cells.append(_ratio_cell(study.own, method, outcome, metric))
        rows.append(cells)
    return Table("Errors on test rows", heads, rows, emphasized=order.index(OURS))


def _score_cell(name: str, score: Score | None) -> Cell:
    return Cell("–", np.inf) if score is None else Cell(shown(name, score), score.value)


def _ratio_cell(our_outcome: Outcome, method: str, other: Outcome, metric: str) -> Cell:
    if method == OURS:
        return Cell("1", 1.0)
    if metric not in other.scores():
        return Cell("–", np.inf)
    gap = difference(our_outcome, method, other)
    return Cell(f"{gap.ratio:.2f} ({gap.lower:.2f} to {gap.upper:.2f})", gap.ratio)


def _comparison_caption(subject: Subject, metric: str) -> str:
    study = subject.named
    scores = {
        n: score for n, o in study.outcomes.items() if (score := o.scores().get(metric)) is not None
    }
    order = sorted(scores, key=lambda name: scores[name].value)
    first, second = order[0], order[1] if len(order) > 1 else order[0]
    text = f"{first} has the lowest {METRICS[metric]}, {shown(metric, scores[first])}"
    if second == first:
        return f"{text}. Whiskers are standard errors."
    against = second if first == OURS else first
    n_compared = len(scores) - (OURS in scores)
    gap = difference(study.own, against, study.outcomes[against], n_compared)
    change = abs(gap.ratio - 1.0)
    direction = "lower" if gap.ratio < 1.0 else "higher"
    verb = "is" if gap.is_certain else "is not"
    return (
        f"{text}. That of {OURS} is {percent(change)} {direction} than that of {against}; the "
        f"difference {verb} significant. Whiskers are standard errors."
    )


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
        scores, bias = part.scores(), float(np.mean(part.y - part.prediction))
        cells = [Cell(f"{name} ({_ends(part.prediction)})", place)]
        cells += [Cell(f"{len(part.y):,}", len(part.y)), _cell(scores["rmse"]), _cell(bias, 2)]
        coverage = scores["coverage"].value if "coverage" in scores else np.nan
        cells += [Cell(percent(coverage, digits=1), coverage), _cell(scores.get("width"))]
        rows.append(cells)
    heads = ("predictions", "rows", "RMSE", "observed − predicted", "coverage", "mean width")
    return Table("Errors by size of the prediction", heads, rows)


def _cell(value: Score | float | None, digits: int = 3) -> Cell:
    size = value.value if isinstance(value, Score) else np.nan if value is None else value
    return Cell(number(size, digits), size)


def _ends(values: Array) -> str:
    return f"{number(float(values.min()), 3)} to {number(float(values.max()), 3)}"


def intervals_section(subject: Subject) -> Section:
    """Return the section on the coverage of intervals at several levels."""
    study = subject.named
    return Section("calibration", "Calibration", [calibration(study), _coverage_figure(subject)])


def _intervals_at(subject: Subject, levels: Array) -> tuple[Array, Array]:
    """Return lower and upper interval ends (n, k) of the test rows at k levels."""
    study = subject.study
    tails = np.concatenate((0.5 - 0.5 * levels, 0.5 + 0.5 * levels))
    ends = as_array(study.model.predict_quantiles(study.split.X_test, tails))
    if ends.ndim > 2:
        ends = ends[:, subject.number]
    return ends[:, : len(levels)], ends[:, len(levels) :]


def _coverage_figure(subject: Subject) -> Figure:
    outcome, levels = subject.study.own, np.array(_LEVELS)
    lower, upper = _intervals_at(subject, levels)
    is_covered = (lower <= outcome.y[:, None]) & (outcome.y[:, None] <= upper)
    coverages = [
        coverage_of(of_level, float(level), outcome.clusters)
        for of_level, level in zip(is_covered.T, levels, strict=True)
    ]
    display = CalibrationDisplay(
        levels,
        as_array([each.observed for each in coverages]),
        as_array([each.lower for each in coverages]),
        as_array([each.upper for each in coverages]),
        n=len(outcome.y),
    )
    text = _coverage_caption(coverages, outcome_coverage(outcome))
    return drawn(display, subject.titled("Coverage of intervals by level"), text)


def _coverage_caption(coverages: Sequence[Coverage], at_level: Coverage | None) -> str:
    """Return a sentence on the levels whose coverage is outside its expected range.

    At the level of the study, the sentence repeats the study's own result.
    """
    outside = [each for each in coverages if each.is_narrow or each.is_wide]
    if not outside:
        return "Coverage is within the range of calibrated intervals at all levels."
    worst = max(outside, key=lambda each: abs(each.observed - each.level))
    text = (
        f"Coverage is outside of the range of calibrated intervals at {len(outside)} of "
        f"{len(coverages)} levels. The largest difference: intervals of {100.0 * worst.level:.0f} "
        f"% contain {percent(worst.observed, digits=1)} of the observations, {worst.judgement}."
    )
    if at_level is None or at_level.level == worst.level:
        return text
    return f"{text} Those of {100.0 * at_level.level:g} % are {at_level.judgement}."

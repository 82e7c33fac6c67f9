"""Checks of errors, intervals and residuals, which return findings in words."""

from collections.abc import Sequence

import numpy as np

from bochner._base.names import listed
from bochner._base.number_texts import counted, number, percent, with_error
from bochner.comparison.outcomes import METRICS, Score, mean_score, outcome_coverage
from bochner.comparison.verdict import best_other, metric_texts
from bochner.report.html_blocks import Finding, fine, quoted
from bochner.report.residual_section import Drift, certain
from bochner.report.subject import Subject

_CERTAIN = 2.0
"""Number of standard errors beyond which a difference is significant at the 5 % level."""

_WORST = 0.01
"""Share of the rows that count as the rows with the largest errors."""

_HEAVY = 0.25
"""Least reported share of the squared error in the worst rows: three times the normal 8.4 %."""

_FEWEST_WORST = 5
"""Number of worst rows below which their share of the squared error is mostly chance."""

_MOST_NAMED = 5
"""Largest number of rows named in a finding."""

_LEAST_SHARE = 0.01
"""Smallest ratio of the squared mean residual to the mean squared error for which a bias is
reported; correcting a smaller bias gains nothing."""

_FUNCTIONS = {"log": "logarithm", "sqrt": "square root"}
"""Transformations in words; the logarithm needs a positive target."""

_DEPENDENT = (
    "If rows drift with time or come in groups, fit with the time or the group: the expected error "
    "is then the error on later rows or on new groups."
)
_ADVICE = {
    "random": _DEPENDENT,
    "file": _DEPENDENT,
    "time": "Rely on the error here, and fit again once newer rows are known.",
    "group": "Rely on the error here, and add groups that resemble future groups.",
}
"""Advice if test rows are harder to predict than expected, by the kind of test rows."""


def expectation(subject: Subject) -> Finding | None:
    """Compare the test error with the expected error, estimated by leaving out training rows."""
    study = subject.study
    metric = study.own.metrics[0]
    if study.model.score_ is None or metric == "error":
        return None
    expected = float(np.atleast_1d(study.model.score_)[subject.study.number])
    name, score = METRICS[metric], study.own.scores()[metric]
    # The expected error has about the standard error of the test error, or a smaller one.
    chance = _CERTAIN * np.sqrt(2.0) * np.nan_to_num(score.std_error)
    observed_error = with_error(score.value, score.std_error)
    told = metric_texts(metric, [score, Score(expected, score.std_error)], errors=False)[1]
    if score.value - expected <= max(chance, 0.02 * expected):  # Irrelevant below 2 %
        if expected - score.value <= chance:
            return fine(f"The {name} is as expected: {observed_error}, and {told} was expected.")
        return Finding(
            "note",
            f"The {name} is lower than expected: {observed_error}, and {told} was expected",
            "The test rows may be easier to predict than other rows.",
            f"For new rows, plan with a {name} of up to {told}.",
        )
    return Finding(
        "check",
        f"The {name} is higher than expected",
        f"Rows left out of the fit give an expected {name} of {told}; the rows here "
        f"have {observed_error}. These rows differ from the training rows.",
        f"Compare their columns with the training rows. {_ADVICE[study.split.kind]}",
    )


def others(subject: Subject) -> Finding | None:
    """Check whether another method has a lower error."""
    gap = best_other(subject.study)
    if gap is None:
        return None
    if not gap.is_worse:
        return fine("No other method has a significantly lower error.")
    first = "Fit with --effort thorough (effort='thorough' in Python). If the difference stays, "
    if subject.study.model.effort == "thorough":
        first = "For predictions, "
    return Finding(
        "check",
        f"{gap.other} has a lower error",
        f"The error of the model is {gap.change} (interval {percent(gap.lower - 1.0)} to "
        f"{percent(gap.upper - 1.0)}); the difference is significant.",
        f"{first}use the predictions of the other method. Importance and effects in this report "
        "describe the model only.",
    )


def bias(subject: Subject) -> Finding | None:
    """Check whether numeric predictions are unbiased."""
    outcome = subject.study.own
    if outcome.classes is not None:
        return None
    bias = mean_score(subject.residuals, outcome.clusters)
    if not np.isfinite(bias.std_error):  # A single test row
        return None
    least = np.sqrt(_LEAST_SHARE * np.mean(subject.residuals**2))
    if abs(bias.value) <= max(_CERTAIN * bias.std_error, least):
        return fine("Predictions are unbiased: the mean residual is about zero.")
    side = "low" if bias.value > 0.0 else "high"
    return Finding(
        "check",
        f"Predictions are too {side} on average",
        f"The mean residual is {with_error(bias.value, bias.std_error)}, where zero is expected.",
        "The rows here differ from the training rows in something that no column describes. Add a "
        "column for it, or fit to newer rows.",
    )


def coverage(subject: Subject) -> Finding | None:
    """Check whether intervals contain the nominal share of observations."""
    outcome = subject.study.own
    covered = outcome_coverage(outcome)
    if covered is None:
        return None
    contain = f"contain {percent(covered.observed, digits=1)}"
    level = f"{100.0 * outcome.level:g} % intervals"
    if covered.is_narrow:
        return Finding(
            "check",
            f"Intervals are too narrow: {level} {contain}",
            "More observations than stated are outside of their intervals. The rows here are "
            "harder to predict than the training rows, or depend on each other.",
            f"Take a higher level for such rows. {_ADVICE[subject.study.split.kind]}",
        )
    if not covered.is_wide:
        return fine(f"{level} are calibrated: they {contain} of the observations.")
    return Finding(
        "check",
        f"Intervals are too wide: {level} {contain}",
        "More observations than stated are inside of their intervals: the intervals are safe, but "
        "wider than necessary.",
        "Take a lower level where a narrow interval helps. If the rows here were used in the fit, "
        "evaluate the model on new rows.",
    )


def below_zero(subject: Subject) -> Finding | None:
    """Check whether predictions of a target without negative values are negative."""
    outcome, train = subject.study.own, subject.study.split.y
    if outcome.classes is not None or min(np.min(outcome.y), np.min(train)) < 0.0:
        return None
    lowest = outcome.prediction if outcome.lower is None else outcome.lower
    n_means, n_ends = int(np.sum(outcome.prediction < 0.0)), int(np.sum(lowest < 0.0))
    if not n_ends:
        return fine("No prediction and no interval goes below zero.")
    parts = [counted(n_means, "prediction")] * bool(n_means)
    parts += [counted(n_ends, "interval")] * (outcome.lower is not None)
    name = "log" if min(np.min(outcome.y), np.min(train)) > 0.0 else "sqrt"
    return Finding(
        "check" if n_means or n_ends > _LEAST_SHARE * len(outcome.y) else "note",
        f"{'Predictions' if n_means else 'Intervals'} below zero, but no observation is negative",
        f"Below zero: {' and '.join(parts)} of {counted(len(outcome.y), 'row')}.",
        f"Fit the target's {_FUNCTIONS[name]}: --transformation {name}, or transformation='{name}' "
        "in Python. All predictions are then positive.",
    )


def drifting(drifts: Sequence[Drift]) -> Finding | None:
    """Check whether residuals depend on a column or on time."""
    if not drifts:
        return None
    strong = certain(drifts)
    if not strong:
        names = counted(len(drifts), "column")
        return fine(f"Residuals show no significant dependence on any of {names}.")
    parts = [f"along {quoted(each.column)} {each.ends}" for each in strong[:3]]
    return Finding(
        "check",
        f"Residuals depend on {listed([quoted(each.column) for each in strong])}",
        f"Mean residuals range {listed(parts)}: predictions are biased there. One report of a "
        "hundred has such differences by chance.",
        "Fit with `--effort thorough` or more rows; along a time, fit to newer rows.",
    )


def heavy_tails(subject: Subject) -> Finding | None:
    """Check whether a few rows cause most of the squared error."""
    outcome = subject.study.own
    n_worst = int(_WORST * len(outcome.y))
    if outcome.classes is not None or n_worst < _FEWEST_WORST:
        return None
    squares = np.sort(subject.residuals**2)[::-1]
    share = float(squares[:n_worst].sum() / max(squares.sum(), 1e-300))
    text = f"the worst 1 % of the rows have {percent(share)} of the squared error"
    if share < _HEAVY:
        return fine(
            f"The error is spread over many rows: {text}. The largest errors: "
            f"{_worst_rows(subject, n_worst)}."
        )
    return Finding(
        "note",
        f"A few rows dominate the error: {text}",
        "With normal errors, their share would be 8.4 %. These rows determine the RMSE; the median "
        f"error describes the typical row. The largest errors: {_worst_rows(subject, n_worst)}.",
        "Inspect these rows: they may contain mistakes, or come from a group that the columns do "
        "not describe.",
    )


def _worst_rows(subject: Subject, n_worst: int) -> str:
    """Return a text that lists the rows with the largest errors, observed and predicted."""
    outcome, sizes = subject.study.own, np.abs(subject.residuals)
    worst = np.argsort(-sizes, kind="stable")[: min(n_worst, _MOST_NAMED)]
    return "; ".join(
        f"{subject.row_name(place)} (observed {number(float(outcome.y[place]))}, predicted "
        f"{number(float(outcome.prediction[place]))})"
        for place in worst
    )

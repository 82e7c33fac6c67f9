"""Section on residuals: whether they depend on a column, on time or on the prediction."""

from collections.abc import Sequence

import numpy as np

from bochner._base.number_texts import counted, number, percent, with_error
from bochner.plot.regression_errors import ResidualsDisplay
from bochner.report.blocks import Block, Cell, Figure, Figures, Paragraph, Section, Table
from bochner.report.drift import Drift, drift
from bochner.report.figures import drawn
from bochner.report.subject import Subject, shown_values
from bochner.report.words import cut, listed, quoted, short

MOST_COLUMNS = 8
"""Columns against which residuals are drawn and tested: the most important ones."""


def drifts(subject: Subject) -> list[Drift]:
    """Return mean residuals along time-like columns and the most important ones."""
    names = dict.fromkeys([*subject.time_columns, *subject.important])
    chosen = list(names)[: MOST_COLUMNS + len(subject.time_columns)]
    clusters = subject.study.own.clusters
    column_drifts = (drift(subject.columns[name], subject.residuals, clusters) for name in chosen)
    return [each for each in column_drifts if each is not None]


def residuals_section(subject: Subject, column_drifts: Sequence[Drift], most: int) -> Section:
    """Return tests of residuals and, for numbers, pictures of them against columns."""
    blocks: list[Block] = [Paragraph(_text(subject, column_drifts))]
    if not subject.study.is_classification:
        blocks.append(Figures(_figures(subject, column_drifts, most)))
    if column_drifts:
        blocks.append(_table(subject, column_drifts))
    return Section("residuals", "Residuals", blocks)


def certain(column_drifts: Sequence[Drift]) -> list[Drift]:
    """Return the columns on which residuals depend significantly, the strongest first."""
    return sorted(
        (each for each in column_drifts if each.is_certain(len(column_drifts))),
        key=lambda each: -each.share,
    )


def _text(subject: Subject, column_drifts: Sequence[Drift]) -> str:
    outcome = subject.study.own
    if outcome.classes is None:
        text = "Residuals are observations less predictions."
    elif len(outcome.classes) == 2:
        text = (
            f"The residual of a row is one if its class is {quoted(outcome.classes[1])} and zero "
            "if not, less the predicted probability of that class."
        )
    else:
        text = (
            "The residual of a row is one if the predicted class is right and zero if not, less "
            "the probability of that class."
        )
    n_unused = len(subject.important) - len({each.column for each in column_drifts})
    if column_drifts and n_unused > 0:
        text += (
            f" {counted(len(column_drifts), 'column')} of {len(subject.important)} are examined: "
        )
        are_ranked = subject.study.importance is not None
        text += f"the {'most important' if are_ranked else 'first'} columns, and times."
    if not column_drifts:
        return f"{text} There are too few test rows to tell whether they depend on a column."
    strong = certain(column_drifts)
    if not strong:
        return f"{text} They show no significant dependence on any examined column."
    names = listed([quoted(each.column) for each in strong])
    return f"{text} They depend significantly on {names}."


def _figures(subject: Subject, column_drifts: Sequence[Drift], most: int) -> list[Figure]:
    outcome = subject.study.own
    figures = [_against_predictions(subject)]
    for each in column_drifts[:most]:
        column = subject.columns[each.column]
        display = ResidualsDisplay(subject.residuals, shown_values(column), column.name)
        title = subject.titled(f"Residuals against {short(column.name)}")
        caption = f"{sentence(each, len(column_drifts))}{_beyond(display)}"
        figures.append(drawn(display, title, caption))
    return figures if len(outcome.y) > 1 else []


def _against_predictions(subject: Subject) -> Figure:
    outcome = subject.study.own
    display = ResidualsDisplay(subject.residuals, outcome.prediction.astype(np.float64))
    sizes = np.abs(subject.residuals)
    worst = int(np.argmax(sizes))
    caption = (
        f"Half of the residuals are less than {number(float(np.median(sizes)), 3)} in size. The "
        f"largest, {number(float(subject.residuals[worst]), 3)}, is that of a row with prediction "
        f"{number(float(outcome.prediction[worst]), 3)}.{_beyond(display)}"
    )
    return drawn(display, subject.titled("Residuals against predictions"), caption)


def _beyond(display: ResidualsDisplay) -> str:
    """Return a sentence on residuals beyond the axis of a figure, or an empty text."""
    n = display.n_beyond
    if not n:
        return ""
    verb = "lies" if n == 1 else "lie"
    what = "a triangle at its edge" if n == 1 else "triangles at its edge"
    return f" {counted(n, 'residual')} {verb} beyond the axis: {what}."


def sentence(column_drift: Drift, n_tests: int) -> str:
    """Describe the range of mean residuals along a column, and whether it is significant."""
    low, high = column_drift.extremes
    ends = (
        f"from {number(float(column_drift.mean[low]), 3)} ({column_drift.labels[low]}) to "
        f"{number(float(column_drift.mean[high]), 3)} ({column_drift.labels[high]})"
    )
    if column_drift.is_certain(n_tests):
        return (
            f"Along {quoted(column_drift.column)}, mean residuals drift {ends}: "
            f"{percent(column_drift.share)} of the squared error."
        )
    return (
        f"Along {quoted(column_drift.column)}, mean residuals range {ends}, which is not "
        "significant."
    )


def _table(subject: Subject, column_drifts: Sequence[Drift]) -> Table:
    rows = []
    for each in column_drifts:
        low, high = each.extremes
        row = [Cell(cut(each.column))]
        for place in (low, high):
            row.append(Cell(cut(each.labels[place])))
            mean = float(each.mean[place])
            row.append(Cell(with_error(mean, float(each.std_error[place])), mean))
        row.append(Cell(percent(each.share), each.share))
        p_value = "< 0.001" if each.p_value < 1e-3 else f"{each.p_value:.3f}"
        rows.append([*row, Cell(p_value, each.p_value)])
    heads = (
        "column",
        "lowest where",
        "mean residual",
        "highest where",
        "mean residual there",
        "share of squared error",
        "p",
    )
    note = (
        "Columns are cut into at most eight bins. The share is that of the squared error which the "
        "means of the bins explain; some of it is chance. p is the p-value of equal means, by "
        "Hotelling's test. A dependence is reported if p is below 0.01 divided by the "
        f"number of columns ({len(column_drifts)}) and the share is above 1 %."
    )
    return Table("Mean residuals by column", heads, rows, note)

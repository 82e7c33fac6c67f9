"""Section on residuals: whether they depend on a column, on time or on the prediction."""

from collections.abc import Sequence

import numpy as np

from bochner.comparison.shown import counted
from bochner.plot import ResidualsDisplay
from bochner.report.blocks import Block, Cell, Figure, Figures, Paragraph, Section, Table
from bochner.report.drift import Drift, drift
from bochner.report.figures import drawn
from bochner.report.subject import Subject, shown_values
from bochner.report.words import cut, listed, number, percent, quoted, short, with_error

MOST_COLUMNS = 8
"""Columns against which residuals are drawn and tested: the most important ones."""


def drifts(subject: Subject) -> list[Drift]:
    """Return mean residuals along time-like columns and the most important ones."""
    names = dict.fromkeys([*subject.time_columns, *subject.important])
    chosen = list(names)[: MOST_COLUMNS + len(subject.time_columns)]
    clusters = subject.study.own.clusters
    found = (drift(subject.columns[name], subject.residuals, clusters) for name in chosen)
    return [each for each in found if each is not None]


def residuals_section(subject: Subject, found: Sequence[Drift], most: int) -> Section:
    """Return tests of residuals and, for numbers, pictures of them against columns."""
    blocks: list[Block] = [Paragraph(_text(subject, found))]
    if not subject.study.is_classification:
        blocks.append(Figures(_figures(subject, found, most)))
    if found:
        blocks.append(_table(subject, found))
    return Section("residuals", "Residuals", blocks)


def certain(found: Sequence[Drift]) -> list[Drift]:
    """Return the columns that residuals depend on beyond chance, the strongest first."""
    return sorted(
        (each for each in found if each.is_certain(len(found))), key=lambda each: -each.share
    )


def _text(subject: Subject, found: Sequence[Drift]) -> str:
    own = subject.study.own
    if own.classes is None:
        text = "Residuals are observations less predictions."
    elif len(own.classes) == 2:
        text = (
            f"The residual of a row is one if its class is {quoted(own.classes[1])} and zero if "
            "not, less the predicted probability of that class."
        )
    else:
        text = (
            "The residual of a row is one if the predicted class is right and zero if not, less "
            "the probability of that class."
        )
    n_unused = len(subject.important) - len({each.column for each in found})
    if found and n_unused > 0:
        text += f" {counted(len(found), 'column')} of {len(subject.important)} are examined: "
        are_ranked = subject.study.importance is not None
        text += f"{'those that matter most' if are_ranked else 'the first ones'}, and times."
    if not found:
        return f"{text} There are too few test rows to tell whether they depend on a column."
    strong = certain(found)
    if not strong:
        return f"{text} They depend on none of the columns examined, beyond chance."
    names = listed([quoted(each.column) for each in strong])
    return f"{text} Beyond chance, they depend on {names}."


def _figures(subject: Subject, found: Sequence[Drift], most: int) -> list[Figure]:
    own = subject.study.own
    figures = [_against_predictions(subject)]
    for each in found[:most]:
        column = subject.columns[each.column]
        display = ResidualsDisplay(subject.residuals, shown_values(column), column.name)
        title = subject.titled(f"Residuals against {short(column.name)}")
        figures.append(drawn(display, title, sentence(each, len(found))))
    return figures if len(own.y) > 1 else []


def _against_predictions(subject: Subject) -> Figure:
    own = subject.study.own
    display = ResidualsDisplay(subject.residuals, own.prediction.astype(np.float64))
    sizes = np.abs(subject.residuals)
    worst = int(np.argmax(sizes))
    caption = (
        f"Half of the residuals are less than {number(float(np.median(sizes)), 3)} in size. The "
        f"largest, {number(float(subject.residuals[worst]), 3)}, is that of a row with prediction "
        f"{number(float(own.prediction[worst]), 3)}."
    )
    return drawn(display, subject.titled("Residuals against predictions"), caption)


def sentence(found: Drift, n_tests: int) -> str:
    """Return where residuals are least and largest along a column, and whether it is chance."""
    low, high = found.extremes
    ends = (
        f"from {number(float(found.mean[low]), 3)} ({found.labels[low]}) to "
        f"{number(float(found.mean[high]), 3)} ({found.labels[high]})"
    )
    if found.is_certain(n_tests):
        return (
            f"Along {quoted(found.column)}, mean residuals drift {ends}: "
            f"{percent(found.share)} of the squared error."
        )
    return f"Along {quoted(found.column)}, mean residuals go {ends}, which is within chance."


def _table(subject: Subject, found: Sequence[Drift]) -> Table:
    rows = []
    for each in found:
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
        f"number of columns ({len(found)}) and the share is above 1 %."
    )
    return Table("Mean residuals by column", heads, rows, note)

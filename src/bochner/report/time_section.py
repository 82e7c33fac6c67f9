"""Section on time-like columns: kernel and spectrum along them, and their periods."""

import numpy as np
from numpy.typing import NDArray

from bochner.files.columns import read_column
from bochner.plot import KernelDisplay, SpectrumDisplay
from bochner.report.along_time import AlongTime, along_time
from bochner.report.blocks import Block, Figure, Figures, Paragraph, Section
from bochner.report.figures import drawn
from bochner.report.subject import Subject, series_of
from bochner.report.words import listed, number, quoted, short
from bochner.tables.sensitivity import VarianceShares

_SHORT_LAGS = 15.0
"""Days of the picture of short lags: two weeks, so that the day and the week show."""

_WEEK = 7.0
"""Days between the lags of the picture of long lags: whole weeks leave day and week out."""

_POINTS = 600
"""Most points of a curve: about one for each pixel of a figure."""

_LEAST_SHARE = 0.01
"""Least importance of a column whose kernel is shown."""

_COLUMNS = 2
"""Most time-like columns that are shown."""


def times_section(subject: Subject) -> Section | None:
    """Return the section on kernels of time-like columns; ``None`` without such columns."""
    shares = subject.study.importance
    if shares is None:
        return None
    blocks: list[Block] = []
    for name in subject.time_columns[:_COLUMNS]:
        blocks += _column_blocks(subject, name, shares)
    if not blocks:
        return None
    text = (
        "The kernel is the prior correlation of functions between a row and the same row at "
        "another time, after their mean over time is removed. It contains every cycle in the "
        "encoding of dates. The spectrum is that of predictions for rows that are moved to all "
        "times and keep their other columns, without periods longer than half of the range. A "
        "period is named if its peak stands out and its variance is at least a tenth of the error "
        "variance."
    )
    return Section("time", "Time and periods", [Paragraph(text), *blocks])


def _column_blocks(subject: Subject, name: str, shares: VarianceShares) -> list[Block]:
    share = dict(zip(shares.columns, shares.share.tolist(), strict=True)).get(name, 0.0)
    if share < _LEAST_SHARE:
        text = f"{quoted(name)} has less than 1 % of the variance: its kernel is not shown."
        return [Paragraph(text)]
    column = read_column(name, series_of(subject.study.split.X)[name])
    error = float(np.mean(subject.residuals**2))
    dependence = along_time(subject.study.model, column, error, subject.number)
    if dependence is None:
        return []
    return [Paragraph(periods_sentence(dependence)), Figures(_figures(subject, dependence))]


def periods_sentence(dependence: AlongTime) -> str:
    """Return which periods stand out."""
    if not dependence.periods:
        return f"Along {quoted(dependence.column)} no period stands out."
    periods = [
        f"{each.name} (standard deviation {number(each.std, 3)})" for each in dependence.periods
    ]
    noun = "a period" if len(periods) == 1 else "periods"
    return f"Along {quoted(dependence.column)} predictions have {noun} of {listed(periods)}."


def _figures(subject: Subject, dependence: AlongTime) -> list[Figure]:
    span, step = float(dependence.lags[-1]), float(dependence.lags[1])
    figures = []
    if dependence.unit == "days" and step <= 1.0 and span > 2.0 * _SHORT_LAGS:
        near = np.flatnonzero(dependence.lags <= _SHORT_LAGS)
        figures.append(_kernel_figure(subject, dependence, near, "short lags"))
        weeks = np.arange(0, len(dependence.lags), max(1, round(_WEEK / step)))
        figures.append(_kernel_figure(subject, dependence, weeks, "lags of whole weeks"))
    else:
        places = np.linspace(0, len(dependence.lags) - 1, _POINTS).astype(np.intp)
        figures.append(_kernel_figure(subject, dependence, np.unique(places), "all lags"))
    display = SpectrumDisplay(
        [short(dependence.column)],
        dependence.frequencies[:, None],
        dependence.weights,
        axis="period",
        longest=0.5 * span,
        unit=dependence.unit,
    )
    text = "No peak stands out from its surroundings, or is large next to the errors."
    if dependence.periods:
        best = max(dependence.periods, key=lambda each: each.std)
        text = f"The peak at {best.name} is the highest that stands out."
    title = subject.titled(f"Spectrum of predictions along {short(dependence.column)}")
    return [*figures, drawn(display, title, text)]


def _kernel_figure(
    subject: Subject, dependence: AlongTime, places: NDArray[np.intp], range_of_lags: str
) -> Figure:
    lags, values = dependence.lags[places], dependence.kernel[places]
    after = f" {dependence.unit}" if dependence.unit else ""
    name = (
        f"{short(dependence.column)} ({dependence.unit})"
        if dependence.unit
        else short(dependence.column)
    )
    display = KernelDisplay([name], lags[None], values[None, None], [["kernel"]])
    title = subject.titled(f"Kernel along {short(dependence.column)}, {range_of_lags}")
    low = int(np.argmin(values))
    end = f"{number(float(values[-1]), 2)} at a lag of {number(float(lags[-1]), 3)}{after}"
    text = f"The correlation is {end}."
    if values[low] < values[-1] - 0.01:  # A hundredth is not seen
        least = f"{number(float(values[low]), 2)}, at {number(float(lags[low]), 3)}{after}"
        text = f"The correlation is least, {least}, and {end}."
    return drawn(display, title, text)

"""Reports on forecasts of series, as a self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike

import numpy as np

from bochner._base.number_texts import counted, number, percent
from bochner.comparison.contenders import OURS
from bochner.comparison.forecast_fits import (
    OriginScores,
    SeriesForecast,
    forecast_coverage,
    forecast_verdict,
    mean_mase,
    model_facts,
    shown_times,
)
from bochner.plot.series_plots import component_display, forecast_display
from bochner.report.html_blocks import Block, Cell, Figure, Section, Table, drawn
from bochner.report.name_texts import cut
from bochner.report.page import Head, Title, rendered, write_page
from bochner.series.forecaster import Forecaster
from bochner.series.value_transformations import TRANSFORMATIONS

_MOST_SERIES = 12
"""Largest number of series with pictures: a series takes some hundred kilobytes and a second."""

_MOST_ROWS = 60
"""Largest number of forecast rows in a table; the CSV file has all rows."""

_MOST_PAST = 1_000
"""Largest number of values before the forecast at which components are drawn."""


def write_forecasts(
    model: Forecaster,
    forecasts: Sequence[SeriesForecast],
    scores: Mapping[str, OriginScores] | None,
    target: str,
    source: str,
    level: float,
    path: str | PathLike[str],
) -> None:
    """Write a report on the forecasts of a fitted model into an HTML file.

    ``scores`` are backtest errors by the name of the series in the model, or None if they were
    not measured.
    """
    is_single = len(forecasts) == 1
    names = list(model.series_)
    verdict = "" if scores is None else forecast_verdict(scores.values())
    scores = scores or {}
    sections = []
    if not is_single:
        sections.append(_overview(forecasts, names, scores, level))
    for place, (name, one) in enumerate(zip(names, forecasts, strict=True)):
        if place == _MOST_SERIES:
            break
        single = model if model.is_single_ else model.of(name)
        is_summed = model.reconciliation_ is not None
        parts = list(_parts(single, one, scores.get(name), level, target, is_summed))
        if is_single:
            sections += parts
        else:
            anchored = [replace(part, anchor=f"s{place}-{part.anchor}") for part in parts]
            sections.append(Section(f"s{place}", cut(one.name), parts=anchored))
    head = Head(target, verdict, "", _figures(scores), [], "")
    if scores:
        head = replace(head, calibration=forecast_coverage(scores.values(), level))
    if is_single:
        what = f"{counted(len(forecasts[0].values), 'value')}, {forecasts[0].span()}"
    else:
        what = f"{len(forecasts)} series"
    title = Title("Report on a forecast", "Forecast of", target, source, what)
    write_page(rendered(title, [head], sections), path)


def _figures(scores: Mapping[str, OriginScores]) -> list[tuple[str, str]]:
    series_scores = list(scores.values())
    if not series_scores:
        return []
    other = mean_mase(series_scores)
    share = float(np.concatenate([each.covered for each in series_scores]).mean())
    return [
        (number(mean_mase(series_scores, OURS), 3), "mean absolute scaled error (MASE)"),
        (number(other, 3), f"that of the {series_scores[0].other}"),
        (percent(share), "of the values within the intervals"),
    ]


def _overview(
    forecasts: Sequence[SeriesForecast],
    names: Sequence[str],
    scores: Mapping[str, OriginScores],
    level: float,
) -> Section:
    """Return the section with a table row for every series."""
    rows = []
    for name, one in zip(names, forecasts, strict=True):
        own_scores = scores.get(name)
        cells = [
            Cell(cut(one.name)),
            _cell(float(one.values.dropna().iloc[-1])),
            Cell(one.shown_times()[-1]),
        ]
        cells += [_cell(float(each[-1])) for each in (one.mean, one.lower, one.upper)]
        values = (np.nan, np.nan)
        if own_scores is not None:
            values = own_scores.mase(OURS), own_scores.mase(own_scores.other)
        rows.append([*cells, *(_cell(value, 3) for value in values)])
    heads = ["series", "last value", "forecast until", "forecast"]
    heads += [f"{100.0 * level:g} % from", "to"]
    heads += ["MASE", "MASE of the season repeated"] if scores else []
    note = ""
    if len(forecasts) > _MOST_SERIES:
        note = f"Pictures of the first {_MOST_SERIES} series follow."
    return Section(
        "all", "All series", [Table("Series and their last forecast", heads, rows, note)]
    )


def _parts(
    model: Forecaster,
    one: SeriesForecast,
    scores: OriginScores | None,
    level: float,
    target: str,
    is_summed: bool,
) -> Iterator[Section]:
    """Yield the report sections of one series."""
    name = cut(one.name)
    display = forecast_display(one, level, target)
    caption = (
        f"The series and its forecast for {counted(len(one.mean), 'time')}, with "
        f"{100.0 * level:g} % intervals."
    )
    yield Section("forecast", "Forecast", [drawn(display, f"Forecast of {name}", caption)])
    if scores is not None:
        yield Section("errors", "Errors from past origins", [_errors(scores, level)])
    components = list(_components(model, one, level, is_summed))
    yield Section("components", "Components", components)
    yield Section("values", "Values", [_values(one, level)])


def _errors(scores: OriginScores, level: float) -> Table:
    rows = [
        [
            Cell(name),
            _cell(scores.mae(name), 3),
            _cell(float(np.sqrt(np.mean(scores.errors[name] ** 2))), 3),
            _cell(scores.mase(name), 3),
        ]
        for name in (OURS, scores.other)
    ]
    note = (
        f"Forecasts of {counted(scores.horizon, 'step')} from "
        f"{counted(scores.n_origins, 'past origin')}, each by a model that was fitted to the "
        f"values before it. {forecast_coverage([scores], level)} The MASE is the error divided by "
        f"the mean absolute difference of values {counted(scores.season, 'step')} apart."
    )
    heads = ["method", "mean absolute error", "RMSE", "MASE"]
    return Table("Errors on values that were held out", heads, rows, note)


def _components(
    model: Forecaster, one: SeriesForecast, level: float, is_summed: bool
) -> Iterator[Block]:
    """Yield a table of facts on the model, and a picture of the forecast's components."""
    (series,) = model.series_.values()
    law = series.law
    yield model_facts(law, one.values.index)
    yield _component_figure(model, one, level, is_summed)
    if TRANSFORMATIONS[law.transformation].changes_scale:
        yield "Components are on the scale that is modelled, not on that of the values."


def _component_figure(
    model: Forecaster, one: SeriesForecast, level: float, is_summed: bool
) -> Figure:
    n_shown = min(len(one.values), _MOST_PAST)
    times = one.values.index[-n_shown:].append(one.times)
    inputs = None if one.inputs is None else one.inputs.iloc[-len(times) :]
    display = component_display(model, times, inputs, level=level, xlabel="")
    caption = (
        f"Components of the series and its forecast, with {100.0 * level:g} % intervals. The means "
        "of all components add up to the mean of the forecast"
        f"{' of this series alone' if is_summed else ''}."
    )
    return drawn(display, "Components", caption)


def _values(one: SeriesForecast, level: float) -> Table:
    times = shown_times(one.times)[:_MOST_ROWS]
    columns = zip(times, one.mean, one.lower, one.upper, strict=False)
    rows = [[Cell(time), *(_value(one, value) for value in values)] for time, *values in columns]
    hidden = len(one.times) - len(rows)
    note = f"{number(hidden)} further times are in the CSV file." if hidden else ""
    level_text = f"{100.0 * level:g} % from"
    head = cut(one.times.name or "time")
    return Table("Forecast", [head, "forecast", level_text, "to"], rows, note)


def _value(one: SeriesForecast, value: float) -> Cell:
    """Format a value of a series with as many decimals as its forecast."""
    return Cell(one.shown(value), float(value))


def _cell(value: float, digits: int = 4) -> Cell:
    return Cell(number(value, digits), value) if np.isfinite(value) else Cell("–")

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
    mean_scores,
    model_facts,
    shown_times,
)
from bochner.plot.series_plots import component_display, forecast_display
from bochner.report.html_blocks import Block, Cell, Section, Table, drawn, number_cell
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
    """Write a report on forecasts; ``scores`` by series are None if they were not measured."""
    is_single, names, known = len(forecasts) == 1, list(model.series_), scores or {}
    sections = [] if is_single else [_overview(forecasts, names, known, level)]
    for place, (name, one) in enumerate(zip(names[:_MOST_SERIES], forecasts, strict=False)):
        alone = model if model.is_single_ else model.of(name)
        parts = list(_parts(alone, one, known.get(name), level, target))
        if not is_single:
            parts = [replace(part, anchor=f"s{place}-{part.anchor}") for part in parts]
            parts = [Section(f"s{place}", cut(one.name), parts=parts)]
        sections += parts
    verdict = "" if scores is None else forecast_verdict(known.values())
    coverage = forecast_coverage(known.values(), level) if known else ""
    what = f"{len(forecasts)} series"
    if is_single:
        what = f"{counted(len(forecasts[0].values), 'value')}, {forecasts[0].span()}"
    title = Title("Report on a forecast", "Forecast of", target, cut(source), what)
    head = Head(target, verdict, coverage, _figures(known), [], "")
    write_page(rendered(title, [head], sections), path)


def _figures(scores: Mapping[str, OriginScores]) -> list[tuple[str, str]]:
    if not scores:
        return []
    ours, other, share = mean_scores(scores.values())
    return [
        (number(ours, 3), "mean absolute scaled error (MASE)"),
        (number(other, 3), f"that of the {next(iter(scores.values())).other}"),
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
        value, *forecast = (number_cell(each, 4) for each in one.last)
        cells = [Cell(cut(one.name)), value, Cell(shown_times(one.times)[-1]), *forecast]
        if own := scores.get(name):
            cells += [number_cell(own.mase(OURS)), number_cell(own.mase(own.other))]
        elif scores:
            cells += [number_cell(np.nan)] * 2
        rows.append(cells)
    heads = ["series", "last value", "forecast until", "forecast", *_ends(level)]
    heads += ["MASE", "MASE of the season repeated"] if scores else []
    is_long = len(forecasts) > _MOST_SERIES
    note = f"Pictures of the first {_MOST_SERIES} series follow." if is_long else ""
    table = Table("Series and their last forecast", heads, rows, note)
    return Section("all", "All series", [table])


def _ends(level: float) -> tuple[str, str]:
    return f"{100.0 * level:g} % from", "to"


def _parts(
    model: Forecaster,
    one: SeriesForecast,
    scores: OriginScores | None,
    level: float,
    target: str,
) -> Iterator[Section]:
    """Yield the report sections of one series."""
    caption = (
        f"The series and its forecast for {counted(len(one.mean), 'time')}, with "
        f"{100.0 * level:g} % intervals."
    )
    display = forecast_display(one, level, target)
    figure = drawn(display, f"Forecast of {cut(one.name)}", caption)
    yield Section("forecast", "Forecast", [figure])
    if scores is not None:
        yield Section("errors", "Errors from past origins", [_errors(scores, level)])
    yield Section("components", "Components", _components(model, one, level))
    yield Section("values", "Values", [_values(one, level)])


def _errors(scores: OriginScores, level: float) -> Table:
    rows = []
    for name in (OURS, scores.other):
        rmse = float(np.sqrt(np.mean(scores.errors[name] ** 2)))
        sizes = scores.mae(name), rmse, scores.mase(name)
        rows.append([Cell(name), *map(number_cell, sizes)])
    note = (
        f"Forecasts of {counted(scores.horizon, 'step')} from "
        f"{counted(scores.n_origins, 'past origin')}, each by a model that was fitted to the "
        f"values before it. {forecast_coverage([scores], level)} The MASE is the error divided by "
        f"the mean absolute difference of values {counted(scores.season, 'step')} apart."
    )
    heads = ["method", "mean absolute error", "RMSE", "MASE"]
    return Table("Errors on values that were held out", heads, rows, note)


def _components(model: Forecaster, one: SeriesForecast, level: float) -> list[Block]:
    """Return facts on the model, and a picture of the components of the forecast."""
    (series,) = model.series_.values()
    times = one.values.index[-_MOST_PAST:].append(one.times)
    inputs = None if one.inputs is None else one.inputs.iloc[-len(times) :]
    display = component_display(model, times, inputs, level=level, xlabel="")
    caption = (
        f"Components of the series and its forecast, with {100.0 * level:g} % intervals. The means "
        "of all components add up to the mean of the forecast."
    )
    facts = model_facts(series.law, one.values.index)
    blocks: list[Block] = [facts, drawn(display, "Components", caption)]
    if TRANSFORMATIONS[series.law.transformation].changes_scale:
        blocks.append("Components are on the scale that is modelled, not on that of the values.")
    return blocks


def _values(one: SeriesForecast, level: float) -> Table:
    times = shown_times(one.times)[:_MOST_ROWS]
    columns = zip(times, one.mean, one.lower, one.upper, strict=False)
    rows = [
        [Cell(time), *(Cell(one.shown(value), float(value)) for value in values)]
        for time, *values in columns
    ]
    hidden = len(one.times) - len(rows)
    note = f"{number(hidden)} further times are in the CSV file." if hidden else ""
    heads = [cut(one.times.name or "time"), "forecast", *_ends(level)]
    return Table("Forecast", heads, rows, note)

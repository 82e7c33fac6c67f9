"""Reports on forecasts of series, as a self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike

import numpy as np

from bochner._base.number_texts import counted, number
from bochner.comparison.contenders import OURS
from bochner.comparison.forecast_fits import OriginScores, SeriesFits, SeriesForecast
from bochner.comparison.forecast_words import (
    error_rows,
    forecast_coverage,
    forecast_times,
    forecast_verdict,
    horizon_rows,
    input_rows,
    missing_times,
    model_facts,
    number_of_values,
    origins_sentence,
    outlook_sentence,
    panel_sentence,
    period_rows,
    same_digits,
    series_rows,
    shown_times,
    uncompared,
    without,
)
from bochner.comparison.simple_forecasts import REGRESSION
from bochner.plot.series_plots import components, forecast
from bochner.report.html_blocks import MOST_UNFOLDED, Block, Cell, Section, Table, cut, drawn
from bochner.report.page import Head, Title, rendered, write_page
from bochner.series.forecaster import Forecaster
from bochner.series.series_law import SeriesLaw
from bochner.series.value_transformations import component_scale

_MOST_SERIES = 12
"""Largest number of series with pictures: a series takes some hundred kilobytes and a second."""

_MOST_ROWS = 60  # Largest number of forecast rows in a table; the CSV file has all rows
_MASE = (
    "The MASE is the mean absolute error divided by the mean absolute difference of values one "
    "season apart, of which those before a forecast count."
)
"""Explanation of scaled errors, which make series of different sizes comparable."""

_COUNTS = (
    "Counts that are mostly zero are compared by the root mean squared error (RMSE), as a forecast "
    "of zero may have the smallest mean absolute error. The scaled RMSE is that of errors divided "
    "by the mean absolute difference of values one season apart."
)
"""Explanation of the errors of counts."""

_CRPS = (
    " The CRPS measures the whole predictive distribution, in units of the values; without a "
    "distribution it is the mean absolute error."
)
_SMAPE = " The sMAPE of a value y with the forecast f is 200 |y \u2212 f| / (|y| + |f|) per cent."
"""Explanation of the scores of a single series."""

_INPUTS = " Among the other methods, only the linear regression uses the known inputs."
_JOINT = "Intervals are those of means and totals, from joint draws of all steps."
_MEDIANS = (
    " Each forecast is close to the median of its time, so that forecasts of single times do not "
    "add up to the total, the median of joint draws."
)
"""Explanation of the difference between the sum of all forecasts and the total."""

_ONE_MORE = "A holiday or day of the calendar has the value one, and other days zero."
_MOST_LISTED = 4  # Largest number of outliers with their values in a caption
_NORMAL = 1.645  # Half of a 90 % interval in standard deviations
_MOST_PAST = 1_000  # Largest number of values before the forecast at which components are drawn


def write_forecasts(
    fits: SeriesFits,
    scores: Mapping[str, OriginScores] | None,
    target: str,
    source: str,
    level: float,
    out: str,
    path: str | PathLike[str],
) -> None:
    """Write a report on forecasts; ``scores`` by series are None if not measured."""
    model, forecasts, n_refused, known = fits.model, fits.series, len(fits.refused), scores or {}
    is_single = len(forecasts) == 1
    sections = [] if is_single and not n_refused else [_overview(fits, known, level)]
    shown = zip(list(model.series_)[:_MOST_SERIES], forecasts, strict=False)
    for place, (name, one) in enumerate(shown):
        alone = model if model.is_single_ else model.of(name)
        parts = list(_parts(alone, one, known.get(name), level, target, out))
        if not is_single:
            parts = [replace(part, anchor=f"s{place}-{part.anchor}") for part in parts]
            parts = [Section(f"s{place}", cut(one.name), parts=parts)]
        sections += parts
    verdict = "" if scores is None else forecast_verdict(known.values())
    coverage = forecast_coverage(known.values(), level) if known else ""
    what = f"{len(forecasts)} series"
    if is_single:
        ends = shown_times(forecasts[0].values.index[[0, -1]])
        what = f"{number_of_values(forecasts[0])}, {' to '.join(ends)}"
    outlook = outlook_sentence(forecasts[0], level) if is_single else ""
    what += without(n_refused)
    if outlook := outlook or panel_sentence(forecasts, level, n_refused):
        verdict, coverage = outlook, f"{verdict} {coverage}".strip()
    title = Title("Report on a forecast", "Forecast of", target, cut(source), what)
    head = Head(target, verdict, coverage, [], [], "")
    write_page(rendered(title, [head], sections), path)


def _overview(fits: SeriesFits, scores: Mapping[str, OriginScores], level: float) -> Section:
    """Return the section with a table row for every series."""
    forecasts = fits.series
    pairs = zip(fits.model.series_, forecasts, strict=True)
    listed = [(one, forecast_times(one)[-1], scores.get(name)) for name, one in pairs]
    heads, rows = series_rows(listed, level)
    is_long = len(forecasts) > _MOST_SERIES
    note = f"Pictures of the first {_MOST_SERIES} series follow. " if is_long else ""
    kinds = {each.are_counts for each in scores.values()}
    parts = [*[_MASE] * (False in kinds), *[_COUNTS] * (True in kinds)]
    note += " ".join([*parts, uncompared(len(forecasts), len(scores))]).strip() if scores else ""
    tables: list[Block] = [Table("Series and their forecasts", heads, _cells(rows), note)]
    if fits.refused:
        reasons = [[Cell(cut(name)), Cell(reason)] for name, reason in fits.refused.items()]
        tables.append(Table("Series without a forecast", ["series", "reason"], reasons))
    return Section("all", "All series", tables)


def _cells(rows: Sequence[Sequence[str]]) -> list[list[Cell]]:
    """Return the cells of rows of texts, with numbers by which columns are sorted."""
    return [[Cell(cut(row[0])), *map(_cell, row[1:])] for row in rows]


def _cell(text: str) -> Cell:
    digits = text.removesuffix(" %").replace(",", "").replace("\u2212", "-")
    try:
        return Cell(text, float(digits))
    except ValueError:  # A time, or no number
        return Cell(text)


def _ends(level: float) -> tuple[str, str]:
    return f"{100.0 * level:g} % from", "to"


def _parts(
    model: Forecaster,
    one: SeriesForecast,
    scores: OriginScores | None,
    level: float,
    target: str,
    out: str,
) -> Iterator[Section]:
    """Yield the report sections of one series."""
    later = None if one.inputs is None else one.inputs.iloc[-len(one.times) :]
    display = forecast(model, one.times, inputs=later, level=level, ylabel=target, xlabel="")
    n_past = 0 if display.history is None else len(display.history[0])
    caption = (
        f"The last {counted(n_past, 'value')} of {len(one.values):,} and the forecast for "
        f"{counted(len(one.mean), one.unit)}, with {100.0 * level:g} % intervals."
    )
    if display.outliers is not None and len(display.outliers[1]):
        listed = same_digits(display.outliers[1][:_MOST_LISTED].tolist())
        caption += f" Ignored outliers: {', '.join(listed)}."
    heads, rows = period_rows(one, level)
    caption += _MEDIANS if one.are_counts and len(one.mean) > 1 and not rows else ""
    blocks: list[Block] = [drawn(display, f"Forecast of {cut(one.name)}", caption)]
    if rows:
        note = _JOINT + _MEDIANS * one.are_counts
        blocks.append(Table(f"Forecast by {heads[0]}", heads, _cells(rows), note))
    yield Section("forecast", "Forecast", blocks)
    if scores is not None:
        yield Section("errors", "Errors from past origins", _errors(scores))
    yield Section("components", "Components", _components(model, one, level))
    yield Section("values", "Values", [_values(one, level, out)])


def _errors(scores: OriginScores) -> list[Block]:
    regression = _INPUTS if REGRESSION in scores.errors else ""
    note = (
        f"Forecasts of {counted(scores.horizon, 'step')} from "
        f"{counted(scores.n_origins, 'past origin')}, each from the values before it alone. "
        f"{origins_sentence([scores])} The "
        "Theta method removes all seasons, smooths the rest exponentially and follows half of its "
        f"slope.{regression} The best other method is chosen by these errors, in its favour."
    )
    heads, rows = error_rows(scores)
    own = scores.methods.index(OURS)
    title = "Errors on values that were held out"
    blocks: list[Block] = [Table(title, heads, _cells(rows), note, emphasized=own)]
    heads, rows = horizon_rows(scores)
    note = _COUNTS + _CRPS if scores.are_counts else _MASE + _CRPS + _SMAPE
    return [*blocks, Table("Errors by the number of steps ahead", heads, _cells(rows), note)]


def _components(model: Forecaster, one: SeriesForecast, level: float) -> list[Block]:
    """Return facts on the model, and a picture of the components of the forecast."""
    (series,) = model.series_.values()
    times = one.values.index[-_MOST_PAST:].append(one.times)
    inputs = None if one.inputs is None else one.inputs.iloc[-len(times) :]
    display = components(model, times, inputs, level=level, xlabel="")
    facts = model_facts(series, one.values.index)
    if missing := missing_times(one):
        facts["Missing"] = missing
    law, is_log = series.law, component_scale(series.law.transformation) == "log"
    if isinstance(law, SeriesLaw) and law.transformation in ("log", "none"):
        size = _NORMAL * law.noise
        text = f"{100.0 * np.expm1(size):.2g} %" if is_log else number(size, 2)
        facts["Noise"] = f"\u00b1{text} (90 % of the {one.unit}s), no component"
    others = "and what the other components multiply, in per cent" if is_log else "and other parts"
    caption = (
        f"The trend {others}, the largest first, with {100.0 * level:g} % intervals. A season of "
        "many periods is drawn as its last one."
    )
    blocks: list[Block] = [facts, drawn(display, "Components", caption)]
    if law.inputs.shape[1]:
        heads = ["input or day", "effect of one more", *_ends(level)]
        rows = _cells(input_rows(one, series, level))
        blocks.append(Table("Effects of known inputs and days", heads, rows, _ONE_MORE))
    return blocks


def _values(one: SeriesForecast, level: float, out: str) -> Table:
    times = forecast_times(one)[:_MOST_ROWS]
    if one.unit == "day" and hasattr(one.times, "strftime"):
        times = one.times[:_MOST_ROWS].strftime("%a %Y-%m-%d").tolist()
    columns = zip(times, one.mean, one.lower, one.upper, strict=False)
    rows = [
        [Cell(time), *(Cell(one.shown(value), float(value)) for value in values)]
        for time, *values in columns
    ]
    is_part = len(rows) < len(one.times)
    title = f"Forecast: first {len(rows)} of {len(one.times):,}; all are in {out}"
    heads = [cut(one.times.name or "time"), "forecast", *_ends(level)]
    return Table(title if is_part else "Forecast", heads, rows, is_folded=len(rows) > MOST_UNFOLDED)

"""`bochner forecast`: fits and forecasts the series of a table, measures and shows errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from bochner._base.names import listed
from bochner._base.number_texts import counted, number
from bochner._base.progress import Progress
from bochner.cli.options import fraction_option, read_options
from bochner.cli.output import (
    cells_table,
    check_outputs,
    facts_table,
    is_standard_output,
    noting_warnings,
    plain_text,
    print_blocks,
    print_files,
    reporting,
    write_csv,
    write_json,
)
from bochner.comparison.contenders import OURS
from bochner.comparison.forecast_fits import (
    OriginScores,
    Request,
    SeriesFits,
    SeriesForecast,
    forecast_each,
    past_scores,
)
from bochner.comparison.forecast_words import (
    error_rows,
    extremes,
    forecast_coverage,
    forecast_times,
    forecast_verdict,
    missing_times,
    model_facts,
    number_of_values,
    origins_sentence,
    outlook,
    outlook_sentence,
    panel_sentence,
    series_rows,
    shown_times,
    uncompared,
    without,
)
from bochner.files.errors import InputError
from bochner.files.joined_dates import join_dates
from bochner.files.model_file import save
from bochner.files.series_table import (
    SeriesColumns,
    TableSeries,
    series_columns,
    stacked,
    table_series,
)
from bochner.files.table_reading import read
from bochner.series.forecaster import Forecaster

if TYPE_CHECKING:
    import pandas as pd

_MOST_ROWS, _FIRST_ROWS = 14, 6
"""Largest number of printed forecast rows; longer forecasts show the first and last rows."""

_MOST_SERIES = 12  # Largest number of series listed on the screen
_IN_PART = 1  # Exit code if some series were forecast and others could not be


@dataclass(frozen=True, slots=True, eq=False)
class _Forecasts:
    """The fitted model, the forecasts of all series, and backtest errors of some series."""

    fits: SeriesFits
    columns: SeriesColumns
    scores: Mapping[str, OriginScores]
    level: float

    @property
    def series(self) -> Sequence[SeriesForecast]:
        return self.fits.series

    @property
    def is_single(self) -> bool:
        return self.columns.series is None

    def listed(self) -> list[tuple[SeriesForecast, str, OriginScores | None]]:
        """Return each series with the text of its last time and its backtest errors."""
        return [
            (one, forecast_times(one)[-1], self.scores.get(name))
            for name, one in zip(self.fits.model.series_, self.series, strict=True)
        ]

    def table(self) -> pd.DataFrame:
        """Return the forecasts of all series as one table, as written to the CSV file."""
        import pandas as pd

        parts = []
        for one in self.series:
            times = pd.Index(forecast_times(one)) if one.fiscal else one.times
            part = pd.DataFrame({self.columns.time: times})
            if self.columns.series is not None:
                part.insert(0, self.columns.series, one.name)
            values = {"forecast": one.mean, "lower": one.lower, "upper": one.upper}
            written = {name: one.written(each) for name, each in values.items()}
            parts.append(part.assign(**written))
        return pd.concat(parts, ignore_index=True)


def forecast_table(options: SimpleNamespace) -> None:
    """Forecast the series of a table, measure the forecasts, write and show them."""
    level = fraction_option("--interval", options.interval)
    _check(options)
    unfitted = Forecaster(random_state=0)
    with noting_warnings() as notes, reporting() as progress:
        progress(f"reading {options.file}")
        columns, all_series, remarks, unread, fiscal = _read(options)
        request = Request(columns, options.horizon, options.holidays, level, fiscal)
        fits = forecast_each(all_series, unfitted, request, progress)
        scores = past_scores(fits, request, progress) if options.compare else {}
        refused = {**unread, **fits.refused}
        forecasts = _Forecasts(replace(fits, refused=refused), columns, scores, level)
        _write(forecasts, options, progress)
    write_csv(forecasts.table(), options.out)
    notes = [*remarks, *notes]
    if options.as_json:
        write_json(_record(forecasts, notes))
    else:
        console = Console(stderr=is_standard_output(options.out))
        _print(console, options.file, forecasts, notes)
        table = None if is_standard_output(options.out) else options.out
        files = {"Table": table, "Report": options.report, "Model": options.model}
        after = "--report forecast.html draws it." if options.report is None else None
        console.print()
        print_files(console, {**files, "Next": after})
    if refused:
        errors = Console(stderr=True, soft_wrap=True)
        n_all = len(fits.series) + len(refused)
        lines = [f"bochner: {len(refused)} of {n_all} series have no forecast:"]
        for line in (*lines, *(f"  {name!r:.60}: {reason}" for name, reason in refused.items())):
            errors.print(plain_text(line, "red"))
        raise typer.Exit(_IN_PART)


def _check(options: SimpleNamespace) -> None:
    """Raise an error for contradictory options, before any data are read."""
    if options.series is not None and len(options.target) > 1:
        raise InputError(
            "--series is for series below each other, and several --target for series in "
            "columns: give one of them."
        )
    if options.as_json and is_standard_output(options.out):
        raise InputError("--json and --out - both write to standard output: name a file.")
    inputs = [each for each in (options.file, options.future) if each is not None]
    outputs = {"table": options.out, "model": options.model, "report": options.report}
    check_outputs(outputs, *inputs)


def _read(
    options: SimpleNamespace,
) -> tuple[SeriesColumns, list[TableSeries], list[str], dict[str, str], str]:
    """Return columns, series, notes, reasons to reject other series, and a fiscal year's text."""
    known = tuple(options.known or ())
    keep = {*options.target, options.time, options.series, *known} - {None}
    text = [options.series] if options.series else []
    table = read(options.file, read_options(options), keep=keep, text=text)
    frame, first = table.frame, options.target[0]
    notes, later = list(table.notes), None
    if options.future is not None:
        more = read(options.future, table.layout, keep=keep, text=text)
        later, notes = more.frame, [*notes, *more.notes]
    if options.time is None:
        frame, note = join_dates(frame, keep)
        notes += [note] if note else []
        later = join_dates(later, keep)[0] if note and later is not None else later
    columns = series_columns(frame, first, options.time, options.series, known)
    used = {columns.time, *options.target, options.series, *known}
    if others := [repr(str(name)) for name in frame.columns if name not in used]:
        verb = "is" if len(others) == 1 else "are"
        known_ahead = "--known takes inputs whose later values are known."
        notes.append(f"{listed(others)} {verb} not used; {known_ahead}")
    if len(options.target) > 1:
        frame, columns = stacked(frame, options.target, columns, later)
        later = None
    all_series, refused = table_series(frame, columns, later)
    written = str(table.layout.decisions.get(columns.time, {}).get("written", ""))
    return columns, all_series, notes, refused, written


def _write(forecasts: _Forecasts, options: SimpleNamespace, progress: Progress) -> None:
    """Write the model and the report."""
    if options.model is not None:
        save(forecasts.fits.model, options.model)
    if options.report is not None:
        from bochner.report.forecast_report import write_forecasts

        progress("writing the report")
        write_forecasts(
            forecasts.fits,
            forecasts.scores if options.compare else None,
            forecasts.columns.target,
            str(options.file),
            forecasts.level,
            "the CSV file" if is_standard_output(options.out) else str(options.out),
            options.report,
        )


def _record(forecasts: _Forecasts, notes: Sequence[str]) -> dict[str, object]:
    """Return the dictionary that ``--json`` prints."""
    series = []
    for one in forecasts.series:
        record: dict[str, object] = {
            "name": one.name,
            "n_values": len(one.values),
            "times": (times := forecast_times(one)),
            "forecast": one.mean.tolist(),
            "lower": one.lower.tolist(),
            "upper": one.upper.tolist(),
        }
        names = "forecast", "lower", "upper"
        for part, i in extremes(one).items():
            ends = (float(law[i]) for law in (one.mean, one.lower, one.upper))
            record[part] = {"time": times[i], **dict(zip(names, ends, strict=True))}
        if (whole := outlook(one, forecasts.level)) is not None:
            for part, values in zip(("mean", "total"), whole.tolist(), strict=True):
                record[part] = dict(zip(names, values, strict=True))
            record["text"] = outlook_sentence(one, forecasts.level)
        key = one.name if not forecasts.is_single else next(iter(forecasts.fits.model.series_))
        if key in forecasts.scores:
            scores = forecasts.scores[key]
            record["from_past_origins"] = {
                "horizon": scores.horizon,
                "n_origins": scores.n_origins,
                "origins": shown_times(scores.times[np.unique(scores.origins)]),
                "ranked_by": "rmse" if scores.are_counts else "mae",
                **_errors(scores, OURS),
                "crps": float(scores.crps.mean()),
                "coverage": scores.coverage,
                "others": {n: _errors(scores, n) for n in scores.methods if n != OURS},
            }
        series.append(record)
    record = {"level": forecasts.level, "series": series, "notes": list(notes)}
    return {**record, "refused": dict(forecasts.fits.refused)}


def _errors(scores: OriginScores, method: str) -> dict[str, float]:
    names = ("mase", "mae", "rmse", "smape")[: 3 + (not scores.are_counts)]
    return {name: getattr(scores, name)(method) for name in names}


def _print(console: Console, path: Path, forecasts: _Forecasts, notes: Sequence[str]) -> None:
    """Print the series, the errors from past origins and the forecast."""
    console.print(facts_table(_facts(path, forecasts, notes)))
    is_single = len(forecasts.series) == 1
    sentence = outlook_sentence(forecasts.series[0], forecasts.level) if is_single else ""
    n_refused = len(forecasts.fits.refused)
    if sentence := sentence or panel_sentence(forecasts.series, forecasts.level, n_refused):
        print_blocks(console, plain_text(sentence, "bold"))
    rows = _forecast_rows if is_single else _panel_rows
    print_blocks(console, rows(forecasts))
    if scores := forecasts.scores.values():
        verdict = plain_text(forecast_verdict(scores))
        notes = [forecast_coverage(scores, forecasts.level), origins_sentence(scores)]
        notes.append(uncompared(len(forecasts.series), len(scores)))
        remarks = plain_text(" ".join(notes).strip())
        print_blocks(console, verdict, _scores_table(forecasts), remarks)


def _facts(path: Path, forecasts: _Forecasts, notes: Sequence[str]) -> dict[str, str]:
    """Return facts on the series and, for a single series, on its model."""
    series = forecasts.series
    first = series[0]
    if len(series) == 1:
        span = " to ".join(shown_times(first.values.index[[0, -1]]))
        facts = {"Series": f"{path}: {number_of_values(first)}, {span}"}
        if missing := missing_times(first):
            facts["Missing"] = missing
        (fitted,) = forecasts.fits.model.series_.values()
        facts |= model_facts(fitted, first.values.index)
    else:
        lengths = [len(one.values) for one in series]
        span = " to ".join(number(length) for length in sorted({min(lengths), max(lengths)}))
        facts = {"Series": f"{path}: {len(series)} series of {span} values"}
    facts["Series"] += without(len(forecasts.fits.refused))
    if first.inputs is not None:
        facts["Inputs"] = ", ".join(map(str, first.inputs.columns))
    facts |= {"Note" if not place else " " * place: text for place, text in enumerate(notes)}
    return facts


def _scores_table(forecasts: _Forecasts) -> Table:
    """Return a table of backtest errors, by method for one series or by series for several."""
    if len(forecasts.series) == 1:
        ((_, only),) = forecasts.scores.items()
        heads, rows = error_rows(only)
        head = f"{counted(only.horizon, 'step')} from {counted(only.n_origins, 'origin')}"
        narrow = [[*row[:3], row[-1]] for row in rows]
        return cells_table((head, *heads[1:3], heads[-1]), narrow)
    heads, rows = series_rows(forecasts.listed(), forecasts.level)
    return cells_table(("scaled errors", *heads[6:]), [[row[0], *row[6:]] for row in rows])


def _forecast_rows(forecasts: _Forecasts) -> Table:
    """Return the forecast of a single series as a table; a long one is shortened to its ends."""
    (one,) = forecasts.series
    columns = zip(forecast_times(one), one.mean, one.lower, one.upper, strict=True)
    rows = [(time, *map(one.shown, values)) for time, *values in columns]
    if len(rows) > _MOST_ROWS:
        rows = [*rows[:_FIRST_ROWS], ("...", "", "", ""), *rows[-_FIRST_ROWS:]]
    level = f"{100.0 * forecasts.level:g} % from"
    return cells_table((forecasts.columns.time, "forecast", level, "to"), rows)


def _panel_rows(forecasts: _Forecasts) -> Table:
    """Return a table of the total or mean of each series, and its last forecast."""
    heads, rows = series_rows(forecasts.listed(), forecasts.level)
    lines = [row[:6] for row in rows[: min(len(forecasts.series), _MOST_SERIES)]]
    hidden = len(forecasts.series) - len(lines)
    return cells_table(heads[:6], [*lines, *[[f"{hidden} more", *[""] * 5]] * bool(hidden)])

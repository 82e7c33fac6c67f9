"""Options of the commands on a fitted model: each is stated here, and nowhere else."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol

import typer

from bochner.cli.options import (
    OUTPUT,
    Analysis,
    Interval,
    Json,
    MissingWords,
    Quiet,
    Report,
    SafeCsv,
    Seed,
    SkippedLines,
    TableName,
    fraction_option,
)


class _WithInterval(Protocol):
    @property
    def interval(self) -> float | None: ...


def interval_level(options: _WithInterval) -> float | None:
    """Return the level of the prediction intervals between 0 and 1, if one is given."""
    interval = options.interval
    return None if interval is None else fraction_option("--interval", interval)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictOptions:
    """Options of `bochner predict`."""

    std: Annotated[
        bool, typer.Option("--std", help="Add the predictive standard deviation, including noise.")
    ] = False
    interval: Annotated[
        float | None,
        typer.Option(help="Add prediction intervals of this level, such as 90 or 0.9."),
    ] = None
    quantiles: Annotated[
        str | None, typer.Option(help="Add quantiles of these levels, such as 10,50,90.")
    ] = None
    keep: Annotated[str, typer.Option(help="Columns of the table to copy: none, id or all.")] = "id"
    table: TableName = None
    missing: MissingWords = None
    skip: SkippedLines = None
    out: Annotated[
        Path | None, typer.Option(help="CSV file to write; - is standard output, as by default.")
    ] = None
    safe_csv: SafeCsv = False
    quiet: Quiet = False

    level = property(interval_level)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """Options of `bochner evaluate`."""

    group: Annotated[
        str | None, typer.Option(help="Column of groups whose errors are shown one by one.")
    ] = None
    interval: Interval = None
    table: TableName = None
    missing: MissingWords = None
    skip: SkippedLines = None
    report: Report = None
    analysis: Analysis = True
    as_json: Json = False

    level = property(interval_level)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainOptions:
    """Options of `bochner explain`."""

    row: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Row whose prediction is explained, from 1; repeat for more."),
    ] = None
    seed: Seed = 0
    table: TableName = None
    missing: MissingWords = None
    skip: SkippedLines = None
    out: Annotated[
        Path | None,
        typer.Option(
            help="CSV file for the contributions to all predictions, or to those of --row.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    picture: Annotated[
        Path | None,
        typer.Option(
            help="PNG, SVG or PDF file for a picture of the contributions to the prediction of "
            "--row, or to those of 50 rows.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    safe_csv: SafeCsv = False
    as_json: Json = False

"""Options of `bochner forecast`: each is stated here, and nowhere else."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bochner.cli.options import (
    MODEL,
    OUTPUT,
    READING,
    HeaderLines,
    Json,
    MissingWords,
    Quiet,
    SafeCsv,
    SkippedLines,
    TableName,
    Types,
    check_choice,
    fraction_option,
)
from bochner.cli.output import (
    check_csv_output,
    check_model_output,
    check_picture,
    check_report,
    is_standard_output,
)
from bochner.files.errors import InputError

SERIES = "Series"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastOptions:
    """Options of `bochner forecast`."""

    target: Annotated[
        list[str],
        typer.Option(
            help="Column to forecast; repeat for several series in columns.", rich_help_panel=SERIES
        ),
    ]
    time: Annotated[
        str | None,
        typer.Option(
            help="Column of times: dates, or numbers such as decimal years. By default the only "
            "column of dates.",
            rich_help_panel=SERIES,
        ),
    ] = None
    horizon: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of steps to forecast. By default the rows after the last known value.",
            rich_help_panel=SERIES,
        ),
    ] = None
    series: Annotated[
        str | None,
        typer.Option(
            help="Column that names the series of each row, if they are below each other.",
            rich_help_panel=SERIES,
        ),
    ] = None
    total: Annotated[
        str | None,
        typer.Option(
            help="Name of the sum of all series, a new or an existing one. Forecasts of the series "
            "then add up to its forecast.",
            rich_help_panel=SERIES,
        ),
    ] = None
    known: Annotated[
        list[str] | None,
        typer.Option(
            help="Column whose future values are known, such as a price; repeat for more. The rows "
            "to forecast have it, and no target.",
            rich_help_panel=SERIES,
        ),
    ] = None
    future: Annotated[
        Path | None,
        typer.Option(
            help="Table of the rows to forecast, if they are not in FILE.", rich_help_panel=SERIES
        ),
    ] = None
    holidays: Annotated[
        str | None,
        typer.Option(
            help="Country whose public holidays matter, such as DE, US or DE-BY. Needs the extra "
            "'holidays'.",
            rich_help_panel=SERIES,
        ),
    ] = None
    interval: Annotated[
        float,
        typer.Option(
            help="Level of the prediction intervals, such as 0.9 or 90.", rich_help_panel=MODEL
        ),
    ] = 0.9
    transformation: Annotated[
        str,
        typer.Option(
            help="Function of the values that is modelled: none, floor (values of zero or more), "
            "sqrt, log, or auto for the most likely one.",
            rich_help_panel=MODEL,
        ),
    ] = "auto"
    compare: Annotated[
        bool,
        typer.Option(
            help="Also measure errors: the last values of the series are forecast from the values "
            "before them, and compared with forecasts that repeat the last season. It takes up to "
            "three more fits.",
            rich_help_panel=MODEL,
        ),
    ] = True
    n_jobs: Annotated[
        int | None, typer.Option(help="Number of threads, -1 for all cores.", rich_help_panel=MODEL)
    ] = None
    seed: Annotated[
        int, typer.Option(min=0, help="Random seed of the fit.", rich_help_panel=MODEL)
    ] = 0
    decimal: Annotated[
        str, typer.Option(help="Decimal mark: auto, . or ,", rich_help_panel=READING)
    ] = "auto"
    dates: Annotated[
        str,
        typer.Option(
            help="Order of dates: auto, iso, dayfirst or monthfirst.", rich_help_panel=READING
        ),
    ] = "auto"
    types: Types = None
    missing: MissingWords = None
    skip: SkippedLines = None
    header: HeaderLines = None
    table: TableName = None
    out: Annotated[
        Path,
        typer.Option(
            help="CSV file of the forecast; - is standard output, and the summary then goes to "
            "standard error.",
            rich_help_panel=OUTPUT,
        ),
    ] = Path("forecast.csv")
    picture: Annotated[
        Path | None,
        typer.Option(help="PNG, SVG or PDF file for a picture.", rich_help_panel=OUTPUT),
    ] = None
    report: Annotated[
        Path | None, typer.Option(help="HTML file to write a report to.", rich_help_panel=OUTPUT)
    ] = None
    model: Annotated[
        Path | None,
        typer.Option(
            help="File to write the fitted model to, for `bochner inspect` and for bochner.load in "
            "Python. A later `bochner forecast` fits again.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    safe_csv: SafeCsv = False
    as_json: Json = False
    quiet: Quiet = False

    @property
    def level(self) -> float:
        """Level of the prediction intervals, between 0 and 1."""
        return fraction_option("--interval", self.interval)

    @property
    def inputs(self) -> Sequence[str]:
        """Columns whose future values are known."""
        return tuple(self.known or ())

    @property
    def writes_table(self) -> bool:
        """Whether the forecast goes to standard output."""
        return is_standard_output(self.out)

    def check(self, path: Path) -> None:
        """Raise an error that needs no data, where the options do not suit each other."""
        from bochner.series.value_transformations import TRANSFORMATIONS

        check_choice("transformation", self.transformation, ("auto", *TRANSFORMATIONS))
        if self.series is not None and len(self.target) > 1:
            raise InputError(
                "--series is for series below each other, and several --target for series in "
                "columns: give one of them."
            )
        if self.total is not None and self.series is None and len(self.target) == 1:
            raise InputError(
                "--total needs several series: repeat --target for their columns, or name the "
                "column that tells them apart with --series."
            )
        if self.as_json and self.writes_table:
            raise InputError("--json and --out - both write to standard output: name a file.")
        inputs = [each for each in (path, self.future) if each is not None]
        check_csv_output(self.out, *inputs)
        if self.model is not None:
            check_model_output(self.model, *inputs)
        if self.report is not None:
            # So that a missing extra is noticed before the fit.
            import bochner.report.page  # noqa: F401

            check_report(self.report, *inputs)
        if self.picture is not None:
            check_picture(self.picture, *inputs)
        outputs = [each for each in (self.out, self.picture, self.report, self.model) if each]
        absolute = [each.absolute() for each in outputs]
        if len(set(absolute)) < len(absolute):
            raise InputError("Two outputs have the same file: give each a name of its own.")

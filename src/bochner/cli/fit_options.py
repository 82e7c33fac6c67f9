"""Options of `bochner fit`: each is stated here, and nowhere else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import inf
from pathlib import Path
from typing import Annotated, get_args

import typer

from bochner._base.amounts import as_bytes
from bochner.cli.options import (
    MODEL,
    OUTPUT,
    READING,
    ROWS,
    Analysis,
    Dropped,
    HeaderLines,
    Json,
    MissingWords,
    Quiet,
    Report,
    Seed,
    SkippedLines,
    TableName,
    Types,
    check_choice,
    fraction_option,
)
from bochner.cli.output import check_model_output, check_report
from bochner.files.errors import InputError

_REPEATED = (
    "target", "task", "effort", "transformation", "time_limit", "memory_limit", "weight", "weights",
    "id",
    "split",
    "time", "group", "test_size", "interval", "seed", "compare", "analysis", "drop",
    "decimal", "dates", "types", "missing", "skip", "header", "table",
)  # fmt: skip
"""Options that change a fit or its errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """Options of `bochner fit`."""

    target: Annotated[
        list[str], typer.Option(help="Column to predict; repeat for several columns of numbers.")
    ]
    task: Annotated[str, typer.Option(help="auto, regression or classification.")] = "auto"
    weight: Annotated[
        str | None, typer.Option(help="Column of the rows' weights, not used as a feature.")
    ] = None
    weights: Annotated[
        str,
        typer.Option(
            help="Meaning of --weight: precisions (each row is one observation; also for survey "
            "weights) or counts (a row of weight 3 is three observations).",
            rich_help_panel=ROWS,
        ),
    ] = "precisions"
    id: Annotated[
        str | None,
        typer.Option(
            help="Column that identifies rows: copied to the predictions, not used as a feature."
        ),
    ] = None
    drop: Dropped = None
    split: Annotated[
        str,
        typer.Option(
            help="auto, random, time (the latest rows) or group (whole groups). auto takes the "
            "latest rows if a column of dates sorts the table.",
            rich_help_panel=ROWS,
        ),
    ] = "auto"
    time: Annotated[
        str | None,
        typer.Option(
            help="Column of times: expected errors are for later rows.", rich_help_panel=ROWS
        ),
    ] = None
    group: Annotated[
        str | None,
        typer.Option(
            help="Column of groups, not used as a feature: expected errors are for new groups.",
            rich_help_panel=ROWS,
        ),
    ] = None
    test_size: Annotated[
        float,
        typer.Option(help="Share of rows or groups held out for testing.", rich_help_panel=ROWS),
    ] = 0.2
    effort: Annotated[
        str, typer.Option(help="quick, default or thorough.", rich_help_panel=MODEL)
    ] = "default"
    transformation: Annotated[
        str,
        typer.Option(
            help="Function of a target of numbers to which the model is fitted: none, log, sqrt, "
            "rank, or auto for the most likely one.",
            rich_help_panel=MODEL,
        ),
    ] = "none"
    time_limit: Annotated[
        float | None,
        typer.Option(
            help="Time limit of the command in seconds. The fit has half of it, and tries fewer "
            "kernels if they take longer. Comparisons and analyses start only before the limit.",
            rich_help_panel=MODEL,
        ),
    ] = None
    memory_limit: Annotated[
        str | None,
        typer.Option(
            help="Memory of the fit beyond the table, such as 2GB.", rich_help_panel=MODEL
        ),
    ] = None
    n_jobs: Annotated[
        int | None, typer.Option(help="Number of threads, -1 for all cores.", rich_help_panel=MODEL)
    ] = None
    interval: Annotated[
        float,
        typer.Option(
            help="Level of the prediction intervals that are tested, such as 0.9 or 90.",
            rich_help_panel=MODEL,
        ),
    ] = 0.9
    seed: Seed = 0
    decimal: Annotated[
        str, typer.Option(help="Decimal mark: auto, . or ,", rich_help_panel=READING)
    ] = "auto"
    dates: Annotated[
        str,
        typer.Option(
            help="Order of dates: auto, iso, dayfirst, monthfirst, or none for no dates.",
            rich_help_panel=READING,
        ),
    ] = "auto"
    types: Types = None
    missing: MissingWords = None
    skip: SkippedLines = None
    header: HeaderLines = None
    table: TableName = None
    out: Annotated[Path, typer.Option(help="Model file to write.", rich_help_panel=OUTPUT)] = Path(
        "model.bochner"
    )
    report: Report = None
    compare: Annotated[
        bool,
        typer.Option(
            help="Also fit other methods to the same rows, and compare their errors.",
            rich_help_panel=OUTPUT,
        ),
    ] = True
    analysis: Analysis = True
    as_json: Json = False
    quiet: Quiet = False
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Also print all columns.", rich_help_panel=OUTPUT)
    ] = False

    @property
    def level(self) -> float:
        """Level of the prediction intervals, between 0 and 1."""
        return fraction_option("--interval", self.interval)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Columns that are left out."""
        return tuple(self.drop or ())

    def renamed(self, name_of: Callable[[str], str]) -> "FitOptions":
        """Return the options with other names of columns."""

        def renamed(name: str | None) -> str | None:
            return None if name is None else name_of(name)

        return replace(
            self,
            target=list(map(name_of, self.target)),
            drop=list(map(name_of, self.dropped)),
            weight=renamed(self.weight),
            id=renamed(self.id),
            time=renamed(self.time),
            group=renamed(self.group),
        )

    def check(self, path: Path) -> None:
        """Raise an error that needs no data, where the options do not suit each other."""
        for name, choices in _choices().items():
            check_choice(name, getattr(self, name), choices)
        if self.time_limit is not None and not 0.0 < self.time_limit < inf:
            raise InputError(
                f"--time-limit must be a positive number of seconds, got {self.time_limit:g}."
            )
        try:
            as_bytes(self.memory_limit)
        except ValueError as error:
            raise InputError(
                "--memory-limit must be a number of bytes with or without a unit, such as 2GB or "
                f"512MiB, got {self.memory_limit!r}."
            ) from error
        if self.report is not None:
            # So that a missing extra is noticed before the fit.
            import bochner.report.page  # noqa: F401
        if len(set(self.target)) < len(self.target):
            raise InputError(f"--target names a column twice: {', '.join(self.target)}.")
        if self.weights != "precisions" and self.weight is None:
            raise InputError(f"--weights {self.weights} needs a column of weights: give --weight.")
        if self.quiet and self.verbose:
            raise InputError("--quiet and --verbose exclude each other: give one of them.")
        check_model_output(self.out, path)
        if self.report is not None:
            if self.report.absolute() == self.out.absolute():
                raise InputError(f"--out and --report both name {self.out}: give two files.")
            check_report(self.report, path)

    def command(self, path: Path) -> str:
        """Return the command that repeats the fit."""
        words: list[str] = ["bochner", "fit", str(path)]
        defaults = {field.name: field.default for field in fields(self)}
        for name in _REPEATED:
            value, option = getattr(self, name), name.replace("_", "-")
            if value is False and defaults[name]:
                words.append(f"--no-{option}")
            elif isinstance(value, list):
                words += [word for each in value for word in (f"--{option}", each)]
            elif value != defaults[name]:
                words += [f"--{option}", str(value)]
        return " ".join(f'"{word}"' if any(map(str.isspace, word)) else word for word in words)


def _choices() -> Mapping[str, Sequence[str]]:
    """Return the values of options that have few, from modules that help pages do without."""
    from bochner.features.targets import MEANINGS
    from bochner.tables.fit_plan import EFFORTS
    from bochner.tables.table_checks import Task
    from bochner.tables.target_scales import TRANSFORMATIONS

    return {
        "task": ("auto", *get_args(Task)),
        "effort": tuple(EFFORTS),
        "weights": MEANINGS,
        "transformation": ("auto", *TRANSFORMATIONS),
        "split": ("auto", "random", "time", "group"),
    }

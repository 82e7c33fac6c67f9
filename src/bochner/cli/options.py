"""Arguments and options shared by commands, and commands with options in a data class."""

from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from bochner._base.names import nearest
from bochner.files.errors import InputError
from bochner.files.read_options import ReadOptions, read_types

_LARGEST_SEED = 2**32 - 1
"""Largest seed that scikit-learn's ``random_state`` accepts."""

ROWS, MODEL, READING, OUTPUT = "Test rows", "Model", "Reading the file", "Output"

Seed = Annotated[
    int,
    typer.Option(
        min=0,
        max=_LARGEST_SEED,
        help="Random seed of the split and of the sampler.",
        rich_help_panel=MODEL,
    ),
]
_FORMATS = (
    "Table: CSV or TSV (also compressed), Parquet, Feather, Excel or SQLite; - reads CSV from "
    "standard input."
)
TableFile = Annotated[Path, typer.Argument(help=_FORMATS, allow_dash=True)]
ModelFile = Annotated[Path, typer.Argument(help="Model file that `bochner fit` wrote.")]
Dropped = Annotated[
    list[str] | None, typer.Option("--drop", help="Column to leave out; repeat for more.")
]
TableName = Annotated[
    str | None,
    typer.Option(
        help="Table of an SQLite file, or sheet of an Excel file.", rich_help_panel=READING
    ),
]
Types = Annotated[
    Path | None,
    typer.Option(
        metavar="<kinds or file>",
        help="Kind of some columns: number, text, date or ignore, as zip,text;size,number or in a "
        "CSV (column,type) or JSON file.",
        rich_help_panel=READING,
    ),
]
MissingWords = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        help="Entry that is missing in every column, such as NA among text, or -99; repeat for "
        "more.",
        rich_help_panel=READING,
    ),
]
SkippedLines = Annotated[
    int | None,
    typer.Option(
        "--skip",
        help="Lines to leave out before the names. With a number, titles, totals and remarks below "
        "the table are not looked for; 0 keeps all lines.",
        rich_help_panel=READING,
    ),
]
HeaderLines = Annotated[
    int | None,
    typer.Option(
        "--header",
        help="Lines of column names: 0 if the first line is data, 2 for two lines.",
        rich_help_panel=READING,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Write JSON to standard output.", rich_help_panel=OUTPUT)
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print errors only.", rich_help_panel=OUTPUT)]
SafeCsv = Annotated[
    bool,
    typer.Option(
        "--safe-csv",
        help="Put an apostrophe before text that spreadsheets would run as a formula.",
        rich_help_panel=OUTPUT,
    ),
]
Report = Annotated[
    Path | None, typer.Option(help="HTML file to write a report to.", rich_help_panel=OUTPUT)
]
Analysis = Annotated[
    bool,
    typer.Option(
        "--analysis/--no-analysis",
        help="Also compute importance, interactions and, for reports, effects of columns.",
        rich_help_panel=OUTPUT,
    ),
]
Interval = Annotated[
    float | None,
    typer.Option(help="Level of the prediction intervals; by default that of the fit."),
]


def with_options(options: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command from a function whose last argument is an instance of an options class.

    The command has the other arguments of the function, and an option for each field of the data
    class ``options``, whose annotations describe them.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        def command(**values: Any) -> None:
            arguments = {name: value for name, value in values.items() if name not in names}
            function(**arguments, options=options(**{name: values[name] for name in names}))

        hints, own_hints = (
            get_type_hints(each, include_extras=True) for each in (options, function)
        )
        names = [field.name for field in fields(options)]
        parameters = [
            each.replace(annotation=own_hints[each.name])
            for each in signature(function).parameters.values()
            if each.name != "options"
        ]
        for field in fields(options):
            default = Parameter.empty if field.default is MISSING else field.default
            kind = Parameter.KEYWORD_ONLY
            parameters.append(
                Parameter(field.name, kind, default=default, annotation=hints[field.name])
            )
        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__signature__ = signature(function).replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return decorate


def read_options(options: Any) -> ReadOptions:
    """Return how to read the file of a command whose options describe it."""
    return ReadOptions(
        decimal=options.decimal,
        dates=options.dates,
        types={} if options.types is None else read_types(options.types),
        table=options.table,
        missing=tuple(options.missing or ()),
        skip=options.skip,
        header=options.header,
    )


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise an error unless the value of an option is one of a few."""
    if value not in choices:
        near = nearest(value, choices)
        hint = f" Did you mean {near!r}?" if near else ""
        raise InputError(f"--{name} must be one of {', '.join(choices)}, got {value!r}.{hint}")


def fraction(level: float) -> float:
    """Return a level between 0 and 1, which may be given in per cent."""
    return level / 100.0 if 1.0 <= level < 100.0 else level


def fraction_option(name: str, level: float) -> float:
    """Return the level of an option between 0 and 1, or refuse it."""
    share = fraction(level)
    if not 0.0 < share < 1.0:
        raise InputError(
            f"{name} must lie between 0 and 1, or 1 and 100 for per cent, got {level:g}."
        )
    return share

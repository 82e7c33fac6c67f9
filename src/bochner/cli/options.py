"""The options of all commands, each stated once."""

from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import typer

from bochner.files.errors import InputError
from bochner.files.read_options import ReadOptions, read_types

_LARGEST_SEED = 2**32 - 1
"""Largest seed that scikit-learn's ``random_state`` accepts."""

_SERIES, _ROWS, _MODEL, _READING, _OUTPUT = (
    "Series", "Test rows", "Model", "Reading the file", "Output",
)  # fmt: skip
"""Titles of the panels in the help."""


_NAME = "<name>"
"""Placeholder in the help for options with few values, which the help text lists."""


def _option(text: str, panel: str | None = None, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, **settings)


TableFile = Annotated[
    Path,
    typer.Argument(
        help="Table: CSV or TSV (also compressed), Excel, ODS, Parquet, Feather or SQLite; - reads "
        "CSV from standard input.",
        allow_dash=True,
    ),
]
ModelFile = Annotated[Path, typer.Argument(help="Model file that `bochner fit` wrote.")]

# Reading a file: `fit` and `forecast` have all, commands on a fitted model the last three.
Decimal = Annotated[str, _option("Decimal mark: auto, . or ,", _READING)]
Dates = Annotated[
    str, _option("Order of dates: auto, iso, dayfirst, monthfirst, or none for no dates.", _READING)
]
Types = Annotated[
    Path | None,
    _option(
        "Kind of some columns: number, text, date or ignore, as zip,text;size,number or in a CSV "
        "(column,type) or JSON file.",
        _READING,
        metavar="<kinds or file>",
    ),
]
Header = Annotated[
    int | None,
    _option("Lines of column names: 0 if the first line is data, 2 for two lines.", _READING),
]
TableName = Annotated[
    str | None,
    _option("Table of an SQLite file; sheet (name or number) or first cell, as Data!F3.", _READING),
]
Missing = Annotated[
    list[str] | None,
    _option(
        "Entry that is missing in every column, such as NA among text, or -99; repeat for more.",
        _READING,
    ),
]
Skip = Annotated[
    int | None,
    _option(
        "Lines to leave out before the names. With a number, titles and totals are not looked "
        "for; 0 keeps all lines.",
        _READING,
    ),
]
Encoding = Annotated[
    str | None,
    _option(
        "Encoding of a text file, such as shift-jis or cp1251; recognised by default.", _READING
    ),
]
FillDown = Annotated[
    list[str] | None,
    _option(
        "Column of labels that only the first row of each block has; repeat for more.", _READING
    ),
]
BadLines = Annotated[
    str, _option("Rows of another length than the names: error, or drop.", _READING)
]

# Columns of a table
Target = Annotated[list[str], _option("Column to predict; repeat for several columns of numbers.")]
Task = Annotated[
    Literal["auto", "regression", "classification"],
    _option("auto, regression or classification.", metavar=_NAME),
]
Weight = Annotated[str | None, _option("Column of the rows' weights, not used as a feature.")]
Weights = Annotated[
    Literal["precisions", "counts"],
    _option(
        "Meaning of --weight: precisions (each row is one observation; also for survey weights) or "
        "counts (a row of weight 3 is three observations).",
        metavar=_NAME,
    ),
]
Id = Annotated[
    str | None,
    _option("Column that identifies rows: copied to the predictions, not used as a feature."),
]
Drop = Annotated[list[str] | None, _option("Column to leave out; repeat for more.")]
LeftOut = Annotated[
    list[str] | None, _option("Column to leave out, such as the target; repeat for more.")
]

# Test rows
SplitKind = Annotated[
    Literal["auto", "random", "time", "group"],
    _option(
        "auto, random, time (the latest rows) or group (whole groups). auto takes the latest rows "
        "if a column of dates sorts the table.",
        _ROWS,
        metavar=_NAME,
    ),
]
Time = Annotated[str | None, _option("Column of times: expected errors are for later rows.", _ROWS)]
Group = Annotated[
    str | None,
    _option("Column of groups, not used as a feature: expected errors are for new groups.", _ROWS),
]
TestSize = Annotated[float, _option("Share of rows or groups held out for testing.", _ROWS)]
ErrorGroup = Annotated[str | None, _option("Column of groups whose errors are shown one by one.")]

# Models
Effort = Annotated[
    Literal["quick", "default", "thorough"],
    _option("quick, default or thorough.", _MODEL, metavar=_NAME),
]
Transformation = Annotated[
    Literal["none", "auto", "log", "sqrt", "rank"],
    _option(
        "Function of a target of numbers to which the model is fitted: none, log, sqrt, rank, or "
        "auto for the most likely one.",
        _MODEL,
        metavar=_NAME,
    ),
]
TimeLimit = Annotated[
    float | None,
    _option(
        "Time limit of the command in seconds. The fit has half of it, and tries fewer kernels if "
        "they take longer. Comparisons and analyses start only before the limit.",
        _MODEL,
    ),
]
Jobs = Annotated[int | None, _option("Number of threads, -1 for all cores.", _MODEL)]
Level = Annotated[float, _option("Level of the prediction intervals, such as 0.9 or 90.", _MODEL)]
Seed = Annotated[
    int,
    _option("Random seed of the split and of the sampler.", _MODEL, min=0, max=_LARGEST_SEED),
]
Compare = Annotated[
    bool,
    _option(
        "Also fit other methods to the same rows, and compare their errors.",
        _OUTPUT,
        "--compare/--no-compare",
    ),
]

# Predictions and explanations
Interval = Annotated[
    float | None, _option("Add prediction intervals of this level, such as 90 or 0.9.")
]
Quantiles = Annotated[str | None, _option("Add quantiles of these levels, such as 10,50,90.")]
Keep = Annotated[
    Literal["none", "id", "all"],
    _option("Columns of the table to copy: none, id or all.", metavar=_NAME),
]
RowNumbers = Annotated[
    list[int] | None,
    _option("Row whose prediction is explained, from 1; repeat for more.", min=1),
]
Kernel = Annotated[str, _option("A kernel's name, such as gaussian, tl1 or ntk.")]

# Series
SeriesTarget = Annotated[
    list[str], _option("Column to forecast; repeat for several series in columns.", _SERIES)
]
SeriesTime = Annotated[
    str | None,
    _option(
        "Column of times: dates, or numbers such as decimal years. By default the only column of "
        "dates.",
        _SERIES,
    ),
]
Horizon = Annotated[
    int | None,
    _option(
        "Number of steps to forecast. By default the rows after the last known value.",
        _SERIES,
        min=1,
    ),
]
SeriesName = Annotated[
    str | None,
    _option("Column that names the series of each row, if they are below each other.", _SERIES),
]
Known = Annotated[
    list[str] | None,
    _option(
        "Column whose future values are known, such as a price; repeat for more. The rows to "
        "forecast have it, and no target.",
        _SERIES,
    ),
]
Future = Annotated[
    Path | None, _option("Table of the rows to forecast, if they are not in FILE.", _SERIES)
]
Holidays = Annotated[
    str | None,
    _option(
        "Country whose public holidays matter, such as DE, US or DE-BY. Needs the extra "
        "'holidays'.",
        _SERIES,
    ),
]
Origins = Annotated[
    bool,
    _option(
        "Also forecast the last values from the values before them, and compare errors with "
        "forecasts that repeat the last season. It takes up to three more fits.",
        _OUTPUT,
        "--compare/--no-compare",
    ),
]

# Files to write
ModelOut = Annotated[Path, _option("Model file to write.", _OUTPUT, "--out")]
CsvOut = Annotated[
    Path | None,
    _option("CSV file to write; - is standard output, as by default.", _OUTPUT, "--out"),
]
ContributionsOut = Annotated[
    Path | None,
    _option(
        "CSV file for the contributions to all predictions, or to those of --row.",
        _OUTPUT,
        "--out",
    ),
]
ForecastOut = Annotated[
    Path,
    _option(
        "CSV file of the forecast; - is standard output, and the summary then goes to standard "
        "error.",
        _OUTPUT,
        "--out",
    ),
]
Folder = Annotated[Path, _option("Folder for the files to write.", _OUTPUT, "--out")]
SeriesModel = Annotated[
    Path | None,
    _option(
        "File to write the fitted model to, for `bochner explain` and for bochner.load in Python. "
        "A later `bochner forecast` fits again.",
        _OUTPUT,
    ),
]
Report = Annotated[Path | None, _option("HTML file to write a report to.", _OUTPUT)]
Json = Annotated[bool, _option("Write JSON to standard output.", _OUTPUT, "--json")]
SafeCsv = Annotated[
    bool,
    _option(
        "Put an apostrophe before text that spreadsheets would run as a formula.",
        _OUTPUT,
        "--safe-csv",
    ),
]


def read_options(options: SimpleNamespace) -> ReadOptions:
    """Return the reading options of a command."""
    return ReadOptions(
        decimal=options.decimal,
        dates=options.dates,
        types={} if options.types is None else read_types(options.types),
        table=options.table,
        missing=tuple(options.missing or ()),
        skip=options.skip,
        header=options.header,
        encoding=options.encoding,
        fill_down=tuple(options.fill_down or ()),
        bad_lines=options.bad_lines,
    )


def fraction(level: float) -> float:
    """Convert a level in per cent to a fraction; levels below one are unchanged."""
    return level / 100.0 if 1.0 <= level < 100.0 else level


def fraction_option(name: str, level: float) -> float:
    """Return the level of an option as a fraction, or raise an error if it is out of range."""
    share = fraction(level)
    if not 0.0 < share < 1.0:
        raise InputError(
            f"{name} must lie between 0 and 1, or 1 and 100 for per cent, got {level:g}."
        )
    return share

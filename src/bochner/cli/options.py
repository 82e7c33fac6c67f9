"""The options of all commands, each stated once."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import typer

from bochner.files.errors import InputError
from bochner.files.read_options import ReadOptions, read_types

_LARGEST_SEED = 2**32 - 1
"""Largest seed that scikit-learn's ``random_state`` accepts."""

_NAME = "<name>"
"""Placeholder in the help for options with few values, which the help text lists."""


_VALUES = {
    **dict.fromkeys(("Column", "Columns", "Input"), "<column>"),
    **dict.fromkeys(("Level", "Number", "Random", "Row", "Share"), "<number>"),
    **{"Levels": "<numbers>", "Time": "<seconds>"},
    **dict.fromkeys(("CSV", "File", "HTML", "Model", "Picture"), "<file>"),
}
"""Placeholders for values by the first word of the help; other options have the Python type."""


def _option(text: str, *names: str, panel: str | None = None, **settings: Any) -> Any:
    if placeholder := _VALUES.get(text.split()[0]):
        settings.setdefault("metavar", placeholder)
    return typer.Option(*names, help=text, rich_help_panel=panel, **settings)


_series = partial(_option, panel="Series")
_rows = partial(_option, panel="Test rows")
_model = partial(_option, panel="Model")
_reading = partial(_option, panel="Reading the file")
_output = partial(_option, panel="Output")

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
Decimal = Annotated[str, _reading("Decimal mark: auto, . or ,")]
Dates = Annotated[
    str, _reading("Order of dates: auto, iso, dayfirst, monthfirst, or none for no dates.")
]
Types = Annotated[
    Path | None,
    _reading(
        "Kind of some columns: number, text, date or ignore, as zip,text;size,number or in a CSV "
        "(column,type) or JSON file.",
        metavar="<kinds or file>",
    ),
]
Header = Annotated[
    int | None, _reading("Number of lines of column names: 0 if the first line is data.")
]
TableName = Annotated[
    str | None,
    _reading("Sheet (name or number) or its first cell, as Data!F3; or table of an SQLite file."),
]
Missing = Annotated[
    list[str] | None,
    _reading("Entry that means missing in every column, such as NA or -99; repeat for more."),
]
Skip = Annotated[
    int | None,
    _reading(
        "Number of lines above the column names to leave out. By default titles and totals are "
        "detected; 0 keeps all lines."
    ),
]
Encoding = Annotated[
    str | None,
    _reading("Encoding of a text file, such as shift-jis or cp1251; recognised by default."),
]
FillDown = Annotated[
    list[str] | None,
    _reading("Column of labels that only the first row of each block has; repeat for more."),
]
BadLines = Annotated[str, _reading("Rows with more or fewer cells than names: error, or drop.")]

# Columns of a table
Target = Annotated[list[str], _option("Column to predict; repeat for several columns of numbers.")]
Task = Annotated[
    Literal["auto", "regression", "classification"],
    _option(
        "Kind of the target: regression (numbers), classification (classes), or auto.",
        metavar=_NAME,
    ),
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
    _rows(
        "auto, random, time (the latest rows) or group (whole groups). auto takes the latest rows "
        "if a column of dates sorts the table.",
        metavar=_NAME,
    ),
]
Time = Annotated[
    str | None,
    _rows("Column of times: the latest rows are for testing, and intervals are for later rows."),
]
Group = Annotated[
    str | None,
    _rows(
        "Column of groups, not used as a feature: whole groups are for testing, and intervals are "
        "for new groups."
    ),
]
TestSize = Annotated[float, _rows("Share of rows or groups held out for testing.")]
ErrorGroup = Annotated[str | None, _option("Column of groups whose errors are shown one by one.")]

# Models
Effort = Annotated[
    Literal["quick", "default", "thorough"],
    _model("Number of models that are combined: quick, default or thorough.", metavar=_NAME),
]
Transformation = Annotated[
    Literal["none", "auto", "log", "sqrt", "rank"],
    _model(
        "Function of a numeric target that is fitted: none, log, sqrt, rank, or auto for the most "
        "likely one.",
        metavar=_NAME,
    ),
]
TimeLimit = Annotated[
    float | None,
    _model(
        "Time limit of the command in seconds. The fit has half of it, and tries fewer kernels if "
        "they take longer. Comparisons and analyses stop at the limit."
    ),
]
Jobs = Annotated[int | None, _model("Number of threads, -1 for all cores.")]
Level = Annotated[float, _model("Level of the prediction intervals, such as 0.9 or 90.")]
Seed = Annotated[
    int, _model("Random seed of the split and of the sampler.", min=0, max=_LARGEST_SEED)
]
Refit = Annotated[
    bool, _output("Fit the model again to all rows after the test, and save that one.", "--refit")
]
Compare = Annotated[
    bool, _output("Also fit other methods to the same rows, and compare their errors.")
]

# Predictions and explanations
Interval = Annotated[
    float | None, _option("Level of prediction intervals to add, such as 90 or 0.9.")
]
Quantiles = Annotated[str | None, _option("Levels of quantiles to add, such as 10,50,90.")]
Keep = Annotated[
    Literal["none", "id", "all"],
    _option("Columns of the table to copy to the output: none, id or all.", metavar=_NAME),
]
RowNumbers = Annotated[
    list[int] | None, _option("Row whose prediction is explained, from 1; repeat for more.", min=1)
]
EffectColumn = Annotated[
    str | None, _option("Column whose average effect on the predictions is shown; without a table.")
]
Kernel = Annotated[str, _option("A kernel's name, such as gaussian, tl1 or ntk.")]

# Series
SeriesTarget = Annotated[
    list[str], _series("Column to forecast; repeat for several series in columns.")
]
SeriesTime = Annotated[
    str | None,
    _series(
        "Column of times: dates, or numbers such as decimal years. By default the only column of "
        "dates."
    ),
]
Horizon = Annotated[
    int | None,
    _series("Number of steps to forecast. By default the rows after the last known value.", min=1),
]
SeriesName = Annotated[
    str | None, _series("Column that names the series of each row, if a table has several.")
]
Known = Annotated[
    list[str] | None,
    _series(
        "Column whose future values are known, such as a price; repeat for more. It is filled in "
        "the rows to forecast, and the target is empty there."
    ),
]
Future = Annotated[Path | None, _series("Table of the rows to forecast, if they are not in FILE.")]
Holidays = Annotated[
    str | None,
    _series("Country whose public holidays matter, such as DE, US or DE-BY; pip install holidays."),
]
Origins = Annotated[
    bool,
    _output(
        "Also forecast the last values from the values before them, and compare errors with "
        "those of other methods. It takes up to three more fits."
    ),
]

# Files to write
ModelOut = Annotated[Path, _output("Model file to write.")]
CsvOut = Annotated[Path | None, _output("CSV file to write; by default -, the standard output.")]
ContributionsOut = Annotated[
    Path | None,
    _output("CSV file for the contributions to all predictions, to those of --row, or the effect."),
]
Plot = Annotated[Path | None, _output("Picture of the effect of --column: SVG, PNG or PDF file.")]
ForecastOut = Annotated[
    Path,
    _output(
        "CSV file of the forecast; - is standard output, and the summary then goes to standard "
        "error."
    ),
]
Folder = Annotated[Path, _output("Folder for the files to write.")]
SeriesModel = Annotated[
    Path | None,
    _output(
        "File to write the fitted model to, for `bochner explain` and for bochner.load in Python. "
        "A later `bochner forecast` fits again."
    ),
]
Report = Annotated[Path | None, _output("HTML file to write a report to.")]
Json = Annotated[bool, _output("Write JSON to standard output.", "--json")]
SafeCsv = Annotated[
    bool,
    _output(
        "Put an apostrophe before text that spreadsheets would run as a formula.", "--safe-csv"
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
    if not 0.0 < share < 1.0 or 1.0 <= level < 50.0:
        raise InputError(
            f"{name} must lie between 0 and 1, or 50 and 100 for per cent, such as 0.9 or 90, got "
            f"{level:g}."
        )
    return share

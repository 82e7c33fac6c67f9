"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

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
Json = Annotated[
    bool,
    typer.Option("--json", help="Write JSON to standard output.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print errors only.", rich_help_panel=OUTPUT)]
Report = Annotated[
    Path | None,
    typer.Option(help="HTML file to write a report to.", rich_help_panel=OUTPUT),
]

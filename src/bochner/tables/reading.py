"""Reading of tables from files of many programs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bochner.tables.binary import WITH_TABLES, read_frame
from bochner.tables.conventions import Conventions, decide
from bochner.tables.delimited import read_columns
from bochner.tables.files import TEXT_ENDINGS, content_of, find, place
from bochner.tables.guesses import guess
from bochner.tables.identifiers import is_index, leave_out
from bochner.tables.layout import find_layout
from bochner.tables.native import prepare
from bochner.tables.options import ReadOptions, check_names
from bochner.tables.refusals import InputError
from bochner.tables.remarks import Remarks
from bochner.tables.settling import settle

if TYPE_CHECKING:
    import pandas as pd

_AUTOMATIC = ReadOptions()


@dataclass(frozen=True, slots=True, eq=False)
class TableRead:
    """A table of a file, and how it was read.

    Attributes
    ----------
    frame : pandas.DataFrame of shape (n, d)
        The columns that stay: numbers, dates, truth values, text. Dates are datetime64, with a zone
        if the file has one or the same offset from UTC everywhere; dates with several offsets are
        timestamps with an offset each. Text that looks like numbers or dates, but was asked for or
        decided to be text, is categorical.
    notes : tuple of str
        Sentences on oddities and guesses, and how each was handled.
    layout : ReadOptions
        Decisions of this reading, to read another file of the same kind in the same way.
    """

    frame: pd.DataFrame
    notes: tuple[str, ...]
    layout: ReadOptions


@dataclass(frozen=True, slots=True, eq=False)
class _Raw:
    """Columns (n,) by name, Arrow arrays of texts or pandas Series of anything else."""

    columns: dict[str, Any]
    notes: tuple[str, ...]
    has_semicolons: bool = False


def read(
    path: str | os.PathLike[str],
    options: ReadOptions = _AUTOMATIC,
    text: Collection[str] = (),
    keep: Collection[str] = (),
) -> TableRead:
    r"""Read a table from a file.

    Delimited text may have any of the usual encodings, delimiters, decimal marks and dates, and
    may be compressed. Options that are not given are decided by all entries of the file. A
    saved index, columns that number the rows, and text that differs in nearly every row are left
    out, with a note.

    Parameters
    ----------
    path : path-like
        A file of text (.csv, .tsv, .txt, perhaps with .gz, .bz2, .xz, .zst or .zip), or a
        .parquet, .feather, .xlsx, .xls, .ods, .sqlite, .sqlite3 or .db file; or "-", for CSV from
        standard input.
    options : ReadOptions, default=ReadOptions()
        Options of the file, or the layout of an earlier reading.
    text : collection of str, default=()
        Columns that are text even if their entries look like numbers or dates, such as the code
        007. Other names are ignored.
    keep : collection of str, default=()
        Columns that stay even if they seem to be identifiers, such as the target.

    Returns
    -------
    TableRead
        The table, notes, and the layout.

    Raises
    ------
    InputError
        If the file has an unknown ending, is damaged or empty, has rows of other lengths than the
        header, or does not agree with the options.
    FileNotFoundError, IsADirectoryError
        If there is no such file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bochner.tables.reading import read
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "houses.csv"
    ...     _ = path.write_text("size;sold\n52,5;31.01.2021\n110;28.02.2021\n")
    ...     table = read(path)
    >>> table.frame["size"].tolist()
    [52.5, 110.0]
    >>> print(*table.notes, sep="\n")
    'size' has decimal commas (52,5 is read as 52.5).
    'sold' holds days before months (31.01.2021).
    >>> table.layout.decimal, table.layout.dates
    (',', 'dayfirst')
    """
    try:
        import pandas as pd
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError(
            "Tables are read by pandas and pyarrow: pip install 'bochner[cli]'."
        ) from None
    path, ending = find(path)
    raw = _load(path, ending, options)
    if not options.recorded:
        check_names(options.types, raw.columns)
    remarks = Remarks()
    columns, kinds, conventions, mixed = _resolve(raw, options, text, remarks)
    keep_names = {*keep, *text, *options.types, *mixed}
    left = leave_out(columns, keep_names, remarks, options.recorded)
    frame = pd.DataFrame({name: column for name, column in columns.items() if name not in left})
    if frame.empty:
        raise InputError(f"{place(path)} has no rows or no columns: expected at least one of each.")
    # A recorded kind keeps a column that is named like an index when the next file is read.
    stay = {name: "number" for name, column in columns.items()
            if is_index(name) and column.dtype.kind in "iuf"}  # fmt: skip
    layout = ReadOptions(
        decimal=conventions.decimal,
        dates="none" if options.dates == "none" else conventions.order or "iso",
        types={**stay, **kinds, **dict.fromkeys(left, "ignore"), **options.types},
        table=options.table,
        recorded=True,
    )
    return TableRead(frame, (*raw.notes, *remarks.sentences()), layout)


def read_table(
    path: str | os.PathLike[str],
    text: Collection[str] = (),
    *,
    decimal: str = "auto",
    dates: str = "auto",
    types: Mapping[str, str] | None = None,
    table: str | None = None,
) -> pd.DataFrame:
    r"""Return the table of a file; a warning lists what was odd or guessed.

    Parameters
    ----------
    path, text
        As in `read`.
    decimal, dates, types, table
        As in `ReadOptions`.

    Returns
    -------
    pandas.DataFrame of shape (n, d)
        Numbers, dates as datetime64, and text. Dates with several offsets from UTC are timestamps
        with an offset each.

    Raises
    ------
    InputError, FileNotFoundError, IsADirectoryError
        As in `read`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bochner import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "houses.csv"
    ...     _ = path.write_text("size,sold\n52.5,2021-01-31\n110,2021-02-28\n")
    ...     read_table(path)
        size       sold
    0   52.5 2021-01-31
    1  110.0 2021-02-28
    """
    table_read = read(path, ReadOptions(decimal, dates, types or {}, table), text)
    if table_read.notes:
        warnings.warn(f"Read {path}: {' '.join(table_read.notes)}", stacklevel=2)
    return table_read.frame


def text_columns(frame: pd.DataFrame) -> list[str]:
    """Return the names of the columns whose present entries are all text."""
    from pandas.api.types import infer_dtype

    present = {name: frame[name].dropna() for name in frame.columns}
    return [name for name, some in present.items() if some.size and infer_dtype(some) == "string"]


def _load(path: Path, ending: str, options: ReadOptions) -> _Raw:
    if options.table is not None and not options.recorded and ending not in WITH_TABLES:
        raise InputError(
            f"{place(path)} holds one table: table= (--table) is for Excel and SQLite. Leave it "
            "out."
        )
    if ending not in TEXT_ENDINGS:
        table = options.table
        frame, notes = read_frame(path, ending, table, only_preferred=options.recorded)
        return _Raw({str(name): series for name, series in frame.items()}, notes)
    layout = find_layout(path, content_of(path), "\t" if ending == ".tsv" else ",")
    columns = read_columns(place(path), layout)
    return _Raw(columns, layout.notes, has_semicolons=layout.delimiter == ";")


def _resolve(
    raw: _Raw, options: ReadOptions, text: Collection[str], remarks: Remarks
) -> tuple[dict[str, pd.Series], dict[str, str], Conventions, list[str]]:
    """Return converted columns, kinds to record, conventions, and names of columns with errors."""
    requested = {**dict.fromkeys(text, "text"), **options.types}
    columns, guesses = {}, []
    for name, column in raw.columns.items():
        kind = requested.get(name)
        if kind == "ignore":
            continue
        prepared = prepare(name, column, kind) if hasattr(column, "iloc") else column
        columns[name] = prepared
        if not hasattr(prepared, "iloc"):
            guesses.append(guess(name, prepared, kind, options))
    guesses, conventions = decide(guesses, options, has_semicolons=raw.has_semicolons)
    kinds, mixed = {}, []
    for guessed in guesses:
        settled = settle(guessed, conventions, options, remarks)
        columns[guessed.name] = settled.series
        if settled.kind is not None:
            kinds[guessed.name] = settled.kind
        if settled.is_mixed:
            mixed.append(guessed.name)
    return columns, kinds, conventions, mixed

"""Reading of tables from files of many programs."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bochner._base.naming import refuse_repeated
from bochner.files.binary import SPREADSHEETS, WITH_TABLES, read_frame
from bochner.files.delimited import read_columns, without_repeated_names
from bochner.files.errors import InputError
from bochner.files.file_content import TEXT_ENDINGS, content_of, find, place
from bochner.files.identifiers import is_index, leave_out
from bochner.files.layout import find_layout
from bochner.files.local_numbers import LARGEST_EXACT
from bochner.files.reading_options import ReadOptions, check_names
from bochner.files.resolving import RawColumns
from bochner.files.summary_rows import resolve_rows
from bochner.files.totals import find_totals

if TYPE_CHECKING:
    import pandas as pd

_AUTOMATIC = ReadOptions()

_BOTH = re.compile(r"(\w+=\S*) \(--[^)]*\)")
"""A parameter of Python, followed by the option of the command."""

_PARAMETERS = {
    "--types FILE": "types={column: kind}",
    "--drop leaves it out": "frame.drop(columns=name) leaves it out",
}
"""Options of the command that stand alone in notes, and what does the same in Python."""


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
    first : tuple of str
        Entries of the first row if the file has no names of columns.
    """

    frame: pd.DataFrame
    notes: tuple[str, ...]
    layout: ReadOptions
    first: tuple[str, ...] = ()


def read(
    path: str | os.PathLike[str] | pd.DataFrame,
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
    path : path-like or pandas.DataFrame
        A file of text (.csv, .tsv, .txt, perhaps with .gz, .bz2, .xz, .zst or .zip), or a
        .parquet, .feather, .xlsx, .xls, .ods, .sqlite, .sqlite3 or .db file; or "-", for CSV from
        standard input; or a data frame, whose text is read by the same rules.
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
    >>> from bochner.files.reading import read
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
    if isinstance(path, pd.DataFrame):
        ending, source = "", "The table"
        index = path.index
        frame = path.reset_index(drop=True)
        raw = RawColumns({str(name): series for name, series in frame.items()}, ())
        refuse_repeated(list(map(str, path.columns)))
        _refuse_broken_names(raw.columns)
    else:
        path, ending = find(path)
        source, index = str(place(path)), None
        raw = _load(path, ending, options)
    keep = [named_by(raw.first, name) for name in keep]
    if not options.recorded:
        check_names(options.types, raw.columns)
    has_totals = options.skip is None and ending in _WITH_TOTALS
    resolved, remarks, note = resolve_rows(raw, options, text, has_totals=has_totals)
    columns, conventions = resolved.columns, resolved.conventions
    if has_totals and not note and (note := find_totals(columns)):
        columns = _without_last(columns)
    notes = (*raw.notes, note) if note else raw.notes
    keep_names = {*keep, *text, *options.types, *resolved.mixed}
    left = leave_out(columns, keep_names, remarks, options.recorded)
    frame = pd.DataFrame({name: column for name, column in columns.items() if name not in left})
    if frame.empty:
        raise InputError(f"{source} has no rows or no columns: expected at least one of each.")
    if index is not None:
        frame.index = index
    # A recorded kind keeps a column that is named like an index when the next file is read.
    stay = {name: "number" for name, column in columns.items()
            if is_index(name) and column.dtype.kind in "iuf"}  # fmt: skip
    layout = ReadOptions(
        decimal=conventions.decimal,
        dates="none" if options.dates == "none" else conventions.order or "iso",
        types={**stay, **resolved.kinds, **dict.fromkeys(left, "ignore"), **options.types},
        table=options.table,
        recorded=True,
        missing=options.missing,
        skip=options.skip,
        header=raw.n_names if options.header is None else options.header,
        units={**options.units, **resolved.units},
        words={**options.words, **resolved.words},
        delimiter=raw.delimiter or options.delimiter,
    )
    return TableRead(frame, (*notes, *remarks.sentences()), layout, raw.first)


def _refuse_broken_names(names: Collection[str]) -> None:
    """Raise InputError for a name that is no Unicode, as of a file read in another encoding."""
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InputError(f"The name {name!a} is no Unicode: rename the column.") from None


def named_by(first: Sequence[str], name: str) -> str:
    """Return the name of a column, which may be given by its entry in the first row.

    ``first`` has the entries of the first row of a file without names. Such a row looks like names.
    """
    return f"column {list(first).index(name) + 1}" if first.count(name) == 1 else name


_WITH_TOTALS = (*TEXT_ENDINGS, *SPREADSHEETS)
"""Endings of files that people write, with sums below the rows."""


def _without_last(columns: Mapping[str, pd.Series]) -> dict[str, pd.Series]:
    """Return columns without their last row; whole numbers that had a gap there are integers."""
    import numpy as np

    kept = {}
    for name, series in columns.items():
        rows = series.iloc[:-1]
        if rows.dtype.kind == "f" and series.isna().iloc[-1] and not rows.isna().any():
            is_whole = bool((rows % 1 == 0).all()) and bool((rows.abs() < LARGEST_EXACT).all())
            rows = rows.astype(np.int64) if is_whole else rows
        kept[name] = rows
    return kept


def read_table(
    path: str | os.PathLike[str] | pd.DataFrame,
    text: Collection[str] = (),
    *,
    decimal: str = "auto",
    dates: str = "auto",
    types: Mapping[str, str] | None = None,
    table: str | None = None,
    missing: Sequence[str] = (),
    skip: int | None = None,
    header: int | None = None,
) -> pd.DataFrame:
    r"""Return the table of a file or frame; a warning lists what was odd or guessed.

    Text of a pandas frame is read by the same rules: numbers with units, times, local dates.

    Parameters
    ----------
    path, text
        As in `read`.
    decimal, dates, types, table, missing, skip, header
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
    options = ReadOptions(
        decimal, dates, types or {}, table, missing=missing, skip=skip, header=header
    )
    try:
        table_read = read(path, options, text)
    except InputError as error:
        error.args = (in_python(str(error)),)
        raise
    if table_read.notes:
        source = "the table" if hasattr(path, "columns") else path
        notes = in_python(" ".join(table_read.notes))
        warnings.warn(f"Read {source}: {notes}", stacklevel=2)
    return table_read.frame


def in_python(text: str) -> str:
    """Return a note or a refusal with parameters of Python in place of options of the command.

    Examples
    --------
    >>> in_python("skip=0 (--skip 0) keeps all lines"), in_python("a type text (--types FILE)")
    ('skip=0 keeps all lines', 'a type text (types={column: kind})')
    """
    text = _BOTH.sub(r"\1", text)
    for option, parameter in _PARAMETERS.items():
        text = text.replace(option, parameter)
    return text


def text_columns(frame: pd.DataFrame) -> list[str]:
    """Return the names of the columns whose present entries are all text."""
    from pandas.api.types import infer_dtype

    present = {name: frame[name].dropna() for name in frame.columns}
    return [name for name, some in present.items() if some.size and infer_dtype(some) == "string"]


def _load(path: Path, ending: str, options: ReadOptions) -> RawColumns:
    if options.table is not None and not options.recorded and ending not in WITH_TABLES:
        raise InputError(
            f"{place(path)} holds one table: table= (--table) is for Excel and SQLite. Leave it "
            "out."
        )
    if ending not in TEXT_ENDINGS:
        table = options.table
        contents = read_frame(path, ending, table, options)
        columns = {str(name): series for name, series in contents.frame.items()}
        return RawColumns(columns, contents.notes, n_names=contents.n_names, first=contents.first)
    layout = find_layout(path, content_of(path), "\t" if ending == ".tsv" else ",", options)
    columns, note = read_columns(place(path), layout), ""
    if options.skip is None:
        columns, note = without_repeated_names(columns)
    return RawColumns(
        columns,
        (*layout.notes, note) if note else layout.notes,
        layout.delimiter,
        layout.n_names,
        layout.first,
    )

"""Reading of tables from Parquet, Feather, Excel and SQLite files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner._base.names import nearest, refuse_repeated
from bochner.files.errors import InputError
from bochner.files.headings import LOOKED_AT, find_heading
from bochner.files.plain_numbers import LARGEST_EXACT
from bochner.files.read_options import ReadOptions

if TYPE_CHECKING:
    import sqlite3

    import pandas as pd


_ENGINES: Mapping[str, Any] = {".xlsx": "openpyxl", ".xls": "xlrd", ".ods": "odf"}
_PACKAGES = {"openpyxl": "openpyxl", "xlrd": "xlrd", "odf": "odfpy"}
"""Names under which pip installs the modules that read spreadsheets."""

_MOST_LISTED = 8
"""Tables or sheets that a message lists."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """An unconverted table, notes for the user, and the number of header lines of a spreadsheet."""

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    n_names: int | None = None


def read_frame(path: Path, ending: str, options: ReadOptions) -> Frame:
    """Return the unconverted table of a file, with column names as text.

    With recorded options, a missing table is replaced by the default choice. Raises InputError for
    a damaged file, for a table that does not exist, and for an SQLite file with several tables of
    which none is chosen.
    """
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty: expected a table.")
    contents = _READERS[ending](path, options)
    frame = contents.frame.set_axis([str(name).strip() for name in contents.frame.columns], axis=1)
    refuse_repeated(list(frame.columns), str(path))
    return replace(contents, frame=frame)


def _chosen(names: Sequence[str], path: Path, noun: str, options: ReadOptions) -> str | None:
    """Return the name of the requested table, or None for the default; raise if it is missing."""
    if options.table is None or options.table in names:
        return options.table
    if options.recorded:
        return None
    near = nearest(options.table, names)
    hint = f" Did you mean {near!r}?" if near else ""
    raise InputError(f"{path} has no {noun} {options.table!r}.{hint} It has {_listed(names)}.")


def _listed(names: Sequence[str]) -> str:
    """Return the first few names of tables or sheets as text for a message."""
    return ", ".join(map(repr, names[:_MOST_LISTED])) + ", ..." * (len(names) > _MOST_LISTED)


def _read_parquet(path: Path, options: ReadOptions) -> Frame:
    import pyarrow.parquet as pq

    return Frame(_read_arrow(path, "Parquet", pq.read_table))


def _read_feather(path: Path, options: ReadOptions) -> Frame:
    from pyarrow import feather

    return Frame(_read_arrow(path, "Feather", feather.read_table))


def _read_arrow(path: Path, format_name: str, read: Callable[[Any], Any]) -> pd.DataFrame:
    """Return a table read by Arrow, without an unnamed index, which only numbers the rows."""
    import pyarrow as pa

    try:
        with path.open("rb") as file:
            table = read(file)
        for i, column in enumerate(table.columns):
            if pa.types.is_integer(column.type) and _is_large(column):
                table = table.set_column(i, table.field(i).name, column.cast(pa.string()))
        # Without the metadata of pandas, an index with a name is a column like any other.
        frame: pd.DataFrame = table.to_pandas(date_as_object=False, ignore_metadata=True)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{path} is a damaged {format_name} file ({_one_line(error)}): copy or export it again."
        ) from error
    unnamed = [re.fullmatch(r"__index_level_\d+__", str(name)) is None for name in frame.columns]
    return frame.loc[:, unnamed]


def _is_large(column: object) -> bool:
    import pyarrow.compute as pc

    ends = pc.min_max(column).as_py()
    return ends["min"] is not None and max(-ends["min"], ends["max"]) > LARGEST_EXACT


def _read_excel(path: Path, options: ReadOptions) -> Frame:
    import pandas as pd

    engine = _ENGINES[path.suffix.lower()]
    plain: Any = {"header": None, "keep_default_na": False, "na_values": [""]}
    try:
        with pd.ExcelFile(path, engine=engine) as book:
            names = list(map(str, book.sheet_names))
            sheet = _chosen(names, path, "sheet", options)
            cells: pd.DataFrame = pd.read_excel(book, sheet_name=sheet or names[0], **plain)
    except ImportError:
        package = _PACKAGES[engine]
        raise InputError(
            f"{path} needs the package {package}, which is not installed: pip install {package}."
        ) from None
    except (InputError, MemoryError):
        raise
    except Exception as error:  # The error type depends on the damage and on the engine
        raise InputError(
            f"{path} cannot be read as a spreadsheet ({_one_line(error)}): is it damaged, "
            "encrypted, or of another format? Save it again, or as CSV."
        ) from error
    if cells.empty:
        raise InputError(f"{path} is empty: expected a line of column names, then rows.")
    contents = _rows_of_cells(cells, options)
    refuse_repeated(list(contents.frame.columns), str(path))
    if engine == "openpyxl" and contents.frame.isna().any(axis=None):
        _refuse_lost_formulas(path, sheet or names[0], contents.frame)
    frame = contents.frame.reset_index(drop=True).infer_objects()
    for name in frame.columns[frame.dtypes == np.float64]:  # Excel stores integers as floats
        if bool(((frame[name] % 1 == 0) & (frame[name].abs() <= LARGEST_EXACT)).all()):
            frame[name] = frame[name].astype(np.int64)
    contents = replace(contents, frame=frame)
    if sheet is not None or len(names) == 1:
        return contents
    note = (
        f"The first of {len(names)} sheets is read ({_listed(names)}); table= (--table) chooses "
        "another."
    )
    return replace(contents, notes=(note, *contents.notes))


def _rows_of_cells(cells: pd.DataFrame, options: ReadOptions) -> Frame:
    """Return the data rows of a sheet, without titles, header lines and blank rows.

    The index has the places of the rows in the sheet.
    """
    cells = cells.iloc[options.skip or 0 :]
    if cells.shape[1] > 1:
        cells = cells.dropna(how="all")
    head = _texts(cells.head(LOOKED_AT))
    heading = find_heading(
        head,
        n_titles=None if options.skip is None else 0,
        n_names=options.header,
        is_recorded=options.recorded,
    )
    rows = cells.iloc[heading.n_titles + heading.n_names :]
    names = [name.strip() or f"Unnamed: {i}" for i, name in enumerate(heading.names)]
    return Frame(rows.set_axis(names, axis=1), heading.notes, heading.n_names)


def _texts(cells: pd.DataFrame) -> list[list[str]]:
    """Return cells as texts, empty where missing."""
    absent = cells.isna().to_numpy()
    return [
        ["" if is_absent else str(cell) for cell, is_absent in zip(row, gaps, strict=True)]
        for row, gaps in zip(cells.to_numpy(dtype=object), absent, strict=True)
    ]


def _refuse_lost_formulas(path: Path, sheet: str, frame: pd.DataFrame) -> None:
    """Raise InputError for columns whose formulas have no stored results, read as missing entries.

    Programs that write formulas without computing them store no results.
    """
    from openpyxl import load_workbook

    absent = dict(zip((frame.index + 1).tolist(), frame.isna().to_numpy(), strict=True))
    counts = np.zeros((2, frame.shape[1]), dtype=np.int64)  # Formulas with results, and without
    with closing(load_workbook(path, read_only=True)) as book:
        for number, row in enumerate(book[sheet].iter_rows(max_col=frame.shape[1]), start=1):
            for j, cell in enumerate(row if number in absent else ()):
                counts[int(absent[number][j]), j] += cell.data_type == "f"
    lost = [frame.columns[j] for j in np.flatnonzero((counts[1] > 0) & (counts[0] == 0)).tolist()]
    if lost:
        raise InputError(
            f"{path} has formulas without results in {_listed(lost)}, which would be missing: open "
            "it in a spreadsheet program and save it there, or export it as CSV."
        )


def _read_sqlite(path: Path, options: ReadOptions) -> Frame:
    import sqlite3  # Some builds of Python lack sqlite3

    import pandas as pd

    try:
        # Read-only: the file is neither changed nor created.
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            table = _sqlite_table(path, connection, options)
            quoted = table.replace('"', '""')
            cursor = connection.execute(f'SELECT * FROM "{quoted}"')
            names = [str(column[0]) for column in cursor.description]
            rows = cursor.fetchall()
    except sqlite3.Error as error:
        raise InputError(f"{path} cannot be read as an SQLite file ({error}).") from error
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    series = [pd.Series(list(map(_exact, column)), dtype=object) for column in columns]
    frame = pd.concat(series, axis=1, keys=range(len(names))).set_axis(names, axis=1)
    return Frame(frame.infer_objects())


def _sqlite_table(path: Path, connection: sqlite3.Connection, options: ReadOptions) -> str:
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    )
    names = [str(name) for (name,) in rows]
    table = _chosen(names, path, "table", options)
    if table is not None:
        return table
    if len(names) != 1:
        contents = f"{len(names)} tables ({_listed(names)})" if names else "no tables"
        raise InputError(f"{path} has {contents}: expected one. Choose it by table= (--table).")
    return names[0]


def _exact(entry: object) -> Any:
    """Return an entry unchanged, or as text if it is an integer that float64 would round."""
    return str(entry) if isinstance(entry, int) and abs(entry) > LARGEST_EXACT else entry


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


SPREADSHEETS = tuple(_ENGINES)
"""Endings of spreadsheets."""

_WITH_TABLES: Mapping[str, Callable[[Path, ReadOptions], Frame]] = {
    **dict.fromkeys(_ENGINES, _read_excel),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), _read_sqlite),
}
_READERS = {".parquet": _read_parquet, ".feather": _read_feather, **_WITH_TABLES}

WITH_TABLES = tuple(_WITH_TABLES)
"""Endings of files that may have several tables."""

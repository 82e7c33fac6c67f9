"""Reading of tables from Parquet, Feather and SQLite files, and from spreadsheets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bochner._base.names import listed, refuse_repeated
from bochner.files.errors import InputError
from bochner.files.local_numbers import LARGEST_EXACT
from bochner.files.read_options import ReadOptions
from bochner.files.spreadsheets import Frame, chosen, one_line, read_spreadsheet

if TYPE_CHECKING:
    import sqlite3


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


def _read_arrow(format_name: str, path: Path, options: ReadOptions) -> Frame:
    """Return a table read by Arrow, without an unnamed index, which only numbers the rows."""
    import pyarrow as pa

    read = import_module(f"pyarrow.{format_name.lower()}").read_table
    try:
        with path.open("rb") as file:
            table = read(file)
        for i, column in enumerate(table.columns):
            if pa.types.is_integer(column.type) and _is_large(column):
                table = table.set_column(i, table.field(i).name, column.cast(pa.string()))
        # Without the metadata of pandas, an index with a name is a column like any other.
        frame = table.to_pandas(date_as_object=False, ignore_metadata=True)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{path} is a damaged {format_name} file ({one_line(error)}): copy or export it again."
        ) from error
    unnamed = [re.fullmatch(r"__index_level_\d+__", str(name)) is None for name in frame.columns]
    return Frame(frame.loc[:, unnamed])


def _is_large(column: object) -> bool:
    """Return whether float64 would round some integers of an Arrow column."""
    import pyarrow.compute as pc

    ends = pc.min_max(column).as_py()
    return ends["min"] is not None and max(-ends["min"], ends["max"]) > LARGEST_EXACT


def _read_sqlite(path: Path, options: ReadOptions) -> Frame:
    """Return the chosen or only table or view of an SQLite file."""
    import sqlite3  # Some builds of Python lack sqlite3

    import pandas as pd

    try:
        # Read-only: the file is neither changed nor created.
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            quoted = _sqlite_table(path, connection, options).replace('"', '""')
            cursor = connection.execute(f'SELECT * FROM "{quoted}"')
            rows, names = cursor.fetchall(), [str(column[0]) for column in cursor.description]
    except sqlite3.Error as error:
        raise InputError(f"{path} cannot be read as an SQLite file ({error}).") from error
    frame = pd.DataFrame(rows, columns=range(len(names)), dtype=object).map(_exact)
    return Frame(frame.set_axis(names, axis=1).infer_objects())


def _sqlite_table(path: Path, connection: sqlite3.Connection, options: ReadOptions) -> str:
    """Return the name of the chosen or only table; raise InputError if there are several."""
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    )
    names = [str(name) for (name,) in rows]
    if (table := chosen(names, path, "table", options)) is not None:
        return table
    if len(names) != 1:
        contents = f"{len(names)} tables ({listed(names)})" if names else "no tables"
        raise InputError(f"{path} has {contents}: expected one. Choose it by table= (--table).")
    return names[0]


def _exact(entry: object) -> Any:
    """Return an entry unchanged, or as text if it is an integer that float64 would round."""
    return str(entry) if isinstance(entry, int) and abs(entry) > LARGEST_EXACT else entry


SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
"""Endings of spreadsheets."""

_WITH_TABLES: Mapping[str, Callable[[Path, ReadOptions], Frame]] = {
    **dict.fromkeys(SPREADSHEETS, read_spreadsheet),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), _read_sqlite),
}
_READERS: Mapping[str, Callable[[Path, ReadOptions], Frame]] = {
    ".parquet": partial(_read_arrow, "Parquet"),
    ".feather": partial(_read_arrow, "Feather"),
    **_WITH_TABLES,
}

WITH_TABLES = tuple(_WITH_TABLES)
"""Endings of files that may have several tables."""

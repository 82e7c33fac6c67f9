"""Reading of tables from Parquet, Feather and SQLite files, and from spreadsheets."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from bochner._base.names import refuse_repeated
from bochner.files.delimited_text import RawColumns
from bochner.files.errors import InputError
from bochner.files.read_options import ReadOptions
from bochner.files.rules import LARGEST_EXACT
from bochner.files.spreadsheets import chosen, listed, read_spreadsheet

if TYPE_CHECKING:
    import pandas as pd

SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
"""Endings of spreadsheets."""

_UNNAMED = re.compile(r"__index_level_\d+__")
"""Names of an index without a name, which pandas stores."""

_TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
)
WITH_TABLES = (*SPREADSHEETS, ".sqlite", ".sqlite3", ".db")
"""Endings of files that may have several tables."""


def read_frame(path: Path, ending: str, options: ReadOptions) -> RawColumns:
    """Return the unconverted columns of a file that is no text."""
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty: expected a table.")
    if ending in SPREADSHEETS:
        return read_spreadsheet(path, options)
    frame = _sqlite(path, options) if ending in WITH_TABLES else _arrow(path, ending)
    names = [str(name).strip() for name in frame.columns]
    refuse_repeated(names, str(path))
    return RawColumns({name: frame.iloc[:, i] for i, name in enumerate(names)})


def _arrow(path: Path, ending: str) -> pd.DataFrame:
    """Return a table read by Arrow, without an unnamed index, which only numbers the rows."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import feather, parquet

    try:
        with path.open("rb") as file:
            table = (parquet if ending == ".parquet" else feather).read_table(file)
        names = [name for name in table.column_names if not _UNNAMED.fullmatch(name)]
        table = table.select(names)
        for i, column in enumerate(table.columns):
            ends = pc.min_max(column).as_py().values() if pa.types.is_integer(column.type) else ()
            if any(abs(end or 0) > LARGEST_EXACT for end in ends):
                table = table.set_column(i, names[i], column.cast(pa.string()))
        # Without the metadata of pandas, an index with a name is a column like any other.
        frame: pd.DataFrame = table.to_pandas(date_as_object=False, ignore_metadata=True)
        return frame
    except (pa.ArrowException, OSError) as error:
        reason = f"{path} is a damaged {ending[1:].title()} file ({' '.join(str(error).split())})"
        raise InputError(f"{reason}: copy or export it again.") from error


def _sqlite(path: Path, options: ReadOptions) -> pd.DataFrame:
    """Return the chosen or only table or view of an SQLite file."""
    import sqlite3  # Some builds of Python lack sqlite3

    import pandas as pd

    try:
        # Read-only: the file is neither changed nor created.
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            tables = [name for (name,) in connection.execute(_TABLES)]
            table = chosen(tables, path, "table", options) or ", ".join(tables)
            if table not in tables:
                held = f"{len(tables)} tables ({listed(tables)})" if tables else "no tables"
                raise InputError(f"{path} has {held}: expected one. Choose it by table= (--table).")
            quoted = table.replace('"', '""')
            cursor = connection.execute(f'SELECT * FROM "{quoted}"')
            rows, names = cursor.fetchall(), [str(column[0]) for column in cursor.description]
    except sqlite3.Error as error:
        raise InputError(f"{path} cannot be read as an SQLite file ({error}).") from error
    frame = pd.DataFrame(rows, columns=range(len(names)), dtype=object)
    # Integers that float64 would round become text.
    frame = frame.map(lambda x: str(x) if isinstance(x, int) and abs(x) > LARGEST_EXACT else x)
    return frame.set_axis(names, axis=1).infer_objects()

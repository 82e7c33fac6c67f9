"""Tables of Parquet, Feather, Excel and SQLite files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner._numerics.naming import refuse_repeated
from bochner.tables.delimited import MISSING
from bochner.tables.refusals import InputError, nearest

if TYPE_CHECKING:
    import sqlite3

    import pandas as pd

    Read = tuple[pd.DataFrame, tuple[str, ...]]

_SHORTEST_PARQUET = 12
"""Bytes of the smallest Parquet file: the mark PAR1 twice, and the length of the footer."""

_ENGINES: Mapping[str, Any] = {".xlsx": "openpyxl", ".xls": "xlrd", ".ods": "odf"}
_PACKAGES = {"openpyxl": "openpyxl", "xlrd": "xlrd", "odf": "odfpy"}
"""Names under which pip installs the modules that read spreadsheets."""

_LARGEST_EXACT = 2**53
"""Whole number up to which all are exact in float64; larger ones are given as text."""

_MOST_LISTED = 8
"""Tables or sheets that a message lists."""


def read_frame(path: Path, ending: str, table: str | None, *, only_preferred: bool) -> Read:
    """Return the unconverted table of a file, with column names as text, and notes.

    ``table`` is a table of an SQLite file or a sheet of an Excel file. With ``only_preferred``, a
    missing table is replaced by the default choice. Raises InputError for a damaged file, for a
    table that does not exist, and for an SQLite file with several tables if ``table`` is None.
    """
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty: expected a table.")
    frame, notes = _READERS[ending](path, _Choice(table, only_preferred))
    frame = frame.set_axis([str(name).strip() for name in frame.columns], axis=1)
    refuse_repeated(list(frame.columns), str(path))
    return frame, notes


@dataclass(frozen=True, slots=True)
class _Choice:
    """The requested table of a file."""

    table: str | None
    only_preferred: bool

    def among(self, names: Sequence[str], path: Path, table_noun: str) -> str | None:
        """Return the requested table, None for the default choice; raise if a table is missing."""
        if self.table is None or self.table in names:
            return self.table
        if self.only_preferred:
            return None
        near = nearest(self.table, names)
        hint = f" Did you mean {near!r}?" if near else ""
        raise InputError(
            f"{path} has no {table_noun} {self.table!r}.{hint} It has {_listed(names)}."
        )


def _listed(names: Sequence[str]) -> str:
    """Return the first names of tables or sheets."""
    return ", ".join(map(repr, names[:_MOST_LISTED])) + ", ..." * (len(names) > _MOST_LISTED)


def _read_parquet(path: Path, choice: _Choice) -> Read:
    import pyarrow.parquet as pq

    _check_parquet_marks(path)
    return _read_arrow(path, "Parquet", pq.read_table), ()


def _read_feather(path: Path, choice: _Choice) -> Read:
    from pyarrow import feather

    return _read_arrow(path, "Feather", feather.read_table), ()


def _read_arrow(path: Path, format_name: str, read: Callable[[Any], Any]) -> pd.DataFrame:
    """Return a table that Arrow reads. An index without a name numbers the rows: it is dropped."""
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
    return ends["min"] is not None and max(-ends["min"], ends["max"]) > _LARGEST_EXACT


def _check_parquet_marks(path: Path) -> None:
    """Raise an error that names the problem, where pyarrow's message would not."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(4)
        file.seek(max(size - 4, 0))
        tail = file.read(4)
    if head != b"PAR1":
        raise InputError(f"{path} is not a Parquet file: expected it to begin with PAR1.")
    if tail != b"PAR1" or size < _SHORTEST_PARQUET:
        raise InputError(
            f"{path} is a truncated Parquet file ({size} bytes, its end is missing): "
            "copy or export it again."
        )


def _read_excel(path: Path, choice: _Choice) -> Read:
    import pandas as pd

    engine = _ENGINES[path.suffix.lower()]
    options: Any = {"header": None, "keep_default_na": False, "na_values": [""]}
    try:
        with pd.ExcelFile(path, engine=engine) as book:
            names = list(map(str, book.sheet_names))
            sheet = choice.among(names, path, "sheet")
            cells: pd.DataFrame = pd.read_excel(book, sheet_name=sheet or names[0], **options)
    except ImportError:
        package = _PACKAGES[engine]
        raise InputError(
            f"{path} needs the package {package}, which is not installed: pip install {package}."
        ) from None
    except (InputError, MemoryError):
        raise
    except Exception as error:  # of any type, by the place of the damage and the engine
        raise InputError(
            f"{path} cannot be read as a spreadsheet ({_one_line(error)}): is it damaged, "
            "encrypted, or of another format? Save it again, or as CSV."
        ) from error
    if cells.empty:
        raise InputError(f"{path} is empty: expected a line of column names, then rows.")
    names_of_columns = [
        f"Unnamed: {i}" if pd.isna(name) else str(name) for i, name in enumerate(cells.iloc[0])
    ]
    refuse_repeated(names_of_columns, str(path))
    if engine == "openpyxl" and (len(cells) < 2 or cells.isna().any(axis=None)):
        _refuse_unstored(path, sheet or names[0], cells, names_of_columns)
    frame = cells.iloc[1:].reset_index(drop=True).set_axis(names_of_columns, axis=1)
    frame = frame.mask(frame.isin(MISSING)).infer_objects()
    for name in frame.columns[frame.dtypes == np.float64]:  # Excel has no other numbers
        if bool(((frame[name] % 1 == 0) & (frame[name].abs() <= _LARGEST_EXACT)).all()):
            frame[name] = frame[name].astype(np.int64)
    if sheet is not None or len(names) == 1:
        return frame, ()
    note = (
        f"The first of {len(names)} sheets is read ({_listed(names)}); table= (--table) chooses "
        "another."
    )
    return frame, (note,)


def _refuse_unstored(path: Path, sheet: str, cells: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise InputError for columns of whose formulas none has a stored result.

    Programs that write formulas without computing them store no results, so that all cells would be
    read as missing.
    """
    from openpyxl import load_workbook

    n_formulas, n_plain = np.zeros((2, len(names)), dtype=np.int64)
    with closing(load_workbook(path, read_only=True)) as book:
        for row in book[sheet].iter_rows(max_col=len(names)):
            for j, cell in enumerate(row):
                n_formulas[j] += cell.data_type == "f"
                n_plain[j] += cell.data_type != "f" and cell.value not in (None, "")
    n_present = cells.notna().sum(axis=0).to_numpy()
    lost = [names[j] for j in np.flatnonzero((n_formulas > 0) & (n_present <= n_plain)).tolist()]
    if lost:
        raise InputError(
            f"{path} has formulas without results in {_listed(lost)}, which would be missing: open "
            "it in a spreadsheet program and save it there, or export it as CSV."
        )


def _read_sqlite(path: Path, choice: _Choice) -> Read:
    import sqlite3  # which some builds of Python lack

    import pandas as pd

    try:
        # Read-only: the file is neither changed nor created.
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            table = _sqlite_table(path, connection, choice)
            quoted = table.replace('"', '""')
            cursor = connection.execute(f'SELECT * FROM "{quoted}"')
            names = [str(column[0]) for column in cursor.description]
            rows = cursor.fetchall()
    except sqlite3.Error as error:
        raise InputError(f"{path} cannot be read as an SQLite file ({error}).") from error
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    series = [pd.Series(list(map(_exact, column)), dtype=object) for column in columns]
    frame = pd.concat(series, axis=1, keys=range(len(names))).set_axis(names, axis=1)
    return frame.infer_objects(), ()


def _sqlite_table(path: Path, connection: sqlite3.Connection, choice: _Choice) -> str:
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    )
    names = [str(name) for (name,) in rows]
    table = choice.among(names, path, "table")
    if table is not None:
        return table
    if len(names) != 1:
        contents = f"{len(names)} tables ({_listed(names)})" if names else "no tables"
        raise InputError(f"{path} has {contents}: expected one. Choose it by table= (--table).")
    return names[0]


def _exact(entry: object) -> Any:
    """Return an entry, as text if it is a whole number that float64 would round."""
    return str(entry) if isinstance(entry, int) and abs(entry) > _LARGEST_EXACT else entry


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


_WITH_TABLES: Mapping[str, Callable[[Path, _Choice], Read]] = {
    **dict.fromkeys(_ENGINES, _read_excel),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), _read_sqlite),
}
_READERS = {".parquet": _read_parquet, ".feather": _read_feather, **_WITH_TABLES}

WITH_TABLES = tuple(_WITH_TABLES)
"""Endings of files that may have several tables."""

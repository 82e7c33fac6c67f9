"""Reading of a table from a sheet of an Excel or OpenDocument file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.names import listed, nearest, refuse_repeated
from bochner.files.errors import InputError
from bochner.files.headings import LOOKED_AT, find_heading
from bochner.files.local_numbers import LARGEST_EXACT
from bochner.files.read_options import ReadOptions
from bochner.files.sheet_markup import Range, merged_ranges, notes_on_formulas
from bochner.files.sheet_tables import SheetTable, are_texts, cell_name, find_tables

if TYPE_CHECKING:
    import pandas as pd

_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
"""Name of the part of an Excel file that a password protects."""

_DURATION = re.compile(r"-?PT\d+H\d+M[\d.]+S")
"""Durations of a day or more in OpenDocument files, which calamine returns as text."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """An unconverted table, notes for the user, and the number of header lines of a spreadsheet."""

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    n_names: int | None = None


def chosen(names: Sequence[str], path: Path, noun: str, options: ReadOptions) -> str | None:
    """Return the name of the requested table, or None for the default; raise if it is missing."""
    if options.table is None or options.table in names:
        return options.table
    if options.recorded:
        return None
    near = nearest(options.table, names)
    hint = f" Did you mean {near!r}?" if near else ""
    raise InputError(f"{path} has no {noun} {options.table!r}.{hint} It has {listed(names)}.")


def one_line(error: BaseException) -> str:
    """Return the message of an error without line ends."""
    return " ".join(str(error).split())


def read_spreadsheet(path: Path, options: ReadOptions) -> Frame:
    """Return the requested table, or the largest table of the first sheet that has one."""
    import pandas as pd

    book = _open(path)
    sheet, table, notes = _choose(book, path, options)
    ranges = merged_ranges(path, book.get_sheet_by_name(sheet))
    values = _with_merged(table, ranges)
    rows = np.arange(len(values))
    if values.shape[1] > 1:
        rows = np.flatnonzero((values != "").any(axis=1))
    heading = find_heading(
        [list(map(_text, row)) for row in values[rows[:LOOKED_AT]]],
        n_titles=None if options.skip is None else 0,
        n_names=options.header,
        is_recorded=options.recorded,
    )
    rows = rows[heading.n_titles + heading.n_names :]
    names = [name.strip() or f"Unnamed: {i}" for i, name in enumerate(heading.names)]
    refuse_repeated(names, str(path))
    if (values[rows] == "").any():
        letters = [cell_name(0, table.left + i)[:-1] for i in range(len(names))]
        in_sheet = range(table.top + rows[0] + 1, table.top + rows[-1] + 2)
        by_letters = dict(zip(letters, names, strict=True))
        notes += notes_on_formulas(path, sheet, by_letters, in_sheet)
    top = table.top + rows[0] if len(rows) else np.inf
    notes += _note_on_merged([some for some in ranges if some[0][0] >= top])
    columns = [_typed(values[rows, i]) for i in range(len(names))]
    frame = pd.concat(columns, axis=1, keys=range(len(names))).set_axis(names, axis=1)
    return Frame(frame, notes + heading.notes, heading.n_names)


def _open(path: Path) -> Any:
    """Return the workbook of a file, whose ending may be that of another kind of spreadsheet."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise InputError(
            f"{path} needs the package python-calamine, which is not installed: pip install "
            "python-calamine."
        ) from None
    content = path.read_bytes()
    try:
        return CalamineWorkbook.from_filelike(BytesIO(content))
    except Exception as error:  # The error type depends on the damage and on the format
        reason = one_line(error)
        if _ENCRYPTED in content or "password" in reason.lower():
            reason = "it is protected by a password: save it without one"
        elif b"\0" not in content:
            kind = "a web page" if b"<html" in content.lower() else "text"
            reason = f"it is {kind}: open it in a spreadsheet program, or rename it to .csv"
        raise InputError(
            f"{path} cannot be read as a spreadsheet ({reason}): is it damaged, encrypted, or of "
            "another format? Save it again, or as CSV."
        ) from error


def _choose(book: Any, path: Path, options: ReadOptions) -> tuple[str, SheetTable, tuple[str, ...]]:
    """Return the name of a sheet, one of its tables, and notes on the choice of both.

    Hidden sheets come last, and sheets without numbers or dates after those that have them.
    """
    sheets = [each for each in book.sheets_metadata if str(each.typ).endswith("WorkSheet")]
    names = [each.name for each in sheets]
    wanted, corner = _requested(names, path, options)
    sheets.sort(key=lambda each: not str(each.visible).endswith(".Visible"))
    tables: dict[str, list[SheetTable]] = {}
    for name in [each.name for each in sheets] if wanted is None else [wanted]:
        tables[name] = _tables(book.get_sheet_by_name(name), options)
        if _rank(tables[name]) == _WITH_NUMBERS:
            break
    sheet = max(tables, key=lambda name: _rank(tables[name]), default="")
    if not tables.get(sheet):
        raise InputError(f"{path} is empty: expected a line of column names, then rows.")
    table, notes = _table_at(corner, sheet, tables[sheet], path, options)
    if wanted is None and len(names) > 1:
        place = "The first" if sheet == names[0] else f"Sheet {sheet!r}"
        note = f"{place} of {len(names)} sheets is read ({listed(names)}); table= (--table) chooses"
        notes = (f"{note} another.", *notes)
    return sheet, table, notes


def _table_at(
    corner: str, sheet: str, tables: Sequence[SheetTable], path: Path, options: ReadOptions
) -> tuple[SheetTable, tuple[str, ...]]:
    """Return the table of a sheet that begins at a cell, otherwise the largest, and a note."""
    by_corner = {f"{sheet}!{table.corner()}": table for table in tables}
    if corner and (table := by_corner.get(f"{sheet}!{corner}")) is not None:
        return table, ()
    begins = f"{listed(list(by_corner))}"
    if corner and not options.recorded:
        raise InputError(f"{path} has no table {sheet}!{corner}: expected one of {begins}.")
    if len(tables) == 1:
        return tables[0], ()
    note = (
        f"Sheet {sheet!r} has {len(tables)} tables, of which the largest is read; table= (--table) "
        f"chooses one by its first cell ({begins})."
    )
    return max(tables, key=SheetTable.n_filled), (note,)


def _requested(names: Sequence[str], path: Path, options: ReadOptions) -> tuple[str | None, str]:
    """Return the name of the requested sheet and the first cell of a table, if they are given."""
    table = options.table
    if table is None or table in names:
        return table, ""
    sheet, _, corner = table.rpartition("!") if "!" in table else (table, "", "")
    if sheet not in names and sheet.isdecimal() and 0 < int(sheet) <= len(names):
        sheet = names[int(sheet) - 1]
    return chosen(names, path, "sheet", replace(options, table=sheet)), corner.upper()


def _tables(sheet: Any, options: ReadOptions) -> list[SheetTable]:
    """Return the tables of a sheet; a number of lines to skip makes all others one table."""
    cells = np.array(sheet.to_python(skip_empty_area=False) or [[""]], dtype=object)
    is_blank = np.frompyfunc(lambda cell: isinstance(cell, str) and not cell.strip(), 1, 1)(cells)
    cells[is_blank.astype(bool)] = ""
    if options.skip is None or (cells[options.skip :] == "").all():
        return find_tables(cells[options.skip or 0 :])
    return [SheetTable(cells).part(rows=slice(options.skip, None))]


_WITH_NUMBERS = 2
"""Rank of a sheet with numbers or dates in at least half of the rows of a table."""


def _rank(tables: Sequence[SheetTable]) -> int:
    """Return 2 for a sheet with a table of numbers or dates, 1 for other tables, 0 for titles."""
    rank = 0
    for table in tables:
        is_other = (table.values != "") & ~are_texts(table.values)
        n_rows = len(is_other) - 1
        if n_rows and 2 * is_other.any(axis=1).sum() >= n_rows:
            return _WITH_NUMBERS
        rank = max(rank, int(n_rows > 0 and is_other.shape[1] > 1))
    return rank


def _with_merged(table: SheetTable, ranges: Sequence[Range]) -> NDArray[np.object_]:
    """Return the cells of a table with the value of each merged range in all of its cells.

    A range that is alone in its rows is a title or a remark, and stays in its first cell.
    """
    values, filled = table.values.copy(), table.values != ""
    for (top, left), (bottom, right) in ranges:
        top, bottom = top - table.top, bottom - table.top
        left, right = left - table.left, right - table.left
        if min(top, left) < 0 or top >= len(values) or left >= values.shape[1]:
            continue
        rows, columns = slice(top, bottom + 1), slice(left, right + 1)
        if filled[rows].sum() > filled[rows, columns].sum():
            values[rows, columns] = values[top, left]
    return values


def _note_on_merged(ranges: Sequence[Range]) -> tuple[str, ...]:
    """Return a note on merged ranges of several rows."""
    if not (tall := sorted(some for some in ranges if some[1][0] > some[0][0])):
        return ()
    first = ":".join(cell_name(*corner) for corner in tall[0])
    return (f"Each row of a merged range has the value of the range ({first} is the first).",)


def _text(cell: object) -> str:
    """Return a cell as text; whole numbers have no decimal point."""
    return str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell)


def _typed(cells: NDArray[np.object_]) -> Any:
    """Return a series of the entries (n,): integers, numbers, dates, durations or objects."""
    import pandas as pd

    present = cells[cells != ""]
    series = pd.Series(cells, dtype="object").mask(cells == "", None)
    types = set(map(type, present.tolist()))
    if types <= {int, float}:
        numbers = series.astype(np.float64)
        is_whole = bool(((numbers % 1 == 0) & (numbers.abs() <= LARGEST_EXACT)).all())
        return numbers.astype(np.int64) if is_whole and len(numbers) else numbers
    if all(issubclass(some, date) for some in types):
        return series.astype("datetime64[us]")
    if timedelta in types or _DURATION.fullmatch(str(present[0])):
        is_duration = [isinstance(x, time | timedelta) or _DURATION.match(str(x)) for x in present]
        if all(is_duration):
            return pd.to_timedelta(series.map(_duration, na_action="ignore"))
    if float in types:
        series = series.map(lambda x: int(x) if isinstance(x, float) and x.is_integer() else x)
    return series.infer_objects()


def _duration(entry: object) -> object:
    """Return a time of day as the duration since midnight, and other entries unchanged."""
    if not isinstance(entry, time):
        return entry
    return timedelta(0, entry.second, entry.microsecond, 0, entry.minute, entry.hour)

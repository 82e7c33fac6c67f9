"""Reading of a table from a sheet of an Excel or OpenDocument file."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from bochner._base.names import MOST_NAMED, Remarks, nearest
from bochner.files.delimited_text import RawColumns
from bochner.files.errors import InputError
from bochner.files.headings import LOOKED_AT, HeadCells, all_named, find_heading
from bochner.files.read_options import ReadOptions
from bochner.files.rules import LARGEST_EXACT

if TYPE_CHECKING:
    import pandas as pd

Cells = NDArray[np.object_]
"""Cells (n, d) of a sheet, "" where empty."""

Table = tuple[slice, slice]
"""Rows and columns of a table of a sheet."""

_MOST_TITLES = 5
"""Most rows of titles above the names of a second table: more rows of text are remarks."""

_DURATION = re.compile(r"-?PT\d+H\d+M[\d.]+S")
"""Durations of a day or more in OpenDocument files, which calamine returns as text."""

_ODS = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_FAILED = re.compile(
    rb'<c r="([A-Z]+\d+)"(?:[^>]*\bt="e"[^>]*>.*?<v>([^<]*)|(?![^>]*t="str")[^>]*>'
    rb"\s*<f\b[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?\s*</c>)",
    re.DOTALL,
)
"""Cells of an Excel file with an error such as #DIV/0!, or with a formula without a result."""


def cell_name(row: int, column: int) -> str:
    """Return the name of a cell in the notation of spreadsheets: B3 for row 2 and column 1."""
    letters, column = "", column + 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{letters}{row + 1}"


def listed(names: Sequence[str]) -> str:
    """Return the first few names of tables or sheets as text for a message."""
    return ", ".join(map(repr, names[:MOST_NAMED])) + ", ..." * (len(names) > MOST_NAMED)


def chosen(names: Sequence[str], path: Path, noun: str, options: ReadOptions) -> str | None:
    """Return the name of the requested table, or None for the default; raise if it is missing."""
    table = options.table
    if not table or table in names:
        return table or None
    if table.isdecimal() and 0 < int(table) <= len(names):
        return names[int(table) - 1]
    if options.recorded:
        return None
    near = nearest(table, names)
    hint = f" Did you mean {near!r:.60}?" if near else ""
    raise InputError(f"{path} has no {noun} {table!r:.60}.{hint} It has {listed(names)}.")


def read_spreadsheet(path: Path, options: ReadOptions) -> RawColumns:
    """Return the requested table, or the largest table of the first sheet that has one."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        needs = f"{path} needs the package python-calamine, which is not installed"
        raise InputError(f"{needs}: pip install python-calamine.") from None
    content = path.read_bytes()
    try:
        return _read_book(CalamineWorkbook.from_filelike(BytesIO(content)), path, options)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # The error type depends on the damage and on the format
        reason = " ".join(str(error).split())
        if "EncryptedPackage".encode("utf-16-le") in content or "password" in reason.lower():
            reason = "it is protected by a password: save it without one"
        elif b"\0" not in content:
            kind = "a web page" if b"<html" in content.lower() else "text"
            reason = f"it is {kind}: open it in a spreadsheet program, or rename it to .csv"
        raise InputError(
            f"{path} cannot be read as a spreadsheet ({reason}): is it damaged, encrypted, or of "
            "another format? Save it again, or as CSV."
        ) from error


def _read_book(book: Any, path: Path, options: ReadOptions) -> RawColumns:
    """Return a table of a workbook."""
    sheet, cells, table, notes = _choose(book, path, options)
    ranges = _merged_ranges(path, sheet)
    cells = _with_merged(cells, table, ranges)
    is_row = (cells[table] != "").any(axis=1) | (cells[table].shape[1] == 1)
    rows = np.flatnonzero(is_row) + table[0].start
    heading = find_heading(
        [[str(_whole(cell)) for cell in row[table[1]]] for row in cells[rows[:LOOKED_AT]]],
        options,
        (rows[:LOOKED_AT] + 1).tolist(),
    )
    rows = rows[heading.n_titles + heading.n_names :]
    names, of_names = all_named([name.strip() for name in heading.names])
    notes += heading.notes + of_names
    if tall := [(first, last) for first, last in ranges if first[0] in rows and last[0] > first[0]]:
        first = ":".join(cell_name(*corner) for corner in min(tall))
        notes += (f"Each row of a merged range has the value of the range ({first} is the first).",)
    by_name = dict(zip(names, range(table[1].start, table[1].stop), strict=False))
    if (cells[rows, table[1]] == "").any():
        notes += _failures(path, sheet.name, cells, rows, by_name)
    columns = {name: typed(cells[rows, place]) for name, place in by_name.items()}
    return RawColumns(columns, notes, n_names=heading.n_names)


def _choose(
    book: Any, path: Path, options: ReadOptions
) -> tuple[Any, Cells, Table, tuple[str, ...]]:
    """Return a sheet with its cells, one of its tables, and notes on the choice of both."""
    sheets = [each for each in book.sheets_metadata if str(each.typ).endswith("WorkSheet")]
    names = [each.name for each in sheets]
    name, cell, notes = options.table or "", "", []
    if name not in names and "!" in name:
        name, _, cell = name.rpartition("!")
    wanted = chosen(names, path, "sheet", replace(options, table=name))
    sheets.sort(key=lambda each: not str(each.visible).endswith(".Visible"))
    ordered = [wanted] if wanted else [each.name for each in sheets]
    sheet, cells, tables = _first_tables(book, ordered, options.skip)
    if not tables:
        raise InputError(f"{path} is empty: expected a line of column names, then rows.")
    if wanted is None and len(names) > 1:
        place = "The first" if sheet.name == names[0] else f"Sheet {sheet.name!r:.60}"
        note = f"{place} of {len(names)} sheets is read ({listed(names)}); table= (--table) chooses"
        notes.append(f"{note} another.")
    corners = (cell_name(rows.start, columns.start) for rows, columns in tables)
    by_cell = dict(zip([f"{sheet.name}!{corner}" for corner in corners], tables, strict=True))
    cell = cell and f"{sheet.name}!{cell.upper()}"
    place = chosen(list(by_cell), path, "table", replace(options, table=cell)) or max(
        by_cell, key=lambda each: (cells[by_cell[each]] != "").sum()
    )
    if len(tables) > 1 and not cell:
        notes.append(
            f"Sheet {sheet.name!r:.60} has {len(tables)} tables, of which the largest is read; "
            f"table= (--table) chooses one by its first cell ({listed(list(by_cell))})."
        )
    return sheet, cells, by_cell[place], tuple(notes)


def _first_tables(book: Any, names: list[str], skip: int | None) -> tuple[Any, Cells, list[Table]]:
    """Return the first sheet with names above numbers or dates, else that with most columns."""
    sheets = []
    for name in names:
        sheet = book.get_sheet_by_name(name)
        rows = sheet.to_python(skip_empty_area=False) or [[""]]
        rows = [["" if isinstance(x, str) and x.isspace() else x for x in row] for row in rows]
        cells, tables = np.array(rows, dtype=object), list[Table]()
        area = slice(skip or 0, None), slice(0, None)
        if (cells[area] != "").any():  # With a number of rows to skip, all others are one table
            tables = _divided(cells, area) if skip is None else [_trimmed(cells, area)]
        tables.sort(key=lambda table: [side.start for side in table])
        if any(names_row(cells[table]) is not None for table in tables):
            return sheet, cells, tables
        width = max((columns.stop - columns.start for _, columns in tables), default=0)
        sheets.append((width, (sheet, cells, tables)))
    return max(sheets, key=lambda each: each[0])[1]


def _trimmed(cells: Cells, area: Table) -> Table:
    """Return some rows and columns, without empty ones around them."""
    filled = [(cells[area] != "").any(axis=axis) for axis in (1, 0)]
    ends = [np.flatnonzero(x)[[0, -1]] + y.start for x, y in zip(filled, area, strict=True)]
    rows, columns = (slice(int(first), int(last) + 1) for first, last in ends)
    return rows, columns


def _divided(cells: Cells, area: Table) -> list[Table]:
    """Return the tables of an area, divided at empty columns and then at empty rows."""
    rows, columns = area = _trimmed(cells, area)
    starts = [columns.start + i for i in _columns_of_tables(cells[area])]
    parts = [(rows, slice(*ends)) for ends in pairwise([*starts, columns.stop])]
    if len(parts) == 1:
        starts = [rows.start + i for i in _rows_of_tables(cells[area])]
        parts = [(slice(*ends), columns) for ends in pairwise([*starts, rows.stop])]
    return parts if len(parts) == 1 else [t for part in parts for t in _divided(cells, part)]


def _runs(filled: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first place of each run of filled rows or columns, and the place after it."""
    edges = np.flatnonzero(np.diff(filled, prepend=False, append=False))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def _columns_of_tables(cells: Cells) -> list[int]:
    """Return the first column of each table of those next to each other."""
    starts, main = list[int](), None
    for start, stop in _runs((cells != "").any(axis=0)):
        part = _trimmed(cells, (slice(0, None), slice(start, stop)))
        if part[0].stop - part[0].start > 1 and not (main and _continues(cells, part, main)):
            starts.append(start)
            main = part
    return [0, *starts[1:]]


def _continues(cells: Cells, part: Table, main: Table) -> bool:
    """Return whether a part right of a table belongs to it: equal rows, other names, numbers."""
    shorter, longer = sorted(rows.stop - rows.start for rows, _ in (part, main))
    places = [names_row(cells[each]) for each in (part, main)]
    if None in places or any(columns.stop - columns.start == 1 for _, columns in (part, main)):
        return bool(2 * shorter >= longer)
    names, others = (set(cells[x][y]) - {""} for x, y in zip((part, main), places, strict=True))
    is_apart, last = bool(names & others) or part[0] != main[0], cells[part][-1, 0]
    return not is_apart and not (isinstance(last, str) and last)


def _rows_of_tables(cells: Cells) -> list[int]:
    """Return the first row of each table of those below each other; titles belong to the next."""
    starts, above, first = [0], None, 0
    for _, stop in _runs((cells != "").any(axis=1)):
        part = cells[_trimmed(cells, (slice(first, stop), slice(0, None)))]
        if (part != "").sum(axis=1).max() <= 1:  # Titles or remarks
            continue
        if (place := names_row(part)) is not None:
            names = part[place].tolist()
            if above is not None and (names != above or place > 0):
                starts.append(first)
            above = names
        first = stop
    return starts


def names_row(values: Cells) -> int | None:
    """Return the place of a row of names above a column of numbers or dates, None without one."""
    rows = [[str(_whole(cell)) for cell in row] for row in values[:LOOKED_AT]]
    for place, cells in enumerate(values[: _MOST_TITLES + 1].tolist()):
        numbers = [cell for cell in cells if not isinstance(cell, str)]
        are_numbers = {int, float} >= set(map(type, numbers)) and 2 < len(numbers) < len(cells)
        if are_numbers and len(set(np.diff(numbers))) == 1:  # Years, next to text
            rows[place] = ["years"[: 5 * bool(cell)] for cell in rows[place]]
            break
    return HeadCells(rows).last_names()


def _merged_ranges(path: Path, sheet: Any) -> list[Any]:
    """Return the first and last cells of merged ranges; calamine has those of Excel files."""
    ranges: list[Any] = sheet.merged_cell_ranges or []
    if b"-spanned=" not in (content := _member(path, "content.xml")):
        return ranges
    tables = ElementTree.fromstring(content).iter(f"{_ODS}table")
    table, row = next(each for each in tables if each.get(f"{_ODS}name") == sheet.name), 0
    for line in table.iter(f"{_ODS}table-row"):
        column = 0
        for cell in line:
            height = int(cell.get(f"{_ODS}number-rows-spanned", 1))
            width = int(cell.get(f"{_ODS}number-columns-spanned", 1))
            if height * width > 1:
                ranges.append(((row, column), (row + height - 1, column + width - 1)))
            column += int(cell.get(f"{_ODS}number-columns-repeated", 1))
        row += int(line.get(f"{_ODS}number-rows-repeated", 1))
    return ranges


def _with_merged(cells: Cells, table: Table, ranges: Sequence[Any]) -> Cells:
    """Return cells with the value of each merged range in all its cells, unless it is a title."""
    values, filled = cells.copy(), np.zeros(cells.shape, dtype=bool)
    filled[table] = cells[table] != ""
    for (top, left), (bottom, right) in ranges:
        rows, columns = slice(top, bottom + 1), slice(left, right + 1)
        if filled[rows].sum() > filled[rows, columns].sum() > 0:
            values[rows, columns] = cells[top, left]
    return values


def _failures(
    path: Path, sheet: str, cells: Cells, rows: NDArray[np.intp], places: dict[str, int]
) -> tuple[str, ...]:
    """Return notes on errors of Excel; refuse formulas without results, as programs write them."""
    failed = {match[1]: match[2] for match in _FAILED.finditer(_excel_sheet(path, sheet))}
    remarks, lost = Remarks(), []
    for name, column in places.items() if failed else ():
        empty = [cell_name(row, column).encode() for row in rows[cells[rows, column] == ""]]
        errors = Counter((failed[cell] or b"=").decode() for cell in empty if cell in failed)
        lost += [name] * ("=" in errors and len(empty) == len(rows))
        for error, count in errors.items():
            words = f"has entries {error!r}, which count as missing"
            remarks.add(name, words, f"{count} of {len(rows)}")
    if lost:
        raise InputError(
            f"{path} has formulas without results in {listed(lost)}, which would be missing: open "
            "it in a spreadsheet program and save it there, or export it as CSV."
        )
    return remarks.sentences()


def _excel_sheet(path: Path, sheet: str) -> bytes:
    """Return the XML of a sheet of an Excel file, empty for other formats."""
    if not (book := _member(path, "xl/workbook.xml")):
        return b""
    relations = ElementTree.fromstring(_member(path, "xl/_rels/workbook.xml.rels"))
    targets = {each.get("Id"): str(each.get("Target")) for each in relations}
    sheets = {each.get("name"): each for each in ElementTree.fromstring(book).iter()}
    target = next(targets[value] for key, value in sheets[sheet].items() if key.endswith("}id"))
    return _member(path, target[1:] if target[0] == "/" else f"xl/{target}")


def _member(path: Path, name: str) -> bytes:
    """Return a file of a zip archive, empty if there is none."""
    if not zipfile.is_zipfile(path):
        return b""
    with zipfile.ZipFile(path) as archive:
        return archive.read(name) if name in archive.namelist() else b""


def _whole(cell: object) -> object:
    """Return a whole number that floats hold exactly as an integer, other cells unchanged."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) <= LARGEST_EXACT:
        return int(cell)
    return cell


def typed(cells: Cells) -> pd.Series:
    """Return a series of the entries (n,): integers, numbers, dates, durations or objects."""
    import pandas as pd

    types = set(map(type, present := cells[cells != ""].tolist()))
    series = pd.Series(cells, dtype="object").mask(cells == "", None if types else np.nan)
    if types and types <= {date, datetime}:
        return series.astype("datetime64[us]")
    texts = (_DURATION.fullmatch(cell) for cell in present if isinstance(cell, str))
    if types and types != {time} and types <= {str, time, timedelta} and all(texts):
        return pd.to_timedelta(series.map(str, na_action="ignore"))
    return series.map(_whole).infer_objects()

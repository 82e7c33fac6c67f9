"""Reading of a table from a sheet of an Excel or OpenDocument file."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from bochner._base.names import MOST_NAMED, Remarks, nearest
from bochner.files.errors import InputError
from bochner.files.headings import LOOKED_AT, find_heading
from bochner.files.plain_numbers import LARGEST_EXACT
from bochner.files.read_options import ReadOptions
from bochner.files.sheet_tables import SheetTable, cell_name, find_tables, names_row

if TYPE_CHECKING:
    import pandas as pd

_DURATION = re.compile(r"-?PT\d+H\d+M[\d.]+S")
"""Durations of a day or more in OpenDocument files, which calamine returns as text."""

_ODS = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_FORMULA = re.compile(rb'<c r="([A-Z]+)(\d+)"([^>]*)>\s*<f\b[^>]*(?:/>|>[^<]*</f>)\s*(<v>[^<])?')
_ERROR = re.compile(rb'<c r="([A-Z]+)(\d+)"[^>]*\bt="e"[^>]*>.*?<v>([^<]*)', re.DOTALL)
"""Cells of an Excel file with a formula, or with an error such as #DIV/0!."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """An unconverted table, notes for the user, and the number of header lines of a spreadsheet."""

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    n_names: int | None = None


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
    hint = f" Did you mean {near!r}?" if near else ""
    raise InputError(f"{path} has no {noun} {table!r}.{hint} It has {listed(names)}.")


def read_spreadsheet(path: Path, options: ReadOptions) -> Frame:
    """Return the requested table, or the largest table of the first sheet that has one.

    The ending of the file may be that of another kind of spreadsheet.
    """
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


def _read_book(book: Any, path: Path, options: ReadOptions) -> Frame:
    """Return a table of a workbook."""
    import pandas as pd

    sheet, table, notes = _choose(book, path, options)
    ranges = _merged_ranges(path, sheet)
    values = _with_merged(table, ranges)
    rows = np.flatnonzero((values != "").any(axis=1) | (values.shape[1] == 1))
    heading = find_heading(
        [[str(_whole(cell)) for cell in row] for row in values[rows[:LOOKED_AT]]],
        n_titles=None if options.skip is None else 0,
        n_names=options.header,
        is_recorded=options.recorded,
    )
    rows = rows[heading.n_titles + heading.n_names :]
    notes += heading.notes
    names = [name.strip() or f"Unnamed: {i}" for i, name in enumerate(heading.names)]
    in_sheet = range(table.top + rows[0], table.top + rows[-1] + 1) if len(rows) else range(0)
    if tall := [some for some in ranges if some[0][0] in in_sheet and some[1][0] > some[0][0]]:
        first = ":".join(cell_name(*corner) for corner in min(tall))
        notes += (f"Each row of a merged range has the value of the range ({first} is the first).",)
    if (values[rows] == "").any():
        columns = {cell_name(0, table.left + i)[:-1]: name for i, name in enumerate(names)}
        notes += _formulas(path, sheet.name, columns, in_sheet)
    series = [_typed(values[rows, i]) for i in range(len(names))]
    frame = pd.concat(series, axis=1, keys=range(len(names))).set_axis(names, axis=1)
    return Frame(frame, notes, heading.n_names)


def _choose(book: Any, path: Path, options: ReadOptions) -> tuple[Any, SheetTable, tuple[str, ...]]:
    """Return a sheet, one of its tables, and notes on the choice of both."""
    sheets = [each for each in book.sheets_metadata if str(each.typ).endswith("WorkSheet")]
    names = [each.name for each in sheets]
    name, cell, notes = options.table or "", "", []
    if name not in names and "!" in name:
        name, _, cell = name.rpartition("!")
    wanted = chosen(names, path, "sheet", replace(options, table=name))
    sheets.sort(key=lambda each: not str(each.visible).endswith(".Visible"))
    ordered = [each.name for each in sheets] if wanted is None else [wanted]
    sheet, tables = _first_tables(book, ordered, options.skip)
    if not tables:
        raise InputError(f"{path} is empty: expected a line of column names, then rows.")
    if wanted is None and len(names) > 1:
        place = "The first" if sheet.name == names[0] else f"Sheet {sheet.name!r}"
        note = f"{place} of {len(names)} sheets is read ({listed(names)}); table= (--table) chooses"
        notes.append(f"{note} another.")
    by_cell = {f"{sheet.name}!{cell_name(each.top, each.left)}": each for each in tables}
    cell = cell and f"{sheet.name}!{cell.upper()}"
    place = chosen(list(by_cell), path, "table", replace(options, table=cell)) or max(
        by_cell, key=lambda each: (by_cell[each].values != "").sum()
    )
    if len(tables) > 1 and not cell:
        notes.append(
            f"Sheet {sheet.name!r} has {len(tables)} tables, of which the largest is read; table= "
            f"(--table) chooses one by its first cell ({listed(list(by_cell))})."
        )
    return sheet, by_cell[place], tuple(notes)


def _first_tables(book: Any, names: list[str], skip: int | None) -> tuple[Any, list[SheetTable]]:
    """Return the first sheet with names above numbers or dates, else that with most columns."""
    best, most = (None, list[SheetTable]()), 0
    for name in names:
        sheet = book.get_sheet_by_name(name)
        rows = sheet.to_python(skip_empty_area=False) or [[""]]
        rows = [["" if isinstance(x, str) and x.isspace() else x for x in row] for row in rows]
        tables = find_tables(np.array(rows, dtype=object), skip)
        if any(names_row(table) is not None for table in tables):
            return sheet, tables
        if (width := max((table.values.shape[1] for table in tables), default=0)) > most:
            best, most = (sheet, tables), width
    return best


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


def _with_merged(table: SheetTable, ranges: Sequence[Any]) -> NDArray[np.object_]:
    """Return the cells of a table with the value of each merged range in all of its cells.

    A range that is alone in its rows is a title or a remark, and stays in its first cell.
    """
    values, filled = table.values.copy(), table.values != ""
    for first, last in ranges:
        (top, left), (bottom, right) = np.subtract((first, last), (table.top, table.left)).tolist()
        rows, columns = slice(top, bottom + 1), slice(left, right + 1)
        is_inside = 0 <= top < len(values) and 0 <= left < values.shape[1]
        if is_inside and filled[rows].sum() > filled[rows, columns].sum():
            values[rows, columns] = values[top, left]
    return values


def _formulas(path: Path, sheet: str, names: dict[str, str], rows: range) -> tuple[str, ...]:
    """Return notes on errors, for which calamine returns empty cells, in the rows of a table.

    ``names`` has the names of columns by their letters. Raises InputError for columns whose
    formulas have no results, as programs write them that do not compute.
    """
    cells: dict[re.Pattern[bytes], list[tuple[str, re.Match[bytes]]]] = {_FORMULA: [], _ERROR: []}
    content = _excel_sheet(path, sheet)
    for pattern, found in cells.items():
        for match in pattern.finditer(content):
            if (letters := match[1].decode()) in names and int(match[2]) - 1 in rows:
                found.append((names[letters], match))
    computed = {name for name, match in cells[_FORMULA] if match[4] or b't="str"' in match[3]}
    if lost := [name for name in dict(cells[_FORMULA]) if name not in computed]:
        raise InputError(
            f"{path} has formulas without results in {listed(lost)}, which would be missing: open "
            "it in a spreadsheet program and save it there, or export it as CSV."
        )
    remarks = Remarks()
    errors = Counter((name, match[3].decode()) for name, match in cells[_ERROR])
    for (name, error), count in errors.items():
        words = f"has entries {error!r}, which count as missing"
        remarks.add(name, words, f"{count} of {len(rows)}")
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
    """Return a whole number as an integer, other cells unchanged."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def _typed(cells: NDArray[np.object_]) -> Any:
    """Return a series of the entries (n,): integers, numbers, dates, durations or objects."""
    import pandas as pd

    series = pd.Series(cells, dtype="object").mask(cells == "", None)
    types = set(map(type, present := cells[cells != ""].tolist()))
    if types <= {int, float}:
        numbers = series.astype(np.float64)
        is_whole = ((numbers % 1 == 0) & (numbers.abs() <= LARGEST_EXACT)).all() and len(numbers)
        return numbers.astype(np.int64) if is_whole else numbers
    if types <= {date, datetime}:
        return series.astype("datetime64[us]")
    texts = (_DURATION.fullmatch(cell) for cell in present if isinstance(cell, str))
    if types != {time} and types <= {str, time, timedelta} and all(texts):
        return pd.to_timedelta(series.map(str, na_action="ignore"))
    return series if types <= {str} else series.map(_whole).infer_objects()

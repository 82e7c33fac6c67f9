"""Merged ranges, errors and formulas in the XML of spreadsheets, which calamine leaves out."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from bochner._base.names import Remarks, listed
from bochner.files.errors import InputError

Range = tuple[tuple[int, int], tuple[int, int]]
"""Row and column of the first and of the last cell of a merged range."""

_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"

_FORMULA = re.compile(
    rb'<c r="([A-Z]+)(\d+)"([^>]*)>\s*<f\b[^>]*(?:/>|>[^<]*</f>)\s*(<v>[^<]|<is>)?'
)
_ERROR = re.compile(rb'<c r="([A-Z]+)(\d+)"[^>]*\bt="e"[^>]*>.*?<v>([^<]*)', re.DOTALL)
"""Cells of an Excel file with a formula, or with an error such as #DIV/0!."""


def merged_ranges(path: Path, sheet: Any) -> list[Range]:
    """Return the merged ranges of a sheet, which calamine has for Excel files only."""
    ranges: list[Range] = sheet.merged_cell_ranges or []
    content = _member(path, "content.xml")
    if b"-spanned=" not in content:
        return ranges
    tables = ElementTree.fromstring(content).iter(f"{_TABLE}table")
    row = 0
    for line in next(t for t in tables if t.get(f"{_TABLE}name") == sheet.name).iter(
        f"{_TABLE}table-row"
    ):
        column = 0
        for cell in line:
            size = [int(cell.get(f"{_TABLE}number-{a}-spanned", 1)) for a in ("rows", "columns")]
            if max(size) > 1:
                ranges.append(((row, column), (row + size[0] - 1, column + size[1] - 1)))
            column += int(cell.get(f"{_TABLE}number-columns-repeated", 1))
        row += int(line.get(f"{_TABLE}number-rows-repeated", 1))
    return ranges


def notes_on_formulas(
    path: Path, sheet: str, names: Mapping[str, str], rows: range
) -> tuple[str, ...]:
    """Return notes on errors in the cells of a table, which are empty in what calamine returns.

    ``names`` has the name of each column by its letters, and ``rows`` the numbers of the rows in
    the sheet. Raises InputError for columns whose formulas have no stored results, as programs
    write them that do not compute: they would be missing.
    """
    content = _excel_sheet(path, sheet)
    cells = {
        pattern: [
            (names[letters], match)
            for match in pattern.finditer(content)
            if (letters := match[1].decode()) in names and int(match[2]) in rows
        ]
        for pattern in (_FORMULA, _ERROR)
    }
    computed = {name for name, match in cells[_FORMULA] if match[4] or b't="str"' in match[3]}
    if lost := list(dict.fromkeys(n for n, _ in cells[_FORMULA] if n not in computed)):
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
    for element in ElementTree.fromstring(book).iter():
        if element.tag.endswith("}sheet") and element.get("name") == sheet:
            target = next(targets[v] for key, v in element.items() if key.endswith("}id"))
            return _member(path, target[1:] if target[0] == "/" else f"xl/{target}")
    return b""


def _member(path: Path, name: str) -> bytes:
    """Return a file of a zip archive, empty if there is none."""
    if not zipfile.is_zipfile(path):
        return b""
    with zipfile.ZipFile(path) as archive:
        return archive.read(name) if name in archive.namelist() else b""

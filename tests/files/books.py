"""Writers of spreadsheets in three formats, from the same cells."""

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Rows = Sequence[Sequence[Any]]

ENDINGS = (".xlsx", ".xls", ".ods")


def write_book(
    path: Path, sheets: Mapping[str, Rows], merged: Sequence[str] = (), hidden: Sequence[str] = ()
) -> Path:
    """Write sheets of cells, None where empty; ``merged`` has ranges of the first, as A2:B3."""
    ranges = [bounds(text) for text in merged]
    WRITERS[path.suffix](path, sheets, ranges, hidden)
    return path


def bounds(text: str) -> tuple[int, int, int, int]:
    """First row, last row, first column and last column of a range."""
    (left, top), (right, bottom) = ((ord(end[0]) - 65, int(end[1:]) - 1) for end in text.split(":"))
    return top, bottom, left, right


def write_xlsx(path, sheets, ranges, hidden):
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
        sheet.sheet_state = "hidden" if name in hidden else "visible"
    for top, bottom, left, right in ranges:
        book.worksheets[0].merge_cells(None, top + 1, left + 1, bottom + 1, right + 1)
    book.save(path)


def write_xls(path, sheets, ranges, hidden):
    from xlwt import Workbook, easyxf

    formats = {
        dt.date: easyxf(num_format_str="yyyy-mm-dd"),
        dt.datetime: easyxf(num_format_str="yyyy-mm-dd hh:mm:ss"),
        dt.time: easyxf(num_format_str="hh:mm:ss"),
        dt.timedelta: easyxf(num_format_str="[h]:mm:ss"),
    }
    book = Workbook()
    for name, rows in sheets.items():
        sheet = book.add_sheet(name, cell_overwrite_ok=True)
        sheet.visibility = int(name in hidden)
        for i, row in enumerate(rows):
            for j, cell in enumerate(row):
                if cell is None:
                    continue
                style = formats.get(type(cell), easyxf())
                days = cell / dt.timedelta(days=1) if isinstance(cell, dt.timedelta) else cell
                if isinstance(cell, str) and cell.startswith("#"):
                    sheet.row(i).set_cell_error(j, cell)
                else:
                    sheet.write(i, j, days, style)
    for top, bottom, left, right in ranges:
        sheet = book.get_sheet(0)
        sheet.merge(top, bottom, left, right)
    book.save(path)


def write_ods(path, sheets, ranges, hidden):
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.style import Style, TableProperties
    from odf.table import CoveredTableCell, Table, TableCell, TableRow
    from odf.text import P

    def cell_of(entry, span):
        if entry is None:
            return TableCell(**span)
        kind, value = ods_value(entry)
        cell = TableCell(valuetype=kind, **value, **span)
        cell.addElement(P(text=str(entry)))
        return cell

    book = OpenDocumentSpreadsheet()
    style = Style(name="hidden", family="table")
    style.addElement(TableProperties(display="false"))
    book.automaticstyles.addElement(style)
    for place, (name, rows) in enumerate(sheets.items()):
        table = Table(name=name, **({"stylename": style} if name in hidden else {}))
        for i, row in enumerate(rows):
            line = TableRow()
            for j, entry in enumerate(row):
                span, is_covered = {}, False
                for top, bottom, left, right in [] if place else ranges:
                    if (i, j) == (top, left):
                        size = bottom + 1 - top, right + 1 - left
                        span = {"numberrowsspanned": size[0], "numbercolumnsspanned": size[1]}
                    elif top <= i <= bottom and left <= j <= right:
                        is_covered = True
                line.addElement(CoveredTableCell() if is_covered else cell_of(entry, span))
            table.addElement(line)
        book.spreadsheet.addElement(table)
    book.save(path)


def ods_value(entry):
    """The type and the value of a cell, as OpenDocument stores them."""
    match entry:
        case bool():
            return "boolean", {"booleanvalue": str(entry).lower()}
        case int() | float():
            return "float", {"value": entry}
        case dt.date():
            return "date", {"datevalue": entry.isoformat()}
        case dt.time():
            return "time", {"timevalue": entry.strftime("PT%HH%MM%SS")}
        case dt.timedelta():
            minutes, seconds = divmod(round(entry.total_seconds()), 60)
            clock = f"PT{minutes // 60:02}H{minutes % 60:02}M{seconds:02}S"
            return "time", {"timevalue": clock}
    return "string", {"stringvalue": entry}


WRITERS = {".xlsx": write_xlsx, ".xls": write_xls, ".ods": write_ods}

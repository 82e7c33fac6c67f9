"""Division of the cells of a sheet into tables, at empty rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner.files.headings import LOOKED_AT

_MOST_TITLES = 5
"""Most rows of titles above the names of a second table: more rows of text are remarks."""


@dataclass(frozen=True, slots=True, eq=False)
class SheetTable:
    """A table of a sheet: its cells (n, d), "" where empty, and the place of the first cell."""

    values: NDArray[np.object_]
    top: int = 0
    left: int = 0

    def part(self, rows: slice = slice(None), columns: slice = slice(None)) -> SheetTable:
        """Return some rows and columns, without empty ones around them."""
        filled = self.values[rows, columns] != ""
        height, width = (np.flatnonzero(filled.any(axis=axis)) for axis in (1, 0))
        top, left = (rows.start or 0) + height[0], (columns.start or 0) + width[0]
        values = self.values[top : top + np.ptp(height) + 1, left : left + np.ptp(width) + 1]
        return SheetTable(values, self.top + int(top), self.left + int(left))


def cell_name(row: int, column: int) -> str:
    """Return the name of a cell in the notation of spreadsheets: B3 for row 2 and column 1."""
    letters = chr(ord("A") + column % 26)
    while column := column // 26:
        column -= 1
        letters = chr(ord("A") + column % 26) + letters
    return f"{letters}{row + 1}"


def find_tables(cells: NDArray[np.object_], n_skipped: int | None = None) -> list[SheetTable]:
    """Return the tables of a sheet; with a number of rows to skip, all others are one table."""
    if (cells[n_skipped or 0 :] == "").all():
        return []
    whole = SheetTable(cells).part(rows=slice(n_skipped or 0, None))
    tables = _divided(whole) if n_skipped is None else [whole]
    return sorted(tables, key=lambda table: (table.top, table.left))


def _divided(area: SheetTable) -> list[SheetTable]:
    """Return the tables of an area, divided at empty columns and then at empty rows."""
    for starts, is_row in ((_columns_of_tables(area), False), (_rows_of_tables(area), True)):
        if len(starts) > 1:
            runs = map(slice, starts, [*starts[1:], None])
            parts = [area.part(rows=run) if is_row else area.part(columns=run) for run in runs]
            return [table for part in parts for table in _divided(part)]
    return [area]


def _runs(area: SheetTable, axis: int) -> list[slice]:
    """Return the slices of rows (axis 0) or columns between empty ones; none without empty ones."""
    filled = (area.values != "").any(axis=1 - axis)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], filled, [False]])))
    return [] if filled.all() else [slice(*map(int, ends)) for ends in edges.reshape(-1, 2)]


def _columns_of_tables(area: SheetTable) -> list[int]:
    """Return the first column of each table of those next to each other."""
    starts, main = [0], None
    for run in _runs(area, axis=1):
        part = area.part(columns=run)
        if len(part.values) > 1 and not (main is not None and _continues(part, main)):
            starts += [] if main is None else [run.start]
            main = part
    return starts


def _continues(part: SheetTable, main: SheetTable) -> bool:
    """Return whether a part right of a table belongs to it: equal rows, other names, numbers."""
    shorter, longer = sorted((len(part.values), len(main.values)))
    places = [names_row(each) for each in (part, main)]
    if None in places or 1 in (part.values.shape[1], main.values.shape[1]):
        return 2 * shorter >= longer
    names, others = (set(x.values[y]) - {""} for x, y in zip((part, main), places, strict=True))
    is_apart = names & others or part.top != main.top or shorter < longer
    return not is_apart and not _are_texts(part.values[-1:, :1]).any()


def _rows_of_tables(area: SheetTable) -> list[int]:
    """Return the first row of each table of those below each other; titles belong to the next."""
    starts, above, title = [0], None, None
    for run in _runs(area, axis=0):
        part = SheetTable(area.values[run])
        first = run.start if title is None else title
        if ((part.values != "").sum(axis=1) <= 1).all():  # Titles or remarks
            title = first
            continue
        if (place := names_row(part)) is not None:
            names = part.values[place].tolist()
            if above is not None and (names != above or place or title is not None):
                starts.append(first)
            above = names
        title = None
    return starts


def names_row(area: SheetTable) -> int | None:
    """Return the place of a row of texts above a column of numbers or dates, None without one."""
    values = area.values[:LOOKED_AT]
    is_text, is_filled = _are_texts(values), values != ""
    for row in range(min(_MOST_TITLES + 1, len(is_text) - 2)):
        named, below = is_filled[row], is_filled[row + 1 :]
        if named.sum() < min(2, len(named)) or not _are_names(values[row][named].tolist()):
            continue
        n_numbers = (below & ~is_text[row + 1 :]).sum(axis=0)[named]
        if (2 * n_numbers > below.sum(axis=0)[named]).any():
            return row
    return None


def _are_names(cells: list[Any]) -> bool:
    """Return whether cells are texts, or texts and three equally spaced numbers such as years."""
    numbers = [cell for cell in cells if not isinstance(cell, str)]
    if not numbers or not 2 < len(numbers) < len(cells):
        return not numbers
    return {int, float} >= set(map(type, numbers)) and len(set(np.diff(numbers))) == 1


def _are_texts(cells: NDArray[np.object_]) -> Any:
    """Return which cells are text."""
    return np.vectorize(lambda cell: isinstance(cell, str) and cell != "", otypes=[bool])(cells)

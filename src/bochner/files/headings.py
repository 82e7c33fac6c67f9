"""Lines above the rows of a table, found by kinds of cells: titles, column names and units."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Any

import numpy as np

from bochner._base.names import brief
from bochner.files.read_options import ReadOptions

Rows = Sequence[Sequence[str]]

_AUTOMATIC = ReadOptions()

LOOKED_AT = 200
"""Number of first records of a file in which titles and column names are searched."""

_FEWEST_BELOW = 2  # Fewest records below a first line that is taken for data
_FEWEST_STEPS = 3
"""Fewest equally spaced numbers in a first line that count as column names, such as wavelengths."""

NUMERIC = 0.9
"""Smallest share of numbers in a numeric column."""

_COST_ABOVE = 0.2
"""Cost of a line above the rows; a row costs the share of its cells that differ from the column."""

_TYPED = 0.6
"""Smallest share of one kind of cells, number or date, in a column that shows where rows begin."""

_FILLED = 0.75
"""Least share of columns that have a name, if only the number of names shows where they are."""

_FEWEST_OF_TABLE, _MOST_NAMES = 4, 3
"""Fewest lines of a table by itself, and most lines of names: variable, statistic and unit."""

_MOST_BELOW = 10
"""Most lines below the names that describe columns; offices have up to eight."""

EMPTY, NUMBER, DATE, TEXT = range(4)
"""Kinds of cells, as coarse as they must be to tell names from rows."""

_ABSENT = re.compile(r"[\W_]*|#?n/?a|nan|[+-]?inf|null|none|#.*[!?]", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,' ][0-9]*)*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_AMOUNT = re.compile(rf"[$€£¥(]?\s?{_NUMBER.pattern}\s?(?:[)%*$€£¥]|[a-z]{{1,2}})?")
_SEPARATOR = re.compile(r"[ ']|[.,](?=.*[.,])")
_LETTER = re.compile(r"[^\W\d_]")
_DAY = re.compile(r"[0-9]{1,4}([-/.]) ?[0-9]{1,2}\1 ?[0-9]{1,4}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_RULE = re.compile(r"[-=_+|:]{2,}")
_UNIT = re.compile(
    rf"{_RULE.pattern}|[(\[].*[)\]]|(?![0-9]+[-/.][0-9]).{{0,4}}[°%‰/µμ€$²³℃].{{0,6}}|-|[kc]?m[23]|"
    r"[khcdmµn]?(?:[mgslAVWJ]|Pa|bar|Hz|Wh|mol)|"
    r"min|h|hours?|days?|years?|deg ?[CFK]?|[CFKt]|kn|mph|pp[mb]|USD|EUR|GBP|JPY|percent|number|"
    r"[0-9]{1,3}[sdn]",
    re.IGNORECASE,
)
"""Units of measurement, types and dashes, as a line below the names has them."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What is above the rows; another table begins with the record ``end``, if there is one."""

    n_titles: int
    n_names: int
    names: list[str]
    notes: tuple[str, ...] = ()
    end: int | None = None


def find_heading(
    rows: Rows, options: ReadOptions = _AUTOMATIC, lines: Sequence[int] = ()
) -> Heading:
    """Return the heading of the first records of a file, whose line numbers are ``lines``."""
    is_free, n_names = options.skip is None, options.header
    end, notes = _end_of_table(rows) if is_free else None, []
    first, below, last = HeadCells(rows[:end]).names_block(is_free)
    if is_free and n_names:
        first = max(min(first, last - n_names), 0)
    if titles := [" ".join(filter(None, row)) for row in rows[:first] if any(row)]:
        are = f"first {len(titles)} lines are titles" if titles[1:] else "first line is a title"
        listed = brief(" / ".join(titles))
        notes.append(f"The {are} and left out ({listed}); skip=0 (--skip 0) keeps all lines.")
    if end is not None:
        line, listed = (lines[end - 1] if lines else end), brief(", ".join(filter(None, rows[end])))
        notes.append(f"Another table begins at line {line + 1} ({listed}) and is left out; "
                     f"skip={line} (--skip {line}) reads it alone.")  # fmt: skip
    count, names, note = _names(rows[first:], below - first, last - first, options)
    return Heading(first, count, names, (*notes, *note), end)


def _names(
    rows: Rows, n_names: int, n_above: int, options: ReadOptions
) -> tuple[int, list[str], tuple[str, ...]]:
    """Return the number of records above the rows, the names of columns, and notes on them."""
    top = [name.strip() for name in rows[0]] if rows else []
    numbered = [f"column {i + 1}" for i in range(len(top))]
    is_free, count = options.header is None, n_above
    if options.header is not None:
        count = options.header
        row = rows[min(count, len(rows)) - 1] if count > max(n_above, 1) else ()
        if options.recorded and (any(map(_is_number, row)) or (count == 0 and top == numbered)):
            count = 1
    elif count == 1 and _is_data(rows):
        count = 0
    if count == 0:
        listed = brief(", ".join(top))
        note = (f"The first line holds data ({listed}), so that columns are named column 1, "
                "column 2 and so on; header=1 (--header 1) takes it for names.")  # fmt: skip
        return count, numbered, (note,) if is_free or options.recorded else ()
    is_found = count == n_above and (is_free or options.recorded)
    names = _joined(rows[: n_names if is_found else count])
    notes = []
    if n_names > 1 and names != top:
        notes.append(f"The names of {n_names} lines are joined ({brief(', '.join(names))}).")
    if left := [
        *filter(
            None, (cell for row in rows[1 if names == top else n_names : count] for cell in row)
        )
    ]:
        notes.append(f"The line below the names ({brief(', '.join(left))}) is left out; "
                     "header=1 (--header 1) keeps it.")  # fmt: skip
    return count, names, tuple(notes) if is_free else ()


def all_named(names: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return distinct names, "Unnamed: 0" and "a.1" as in pandas, and a note on repeated ones."""
    found, repeated = list[str](), list[str]()
    for i, name in enumerate(names):
        given, number = name or f"Unnamed: {i}", 0
        while given in found or (given != name and given in names):
            number += 1
            given = f"{name or f'Unnamed: {i}'}.{number}"
        repeated.extend([given] * bool(name and number))
        found.append(given)
    listed = brief(", ".join(map(repr, repeated)))
    note = f"Columns have the names of others before them, and are called {listed}."
    return found, (note,) if repeated else ()


def kind(cell: str) -> int:
    """Return the kind of a cell: a sign of missing entries, a number, a date or a code, or text."""
    cell = cell.strip()
    if _ABSENT.fullmatch(cell):
        return EMPTY
    n_digits = sum(map(str.isdigit, cell))
    is_date = n_digits > 1 and n_digits >= len(_LETTER.findall(cell))
    is_number = _AMOUNT.fullmatch(cell) and not _DAY.match(cell)
    return NUMBER if is_number else DATE if is_date else TEXT


class HeadCells:
    """Cells (n, width) of some records and their kinds, and the lines of names among them."""

    def __init__(self, rows: Rows) -> None:
        widths = Counter(len(row) for row in rows if any(row))
        width = max(widths, key=lambda n: (widths[n] * (n > 1), n), default=0)
        while len(rows) > 1 and len(rows[-1]) != width:  # Remarks below the table
            rows = rows[:-1]
        # Rows may end with empty fields, which the names lack.
        filled = [len(row) - [*map(bool, row[::-1]), True].index(True) for row in rows]
        self.width = max((n for n in filled if n <= width), default=0)
        rows = [row[: max(n, self.width)] for row, n in zip(rows, filled, strict=True)]
        self.rows = rows
        padded = [[*row, *[""] * self.width][: self.width] for row in rows]
        self.cells = np.array(padded, dtype=object).reshape(len(rows), self.width)
        self.kinds = np.vectorize(kind, otypes=[np.int8])(self.cells)
        self.texts = self.cells != ""
        self.n_texts = self.texts.sum(axis=1)
        self._typed = np.zeros(self.width, dtype=np.int8)  # Kinds of columns of numbers or dates

    def n_above(self) -> int:
        """Return the number of records above the rows, after which cells have steady kinds."""
        one_hot = self.kinds[:, :, None] == np.arange(NUMBER, TEXT + 1)  # (n, width, 3)
        counts = one_hot[::-1].cumsum(axis=0)[::-1]
        costs = (counts.sum(axis=2) - counts.max(axis=2)).sum(axis=1) / max(self.width, 1)
        is_record = (self.n_texts > 0).astype(float)
        costs += _COST_ABOVE * (is_record.cumsum() - is_record)
        costs[: int(np.argmax(self._are_wide() & (self.n_texts > 0)))] = np.inf  # Too short
        return int(np.argmin(costs)) if len(costs) else 0

    def last_names(self) -> int | None:
        """Return the last record that is names of columns of numbers or dates, None without."""
        return next(reversed(self._candidates(self.n_above())), None)

    def names_block(self, is_free: bool) -> tuple[int, int, int]:
        """Return the first record of names, record 0 unless free, the next, and the first row."""
        n_above = self.n_above()
        found = self._candidates(n_above)
        if not is_free and 0 not in found:
            return 0, 1, 1
        if not found:  # The number of cells shows the names
            enough = _FILLED * max(self.texts[n_above:].any(axis=0).sum(), min(2, self.width))
            filled = np.flatnonzero((self.n_texts >= enough) & self._are_wide())
            found = [int(filled[0])] if len(filled) else [0]
            n_above = found[0] + 1
        first = max(found, key=self._worth) if self.width > 1 else int(self.n_texts.argmax())
        last = first + 1
        while first > 0 and last - first < _MOST_NAMES and self._is_above(first, last):
            first -= 1
        while last < len(self.rows) and self.texts[last].any() and all(
            (_UNIT if last < n_above else _RULE).fullmatch(cell.strip())
            for cell in self.rows[last] if cell.strip()
        ):  # fmt: skip
            last += 1
        below = last
        end = min(len(self.rows), last + _MOST_BELOW)
        while below < end and self._describes(below, below < n_above):
            below += 1
        return first if is_free else 0, last, below

    def _worth(self, place: int) -> tuple[int, int, bool, int]:
        """Return for how many columns a record has names, how many differ, and its place."""
        names = self.cells[place, 1:]
        n_names = int(self.texts[place, 1:].sum())
        return n_names, len(set(names)), DATE not in self.kinds[place], place

    def _describes(self, place: int, is_above: bool) -> bool:
        """Return whether a record has no cell of the kind of its column, and is no row.

        Unless it is above the rows, columns of text must be empty.
        """
        is_typed, kinds = self._typed > EMPTY, self.kinds[place]
        is_filled = is_typed & (kinds > EMPTY)
        is_odd = is_filled.any() and (kinds != self._typed)[is_filled].all()
        is_odd = (
            is_odd and (kinds > NUMBER).any() and self.rows[place] not in self.rows[place + 1 :]
        )
        has_text = not is_above and self.texts[place, ~is_typed].any()
        return bool(is_odd and is_typed.sum() > 1 and not has_text)

    def _are_wide(self) -> Any:
        """Return which records have as many fields as the rows, or one more or less."""
        return np.array([abs(len(row) - self.width) <= 1 for row in self.rows], dtype=bool)

    def _candidates(self, n_above: int) -> list[int]:
        """Return the records above the rows that may be names of columns of numbers or dates.

        They are half filled, and half of that is no number: years may be names, next to text.
        """
        below = self.kinds[n_above:]
        counts = [(below == each).sum(axis=0) for each in (NUMBER, DATE)]
        enough = _TYPED * np.maximum((below > EMPTY).sum(axis=0), 1)
        typed = np.select([counts[0] >= enough, counts[1] >= enough], [NUMBER, DATE], EMPTY)
        self._typed = typed
        both = (typed > EMPTY) & (self.kinds > EMPTY)
        alike = ((self.kinds == typed) & both).sum(axis=1) / np.maximum(both.sum(axis=1), 1)
        are_names = both.any(axis=1) & (alike < 0.5) & self._are_wide()
        are_names &= self.n_texts >= max(min(2, self.width), self.width / 2)
        are_names &= 2 * (self.kinds == NUMBER).sum(axis=1) <= self.n_texts
        found = []
        for i in range(n_above):
            are_years = all(map(_YEAR.fullmatch, self.cells[i, both[i]]))
            if alike[i] > 0.5 and 2 * self.n_texts[i] >= self.width and not are_years:
                break  # A row
            found.extend([i] * bool(are_names[i]))
        # Entries such as "9.5 bhp" have digits, or texts next to them repeat below.
        others = self.cells[n_above:].T.tolist()
        plain = [i for i in found if self.texts[i, typed > EMPTY].mean() >= 0.5
                 and (not re.search(r"\d", "".join(self.cells[i, typed > EMPTY]))
                      or (alike[i] == 0.0 and (typed > EMPTY).sum() > 1))
                 and not any(self.cells[i, j] in others[j] for j in np.flatnonzero(self.texts[i]))
        ]  # fmt: skip
        found = plain or found
        # Too few rows tell no names from words
        return found if not found or len(self.rows) - found[-1] > _FEWEST_BELOW else found[:1]

    def _is_above(self, first: int, last: int) -> bool:
        """Return whether the record above some names has names of groups, or names as well."""
        above, below = self.rows[first - 1], self.rows[first][: self.width]
        filled = [j for j, cell in enumerate(above) if cell.strip()]
        names = [cell.strip() for j, cell in enumerate(below) if self.texts[last:, j].any()]
        if not filled or len(names) < 2 or max(filled) < 2 <= len(names) - 2:
            return False
        is_full, n_distinct = len(filled) == self.width > 2, len(set(above))
        if is_full and n_distinct == len(above) and (self.kinds[first - 1] != NUMBER).all():
            return True
        is_group = is_full and n_distinct < len(above) and below[0] in ("", above[0])
        return is_group or not all(names[1:]) or len(set(names)) < len(names)


def _end_of_table(rows: Rows) -> int | None:
    """Return the record after a blank one with which another table begins, or None."""
    runs = [list(run) for _, run in groupby(range(len(rows)), key=lambda i: any(rows[i]))]
    tables = [
        run
        for run in runs
        if len(run) >= _FEWEST_OF_TABLE
        and len(rows[run[-1]]) > 1
        and len({len(rows[i]) for i in run[1:]}) == 1
        and sum(bool({NUMBER, DATE} & set(map(kind, rows[i]))) for i in run) > len(run) / 2
    ]
    if len(tables) < 2 or len(rows[tables[0][-1]]) == 2 < len(rows[tables[1][-1]]):
        return None
    above, *others = ([rows[i] for i in run] for run in tables)
    ends = (run[0] for run, some in zip(tables[1:], others, strict=True) if _is_other(some, above))
    return next(ends, None)


def _is_other(rows: Rows, above: Rows) -> bool:
    """Return whether records below a blank one have another width, a title or other names."""
    is_title = sum(map(bool, rows[0])) == 1 < min(sum(map(bool, row)) for row in above[1:])
    if is_title or len(rows[-1]) != len(above[-1]):
        return True
    place, above_place = HeadCells(rows).last_names(), HeadCells(above).last_names()
    if place is None or (above_place is not None and rows[place] == above[above_place]):
        return False
    filled = [(j, cell) for j, cell in enumerate(rows[place]) if cell]
    entries = above[1 if above_place is None else above_place + 1 :]
    is_row = any(cell in column_of(entries, j) for j, cell in filled)
    return len({cell for _, cell in filled}) == len(filled) and not is_row


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text.strip()) is not None


def column_of(rows: Rows, place: int) -> list[str]:
    """Return the entries of a column of some records."""
    return [row[place] for row in rows if len(row) > place and row[place]]


def _is_data(rows: Rows) -> bool:
    """Return whether a first line is data: above others of its kind, and of text that repeats."""
    first, below = rows[0], rows[1:]
    if len(below) < _FEWEST_BELOW or not any(first) or first in below:
        return False
    days = [column_of(below, j) for j, cell in enumerate(first) if _DAY.match(cell)]
    if any(0 < NUMERIC * len(some) <= sum(map(bool, map(_DAY.match, some))) for some in days):
        return True
    values, n_repeated = [], 0
    for place, cell in enumerate(first):
        entries = column_of(below, place)
        if not cell or not entries:
            continue
        if _DAY.match(cell):  # A day above other entries is a name
            return False
        if not _is_number(cell):
            n_repeated += 1
            if cell not in entries:
                return False
        elif sum(map(_is_number, entries)) < NUMERIC * len(entries):
            return False
        else:
            values.append(float(_SEPARATOR.sub("", cell.strip()).replace(",", ".")))
    if not values:  # Without numbers, every text must repeat
        return 1 < n_repeated == len(first)
    steps = np.diff(values)
    are_names = bool((steps == 1.0).all()) and all(value == round(value) for value in values)
    are_names |= len(values) >= _FEWEST_STEPS and bool(np.allclose(steps, steps[0], rtol=0.01))
    are_names |= len(values) > _FEWEST_STEPS and bool((steps > 0.0).all())
    return len(set(values)) < len(values) or not are_names


def _joined(rows: Rows) -> list[str]:
    """Return column names: the first header line, or all lines joined if it has gaps or repeats."""
    lines = [[name.strip() for name in row] for row in rows]
    lines = [line for line in lines if not all(map(_RULE.fullmatch, filter(None, line)))]
    if len(lines) < 2 or (all(lines[0]) and len(set(lines[0])) == len(lines[0])):
        return lines[0] if lines else []
    for place, line in enumerate(lines[:-1]):  # A name applies to all columns up to the next name
        for i in range(1, len(line)):
            is_named = any(any(below[i : i + 1]) for below in lines[place + 1 :])
            line[i] = line[i] or line[i - 1] * is_named
    columns = zip_longest(*lines, fillvalue="")
    return [" ".join(dict.fromkeys(filter(None, some))) for some in columns]

"""Detection of lines that are not data rows: titles, column names, units, remarks and totals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from bochner._base.names import shown

Rows = Sequence[Sequence[str]]

LOOKED_AT = 200
"""Number of first records of a file in which titles and column names are searched."""

_FEWEST_BELOW = 2
"""Fewest records below a first line that is taken for data."""

_FEWEST_STEPS = 3
"""Fewest equally spaced numbers in a first line that count as column names, such as wavelengths."""

_NUMERIC = 0.9
"""Smallest share of numbers in a numeric column."""

_COST_ABOVE = 0.2
"""Cost of a line above the rows; a row costs the share of its cells that differ from the column."""

_TYPED = 0.6
"""Smallest share of one kind of cells, number or date, in a column that shows where rows begin."""

_FILLED = 0.75
"""Least share of columns that have a name, if only the number of names shows where they are."""

_FEWEST_OF_TABLE, _MOST_NAMES = 4, 3
"""Fewest lines of a table by itself, and most lines of names: variable, statistic and unit."""

EMPTY, NUMBER, DATE, TEXT = range(4)
"""Kinds of cells, as coarse as they must be to tell names from rows."""

_ABSENT = re.compile(r"[\W_]*|#?n/?a|nan|null|none|#.*[!?]", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,' ][0-9]*)*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_AMOUNT = re.compile(rf"[$€£¥(]?\s?{_NUMBER.pattern}\s?[)%*$€£¥]?")
_LETTER = re.compile(r"[^\W\d_]")
_UNIT = re.compile(
    r"[(\[].*[)\]]|.{0,4}[°%‰/µμ€$²³℃].{0,6}|[khcdmµn]?(?:[mgslAVWJ]|Pa|bar|Hz|Wh|mol)|[kc]?m[23]|-|"
    r"min|h|hours?|days?|years?|deg ?[CFK]?|[CFKt]|kn|mph|pp[mb]|USD|EUR|GBP|JPY|percent|number",
    re.IGNORECASE,
)
"""Units of measurement and types, as a line below the names states them."""


@dataclass(frozen=True, slots=True)
class Heading:
    """Numbers of title and header records above the first data row, with column names and notes.

    ``end`` is the record with which another table begins, None if none was found.
    """

    n_titles: int
    n_names: int
    names: list[str]
    notes: tuple[str, ...] = ()
    end: int | None = None


def find_heading(
    rows: Rows,
    *,
    n_titles: int | None = None,
    n_names: int | None = None,
    is_recorded: bool = False,
    lines: Sequence[int] = (),
) -> Heading:
    """Return the heading of the first records of a file; entries are texts, empty where missing.

    Records without entries may stay. ``n_titles`` and ``n_names`` are given, or None. If they are
    those of an earlier file, the lines of names are as many unless the file shows that they are
    not. ``lines`` are the numbers of lines up to each record, for messages.
    """
    end = _end_of_table(rows) if n_titles is None else None
    first, last = _Cells(rows[:end]).names_block(n_titles)
    if n_titles is None and n_names:
        first = max(min(first, last - n_names), 0)
    notes = _notes_above(rows[:first]) if n_titles is None else []
    if end is not None:
        line, names = (lines[end - 1] if lines else end), ", ".join(filter(None, rows[end]))
        notes.append(f"Another table begins at line {line + 1} ({shown(names)}) and is left out; "
                     f"skip={line} (--skip {line}) reads it alone.")  # fmt: skip
    top = list(rows[first]) if len(rows) > first else []
    count = _count_names(rows[first:], last - first, n_names, is_recorded)
    if count == 0:
        names_of_columns = [f"column {i + 1}" for i in range(len(top))]
        if n_names is None or is_recorded:
            notes.append(
                f"The first line holds data ({shown(', '.join(top))}), so that columns are named "
                "column 1, column 2 and so on; header=1 (--header 1) takes it for names."
            )
        return Heading(first, 0, names_of_columns, tuple(notes), end)
    joined = _joined(rows[first : first + count])
    if count > 1 and n_names is None and joined == [name.strip() for name in top]:
        left = ", ".join(cell for row in rows[first + 1 : first + count] for cell in row if cell)
        notes.append(f"The line below the names ({shown(left)}) is left out; "
                     "header=1 (--header 1) keeps it.")  # fmt: skip
    elif count > 1 and n_names is None:
        notes.append(f"The names of {count} lines are joined ({shown(', '.join(joined))}).")
    return Heading(first, count, joined, tuple(notes), end)


def _notes_above(rows: Rows) -> list[str]:
    """Return a note on the lines above the names, if there are any."""
    filled = [" ".join(filter(None, row)) for row in rows if any(row)]
    some = f"The first {len(filled)} lines are titles"
    what = "The first line is a title" if len(filled) == 1 else some
    note = f"{what} and left out ({shown(' / '.join(filled))}); skip=0 (--skip 0) keeps all lines."
    return [note] if filled else []


def _count_names(rows: Rows, count: int, n_names: int | None, is_recorded: bool) -> int:
    """Return the number of lines of names of the first records, as given or as they look."""
    first, below = (list(rows[0]), rows[1:]) if rows else ([], [])
    if n_names is None:
        return 0 if count == 1 and _is_data(first, below) else count
    positions = [f"column {i + 1}" for i in range(len(first))]
    has_positions = n_names == 0 and [name.strip() for name in first] == positions
    has_row = n_names > max(count, 1) and any(map(_is_number, rows[min(n_names, len(rows)) - 1]))
    return 1 if is_recorded and (has_positions or has_row) else n_names


def kind(cell: str) -> int:
    """Return the kind of a cell: empty or a sign of missing entries, number, date, or text.

    Dates, and codes with as many digits as letters, are of one kind.
    """
    cell = cell.strip()
    if _ABSENT.fullmatch(cell):
        return EMPTY
    n_digits = sum(map(str.isdigit, cell))
    is_date = n_digits > 1 and n_digits >= len(_LETTER.findall(cell))
    return NUMBER if _AMOUNT.fullmatch(cell) else DATE if is_date else TEXT


class _Cells:
    """Kinds of the cells (n, width) of some records, and where their rows begin."""

    def __init__(self, rows: Rows) -> None:
        widths = Counter(len(row) for row in rows if any(row))
        self.width = max(widths, key=lambda n: (widths[n] * (n > 1), n), default=0)
        while len(rows) > 1 and len(rows[-1]) != self.width:  # Remarks below the table
            rows = rows[:-1]
        self.rows = rows
        padded = [[*row, *[""] * self.width][: self.width] for row in rows]
        self.cells = np.array(padded, dtype=object).reshape(len(rows), self.width)
        self.kinds = np.vectorize(kind, otypes=[np.int8])(self.cells)
        self.texts = self.cells != ""

    def n_above(self) -> int:
        """Return the number of records above the rows: those after it have steady kinds.

        Each record above costs `_COST_ABOVE`, and each row the share of its cells whose kind is not
        the most frequent one of the column.
        """
        one_hot = self.kinds[:, :, None] == np.arange(NUMBER, TEXT + 1)  # (n, width, 3)
        counts = one_hot[::-1].cumsum(axis=0)[::-1]
        costs = (counts.sum(axis=2) - counts.max(axis=2)).sum(axis=1) / max(self.width, 1)
        is_record = np.array([any(row) for row in self.rows], dtype=float)
        costs += _COST_ABOVE * (is_record.cumsum() - is_record)
        return int(np.argmin(costs)) if len(costs) else 0

    def names_block(self, n_titles: int | None) -> tuple[int, int]:
        """Return the first record of names, and the first one below them."""
        start = n_titles or 0
        n_above = max(self.n_above(), start)
        n_filled = np.maximum((self.kinds[n_above:] > EMPTY).sum(axis=0), 1)
        shares = [(self.kinds[n_above:] == kind).sum(axis=0) / n_filled for kind in (NUMBER, DATE)]
        typed = np.select([shares[0] >= _TYPED, shares[1] >= _TYPED], [NUMBER, DATE], EMPTY)
        both = (typed > EMPTY) & (self.kinds > EMPTY)
        alike = ((self.kinds == typed) & both).sum(axis=1) / np.maximum(both.sum(axis=1), 1)
        found, is_row_above = [], False
        for i in range(start, n_above):
            if both[i].any() and alike[i] < 0.5 and not is_row_above and self._are_names(i):
                found.append(i)
            is_row = alike[i] > 0.5 and 2 * self.texts[i].sum() >= self.width
            is_row_above = self.texts[i].any() and (is_row_above or is_row)
        if not found or (n_titles is not None and found[0] != start):
            enough = _FILLED * max(self.texts[n_above:].any(axis=0).sum(), min(2, self.width))
            filled = [i for i, row in enumerate(self.rows) if self.texts[i].sum() >= enough
                      and abs(len(row) - self.width) <= 1]  # fmt: skip
            first = last = start if n_titles is not None or not filled else filled[0]
            if n_titles is None and TEXT in self.kinds[first : first + 1]:  # Years below groups
                first -= first > 0 and self._is_above(first, first + 1)
            return first, last + 1
        # Entries such as "9.5 bhp" have digits, or texts next to them repeat below.
        others = self.cells[n_above:].T.tolist()
        plain = [i for i in found if self.texts[i, typed > EMPTY].all()
                 and not re.search(r"\d", "".join(self.cells[i, typed > EMPTY]))
                 and not any(self.cells[i, j] in others[j] for j in np.flatnonzero(self.texts[i]))
        ]  # fmt: skip
        first = (plain or found)[-1]
        if len(self.rows) - first <= _FEWEST_BELOW:  # Too few rows to tell names from words
            first = found[0]
        last = first + 1
        while first > start and last - first < _MOST_NAMES and self._is_above(first, last):
            first -= 1
        while last < n_above and self.texts[last].any() and all(
            _UNIT.fullmatch(cell.strip()) for cell in self.rows[last] if cell.strip()
        ):  # fmt: skip
            last += 1
        return (start, last) if n_titles is not None else (first, last)

    def _are_names(self, i: int) -> bool:
        """Return whether half of a record is filled, and half of that is no number.

        Years may be names of columns, next to text.
        """
        n_filled = self.texts[i].sum()
        is_full = n_filled >= max(min(2, self.width), self.width / 2)
        is_wide = abs(len(self.rows[i]) - self.width) <= 1
        return bool(is_full and is_wide and 2 * (self.kinds[i] == NUMBER).sum() <= n_filled)

    def _is_above(self, first: int, last: int) -> bool:
        """Return whether the record above some names is a part of them.

        It is if it has names of groups, for names that are empty or repeated, or all names.
        """
        above, below = self.rows[first - 1], self.rows[first][: self.width]
        filled = [j for j, cell in enumerate(above) if cell.strip()]
        names = [cell.strip() for j, cell in enumerate(below) if self.texts[last:, j].any()]
        if not filled or len(names) < 2 or max(filled) < 2 <= len(names) - 2:
            return False
        if len(filled) == self.width > 2 and len(set(above)) == len(above):
            return bool((self.kinds[first - 1] != NUMBER).all())
        return not all(names[1:]) or len(set(names)) < len(names)


def _end_of_table(rows: Rows) -> int | None:
    """Return the record with which a table of another width begins, after a blank one, or None.

    A table has rows of one width with a number or a date; pairs of a name and a value are none.
    """
    runs = [list(run) for _, run in groupby(range(len(rows)), key=lambda i: any(rows[i]))]
    tables = [run for run in runs if len(run) >= _FEWEST_OF_TABLE and len(rows[run[-1]]) > 1
              and len({len(rows[i]) for i in run[1:]}) == 1
              and {NUMBER, DATE} & set(map(kind, rows[run[-1]]))]  # fmt: skip
    if len(tables) < 2 or len(rows[tables[0][-1]]) == 2 < len(rows[tables[1][-1]]):
        return None
    is_other = [kind(cell) for cell in rows[tables[0][-1]]] != list(map(kind, rows[tables[1][0]]))
    return tables[1][0] if is_other else None


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text.strip()) is not None


def _column(rows: Rows, place: int) -> list[str]:
    return [row[place] for row in rows if len(row) > place and row[place]]


def _is_numeric(entries: Sequence[str]) -> bool:
    return bool(entries) and sum(map(_is_number, entries)) >= _NUMERIC * len(entries)


def _is_data(first: Sequence[str], below: Rows) -> bool:
    """Return whether a first line is data: numbers above numbers, and text that repeats below."""
    if len(below) < _FEWEST_BELOW or not any(first) or list(first) in map(list, below):
        return False
    numbers, n_repeated = [], 0
    for place, cell in enumerate(first):
        entries = _column(below, place)
        if not cell or not entries:
            continue
        if _is_number(cell) and _is_numeric(entries):
            numbers.append(cell)
        elif _is_number(cell) or cell not in entries:
            return False
        else:
            n_repeated += 1
    if not numbers:  # Without numbers, every text must repeat
        return n_repeated > 1 and n_repeated == len(first)
    if len(set(numbers)) < len(numbers):
        return True
    values = [_value(number) for number in numbers]
    steps = np.diff(values)
    are_names = bool((steps == 1.0).all()) and all(value == round(value) for value in values)
    if len(values) >= _FEWEST_STEPS:
        are_names |= bool(np.allclose(steps, steps[0], rtol=0.01))
    if len(values) > _FEWEST_STEPS:
        are_names |= bool((steps > 0.0).all())
    return not are_names


def _value(number: str) -> float:
    """Return a number for comparisons of magnitude; every separator counts as a decimal mark."""
    digits = number.replace(" ", "").replace("'", "").replace(",", ".")
    head, *rest = digits.split(".")
    return float(f"{head}.{''.join(rest)}" if rest else head)


def _joined(rows: Rows) -> list[str]:
    """Return column names: the first header line, or all lines joined if it has gaps or repeats."""
    first = [name.strip() for name in rows[0]] if rows else []
    if len(rows) < 2 or (all(first) and len(set(first)) == len(first)):
        return first
    lines = []
    for row in rows[:-1]:
        line: list[str] = []
        for cell in row:  # A name applies to all columns up to the next name
            line.append(cell.strip() or (line[-1] if line else ""))
        lines.append(line)
    lines.append([cell.strip() for cell in rows[-1]])
    parts = ([line[i] for line in lines if i < len(line)] for i in range(max(map(len, rows))))
    return [" ".join(dict.fromkeys(filter(None, some))) for some in parts]


_MOST_SUMMARIES, _FEWEST_ABOVE = 4, 3
"""Most rows of sums and means below each other, and fewest rows above them."""

_SUMMARY = re.compile(
    r"\W*(?:grand |sub)?(?:totals?|sums?|summe|gesamt|totaux|somme|totale|average|avg|mean|"
    r"durchschnitt|mittelwert|moyenne|media|合計|合计|平均)\W*",
    re.IGNORECASE,
)
"""Labels of a row of sums or means."""

_REMARK = re.compile(
    r"\W*(?:sources?|notes?|quelle|anmerkung|fuente|nota|fonte|källa|(?:last )?updated?|data from|"
    r"footnotes?|legend|copyright|出典|注|资料来源|источник)\b.*|[*†‡©#%¹²].+",
    re.IGNORECASE | re.DOTALL,
)
"""Remarks below a table."""


def without_summaries(columns: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return columns without last rows of remarks, sums or means, and a note on these rows.

    Columns are Arrow arrays of texts, or pandas Series.
    """
    length = len(next(iter(columns.values()), ()))
    texts = [_last_texts(column, max(length - 2 * LOOKED_AT, 0)) for column in columns.values()]
    rows = list(zip(*texts, strict=True))
    count = _count_below(rows) if len(columns) > 1 else 0
    if not count:
        return dict(columns), ""
    labels = [next((cell for cell in row if _SUMMARY.fullmatch(cell)), next(filter(None, row)))
              for row in rows[-count:] if any(row)]  # fmt: skip
    what = "row" if count == 1 else f"{count} rows"
    verb, listed = "is" if count == 1 else "are", shown(", ".join(labels))
    note = f"The last {what} ({listed}) {verb} left out; skip=0 (--skip 0) keeps all lines."
    return {name: _above(column, length - count) for name, column in columns.items()}, note


def _count_below(rows: Rows) -> int:
    """Return the number of last records that are remarks, or sums and means.

    The label of a sum occurs nowhere above.
    """
    count = n_summaries = 0
    for i in range(len(rows) - 1, _FEWEST_ABOVE - 1, -1):
        filled = [(j, cell) for j, cell in enumerate(rows[i]) if cell]
        above = rows[max(i - LOOKED_AT, 0) : i]
        if any(_SUMMARY.fullmatch(cell) and cell not in _column(above, j) for j, cell in filled):
            n_summaries += 1
            if n_summaries > _MOST_SUMMARIES:
                return 0
        elif filled and not _is_remark(filled, above):
            break
        count = len(rows) - i if filled else count
    return count


def _is_remark(filled: Sequence[tuple[int, str]], above: Rows) -> bool:
    """Return whether the cells of a record that are filled are a remark, given records above."""
    typical = sum(sum(map(bool, row)) for row in above) / len(above)
    if typical <= 1.5 or len(filled) > typical / 2 or {kind(cell) for _, cell in filled} != {TEXT}:
        return False
    kinds = [[kind(entry) for entry in _column(above, place)] for place, _ in filled]
    are_typed = all(some.count(TEXT) <= (1.0 - _NUMERIC) * len(some) for some in kinds)
    return are_typed or _REMARK.fullmatch(filled[0][1]) is not None


def _last_texts(column: Any, start: int) -> list[str]:
    """Return the last entries of an Arrow array or a pandas Series as texts."""
    entries = column.iloc[start:] if hasattr(column, "iloc") else column.slice(start).to_pylist()
    return ["" if entry is None or entry != entry else str(entry) for entry in entries]


def _above(column: Any, n_rows: int) -> Any:
    if not hasattr(column, "iloc"):
        return column.slice(0, n_rows)
    rows = column.iloc[:n_rows].reset_index(drop=True)
    return rows.infer_objects() if rows.dtype.kind == "O" else rows


def without_repeated_names(columns: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return columns without rows that repeat the column names, and a note on these rows."""
    import pyarrow.compute as pc

    is_name = None
    for name, texts in columns.items():
        if name.startswith("Unnamed: "):
            continue
        same = pc.equal(texts, name).fill_null(False)
        is_name = same if is_name is None else pc.and_(is_name, same)
        if not pc.any(is_name).as_py():
            return dict(columns), ""
    if is_name is None or len(columns) == 1:
        return dict(columns), ""
    count, row = pc.sum(is_name).as_py(), pc.index(is_name, True).as_py()
    what = "1 row repeats" if count == 1 else f"{count} rows repeat"
    verb = "is" if count == 1 else "are"
    note = f"{what} the names of the columns and {verb} left out (the first one was row {row + 1})."
    return {name: texts.filter(pc.invert(is_name)) for name, texts in columns.items()}, note

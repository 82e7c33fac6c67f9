"""Detection of lines that are not data rows: titles, column names, units, remarks and totals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

_FEWEST_OF_TABLE = 4
"""Fewest lines of a block that counts as a table: names, and three rows."""

_MOST_NAMES = 3
"""Most lines of names, such as a variable, a statistic and a unit."""

EMPTY, NUMBER, DATE, TEXT = range(4)
"""Kinds of cells, as coarse as they must be to tell names from rows."""

_ABSENT = re.compile(r"[\W_]*|n/?a|nan|null|none", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,' ][0-9]*)*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_AMOUNT = re.compile(rf"[$€£¥(]?\s?{_NUMBER.pattern}\s?[)%*$€£¥]?")
_DATE = re.compile(
    r"(?:[^\W\d_]{3,9}\.?,?[ -])?\d{1,4}(?:[-/.:,\sT年月日時时分년월일]+(?:\d{1,9}|[^\W\d_]{3,9}\.?))*"
    r"[-/.:,\sT年月日時时分년월일]+(?:\d{1,9}|[^\W\d_]{3,9})?[秒日]?\s?(?:Z|[+-]\d\d:?\d\d|[AaPp]\.?[Mm]\.?)?"
)
_LETTER = re.compile(r"[^\W\d_]")
_UNIT = re.compile(
    r"[(\[].*[)\]]|.{0,4}[°%‰/µμ€$²³℃].{0,6}|[-–]|[khcdmµn]?(?:m|g|s|l|A|V|W|Pa|bar|Hz|J|Wh|mol)|"
    r"m[0-9]|[kc]m[0-9]|min|h|hr?s?|hours?|days?|years?|deg ?[CFK]?|[CFKt]|kn|kt|mph|pp[mb]|"
    r"USD|EUR|GBP|JPY|percent|number|index|text|date|yyyy.*|dd[./-].*",
    re.IGNORECASE,
)
"""Units of measurement and types, as a line below the names states them."""


@dataclass(frozen=True, slots=True)
class Heading:
    """Numbers of title and header records above the first data row, with column names and notes.

    ``end`` is the record before which the table ends because another one begins, None if no such
    record is among those that were searched.
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

    Records without entries may be left in. ``n_titles`` and ``n_names`` are given, or None. If they
    are those of an earlier file, the lines of names are as many unless the file shows that they are
    not. ``lines`` are the numbers of lines up to each record, for messages.
    """
    cells = _Cells(rows)
    end = cells.end_of_table() if n_titles is None else None
    above = list(rows[:end])
    while len(above) > 1 and len(above[-1]) != cells.width:  # Remarks below the table
        above.pop()
    body = _Cells(above)
    first, last = body.names_block(n_titles)
    if n_titles is None and n_names:
        first = max(min(first, last - n_names), 0)
    notes = _notes_above(rows[:first]) if n_titles is None else []
    if end is not None:
        line = lines[end - 1] if lines else end
        notes.append(
            f"Another table begins at line {line + 1} ({shown(', '.join(filter(None, rows[end])))})"
            f" and is left out; skip={line} (--skip {line}) reads it alone."
        )
    count = _count_names(rows[first:], last - first, n_names, is_recorded)
    top = list(rows[first]) if len(rows) > first else []
    if count == 0:
        if n_names is None or is_recorded:
            notes.append(
                f"The first line holds data ({shown(', '.join(top))}), so that columns are named "
                "column 1, column 2 and so on; header=1 (--header 1) takes it for names."
            )
        names = [f"column {i + 1}" for i in range(len(top))]
        return Heading(first, 0, names, tuple(notes), end)
    names, is_first = _joined([row for row in rows[first : first + count] if any(row)])
    if count > 1 and is_first and n_names is None:
        left = ", ".join(cell for row in rows[first + 1 : first + count] for cell in row if cell)
        notes.append(
            f"The line below the names ({shown(left)}) is left out; header=1 (--header 1) keeps it."
        )
    elif count > 1 and n_names is None:
        notes.append(f"The names of {count} lines are joined ({shown(', '.join(names))}).")
    return Heading(first, count, names, tuple(notes), end)


def _notes_above(rows: Rows) -> list[str]:
    """Return a note on the lines above the names, if there are any."""
    filled = [" ".join(filter(None, row)) for row in rows if any(row)]
    if not filled:
        return []
    count = len(filled)
    what = "The first line is a title" if count == 1 else f"The first {count} lines are titles"
    examples = shown(" / ".join(filled)) if count > 1 else shown(filled[0])
    return [f"{what} and left out ({examples}); skip=0 (--skip 0) keeps all lines."]


def _count_names(rows: Rows, count: int, n_names: int | None, is_recorded: bool) -> int:
    """Return the number of lines of names of the first records, as given or as they look."""
    first, below = (list(rows[0]), rows[1:]) if rows else ([], [])
    if n_names is None:
        return 0 if count <= 1 and _is_data(first, below) else max(count, 1)
    if is_recorded:
        positions = [f"column {i + 1}" for i in range(len(first))]
        has_positions = n_names == 0 and [name.strip() for name in first] == positions
        has_row = n_names > 1 and any(map(_is_number, rows[min(n_names, len(rows)) - 1]))
        return 1 if has_positions or has_row else n_names
    return n_names


def kind(cell: str) -> int:
    """Return the kind of a cell: empty or a sign of missing entries, number, date, or text."""
    cell = cell.strip()
    if not cell or _ABSENT.fullmatch(cell):
        return EMPTY
    if _AMOUNT.fullmatch(cell):
        return NUMBER
    return DATE if cell[-1:] != "-" and _DATE.fullmatch(cell) else TEXT


class _Cells:
    """Kinds of the cells (n, width) of some records, and where their rows begin and end."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        lengths = Counter(len(row) for row in rows if any(row))
        self.width = max(lengths, key=lambda length: (lengths[length] * (length > 1), length),
                         default=0)  # fmt: skip
        self.kinds = np.zeros((len(rows), self.width), dtype=np.int8)
        self.texts = np.zeros((len(rows), self.width), dtype=bool)  # Entries, missing or not
        self.is_blank = np.array([not any(row) for row in rows], dtype=bool)
        for i, row in enumerate(rows):
            for j, cell in enumerate(row[: self.width]):
                self.kinds[i, j], self.texts[i, j] = kind(cell), bool(cell.strip())
        others = np.array([len(row) != self.width for row in rows], dtype=float)
        self.misfit = np.where(self.is_blank, 0.0, others)

    def n_above(self) -> int:
        """Return the number of records above the rows: those after it have steady kinds.

        Each record above costs `_COST_ABOVE`, and each row the share of its cells whose kind is not
        the most frequent one of the column, or 1 if it has another number of cells.
        """
        one_hot = self.kinds[:, :, None] == np.arange(NUMBER, TEXT + 1)  # (n, width, 3)
        counts = one_hot[::-1].cumsum(axis=0)[::-1]
        differing = counts.sum(axis=2) - counts.max(axis=2)
        costs = differing.sum(axis=1) / max(self.width, 1)
        costs = costs + self.misfit[::-1].cumsum()[::-1]
        above = np.concatenate([[0], (~self.is_blank).cumsum()])[:-1]
        return int(np.argmin(costs + _COST_ABOVE * above)) if len(costs) else 0

    def kinds_of_columns(self, start: int) -> np.ndarray[Any, Any]:
        """Return the kind (width,) that shows rows from a record on, 0 in columns of text."""
        body = self.kinds[start:]
        n_filled = np.maximum((body > EMPTY).sum(axis=0), 1)
        shares = [(body == kind).sum(axis=0) / n_filled for kind in (NUMBER, DATE)]
        return np.where(shares[0] >= _TYPED, NUMBER, np.where(shares[1] >= _TYPED, DATE, EMPTY))

    def is_names(self, i: int, typed: np.ndarray[Any, Any]) -> bool:
        """Return whether a record may be names: half of the cells, few as those of typed columns.

        Years may be names of columns, next to text.
        """
        row, filled = self.kinds[i], self.texts[i]
        if (
            filled.sum() < max(min(2, self.width), self.width / 2)
            or abs(len(self.rows[i]) - self.width) > 1
        ):
            return False
        both = (typed > 0) & (row > EMPTY)
        differs = both.any() and (row == typed)[both].mean() <= 0.5
        return bool(differs and (row == TEXT).sum() * 2 >= filled.sum())

    def names_block(self, n_titles: int | None) -> tuple[int, int]:
        """Return the first record of names, and the first one below them."""
        start = n_titles or 0
        n_above = max(self.n_above(), start)
        typed = self.kinds_of_columns(n_above)
        found = [i for i in range(start, n_above) if typed.any() and self.is_names(i, typed)]
        if not found or (n_titles is not None and found[0] != start):
            enough = _FILLED * max(self.texts[n_above:].any(axis=0).sum(), min(2, self.width))
            filled = [i for i in range(start, len(self.rows)) if self.texts[i].sum() >= enough
                      and abs(len(self.rows[i]) - self.width) <= 1]  # fmt: skip
            first = start if n_titles is not None or not filled else filled[0]
            return first, first + 1
        first, last = found[-1], found[-1] + 1
        while first > start and last - first < _MOST_NAMES and self._is_above(first, last):
            first -= 1
        while last < n_above and self._is_units(last):
            last += 1
        return (start, last) if n_titles is not None else (first, last)

    def _is_above(self, first: int, last: int) -> bool:
        """Return whether the record above some names is a part of them.

        It is if it has names of groups, for names that are empty or repeated, or all names.
        """
        above, below = self.rows[first - 1], [cell.strip() for cell in self.rows[first]]
        filled = [j for j, cell in enumerate(above) if cell.strip()]
        names = [below[j] for j in range(min(len(below), self.width))
                 if self.texts[last:, j].any()]  # fmt: skip
        if not filled or len(names) < 2 or max(filled) < 2 <= len(names) - 2:
            return False
        if len(above) == self.width > 2 and len({above[j] for j in filled}) == len(above):
            return bool((self.kinds[first - 1] != NUMBER).all())
        return not all(names[1:]) or len(set(names)) < len(names)

    def _is_units(self, i: int) -> bool:
        cells = [cell.strip() for cell in self.rows[i] if cell.strip()]
        return bool(cells) and all(_UNIT.fullmatch(cell) for cell in cells)

    def end_of_table(self) -> int | None:
        """Return the record with which another table begins after a blank one, or None."""
        starts = [i for i in range(len(self.rows)) if not self.is_blank[i]
                  and (i == 0 or self.is_blank[i - 1])]  # fmt: skip
        blocks = [_Cells(self.rows[i:j]) for i, j in zip(starts, [*starts[1:], None], strict=True)]
        tables = [k for k, block in enumerate(blocks) if block.is_table()]
        if len(tables) < 2 or blocks[tables[0]].width <= 2 < blocks[tables[1]].width:
            return None
        return starts[tables[1]]

    def is_table(self) -> bool:
        """Return whether the records are a table by themselves: names, then rows of typed cells."""
        n_above = self.n_above()
        typed = self.kinds_of_columns(n_above)
        rows = ~self.is_blank[n_above:]
        if self.width < 2 or rows.sum() + 1 < _FEWEST_OF_TABLE or not typed.any():
            return False
        is_steady = self.misfit[n_above:].sum() == 0.0
        return is_steady and any(self.is_names(i, typed) for i in range(n_above))


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


def _joined(rows: Rows) -> tuple[list[str], bool]:
    """Return column names, and whether they are those of the first line, which has them all.

    Otherwise all lines are joined.
    """
    first = [name.strip() for name in rows[0]] if rows else []
    if len(rows) == 1:
        return list(rows[0]), True
    if all(first) and len(set(first)) == len(first):
        return list(rows[0]), True
    lines = []
    for row in rows[:-1]:
        line: list[str] = []
        for cell in row:  # A name applies to all columns up to the next name
            line.append(cell.strip() or (line[-1] if line else ""))
        lines.append(line)
    lines.append([cell.strip() for cell in rows[-1]])
    width = max(map(len, rows))
    parts = ([line[i] for line in lines if i < len(line)] for i in range(width))
    return [" ".join(dict.fromkeys(filter(None, some))) for some in parts], False


_MOST_SUMMARIES, _FEWEST_ABOVE = 4, 3
"""Most rows of sums and means below each other, and fewest rows above them."""

MOST_BELOW = 100
"""Most lines below a table that are searched for remarks and sums."""

_SUMMARY = re.compile(
    r"\W*(?:grand |sub)?(?:totals?|sums?|summe|gesamt|totaux|somme|totale|average|avg|mean|"
    r"durchschnitt|mittelwert|moyenne|media|合計|合计|平均)\W*",
    re.IGNORECASE,
)
"""Labels of a row of sums or means."""

_REMARK = re.compile(
    r"\W*(?:sources?|notes?|quelle|anmerkung|fuente|nota|fonte|källa|bron|last updated?|updated|"
    r"data (?:from|source)|footnotes?|legend|copyright|出典|注|资料来源|источник)\b.*|[*†‡©#%¹²].+",
    re.IGNORECASE | re.DOTALL,
)
"""Remarks below a table."""


def count_below(rows: Rows, width: int) -> int:
    """Return the number of last records that are not rows: remarks, and labelled sums or means.

    A label occurs nowhere above.
    """
    count = n_summaries = 0
    for i in range(len(rows) - 1, 0, -1):
        filled = [(j, cell) for j, cell in enumerate(rows[i]) if cell]
        above = rows[max(i - LOOKED_AT, 0) : i]
        labels = [cell for j, cell in filled if _SUMMARY.fullmatch(cell)
                  and cell not in _column(above, j)]  # fmt: skip
        if labels and i >= _FEWEST_ABOVE and n_summaries < _MOST_SUMMARIES:
            n_summaries += 1
        elif filled and not _is_remark(filled, len(rows[i]) != width, above):
            break
        if filled:
            count = len(rows) - i
    return count


def _is_remark(filled: Sequence[tuple[int, str]], has_other_width: bool, above: Rows) -> bool:
    """Return whether the cells of a record that are filled are a remark, given records above."""
    text = filled[0][1]
    typical = sum(sum(map(bool, row)) for row in above) / len(above)
    if len(filled) > typical / 2 + has_other_width or kind(text) != TEXT:
        return False
    if has_other_width or _REMARK.fullmatch(text):
        return typical > 1.0
    if len(above) < _FEWEST_ABOVE or typical <= 1.5:
        return False
    for place, cell in filled:
        kinds = [kind(entry) for entry in _column(above, place)]
        if kind(cell) != TEXT or kinds.count(TEXT) > (1.0 - _NUMERIC) * len(kinds):
            return False
    return True


def note_below(rows: Rows) -> str:
    """Return a note on records below the rows of a table."""
    labels = [next((cell for cell in row if _SUMMARY.fullmatch(cell)), next(filter(None, row)))
              for row in rows if any(row)]  # fmt: skip
    what = "row" if len(rows) == 1 else f"{len(rows)} rows"
    verb = "is" if len(rows) == 1 else "are"
    listed = shown(", ".join(labels))
    return f"The last {what} ({listed}) {verb} left out; skip=0 (--skip 0) keeps all lines."


def without_summaries(columns: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return columns without last rows of remarks, sums or means, and a note on these rows.

    Columns are Arrow arrays of texts, or pandas Series.
    """
    length = len(next(iter(columns.values()), ()))
    start = max(length - LOOKED_AT - MOST_BELOW, 0)
    texts = [_texts_below(column, start) for column in columns.values()]
    rows = [list(row) for row in zip(*texts, strict=True)]
    count = count_below(rows, len(columns)) if len(columns) > 1 else 0
    if not count:
        return dict(columns), ""
    kept = {name: _above(column, length - count) for name, column in columns.items()}
    return kept, note_below(rows[-count:])


def _texts_below(column: Any, start: int) -> list[str]:
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

"""Detection of lines that are not data rows: titles, column names and totals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bochner._base.names import shown

Rows = Sequence[Sequence[str]]

LOOKED_AT = 200
"""Number of first records of a file in which titles and column names are searched."""

_FEWEST_BELOW = 2
"""Fewest records below a first line that is taken for data, or for a title."""

_FEWEST_STEPS = 3
"""Fewest equally spaced numbers in a first line that count as column names, such as wavelengths."""

_NUMERIC = 0.9
"""Smallest share of numbers in a numeric column."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,' ][0-9]*)*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Heading:
    """Numbers of title and header records above the first data row, with column names and notes."""

    n_titles: int
    n_names: int
    names: list[str]
    notes: tuple[str, ...] = ()


def find_heading(
    rows: Rows,
    *,
    n_titles: int | None = None,
    n_names: int | None = None,
    is_recorded: bool = False,
) -> Heading:
    """Return the heading of the first records of a file; entries are texts, empty where missing.

    ``n_titles`` and ``n_names`` are given, or None. If they are those of an earlier file, the lines
    of names are as many unless the file shows that they are not.
    """
    notes: list[str] = []
    titles = _count_titles(rows) if n_titles is None else n_titles
    if titles and n_titles is None:
        shown_title = shown(next(cell for cell in rows[0] if cell))
        what = (
            "The first line is a title" if titles == 1 else f"The first {titles} lines are titles"
        )
        notes.append(f"{what} and left out ({shown_title}); skip=0 (--skip 0) keeps all lines.")
    rows = rows[titles:]
    first, below = list(rows[0]) if rows else [], rows[1:]
    count = n_names
    positions = [f"column {i + 1}" for i in range(len(first))]
    if count is None:
        count = 0 if _is_data(first, below) else 1
    elif is_recorded:
        has_positions = count == 0 and [name.strip() for name in first] == positions
        has_row = count > 1 and any(map(_is_number, rows[min(count, len(rows)) - 1]))
        count = 1 if has_positions or has_row else count
    if count == 0:
        names = positions
        if n_names is None or is_recorded:
            notes.append(
                f"The first line holds data ({shown(', '.join(first))}), so that columns are named "
                "column 1, column 2 and so on; header=1 (--header 1) takes it for names."
            )
        return Heading(titles, 0, names, tuple(notes))
    if count == 1:
        return Heading(titles, 1, first, tuple(notes))
    return Heading(titles, count, _joined(rows[:count]), tuple(notes))


def _count_titles(rows: Rows) -> int:
    """Return the number of title records, which have a single entry, above the column names."""
    if not rows:
        return 0
    width = max(map(len, rows))
    count = 0
    for row in rows:
        n_filled = sum(map(bool, row))
        is_short = len(row) == 1 and width > 1
        if n_filled != 1 or not (is_short or width > 2) or not _LETTER.search("".join(row)):
            break
        count += 1
    below = rows[count:]
    if not count or len(below) <= _FEWEST_BELOW:
        return 0
    # A title is followed by the column names, not by a row with gaps.
    widths = [len(row) for row in below]
    typical = max(set(widths), key=widths.count)
    has_names = sum(map(bool, below[0])) > 1 and len(below[0]) == typical
    return count if has_names else 0


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
    first = [name.strip() for name in rows[0]]
    if all(first) and len(set(first)) == len(first):
        return first
    lines = []
    for row in rows[:-1]:
        line: list[str] = []
        for cell in row:  # A name applies to all columns up to the next name
            line.append(cell.strip() or (line[-1] if line else ""))
        lines.append(line)
    lines.append([cell.strip() for cell in rows[-1]])
    width = len(first)
    parts = ([line[i] for line in lines if i < len(line)] for i in range(width))
    return [" ".join(dict.fromkeys(filter(None, some))) for some in parts]


_MOST_SUMMARIES, _FEWEST_ABOVE = 4, 3
"""Most rows of sums and means below each other, and fewest rows above them."""

_SUMMARY = re.compile(
    r"\W*(?:grand |sub)?(?:totals?|sums?|summe|gesamt|totaux|somme|totale|average|avg|mean|"
    r"durchschnitt|mittelwert|moyenne|media)\W*",
    re.IGNORECASE,
)
"""Labels of a row of sums or means."""


def without_summaries(columns: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return columns without last rows labelled as sums or means, and a note on these rows.

    Columns are Arrow arrays of texts, or pandas Series. A label occurs nowhere above.
    """
    labels: list[str] = []
    length = len(next(iter(columns.values()), ()))
    for row in range(length - 1, max(length - 1 - _MOST_SUMMARIES, _FEWEST_ABOVE - 1), -1):
        entries = {name: _entry(column, row) for name, column in columns.items()}
        labelled = next((name for name, entry in entries.items() if _is_summary(entry)), None)
        if labelled is None and any(entry not in (None, "") for entry in entries.values()):
            break
        label = "" if labelled is None else str(entries[labelled])
        if labelled is not None and _occurs(columns[labelled], label, row):
            return dict(columns), ""
        labels.insert(0, label)
    if not any(labels):
        return dict(columns), ""
    n_rows = length - len(labels)
    named = ", ".join(shown(label) for label in labels if label)
    last = "row" if len(labels) == 1 else f"{len(labels)} rows"
    verb = "is" if len(labels) == 1 else "are"
    note = f"The last {last} ({named}) {verb} left out; skip=0 (--skip 0) keeps all lines."
    return {name: _above(column, n_rows) for name, column in columns.items()}, note


def _is_summary(entry: object) -> bool:
    return isinstance(entry, str) and _SUMMARY.fullmatch(entry) is not None


def _entry(column: Any, row: int) -> Any:
    """Return an entry of an Arrow array or a pandas Series, None where missing."""
    entry = column.iloc[row] if hasattr(column, "iloc") else column[row].as_py()
    return None if entry is None or entry != entry else entry


def _occurs(column: Any, label: str, n_rows: int) -> bool:
    """Return whether an entry occurs in the first rows of a column."""
    above = _above(column, n_rows)
    return bool((above == label).any()) if hasattr(above, "iloc") else label in above.to_pylist()


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

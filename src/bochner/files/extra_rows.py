"""Rows of a file that hold no data: totals and remarks at the end, repeated names, gaps of labels.

Columns are Arrow arrays of texts, or pandas Series.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bochner._base.names import nearest, shown
from bochner.files.errors import InputError
from bochner.files.headings import LOOKED_AT, NUMERIC, TEXT, Rows, column_of, kind
from bochner.files.read_options import ReadOptions

_MOST_SUMMARIES, _FEWEST_ABOVE = 4, 3
"""Most rows of sums and means below each other, and fewest rows above them."""

_GAPS, _FULL = 0.5, 0.9
"""Least share of gaps in a column of labels, and of entries in another column."""

_SUMMARY = re.compile(
    r"\W*(?:grand |sub)?(?:totals?|sums?|summe|gesamt|totaux|somme|totale|average|avg|mean|"
    r"durchschnitt|mittelwert|moyenne|media|median|min(?:imum)?|max(?:imum)?|std(?:ev)?|count|"
    r"合計|合计|平均)\W*",
    re.IGNORECASE,
)
"""Labels of a row of sums or means."""

_REMARK = re.compile(
    r"\W*(?:sources?|notes?|quelle|anmerkung|fuente|nota|fonte|källa|(?:last )?updated?|data from|"
    r"footnotes?|legend|copyright|出典|注|资料来源|источник)\b.*|(?:[*†‡©#%¹²]|\(?\w\)).+",
    re.IGNORECASE | re.DOTALL,
)
"""Remarks below a table."""


def without_summaries(columns: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return columns without last rows of remarks, sums or means, and a note on these rows."""
    length = len(next(iter(columns.values()), ()))
    start = max(length - 2 * LOOKED_AT, 0)
    tails = [x.iloc[start:] if hasattr(x, "iloc") else x.slice(start).to_pylist()
             for x in columns.values()]  # fmt: skip
    rows = [["" if cell is None or cell != cell else str(cell) for cell in row]
            for row in zip(*tails, strict=True)]  # fmt: skip
    count = _count_below(rows) if len(columns) > 1 else 0
    if not count:
        return dict(columns), ""
    labels = [next((cell for cell in row if _SUMMARY.fullmatch(cell)), next(filter(None, row)))
              for row in rows[-count:] if any(row)]  # fmt: skip
    what = "row" if count == 1 else f"{count} rows"
    verb, listed = "is" if count == 1 else "are", shown(", ".join(labels))
    above = {name: _above(column, length - count) for name, column in columns.items()}
    if not labels:
        return above, ""
    note = f"The last {what} ({listed}) {verb} left out; skip=0 (--skip 0) keeps all lines."
    return above, note


def _count_below(rows: Rows) -> int:
    """Return the number of last records that are remarks, or sums and means.

    The label of a sum occurs nowhere above.
    """
    count = n_summaries = 0
    for i in range(len(rows) - 1, _FEWEST_ABOVE - 1, -1):
        filled = [(j, cell) for j, cell in enumerate(rows[i]) if cell]
        above = rows[max(i - LOOKED_AT, 0) : i]
        if any(_SUMMARY.fullmatch(cell) and cell not in column_of(above, j) for j, cell in filled):
            n_summaries += 1
        elif filled and not _is_remark(filled, above):
            break
        count = len(rows) - i
    return count if n_summaries <= _MOST_SUMMARIES else 0


def _is_remark(filled: Sequence[tuple[int, str]], above: Rows) -> bool:
    """Return whether the cells of a record that are filled are a remark, given records above.

    A remark is text, with fewer cells than rows have: text in columns of numbers or dates, or with
    a word such as "Source".
    """
    typical = sum(sum(map(bool, row)) for row in above) / len(above)
    if typical <= max(1.5, len(filled)) or {kind(cell) for _, cell in filled} != {TEXT}:
        return False
    kinds = [[kind(entry) for entry in column_of(above, place)] for place, _ in filled]
    odd = [cell for (_, cell), some in zip(filled, kinds, strict=True)
           if some.count(TEXT) <= (1.0 - NUMERIC) * len(some)]  # fmt: skip
    if 2 * len(filled) <= typical:
        return len(odd) == len(filled) or _REMARK.fullmatch(filled[0][1]) is not None
    return len(set(odd) - {cell for row in above for cell in row}) == len(odd) > 1


def _above(column: Any, n_rows: int) -> Any:
    """Return the first rows of a column."""
    if not hasattr(column, "iloc"):
        return column.slice(0, n_rows)
    return column.iloc[:n_rows].reset_index(drop=True).infer_objects()


def without_repeated_names(columns: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return columns without rows that repeat the column names, and a note on these rows."""
    import pyarrow.compute as pc

    named = {name: x for name, x in columns.items() if not name.startswith("Unnamed: ")}
    is_name = None
    for name, texts in named.items():
        same = pc.equal(texts, name).fill_null(False)
        is_name = same if is_name is None else pc.and_(is_name, same)
        if len(columns) == 1 or not pc.any(is_name).as_py():
            return dict(columns), ""
    if is_name is None:
        return dict(columns), ""
    count, row = pc.sum(is_name).as_py(), pc.index(is_name, True).as_py()
    what, verb = ("1 row repeats", "is") if count == 1 else (f"{count} rows repeat", "are")
    note = f"{what} the names of the columns and {verb} left out (the first one was row {row + 1})."
    return {name: texts.filter(pc.invert(is_name)) for name, texts in columns.items()}, note


def fill_down(
    columns: Mapping[str, Any], options: ReadOptions
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return columns whose gaps have the entry above, if that is requested, and notes on others.

    Raises InputError for an unknown column, unless an earlier file had it.
    """
    import pyarrow.compute as pc

    filled = dict(columns)
    for name in options.fill_down:
        if name in columns:
            column = columns[name]
            is_series = hasattr(column, "iloc")
            filled[name] = column.ffill() if is_series else pc.fill_null_forward(column)
        elif not options.recorded:
            near = nearest(name, columns)
            hint = f" Did you mean {near!r}?" if near else ""
            raise InputError(
                f"{name!r} is to be filled down, and is no column (--fill-down).{hint}"
            )
    first: tuple[str, Any] = next(iter(filled.items()), ("", ()))
    name, column = first
    if hasattr(column, "iloc") or len(column) < 4 or not column[0].is_valid:
        return filled, ()
    n_labels = len(column) - column.null_count
    is_full = any(len(each) - each.null_count >= _FULL * len(each) for each in columns.values())
    differ = n_labels > 1 and len(column.unique()) - 1 >= _FULL * n_labels
    if not (is_full and differ and column.null_count >= _GAPS * len(column)):
        return filled, ()
    return filled, (
        f"{name!r} has entries in the first row of each block only ({shown(column[0])}): "
        f"fill_down=[{name!r}] (--fill-down {name!r}) repeats them in the rows below.",
    )

"""Rows of a file that hold no data: repeated names, totals and remarks; and gaps of labels."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner._base.names import brief, nearest
from bochner.files.errors import InputError
from bochner.files.headings import LOOKED_AT, NUMBER, NUMERIC, TEXT, Rows, column_of, kind
from bochner.files.read_options import ReadOptions

if TYPE_CHECKING:
    import pandas as pd

    Columns = dict[str, pd.Series]

_MOST_SUMMARIES, _FEWEST_ABOVE = 4, 3
"""Most rows of sums and means below each other, and fewest rows above them."""

_SENTENCE = 4
"""Fewest words of a sentence in a column of numbers or dates, beside the number of a footnote."""

_GAPS, _FULL = 0.5, 0.9
"""Least share of gaps in a column of labels, and of entries in another column."""

_SUMMARY = re.compile(
    r"\W*(?:grand |sub)?(?:(?P<sum>totals?|sums?|summe|gesamt|totaux|somme|totale|合計|合计)|"
    r"(?P<mean>average|avg|mean|durchschnitt|mittelwert|moyenne|media|平均)|(?P<median>median)|"
    r"(?P<min>min(?:imum)?)|(?P<max>max(?:imum)?)|(?P<std>std(?:ev)?)|(?P<count>count))\W*",
    re.IGNORECASE,
)
"""Labels of a row of sums or means, in groups with the names of methods of pandas."""

_SPREAD = 0.02  # Most rounding of a sum or mean, in ranges of its column

_SUBTOTAL = re.compile(r"(?:sub)?totals?\b.+|.+\b(?:sub)?totals?")
"""Labels of sums of blocks of rows."""

_FEWEST_WITH_BLOCKS, _MOST_WITH_BLOCKS = 3, 100_000
"""Fewest columns and most rows of tables with sums of blocks, which people read as they are."""

_REMARK = re.compile(
    r"\W*(?:sources?|notes?|quelle|anmerkung|fuente|nota|fonte|källa|(?:last )?updated?|data from|"
    r"footnotes?|legend|copyright|出典|注|资料来源|источник)\b.*|[^:]{3,30}: .+|.*://.*|(?:[*†‡©#%¹²]|\(?\w\)).+",
    re.IGNORECASE | re.DOTALL,
)
"""Remarks below a table."""


def without_extra_rows(
    columns: Columns, levels: Collection[str] = ()
) -> tuple[Columns, tuple[str, ...]]:
    """Return columns without rows of names, remarks, sums or means, and notes on these rows.

    Known ``levels`` of columns, such as "mean", are no labels of sums or means in complete rows.
    """
    columns, of_names = _without_repeated_names(columns)
    columns, of_summaries = _without_summaries(columns, levels)
    columns, of_blocks = _without_subtotals(columns)
    return columns, tuple(filter(None, (of_names, of_summaries, of_blocks)))


def _without_subtotals(columns: Columns) -> tuple[Columns, str]:
    """Return columns without sums of blocks, as in pivot tables, and a note on these rows.

    Each has a label of its own, such as "North Total", and fewer entries than other rows.
    """
    first = next((x for x in columns.values() if x.dtype.kind in "OU"), None)
    if first is None or len(columns) < _FEWEST_WITH_BLOCKS or len(first) > _MOST_WITH_BLOCKS:
        return columns, ""
    labels = first.astype(object).where(first.notna(), "").map(str).str.strip()
    are_sums = labels.str.fullmatch(_SUBTOTAL.pattern, case=False).to_numpy(bool)
    n_entries = np.sum([x.notna() for x in columns.values()], axis=0)
    if not 1 < are_sums.sum() == labels[are_sums].nunique() <= len(labels) // _FEWEST_ABOVE:
        return columns, ""
    if n_entries[are_sums].max() >= np.median(n_entries[~are_sums]):
        return columns, ""
    listed = brief(", ".join(labels[are_sums]))
    note = f"{are_sums.sum()} rows of sums ({listed}) are left out; skip=0 (--skip 0) keeps them."
    return _at_rows(columns, ~are_sums), note


def _without_summaries(columns: Columns, levels: Collection[str]) -> tuple[Columns, str]:
    """Return columns without last rows of remarks, sums or means, and a note on these rows."""
    tails = [x.iloc[-2 * LOOKED_AT :].astype(object) for x in columns.values()]
    rows = [list(map(str, row))
            for row in zip(*(x.where(x.notna(), "") for x in tails), strict=True)]  # fmt: skip
    count = _count_below(rows, list(columns.values()), levels) if len(columns) > 1 else 0
    if not count:
        return columns, ""
    labels = [next((cell for cell in row if _SUMMARY.fullmatch(cell)), next(filter(None, row)))
              for row in rows[-count:] if any(row)]  # fmt: skip
    what, verb = ("row", "is") if count == 1 else (f"{count} rows", "are")
    note = f"The last {what} ({brief(', '.join(labels))}) {verb} left out; skip=0 (--skip 0) keeps"
    return _at_rows(columns, slice(0, -count)), f"{note} all lines." * bool(labels)


def _at_rows(columns: Columns, rows: Any) -> Columns:
    """Return some rows of columns, which may have one type without the others."""
    return {name: column.iloc[rows].reset_index(drop=True).infer_objects()
            for name, column in columns.items()}  # fmt: skip


def _count_below(rows: Rows, columns: Sequence[pd.Series], levels: Collection[str]) -> int:
    """Return the number of last records that are remarks, or sums with a label of their own."""
    count = n_summaries = 0
    for i in range(len(rows) - 1, _FEWEST_ABOVE - 1, -1):
        filled = [(j, cell) for j, cell in enumerate(rows[i]) if cell]
        above = rows[max(i - LOOKED_AT, 0) : i]
        label = next((j for j, cell in filled if _SUMMARY.fullmatch(cell) and
                      cell not in column_of(above, j)), None)  # fmt: skip
        if label is not None and not (
            _is_row(rows[i], label, above, levels)
            and (rows[i][label] in levels or not _agrees(rows, i, label, columns))
        ):
            n_summaries += 1
        elif filled and not _is_remark(filled, above):
            break
        count = len(rows) - i
    return count if n_summaries <= _MOST_SUMMARIES else 0


def _is_row(row: Sequence[str], label: int, above: Rows, levels: Collection[str]) -> bool:
    """Return whether a record with the word of a sum or mean is as complete as others and alike."""
    if sum(map(bool, row)) < np.median([sum(map(bool, each)) for each in above]):
        return False
    words = [row[label] in levels]
    for j, cell in enumerate(row):
        entries = column_of(above, j)
        n_texts = sum(kind(entry) != NUMBER for entry in entries)
        if not cell or 2 * n_texts <= len(entries):
            continue
        are_levels = 2 * len(set(entries)) <= len(entries)
        if j != label and are_levels and cell not in entries and not words[0]:
            return False
        words.append(are_levels if j == label else len(set(entries)) > 1)
    return any(words)


def _agrees(rows: Rows, place: int, label: int, columns: Sequence[pd.Series]) -> bool:
    """Return whether most numbers of a record are what its label says of rows above."""
    import pandas as pd

    first = next(
        (i for i in range(place, 0, -1) if not _SUMMARY.fullmatch(rows[i - 1][label])), place
    )
    match, agree, n_below = _SUMMARY.fullmatch(rows[place][label]), list[bool](), len(rows) - first
    for column, cell in zip(columns, rows[place], strict=True):
        if kind(cell) != NUMBER:
            continue
        agree.append(False)
        texts = pd.Series([*column.iloc[:-n_below].astype(str), cell])
        for mark, others in ((".", "[, ']"), (",", "[. ']")):
            plain = texts.str.replace(others, "", regex=True).str.replace(mark, ".", regex=False)
            numbers = pd.to_numeric(plain.str.extract(r"([+-]?[0-9.]+)")[0], errors="coerce")
            values, stated = numbers.iloc[:-1], numbers.iloc[-1]
            unit = 0.5 * 10.0 ** -len(plain.iloc[-1].partition(".")[2])
            rounding = min(unit, _SPREAD * (values.max() - values.min()))
            expected = getattr(values, str(match and match.lastgroup))()
            if values.min() < values.max() or expected != values.max():  # Else every row agrees
                agree[-1] |= bool(abs(expected - stated) <= rounding + 1e-9 * abs(expected))
    return 2 * sum(agree) > len(agree)


def _is_remark(filled: Sequence[tuple[int, str]], above: Rows) -> bool:
    """Return whether the filled cells of a record are a remark: text, and fewer than rows have."""
    typical = sum(sum(map(bool, row)) for row in above) / len(above)
    texts = [cell for _, cell in filled if kind(cell) == TEXT]
    if typical <= max(1.5, len(filled)) or not texts:
        return False
    kinds = [[kind(entry) for entry in column_of(above, place)] for place, _ in filled]
    odd = [cell for (_, cell), some in zip(filled, kinds, strict=True)
           if some.count(TEXT) <= (1.0 - NUMERIC) * len(some)]  # fmt: skip
    if any(len(cell.split()) >= _SENTENCE and 2 * some.count(TEXT) < len(some)
           for (_, cell), some in zip(filled, kinds, strict=True)):  # fmt: skip
        return True
    if len(texts) < len(filled):
        return False
    if 2 * len(filled) <= typical:
        return len(odd) == len(filled) or _REMARK.fullmatch(filled[0][1]) is not None
    return len(set(odd) - {cell for row in above for cell in row}) == len(odd) > 1


def _without_repeated_names(columns: Columns) -> tuple[Columns, str]:
    """Return columns without rows that repeat the column names, and a note on these rows."""
    named = {name: x for name, x in columns.items() if not name.startswith("Unnamed: ")}
    are_names = np.ones(len(next(iter(columns.values()), ())), dtype=bool)
    for name, column in named.items():
        are_names &= (column == name).fillna(False).to_numpy(bool)
        if len(columns) == 1 or not are_names.any():
            return columns, ""
    if not named:
        return columns, ""
    count, row = are_names.sum(), np.argmax(are_names)
    what, verb = ("1 row repeats", "is") if count == 1 else (f"{count} rows repeat", "are")
    note = f"{what} the names of the columns and {verb} left out (the first one was row {row + 1})."
    return _at_rows(columns, ~are_names), note


def fill_down(columns: Columns, options: ReadOptions) -> tuple[Columns, tuple[str, ...]]:
    """Return columns with the entry above in gaps, if that is requested, and a note on others."""
    for name in options.fill_down:
        if name not in columns and not options.recorded:
            near = nearest(name, columns)
            hint = f" Did you mean {near!r:.60}?" if near else ""
            raise InputError(
                f"{name!r:.60} is to be filled down, and is no column (--fill-down).{hint}"
            )
    filled = {name: column.ffill() if name in options.fill_down else column
              for name, column in columns.items()}  # fmt: skip
    if len(filled) < 2:
        return filled, ()
    name, column = next(iter(filled.items()))
    n_labels, n_rows = column.count(), len(column)
    has_gaps = n_labels > 1 and n_rows - n_labels >= _GAPS * n_rows and column.notna().iloc[0]
    is_full = has_gaps and any(each.count() >= _FULL * n_rows for each in filled.values())
    if not is_full or column.nunique() < _FULL * n_labels:
        return filled, ()
    return filled, (
        f"{name!r:.60} has entries in the first row of each block only ({brief(column.iloc[0])}): "
        f"fill_down=[{name!r:.60}] (--fill-down {name!r:.60}) repeats them in the rows below.",
    )

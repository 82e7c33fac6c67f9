"""Rows of totals: the last rows of a table if they hold sums or means of the rows above."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner._base.arrays import Array
from bochner.files.remarks import shown

if TYPE_CHECKING:
    import pandas as pd

_FEWEST_SUMMED = 3
"""Fewest rows whose sum is evidence of a total with a label: one row is its own sum."""

_FEWEST_UNLABELLED = 8
"""Fewest rows whose sums are evidence of a total without a label."""

_ROUNDED = 1e-6
"""Relative difference of a total from the sum, beyond rounding to the digits of the entries."""

_MOST_PLACES = 7
"""Decimal places that people write, and one more."""

_SEEN = 8
"""Entries by which the decimal places of a column are counted."""

_MOST_LABELLED = 4
"""Most rows of sums and means below each other."""

_NOTE = "{} the {} of the rows above and {} left out; skip=0 (--skip 0) keeps all lines."

_LABEL = re.compile(
    r"\W*(?:grand |sub)?(?:totals?|sums?|summe|gesamt|insgesamt|totaux|somme|totale|suma|"
    r"итого|всего|合計|总计|average|avg|mean|durchschnitt|mittel(?:wert)?|moyenne|media)\b.*",
    re.IGNORECASE,
)
"""Labels of a line of totals or means in some languages."""


def trailing_labels(columns: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the labels of sums and means in the last rows of columns, in the order of the rows.

    Empty rows among them have the label "".
    Columns are Arrow arrays of texts, or pandas Series.
    """
    labels: list[str] = []
    length = len(next(iter(columns.values()), ()))
    for row in range(length - 1, max(length - 1 - _MOST_LABELLED, _FEWEST_SUMMED - 1), -1):
        entries = [cell(column, row) for column in columns.values()]
        label = next((entry for entry in entries if is_label(entry)), "")
        if not label and any(map(_is_present, entries)):
            break
        labels.insert(0, label)
    return tuple(labels) if any(labels) else ()


def _is_present(entry: object) -> bool:
    return entry is not None and entry == entry and entry != ""


def cell(column: Any, row: int) -> Any:
    """Return an entry of an Arrow array or a pandas Series."""
    return column.iloc[row] if hasattr(column, "iloc") else column[row].as_py()


def is_label(entry: object) -> bool:
    """Return whether an entry is the label of a row of sums or means."""
    return isinstance(entry, str) and _LABEL.fullmatch(entry) is not None


def labelled_note(
    labels: Sequence[str], columns: Mapping[str, pd.Series], below: Mapping[str, Array]
) -> str:
    """Return a note if rows below the columns hold their sums or means, as their labels say.

    ``below`` has the numbers (k,) of the rows with ``labels`` (k,), NaN where there is none.
    """
    kinds = []
    for row in np.flatnonzero(labels):
        pairs = (
            (float(numbers[row]), columns[name].to_numpy(dtype=np.float64))
            for name, numbers in below.items()
        )
        kind = _kind_of_row(pairs, is_labelled=True)
        if not kind:
            return ""
        kinds.append(kind)
    named = ", ".join(shown(label) for label in labels if label)
    held = " and the ".join(dict.fromkeys(kinds))
    if len(labels) == 1:
        return _NOTE.format(f"The last row ({named}) holds", held, "is")
    return _NOTE.format(f"The last {len(labels)} rows ({named}) hold", held, "are")


def find_totals(columns: Mapping[str, pd.Series]) -> str:
    """Return a note if the last row of a table, without a label, holds the sums of its columns."""
    if len(next(iter(columns.values()))) - 1 < _FEWEST_UNLABELLED:
        return ""
    pairs = (
        (float(series.iloc[-1]), series.to_numpy(dtype=np.float64)[:-1])
        for series in columns.values()
        if series.dtype.kind in "iuf"
    )
    kind = _kind_of_row(pairs, is_labelled=False)
    return _NOTE.format("The last row holds", kind, "is") if kind else ""


def _kind_of_row(pairs: Iterable[tuple[float, Array]], *, is_labelled: bool) -> str:
    """Return "sums" or "means" if a row has the sums or means of the values (n,) above it."""
    n_equal = n_compared = 0
    what = ""
    with np.errstate(over="ignore", invalid="ignore"):  # Sums of numbers near the largest ones
        for last, values in pairs:
            if np.isnan(last) or not np.nanmax(np.abs(values), initial=0.0):
                continue
            n_compared += 1
            is_sum, is_mean = _equals(last, values)
            is_mean &= is_labelled  # Rows near the mean are frequent
            n_equal += is_sum or is_mean
            what = what or ("sums" if is_sum else "means" if is_mean else "")
            if not is_labelled and n_equal < n_compared:
                return ""
    # One column without a label may sum up by chance, for example a running total.
    enough = n_equal > 0 if is_labelled else n_equal > 1
    return what if enough and 2 * n_equal >= n_compared else ""


def _equals(last: float, values: np.ndarray) -> tuple[bool, bool]:
    """Return whether a number is the sum, or the mean, of values (n,) up to rounding."""
    present = values[~np.isnan(values)]
    total, largest = float(present.sum()), float(np.abs(present).max())
    if len(present) < _FEWEST_SUMMED or float(np.ptp(present)) == 0.0:
        return False, False
    # Rounding errors of the entries add up as a root.
    unit = _digit(present)
    is_sum = abs(last - total) <= _ROUNDED * largest + unit * np.sqrt(len(present))
    is_mean = abs(last - total / len(present)) <= _ROUNDED * largest + unit
    return is_sum, is_mean


def _digit(values: np.ndarray) -> float:
    """Return the last decimal place of numbers (n,), by a few of them; 0 for whole numbers."""
    some = np.abs(values[:_SEEN])
    for places in range(1, _MOST_PLACES):
        if bool(np.all(np.abs(some * 10.0**places - np.round(some * 10.0**places)) < _ROUNDED)):
            return 0.0 if places == 1 and bool((some == np.round(some)).all()) else 10.0**-places
    return 0.0

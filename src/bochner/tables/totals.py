"""Rows of totals: the last row of a table if it holds sums or means of the rows above."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bochner.tables.remarks import shown

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

_LABEL = re.compile(
    r"\W*(?:grand |sub)?(?:totals?|sums?|summe|gesamt|insgesamt|totaux|somme|totale|suma|"
    r"итого|всего|合計|总计|average|avg|mean|durchschnitt|mittelwert|moyenne|media)\b.*",
    re.IGNORECASE,
)
"""Labels of a line of totals or means in some languages."""


def find_totals(columns: Mapping[str, pd.Series]) -> str:
    """Return a note if the last row of a table holds the sums or the means of its columns."""
    n = len(next(iter(columns.values()))) - 1
    texts = [str(series.iloc[-1]) for series in columns.values()
             if series.dtype.kind not in "iufbM" and isinstance(series.iloc[-1], str)]  # fmt: skip
    label = next((text for text in texts if _LABEL.fullmatch(text)), "")
    if n < (_FEWEST_SUMMED if label else _FEWEST_UNLABELLED):
        return ""
    with np.errstate(over="ignore", invalid="ignore"):  # Sums of numbers near the largest ones
        return _note_on_totals(columns, label)


def _note_on_totals(columns: Mapping[str, pd.Series], label: str) -> str:
    n_equal = n_compared = 0
    what = ""
    for series in columns.values():
        if series.dtype.kind not in "iuf" or bool(np.isnan(last := float(series.iloc[-1]))):
            continue
        values = series.to_numpy(dtype=np.float64)[:-1]
        if not np.nanmax(np.abs(values), initial=0.0):
            continue
        n_compared += 1
        is_sum, is_mean = _equals(last, values)
        is_mean &= bool(label)  # Rows near the mean are frequent
        n_equal += is_sum or is_mean
        what = what or ("sums" if is_sum else "means" if is_mean else "")
        if not label and n_equal < n_compared:
            return ""
    # One column without a label may sum up by chance, for example a running total.
    enough = n_equal > 0 if label else n_equal > 1
    if not enough or 2 * n_equal < n_compared:
        return ""
    named = f" ({shown(label)})" if label else ""
    return (
        f"The last row{named} holds the {what} of the rows above and is left out; skip=0 "
        "(--skip 0) keeps all lines."
    )


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

"""Columns of dates that sort the rows of a table."""

from typing import Any

import numpy as np

from bochner._base.arrays import Array, as_array
from bochner._base.warn import warn_user
from bochner.files.columns import read_column

_FEWEST_DATES = 10
"""Fewest different dates that count as a course in time."""

_PROBES = 20
"""Rows whose entries are read first: most columns that are not sorted dates end with them."""


def is_sorted(dates: Array) -> bool:
    """Return whether dates (n,) are in order, either way, with at least ten different dates."""
    return int(np.sum(np.diff(dates) != 0.0)) + 1 >= _FEWEST_DATES and _is_monotone(dates)


def note_sorted_dates(X: Any) -> None:
    """Warn if a column of dates sorts the rows of a table of pandas or polars.

    Rows to predict are then probably later ones, and errors of rows that are left out at random are
    smaller than those of later rows.
    """
    is_pandas = hasattr(X, "iloc")
    if not (is_pandas or hasattr(X, "get_column")):
        return
    probes = np.unique(np.linspace(0, len(X) - 1, _PROBES).round().astype(np.intp))
    for place, name in enumerate(X.columns):
        entries = X.iloc[:, place] if is_pandas else X.get_column(name)
        few = _dates(name, entries.iloc[probes] if is_pandas else entries[probes])
        if len(few) and _is_monotone(few) and is_sorted(_dates(name, entries)):
            warn_user(
                f"The rows are in the order of the dates {name!r}. If the rows to predict are "
                f'later, pass time={name!r} to fit (--time "{name}" in the command): without it, '
                "errors and intervals are too small."
            )
            return


def _is_monotone(dates: Array) -> bool:
    steps = np.diff(dates)
    return bool((steps >= 0.0).all() or (steps <= 0.0).all())


def _dates(name: object, entries: Any) -> Array:
    """Return dates (n,) as numbers; an empty array if some are missing or no dates."""
    column = read_column(str(name), entries)
    is_complete = column.kind == "date" and bool(column.present.all())
    return as_array(column.values) if is_complete else np.empty(0)

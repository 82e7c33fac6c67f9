"""Columns of labels that only the first row of each block has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bochner._base.names import nearest, shown
from bochner.files.errors import InputError
from bochner.files.read_options import ReadOptions

_GAPS, _FILLED = 0.5, 0.9
"""Least share of gaps in a column of labels, and of entries in another column."""


def fill_down(
    columns: Mapping[str, Any], options: ReadOptions
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return columns whose gaps have the entry above, if that is requested, and notes on others.

    Columns are Arrow arrays of texts, or pandas Series. Raises InputError for an unknown column,
    unless an earlier file had it.
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
    if not filled:
        return filled, ()
    name, column = next(iter(filled.items()))
    if hasattr(column, "iloc") or len(column) < 4 or not column[0].is_valid:
        return filled, ()
    n_gaps, n_labels = column.null_count, len(column) - column.null_count
    is_full = any(len(each) - each.null_count >= _FILLED * len(each) for each in columns.values())
    differ = n_labels > 1 and len(column.unique()) - 1 >= _FILLED * n_labels
    note = (
        f"{name!r} has entries in the first row of each block only ({shown(column[0])}): "
        f"fill_down=[{name!r}] (--fill-down {name!r}) repeats them in the rows below."
    )
    return filled, (note,) if is_full and differ and n_gaps >= _GAPS * len(column) else ()

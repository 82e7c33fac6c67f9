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
            is_series = hasattr(columns[name], "iloc")
            filled[name] = columns[name].ffill() if is_series else _forward(columns[name], pc)
        elif not options.recorded:
            near = nearest(name, columns)
            hint = f" Did you mean {near!r}?" if near else ""
            raise InputError(
                f"{name!r} is to be filled down, and is no column (--fill-down).{hint}"
            )
    notes = []
    for name, column in filled.items():
        if not _has_labels_of_blocks(column, columns):
            break  # Labels of blocks are in the first columns
        notes.append(
            f"{name!r} has entries in the first row of each block only "
            f"({shown(column.drop_null()[0])}): fill_down=[{name!r}] (--fill-down {name!r}) "
            "repeats them in the rows below."
        )
    return filled, tuple(notes)


def _forward(column: Any, pc: Any) -> Any:
    """Return an Arrow array of texts with the entry above in place of gaps."""
    return pc.fill_null_forward(column.combine_chunks())


def _has_labels_of_blocks(column: Any, columns: Mapping[str, Any]) -> bool:
    """Return whether a column of text has a first entry, few others, and gaps below them."""
    if hasattr(column, "iloc") or len(column) < 4 or not column[0].is_valid:
        return False
    n_labels = len(column) - column.null_count
    if n_labels < 2 or column.null_count < _GAPS * len(column):
        return False
    others = [each for each in columns.values() if not hasattr(each, "iloc")]
    is_full = any(len(each) - each.null_count >= _FILLED * len(each) for each in others)
    return is_full and len(column.unique()) - 1 >= _FILLED * n_labels

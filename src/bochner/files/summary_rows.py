"""Conversion of the columns of a file without rows of sums and means below its rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from bochner._base.arrays import Array
from bochner.files.errors import InputError
from bochner.files.reading_options import NUMBER_KINDS, ReadOptions
from bochner.files.remarks import Remarks
from bochner.files.resolving import RawColumns, ResolvedColumns, resolve
from bochner.files.totals import cell, is_label, labelled_note, trailing_labels


def resolve_rows(
    raw: RawColumns, options: ReadOptions, text: Collection[str], *, has_totals: bool
) -> tuple[ResolvedColumns, Remarks, str]:
    """Return converted columns, the remarks on them, and a note on rows that are left out.

    With ``has_totals``, rows below the others are left out if their labels, such as Total, say
    that they hold sums or means, and they do. Labels may be in columns of numbers or dates.
    """
    labels = trailing_labels(raw.columns) if has_totals else ()
    for count in range(len(labels), 0, -1):
        remarks, length = Remarks(), len(next(iter(raw.columns.values()))) - count
        rows = {name: _part(column, 0, length) for name, column in raw.columns.items()}
        with suppress(InputError):  # It is raised below if the rows are data
            resolved = resolve(replace(raw, columns=rows), options, text, remarks)
            below = {name: _part(column, length, count) for name, column in raw.columns.items()}
            numbers = _numbers_below(below, resolved, options)
            if note := labelled_note(labels[-count:], resolved.columns, numbers):
                return resolved, remarks, note
    remarks = Remarks()
    return resolve(raw, options, text, remarks), remarks, ""


def _part(column: Any, start: int, count: int) -> Any:
    """Return some rows of an Arrow array or a pandas Series."""
    if not hasattr(column, "iloc"):
        return column.slice(start, count)
    rows = column.iloc[start : start + count].reset_index(drop=True)
    return rows.infer_objects() if rows.dtype.kind == "O" else rows


def _numbers_below(
    below: Mapping[str, Any], resolved: ResolvedColumns, options: ReadOptions
) -> dict[str, Array]:
    """Return the numbers (k,) of rows below the columns of numbers, NaN where there is none."""
    numbers = {}
    for name, series in resolved.columns.items():
        if series.dtype.kind not in "iuf":
            continue
        kind = resolved.kinds.get(name, "")
        layout = replace(
            options,
            decimal=resolved.conventions.decimal,
            types={name: kind if kind in NUMBER_KINDS else "number"},
            units=resolved.units,
            recorded=True,
        )
        numbers[name] = np.array([_number(below[name], row, name, layout)
                                  for row in range(len(below[name]))])  # fmt: skip
    return numbers


def _number(column: object, row: int, name: str, layout: ReadOptions) -> float:
    """Return an entry as a number, NaN if it is none."""
    entry = cell(column, row)
    if entry is None or is_label(entry):
        return np.nan
    if not isinstance(entry, str):
        with suppress(TypeError, ValueError):
            return float(entry)
        return np.nan
    with suppress(InputError):
        raw = RawColumns({name: _part(column, row, 1)}, ())
        (series,) = resolve(raw, layout, (), Remarks()).columns.values()
        return float(series.iloc[0])
    return np.nan

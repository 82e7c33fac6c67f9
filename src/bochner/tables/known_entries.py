"""What is known of the entries of rows, given the rows of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array
from bochner.files.columns import Column, labels
from bochner.tables.encodings import State, codes_of, output_names


@dataclass(frozen=True, slots=True, eq=False)
class KnownEntries:
    """What is known of the entries of n rows in d columns of a table.

    Columns without features, such as constant columns, have no unknown entries.
    """

    values: Array  # (n, d): Numbers, decimal years, or codes of levels; NaN for unknown entries
    is_missing: NDArray[np.bool_]  # (n, d)
    is_new: NDArray[np.bool_]  # (n, d): Text that no row of the fit had
    beyond: Array  # (n, d): Distance above the greatest or below (negative) the least entry

    @classmethod
    def of(cls, states: Sequence[State], columns: Sequence[Column]) -> KnownEntries:
        """Return what is known of the columns of new rows."""
        shape = len(columns[0].raw), len(columns)
        values, beyond = np.zeros(shape), np.zeros(shape)
        is_missing, is_new = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        for j, (state, column) in enumerate(zip(states, columns, strict=True)):
            if not output_names(state):
                continue
            is_missing[:, j] = ~column.present
            if state["kind"] == "text":
                values[:, j], is_new[:, j] = _levels(state, column)
            elif state["kind"] == "numeric" or state["kind"] == "date":
                numbers = np.where(column.present, column.values, np.nan).astype(np.float64)
                low, high = state["ends"]
                over, under = np.maximum(numbers - high, 0.0), np.minimum(numbers - low, 0.0)
                values[:, j] = numbers
                if state["points"]:
                    beyond[:, j] = np.nan_to_num(over + under)
        values[is_missing | is_new] = np.nan
        return cls(values, is_missing, is_new, beyond)


def filled_values(states: Sequence[State], values: Array) -> Array:
    """Return values (n, d) with the median, or the code after the last level, of unknown ones."""
    filled = values.copy()
    for j, state in enumerate(states):
        fill = 0.0
        if state["kind"] == "text":
            fill = float(len(state["levels"]))
        elif state["kind"] == "numeric" or state["kind"] == "date":
            fill = state["fill"]
        filled[np.isnan(values[:, j]), j] = fill
    return filled


def _levels(state: State, column: Column) -> tuple[Array, NDArray[np.bool_]]:
    """Return codes (n,) of levels, and which entries are levels that no row of the fit had.

    Rare levels have the code after the last level.
    """
    assert state["kind"] == "text"
    text, levels = labels(column.raw, column.present), state["levels"]
    codes = codes_of(text, levels)
    # Without their means rare levels are not stored: others may be among them.
    if state["n_rare"] and "means" not in state:
        return as_array(codes), np.zeros(len(codes), dtype=bool)
    known = [*levels, *state.get("means", {})]
    return as_array(codes), column.present & (codes_of(text, known) == len(known))

"""Names and units of encoded columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.tables.encodings import State, output_names, scale_and_origin


@dataclass(frozen=True, slots=True, eq=False)
class EncodedColumns:
    """Names and units of ``d`` encoded columns of a table.

    ``scale`` (d,) is the number of units of the table's column per unit of the encoded one (a
    standard deviation, or 1 for indicators), ``origin`` (d,) the value of the table's column where
    the encoded one is zero. ``is_number`` (d,) is False for indicators.
    """

    names: list[str]
    scale: Array
    origin: Array
    is_number: NDArray[np.bool_]

    @classmethod
    def of(cls, states: Sequence[State], used: NDArray[np.int64]) -> EncodedColumns:
        """Return the encoded columns in use, given an encoder's ``columns_``."""
        rows: list[tuple[str, float, float, bool]] = []
        for state in states:
            number = scale_and_origin(state)
            units = [(*number, True)] if number else []
            names = output_names(state)
            units += [(1.0, 0.0, False)] * (len(names) - len(units))
            rows += [(name, *unit) for name, unit in zip(names, units, strict=True)]
        labels, scale, origin, is_number = zip(*(rows[i] for i in used), strict=True)
        return cls(list(labels), np.array(scale), np.array(origin), np.array(is_number))

    def decoded(self, rows: Array) -> Array:
        """Return encoded rows (n, d) in the units of the table."""
        return rows * self.scale + self.origin

    def encoded(self, rows: Array) -> Array:
        """Return rows in the units of the table as encoded rows, the inverse of `decoded`."""
        return (rows - self.origin) / self.scale

"""Rows of tables in partitions: data frames of numbers, text and dates, or arrays of objects."""

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, stacked_rows
from bochner._base.names import refuse_repeated
from bochner.engines.partition_rows import (
    FrameParts,
    Names,
    TupleParts,
    checked_part_targets,
    checked_part_weights,
)


@dataclass(frozen=True, slots=True, eq=False)
class TablePiece:
    """Rows ``X`` of a table, a pandas data frame or an array (n, d), with targets and weights."""

    X: Any
    y: NDArray[Any]
    weight: Array | None = None

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: NDArray[np.intp]) -> "TablePiece":
        """Return some of the rows."""
        X = self.X.iloc[rows] if hasattr(self.X, "iloc") else self.X[rows]
        return TablePiece(X, self.y[rows], None if self.weight is None else self.weight[rows])

    def __add__(self, other: "TablePiece") -> "TablePiece":
        """Concatenate the rows of both pieces."""
        weight = None
        if self.weight is not None or other.weight is not None:
            weight = np.concatenate((self.weights, other.weights))
        return TablePiece(stacked(self.X, other.X), np.concatenate((self.y, other.y)), weight)

    @property
    def weights(self) -> Array:
        """Weights of shape (n,), ones where none were given."""
        return np.ones(len(self)) if self.weight is None else self.weight


@dataclass(frozen=True, slots=True)
class CheckTable:
    """Reads the rows of weight of a part, a piece or a list of pieces, with their targets."""

    split: TupleParts | FrameParts
    numeric: bool  # Whether targets are numbers, not labels

    def __call__(self, part: Any) -> tuple[TablePiece | None, Names]:
        """Return the rows, ``None`` if there are no pieces, and the names of columns."""
        pieces = [self.split(piece) for piece in (part if isinstance(part, list) else [part])]
        if not pieces:
            return None, None
        table = reduce(add, [self._checked(*piece) for piece in pieces])
        names = getattr(table.X, "columns", None)
        return table, None if names is None else tuple(map(str, names))

    def _checked(self, X: Any, y: Any, weight: object) -> TablePiece:
        if not hasattr(X, "iloc"):
            X = np.asanyarray(X)
            if X.ndim != 2:
                raise TypeError(
                    "Expected the rows of a partition as a pandas data frame or an array (n, d), "
                    f"got an array of shape {X.shape}."
                )
        else:
            refuse_repeated(list(map(str, X.columns)))
        y = checked_part_targets(y, X, numeric=self.numeric, single=not self.numeric)
        weight = checked_part_weights(weight, X)
        piece = TablePiece(X, y, weight)
        return piece if weight is None or weight.all() else piece[np.flatnonzero(weight)]


@dataclass(frozen=True, slots=True)
class InputParts:
    """Returns the inputs of a part, with or without targets and weights in it."""

    target: str | list[str] | None
    weight: str | None

    def __call__(self, part: Any) -> Any:
        """Return the rows of a piece, or of a list of pieces; ``None`` if there are none."""
        pieces = [self._inputs(piece) for piece in (part if isinstance(part, list) else [part])]
        pieces = [piece for piece in pieces if len(piece)]
        return reduce(stacked, pieces) if pieces else None

    def _inputs(self, piece: Any) -> Any:
        if isinstance(piece, tuple):
            return piece[0]
        named = [self.target] if isinstance(self.target, str) else list(self.target or ())
        side_columns = [
            name for name in (*named, self.weight) if name in getattr(piece, "columns", ())
        ]
        return piece.drop(columns=side_columns) if side_columns else piece


def stacked(first: Any, second: Any) -> Any:
    """Concatenate the rows of two tables; raise ValueError if their columns differ."""
    if not (hasattr(first, "iloc") and hasattr(second, "iloc")):
        return stacked_rows(first, second)
    if list(first.columns) != list(second.columns):
        raise ValueError(
            f"There are pieces of other columns: {', '.join(map(repr, first.columns))}; and "
            f"{', '.join(map(repr, second.columns))}."
        )
    from pandas import CategoricalDtype, concat
    from pandas.api.types import union_categoricals

    joined = concat([first, second], ignore_index=True)
    for place, pair in enumerate(zip(first.dtypes, second.dtypes, strict=True)):
        # Without this, categories that differ become entries that are not categories.
        if all(isinstance(dtype, CategoricalDtype) for dtype in pair) and pair[0] != pair[1]:
            columns = [first.iloc[:, place], second.iloc[:, place]]
            joined.isetitem(place, _as_text_if_mixed(columns, union_categoricals))
    return joined


def _as_text_if_mixed(columns: list[Any], union: Any) -> Any:
    """Return the union of two columns of categories, as text if their types differ."""
    if columns[0].cat.categories.dtype != columns[1].cat.categories.dtype:
        columns = [categories.cat.rename_categories(str) for categories in columns]
    return union(columns, ignore_order=True)

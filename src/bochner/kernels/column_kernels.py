"""Columns that a kernel is on: positions, or names of the columns of a data frame."""

from collections.abc import Sequence
from numbers import Integral

import numpy as np

from bochner._base.names import nearest

_MOST_SHOWN = 20  # Columns in full: two lines of a screen

Columns = tuple[int | str, ...]
"""Positions, negative ones from the end, and names, of the columns that a kernel is on."""


def as_columns(columns: object) -> Columns:
    """Return columns given in any form as a tuple of positions and names, or raise."""
    if isinstance(columns, slice):
        columns = _positions(columns)
    if isinstance(columns, str | Integral):
        columns = (columns,)
    if not isinstance(columns, Sequence) and hasattr(columns, "tolist"):
        columns = columns.tolist()
    if not isinstance(columns, list | tuple | range):
        raise TypeError(
            f"columns must be a position, a name, a slice or a sequence of these, got {columns!r}."
        )
    for column in columns:
        if isinstance(column, bool) or not isinstance(column, str | Integral):
            raise TypeError(
                f"columns must be positions or names, got {column!r}; numpy.flatnonzero(mask) "
                f"returns the positions of a mask."
            )
    if not len(columns):
        raise ValueError("columns must name at least one column, got none.")
    made = tuple(str(column) if isinstance(column, str) else int(column) for column in columns)
    _check_distinct(made)
    return made


def _positions(columns: slice) -> range:
    start, stop, step = columns.start or 0, columns.stop, columns.step or 1
    if not all(isinstance(end, int | np.integer) and end >= 0 for end in (start, stop, step)):
        raise ValueError(
            f"A slice of columns needs both ends, zero or more, such as slice(0, 3), because the "
            f"kernel does not know how many columns there will be; got {columns!r}."
        )
    return range(start, stop, step)


def _check_distinct(columns: Columns) -> None:
    if len(set(columns)) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise ValueError(f"columns must be different, but {twice!r} is there twice: {columns}.")


def indices_of(columns: Columns, names: Sequence[str] | None, dim: int | None) -> tuple[int, ...]:
    """Return the positions, from 0, of columns among ``dim`` columns with ``names``.

    ``names=None`` means that the names are unknown. ``dim=None`` means that the number of columns
    is unknown unless there are names; positions are not checked then. Raises ``ValueError`` for a
    column that does not exist.
    """
    dim = len(names) if dim is None and names is not None else dim
    indices = tuple(_index(column, names, dim) for column in columns)
    _check_distinct(indices)
    return indices


def _index(column: int | str, names: Sequence[str] | None, dim: int | None) -> int:
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"The kernel is on the column {column!r}, but the data have no names of columns. "
                f"Give a data frame whose column names are text (in a pipeline, "
                f"set_output(transform='pandas') keeps them), or the column's position."
            )
        column_names = [str(name) for name in names]
        if column not in column_names:
            near = nearest(column, column_names)
            hint = f" Did you mean {near!r}?" if near else ""
            raise ValueError(
                f"The kernel is on the column {column!r}, which the data do not have.{hint} "
                f"Columns: {', '.join(column_names)}."
            )
        return column_names.index(column)
    if dim is None:
        return column
    if not -dim <= column < dim:
        raise ValueError(
            f"The kernel is on column {column}, but the data have {dim} columns, 0 to {dim - 1}."
        )
    return column % dim


def named_columns(left: Sequence[str] | None, right: Sequence[str] | None) -> Sequence[str] | None:
    """Return the names of the columns of both arguments, or ``None``; they must not differ."""
    if left is not None and right is not None and list(left) != list(right):
        raise ValueError(
            f"X and Y have different columns: {', '.join(left)}, and {', '.join(right)}. Choose "
            f"the same ones in the same order."
        )
    return right if left is None else left


def shown(columns: Columns) -> str:
    """Format columns as in ``kernel.on(...)``; of many the first two and the last."""
    if len(columns) > _MOST_SHOWN:
        return f"[{columns[0]!r}, {columns[1]!r}, ..., {columns[-1]!r}]"
    return repr(columns[0]) if len(columns) == 1 else repr(list(columns))

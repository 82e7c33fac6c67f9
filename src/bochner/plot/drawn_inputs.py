"""Reads input names, learned draws and table columns from models for pictures."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_array
from bochner._base.frames import as_frame, of_arrow
from bochner.files.columns import Column, labels, read_column
from bochner.learned.learned_kernel_fit import LearnedKernelEstimator

_MOST_INPUTS = 6
"""Number of inputs drawn by default, in two rows of panels."""


def input_names(
    model: BaseEstimator, names: Sequence[str] | None, dim: int, X: object = None
) -> list[str]:
    """Return ``names``, or those of the columns at fit, or x0, x1, ..., or raise ValueError."""
    column_names = names
    if names is None and hasattr(model, "encoder_"):
        # The kernel of a table model acts on encoded columns, which have different names.
        column_names = model.encoder_.get_feature_names_out()
    elif names is None:
        column_names = getattr(of_arrow(X), "columns", getattr(model, "feature_names_in_", None))
    if column_names is None:
        return [f"x{i}" for i in range(dim)]
    if len(column_names) != dim:
        raise ValueError(f"names must be one for each of {dim} inputs, got {list(column_names)}.")
    return [str(name) for name in column_names]


def chosen_inputs(inputs: Sequence[int | str] | None, names: Sequence[str]) -> dict[int, str]:
    """Return names by index of inputs chosen by index or name, by default the first six."""
    if inputs is None:
        return dict(enumerate(names[:_MOST_INPUTS]))
    numbers: dict[int | str, int] = {i: i % len(names) for i in range(-len(names), len(names))}
    numbers.update({name: i for i, name in enumerate(names)})
    if not len(inputs) or not numbers.keys() >= {*inputs}:
        raise ValueError(
            f"inputs must be some of {', '.join(names)}, by name or number, got {list(inputs)}."
        )
    return {numbers[item]: names[numbers[item]] for item in inputs}


def per_input(name: str, value: ArrayLike, dim: int) -> Array:
    """Broadcast a scalar or d positive numbers to one per input, or raise ValueError."""
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in {(), (dim,)} or not (np.isfinite(array) & (array > 0.0)).all():
        raise ValueError(
            f"{name} must be a positive number, or one for each of {dim} inputs, got {value!r}."
        )
    return np.broadcast_to(array, (dim,))


def learned_models(model: BaseEstimator) -> list[LearnedKernelEstimator]:
    """Return the submodels with learned draws, or the model itself if it has draws."""
    if isinstance(model, LearnedKernelEstimator):
        return [model]
    parts = getattr(model, "models_", None) or []
    return [part for part in parts if isinstance(part, LearnedKernelEstimator)]


def column_of(model: BaseEstimator, X: Any, column: object) -> Column:
    """Return a table column by name or index, or an array of n values, or raise ValueError."""
    X = as_frame("X", X)
    if not isinstance(column, str | int | np.integer):
        values = read_column("value", column)
        if len(values.raw) != len(X):
            raise ValueError(
                f"column must be a name, a number or one value for each of {len(X)} rows, got "
                f"{len(values.raw)} values."
            )
        return values
    series = series_of(X)
    names = [name for name, _ in series]
    if not hasattr(X, "columns"):
        names = input_names(model, None, len(series))
    if column not in (names if isinstance(column, str) else range(-len(names), len(names))):
        raise ValueError(f"column must be one of {', '.join(names)}, got {column!r}.")
    place = names.index(column) if isinstance(column, str) else int(column)
    return read_column(names[place], series[place][1])


def series_of(table: Any) -> list[tuple[str, Any]]:
    """Return names and entries of the columns of a table; columns of arrays are x0, x1, ..."""
    if not hasattr(table, "columns"):
        return [(f"x{i}", values) for i, values in enumerate(np.asarray(table).T)]
    if hasattr(table, "iloc"):
        return [(str(name), table.iloc[:, i]) for i, name in enumerate(table.columns)]
    return [(str(name), table[name]) for name in table.columns]


def drawn_values(column: Column) -> NDArray[Any]:
    """Return the numbers, local times or levels (n,) of a column."""
    if column.kind == "date":
        times = np.full(len(column.raw), np.datetime64("NaT"), dtype="M8[us]")
        times[column.present] = column.wall_times()
        return times
    if column.kind in ("numeric", "empty"):
        return as_array(column.values)
    return labels(column.raw, column.present)

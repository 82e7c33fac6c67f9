"""Names, columns and learned draws of models for pictures, and the ranges of axes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import skew
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_array
from bochner._base.frames import as_frame, of_arrow
from bochner.files.columns import Column, read_column
from bochner.learned.learned_kernel_fit import LearnedKernelEstimator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Limits = tuple[float, float] | None

_CENTRAL = (0.005, 0.995)
"""Quantiles of the numbers that an axis always includes: the central 99 %."""

_ROOM, _STRETCHED = 0.25, 2.0
"""Margins of an axis, relative to the central range, and the ratio of the full range to that axis
from which extreme numbers are drawn at the edge."""

_DECADES = 1.5
"""Decades that positive numbers span from which a logarithmic axis may spread them better."""

_EDGES = {(-1, 0): "<", (1, 0): ">", (0, -1): "v", (0, 1): "^"}
"""Markers of points beyond the left, right, lower and upper edge."""


def are_skewed(values: NDArray[Any]) -> bool:
    """Return whether a logarithmic axis spreads positive numbers better than a linear one.

    >>> are_skewed(np.exp(np.linspace(0.0, 9.0, 99))), are_skewed(np.linspace(1.0, 99.0, 99))
    (True, False)
    """
    if values.dtype.kind not in "fiu":
        return False
    numbers = values[np.isfinite(values)].astype(np.float64)
    if not len(numbers) or numbers.min() <= 0.0 or np.ptp(np.log10(numbers)) < _DECADES:
        return False
    return bool(skew(numbers) > 1.0 and abs(skew(np.log(numbers))) < 0.5 * skew(numbers))


def central_limits(values: NDArray[Any]) -> Limits:
    """Return limits around the central 99 % if extreme numbers would stretch an axis, else None."""
    if values.dtype.kind not in "fiu":
        return None
    numbers = values[np.isfinite(values)]
    if not len(numbers):
        return None
    low, high = np.quantile(numbers, _CENTRAL).tolist()
    room = _ROOM * (high - low)
    if np.ptp(numbers) <= _STRETCHED * (high - low + 2.0 * room):
        return None
    return max(low - room, float(numbers.min())), min(high + room, float(numbers.max()))


def _sides(x: NDArray[Any], y: Array, limits: tuple[Limits, Limits]) -> NDArray[Any]:
    """Return -1 for rows below the limits, 1 above them and else 0 (2, n), along both axes."""
    parts = [
        np.zeros(len(x)) if ends is None else 1.0 * (values > ends[1]) - (values < ends[0])
        for values, ends in zip((x, y), limits, strict=True)
    ]
    return np.array(parts)


def n_beyond(x: NDArray[Any], y: Array, limits: tuple[Limits, Limits]) -> int:
    """Return the number of rows beyond the limits."""
    return int(_sides(x, y, limits).any(axis=0).sum())


def draw_points(
    axis: "Axes", x: NDArray[Any], y: Array, limits: tuple[Limits, Limits], **style: Any
) -> None:
    """Draw a point for each row, and a triangle at the edge for a row beyond the limits."""
    sides = _sides(x, y, limits)
    inside = ~sides.any(axis=0)
    axis.plot(x[inside], y[inside], "o", **style)
    shown = [
        v if ends is None else np.clip(v, *ends) for v, ends in zip((x, y), limits, strict=True)
    ]
    edge: dict[str, Any] = {"color": style["color"], "ms": 3.0, "mew": 0.0, "clip_on": False}
    sides[0] *= sides[1] == 0  # A corner is above or below
    for side, marker in _EDGES.items():
        rows = np.all(np.array(side) == sides.T, axis=1)
        if rows.any():
            axis.plot(shown[0][rows], shown[1][rows], marker, zorder=3, **edge)
    for ends, name in zip(limits, ("xlim", "ylim"), strict=True):
        if ends is not None:
            axis.set(**{name: ends})


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
            f"{name} must be a positive number, or one for each of {dim} inputs, got {value!r:.60}."
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
        raise ValueError(f"column must be one of {', '.join(names)}, got {column!r:.60}.")
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
    return column.texts()

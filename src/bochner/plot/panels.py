"""Panels of a figure, and checks of what is drawn in them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bochner._numerics.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 4
"""Panels per row: a figure 14 inches wide fits on a screen."""

_MOST_INPUTS = 8
"""Inputs drawn by default: two rows of panels."""

_WIDTH, _HEIGHT = 3.6, 3.2  # inches of a panel, so that four fill a wide screen


def panels(number: int, columns: int = COLUMNS, **options: Any) -> tuple["Figure", list["Axes"]]:
    """Return a figure with some panels, and its axes; options go to ``Figure.subplots``."""
    from matplotlib.figure import Figure

    columns = min(number, columns)
    lines = -(-number // columns)
    size = (_WIDTH * columns, _HEIGHT * lines)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False, **options).ravel().tolist()
    for axis in grid[number:]:
        axis.remove()
    return figure, grid[:number]


def input_names(names: Sequence[str] | None, dim: int) -> list[str]:
    """Return the names of inputs, by default x0, x1, ..., or raise ValueError."""
    if names is None:
        return [f"x{i}" for i in range(dim)]
    if len(names) != dim:
        raise ValueError(f"names must be one for each of {dim} inputs, got {list(names)}.")
    return [str(name) for name in names]


def chosen_inputs(inputs: Sequence[int | str] | None, names: Sequence[str]) -> list[int]:
    """Return the indices of inputs given by index or name, by default the first eight."""
    if inputs is None:
        return list(range(min(len(names), _MOST_INPUTS)))
    known: dict[int | str, int] = {i: i % len(names) for i in range(-len(names), len(names))}
    known.update({name: i for i, name in enumerate(names)})
    unknown = [item for item in inputs if item not in known]
    if unknown or not len(inputs):
        raise ValueError(
            f"inputs must be some of {', '.join(names)}, by name or number, got {list(inputs)}."
        )
    return [known[item] for item in inputs]


def per_input(name: str, value: ArrayLike, dim: int) -> Array:
    """Return one positive number per input, given one or as many, or raise ValueError."""
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in {(), (dim,)} or not (np.isfinite(array) & (array > 0.0)).all():
        raise ValueError(
            f"{name} must be a positive number, or one for each of {dim} inputs, got {value!r}."
        )
    return np.broadcast_to(array, (dim,))


def check_level(level: float) -> None:
    """Raise ``ValueError`` unless a level is between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1, such as 0.9, got {level!r}.")

"""Maps of numbers over two columns, or over two sets of classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner.plot.text_labels import (
    date_ticks,
    finish,
    fitted,
    name_axis,
    name_rows,
    number_ticks,
    panel_points,
    text_width,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = "cividis"
"""Colours of maps of numbers: of even lightness, for colour-blind readers as well."""

_ROW_SHARE = 0.28
"""Share of a picture's width that the names of rows of a map take."""

_COLUMN_POINTS = 48.0
"""Points that the turned names of columns of a map take: ten characters."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Values along one side of a map: numbers, times, or names of levels."""

    name: str
    values: NDArray[Any]

    @property
    def is_text(self) -> bool:
        """Whether these are names."""
        return self.values.dtype.kind not in "fiuM"


def draw_map(axis: "Axes", x: Side, y: Side, values: Array, label: str) -> None:
    """Draw numbers (ny, nx) over the values of both sides, with a bar of their colours."""
    from matplotlib import dates

    number_of: Any = dates.date2num  # It has no types
    places = []
    for side, side_axis in ((x, axis.xaxis), (y, axis.yaxis)):
        if side.values.dtype.kind == "M":
            side_axis.axis_date()
        at = number_of(side.values) if side.values.dtype.kind == "M" else side.values
        places.append(np.arange(len(at)) if side.is_text else at)
    mesh = axis.pcolormesh(*places, values, cmap=COLORS, shading="nearest", rasterized=True)
    axis.grid(visible=False)
    bar = axis.figure.colorbar(mesh, ax=axis, pad=0.02, aspect=25)
    bar.outline.set_visible(False)
    up = panel_points(axis)[1] - (_COLUMN_POINTS if x.is_text else 0.0)
    number_ticks(bar.ax.yaxis, up)
    name_axis(bar.ax.yaxis, label, up)
    finish(axis, x.name, y.name, ticks="")
    _side(axis, x, axis.xaxis, panel_points(axis)[0] * 0.8)
    _side(axis, y, axis.yaxis, up)


def _side(axis: "Axes", side: Side, side_axis: Any, points: float) -> None:
    if side.is_text:
        names = [str(value) for value in side.values]
        if side_axis is axis.xaxis:
            name_columns(axis, names)
        else:
            name_rows(axis, names, _ROW_SHARE)
            axis.set_ylim(-0.5, len(names) - 0.5)
    elif side.values.dtype.kind == "M":
        date_ticks(side_axis, side.values, points, side.name)
    else:
        number_ticks(side_axis, points)


def name_columns(axis: "Axes", names: Sequence[str], points: float | None = None) -> None:
    """Name columns below them, turned if they do not fit side by side."""
    across = panel_points(axis)[0] if points is None else points
    each = across / max(len(names), 1)
    shown = [fitted(name, _COLUMN_POINTS) for name in names]
    is_turned = max(map(text_width, shown), default=0.0) > 0.85 * each
    axis.set_xticks(range(len(names)), shown, rotation=90.0 if is_turned else 0.0, parse_math=False)
    axis.tick_params(axis="x", length=0.0)

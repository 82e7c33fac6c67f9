"""Curves and maps of results, one panel per data set or method."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = 4
"""Panels per row."""

_MOST_INSIDE = 6
"""Most curves whose legend fits into a panel."""

_FEW = 8
"""Most points of a curve that get markers, and most abscissae that get ticks of their own."""


def curves_figure(
    values: Mapping[tuple[Any, ...], float],
    *,
    xlabel: str,
    ylabel: str,
    scales: tuple[str, str] = ("log", "log"),
    lowest: float | None = None,
) -> "Figure":
    """Return curves, at most four panels per row.

    Parameters
    ----------
    values : mapping from (panel, curve, x) to y
    xlabel, ylabel : str
    scales : tuple of two str, default=("log", "log")
        Scales of the horizontal and the vertical axis.
    lowest : float or None, default=None
        Lower end of the vertical axis if curves fall below it.
    """
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(key[0] for key in values))
    curves = list(dict.fromkeys(key[1] for key in values))
    columns = min(len(panels), _COLUMNS)
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(3.4 * columns, 3.2 * lines), layout="constrained")
    grid = figure.subplots(lines, columns, sharey=True, squeeze=False).ravel()
    for axis, panel in zip(grid, panels, strict=False):
        for number, curve in enumerate(curves):
            points = [(key[2], y) for key, y in values.items() if key[:2] == (panel, curve)]
            if points:
                style = {"color": f"C{number % 10}", "ls": "-" if number < 10 else "--"}
                marker = "o" if len(points) <= _FEW else None
                axis.plot(
                    *zip(*points, strict=True), marker=marker, markersize=3, label=curve, **style
                )
        axis.set(title=str(panel), xlabel=xlabel, xscale=scales[0], yscale=scales[1])
        places = sorted({key[2] for key in values if key[0] == panel})
        if len(places) <= _FEW:
            axis.set_xticks(places, [f"{place:g}" for place in places])
            axis.set_xticks([], minor=True)
        axis.grid(alpha=0.3, which="both")
    for axis in grid[len(panels) :]:
        axis.remove()
    if lowest is not None and min(values.values()) < lowest:
        grid[0].set_ylim(bottom=lowest)
    for axis in grid[::columns]:
        axis.set_ylabel(ylabel)
    if len(curves) <= _MOST_INSIDE:
        grid[0].legend(frameon=False, fontsize="small")
    else:
        figure.legend(*_handles(figure, curves), frameon=False, loc="outside right upper")
    return figure


def fields_figure(
    values: Mapping[tuple[Any, float, float], float],
    *,
    xlabel: str,
    ylabel: str,
    label: str,
    limits: tuple[float, float],
) -> "Figure":
    """Return maps of values in the plane, one panel each, with one colour scale.

    Parameters
    ----------
    values : mapping from (panel, x, y) to a number
        Values on a grid in every panel.
    xlabel, ylabel, label : str
        Labels of the axes and of the colour scale.
    limits : tuple of two float
        Ends of the colour scale.

    Raises
    ------
    ValueError
        If a panel lacks a point of its grid.
    """
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(key[0] for key in values))
    figure = Figure(figsize=(3.2 * len(panels) + 0.8, 3.2), layout="constrained")
    axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    for axis, panel in zip(axes, panels, strict=True):
        own = {key[1:]: value for key, value in values.items() if key[0] == panel}
        xs, ys = (sorted({place[i] for place in own}) for i in (0, 1))
        if len(own) != len(xs) * len(ys):
            raise ValueError(
                f"{panel!r} must have a value at each of {len(xs)} x {len(ys)} places, "
                f"got {len(own)}."
            )
        grid = np.array([[own[x, y] for x in xs] for y in ys])
        mesh = axis.pcolormesh(
            xs, ys, grid, cmap="PuOr_r", vmin=limits[0], vmax=limits[1], rasterized=True
        )
        axis.set(title=str(panel), xlabel=xlabel, aspect="equal")
    axes[0].set_ylabel(ylabel)
    figure.colorbar(mesh, ax=axes, label=label)
    return figure


def _handles(figure: "Figure", curves: list[Any]) -> tuple[list[Any], list[str]]:
    """Return one line for each curve, from any panel, and the labels."""
    drawn = {line.get_label(): line for axis in figure.axes for line in axis.lines}
    return [drawn[str(curve)] for curve in curves], [str(curve) for curve in curves]

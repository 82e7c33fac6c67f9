"""Curves of a metric against a setting, one panel a data set."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = 4
_INSIDE = 6
_FEW = 8


def curves_figure(
    values: Mapping[tuple[Any, ...], float],
    *,
    xlabel: str,
    ylabel: str,
    scales: tuple[str, str] = ("log", "log"),
    lowest: float | None = None,
) -> "Figure":
    """Return curves, at most four panels a row.

    Parameters
    ----------
    values : mapping from (panel, curve, x) to y
    xlabel, ylabel : str
    scales : tuple of two str, default=("log", "log")
        Of the abscissa and the ordinate.
    lowest : float or None, default=None
        Where pictures end below, if curves go on.
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
    if len(curves) <= _INSIDE:
        grid[0].legend(frameon=False, fontsize="small")
    else:
        figure.legend(*_handles(figure, curves), frameon=False, loc="outside right upper")
    return figure


def _handles(figure: "Figure", curves: list[Any]) -> tuple[list[Any], list[str]]:
    """Return one line for each curve, of whichever panel has it, and the labels."""
    drawn = {line.get_label(): line for axis in figure.axes for line in axis.lines}
    return [drawn[str(curve)] for curve in curves], [str(curve) for curve in curves]

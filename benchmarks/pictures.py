"""Pictures of tidy results: curves in panels, and fields in the plane."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.results import Row
from bochner.plot.panels import COLUMNS, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINEAR = ("linear", "linear")
SEMILOG = ("log", "linear")
LOG = ("log", "log")

_MOST_INSIDE = 6
"""Most curves whose legend fits into a panel."""

_FEW = 8
"""Most points of a curve that get markers, and most abscissae that get ticks of their own."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Panels of curves, or of fields if ``color`` names what colours mean.

    ``values`` maps a part's rows to ordinates by panel, curve and abscissa (to colours by panel,
    abscissa and ordinate); an empty mapping means that there is nothing to draw. ``lowest`` is the
    lower limit of the ordinate, ``color`` the label of the colour bar of values from 0 to 1.
    """

    name: str
    caption: str
    xlabel: str
    ylabel: str
    values: Callable[[Sequence[Row]], Mapping[Any, float]]
    scales: tuple[str, str] = LOG
    lowest: float | None = None
    color: str | None = None

    def draw(self, values: Mapping[Any, float]) -> "Figure":
        """Return the figure of what ``values`` has returned."""
        labels = {"xlabel": self.xlabel, "ylabel": self.ylabel}
        if self.color is not None:
            return fields_figure(values, label=self.color, limits=(0.0, 1.0), **labels)
        return curves_figure(values, scales=self.scales, lowest=self.lowest, **labels)


def curves_figure(
    values: Mapping[tuple[Any, ...], float],
    *,
    xlabel: str,
    ylabel: str,
    scales: tuple[str, str] = LOG,
    lowest: float | None = None,
) -> "Figure":
    """Return curves given as (panel, curve, x) to y, at most four panels per row.

    The vertical axis starts at ``lowest`` if curves fall below it.
    """
    titles = list(dict.fromkeys(key[0] for key in values))
    curves = list(dict.fromkeys(key[1] for key in values))
    figure, axes = panels(len(titles), sharey=True)
    for axis, title in zip(axes, titles, strict=True):
        for number, curve in enumerate(curves):
            points = [(key[2], y) for key, y in values.items() if key[:2] == (title, curve)]
            if points:
                style: dict[str, Any] = {
                    "color": f"C{number % 10}",
                    "ls": "-" if number < 10 else "--",
                }
                marker = "o" if len(points) <= _FEW else None
                axis.plot(*zip(*points, strict=True), marker=marker, ms=3, label=curve, **style)
        axis.set(title=str(title), xlabel=xlabel, xscale=scales[0], yscale=scales[1])
        places = sorted({key[2] for key in values if key[0] == title})
        if len(places) <= _FEW:
            axis.set_xticks(places, [f"{place:g}" for place in places])
            axis.set_xticks([], minor=True)
        axis.grid(alpha=0.3, which="both")
    if lowest is not None and min(values.values()) < lowest:
        axes[0].set_ylim(bottom=lowest)
    for axis in axes[::COLUMNS]:
        axis.set_ylabel(ylabel)
    if len(curves) <= _MOST_INSIDE:
        axes[0].legend(frameon=False, fontsize="small")
    else:
        # One line of each curve, from any panel that has it.
        drawn = {line.get_label(): line for axis in axes for line in axis.lines}
        labels = [str(curve) for curve in curves]
        handles = [drawn[label] for label in labels]
        figure.legend(handles, labels, frameon=False, loc="outside right upper")
    return figure


def fields_figure(
    values: Mapping[tuple[Any, float, float], float],
    *,
    xlabel: str,
    ylabel: str,
    label: str,
    limits: tuple[float, float],
) -> "Figure":
    """Return maps of values given as (panel, x, y) to a number, with one colour scale.

    Raises ValueError if a panel lacks a point of its grid.
    """
    titles = list(dict.fromkeys(key[0] for key in values))
    figure, axes = panels(len(titles), len(titles), sharex=True, sharey=True)
    for axis, panel in zip(axes, titles, strict=True):
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

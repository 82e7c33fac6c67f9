"""A value in the plane as colour, one panel a method."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def fields_figure(
    values: Mapping[tuple[Any, float, float], float],
    *,
    xlabel: str,
    ylabel: str,
    label: str,
    limits: tuple[float, float],
) -> "Figure":
    """Return panels side by side, on one scale of colours.

    Parameters
    ----------
    values : mapping from (panel, x, y) to a number
        On a grid in every panel.
    xlabel, ylabel, label : str
        Of the plane, and of the scale of colours.
    limits : tuple of two float
        Ends of the scale.

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

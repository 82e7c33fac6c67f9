"""Curves of a metric against a setting, one panel a data set."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def curves_figure(values: Mapping[tuple[Any, ...], float], *, xlabel: str, ylabel: str) -> "Figure":
    """Return log-log curves.

    Parameters
    ----------
    values : mapping from (panel, curve, x) to y
    xlabel, ylabel : str
    """
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(key[0] for key in values))
    figure = Figure(figsize=(3.4 * len(panels), 3.2), layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axis, panel in zip(axes, panels, strict=True):
        for curve in dict.fromkeys(key[1] for key in values if key[0] == panel):
            points = [(key[2], y) for key, y in values.items() if key[:2] == (panel, curve)]
            axis.loglog(*zip(*points, strict=True), marker="o", markersize=3, label=curve)
        axis.set_title(str(panel))
        axis.set_xlabel(xlabel)
        axis.grid(alpha=0.3, which="both")
    axes[0].set_ylabel(ylabel)
    axes[0].legend(frameon=False, fontsize="small")
    return figure

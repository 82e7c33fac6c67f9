"""Components of forecasts: trend, seasons, cycles and remainder, with their bands."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_level
from bochner.plot.display import Display, PanelLayout
from bochner.plot.series_times import forecast_times
from bochner.plot.style import BAND, FULL_WIDTH, MODEL, SMALL, Theme
from bochner.plot.text_labels import date_ticks, finish, fitted, panel_points, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEIGHT = 1.2
"""Inches of a panel with its title."""

_LEFT = 40.0
"""Points of the ticks next to a panel, beside which its title is."""

_GAP, _USUAL = 3.0, 0.9
"""Steps between times from which they are a gap, in units of their quantile of this level: at times
that are random, one step of a thousand is as long."""

_LAST = 0.3
"""Inches for the ticks and the label below the last panel."""


@dataclass(frozen=True, slots=True, eq=False)
class ComponentsDisplay(Display):
    """Components of a forecast along time, one panel each.

    :func:`bochner.plot.components` returns it, and has an example.

    Parameters
    ----------
    names : sequence of J str
    times : ndarray of shape (n,)
        Numbers or ``datetime64``, in order.
    means, lower, upper : ndarray of shape (J, n)
        Components and the ends of their intervals.
    xlabel : str
    """

    names: Sequence[str]
    times: NDArray[Any]
    means: Array
    lower: Array
    upper: Array
    xlabel: str = "time"

    def describe(self) -> str:
        return f"Components of a forecast for {len(self.times)} times: {', '.join(self.names)}."

    def _layout(self) -> PanelLayout:
        count = len(self.names)
        return PanelLayout(count, _HEIGHT * count + _LAST, FULL_WIDTH, columns=1, sharex=True)

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        for number, (axis, name) in enumerate(zip(axes, self.names, strict=True)):
            parts = np.stack([self.means[number], self.lower[number], self.upper[number]])
            times, (mean, lower, upper) = _with_gaps(self.times, parts)
            axis.plot(times, mean, color=MODEL, lw=0.8)
            axis.fill_between(times, lower, upper, color=MODEL, alpha=BAND, lw=0)
            axis.margins(x=0.01)
            label = self.xlabel if number == len(axes) - 1 else ""
            shown = fitted(name, width_of(axis) - _LEFT)
            # Next to the panel, there is no room for "cycle of 14.2 days (log)".
            axis.set_title(shown, loc="left", fontsize=SMALL, parse_math=False)
            if self.times.dtype.kind != "M":
                finish(axis, label, "")
                continue
            finish(axis, label, "", ticks="y")
            times = self.times.astype("M8[us]")
            date_ticks(axis.xaxis, times, panel_points(axis)[0], label)


def _with_gaps(times: NDArray[np.generic], values: Array) -> tuple[NDArray[Any], Array]:
    """Return times and values (3, n) with missing values in gaps, over which no line is drawn."""
    if len(times) < 3:
        return times, values
    steps = np.diff(times).astype(np.float64)
    after = np.flatnonzero(steps > _GAP * np.quantile(steps, _USUAL)) + 1
    return np.insert(times, after, times[after]), np.insert(values, after, np.nan, axis=1)


def components(
    model: BaseEstimator,
    times: ArrayLike,
    X: object = None,
    *,
    names: Sequence[str] | None = None,
    level: float = 0.9,
    xlabel: str = "time",
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> ComponentsDisplay:
    """Draw the components of a forecast, with intervals of each.

    Parameters
    ----------
    model : fitted Forecaster
        A model of a single series.
    times : int or array-like of shape (n,)
        Number of steps after the series, or times of the series, later ones, or both.
    X : array-like of shape (n, d), default=None
        Known inputs at these times, if the model has inputs.
    names : sequence of str, default=None
        Components to draw; ``None`` means all.
    level : float, default=0.9
        Nominal level of the intervals.
    xlabel : str, default="time"
    ax : sequence of matplotlib.axes.Axes, default=None
        Axes to draw on, one for each component; ``None`` means a new figure.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    display : ComponentsDisplay

    Raises
    ------
    TypeError
        If the model has no components.
    ValueError
        If a name is not the name of a component, or a level is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import Forecaster, plot
    >>> t = np.arange(60.0)
    >>> y = np.sin(np.pi * t / 6.0) + 0.1 * np.random.default_rng(0).normal(size=60)
    >>> display = plot.components(Forecaster(random_state=0).fit(y), np.arange(72.0))
    >>> display.names
    ['trend', '12 steps', 'remainder']
    """
    display = component_display(model, times, X, names=names, level=level, xlabel=xlabel)
    return display.plot(ax, theme=theme)


def component_display(
    model: BaseEstimator,
    times: ArrayLike,
    X: object = None,
    *,
    names: Sequence[str] | None = None,
    level: float = 0.9,
    xlabel: str = "time",
) -> ComponentsDisplay:
    """Return the picture of the components of a forecast, not yet drawn, see `components`."""
    as_level(level)
    if not hasattr(model, "components"):
        raise TypeError(
            f"components takes a fitted Forecaster, got {type(model).__name__}, which has no "
            "components."
        )
    at = forecast_times(model, times)
    order = np.argsort(at, kind="stable")
    component_values = {
        name: values[order] for name, values in _arrays(model.components(times, X, level=level))
    }
    chosen = list(component_values) if names is None else list(names)
    for name in chosen:
        if name not in component_values:
            raise ValueError(
                f"There is no component {name!r}: choose from {list(component_values)}."
            )
    means, lower, upper = (
        np.stack([component_values[name][:, part] for name in chosen]) for part in range(3)
    )
    scale = getattr(model, "transformation_", "none")
    if isinstance(scale, str) and scale not in ("none", "floor"):
        chosen = [f"{name} ({scale})" for name in chosen]
    return ComponentsDisplay(chosen, at[order], means, lower, upper, xlabel)


def _arrays(components: Any) -> Iterator[tuple[str, Array]]:
    """Yield names and values (n, 3) of components, which are a mapping or a data frame."""
    names = dict.fromkeys(name for name, _ in components) if hasattr(components, "iloc") else None
    for name in components if names is None else names:
        yield name, np.asarray(components[name])

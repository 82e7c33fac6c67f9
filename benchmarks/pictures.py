"""Pictures of tidy results: curves in panels, with bands, and fields in the plane."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.looks import LOOKS
from benchmarks.results import Row
from bochner.plot.axis_texts import (
    finish,
    legend,
    panel_points,
    text_width,
    width_of,
)
from bochner.plot.display import PanelLayout, new_axes
from bochner.plot.style import BAND, FONT, Look, looks_of, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

LINEAR = ("linear", "linear")
SEMILOG = ("log", "linear")
LOG = ("log", "log")

_FEW = 10
"""Most points of a curve that get markers, and most abscissae that get ticks of their own."""

_MOST_CURVES = 6
"""Most curves of a panel: more cannot be told apart."""

_TITLE = 0.75
"""Share of the width of a panel's place that a line of its title may take."""

_SOLID, _DASHED = 2.0, 2.5
"""Order in which curves are drawn, that of matplotlib's lines and above them."""

_POWERS = 4
"""Powers of ten, from one on, that a scale with zero marks: masses reach fifty."""

_GAP = 9.0
"""Points between the texts of two ticks: more than the width of a letter."""

_COLUMNS = (4, 3)
"""Panels next to each other, the first number that divides their count, or else the last."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Panels of curves, or of fields if ``color`` names what colours mean.

    ``values`` maps a part's rows to ordinates by panel, curve and abscissa (to colours by panel,
    abscissa and ordinate); an empty mapping means that there is nothing to draw. ``bands`` names
    two curves that are ends of a band, by its name and by the curve whose colour it has. ``lowest``
    is the lower limit of the ordinate, ``color`` the label of the colour bar of values from 0 to 1.
    """

    name: str
    caption: str
    xlabel: str
    ylabel: str
    values: Callable[[Sequence[Row]], Mapping[Any, float]]
    scales: tuple[str, str] = LOG
    lowest: float | None = None
    color: str | None = None
    bands: Mapping[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def draw(self, values: Mapping[Any, float]) -> "Figure":
        """Return the figure of what ``values`` has returned."""
        options: dict[str, Any] = {"xlabel": self.xlabel, "ylabel": self.ylabel}
        if self.color is not None:
            figure = fields_figure(values, label=self.color, limits=(0.0, 1.0), **options)
        else:
            options |= {"scales": self.scales, "lowest": self.lowest, "bands": self.bands}
            figure = curves_figure(values, **options)
        figure.set_label(self.caption)  # What an SVG says to readers who do not see it
        return figure


def curves_figure(
    values: Mapping[tuple[Any, ...], float],
    *,
    xlabel: str,
    ylabel: str,
    scales: tuple[str, str] = LOG,
    lowest: float | None = None,
    bands: Mapping[tuple[str, str], tuple[str, str]] | None = None,
) -> "Figure":
    """Return curves given as (panel, curve, x) to y.

    The vertical axis starts at ``lowest`` if curves fall below it. Every method has its own look,
    see ``benchmarks.looks``; panels have titles if there are several.
    """
    titles = list(dict.fromkeys(key[0] for key in values))
    ends = {curve for pair in (bands or {}).values() for curve in pair}
    names = [str(name) for name in dict.fromkeys(key[1] for key in values) if name not in ends]
    looks = dict(zip(names, looks_of(names, LOOKS), strict=True))
    _check_counts(values, ends)
    with styled():
        figure, axes = new_axes(_layout(len(titles)))
        handles: dict[str, Any] = {}
        for axis, title in zip(axes, titles, strict=True):
            panel_values = {key[1:]: y for key, y in values.items() if key[0] == title}
            axis.set(xscale=scales[0], yscale=scales[1])
            handles |= _curves(axis, panel_values, looks) | _bands(
                axis, panel_values, looks, bands or {}
            )
        _name(axes, list(map(str, titles)))
        if lowest is not None and min(values.values()) < lowest:
            axes[0].set_ylim(bottom=lowest)
        _finish(axes, values, xlabel, ylabel)
        shown = [name for name in [*names, *handles] if name in handles]
        shown = list(dict.fromkeys(shown))
        if len(shown) > 1:
            legend(axes, [handles[name] for name in shown], shown)
    return figure


def _check_counts(values: Mapping[tuple[Any, ...], float], ends: Collection[str]) -> None:
    curves: dict[Any, set[Any]] = {}
    for panel, curve, _ in values:
        if curve not in ends:
            curves.setdefault(panel, set()).add(curve)
    for panel, names in curves.items():
        if len(names) > _MOST_CURVES:
            raise ValueError(
                f"The panel {panel!r} has {len(names)} curves: expected at most {_MOST_CURVES}, "
                f"got {', '.join(sorted(map(str, names)))}. Make two pictures of them."
            )


def _name(axes: "Sequence[Axes]", titles: Sequence[str]) -> None:
    """Set the titles of panels, in two lines if one of them is too long for one."""
    are_long = any(text_width(title, FONT) > _TITLE * width_of(axes[0]) for title in titles)
    for axis, title in zip(axes, titles, strict=True):
        first, _, last_part = title.rpartition(", ")
        axis.set_title(f"{first}\n{last_part}" if are_long and first else title)


def _layout(count: int) -> PanelLayout:
    columns = next((n for n in _COLUMNS if count % n == 0), _COLUMNS[-1])
    return PanelLayout(count, columns=columns, sharey=True)


def _curves(axis: "Axes", values: Mapping[Any, float], looks: Mapping[str, Look]) -> dict[str, Any]:
    """Draw the curves that have a look, and return a handle for each."""
    handles: dict[str, Any] = {}
    for name, look in looks.items():
        points = [(x, y) for (curve, x), y in values.items() if str(curve) == name]
        if points:
            style = look.line() if len(points) <= _FEW else look.line() | {"marker": ""}
            # Where curves coincide, the lower one shows between the dashes of the upper one.
            style["zorder"] = _SOLID if look.dashes == "-" else _DASHED
            handles |= {name: axis.plot(*zip(*points, strict=True), label=name, **style)[0]}
    return handles


def _bands(
    axis: "Axes",
    values: Mapping[Any, float],
    looks: Mapping[str, Look],
    bands: Mapping[tuple[str, str], tuple[str, str]],
) -> dict[str, Any]:
    """Draw the bands between pairs of curves, and return a handle for each."""
    handles = {}
    for (name, of), pair in bands.items():
        ends = [sorted((x, y) for (curve, x), y in values.items() if curve == end) for end in pair]
        if all(ends):
            x, lower, upper = ([p[0] for p in ends[0]], *([p[1] for p in end] for end in ends))
            color = looks[of].color
            handles[name] = axis.fill_between(x, lower, upper, color=color, alpha=BAND, lw=0)
    return handles


def _finish(axes: "Sequence[Axes]", values: Mapping[Any, float], xlabel: str, ylabel: str) -> None:
    """Label axes and ticks: at the abscissae themselves, if these are few."""
    places = sorted({key[2] for key in values})
    for axis in axes:
        spec = axis.get_subplotspec()
        is_first = spec is None or spec.is_first_col()
        few = len(places) <= _FEW
        plain = "" if axis.get_yscale() == "symlog" else "y"
        finish(axis, xlabel, ylabel if is_first else "", ticks=plain if few else f"x{plain}")
        if not plain:
            _symmetric_ticks(axis)
        if few:
            place_ticks(axis.xaxis, places, 0.95 * panel_points(axis)[0])


def _symmetric_ticks(axis: "Axes") -> None:
    """Mark zero and the powers of ten of a scale that is linear near zero."""
    low, high = axis.get_ylim()
    powers = [10.0**power for power in range(_POWERS)]
    places = [*(-place for place in powers), 0.0, *powers]
    shown = [place for place in places if low <= place <= high]
    axis.set_yticks(shown, [f"{place:g}" for place in shown])
    axis.set_yticks([], minor=True)


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
    with styled():
        figure, axes = new_axes(PanelLayout(len(titles), sharex=True, sharey=True))
        for axis, panel in zip(axes, titles, strict=True):
            panel_values = {key[1:]: value for key, value in values.items() if key[0] == panel}
            xs, ys = (sorted({place[i] for place in panel_values}) for i in (0, 1))
            if len(panel_values) != len(xs) * len(ys):
                raise ValueError(
                    f"{panel!r} must have a value at each of {len(xs)} x {len(ys)} places, "
                    f"got {len(panel_values)}."
                )
            grid = np.array([[panel_values[x, y] for x in xs] for y in ys])
            mesh = axis.pcolormesh(
                xs, ys, grid, cmap="PuOr_r", vmin=limits[0], vmax=limits[1], rasterized=True
            )
            axis.grid(visible=False)
            axis.set(title=str(panel), aspect="equal")
            finish(axis, xlabel, ylabel if axis is axes[0] else "")
        bar = figure.colorbar(mesh, ax=axes, label=label, aspect=25)
        bar.outline.set_visible(False)
    return figure


def place_ticks(axis: "Axis", places: Sequence[float], points: float) -> None:
    """Set ticks at sorted places; the last tick, and others as far as they fit, have texts."""
    low, high = axis.get_transform().transform(sorted(axis.get_view_interval()))
    at = points * (axis.get_transform().transform(np.asarray(places)) - low) / (high - low)
    texts = [f"{place:,.5g}" for place in places]
    room = np.array([text_width(text) + _GAP for text in texts])
    for step in range(1, len(texts) + 1):
        labelled = slice((len(texts) - 1) % step, None, step)
        if (np.diff(at[labelled]) >= 0.5 * (room[labelled][1:] + room[labelled][:-1])).all():
            break
    shown = [""] * len(texts)
    shown[labelled] = texts[labelled]
    axis.set_ticks(list(places), shown)
    axis.set_ticks([], minor=True)

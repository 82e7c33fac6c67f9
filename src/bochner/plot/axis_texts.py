"""Places texts in pictures: shortened names, ticks and legends."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner._base.arrays import Array, as_array
from bochner._base.number_texts import number
from bochner.plot.style import FONT, SMALL, WIDTH, any_script

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_POINTS = 72.0
"""Points per inch."""

_NAME_SHARE = 0.42
"""Largest share of a picture's width for row names on its left."""

COLUMN_POINTS = 48.0
"""Largest length in points of the names of columns, about ten characters."""

_TICK_POINTS = 34.0
"""Smallest distance of ticks in points: a label of six characters and a gap."""

_FEWEST_TICKS, _MOST_TICKS = 2, 6
"""Smallest and largest number of intervals between ticks."""

_PLAIN, _BILLION = 1e5, 1e9
"""Largest absolute values of an axis from which ticks have the SI prefixes k and M, and from which
they have a common power of ten, because few readers know G."""

_SMALL_SHARE = 0.1
"""Upper end of an axis of shares below which ticks have a decimal."""

_LINE = 1.2
"""Line height in units of the font size."""

_LEGEND_LINE = 1.3 * SMALL
"""Height of a legend's line in points, including the gap to the next line."""

_MOST_LONG = 12  # Largest number of rows with room for long names in two lines
_FEWEST_ROWS = 2
"""Smallest number of rows for which a bar chart has room, because its axis needs that height."""

_LEFT, _BELOW, _MARGIN = 40.0, 36.0, 12.0
"""Space in points: labels and ticks on the left of a panel, labels and ticks below it, and the
margins on both sides of a panel with row names."""

_HANDLE = 1.8 + 0.5 + 1.4
"""Width of a legend entry's handle and gaps, in units of the font size."""

_HEAD = 0.6
"""Share of a shortened name's characters taken from its beginning; the rest come from its end."""

_TIMES = " × "
"""Separator between the two names of a pair of columns."""

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML forbids, and that names from files may contain."""


def drawable(text: str) -> str:
    """Replace characters that XML forbids by the replacement character."""
    return _NOT_XML.sub("\ufffd", text)


@lru_cache(maxsize=4096)
def text_width(text: str, size: float = SMALL) -> float:
    """Return the width of a text in points, as one line."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    text = drawable(text).replace("\n", " ")
    with any_script():
        font = FontProperties(size=size)
        return float(text_to_path.get_text_width_height_descent(text, font, False)[0])


def fitted(text: str, points: float, size: float = SMALL) -> str:
    """Return a text on one line, shortened in the middle if it is wider than ``points``.

    >>> fitted("temperature of the third sensor", 60.0)
    'temperat…ensor'
    """
    text = drawable(" ".join(text.split()))
    if text_width(text, size) <= points:
        return text
    if _TIMES in text:  # Shorten both names of a pair
        first, _, second = text.partition(_TIMES)
        points_of_names = points - text_width(_TIMES, size)
        half = max(0.5 * points_of_names, points_of_names - text_width(second, size))
        cut = fitted(first, half, size)
        pair = f"{cut}{_TIMES}{fitted(second, points_of_names - text_width(cut, size), size)}"
        if text_width(pair, size) <= points:
            return pair
    for n_letters in range(len(text) - 1, 1, -1):
        head = max(1, round(_HEAD * n_letters))
        cut = f"{text[:head].rstrip()}…{text[len(text) - (n_letters - head) :].lstrip()}"
        if text_width(cut, size) <= points:
            return cut
    return f"{text[:1]}…"


def width_of(axis: "Axes") -> float:
    """Return the width of a panel's grid cell in points, labels and ticks included."""
    return float(_cell_points(axis)[0])


def _cell_points(axis: "Axes") -> Array:
    """Return the width and height in points that a figure reserves for a panel before layout."""
    shares, spec = list(axis.get_position(original=True).size), axis.get_subplotspec()
    if spec is not None:
        grid = spec.get_gridspec()
        sides = (grid.get_width_ratios(), spec.colspan), (grid.get_height_ratios(), spec.rowspan)
        shares = [np.sum(np.take(ratios, cells)) / np.sum(ratios) for ratios, cells in sides]
    return as_array(_POINTS * axis.figure.figure.get_size_inches() * shares)


def _halves(name: str) -> list[str]:
    """Return both parts of a name divided near its middle, or the name if it has no space."""
    breaks = [match.end() for match in re.finditer(r"[ _-](?=\w)", name)]
    place = min(breaks, key=lambda i: abs(2 * i - len(name)), default=0)
    return [name[:place], name[place:]] if place else [name]


def name_axis(axis: "Axis", name: str, points: float) -> None:
    """Label an axis with a name shortened to a width in points, or in two lines along y."""
    name = name.replace("\n", "")  # A label that is placed again
    lines, text = _halves(name), fitted(name, points, FONT)
    longest = max(text_width(line, FONT) for line in lines)
    # Rotated labels only: maps of texts have no room for a second line below.
    if axis is axis.axes.yaxis and text_width(name, FONT) > points >= 1.3 * longest:
        text = drawable("\n".join(lines))
    axis.set_label_text(text, parse_math=False, fontsize=FONT)


def finish(
    axis: "Axes", xlabel: str, ylabel: str, ticks: str = "xy", *, are_dates: bool = False
) -> None:
    """Label the axes of a panel and set ticks on the axes named in ``ticks``, or dates along x."""
    across, up = panel_points(axis)
    name_axis(axis.xaxis, xlabel, across)
    name_axis(axis.yaxis, ylabel, up)
    if are_dates:
        date_ticks(axis.xaxis, across, xlabel)
    elif "x" in ticks:
        number_ticks(axis.xaxis, across)
    if "y" in ticks:
        number_ticks(axis.yaxis, 1.6 * up)  # Tick labels are about half as high as wide


def panel_points(axis: "Axes") -> tuple[float, float]:
    """Return the lengths in points available for labels and ticks along both axes of a panel."""
    width, height = _cell_points(axis).tolist()
    # Labels and ticks of the other axis take about a fifth of a panel's grid cell, or more if the
    # ticks are names.
    return min(0.8 * width, width - _names_width(axis) - _MARGIN), height - _BELOW


def _names_width(axis: "Axes") -> float:
    """Return the width in points of row names, or zero for an axis with numeric ticks."""
    from matplotlib.ticker import FixedLocator

    if not isinstance(axis.yaxis.get_major_locator(), FixedLocator):
        return 0.0
    return max((text_width(text.get_text()) for text in axis.get_yticklabels()), default=0.0)


def name_rows(axis: "Axes", names: Sequence[str], share: float = _NAME_SHARE) -> None:
    """Label the rows of bars or points with names, the first row on top."""
    points = share * width_of(axis)
    # Axes passed by the user may have no room for all names.
    step = int(np.ceil(len(names) * _LINE * SMALL / panel_points(axis)[1]))
    # Long names are in two lines if there is room.
    n_lines = panel_points(axis)[1] / (_LINE * SMALL * max(len(names), _FEWEST_ROWS))
    shown = [
        "\n".join(fitted(part, points) for part in _halves(name))
        if n_lines >= 2.0 and text_width(name) > points
        else fitted(name, points)
        for name in names[::step]
    ]
    axis.set_yticks(range(0, len(names), step), shown, parse_math=False)
    axis.set_ylim(max(len(names), _FEWEST_ROWS) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0.0)
    axis.grid(visible=False, axis="y")


def name_columns(
    axis: "Axes", names: Sequence[str], points: float, longest: float = COLUMN_POINTS
) -> None:
    """Label columns with names of at most ``longest`` points, rotated if there is no room."""
    turned = 90.0 if columns_height(names, points, longest) else 0.0
    step = int(np.ceil(len(names) * _LINE * SMALL / points)) if turned else 1
    shown = [fitted(name, longest) for name in names[::step]]
    axis.set_xticks(range(0, len(names), step), shown, rotation=turned, parse_math=False)
    axis.tick_params(axis="x", length=0.0)


def columns_height(names: Sequence[str], points: float, longest: float) -> float:
    """Return the height in inches of rotated names of columns; zero if they have room."""
    widest = max((min(text_width(name), longest) for name in names), default=0.0)
    return widest / _POINTS if widest > 0.85 * points / max(len(names), 1) else 0.0


def rows_height(count: int, names: Sequence[str] = ()) -> float:
    """Return the height in inches of a picture with ``count`` named rows."""
    # A line has seven points, and a gap of more than half a line.
    longest = max(map(text_width, names), default=0.0)
    line = 0.27 if longest > _NAME_SHARE * WIDTH * _POINTS and count <= _MOST_LONG else 0.17
    return 0.65 + line * max(count, _FEWEST_ROWS)


def number_ticks(axis: "Axis", points: float) -> None:
    """Set as many ticks as fit into a length in points on a numeric axis with fixed limits."""
    from matplotlib import ticker

    places: ticker.Locator = ticker.MaxNLocator(
        _count(points), steps=[1, 2, 2.5, 5, 10], min_n_ticks=2
    )
    texts: ticker.Formatter
    low, high = np.sort(axis.get_view_interval())
    if axis.get_scale() == "log":
        factors = (1.0,) if high > 100.0 * low else (1.0, 2.0, 5.0)
        if high > 10.0 * low:
            places = ticker.LogLocator(subs=factors, numticks=_count(points))
        texts = ticker.FuncFormatter(lambda value, _: number(value, 3))
        axis.set_minor_locator(ticker.NullLocator())
    elif _PLAIN <= max(-low, high) < _BILLION:
        texts = ticker.EngFormatter(sep="")
    else:
        texts = ticker.ScalarFormatter(useOffset=False)
    axis.set_major_locator(places)
    axis.set_major_formatter(texts)


def _count(points: float) -> int:
    return int(np.clip(points / _TICK_POINTS, _FEWEST_TICKS, _MOST_TICKS))


def percent_ticks(axis: "Axes", top: float = 1.0) -> None:
    """Set ticks in per cent on both axes of shares from zero to ``top``, at quarters up to one."""
    from matplotlib.ticker import MaxNLocator, MultipleLocator, PercentFormatter

    for panel_axis in (axis.xaxis, axis.yaxis):
        panel_axis.set_major_locator(MultipleLocator(0.25) if top == 1.0 else MaxNLocator(4))
        panel_axis.set_major_formatter(PercentFormatter(1.0, int(top < _SMALL_SHARE)))


def date_ticks(axis: "Axis", points: float, name: str) -> None:
    """Set the label of an axis of dates, and ticks that fit into a length in points."""
    from matplotlib import dates

    locator: Any = dates.AutoDateLocator  # matplotlib.dates has no type annotations
    formatter: Any = dates.ConciseDateFormatter
    places = locator(minticks=2, maxticks=max(_count(points), 3))
    # With few ticks, the locator may lack long steps and warn of too many ticks.
    for unit, longest in ((dates.MONTHLY, 12), (dates.HOURLY, 24), (dates.MINUTELY, 60)):
        places.intervald[unit] = [*places.intervald[unit], longest]
    axis.set_major_locator(places)
    axis.set_major_formatter(formatter(places))
    # The date common to all ticks is placed to the right of the centred label.
    name_axis(axis, name, points - 2.0 * text_width("2000-Dec-28"))


def legend(axes: "Sequence[Axes]", handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Put a legend above all panels of a figure, or above the first panel, where no data are."""
    figure = axes[0].figure
    # A figure's legend lies above titles, while a panel's legend would hide the panel's title.
    is_whole = len(figure.axes) == len(axes) and (len(axes) > 1 or bool(axes[0].get_title()))
    has_names = _names_width(axes[0]) > 0.2 * width_of(axes[0])  # Wide row names
    width = 0.95 * figure.figure.get_figwidth() * _POINTS
    if not is_whole:
        width = width_of(axes[0]) - (_MARGIN if has_names else _LEFT)
    shown, columns = _entries(labels, width)
    if is_whole:
        made = figure.legend(handles, shown, loc="outside upper left", ncols=columns)
    else:
        side, place = ("right", 1.0) if has_names else ("left", 0.0)
        corner: dict[str, Any] = {"loc": f"lower {side}", "bbox_to_anchor": (place, 1.0)}
        made = axes[0].legend(handles, shown, ncols=columns, **corner)
    for text in made.get_texts():
        text.set_parse_math(False)
    lines = -(-len(labels) // columns)
    vertical = axes[0].yaxis
    name_axis(vertical, vertical.get_label_text(), panel_points(axes[0])[1] - lines * _LEGEND_LINE)


def legend_height(labels: Sequence[str], width: float) -> float:
    """Return the height in inches of a legend above a picture of a given width in inches."""
    _, columns = _entries(labels, width * _POINTS - _LEFT)
    return -(-len(labels) // columns) * _LEGEND_LINE / _POINTS


def _entries(labels: Sequence[str], points: float) -> tuple[list[str], int]:
    """Return shortened legend entries, and the largest number of columns that fit."""
    shown = [fitted(label, points - _HANDLE * SMALL) for label in labels]
    widths = [text_width(label) + _HANDLE * SMALL for label in shown]
    for columns in range(len(widths), 1, -1):
        if sum(part.max() for part in np.array_split(widths, columns)) <= points:
            return shown, columns
    return shown, 1

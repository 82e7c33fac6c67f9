"""Displays of numbers as figures of a report."""

import re
from dataclasses import replace
from typing import Any

from bochner.plot import to_svg
from bochner.plot.class_errors import ConfusionDisplay
from bochner.plot.display import Display, new_axes
from bochner.plot.effects import EffectDisplay
from bochner.plot.style import PALETTE, WIDTH, styled
from bochner.report.blocks import Figure

_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066\u2067\ud800-\udfff\ufffe\uffff]"
)
"""Characters that HTML does not allow in a page, or that change the direction of what follows, and
that a name from a file may have."""

_BREAKING = re.compile(r"(?<=\d) (?=[%±])|(?<=±) (?=\d)")
"""Spaces within a number."""

_MINUS = re.compile(r"(?<![\w.-])-(?=\d)|(?<=\de)-(?=\d)")
"""Signs of numbers and of powers of ten; there are none within dates and codes."""

_COLORS = {f"c{place}": color.lower() for place, color in enumerate(PALETTE)}
"""Colours of pictures by the names that the page gives them."""

_MOST_VECTORS = 300
"""Points of a cloud that are drawn as shapes: from here on an image takes less of the file."""


def drawn(display: Display, title: str, caption: str) -> Figure:
    """Draw a display as a figure, with the caption also as the text for screen readers.

    Curves have colours that the page sets, ``--c0``, ``--c1``, ..., so that one picture suits light
    and dark pages. Clouds of points are images of the class ``cloud``.
    """
    title = title[:1].upper() + title[1:]
    shown = _plotted(display)
    for artist in (artist for axis in shown.axes_ for artist in (*axis.lines, *axis.collections)):
        if _count(artist) > _MOST_VECTORS:
            artist.set_rasterized(True)
    svg = to_svg(shown, title=typeset(title), description=typeset(caption))
    if not isinstance(display, EffectDisplay | ConfusionDisplay):  # Their colours stand for numbers
        svg = svg.replace("<image ", '<image class="cloud" ')
    for name, color in _COLORS.items():
        svg = svg.replace(color, f"var(--{name}, {color})")
    return Figure(title, without_control(svg), caption)


def _plotted(display: Display) -> Display:
    """Draw a display, a single column of panels as wide as all single figures of reports."""
    layout = display._layout()
    if min(layout.panels, layout.columns) > 1 or (layout.width or WIDTH) <= WIDTH:
        return display.plot()
    with styled():
        _, axes = new_axes(replace(layout, width=WIDTH))
    return display.plot(axes)


def _count(artist: Any) -> int:
    """Return the number of markers, or of segments, of an artist."""
    if hasattr(artist, "get_segments"):
        return len(artist.get_segments())
    if getattr(artist, "get_marker", None) and artist.get_linestyle() == "None":
        return len(artist.get_xdata())
    return 0


def typeset(text: str) -> str:
    """Return a text with minus signs, and with numbers that no end of a line divides."""
    return _BREAKING.sub("\u00a0", _MINUS.sub("−", text))


def without_control(text: str) -> str:
    """Return a text with a replacement character for each that does not belong in a page."""
    return _CONTROL.sub("\ufffd", text)

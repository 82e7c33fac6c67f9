"""Blocks of a report: sections, tables, figures, findings, and texts of names and lists."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from bochner._base.number_texts import aligned_numbers, percents
from bochner.plot.class_errors import ConfusionDisplay
from bochner.plot.display import Display, new_axes, to_svg
from bochner.plot.effects import EffectDisplay
from bochner.plot.style import PALETTE, WIDTH, styled

_NAME = 60
"""Largest number of characters of a name in a sentence; a line has about 90 characters."""

_CELL = 200
"""Largest number of characters of a text in a table cell: four lines."""

_ISOLATE, _POP = "\u2068", "\u2069"
"""Unicode isolates around right-to-left text, so that the surrounding text keeps its order."""


def plain(text: object) -> str:
    """Return a text on one line, with control characters and direction marks escaped."""
    one_line = str(text).replace("\n", " ").replace("\t", " ")
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "replace").decode()
        for char in one_line
    )


def short(text: object, most: int = _NAME) -> str:
    """Return a text with control characters escaped, and shortened in the middle if it is long."""
    shown = plain(text)
    if len(shown) <= most:
        return shown
    tail = (most - 1) * 2 // 5
    return f"{shown[: most - 1 - tail]}…{shown[len(shown) - tail :]}"


def cut(text: object) -> str:
    """Return a text shortened for a table cell."""
    return short(text, _CELL)


def quoted(name: object) -> str:
    """Return a name for a sentence: shortened, quoted, and isolated if right to left."""
    shown = short(name)
    to_left = any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in shown)
    return f"'{_ISOLATE}{shown}{_POP}'" if to_left else f"'{shown}'"


def joined(names: str | Sequence[str]) -> str:
    """Return the name of a column, or of a pair of columns, for a table or a picture."""
    return short(names) if isinstance(names, str) else " × ".join(short(name, 30) for name in names)


MOST_UNFOLDED = 12
"""Largest number of columns shown without a click."""

_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066\u2067\ud800-\udfff\ufffe\uffff]"
)
"""Characters in names that are forbidden in HTML, or that change the text direction."""

_BREAKING = re.compile(r"(?<=\d) (?=[%±])|(?<=±) (?=\d)")
"""Spaces within a number or between a number and its unit."""

_MINUS = re.compile(r"(?<![\w.-])-(?=\d)|(?<=\de)-(?=\d)")
"""Minus signs of numbers and exponents, but not hyphens within dates and codes."""

_COLORS = {f"c{place}": color.lower() for place, color in enumerate(PALETTE)}
"""Colours of pictures, by the name of the CSS variable that replaces the colour in a page."""

_MOST_VECTORS = 300
"""Number of points from which a point cloud becomes an image, which is smaller than shapes."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A table cell: its text, and its number for sorting if it is numeric."""

    text: str
    value: float | None = None


def cells(texts: Iterable[str], values: Sequence[Any] | None = None) -> list[Cell]:
    """Return the cells of a column from their texts, and their numbers if they are numeric."""
    if values is None:
        return [Cell(text) for text in texts]
    return [Cell(text, float(value)) for text, value in zip(texts, values, strict=True)]


def counts(values: Iterable[Any]) -> list[Cell]:
    """Return the cells of a column with numbers of rows."""
    return [Cell(f"{int(value):,}", float(value)) for value in values]


def numbers(values: Iterable[Any]) -> list[Cell]:
    """Return the cells of a column of numbers with equal decimals, dashes for NaN."""
    floats = [float(value) for value in values]
    return cells(aligned_numbers(floats), floats)


def shares(values: Iterable[Any]) -> list[Cell]:
    """Return the cells of a column of shares in per cent with equal decimals, dashes for NaN."""
    floats = [float(value) for value in values]
    return cells(percents(floats), floats)


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first cell of each row is its name, and numeric columns are right-aligned."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    emphasized: int | None = None  # Index of a highlighted row
    is_folded: bool = False  # Whether rows are hidden until a click
    kind: ClassVar[str] = "table"

    @classmethod
    def of(cls, title: str, columns: Mapping[str, Sequence[Cell]], **options: Any) -> Self:
        """Return a table of columns by their heads."""
        return cls(title, list(columns), list(zip(*columns.values(), strict=True)), **options)

    @property
    def numeric(self) -> list[bool]:
        """Whether each column is numeric."""
        columns = zip(*self.rows, strict=True) if self.rows else ([] for _ in self.heads)
        return [any(cell.value is not None for cell in column) for column in columns]


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with a caption."""

    title: str
    svg: str
    caption: str
    is_wide: bool = False
    narrow: str = ""  # The same picture for narrow screens, if it is wide
    kind: ClassVar[str] = "figure"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check: a "check" to act on, a "note" to know, or "fine"."""

    weight: str
    title: str
    meaning: str = ""
    advice: str = ""
    kind: ClassVar[str] = "finding"


def fine(title: str) -> Finding:
    """Return a finding for a check without problems."""
    return Finding("fine", title)


Block = (
    str | Mapping[str, str] | Sequence[str] | Table | Figure | Sequence[Figure] | Sequence[Finding]
)
"""Content of a section: a paragraph, named facts, a bullet list, a (title, text to copy) tuple, a
table, a figure, a row of small figures, or findings."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report with a title, blocks and optional subsections."""

    anchor: str
    title: str
    blocks: Sequence[Block] = ()
    parts: Sequence["Section"] = ()


def drawn(display: Display, title: str, caption: str) -> Figure:
    """Draw a display in colours that the page sets, with the caption for screen readers."""
    title = title[:1].upper() + title[1:]
    is_wide = display._layout().is_wide
    # Identifiers of a picture depend on its title.
    narrow = _svg(display, _single_column(display), f"{title} (narrow)", caption) if is_wide else ""
    return Figure(title, _svg(display, _plotted(display), title, caption), caption, is_wide, narrow)


def _svg(display: Display, shown: Display, title: str, caption: str) -> str:
    for artist in (artist for axis in shown.axes_ for artist in (*axis.lines, *axis.collections)):
        if _count(artist) > _MOST_VECTORS:
            artist.set_rasterized(True)
    svg = to_svg(shown, title=typeset(title), description=typeset(caption))
    if not isinstance(display, EffectDisplay | ConfusionDisplay):  # Colour encodes values
        svg = svg.replace("<image ", '<image class="cloud" ')
    for name, color in _COLORS.items():
        svg = svg.replace(color, f"var(--{name}, {color})")
    return without_control(svg)


def _plotted(display: Display) -> Display:
    """Draw a display; a single column of panels gets the width of single report figures."""
    layout = display._layout()
    if layout.is_wide or min(layout.panels, layout.columns) > 1 or (layout.width or WIDTH) <= WIDTH:
        return display.plot()
    return _single_column(display)


def _single_column(display: Display) -> Display:
    with styled():
        _, axes = new_axes(replace(display._layout(), width=WIDTH))
    return display.plot(axes)


def _count(artist: Any) -> int:
    """Return the number of markers or segments that a matplotlib artist draws."""
    if hasattr(artist, "get_segments"):
        return len(artist.get_segments())
    if getattr(artist, "get_marker", None) and artist.get_linestyle() == "None":
        return len(artist.get_xdata())
    return 0


def typeset(text: str) -> str:
    """Return a text with typographic minus signs and no line breaks within numbers."""
    return _BREAKING.sub("\u00a0", _MINUS.sub("−", text))


def without_control(text: str) -> str:
    """Replace characters that are not allowed in a page by the replacement character."""
    return _CONTROL.sub("\ufffd", text)

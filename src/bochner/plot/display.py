"""Base class of displays: numbers, axes to draw them on, and a text description; SVG for pages."""

import hashlib
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self
from xml.sax.saxutils import escape

import numpy as np

from bochner.plot.axis_texts import drawable
from bochner.plot.style import (
    COLUMNS,
    FULL_WIDTH,
    HEIGHT,
    RASTER_DPI,
    THEMES,
    WIDTH,
    Theme,
    any_script,
    dress,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANEL_HEIGHT = 1.9
"""Height of a row of panels in inches."""

_SVG = re.compile(r"<svg [^>]*(?=>)")
_NOT_DRAWN = re.compile(
    r"<metadata>.*?</metadata>\s*|<style .*?</style>\s*|<!--.*?-->\s*"
    r'|(?<=<g) id="[\w.]+_\d+"|<defs>\s*</defs>\s*',
    re.DOTALL,
)
_FONT = re.compile(r"(font: (?:\w+ )*[\d.]+px|font-family:) [^;\"]*")
_PATH, _DECIMALS = re.compile(r'(?<= d=")[^"]*'), re.compile(r"(?<=\.\d\d)\d+")
_GRID = "stroke: currentColor; stroke-opacity: 0.13"
"""Grid colour of SVG pictures: semi-transparent, for light and dark pages."""


@dataclass(frozen=True, slots=True)
class PanelLayout:
    """Layout of a picture: number of panels, size in inches, and largest number of panels in a row.

    >>> PanelLayout(panels=4).size()
    (6.9, 4.1)
    """

    panels: int = 1
    height: float | None = None
    width: float | None = None
    columns: int = COLUMNS
    sharex: bool = False
    sharey: bool = False
    is_wide: bool = False  # Whether it fills the width of a page

    def size(self) -> tuple[float, float]:
        """Return width and height in inches."""
        columns = min(self.panels, self.columns)
        usual = HEIGHT if self.panels == 1 else 0.3 + _PANEL_HEIGHT * -(-self.panels // columns)
        return self.width or (WIDTH if columns == 1 else FULL_WIDTH), self.height or usual


def new_axes(layout: PanelLayout) -> "tuple[Figure, list[Axes]]":
    """Return a figure and a list of its axes, row by row; call it within :func:`styled`."""
    from matplotlib.figure import Figure

    columns = min(layout.panels, layout.columns)
    figure = Figure(figsize=layout.size(), layout="constrained")
    shared: dict[str, Any] = {"sharex": layout.sharex, "sharey": layout.sharey}
    rows = -(-layout.panels // columns)
    axes = figure.subplots(rows, columns, squeeze=False, **shared).ravel().tolist()
    for axis in axes[layout.panels :]:
        axis.remove()
    if layout.sharex:  # Panels above an empty cell are the lowest of their column
        for axis in axes[: layout.panels][-columns:]:
            axis.tick_params(labelbottom=True)
    return figure, axes[: layout.panels]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Display(ABC):
    """Data of a picture, drawn by :meth:`plot`.

    A new picture is a frozen dataclass of numbers with three methods: ``describe()`` returns one
    sentence, ``_layout()`` a :class:`PanelLayout`, and ``_draw(axes, theme)`` draws on a list of
    axes, one for each panel. ``theme.ink`` and ``theme.grid`` are colours of texts and lines.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or None
        Figure of the drawing; ``None`` before :meth:`plot`.
    axes_ : tuple of matplotlib.axes.Axes
        Axes, one for each panel.
    ax_ : matplotlib.axes.Axes
        The axes of the first panel.
    """

    axes_: "tuple[Axes, ...]" = field(default=(), repr=False)
    figure_: "Figure | None" = field(default=None, repr=False)

    def __init_subclass__(cls, **options: object) -> None:
        super(Display, cls).__init_subclass__(**options)
        cls.__repr__ = Display.__repr__  # type: ignore[method-assign]  # No dataclass repr

    def __repr__(self) -> str:
        """Return the description of the picture, which is shorter than its arrays."""
        return f"<{type(self).__name__}: {self.describe().removesuffix('.')}>"

    @property
    def ax_(self) -> "Axes":
        """The first axes of the drawing."""
        if not self.axes_:
            raise AttributeError("Nothing is drawn yet: call plot(), which returns a display.")
        return self.axes_[0]

    def plot(self, ax: "Axes | Sequence[Axes] | None" = None, *, theme: str = "light") -> Self:
        """Draw the picture, and return a display with its figure and axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or sequence of Axes, default=None
            Axes to draw on, one for each panel, to which the style is applied; ``None`` means a new
            figure, as wide as a column of text if it has one panel.
        theme : {"light", "dark"}, default="light"
            Colours of texts, axes and background; the background of ``"dark"`` is transparent.
        """
        with styled(theme) as colors:
            layout = self._layout()
            if ax is None:
                figure, axes = new_axes(layout)
            else:
                axes = list(np.ravel(np.asarray(ax, dtype=object)))
                count = layout.panels
                if len(axes) != count or not all(hasattr(axis, "plot") for axis in axes):
                    expected = (
                        "one matplotlib Axes" if count == 1 else f"a sequence of {count} Axes"
                    )
                    raise ValueError(f"ax must be {expected}, one for each panel, got {ax!r:.60}.")
                figure = axes[0].figure.figure  # The root figure of a subfigure
                for axis in axes:
                    dress(axis, colors)
            self._draw(axes, colors)
            if ax is None:
                figure.set_label(self.describe())
        return replace(self, axes_=tuple(axes), figure_=figure)

    @abstractmethod
    def describe(self) -> str:
        """Return a text alternative of the picture, in one sentence, for screen readers."""

    @abstractmethod
    def _layout(self) -> PanelLayout:
        """Return the number of panels and the size of the picture."""

    @abstractmethod
    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        """Draw the panels on axes, one for each panel."""

    def _repr_html_(self) -> str | None:
        """Return the drawn picture in the formats that notebooks show."""
        return None if self.figure_ is None else to_svg(self.figure_)


def to_svg(
    picture: Any,
    *,
    title: str | None = None,
    description: str | None = None,
    standalone: bool = False,
) -> str:
    """Return a picture as an SVG element for direct use in an HTML page.

    Texts, axes and reference lines have the colour of the text around the picture
    (``currentColor``), and there is no background, so that one picture suits light and dark pages.
    Text stays text, in the page's sans-serif font. Identifiers depend on title and description, so
    that the identifiers of two pictures on a page differ. Equal pictures give equal SVG text.

    Parameters
    ----------
    picture : matplotlib.figure.Figure or Display
        Figure or display drawn by :mod:`bochner.plot`.
    title : str, default=None
        Name of the picture for screen readers; by default the labels of its first axes.
    description : str, default=None
        Text alternative of the picture; by default the description of the display.
    standalone : bool, default=False
        Whether the text is for a separate file, which is dark on white independent of a page.

    Returns
    -------
    svg : str
        An ``<svg>`` element with a title and a description, without an XML prolog.

    Examples
    --------
    >>> from bochner import kernels, plot
    >>> svg = plot.to_svg(plot.kernel(kernels.Gaussian(2.0)))
    >>> svg[:4], "Kernel" in svg
    ('<svg', True)
    """
    figure: Figure = getattr(picture, "figure_", picture)
    if not hasattr(figure, "savefig"):
        raise TypeError(
            "to_svg takes a figure, or a display that is drawn: call its plot() first; got "
            f"{type(picture).__name__}."
        )
    usual = picture.describe() if hasattr(picture, "describe") else str(figure.get_label() or "")
    labels = (text for ax in figure.axes[:1] for text in (ax.get_ylabel(), ax.get_xlabel()))
    title = title or " against ".join(filter(None, labels)) or "picture"
    description = description or usual or title
    prefix = "b" + hashlib.sha256(f"{title}\n{description}".encode()).hexdigest()[:10]
    body = _NOT_DRAWN.sub("", _saved(figure, prefix))
    for theme in THEMES.values():
        body = body.replace(theme.ink.lower(), "currentColor")
        body = body.replace(f"stroke: {theme.grid.lower()}", _GRID)
    body = _FONT.sub(r"\1 sans-serif", body)
    body = _PATH.sub(lambda path: _DECIMALS.sub("", path[0]), body)  # Two decimals of a point
    style = f"; color: {THEMES['light'].ink}; background: white" if standalone else ""
    named = (
        f'role="img" aria-labelledby="{prefix}-title {prefix}-desc" '
        f'style="stroke-linejoin: round; stroke-linecap: butt{style}">'
        f'<title id="{prefix}-title">{escape(title)}</title>'
        f'<desc id="{prefix}-desc">{escape(description)}</desc>'
    )
    head = _SVG.search(body)
    assert head is not None  # matplotlib writes an <svg> tag
    return drawable(f"{head[0]} {named}{body[head.end() + 1 :].rstrip()}")


def _saved(figure: "Figure", salt: str) -> str:
    """Return matplotlib's SVG with text elements instead of glyph outlines."""
    import matplotlib as mpl

    buffer = io.StringIO()
    options: dict[str, Any] = {"facecolor": "none", "edgecolor": "none", "dpi": RASTER_DPI}
    with styled(), any_script():
        mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": salt})
        figure.savefig(buffer, format="svg", metadata={"Date": None}, **options)
    return buffer.getvalue()

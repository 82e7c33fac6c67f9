"""Base class of displays: numbers, axes to draw them on, and a text description."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bochner.plot.style import COLUMNS, FULL_WIDTH, HEIGHT, WIDTH, Theme, dress, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANEL_HEIGHT = 1.9
"""Inches of a row of panels."""


@dataclass(frozen=True, slots=True)
class PanelLayout:
    """Panels of a picture, and its size.

    Parameters
    ----------
    panels : int, default=1
        Number of axes.
    height, width : float, default=None
        Size of the picture in inches; ``None`` means the usual size.
    columns : int, default=3
        Largest number of panels in a row.
    sharex, sharey : bool, default=False
        Whether all panels have the same axis.

    Examples
    --------
    >>> from bochner.plot import PanelLayout
    >>> PanelLayout(panels=4).size()
    (6.9, 4.1)
    """

    panels: int = 1
    height: float | None = None
    width: float | None = None
    columns: int = COLUMNS
    sharex: bool = False
    sharey: bool = False

    def size(self) -> tuple[float, float]:
        """Return width and height in inches."""
        rows = -(-self.panels // min(self.panels, self.columns))
        usual = HEIGHT if self.panels == 1 else 0.3 + _PANEL_HEIGHT * rows
        width = self.width or (WIDTH if min(self.panels, self.columns) == 1 else FULL_WIDTH)
        return width, self.height or usual


def new_axes(layout: PanelLayout) -> "tuple[Figure, list[Axes]]":
    """Return a figure, and its axes row by row. Call it inside :func:`styled`."""
    from matplotlib.figure import Figure

    columns = min(layout.panels, layout.columns)
    rows = -(-layout.panels // columns)
    figure = Figure(figsize=layout.size(), layout="constrained")
    shared: dict[str, Any] = {"sharex": layout.sharex, "sharey": layout.sharey}
    axes = figure.subplots(rows, columns, squeeze=False, **shared).ravel().tolist()
    for axis in axes[layout.panels :]:
        axis.remove()
    if layout.sharex:  # Panels above a gap are the last of their column
        for axis in axes[: layout.panels][-columns:]:
            axis.tick_params(labelbottom=True)
    return figure, axes[: layout.panels]


def given_axes(ax: "Axes | Sequence[Axes] | None", count: int) -> "list[Axes]":
    """Return the given axes; raise ValueError unless there is one for each panel."""
    axes: list[Axes] = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(axes) != count or not all(hasattr(axis, "plot") for axis in axes):
        expected = "one matplotlib Axes" if count == 1 else f"a sequence of {count} Axes"
        raise ValueError(
            f"ax must be {expected}, one for each panel, got {len(axes)} of "
            f"{', '.join(sorted({type(axis).__name__ for axis in axes}))}. Leave ax out to get a "
            "new figure."
        )
    return axes


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Display(ABC):
    """Numbers of a picture; :meth:`plot` draws them.

    A new picture is a frozen dataclass of numbers with three methods: ``describe()`` returns one
    sentence, ``_layout()`` a :class:`PanelLayout`, and ``_draw(axes, theme)`` draws on a list of
    axes, one for each panel. ``theme.ink`` and ``theme.grid`` are colours of texts and lines.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or None
        Figure of the drawing; ``None`` before :meth:`plot`.
    axes_ : tuple of matplotlib.axes.Axes
        One for each panel.
    ax_ : matplotlib.axes.Axes
        The first of them.
    """

    axes_: "tuple[Axes, ...]" = field(default=(), repr=False)
    figure_: "Figure | None" = field(default=None, repr=False)

    def __init_subclass__(cls, **options: object) -> None:
        super(Display, cls).__init_subclass__(**options)
        cls.__repr__ = Display.__repr__  # type: ignore[method-assign]  # Not that of a data class

    def __repr__(self) -> str:
        """Return a sentence on the picture: its arrays would fill a screen."""
        return f"<{type(self).__name__}: {self._described().removesuffix('.')}>"

    @property
    def ax_(self) -> "Axes":
        """The first of the axes."""
        if not self.axes_:
            raise AttributeError("Nothing is drawn yet: call plot(), which returns a display.")
        return self.axes_[0]

    def plot(self, ax: "Axes | Sequence[Axes] | None" = None, *, theme: str = "light") -> Self:
        """Draw the numbers, and return a display with the figure and its axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or sequence of Axes, default=None
            Axes to draw on, one for each panel, to which the style is applied; ``None`` means a new
            figure, as wide as a column of text if it has one panel.
        theme : {"light", "dark"}, default="light"
            Colours of texts, axes and background; the background of ``"dark"`` is transparent.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError
            If the number of axes differs from the number of panels, or if the theme is unknown.
        """
        with styled(theme) as colors:
            layout = self._layout()
            if not isinstance(layout, PanelLayout):
                raise TypeError(
                    f"{type(self).__name__}._layout must return a PanelLayout, such as "
                    f"PanelLayout(panels=2), got {layout!r}."
                )
            if ax is None:
                figure, axes = new_axes(layout)
            else:
                axes = given_axes(ax, layout.panels)
                figure = axes[0].figure.figure  # The whole figure, if this is a part of it
                for axis in axes:
                    dress(axis, colors)
            self._draw(axes, colors)
            if ax is None:
                figure.set_label(self._described())
        return replace(self, axes_=tuple(axes), figure_=figure)

    def _described(self) -> str:
        """Return the description; raise ``TypeError`` if it is no text."""
        text = self.describe()
        if not isinstance(text, str):
            name = type(self).__name__
            raise TypeError(f"{name}.describe must return a text, one sentence, got {text!r}.")
        return text

    @abstractmethod
    def describe(self) -> str:
        """Return a text alternative of the picture, in one sentence, for screen readers."""

    @abstractmethod
    def _layout(self) -> PanelLayout:
        """Return the number of panels and the size of the picture."""

    @abstractmethod
    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        """Draw on as many axes."""

    def _repr_html_(self) -> str | None:
        """Return the picture for notebooks, once it is drawn."""
        from bochner.plot.svg import to_svg

        return None if self.figure_ is None else to_svg(self.figure_)

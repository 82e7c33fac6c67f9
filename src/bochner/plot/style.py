"""The common style of all pictures: sizes, themes, and a colour for each method."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bochner._base.arrays import Array
from bochner._base.checks import check_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREEN, VIOLET = "#0072B2", "#C75C00", "#67AE5A", "#7D4DDB"
SKY, DARK, PALE = "#1CA6F2", "#646464", "#A0A0A0"

PALETTE = (BLUE, ORANGE, GREEN, VIOLET, SKY, DARK, PALE)
"""Colours that differ by at least 18 CIELAB units for normal vision and for each of the three kinds
of colour blindness, and that have a contrast of at least 2.5 on white and 3 on black pages."""

MODEL, DATA, MISSED = BLUE, "#808080", ORANGE
"""Colours of predictions, of observations, and of observations outside of intervals."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Markers of curves, one for each colour of the palette."""

DASHES: tuple[Any, ...] = (
    "-",
    (0, (4, 1.5)),
    (0, (1, 1.2)),
    (0, (5, 1.2, 1, 1.2)),
    (0, (7, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (2, 1)),
)
"""Dash patterns of curves in line widths, one for each colour of the palette."""

BAND = 0.3
"""Opacity of a band: lines and grid stay visible below it."""

WIDTH, HEIGHT = 3.4, 2.5
"""Size in inches of a picture with one panel, as wide as a column of a two-column journal."""

FULL_WIDTH = 6.9
"""Width in inches of a picture with several panels, the width of a journal page."""

COLUMNS = 3
"""Largest number of panels in a row."""

FONT, SMALL = 8.0, 7.0
"""Font sizes in points of labels, and of ticks and legends."""

_FRAME, _GRID_WIDTH, _PAD = 0.6, 0.5, 2.5
"""Widths in points of axes and grid lines, and length of ticks and their distance from labels."""

MOST_VECTORS = 2000
"""Number of points above which a point cloud is drawn as an image, to limit the file size."""

RASTER_DPI = 200
"""Resolution in dots per inch of point clouds that are drawn as images."""


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of texts, axes, grid and background."""

    ink: str  # Texts, axes and reference lines
    grid: str
    paper: str  # Background, or "none"


THEMES: Mapping[str, Theme] = MappingProxyType(
    {"light": Theme("#262626", "#E3E3E3", "white"), "dark": Theme("#E8E8E8", "#3D4148", "none")}
)
"""Themes by name; the dark theme has a transparent background."""


@dataclass(frozen=True, slots=True)
class Look:
    """Look of a curve: colour, marker and dashes."""

    color: str
    marker: str = "o"
    dashes: Any = "-"
    is_hollow: bool = False

    def line(self) -> dict[str, Any]:
        """Return the options of ``Axes.plot`` for a line with markers."""
        face = "none" if self.is_hollow else self.color
        return {"color": self.color, "ls": self.dashes, "marker": self.marker, "mfc": face}


def draw_curves(axis: "Axes", curves: Iterable[tuple[Array, Array]]) -> list[Any]:
    """Draw curves with their default looks, and return their handles for a legend."""
    looks = ((look_of(place), curve) for place, curve in enumerate(curves))
    lines = (axis.plot(*xy, color=look.color, ls=look.dashes) for look, xy in looks)
    return [line for part in lines for line in part]


METHODS: Mapping[str, Look] = MappingProxyType(
    {
        "bochner": Look(BLUE, "o"),
        "bochner, quick": Look(BLUE, "o", DASHES[1], is_hollow=True),
        "CatBoost": Look(ORANGE, "^"),
        "gradient-boosted trees": Look(GREEN, "v"),
        "boosted trees": Look(GREEN, "v"),
        "xRFM": Look(DARK, "P"),
        "linear model": Look(PALE, "X"),
        "exact GP": Look(VIOLET, "D"),
        "SVGP": Look(VIOLET, "D", DASHES[1], is_hollow=True),
        "RBFSampler + RidgeCV": Look(SKY, "s"),
        "RBFSampler + default RidgeCV": Look(SKY, "s", DASHES[1], is_hollow=True),
    }
)
"""Fixed looks of the compared methods, equal in all pictures."""


def look_of(number: int) -> Look:
    """Return the default look of the curve with an index."""
    place = number % len(PALETTE)
    return Look(PALETTE[place], MARKERS[place], DASHES[place])


def looks_of(names: list[str], looks: Mapping[str, Look] = METHODS) -> list[Look]:
    """Return a look for each name: the fixed look of a known method, else an unused look.

    >>> [look.color for look in looks_of(["bochner", "mine", "CatBoost"])]
    ['#0072B2', '#67AE5A', '#C75C00']
    """
    used_colors = {looks[name].color for name in names if name in looks}
    free = [n for n in range(len(PALETTE)) if PALETTE[n] not in used_colors] or [
        *range(len(PALETTE))
    ]
    free_looks = (look_of(free[place % len(free)]) for place in range(len(names)))
    return [looks[name] if name in looks else next(free_looks) for name in names]


def parameters(theme: Theme) -> dict[str, Any]:
    """Return the matplotlib parameters (rcParams) of the style."""
    tick: dict[str, object] = {"labelsize": SMALL, "color": theme.ink, "minor.size": 0.0}
    tick |= {"major.width": _FRAME, "major.pad": _PAD, "major.size": _PAD}
    return {
        **{f"{axis}tick.{name}": value for axis in "xy" for name, value in tick.items()},
        "font.family": "sans-serif",
        "font.size": FONT,
        "axes.labelsize": FONT,
        "axes.titlesize": FONT,
        "axes.titlepad": 4.0,
        "axes.labelpad": _PAD,
        "legend.fontsize": SMALL,
        "legend.title_fontsize": SMALL,
        "text.parse_math": False,  # Column names may contain dollar signs
        "axes.unicode_minus": True,
        "axes.linewidth": _FRAME,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.linewidth": _GRID_WIDTH,
        "lines.linewidth": 1.2,
        "lines.markersize": 3.5,
        "lines.markeredgewidth": 0.8,
        "patch.linewidth": 0.6,
        "hatch.linewidth": 0.6,
        "legend.frameon": False,
        "legend.handlelength": 1.8,
        "legend.columnspacing": 1.4,
        "legend.handletextpad": 0.5,
        "legend.borderaxespad": 0.2,
        "legend.labelspacing": 0.3,
        "figure.constrained_layout.h_pad": 0.04,
        "figure.constrained_layout.w_pad": 0.04,
        "text.color": theme.ink,
        "axes.labelcolor": theme.ink,
        "axes.edgecolor": theme.ink,
        "grid.color": theme.grid,
        "figure.facecolor": theme.paper,
        "savefig.facecolor": "auto",
        "axes.facecolor": "none",
    }


def dress(axis: "Axes", theme: Theme) -> None:
    """Apply the style to axes passed by the user."""
    axis.set_facecolor("none")
    axis.set_axisbelow(True)
    axis.grid(visible=True, color=theme.grid, lw=_GRID_WIDTH)
    axis.tick_params(
        which="major", labelsize=SMALL, colors=theme.ink, pad=_PAD, length=_PAD, width=_FRAME
    )
    for side, spine in axis.spines.items():
        spine.set(visible=side in ("left", "bottom"), edgecolor=theme.ink, linewidth=_FRAME)
    for panel_axis in (axis.xaxis, axis.yaxis):
        panel_axis.label.set_color(theme.ink)
        panel_axis.labelpad = _PAD
    axis.title.set(color=theme.ink, fontsize=FONT)


@contextmanager
def styled(theme: str = "light") -> Iterator[Theme]:
    """Apply the style within a ``with`` block, and restore matplotlib's parameters afterwards.

    Raises ImportError if matplotlib is missing, and ValueError if there is no such theme.

    >>> from matplotlib.figure import Figure
    >>> with styled("dark") as theme:
    ...     axis = Figure().subplots()
    >>> axis.spines["top"].get_visible()
    False
    """
    colors = THEMES[check_choice("theme", theme, THEMES)]
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib, which is not installed: run pip install 'bochner[plot]'."
        ) from error
    with mpl.rc_context():
        mpl.rcdefaults()  # Reset first, so that pictures do not depend on the user's parameters
        matplotlib_parameters: Any = parameters(colors)
        mpl.rcParams.update(matplotlib_parameters)
        yield colors


@contextmanager
def any_script() -> Iterator[None]:
    """Suppress matplotlib's warnings of characters that its font lacks."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph ", UserWarning)
        yield

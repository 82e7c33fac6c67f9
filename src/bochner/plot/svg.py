"""Pictures as SVG to put into a page: small, described in words, light or dark like the page."""

import hashlib
import io
import re
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from bochner.plot.style import RASTER_DPI, THEMES, any_script, styled
from bochner.plot.text_labels import drawable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ID = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r'(?<=["(])#([^")]+)(?=[")])')
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_PATH = re.compile(r'(?<= d=")[^"]*')
_FONT = re.compile(r"(font: (?:\w+ )*[\d.]+px|font-family:) [^;\"]*")
_SVG = re.compile(r"<svg [^>]*>")
_LEFT_OUT = re.compile(
    r"<metadata>.*?</metadata>\s*|<style .*?</style>\s*|<!--.*?-->\s*", re.DOTALL
)
_EMPTY = re.compile(r"<defs>\s*</defs>\s*")

_GRID = "stroke: currentColor; stroke-opacity: 0.13"
"""Colour of the grid: the opacity makes it as pale on white pages as that of the light theme."""

_HASH_LENGTH = 10
"""Characters of the prefix of identifiers: two of a thousand pictures of a page have the same with
a probability of a millionth."""


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
    Text stays text, in the page's sans-serif font. Identifiers begin with a hash of the picture, so
    that they are unique in the page. Equal pictures give equal SVG text.

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
    default_description = (
        picture.describe() if hasattr(picture, "describe") else str(figure.get_label() or "")
    )
    named = title or _title(figure)
    text = _drawn(figure)
    body = _EMPTY.sub("", _LEFT_OUT.sub("", text[text.index("<svg") :]))
    for theme in THEMES.values():
        body = body.replace(theme.ink.lower(), "currentColor")
        body = body.replace(f"stroke: {theme.grid.lower()}", _GRID)
    body = _FONT.sub(r"\1 sans-serif", body)
    body = _PATH.sub(lambda path: _NUMBER.sub(_rounded, path.group()), body)
    style = f"; color: {THEMES['light'].ink}; background: white" if standalone else ""
    svg = _with_identifiers(body.strip(), named, description or default_description or named, style)
    return drawable(svg)


def _drawn(figure: "Figure") -> str:
    """Return matplotlib's SVG without metadata that changes from run to run."""
    buffer, no_metadata = io.StringIO(), dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with styled(), any_script():  # Texts remain texts: the page has the fonts
        import matplotlib as mpl

        mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "bochner"})
        options: dict[str, Any] = {"metadata": no_metadata, "dpi": RASTER_DPI}
        figure.savefig(buffer, format="svg", facecolor="none", edgecolor="none", **options)
    return buffer.getvalue()


def _title(figure: "Figure") -> str:
    if not figure.axes:
        return "picture"
    axis = figure.axes[0]
    labels = (axis.get_ylabel(), axis.get_xlabel())
    return " against ".join(label for label in labels if label) or "picture"


def _with_identifiers(body: str, title: str, description: str, style: str) -> str:
    """Return an SVG element with title, description and unique identifiers."""
    prefix = "b" + hashlib.sha256((body + title).encode()).hexdigest()[:_HASH_LENGTH]
    used = set(_REFERENCE.findall(body))
    body = _ID.sub(lambda m: f' id="{prefix}-{m[1]}"' if m[1] in used else "", body)
    body = _REFERENCE.sub(rf"#{prefix}-\1", body)
    head = _SVG.search(body)
    assert head is not None  # Matplotlib writes one
    opening = head.group()[:-1] + (
        f' role="img" aria-labelledby="{prefix}-title {prefix}-desc"'
        f' style="stroke-linejoin: round; stroke-linecap: butt{style}">'
    )
    words = (
        f'<title id="{prefix}-title">{escape(title)}</title>'
        f'<desc id="{prefix}-desc">{escape(description)}</desc>'
    )
    return f"{opening}{words}{body[head.end() :]}"


def _rounded(match: re.Match[str]) -> str:
    # Hundredths of a point are a two-hundredth of the thinnest line.
    return f"{float(match.group()):.2f}".rstrip("0").rstrip(".")

"""The look and the size of the gallery's pictures, and the pictures of the library's displays."""

from pathlib import Path

import matplotlib as mpl
from PIL import Image
from sphinx_gallery.scrapers import figure_rst

from bochner.plot.display import Display
from bochner.plot.style import THEMES, parameters

DOTS = 150
"""Dots per inch: a panel of 3.6 inches is 540 pixels wide, with texts of a page's size."""


def reset(gallery_conf, name):
    """Set matplotlib's parameters before each example runs."""
    mpl.rcdefaults()
    mpl.rcParams.update(parameters(THEMES["light"]))
    mpl.rcParams.update(
        {
            # Texts of examples may hold formulas; names of columns may not.
            "text.parse_math": True,
            "figure.constrained_layout.use": True,
            "savefig.dpi": DOTS,
        }
    )


def displays(block, block_vars, gallery_conf):
    """Return the picture of a block that ends in a display of ``bochner.plot``."""
    names = block_vars["example_globals"]
    shown, before = names.get("___"), names.get("_display")
    names["_display"] = shown
    if not isinstance(shown, Display) or shown is before or shown.figure_ is None:
        return ""
    if hasattr(shown.figure_, "number"):
        return ""  # A figure of pyplot, drawn into by ax=: matplotlib's own scraper has it
    path = Path(next(block_vars["image_path_iterator"])).with_suffix(".png")
    shown.figure_.savefig(path, dpi=DOTS)
    return figure_rst([str(path)], gallery_conf["src_dir"])


def compress(folder: Path) -> None:
    """Write the pictures of the gallery with a palette of 256 colours, at a third of the bytes."""
    for path in folder.glob("sphx_glr_*.png"):
        with Image.open(path) as picture:
            if picture.mode == "P":
                continue  # It is from an earlier build
            reduced = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        reduced.save(path, optimize=True)


def _finished(app, exception):
    """Compress the pictures of a site that was built."""
    if exception is None and app.builder.name == "html":
        compress(Path(app.outdir) / "_images")


def setup(app):
    """Compress pictures when the site is built."""
    app.connect("build-finished", _finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

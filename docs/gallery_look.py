"""The look of the gallery's pictures: that of the library's own."""

import matplotlib as mpl

from bochner.plot.style import parameters, theme_called


def reset(gallery_conf, name):
    """Set matplotlib's parameters before each example runs."""
    mpl.rcdefaults()
    mpl.rcParams.update(parameters(theme_called("light")))

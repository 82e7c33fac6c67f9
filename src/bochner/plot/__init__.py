"""Pictures of models, their predictions and their errors, in one style.

Every function takes a fitted model and returns a display with the drawn numbers, ``ax_`` (or
``axes_``) and ``figure_``, which a notebook shows. It raises TypeError for models that lack what is
drawn, and ValueError for parameters out of range. Figures are as wide as a column of a paper.
Matplotlib, the extra ``plot``, is imported on the first drawing, and its global parameters are not
changed.

>>> from bochner import kernels, plot
>>> display = plot.kernel(kernels.Matern(2.0, nu=1.5))
>>> svg = plot.to_svg(display)
>>> display.figure_.savefig("kernel.pdf")  # doctest: +SKIP
"""

from bochner.plot.class_errors import calibration, confusion, roc
from bochner.plot.display import Display, PanelLayout, to_svg
from bochner.plot.effects import effect
from bochner.plot.kernel_curves import kernel, spectrum
from bochner.plot.rankings import comparison, interactions, relevance
from bochner.plot.regression_errors import predictions, residuals
from bochner.plot.series_plots import components, forecast

__all__ = [
    "Display", "PanelLayout", "calibration", "comparison", "components", "confusion", "effect",
    "forecast", "interactions", "kernel", "predictions", "relevance", "residuals", "roc",
    "spectrum", "to_svg",
]  # fmt: skip

"""Pictures of models, their predictions and their errors, in one style.

Every function takes a fitted model and returns a display with the drawn numbers, ``ax_`` (or
``axes_``) and ``figure_``. A display can also be made from numbers, and drawn by ``plot(ax)``.
Figures are as wide as a column of a paper, and notebooks show displays directly. Matplotlib, the
extra ``plot``, is imported on the first drawing, and its global parameters are not changed.

>>> from bochner import kernels, plot
>>> display = plot.kernel(kernels.Matern(2.0, nu=1.5))
>>> svg = plot.to_svg(display)
>>> display.figure_.savefig("kernel.pdf")  # doctest: +SKIP
"""

from bochner.plot.beeswarms import BeeswarmDisplay, beeswarm
from bochner.plot.chains import TraceDisplay, trace
from bochner.plot.classifiers import ConfusionDisplay, RocDisplay, confusion, roc
from bochner.plot.comparisons import ComparisonDisplay, comparison
from bochner.plot.components import ComponentsDisplay, components
from bochner.plot.display import Display, PanelLayout
from bochner.plot.effects import EffectDisplay, effect
from bochner.plot.envelopes import EnvelopeDisplay, envelope
from bochner.plot.forecasts import ForecastDisplay, forecast
from bochner.plot.kernels import KernelDisplay, kernel
from bochner.plot.reliability import CalibrationDisplay, calibration
from bochner.plot.residuals import ResidualsDisplay, residuals
from bochner.plot.scatter import PredictionsDisplay, predictions
from bochner.plot.shares import InteractionsDisplay, RelevanceDisplay, interactions, relevance
from bochner.plot.spectra import SpectrumDisplay, spectrum
from bochner.plot.style import styled
from bochner.plot.svg import to_svg
from bochner.plot.waterfalls import WaterfallDisplay, waterfall

__all__ = [
    "BeeswarmDisplay",
    "CalibrationDisplay",
    "ComparisonDisplay",
    "ComponentsDisplay",
    "ConfusionDisplay",
    "Display",
    "EffectDisplay",
    "EnvelopeDisplay",
    "ForecastDisplay",
    "InteractionsDisplay",
    "KernelDisplay",
    "PanelLayout",
    "PredictionsDisplay",
    "RelevanceDisplay",
    "ResidualsDisplay",
    "RocDisplay",
    "SpectrumDisplay",
    "TraceDisplay",
    "WaterfallDisplay",
    "beeswarm",
    "calibration",
    "comparison",
    "components",
    "confusion",
    "effect",
    "envelope",
    "forecast",
    "interactions",
    "kernel",
    "predictions",
    "relevance",
    "residuals",
    "roc",
    "spectrum",
    "styled",
    "to_svg",
    "trace",
    "waterfall",
]

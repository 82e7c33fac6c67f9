"""Pictures of kernels, spectra, chains and predictions; matplotlib is imported on first use."""

from bochner.plot.kernels import envelope_figure, kernel_figure, local_kernel_figure
from bochner.plot.learned import (
    Forecast,
    Spectrum,
    forecast_figure,
    prediction_figure,
    relevance_figure,
    trace_figure,
)
from bochner.plot.spectra import spectrum_figure

__all__ = [
    "Forecast",
    "Spectrum",
    "envelope_figure",
    "forecast_figure",
    "kernel_figure",
    "local_kernel_figure",
    "prediction_figure",
    "relevance_figure",
    "spectrum_figure",
    "trace_figure",
]

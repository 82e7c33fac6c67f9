"""The figures of benchmarks, from their rows alone."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from bochner.benchmarks.harness import Plot
from bochner.benchmarks.results import Row, medians
from bochner.report.curves import curves_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def gaussian_figures(rows: Sequence[Row]) -> Mapping[str, "Figure"]:
    """Return the error against the number of features, a panel a data set."""
    values = medians(rows, by=("dataset", "method", "features_per_input"), metric="relative_error")
    figure = curves_figure(
        values, xlabel="features per input, p / d", ylabel="relative error of the Gram matrix"
    )
    return {"error": figure}


FIGURES: Mapping[str, Plot] = MappingProxyType({"gaussian": gaussian_figures})
"""What to draw, by the name of the benchmark."""

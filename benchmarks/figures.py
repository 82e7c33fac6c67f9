"""The figures of benchmarks, from their rows alone."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchmarks.asymmetric.benchmark import VIEWS as ASYMMETRIC_VIEWS
from benchmarks.bank.benchmark import VIEWS as BANK_VIEWS
from benchmarks.bank.benchmark import View as LearnedView
from benchmarks.digmm.benchmark import VIEWS as DIGMM_VIEWS
from benchmarks.gabasr.benchmark import FIELD, field_values
from benchmarks.gabasr.benchmark import VIEWS as GABASR_VIEWS
from benchmarks.harness import Plot
from benchmarks.indefinite.benchmark import VIEWS, View
from benchmarks.results import Row, medians
from bochner.plot.curves import curves_figure, fields_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def gaussian_figures(rows: Sequence[Row]) -> Mapping[str, "Figure"]:
    """Return the error against the number of features, a panel a data set."""
    values = medians(rows, by=("dataset", "method", "features_per_input"), metric="relative_error")
    figure = curves_figure(
        values, xlabel="features per input, p / d", ylabel="relative error of the Gram matrix"
    )
    return {"error": figure}


def indefinite_figures(rows: Sequence[Row]) -> Mapping[str, "Figure"]:
    """Return a figure for every view that the rows have something for."""
    return {view.name: _figure(view, rows) for view in VIEWS if view.values(rows)}


def asymmetric_figures(rows: Sequence[Row]) -> Mapping[str, "Figure"]:
    """Return a figure for every view that the rows have something for."""
    figures = {}
    for view in ASYMMETRIC_VIEWS:
        values = view.values(rows)
        if values:
            xlabel, ylabel, *scales = _AXES[view.metric]
            size = ("M / d", ylabel) if view.metric != "mass" else (xlabel, ylabel)
            figures[view.name] = curves_figure(
                values, xlabel=size[0], ylabel=size[1], scales=(scales[0], scales[1])
            )
    return figures


def bank_figures(rows: Sequence[Row]) -> Mapping[str, "Figure"]:
    """Return a figure for every view that the rows have something for."""
    return _drawn(BANK_VIEWS, rows)


def gabasr_figures(rows: Sequence[Row]) -> Mapping[str, "Figure"]:
    """Return a figure of probabilities in the plane, and one for every other view."""
    field = field_values(rows)
    figures = {}
    if field:
        figures[FIELD] = fields_figure(
            field, xlabel="x₁", ylabel="x₂", label="probability of class one", limits=(0.0, 1.0)
        )
    return {**figures, **_drawn(GABASR_VIEWS, rows)}


def digmm_figures(rows: Sequence[Row]) -> Mapping[str, "Figure"]:
    """Return a figure for every view that the rows have something for."""
    return _drawn(DIGMM_VIEWS, rows)


def _drawn(views: Sequence[LearnedView], rows: Sequence[Row]) -> Mapping[str, "Figure"]:
    return {
        view.name: curves_figure(values, xlabel=view.xlabel, ylabel=view.ylabel, scales=view.scales)
        for view in views
        if (values := view.values(rows))
    }


def _figure(view: View, rows: Sequence[Row]) -> "Figure":
    xlabel, ylabel, *scales = _AXES[view.metric]
    return curves_figure(
        view.values(rows),
        xlabel=xlabel,
        ylabel=ylabel,
        scales=(scales[0], scales[1]),
        lowest=view.lowest,
    )


_AXES: Mapping[str, tuple[str, str, str, str]] = MappingProxyType(
    {
        "k": ("distance", "kernel", "linear", "linear"),
        "relative_error": ("size, s / d", "relative error of the Gram matrix", "log", "log"),
        "accuracy": ("size, s / d", "test accuracy", "log", "linear"),
        "mass": ("M", "mass", "log", "symlog"),
        "feature_seconds": ("size, s / d", "seconds", "log", "log"),
    }
)

FIGURES: Mapping[str, Plot] = MappingProxyType(
    {
        "gaussian": gaussian_figures,
        "indefinite": indefinite_figures,
        "asymmetric": asymmetric_figures,
        "bank": bank_figures,
        "gabasr": gabasr_figures,
        "digmm": digmm_figures,
    }
)
"""What to draw, by the name of the benchmark."""

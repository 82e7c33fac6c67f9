"""Picture of a forecast in time."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from bochner._numerics.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PERIOD_BINS = 80
"""Bins of the spectrum on a logarithmic axis: about twenty per decade of periods."""

_LONGEST_RATIO = 1e4
"""Largest ratio of the span to a period shown: one row in a record of ten thousand."""

_LEVEL = 0.9
"""Probability of the band."""


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """A series ``observed`` at ``time`` (n,), and its predictions with standard deviations.

    Times from ``start`` on are held out.
    """

    time: Array
    observed: Array
    mean: Array
    std: Array
    start: float


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """Draws (S, m) of absolute angular frequencies, and their shares of each draw's variance."""

    omega: Array
    energy: Array


def forecast_figure(
    forecast: Forecast, spectrum: Spectrum | None = None, *, ylabel: str, title: str, unit: str = ""
) -> "Figure":
    """Return the series, the held-out part, the forecast and its 90 % band.

    A spectrum is drawn in a second panel, against periods in ``unit``.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0 if spectrum is None else 11.0, 3.8), layout="constrained")
    if spectrum is None:
        _series(figure.subplots(), forecast, ylabel, title)
        return figure
    left, right = figure.subplots(1, 2, width_ratios=[2.4, 1.0])
    _series(left, forecast, ylabel, title)
    _periods(right, spectrum, unit, float(np.ptp(forecast.time)))
    return figure


def _series(axis: "Axes", forecast: Forecast, ylabel: str, title: str) -> None:
    held_out = forecast.time >= forecast.start
    half_width = ndtri(0.5 + 0.5 * _LEVEL) * forecast.std
    time, observed = forecast.time, forecast.observed
    axis.plot(time[~held_out], observed[~held_out], ".", ms=1.5, c="0.45", label="observed")
    axis.plot(time[held_out], observed[held_out], ".", ms=2.5, c="tab:red", label="held out")
    axis.plot(time, forecast.mean, lw=0.9, c="tab:blue", label="prediction")
    lower, upper = forecast.mean - half_width, forecast.mean + half_width
    label = f"{100.0 * _LEVEL:g} % interval"
    axis.fill_between(time, lower, upper, color="tab:blue", alpha=0.2, lw=0, label=label)
    axis.axvline(forecast.start, color="0.3", lw=0.8, ls="--")
    axis.set(xlabel="year", ylabel=ylabel, title=title)
    axis.legend(frameon=False, loc="upper left")
    axis.margins(x=0.01)


def _periods(axis: "Axes", spectrum: Spectrum, unit: str, span: float) -> None:
    """Draw shares of the variance against periods of up to twice the span."""
    period = 2.0 * np.pi / np.maximum(spectrum.omega.ravel(), np.finfo(np.float64).tiny)
    energy = spectrum.energy.ravel() / len(spectrum.energy)
    shortest = max(float(np.quantile(period, 0.005)), span / _LONGEST_RATIO)
    edges = np.geomspace(shortest, 2.0 * span, _PERIOD_BINS + 1)
    share, _ = np.histogram(period, edges, weights=energy)
    axis.stairs(100.0 * share, edges, fill=True, color="tab:blue", alpha=0.6)
    axis.set_xscale("log")
    xlabel = f"period ({unit})" if unit else "period"
    axis.set(xlabel=xlabel, ylabel="share of the variance (%)", title="learned spectrum")
    axis.xaxis.set_major_formatter("{x:g}")

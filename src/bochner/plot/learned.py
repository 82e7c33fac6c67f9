"""Pictures of chains, predictions, relevance, and forecasts in time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from bochner._numerics.arrays import Array, as_array
from bochner.learning.trace import Trace
from bochner.plot.panels import check_level, input_names, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TRACED = ("log_evidence", "acceptance", "n_components_used", "step_size")
"""Records shown by default, by the start of their names, in this order."""

_TRANSIENT = 3.0
"""Ranges of the kept draws below them at which a panel ends: burn-in would flatten the rest."""


def trace_figure(trace: Trace, *, records: Sequence[str] | None = None) -> "Figure":
    """Return records by iteration, one panel each, with chains in colours and burn-in shaded.

    Panels of logarithms leave out values far below those of the kept iterations.

    Raises KeyError if the trace has no such record.

    Parameters
    ----------
    trace : Trace
    records : sequence of str, default=None
        Names of the records. By default log evidence, acceptances, components and step sizes, as
        far as the trace has them, or else all records.

    Examples
    --------
    >>> trace = Trace({"log_evidence": [[-9.0, -3.0, -2.0], [-8.0, -2.0, -1.0]]}, n_burn_in=1)
    >>> trace_figure(trace).axes[0].get_ylabel()
    'log evidence'
    """
    usual = [name for start in _TRACED for name in trace.records if name.startswith(start)]
    shown = list(records) if records is not None else usual or list(trace.records)
    kept = [trace.kept(name) for name in shown]
    figure, axes = panels(len(shown), 1 if len(shown) < 4 else 2)
    iteration = np.arange(1, trace.n_iterations + 1)
    for axis, name, draws in zip(axes, shown, kept, strict=True):
        for chain, values in enumerate(trace.records[name]):
            axis.plot(iteration, values, color=f"C{chain % 10}", lw=0.8, label=f"chain {chain + 1}")
        if trace.n_burn_in:
            axis.axvspan(0.5, trace.n_burn_in + 0.5, color="0.5", alpha=0.15, lw=0, label="burn-in")
        if name.startswith("log_") and draws.size:
            _end_above(axis, trace.records[name], draws)
        axis.set(ylabel=name.replace("_", " "), xlabel="iteration")
        axis.set_xlim(0.5, trace.n_iterations + 0.5)
    axes[0].legend(frameon=False, fontsize="small")
    return figure


def _end_above(axis: "Axes", values: Array, kept: Array) -> None:
    """End a panel somewhat below the kept draws if earlier values are far lower."""
    lowest, highest = kept.min() - _TRANSIENT * np.ptp(kept), values.max()
    if np.ptp(kept) > 0.0 and values.min() < lowest:
        axis.set_ylim(lowest, highest + 0.05 * (highest - lowest))


def prediction_figure(
    y: ArrayLike, mean: ArrayLike, std: ArrayLike, *, level: float = 0.9
) -> "Figure":
    """Return predictions against observations, with normal intervals and their coverage.

    Raises ValueError if shapes differ, there are no predictions, or ``level`` is out of range.

    Parameters
    ----------
    y, mean, std : array-like of shape (n,)
        Observations, predictions, and standard deviations of the predictions.
    level : float, default=0.9
        Probability of the intervals.

    Examples
    --------
    >>> figure = prediction_figure([1.0, 2.0], [1.1, 2.9], [0.2, 0.3])
    >>> figure.axes[0].get_title()
    '90 % intervals cover 50.0 %'
    """
    check_level(level)
    observed, predicted, spread = as_array(y), as_array(mean), as_array(std)
    shapes = {observed.shape, predicted.shape, spread.shape}
    if observed.ndim != 1 or not observed.size or len(shapes) > 1:
        raise ValueError(
            f"y, mean and std must have one shape (n,), got {observed.shape}, {predicted.shape} "
            f"and {spread.shape}."
        )
    half = ndtri(0.5 + 0.5 * level) * spread
    inside = np.abs(observed - predicted) <= half
    figure, (axis,) = panels(1)
    for rows, color, label in ((inside, "tab:blue", "covered"), (~inside, "tab:red", "missed")):
        lower, upper = (predicted - half)[rows], (predicted + half)[rows]
        axis.vlines(observed[rows], lower, upper, color=color, alpha=0.3, lw=0.8, rasterized=True)
        points = axis.plot(observed[rows], predicted[rows], ".", color=color, ms=3, label=label)
        points[0].set_rasterized(True)
    axis.axline((float(observed.mean()),) * 2, slope=1.0, color="0.3", lw=0.8, ls="--")
    axis.set(xlabel="observed", ylabel="predicted")
    axis.set_title(f"{100.0 * level:g} % intervals cover {100.0 * inside.mean():.1f} %")
    axis.legend(frameon=False, fontsize="small")
    return figure


def relevance_figure(
    relevance: ArrayLike | Mapping[str, ArrayLike],
    interactions: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
) -> "Figure":
    """Return bars of the relevance of inputs, and a map of their interactions.

    Raises ValueError if shapes disagree.

    Parameters
    ----------
    relevance : array-like of shape (d,), or mapping of str to such
        One number per input, or several by name, such as inclusion and importance.
    interactions : array-like of shape (d, d), default=None
        One number per pair of inputs. The diagonal is not shown.
    names : sequence of d str, default=None
        Names of the inputs; by default x0, x1, ...

    Examples
    --------
    >>> figure = relevance_figure({"inclusion": [1.0, 0.2]}, names=["time", "place"])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['time', 'place']
    """
    series = relevance if isinstance(relevance, Mapping) else {"relevance": relevance}
    bars = {label: as_array(values) for label, values in series.items()}
    shapes = [values.shape for values in bars.values()]
    if not shapes or len(shapes[0]) != 1 or not shapes[0][0] or len(set(shapes)) > 1:
        raise ValueError(f"relevance must be one number per input, got shapes {shapes}.")
    names = input_names(names, shapes[0][0])
    figure, axes = panels(1 if interactions is None else 2)
    figure.set_figheight(max(3.2, 1.0 + 0.25 * len(names)))
    _bars(axes[0], bars, names)
    if interactions is not None:
        _heat_map(axes[1], as_array(interactions), names)
    return figure


def _bars(axis: "Axes", bars: Mapping[str, Array], names: Sequence[str]) -> None:
    places, height = np.arange(len(names)), 0.8 / len(bars)
    for number, (label, values) in enumerate(bars.items()):
        shift = (number - 0.5 * (len(bars) - 1)) * height
        axis.barh(places + shift, values, height, color=f"C{number % 10}", label=label)
    axis.set_yticks(places, names)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.set_xlabel(next(iter(bars)) if len(bars) == 1 else "relevance")
    if len(bars) > 1:
        axis.legend(frameon=False, fontsize="small")


def _heat_map(axis: "Axes", interactions: Array, names: Sequence[str]) -> None:
    if interactions.shape != (len(names), len(names)):
        raise ValueError(
            f"interactions must have shape {(len(names), len(names))}, a number for each pair of "
            f"inputs, got {interactions.shape}."
        )
    shown = np.where(np.eye(len(names), dtype=bool), np.nan, interactions)
    image = axis.imshow(shown, cmap="Blues", aspect="equal")
    axis.set_xticks(range(len(names)), names, rotation=90)
    axis.set_yticks(range(len(names)), names)
    axis.figure.colorbar(image, ax=axis, label="interaction")


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

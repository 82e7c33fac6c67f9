"""Pictures of what a model has learned: kernel, spectrum, relevance, predictions, and the way."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from bochner._numerics.arrays import Array, as_array
from bochner.learning.trace import Trace
from bochner.plot.panels import check_level, chosen_inputs, input_names, panels, per_input
from bochner.plot.spectra import spectrum_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "kernel_figure",
    "prediction_figure",
    "relevance_figure",
    "spectrum_figure",
    "trace_figure",
]

_LAGS = 201
_TRACED = ("log_evidence", "acceptance", "n_components_used", "step_size")
_TRANSIENT = 3.0

KernelLike = Callable[[Array, Array], Any]


def kernel_figure(
    kernels: Sequence[KernelLike],
    mean_kernel: KernelLike | None,
    dim: int,
    *,
    inputs: Sequence[int | str] | None = None,
    names: Sequence[str] | None = None,
    extent: ArrayLike = 1.0,
    level: float = 0.9,
) -> "Figure":
    r"""Return the learned kernel along inputs, one panel each, with a band of its draws.

    A panel shows :math:`k(\Delta)` for lags :math:`\Delta` of one input only. The band holds,
    lag by lag, the central share ``level`` of the draws.

    Parameters
    ----------
    kernels : sequence of Kernel or callable k(X, Y)
        Draws; may be empty if ``mean_kernel`` is given.
    mean_kernel : Kernel, callable k(X, Y) or None
        What the line shows; ``None`` means the average of the draws.
    dim : int
        Number of inputs of the kernels.
    inputs : sequence of int or str, default=None
        Inputs with panels, by number or name; ``None`` means the first eight.
    names : sequence of ``dim`` str, default=None
    extent : float or array-like of shape (dim,), default=1.0
        The longest lag, of each of all inputs, in its units.
    level : float, default=0.9

    Raises
    ------
    ValueError
        If there is no kernel, a kernel does not return one number for each lag, an input does
        not exist, or ``extent`` or ``level`` is out of range.

    Examples
    --------
    >>> from bochner.kernels import Gaussian
    >>> draws = [Gaussian(scale) for scale in (0.8, 1.0, 1.3)]
    >>> figure = kernel_figure(draws, Gaussian(1.0), 2, names=["time", "place"], extent=3.0)
    >>> [axis.get_xlabel() for axis in figure.axes]
    ['lag in time', 'lag in place']
    """
    check_level(level)
    names, extents = input_names(names, dim), per_input("extent", extent, dim)
    if not len(kernels) and mean_kernel is None:
        raise ValueError("There is no kernel to draw: give draws in kernels, or mean_kernel.")
    chosen = chosen_inputs(inputs, names)
    figure, axes = panels(len(chosen), sharey=True)
    for axis, i in zip(axes, chosen, strict=True):
        lags: Array = np.linspace(0.0, extents[i], _LAGS)
        rows: Array = lags[:, None] * (np.arange(dim) == i)
        draws = as_array([_along(kernel, rows) for kernel in kernels])
        line = draws.mean(axis=0) if mean_kernel is None else _along(mean_kernel, rows)
        if len(kernels):
            edges = np.quantile(draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
            label = f"{100.0 * level:g} % of draws"
            axis.fill_between(lags, *edges, color="tab:blue", alpha=0.25, lw=0, label=label)
        axis.plot(lags, line, color="tab:blue", lw=1.2, label="mean")
        axis.axhline(0.0, color="0.6", lw=0.6)
        axis.set(xlabel=f"lag in {names[i]}", xlim=(0.0, extents[i]))
    axes[0].set_ylabel("kernel")
    axes[0].legend(frameon=False, fontsize="small")
    return figure


def _along(kernel: KernelLike, rows: Array) -> Array:
    """Return a kernel between rows and the origin."""
    values = as_array(kernel(rows.copy(), np.zeros((1, rows.shape[1]))))
    if values.shape != (len(rows), 1):
        raise ValueError(
            f"Kernels must return shape ({len(rows)}, 1) for {len(rows)} rows and one, got "
            f"{values.shape} from {kernel!r}."
        )
    return values[:, 0]


def trace_figure(trace: Trace, *, records: Sequence[str] | None = None) -> "Figure":
    """Return records by iteration, one panel each, chains in colours and burn-in shaded.

    Panels of logarithms may end above the first values, from which samplers climb far.

    Parameters
    ----------
    trace : Trace
    records : sequence of str, default=None
        ``None`` means log evidence, acceptances, components and step sizes, those that there
        are, or else all records.

    Raises
    ------
    KeyError
        If there is no such record.

    Examples
    --------
    >>> trace = Trace({"log_evidence": [[-9.0, -3.0, -2.0], [-8.0, -2.0, -1.0]]}, n_burn_in=1)
    >>> trace_figure(trace).axes[0].get_ylabel()
    'log evidence'
    """
    usual = [name for start in _TRACED for name in trace.records if name.startswith(start)]
    shown = list(records) if records is not None else usual or list(trace.records)
    kept = [trace.kept(name) for name in shown]
    figure, axes = panels(len(shown), columns=1 if len(shown) < 4 else 2)
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
    """End a panel below the kept draws, where values are lower by several times their range."""
    lowest, highest = kept.min() - _TRANSIENT * np.ptp(kept), values.max()
    if np.ptp(kept) > 0.0 and values.min() < lowest:
        axis.set_ylim(lowest, highest + 0.05 * (highest - lowest))


def prediction_figure(
    y: ArrayLike, mean: ArrayLike, std: ArrayLike, *, level: float = 0.9
) -> "Figure":
    """Return predictions against observations, with normal intervals and their coverage.

    Parameters
    ----------
    y, mean, std : array-like of shape (n,)
        Observations, predictions, and standard deviations of the predictions.
    level : float, default=0.9

    Raises
    ------
    ValueError
        If shapes differ, there are no predictions, or ``level`` is out of range.

    Examples
    --------
    >>> figure = prediction_figure([1.0, 2.0], [1.1, 2.9], [0.2, 0.3])
    >>> figure.axes[0].get_title()
    '90 % intervals cover 50.0 %'
    """
    check_level(level)
    observed, predicted, spread = as_array(y), as_array(mean), as_array(std)
    if (
        observed.ndim != 1
        or not observed.size
        or len({observed.shape, predicted.shape, spread.shape}) > 1
    ):
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
    """Return bars of the relevance of inputs, and a map of which of them act together.

    Parameters
    ----------
    relevance : array-like of shape (d,), or mapping of str to such
        A number per input, or several, such as inclusion and importance, by their names.
    interactions : array-like of shape (d, d), default=None
        A number per pair of inputs. The diagonal is not shown.
    names : sequence of d str, default=None

    Raises
    ------
    ValueError
        If shapes disagree.

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
        raise ValueError(f"relevance must be one number for each input, got shapes {shapes}.")
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

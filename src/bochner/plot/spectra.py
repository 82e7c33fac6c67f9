"""Pictures of learned spectra."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner._numerics.arrays import Array, as_array
from bochner.plot.panels import chosen_inputs, input_names, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CENTRAL = 0.995
"""Quantile of the sizes of frequencies at which a panel ends; few far ones would flatten it."""

_PERIOD_TICKS = 6
"""Most marks of periods on an axis: more would overlap."""

_TICK_FACTORS = (1.0, 2.0, 5.0)
"""Round periods are these numbers times powers of ten."""

_MARGINAL_BINS = (10, 120)
"""Fewest and most bins of a density along one input; between them, the root of the count."""

_JOINT_BINS = (10, 60)
"""Fewest and most bins of a joint density along its first input; between, a third of the root."""

_ROUNDING = 1e-9
"""Share of frequencies that counts as none: a sum of weights is one up to rounding."""

_TEXT_BOX = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1.0}


def spectrum_figure(
    frequencies: Any,
    weights: Any = None,
    *,
    inputs: Sequence[int | str] | None = None,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    names: Sequence[str] | None = None,
) -> "Figure":
    r"""Return marginal densities of frequencies, for inputs and for pairs of inputs.

    Frequencies of all draws are pooled. A real kernel has the same weight at :math:`\omega` and
    :math:`-\omega`; the densities are drawn for :math:`\omega_i \ge 0`, where they integrate to
    one. They are densities of the non-zero frequencies; the panel states the share of exact zeros.
    Panels end at the 99.5 % quantile of the frequencies' sizes, and state the share beyond. The
    lower axis is in radians per unit of the input, the upper one (and that on the right) in
    periods :math:`2\pi/\omega`.

    Raises ValueError if shapes disagree, an entry is not finite, weights are negative or all zero,
    or an input does not exist.

    Parameters
    ----------
    frequencies : array-like of shape (n_draws, m, d) or (m, d), or list of (m, d) arrays
        Draws may differ in m.
    weights : array-like of shape (n_draws, m) or (m,), or list of (m,) arrays, default=None
        Non-negative weights of the frequencies; ``None`` means equal ones.
    inputs, names
        As in :func:`bochner.plot.kernel_figure`.
    pairs : sequence of pairs of int or str, default=None
        Pairs of inputs with panels; ``None`` means the two inputs, if two are shown.

    Examples
    --------
    >>> import numpy as np
    >>> yearly = np.array([[[6.2, 0.0], [6.3, 0.1], [0.0, 0.2]]])
    >>> figure = spectrum_figure(yearly, inputs=["time"], names=["time", "place"])
    >>> figure.axes[0].texts[0].get_text()
    '33.3 % zero'
    """
    omega, weight = _pooled(frequencies, weights)
    names = input_names(names, omega.shape[1])
    chosen = chosen_inputs(inputs, names)
    if pairs is None:
        couples = [chosen] if len(chosen) == 2 else []
    else:
        couples = [chosen_inputs(pair, names) for pair in pairs]
    figure, axes = panels(len(chosen) + len(couples))
    for axis, i in zip(axes, chosen, strict=False):
        _marginal(axis, np.abs(omega[:, i]), weight)
        axis.set(xlabel=_frequency(names[i]), ylabel="density")
    for axis, (i, j) in zip(axes[len(chosen) :], couples, strict=True):
        _plane(axis, omega[:, [i, j]], weight)
        axis.set(xlabel=_frequency(names[i]), ylabel=_frequency(names[j]))
    return figure


def _frequency(name: str) -> str:
    return f"angular frequency of {name}"


def _pooled(frequencies: Any, weights: Any) -> tuple[Array, Array]:
    """Return frequencies of shape (M, d) and their weights, which sum to one."""
    draws = [as_array(draw) for draw in frequencies] if len(frequencies) else []
    if not draws or draws[0].ndim not in {1, 2} or len({(x.ndim, x.shape[-1]) for x in draws}) > 1:
        raise ValueError(
            f"frequencies must have shape (n_draws, m, d) or (m, d), or be a list of (m, d) "
            f"arrays, got shapes {[x.shape for x in draws[:3]]}."
        )
    omega = np.concatenate([np.atleast_2d(draw) for draw in draws])
    weight = np.ones(len(omega))
    if weights is not None:
        weight = np.concatenate([np.ravel(as_array(draw)) for draw in weights])
    if weight.shape != omega.shape[:1]:
        raise ValueError(
            f"weights must be one for each of {len(omega)} frequencies, got {weight.shape}."
        )
    if not np.isfinite(omega).all():
        raise ValueError("frequencies must be finite.")
    if not np.isfinite(weight).all() or (weight < 0.0).any() or not weight.any():
        raise ValueError("weights must be finite, not negative and not all zero.")
    return omega, weight / weight.sum()


def _marginal(axis: "Axes", size: Array, weight: Array) -> None:
    """Draw the density of the sizes of frequencies along one input."""
    active = size > 0.0
    size, weight, zero = size[active], weight[active], weight[~active].sum()
    if not weight.any():
        _write(axis, "all frequencies are zero")
        return
    end = _reach(size, weight)
    bins = int(np.clip(np.sqrt(len(size)), *_MARGINAL_BINS))
    mass, edges = np.histogram(size, bins, (0.0, end), weights=weight)
    density = mass / weight.sum() / np.diff(edges)
    axis.stairs(density, edges, fill=True, color="tab:blue", alpha=0.6)
    axis.set(xlim=(0.0, end), ylim=(0.0, 1.25 * density.max()))
    _period_axis(axis, "top", end)
    _write_shares(axis, zero, "zero", 1.0 - mass.sum() / weight.sum())


def _plane(axis: "Axes", omega: Array, weight: Array) -> None:
    """Draw the joint density of frequencies along two inputs, where the first is positive."""
    active = (omega != 0.0).all(axis=1)
    omega, weight, zero = omega[active], weight[active], weight[~active].sum()
    if not weight.any():
        _write(axis, "no frequency has both")
        return
    omega = omega * np.sign(omega[:, :1])
    ends = [_reach(np.abs(column), weight) for column in omega.T]
    bins = int(np.clip(np.sqrt(len(omega)) / 3.0, *_JOINT_BINS))
    limits = np.array([[0.0, ends[0]], [-ends[1], ends[1]]])
    mass, first, second = np.histogram2d(
        omega[:, 0], omega[:, 1], [bins, 2 * bins], limits, weights=weight
    )
    density = mass / weight.sum() / np.outer(np.diff(first), np.diff(second))
    mesh = axis.pcolormesh(first, second, density.T, cmap="Blues", rasterized=True)
    axis.figure.colorbar(mesh, ax=axis, label="density")
    _period_axis(axis, "top", ends[0])
    _period_axis(axis, "right", ends[1])
    _write_shares(axis, zero, "without one of them", 1.0 - mass.sum() / weight.sum())


def _reach(size: Array, weight: Array) -> float:
    """Return the end of a panel: 2 % beyond the weighted quantile of the sizes."""
    order = np.argsort(size)
    share = np.cumsum(weight[order]) / weight.sum()
    last = min(int(np.searchsorted(share, _CENTRAL)), len(size) - 1)
    return 1.02 * float(size[order[last]])


def _write_shares(axis: "Axes", zero: float, kind: str, beyond: float) -> None:
    text = f"{100.0 * zero:.3g} % {kind}"
    if beyond > _ROUNDING:
        text += f"\n{100.0 * (1.0 - zero) * beyond:.2g} % beyond"
    _write(axis, text)


def _write(axis: "Axes", text: str) -> None:
    corner: dict[str, Any] = {"transform": axis.transAxes, "ha": "right", "va": "top"}
    axis.text(0.97, 0.95, text, fontsize="small", bbox=_TEXT_BOX, **corner)


def _period_axis(axis: "Axes", side: str, end: float) -> None:
    """Mark round periods at their frequencies, at the top or at the right of a panel."""
    periods = _round_periods(end)
    labels = [f"{period:.6g}" for period in periods]
    places = 2.0 * np.pi / periods
    if side == "top":
        axis.secondary_xaxis("top", xlabel="period").set_xticks(places, labels, fontsize="small")
    else:
        both = axis.secondary_yaxis("right", ylabel="period")
        both.set_yticks([*-places, *places], 2 * labels, fontsize="small")


def _round_periods(end: float) -> Array:
    """Return round periods whose frequencies are at least a sixth of ``end`` apart."""
    shortest = 2.0 * np.pi / end
    decade = 10.0 ** np.floor(np.log10(shortest))
    chosen: list[float] = []
    for period in np.outer(decade * 10.0 ** np.arange(3), _TICK_FACTORS).ravel():
        place = 2.0 * np.pi / period
        gap = 2.0 * np.pi / chosen[-1] - place if chosen else end
        if place <= end and gap >= end / _PERIOD_TICKS:
            chosen.append(float(period))
    return as_array(chosen)

"""Curves of kernels along inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_array, as_level
from bochner._base.checks import check_rows_given
from bochner.learned.learned_kernel import Learned
from bochner.learned.learned_kernel_fit import LearnedKernelEstimator
from bochner.plot.axis_texts import finish, legend
from bochner.plot.display import Display, PanelLayout
from bochner.plot.drawn_inputs import chosen_inputs, input_names, learned_models, per_input
from bochner.plot.style import BAND, COLUMNS, MODEL, Theme, draw_curves
from bochner.spectral.frequencies import Frequencies

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LAGS = 201
"""Number of lags of a curve, about one per pixel of a panel."""

_MOST_DRAWS = 60
"""Largest number of posterior draws used for a band."""

_FEWEST_DRAWS = 5
"""Smallest number of posterior draws for a band."""

_PLACES = (0.1, 0.5, 0.9)
"""Quantiles of an input at which a nonstationary kernel is shown."""

_REACH = 3.0
"""Default longest lag, in length scales or in standard deviations of an input."""

_SAME = 5e-3
"""Relative difference of kernel values between midpoints below which one curve is drawn, less than
the width of a line."""

KernelLike = Callable[[Array, Array], Any]


@dataclass(frozen=True, slots=True, eq=False)
class KernelDisplay(Display):
    """Curves of a kernel along d inputs, one panel each."""

    names: Sequence[str]
    lags: Array  # (d, L), in units of the inputs
    curves: Array  # (d, c, L)
    labels: Sequence[Sequence[str]]  # d names of c curves
    lower: Array | None = None  # (d, L), ends of the band with the share ``level`` of the draws
    upper: Array | None = None
    level: float = 0.9

    def describe(self) -> str:
        parts = [
            f"along {name} from {curves[0, 0]:.3g} at lag 0 to {curves[0, -1]:.3g} at lag "
            f"{lag[-1]:.3g}"
            for name, curves, lag in zip(self.names, self.curves, self.lags, strict=True)
        ]
        return f"Kernel {'; '.join(parts)}."

    def _layout(self) -> PanelLayout:
        return PanelLayout(len(self.names), sharey=True)

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        share_legend = all(tuple(labels) == tuple(self.labels[0]) for labels in self.labels)
        for number, (axis, name) in enumerate(zip(axes, self.names, strict=True)):
            lags, labels = self.lags[number], list(self.labels[number])
            handles = draw_curves(axis, ((lags, values) for values in self.curves[number]))
            if self.lower is not None and self.upper is not None:
                ends = self.lower[number], self.upper[number]
                handles.append(axis.fill_between(lags, *ends, color=MODEL, alpha=BAND, lw=0))
                labels.append(f"{100.0 * self.level:g} % of draws")
            axis.axhline(0.0, color=theme.ink, lw=0.5, zorder=1)
            axis.set_xlim(0.0, lags[-1])
            finish(axis, f"lag in {name}", "" if number % COLUMNS else "kernel")
            if len(labels) > 1 and not share_legend:
                legend([axis], handles, labels)
        if len(labels) > 1 and share_legend:
            legend(axes, handles, labels)


def kernel(
    model: BaseEstimator,
    X: ArrayLike | None = None,
    *,
    inputs: Sequence[int | str] | None = None,
    names: Sequence[str] | None = None,
    extent: ArrayLike | None = None,
    level: float = 0.9,
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> KernelDisplay:
    r"""Draw a kernel along inputs, with a band of its posterior draws if it is learned.

    A panel shows :math:`k(\delta)` at lags :math:`\delta` of one input; lags of other inputs are
    zero. At each lag the band holds the central share ``level`` of the draws. A nonstationary
    kernel has a curve :math:`k(u - \delta/2, u + \delta/2)` at each of three midpoints ``u``: the
    10, 50 and 90 % quantiles of an input, with other inputs at their medians.

    Parameters
    ----------
    model : Kernel, callable k(X, Y), or fitted estimator
        An estimator with learned draws (:class:`bochner.LearnedKernelRegressor` and its relatives),
        or one with a ``kernel_``, which for a table model is along its encoded columns.
    X : array-like of shape (n, d), default=None
        Rows that determine the midpoints and the number of inputs. Without ``X``, a kernel object
        has one input, and midpoints at -1, 0 and 1.
    inputs : sequence of int or str, default=None
        Inputs with panels, by number or name; ``None`` means the first six.
    names : sequence of d str, default=None
        Names of all inputs; by default those of the table at fit, or x0, x1, ...
    extent : float or array-like of shape (d,), default=None
        Longest lag of each input, in its units. The default is three standard deviations of the
        input, or three length scales.
    level : float, default=0.9
        Share of the draws in the band.
    ax, theme
        As in :func:`predictions`.

    Examples
    --------
    >>> from bochner import kernels, plot
    >>> display = plot.kernel(kernels.Gaussian(2.0))
    >>> display.ax_.get_xlabel(), display.curves[0, 0, 0].item()
    ('lag in x0', 1.0)
    """
    as_level(level)
    rows = None if X is None else check_rows_given(X, dtype=np.float64)
    banks = learned_models(model)
    function, draws = _functions(model, banks)
    centre, unit = _geometry(model, banks, rows)
    reach = per_input("extent", _REACH * unit if extent is None else extent, len(centre))
    chosen = chosen_inputs(inputs, input_names(model, names, len(centre), X))
    lags = as_array([np.linspace(0.0, reach[i], _LAGS) for i in chosen])
    shown, along = list(chosen.values()), list(zip(chosen, lags, strict=True))
    labels = [["posterior mean" if banks else "kernel"]] * len(chosen)
    if draws:
        ends = [0.5 - 0.5 * level, 0.5 + 0.5 * level]
        of_draws = [[_from_origin(draw, centre, i, lag) for draw in draws] for i, lag in along]
        lower, upper = np.quantile(of_draws, ends, axis=1)
        curves = as_array([[_from_origin(function, centre, i, lag)] for i, lag in along])
        display = KernelDisplay(shown, lags, curves, labels, lower, upper, level)
        return display.plot(ax, theme=theme)
    middles = [_middles(rows, centre, unit, i) for i in chosen]
    curves = as_array(
        [
            [_around(function, middle, i, lag) for middle in each]
            for each, (i, lag) in zip(middles, along, strict=True)
        ]
    )
    if np.ptp(curves, axis=1).max() <= _SAME * np.abs(curves).max():  # Stationary
        curves = curves[:, :1]
    else:
        places = [each[:, i].tolist() for i, each in zip(chosen, middles, strict=True)]
        labels = [[f"at {place:.3g}".replace("-", "−") for place in each] for each in places]
    return KernelDisplay(shown, lags, curves, labels).plot(ax, theme=theme)


def _functions(
    model: BaseEstimator, banks: Sequence[LearnedKernelEstimator]
) -> tuple[KernelLike, list[KernelLike]]:
    """Return the kernel of a model, and posterior draws of the kernel if they are stationary."""
    if not banks:
        return getattr(model, "kernel_", model), []
    draws = [draw for bank in banks for learned in bank.learned_ for draw in _draws(bank, learned)]
    kernels = [bank.kernel_ for bank in banks]
    places = np.unique(np.linspace(0, len(draws) - 1, _MOST_DRAWS).astype(np.intp))
    drawn = [draws[i] for i in places] if len(draws) >= _FEWEST_DRAWS else []
    return lambda X, Y: np.mean([kernel(X, Y) for kernel in kernels], axis=0), drawn


def _draws(bank: LearnedKernelEstimator, learned: Learned) -> list[KernelLike]:
    """Return the kernels of posterior draws, pooled draws apart, if all of them are stationary."""
    draws = learned.draws
    if any(len(draws.waves(index).modulated) for index in range(draws.n_draws)):
        return []
    omega = draws.frequencies / bank._scaling.scale  # (S, m, d)
    n_waves = bank.n_frequencies if omega.shape[1] % bank.n_frequencies == 0 else omega.shape[1]
    weight = np.full(n_waves, 1.0 / n_waves)
    parts = omega.reshape(-1, n_waves, omega.shape[2])
    return [Frequencies(part, weight).gram for part in parts]


def _geometry(
    model: BaseEstimator, banks: Sequence[LearnedKernelEstimator], rows: Array | None
) -> tuple[Array, Array]:
    """Return medians (d,) and standard deviations (d,) of the inputs of a kernel."""
    if banks:
        return banks[0]._scaling.centre, banks[0]._scaling.scale
    scale = getattr(getattr(model, "kernel_", model), "length_scale", None)
    if rows is not None:
        spread = rows.std(axis=0)
        unit = np.where(spread > 0.0, spread, 1.0) if scale is None else scale
        return np.median(rows, axis=0), np.broadcast_to(as_array(unit), rows.shape[1])
    unit = np.atleast_1d(as_array(1.0 if scale is None else scale))
    dim = len(unit) if len(unit) > 1 else int(getattr(model, "n_features_in_", 1))
    return np.zeros(dim), np.broadcast_to(unit, dim)


def _middles(rows: Array | None, centre: Array, unit: Array, i: int) -> Array:
    """Return three midpoints (3, d) along an input."""
    middles = np.tile(centre, (len(_PLACES), 1))
    middles[:, i] += unit[i] * np.array([-1.0, 0.0, 1.0])
    if rows is not None:
        middles[:, i] = np.quantile(rows[:, i], _PLACES)
    return middles


def _from_origin(kernel: KernelLike, centre: Array, i: int, lags: Array) -> Array:
    """Return values (L,) of a stationary kernel at L lags along an input."""
    rows = lags[:, None] * (np.arange(len(centre)) == i)
    return as_array(kernel(rows, np.zeros((1, len(centre)))))[:, 0]


def _around(kernel: KernelLike, middle: Array, i: int, lags: Array) -> Array:
    """Return kernel values (L,) between pairs of rows symmetric about a midpoint (d,)."""
    shifts = 0.5 * lags[:, None] * (np.arange(len(middle)) == i)
    left, right = middle - shifts, middle + shifts
    values = as_array(kernel(left, right))
    if values.shape != (len(left), len(right)):
        raise ValueError(
            f"Kernels must return shape ({len(left)}, {len(right)}) for {len(left)} and "
            f"{len(right)} rows, got {values.shape} from {kernel!r}."
        )
    return np.diagonal(values)

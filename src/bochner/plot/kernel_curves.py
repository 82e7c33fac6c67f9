"""Curves of kernels along inputs, and their spectra: shares of the variance by period."""

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
from bochner.plot.style import BAND, COLUMNS, MODEL, SMALL, Theme, draw_curves
from bochner.spectral.frequencies import Frequencies

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CENTRAL = 0.995
"""Share of the variance within a panel; extreme frequencies are cut off."""

_PERIOD_BINS = 80
"""Number of bins of periods on a logarithmic axis."""

_LONGEST = float(2.0 * np.sqrt(12.0))
"""Longest period in standard deviations of an input: twice the range if rows are evenly spaced."""

_ROUNDING = 1e-9
"""Share of the variance below which a share counts as zero."""

_TINY = float(np.finfo(np.float64).tiny)
"""Lower bound of a sum of squares, against division by zero."""

_MARGIN = 1.5
"""Ratio of the shortest period with variance to the lower end of the axis."""


@dataclass(frozen=True, slots=True, eq=False)
class SpectrumDisplay(Display):
    """Shares of the variance by period of d inputs, one panel each."""

    names: Sequence[str]
    frequencies: Array  # (M, d), in radians per unit of the inputs
    weights: Array  # (M,), sum to one
    longest: float = float("inf")  # Longest period that is drawn
    unit: str = ""

    def describe(self) -> str:
        parts = []
        for i, name in enumerate(self.names):
            size, weight = self._active(i)
            if not len(size):
                parts.append(f"all frequencies of {name} are zero")
                continue
            middle = float(_period(_quantile(size, weight, 0.5)))
            parts.append(f"half of the variance of {name} has periods below {middle:.3g}")
        return f"Spectrum: {'; '.join(parts)}."

    def _layout(self) -> PanelLayout:
        return PanelLayout(len(self.names))

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        for i, (axis, name) in enumerate(zip(axes, self.names, strict=True)):
            size, weight = self._active(i)
            if not len(size):
                axis.text(0.5, 0.5, "all frequencies are zero", transform=axis.transAxes,
                          ha="center", va="center", fontsize=SMALL)  # fmt: skip
                finish(axis, name, "", ticks="")
                axis.set(xticks=[], yticks=[])
                continue
            period = _period(size)
            shortest = _quantile(period, weight, 1.0 - _CENTRAL)
            longest = min(self.longest, float(period.max()))
            edges = np.geomspace(min(shortest, longest) / _MARGIN, longest, _PERIOD_BINS + 1)
            mass, _ = np.histogram(period, edges, weights=weight)
            axis.stairs(100.0 * mass, edges, fill=True, color=MODEL, alpha=0.75)
            axis.set(xscale="log", xlim=(edges[0], edges[-1]))
            axis.set_ylim(0.0, 105.0 * max(mass.max(), _ROUNDING))
            unit = f" ({self.unit})" if self.unit else ""
            finish(axis, f"period of {name}{unit}", "" if i % COLUMNS else "share of variance (%)")

    def _active(self, i: int) -> tuple[Array, Array]:
        """Return the absolute values of nonzero frequencies along an input, and their shares."""
        size = np.abs(self.frequencies[:, i])
        return size[size > 0.0], self.weights[size > 0.0]


def spectrum(
    model: BaseEstimator,
    *,
    inputs: Sequence[int | str] | None = None,
    names: Sequence[str] | None = None,
    unit: str = "",
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> SpectrumDisplay:
    r"""Draw the share of the variance by period :math:`2\pi/\omega` along each input.

    Frequencies of all posterior draws are pooled, each with its share of the variance of its draw.
    Frequencies of random features that are not learned are weighted by the size of their weights.

    Parameters
    ----------
    model : fitted estimator
        One with learned draws (:class:`bochner.LearnedKernelRegressor` and its relatives), or with
        ``frequencies_``, such as :class:`bochner.FourierFeatures`.
    inputs, names, ax, theme
        As in :func:`kernel`.
    unit : str, default=""
        Unit of the inputs, such as ``"years"``.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import FourierFeatures, plot
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> display = plot.spectrum(FourierFeatures(random_state=0).fit(X), names=["time", "place"])
    >>> display.frequencies.shape, len(display.axes_)
    ((256, 2), 2)
    """
    omega, weights, is_learned = _frequencies(model)
    dim = omega.shape[1]
    chosen = chosen_inputs(inputs, input_names(model, names, dim))
    longest = float("inf")  # Longer waves of a learned model are trends
    if is_learned and len(chosen) == 1:
        longest = _LONGEST * float(learned_models(model)[0]._scaling.scale[[*chosen]].item())
    parts = list(chosen.values()), omega[:, [*chosen]], weights
    return SpectrumDisplay(*parts, longest, unit).plot(ax, theme=theme)


def _frequencies(model: BaseEstimator) -> tuple[Array, Array, bool]:
    """Return frequencies (M, d) in inverse input units, their shares, and whether learned."""
    if banks := learned_models(model):
        pairs = [(bank, learned.draws) for bank in banks for learned in bank.learned_]
        omega = np.concatenate(
            [
                (draws.frequencies / bank._scaling.scale).reshape(-1, bank.n_features_in_)
                for bank, draws in pairs
            ]
        )
        shares = [_wave_energy(draws.coef, draws.n_waves).ravel() for _, draws in pairs]
        weights = np.concatenate([share / share.sum() for share in shares])
        return omega, weights / weights.sum(), True
    features = getattr(model, "frequencies_", None)
    if features is None:
        raise TypeError(
            "spectrum takes a fitted model with learned draws or frequencies_, such as "
            f"LearnedKernelRegressor or FourierFeatures, got {type(model).__name__}."
        )
    size = np.abs(features.weight)
    return features.omega, size / size.sum(), False


def _period(size: ArrayLike) -> Array:
    return as_array(2.0 * np.pi / np.asarray(size, dtype=np.float64))


def _quantile(values: Array, weight: Array, share: float) -> float:
    """Return the smallest value up to which values have a share of the weight."""
    return float(np.quantile(values, share, weights=weight, method="inverted_cdf"))


def _wave_energy(coef: Array, n_frequencies: int) -> Array:
    """Return each wave's share (S, m) of its draw's variance, from weights of cosines and sines."""
    waves = coef[:, : 2 * n_frequencies].reshape(len(coef), n_frequencies, 2)
    energy = np.sum(waves**2, axis=2)
    return as_array(energy / np.maximum(energy.sum(axis=1, keepdims=True), _TINY))


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
"""Relative difference of kernel values, less than a line's width, that is not drawn."""

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

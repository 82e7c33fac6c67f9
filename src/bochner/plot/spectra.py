"""Spectra of kernels: shares of the variance by period."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_array
from bochner.plot.axis_texts import finish
from bochner.plot.display import Display, PanelLayout
from bochner.plot.drawn_inputs import chosen_inputs, input_names, learned_models
from bochner.plot.style import COLUMNS, MODEL, SMALL, Theme

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

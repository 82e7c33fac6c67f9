"""Records of a sampler, iteration by iteration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array
from bochner.learned.trace import Trace
from bochner.plot.axis_texts import finish, legend
from bochner.plot.display import Display, PanelLayout
from bochner.plot.drawn_inputs import learned_models
from bochner.plot.style import BAND, DATA, MODEL, Theme, look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TRACED = ("log_evidence", "acceptance", "n_components_used", "step_size")
"""Records shown by default, by the start of their names, in this order."""

_MOST_RECORDS = 6
"""Records shown by default: three lines of panels."""

_MOST_CHAINS = 6
"""Most chains with a line each: of more, median and range are drawn."""

_TRANSIENT = 3.0
"""Ranges of the kept draws below them at which a panel ends: burn-in would flatten the rest."""


@dataclass(frozen=True, slots=True, eq=False)
class TraceDisplay(Display):
    """Records by iteration, one panel each, with burn-in shaded.

    Up to six chains have a line each. For more chains, the median and the range are drawn. Panels
    of logarithms leave out values far below the values of the kept iterations.
    """

    records: Mapping[str, Array]  # (n_chains, n_iterations), by name
    n_burn_in: int = 0

    def describe(self) -> str:
        shape = next(iter(self.records.values())).shape
        names = ", ".join(name.replace("_", " ") for name in self.records)
        return f"{names.capitalize()} of {shape[0]} chains over {shape[1]} iterations."

    def _layout(self) -> PanelLayout:
        return PanelLayout(len(self.records), columns=2 if len(self.records) in (2, 4) else 3)

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        for axis, (name, chains) in zip(axes, self.records.items(), strict=True):
            iteration = np.arange(1, chains.shape[1] + 1)
            handles, names = self._lines(axis, iteration, chains)
            if self.n_burn_in:
                shade = axis.axvspan(0.5, self.n_burn_in + 0.5, color=DATA, alpha=BAND, lw=0)
                handles, names = [*handles, shade], [*names, "burn-in"]
            kept_draws = chains[:, self.n_burn_in :]
            if name.startswith("log_") and kept_draws.size:
                _end_above(axis, chains, kept_draws)
            axis.set_xlim(0.5, chains.shape[1] + 0.5)
            finish(axis, "iteration", name.replace("_", " "))
        if len(handles) > 1:
            legend(axes, handles, names)

    @staticmethod
    def _lines(axis: "Axes", iteration: Array, chains: Array) -> tuple[list[Any], list[str]]:
        if len(chains) > _MOST_CHAINS:
            ends = chains.min(axis=0), chains.max(axis=0)
            band = axis.fill_between(iteration, *ends, color=MODEL, alpha=BAND, lw=0)
            line = axis.plot(iteration, np.median(chains, axis=0), color=MODEL)[0]
            return [line, band], [f"median of {len(chains)} chains", "range"]
        handles = [
            axis.plot(iteration, values, color=look_of(chain).color, lw=0.8)[0]
            for chain, values in enumerate(chains)
        ]
        return handles, [f"chain {chain + 1}" for chain in range(len(chains))]


def _end_above(axis: "Axes", values: Array, kept_draws: Array) -> None:
    """End a panel somewhat below the kept draws if earlier values are far lower."""
    lowest, highest = kept_draws.min() - _TRANSIENT * np.ptp(kept_draws), values.max()
    if np.ptp(kept_draws) > 0.0 and values.min() < lowest:
        axis.set_ylim(lowest, highest + 0.05 * (highest - lowest))


def trace(
    model: BaseEstimator,
    *,
    records: Sequence[str] | None = None,
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> TraceDisplay:
    """Draw trace plots: the records of chains by iteration.

    Parameters
    ----------
    model : fitted estimator with learned draws, or Trace
        A model of several classes, or a forecaster, has several traces; pass one of them.
    records : sequence of str, default=None
        Names of the records. By default log evidence, acceptances, components and step sizes, as
        far as the trace has them and at most six, or else the first six records.
    ax : matplotlib.axes.Axes or sequence of Axes, default=None
        Axes to draw on, one for each record; ``None`` means a new figure.
    theme : {"light", "dark"}, default="light"

    Examples
    --------
    >>> from bochner import plot
    >>> from bochner.learned.trace import Trace
    >>> record = Trace({"log_evidence": [[-9.0, -3.0, -2.0], [-8.0, -2.0, -1.0]]}, n_burn_in=1)
    >>> plot.trace(record).ax_.get_ylabel()
    'log evidence'
    """
    record = model
    if not isinstance(model, Trace):
        traces = [learned.trace for bank in learned_models(model) for learned in bank.learned_]
        if not traces:
            raise TypeError(
                "trace takes a fitted model with learned draws, or a Trace, got "
                f"{type(model).__name__}."
            )
        if len(traces) > 1:
            raise ValueError(
                f"The model has {len(traces)} traces, of its classes or parts: give one of them, "
                "such as model.trace_[0] or model.models_[0].trace_."
            )
        (record,) = traces
    usual = [name for start in _TRACED for name in record.records if name.startswith(start)]
    shown = (usual or list(record.records))[:_MOST_RECORDS] if records is None else list(records)
    for name in shown:
        record.kept(name)  # Raises KeyError if there is none
    chosen = {name: record.records[name] for name in shown}
    return TraceDisplay(chosen, record.n_burn_in).plot(ax, theme=theme)

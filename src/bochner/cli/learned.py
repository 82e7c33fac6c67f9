"""What a model has learned of a table: spectra, relevance, convergence, in words and pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table
from sklearn.utils.validation import check_is_fitted

from bochner._numerics.arrays import Array
from bochner._numerics.files import replacing
from bochner.comparison.contenders import Split
from bochner.estimators._bank import BaNK
from bochner.estimators.gabasr_classifier import GaBaSRClassifier
from bochner.estimators.gabasr_regressor import GaBaSRRegressor
from bochner.estimators.learned_tables import LearnedTable
from bochner.learning.periods import Period, dominant_periods, wave_energy
from bochner.plot.kernels import envelope_figure, local_kernel_figure
from bochner.plot.learned import (
    kernel_figure,
    prediction_figure,
    relevance_figure,
    spectrum_figure,
    trace_figure,
)
from bochner.tables.encodings import State, output_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN_COLUMNS, _SHOWN_PAIRS, _DRAWN_COLUMNS = 8, 4, 20
_LEAST_PAIR = 0.01
_DRAWN_KERNELS, _LONGEST_LAG, _LOCAL_COLUMNS = 24, 2.0, 4


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """The encoded columns of a table, as their user knows them.

    Parameters
    ----------
    names : list of str
        Of the ``d`` encoded columns in use.
    unit, origin : ndarray of shape (d,)
        Units of the table's column per unit of the encoded one, a standard deviation or one, and
        the column's value where the encoded one is zero.
    span : ndarray of shape (d,)
        Range of the table's column where it is a number or a date, else zero.
    """

    names: list[str]
    unit: Array
    origin: Array
    span: Array

    @classmethod
    def of(cls, model: LearnedTable) -> Inputs:
        """Return the inputs of a fitted model."""
        names: list[str] = []
        units: list[float] = []
        origins: list[float] = []
        spans: list[float] = []
        ranges = dict(model.record_.get("ranges", {}))
        for state in model.encoder_.columns_:
            outputs = output_names(state)
            names += outputs
            numeric = _numeric_scale(state)
            rest = len(outputs) - len(numeric) // 2
            units += [*numeric[:1], *[1.0] * rest]
            origins += [*numeric[1:], *[0.0] * rest]
            length = [float(ranges.get(state["name"], 0.0))] if numeric else []
            spans += length + [0.0] * rest
        used = model.varying_
        numbers = (np.array(values)[used] for values in (units, origins, spans))
        return cls([names[i] for i in used], *numbers)

    def decoded(self, rows: Array) -> Array:
        """Return encoded rows (n, d) in the units of the table."""
        return rows * self.unit + self.origin

    def encoded(self, rows: Array) -> Array:
        """Return rows in the units of the table as encoded ones, the inverse of :meth:`decoded`."""
        return (rows - self.origin) / self.unit


def _numeric_scale(state: State) -> tuple[float, ...]:
    """Return unit and origin of a numeric column, see :class:`Inputs`; nothing of another one."""
    if state["kind"] not in ("numeric", "date") or not state["points"]:
        return ()
    points, scores = state["points"], state["scores"]
    unit = (points[-1] - points[0]) / (scores[-1] - scores[0])
    return unit, points[0] - unit * scores[0]


def column_ranges(model: LearnedTable, X: Any) -> dict[str, float]:
    """Return the range of every numeric column and date among training rows, in its units.

    Dates are in years.
    """
    encoded = model.encode(X)
    inputs = Inputs.of(model)
    spread = np.ptp(encoded, axis=0) * inputs.unit
    numbers = {s["name"] for s in model.encoder_.columns_ if _numeric_scale(s)}
    pairs = zip(inputs.names, spread, strict=True)
    return {name: float(width) for name, width in pairs if name in numbers}


def bank_facts(head: BaNK) -> dict[str, str]:
    """Return how many frequencies, components and draws there are, and the convergence."""
    check_is_fitted(head, "learned_")
    used = [learned.draws for learned in head.learned_]
    components = [float(np.mean(c.trace.kept("n_components"))) for c in head.learned_]
    structures = sorted({learned.structure for learned in head.learned_})
    worst = max(head.convergence_, key=lambda c: np.nan_to_num(c.rhat_predictions))
    return {
        "frequencies": f"{used[0].n_waves}, {' and '.join(structures)}",
        "components": _range(components),
        "draws": _range([float(draws.n_draws) for draws in used]),
        "convergence": f"R-hat {worst.rhat_predictions:.2f} and {worst.ess_predictions:.0f} "
        "independent draws of the predictions",
    }


def learned_facts(model: LearnedTable) -> dict[str, str]:
    """Return the kernel, its periods, interactions and the convergence, in words."""
    inputs = Inputs.of(model)
    facts = bank_facts(model.head_)
    for name, found in periods_by_input(model, inputs).items():
        facts[f"periods of {name}"] = periods_text(found)
    pairs = _interactions(model.head_.interactions_, inputs.names)
    if pairs:
        facts["interactions"] = ", ".join(f"{a} × {b} {share:.0%}" for a, b, share in pairs)
    return facts


def periods_text(found: list[Period]) -> str:
    """Return periods and their shares, in words."""
    return ", ".join(f"{period.length:.4g} ({period.share:.0%})" for period in found)


def periods_by_input(model: LearnedTable, inputs: Inputs) -> dict[str, list[Period]]:
    """Return the dominant periods of inputs that have some, in the units of the table."""
    scale = model.head_._scaling.scale
    found: dict[str, list[Period]] = {}
    for i, name in enumerate(inputs.names):
        lines = [
            dominant_periods(
                learned.draws.frequencies[:, :, i] / (scale[i] * inputs.unit[i]),
                wave_energy(learned.draws.coef, learned.draws.n_waves),
                float(inputs.span[i]),
            )
            for learned in model.head_.learned_
        ]
        strongest = max(lines, key=lambda some: sum(period.share for period in some))
        if strongest:
            found[name] = strongest
    return found


def relevance_table(model: LearnedTable) -> Table:
    """Return the most important columns with their importance and inclusion."""
    relevance, names = model.head_.relevance_, Inputs.of(model).names
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("column")
    table.add_column("importance", justify="right")
    table.add_column("inclusion", justify="right")
    order = np.argsort(-relevance.importance, kind="stable")
    for i in order[:_SHOWN_COLUMNS]:
        cells = (f"{relevance.importance[i]:.1%}", f"{relevance.inclusion[i]:.1%}")
        table.add_row(names[i], *cells)
    if len(order) > _SHOWN_COLUMNS:
        rest = order[_SHOWN_COLUMNS:]
        table.add_row(f"{len(rest)} others", f"{relevance.importance[rest].sum():.1%}", "")
    return table


def write_pictures(model: LearnedTable, split: Split, folder: Path) -> list[Path]:
    """Write the pictures of a fitted model and return their files."""
    written = []
    for name, figure in _figures(model, split).items():
        path = folder / f"{name}.png"
        with replacing(path) as fresh:
            figure.savefig(fresh, format="png", dpi=120)
        written.append(path)
    return written


def _figures(model: LearnedTable, split: Split) -> dict[str, Figure]:
    head, inputs = model.head_, Inputs.of(model)
    relevance, dim = head.relevance_, len(inputs.names)
    order = np.argsort(-relevance.importance, kind="stable")
    top = order[:_SHOWN_COLUMNS].tolist()
    omega = np.concatenate([learned.draws.frequencies for learned in head.learned_])
    omega = omega / (head._scaling.scale * inputs.unit)
    chosen = np.unique(np.linspace(0, len(omega) - 1, _DRAWN_KERNELS).astype(np.intp))
    kernels = [_drawn_kernel(omega[index]) for index in chosen]
    shown = order[:_DRAWN_COLUMNS]
    figures = {
        "kernel": kernel_figure(
            kernels, None, dim, inputs=top, names=inputs.names, extent=_LONGEST_LAG * inputs.unit
        ),
        "spectrum": spectrum_figure(omega, inputs=top, names=inputs.names),
        "relevance": relevance_figure(
            {
                "importance": relevance.importance[shown],
                "inclusion": relevance.inclusion[shown],
            },
            head.interactions_[np.ix_(shown, shown)] if dim > 1 else None,
            names=[inputs.names[i] for i in shown],
        ),
    }
    if isinstance(head, GaBaSRRegressor | GaBaSRClassifier) and len(head.learned_) == 1:
        figures |= _local_figures(head, model.encode(split.X), inputs, top)
    for number, learned in enumerate(head.learned_):
        suffix = "" if len(head.learned_) == 1 else f"-{number}"
        figures[f"trace{suffix}"] = trace_figure(learned.trace)
    if split.task == "regression":
        mean, std = model.predict(split.X_test, return_std=True)
        figures["predictions"] = prediction_figure(split.y_test, mean, std)
    return figures


def _local_figures(
    head: GaBaSRRegressor | GaBaSRClassifier, rows: Array, inputs: Inputs, top: list[int]
) -> dict[str, Figure]:
    """Return the envelope along the most important columns, and the kernel at some places."""
    shown = [i for i in top if np.ptp(rows[:, i]) > 0.0][:_LOCAL_COLUMNS]
    curves = {"signal": lambda Z: head.signal_std(inputs.encoded(Z))}
    if isinstance(head, GaBaSRRegressor):
        curves["noise"] = lambda Z: head.noise_std(inputs.encoded(Z))

    def kernel(X: Array, Y: Array) -> Array:
        return head.kernel_(inputs.encoded(X), inputs.encoded(Y))

    named: dict[str, Any] = {"inputs": shown, "names": inputs.names}
    rows, extent = inputs.decoded(rows), _LONGEST_LAG * inputs.unit
    return {
        "envelope": envelope_figure(curves, rows, **named),
        "local": local_kernel_figure(kernel, rows, extent=extent, **named),
    }


def _drawn_kernel(omega: Array) -> Callable[[Array, Array], Array]:
    """Return the kernel of one draw's frequencies (m, d)."""

    def kernel(X: Array, Y: Array) -> Array:
        lag = X[:, None, :] - Y[None, :, :]
        values: Array = np.cos(lag @ omega.T).mean(axis=2)
        return values

    return kernel


def _interactions(together: Array, names: list[str]) -> list[tuple[str, str, float]]:
    first, second = np.triu_indices(len(names), k=1)
    share = together[first, second]
    order = np.argsort(-share, kind="stable")[:_SHOWN_PAIRS]
    return [
        (names[first[k]], names[second[k]], float(share[k]))
        for k in order
        if share[k] >= _LEAST_PAIR
    ]


def _range(values: list[float]) -> str:
    low, high = round(min(values)), round(max(values))
    return str(low) if low == high else f"{low} to {high}"

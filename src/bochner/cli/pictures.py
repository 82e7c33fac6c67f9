"""Pictures of a learned table model, written as PNG files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner._numerics.arrays import Array
from bochner._numerics.files import replacing
from bochner.cli.inspecting import SHOWN_COLUMNS, encoded_columns
from bochner.comparison.split import Split
from bochner.estimators.gabasr import GaBaSRClassifier, GaBaSRRegressor
from bochner.estimators.learned_tables import LearnedTable
from bochner.frequencies import Frequencies
from bochner.plot.kernels import envelope_figure, kernel_figure, local_kernel_figure
from bochner.plot.learned import prediction_figure, relevance_figure, trace_figure
from bochner.plot.spectra import spectrum_figure
from bochner.tables.encodings import EncodedColumns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BARS = 20
"""Most columns in the picture of the relevance: their names stay readable."""

_DRAWN_KERNELS = 24
"""Posterior draws behind the band of the kernel: enough for its 5 and 95 % quantiles."""

_LONGEST_LAG = 2.0
"""Longest lag of a kernel in standard deviations of a column, where most pairs of rows lie."""

_LOCAL_COLUMNS = 4
"""Columns along which an envelope is drawn: one row of panels."""

_DPI = 120
"""Dots per inch: a panel has about 430 pixels."""


def write_pictures(model: LearnedTable, split: Split, folder: Path) -> list[Path]:
    """Write the pictures of a fitted model and return their files."""
    written = []
    for name, figure in _figures(model, split).items():
        path = folder / f"{name}.png"
        with replacing(path) as fresh:
            figure.savefig(fresh, format="png", dpi=_DPI)
        written.append(path)
    return written


def _figures(model: LearnedTable, split: Split) -> dict[str, Figure]:
    head, columns = model.head_, encoded_columns(model)
    relevance, names = head.relevance_, columns.names
    order = np.argsort(-relevance.importance, kind="stable")
    top, shown = order[:SHOWN_COLUMNS].tolist(), order[:_BARS]
    omega = np.concatenate([learned.draws.frequencies for learned in head.learned_])
    omega = omega / (head._scaling.scale * columns.scale)
    chosen = np.unique(np.linspace(0, len(omega) - 1, _DRAWN_KERNELS).astype(np.intp))
    kernels = [
        Frequencies(rows, np.full(len(rows), 1.0 / len(rows))).gram for rows in omega[chosen]
    ]
    extent = _LONGEST_LAG * columns.scale
    bars = {"importance": relevance.importance[shown], "inclusion": relevance.inclusion[shown]}
    pairs = head.interactions_[np.ix_(shown, shown)] if len(names) > 1 else None
    figures = {
        "kernel": kernel_figure(kernels, None, len(names), inputs=top, names=names, extent=extent),
        "spectrum": spectrum_figure(omega, inputs=top, names=names),
        "relevance": relevance_figure(bars, pairs, names=[names[i] for i in shown]),
    }
    if isinstance(head, GaBaSRRegressor | GaBaSRClassifier) and len(head.learned_) == 1:
        figures |= _local_figures(head, model.encode(split.X), columns, top)
    for number, learned in enumerate(head.learned_):
        suffix = "" if len(head.learned_) == 1 else f"-{number}"
        figures[f"trace{suffix}"] = trace_figure(learned.trace)
    if split.task == "regression":
        mean, std = model.predict(split.X_test, return_std=True)
        figures["predictions"] = prediction_figure(split.y_test, mean, std)
    return figures


def _local_figures(
    head: GaBaSRRegressor | GaBaSRClassifier, rows: Array, columns: EncodedColumns, top: list[int]
) -> dict[str, Figure]:
    """Return the envelope along the most important columns, and the kernel at some places."""
    curves = {"signal": lambda Z: head.signal_std(columns.encoded(Z))}
    if isinstance(head, GaBaSRRegressor):
        curves["noise"] = lambda Z: head.noise_std(columns.encoded(Z))

    def kernel(X: Array, Y: Array) -> Array:
        return head.kernel_(columns.encoded(X), columns.encoded(Y))

    shown = [i for i in top if np.ptp(rows[:, i]) > 0.0][:_LOCAL_COLUMNS]
    named: dict[str, Any] = {"inputs": shown, "names": columns.names}
    rows, extent = columns.decoded(rows), _LONGEST_LAG * columns.scale
    return {
        "envelope": envelope_figure(curves, rows, **named),
        "local": local_kernel_figure(kernel, rows, extent=extent, **named),
    }

"""Facts about a learned kernel in words: convergence, periods, interactions, relevance."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.table import Table
from sklearn.utils.validation import check_is_fitted

from bochner._numerics.arrays import Array
from bochner.estimators.bank import BaNK
from bochner.estimators.learned_tables import LearnedTable
from bochner.learning.periods import Period, dominant_periods, wave_energy
from bochner.tables.encodings import EncodedColumns

SHOWN_COLUMNS = 8
"""Columns listed or drawn, the most important first: a screen has room for a few lines."""

_SHOWN_PAIRS = 4
"""Pairs of columns listed, of those with the greatest interaction."""

_LEAST_PAIR = 0.01
"""Smallest interaction listed, as a share of the mean squared second derivatives."""


def encoded_columns(model: LearnedTable) -> EncodedColumns:
    """Return the encoded columns of a fitted model."""
    return EncodedColumns.of(model.encoder_.columns_, model.varying_)


def column_ranges(model: LearnedTable, X: Any) -> dict[str, float]:
    """Return the ranges of numbers and dates (in years) in training rows, by column."""
    columns = encoded_columns(model)
    widths = np.ptp(model.encode(X), axis=0) * columns.scale
    rows = zip(columns.names, widths, columns.is_number, strict=True)
    return {name: float(width) for name, width, is_number in rows if is_number}


def bank_facts(head: BaNK) -> dict[str, str]:
    """Return the numbers of frequencies, components and draws, and the convergence."""
    check_is_fitted(head, "learned_")
    draws = [learned.draws for learned in head.learned_]
    components = [float(np.mean(c.trace.kept("n_components"))) for c in head.learned_]
    structures = sorted({learned.structure for learned in head.learned_})
    worst = max(head.convergence_, key=lambda c: np.nan_to_num(c.rhat_predictions))
    return {
        "frequencies": f"{draws[0].n_waves}, {' and '.join(structures)}",
        "components": _range(components),
        "draws": _range([float(some.n_draws) for some in draws]),
        "convergence": f"R-hat {worst.rhat_predictions:.2f} and {worst.ess_predictions:.0f} "
        "independent draws of the predictions",
    }


def learned_facts(model: LearnedTable) -> dict[str, str]:
    """Return the facts of the kernel, its periods in the units of the table, and interactions."""
    columns = encoded_columns(model)
    facts = bank_facts(model.head_)
    for i in np.flatnonzero(columns.is_number).tolist():
        if found := _periods(model, columns, i):
            facts[f"periods of {columns.names[i]}"] = periods_text(found)
    pairs = _interactions(model.head_.interactions_, columns.names)
    if pairs:
        facts["interactions"] = ", ".join(pairs)
    return facts


def periods_text(found: list[Period]) -> str:
    """Return periods and their shares of the variance."""
    return ", ".join(f"{period.length:.4g} ({period.share:.0%})" for period in found)


def relevance_table(model: LearnedTable) -> Table:
    """Return the most important columns with their importance and inclusion."""
    relevance, names = model.head_.relevance_, encoded_columns(model).names
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("column")
    table.add_column("importance", justify="right")
    table.add_column("inclusion", justify="right")
    order = np.argsort(-relevance.importance, kind="stable")
    for i in order[:SHOWN_COLUMNS]:
        cells = (f"{relevance.importance[i]:.1%}", f"{relevance.inclusion[i]:.1%}")
        table.add_row(names[i], *cells)
    if len(order) > SHOWN_COLUMNS:
        rest = order[SHOWN_COLUMNS:]
        table.add_row(f"{len(rest)} others", f"{relevance.importance[rest].sum():.1%}", "")
    return table


def _periods(model: LearnedTable, columns: EncodedColumns, i: int) -> list[Period]:
    """Return the dominant periods of one input, of the class with the strongest ones."""
    span = float(model.record_.get("ranges", {}).get(columns.names[i], 0.0))
    unit = model.head_._scaling.scale[i] * columns.scale[i]
    found = (
        dominant_periods(
            learned.draws.frequencies[:, :, i] / unit,
            wave_energy(learned.draws.coef, learned.draws.n_waves),
            span,
        )
        for learned in model.head_.learned_
    )
    return max(found, key=lambda some: sum(period.share for period in some))


def _interactions(shares: Array, names: list[str]) -> list[str]:
    first, second = np.triu_indices(len(names), k=1)
    share = shares[first, second]
    order = np.argsort(-share, kind="stable")[:_SHOWN_PAIRS]
    return [
        f"{names[first[k]]} × {names[second[k]]} {share[k]:.0%}"
        for k in order
        if share[k] >= _LEAST_PAIR
    ]


def _range(values: list[float]) -> str:
    low, high = round(min(values)), round(max(values))
    return str(low) if low == high else f"{low} to {high}"

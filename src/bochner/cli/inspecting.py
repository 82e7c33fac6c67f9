"""`bochner inspect` and `bochner predict`, and the facts about models that `bochner fit` prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.utils.validation import check_is_fitted

from bochner import persist
from bochner._numerics.files import replacing
from bochner.cli.output import cells_table, check_output, facts_table
from bochner.estimators.bank import BaNK
from bochner.estimators.bank_forecaster import BaNKForecaster
from bochner.estimators.learned_tables import LearnedTable
from bochner.estimators.table_base import ClassificationTable, RegressionTable, TableModel
from bochner.learning.periods import Period, dominant_periods, wave_energy
from bochner.tables.encodings import EncodedColumns
from bochner.tables.reading import read_table
from bochner.tables.refusals import InputError

SHOWN_COLUMNS = 8
"""Columns listed or drawn, the most important first: a screen has room for a few lines."""

_SHOWN_PAIRS = 4
"""Pairs of columns listed, of those with the greatest interaction."""

_LEAST_PAIR = 0.01
"""Smallest interaction listed, as a share of the mean squared second derivatives."""


def inspect_model(path: Path, console: Console) -> None:
    """Print the contents of a model file."""
    model = persist.load(path)
    if isinstance(model, TableModel):
        check_is_fitted(model)
    console.print(facts_table({"model": type(model).__name__, **_facts(model)}))
    if isinstance(model, LearnedTable):
        console.print()
        console.print(relevance_table(model))
    if isinstance(model, TableModel):
        kinds = {state["name"]: state["kind"] for state in model.encoder_.columns_}
        console.print()
        console.print(facts_table(kinds))


def _facts(model: Any) -> dict[str, str]:
    if isinstance(model, TableModel):
        record = {name: value for name, value in model.record_.items() if name != "ranges"}
        return {
            **{name.replace("_", " "): _shown(value) for name, value in record.items()},
            "numeric columns": model.encoder_.numeric,
            **(learned_facts(model) if isinstance(model, LearnedTable) else _facts(model.head_)),
        }
    if isinstance(model, BaNK):
        return bank_facts(model)
    if isinstance(model, BaNKForecaster):
        return bank_facts(model.models_[0])
    facts = {}
    if hasattr(model, "kernel_"):
        facts["kernel"] = repr(model.kernel_)
        facts["features"] = f"{2 * model.frequencies_.n_frequencies}, scheme {model.scheme!r}"
    if hasattr(model, "posterior_"):
        facts["alpha"] = _shown(model.alpha_)
        if hasattr(model, "log_evidence_"):  # models of indefinite kernels have none
            facts["log evidence"] = _shown(model.log_evidence_)
    return facts


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def encoded_columns(model: LearnedTable) -> EncodedColumns:
    """Return the encoded columns of a fitted model."""
    return EncodedColumns(model.encoder_.columns_, model.varying_)


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
    first, second = np.triu_indices(len(columns.names), k=1)
    share = model.head_.interactions_[first, second]
    strongest = np.argsort(-share, kind="stable")[:_SHOWN_PAIRS]
    pairs = [
        f"{columns.names[first[k]]} × {columns.names[second[k]]} {share[k]:.0%}"
        for k in strongest
        if share[k] >= _LEAST_PAIR
    ]
    if pairs:
        facts["interactions"] = ", ".join(pairs)
    return facts


def periods_text(found: list[Period]) -> str:
    """Return periods and their shares of the variance."""
    return ", ".join(f"{period.length:.4g} ({period.share:.0%})" for period in found)


def relevance_table(model: LearnedTable) -> Table:
    """Return the most important columns with their importance and inclusion."""
    relevance, names = model.head_.relevance_, encoded_columns(model).names
    order = np.argsort(-relevance.importance, kind="stable")
    shown, rest = order[:SHOWN_COLUMNS], order[SHOWN_COLUMNS:]
    shares = zip(relevance.importance[shown], relevance.inclusion[shown], strict=True)
    cells = [(names[i], f"{a:.1%}", f"{b:.1%}") for i, (a, b) in zip(shown, shares, strict=True)]
    if len(rest):
        cells.append((f"{len(rest)} others", f"{relevance.importance[rest].sum():.1%}", ""))
    return cells_table(("column", "importance", "inclusion"), cells)


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


def _range(values: list[float]) -> str:
    low, high = round(min(values)), round(max(values))
    return str(low) if low == high else f"{low} to {high}"


def predict_table(model_path: Path, path: Path, *, with_std: bool, out: Path | None) -> None:
    """Write predictions as CSV, to ``out`` or to standard output."""
    if out is not None:
        check_output(out, model_path, path)
    model = persist.load(model_path)
    if not isinstance(model, TableModel):
        raise InputError(
            f"{model_path} holds a {type(model).__name__}: expected a model that `bochner fit` "
            "wrote. Load it in Python with bochner.load."
        )
    check_is_fitted(model)
    text = [state["name"] for state in model.encoder_.columns_ if state["kind"] == "text"]
    frame = read_table(path, text=text)
    unused = {model.record_.get("target"), *model.record_.get("dropped", [])}
    frame = frame.drop(columns=[name for name in frame.columns if name in unused])
    predictions = _predictions(model, frame, with_std=with_std)
    if out is None:
        predictions.to_csv(sys.stdout, index=False)
        return
    with replacing(out) as fresh:
        predictions.to_csv(fresh, index=False)


def _predictions(model: TableModel, frame: pd.DataFrame, *, with_std: bool) -> pd.DataFrame:
    if isinstance(model, RegressionTable):
        names = ["prediction", "std"] if with_std else ["prediction"]
        columns = model.predict(frame, return_std=True)
        return pd.DataFrame(dict(zip(names, columns, strict=False)))
    if with_std or not isinstance(model, ClassificationTable):
        raise InputError(
            "--std is for regression, and this model classifies: leave it out; the column "
            "'probability' is the probability of the predicted class."
        )
    probability = model.predict_proba(frame)
    winner = model.classes_[np.argmax(probability, axis=1)]
    return pd.DataFrame({"prediction": winner, "probability": probability.max(axis=1)})

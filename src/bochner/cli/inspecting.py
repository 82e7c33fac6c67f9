"""`bochner inspect`, and the facts about models that `bochner fit` prints."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.utils.validation import check_is_fitted

from bochner import persist
from bochner.cli.output import cells_table, facts_table
from bochner.diagnosis.sensitivity import VarianceShares
from bochner.estimators.bank import BaNK
from bochner.estimators.bank_forecaster import BaNKForecaster
from bochner.estimators.table_base import TableModel
from bochner.learning.ensemble.ensemble import SoftmaxOfLaws, SumOfLaws
from bochner.learning.periods import Period

_SHOWN_COLUMNS = 8
"""Columns listed, the most important first: a screen has room for a few lines."""

_SHOWN_PAIRS = 4
"""Pairs of columns listed, those with the greatest shares."""

LEAST_PAIR = 0.01
"""Least share of a pair that is listed or drawn."""


def inspect_model(path: Path, console: Console) -> None:
    """Print the contents of a model file."""
    model = persist.load(path)
    if isinstance(model, TableModel):
        check_is_fitted(model)
    console.print(facts_table({"model": type(model).__name__, **_facts(model)}))
    if not isinstance(model, TableModel):
        return
    kinds = {state["name"]: state["kind"] for state in model.encoder_.columns_}
    tables = [facts_table(kinds)]
    if isinstance(model.head_, SumOfLaws | SoftmaxOfLaws):
        tables.insert(0, _laws_table(model.head_))
    if model.background_ is not None:  # Older files have none
        with console.status("analysing the model"):
            tables += share_tables(model.importance(), model.interactions())
    for table in tables:
        console.print()
        console.print(table)


def _facts(model: Any) -> dict[str, str]:
    if isinstance(model, TableModel):
        facts = {name.replace("_", " "): _shown(value) for name, value in model.record_.items()}
        if (score := getattr(model, "score_", None)) is not None:
            facts[expected_error(model)] = _shown(score)
        numeric = " and ".join(encoder.numeric for encoder in model._encoders())
        return {**facts, "numeric columns": numeric, **_facts(model.head_)}
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
    if isinstance(value, np.ndarray):
        return ", ".join(map(_shown, value.tolist()))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def expected_error(model: TableModel) -> str:
    """Return the name of the error that a model expects on new rows."""
    return "expected log loss" if hasattr(model, "classes_") else "expected RMSE"


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


def periods_text(found: list[Period]) -> str:
    """Return periods and their shares of the variance."""
    return ", ".join(f"{period.length:.4g} ({period.share:.0%})" for period in found)


def _range(values: list[float]) -> str:
    low, high = round(min(values)), round(max(values))
    return str(low) if low == high else f"{low} to {high}"


def share_tables(importance: VarianceShares, pairs: VarianceShares) -> list[Table]:
    """Return the most important columns, and the pairs that act together, if there are any."""
    n_pairs = min(_SHOWN_PAIRS, int(np.sum(pairs.share >= LEAST_PAIR)))
    cells = _share_cells(importance, _SHOWN_COLUMNS)
    if n_others := len(importance.columns) - len(cells):
        most = importance.share[_SHOWN_COLUMNS]
        cells.append((f"{n_others} more", f"{most:.1%} or less", ""))
    tables = [cells_table(("column", "share of variance", "std error"), cells)]
    if n_pairs:
        headings = "together", "share of variance", "std error"
        tables.append(cells_table(headings, _share_cells(pairs, n_pairs)))
    return tables


def _share_cells(shares: VarianceShares, most: int) -> list[tuple[str, str, str]]:
    rows = zip(shares.columns[:most], shares.share, shares.std_error, strict=False)
    return [
        (
            name if isinstance(name, str) else " × ".join(name),
            f"{share:.1%}",
            "" if np.isnan(error) else f"{error:.1%}",
        )
        for name, share, error in rows
    ]


def _laws_table(head: SumOfLaws | SoftmaxOfLaws) -> Table:
    """Return the kernels of a sum of laws and their weights."""
    weights = head.weights if isinstance(head, SumOfLaws) else head.softmax.weights
    rows = zip(head.laws.members, weights, strict=True)
    cells = [
        (law.name, type(law.found.kernel).__name__, str(len(law.columns)), _shown(weight))
        for law, weight in rows
    ]
    return cells_table(("law", "kernel", "inputs", "weight"), cells)

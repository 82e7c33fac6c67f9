"""`bochner inspect`: content of a model file."""

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bochner import files as persist
from bochner._base.number_texts import number, percent
from bochner.cli.activity import reporting
from bochner.cli.model_files import check_table_model
from bochner.cli.output import cells_table, facts_table
from bochner.cli.screen import print_shares
from bochner.comparison.forecast_errors import model_facts
from bochner.comparison.verdict import FUNCTIONS
from bochner.learned.learned_kernel_fit import LearnedKernelEstimator
from bochner.series.forecaster import Forecaster
from bochner.tables.table_model import TableModel
from bochner.tables.weighted_sum import SoftmaxOfLaws, SumOfLaws

_KINDS = {
    "numeric": "numbers",
    "date": "dates",
    "text": "text",
    "constant": "constant, not used",
    "empty": "empty, not used",
    "identifier": "identifiers, not used",
}
"""Words for the kinds of encoded columns."""

_TESTED = {
    "rmse": "RMSE",
    "mae": "mean absolute error",
    "coverage": "coverage of the intervals",
    "log_loss": "log loss",
    "error": "error rate",
}
"""Errors on test rows that a card shows, by their names in the record."""


_SHARES = ("coverage", "error")
"""Errors that are shares of the rows."""


def inspect_model(path: Path, console: Console) -> None:
    """Print the contents of a model file."""
    model = persist.load(path)
    if not isinstance(model, TableModel):
        console.print(facts_table({"model": type(model).__name__, **_facts(model)}))
        return
    check_table_model(model)
    kinds = {
        state["name"]: _KINDS.get(state["kind"], state["kind"]) for state in model.encoder_.columns_
    }
    tables = [
        _card(model),
        _laws_table(model.head_),
        cells_table(("column", "kind"), kinds.items()),
    ]
    for place, table in enumerate(tables):
        if place:
            console.print()
        console.print(table)
    with reporting() as progress:
        progress("analysing the model")
        shares = model.importance(), model.interactions()
    print_shares(console, *shares)


def _card(model: TableModel) -> Table:
    """Return a summary of a table model: target, training data and test scores."""
    record = model.record_
    target = record.get("target", "unknown")
    named = target if isinstance(target, str) else ", ".join(target)
    source = f" of {record['source']}" if "source" in record else ""
    facts = {
        "model": type(model).__name__,
        "target": named,
        "rows": f"{record['n_samples']:,}{source}",
    }
    roles = {"weight": "weights", "group": "groups", "time": "times", "id": "names of rows"}
    facts |= {role: str(record[name]) for name, role in roles.items() if name in record}
    if record.get("dropped"):
        facts["left out"] = ", ".join(record["dropped"])
    tested = [
        f"{name} {_shown(record[f'test_{key}'], is_share=key in _SHARES)}"
        for key, name in _TESTED.items()
        if f"test_{key}" in record and not (key == "error" and "test_rmse" in record)
    ]
    if tested:
        facts["tested"] = f"on {record['n_test_samples']:,} rows: {', '.join(tested)}"
    if (score := getattr(model, "score_", None)) is not None:
        metric = "log loss" if hasattr(model, "classes_") else "RMSE"
        facts["expected"] = f"{metric} {_shown(score)} on new rows, from rows left out of the fit"
    if hasattr(model, "classes_"):
        facts["classes"] = ", ".join(map(str, model.classes_))
    return facts_table(facts)


def _facts(model: BaseEstimator) -> dict[str, str]:
    """Return facts about a model of numbers."""
    if isinstance(model, LearnedKernelEstimator):
        return bank_facts(model)
    if isinstance(model, Forecaster):
        return forecast_facts(model)
    facts = {}
    if hasattr(model, "kernel_"):
        facts["kernel"] = repr(model.kernel_)
        facts["features"] = f"{2 * model.frequencies_.n_frequencies}, scheme {model.scheme!r}"
    if getattr(model, "residual_", None) is not None:
        facts["landmarks"] = str(len(model.residual_.landmarks))
    if hasattr(model, "posterior_"):
        facts["alpha"] = _shown(model.alpha_)
        if hasattr(model, "log_evidence_"):  # models of indefinite kernels have none
            facts["log evidence"] = _shown(model.log_evidence_)
    return facts


def _shown(value: object, *, is_share: bool = False) -> str:
    if isinstance(value, np.ndarray | list):
        return ", ".join(_shown(each, is_share=is_share) for each in np.asarray(value).tolist())
    if isinstance(value, float | np.floating):
        return percent(float(value), digits=1) if is_share else number(float(value))
    return f"{value:,}" if isinstance(value, int | np.integer) else str(value)


def bank_facts(head: LearnedKernelEstimator) -> dict[str, str]:
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


def forecast_facts(model: Forecaster) -> dict[str, str]:
    """Return the seasons, the trends and the transformation of each series."""
    check_is_fitted(model, "series_")
    facts: dict[str, str] = {}
    for name, series in model.series_.items():
        before, law = "" if model.is_single_ else f"{name}: ", series.law
        facts |= {f"{before}{head.lower()}": text for head, text in model_facts(law).items()}
        sizes = [f"{each.name} {number(each.std, 3)}" for each in law.periods()]
        if sizes:
            facts[f"{before}standard deviation"] = ", ".join(sizes)
    return facts


def _range(values: list[float]) -> str:
    low, high = round(min(values)), round(max(values))
    return str(low) if low == high else f"{low} to {high}"


def _laws_table(head: SumOfLaws | SoftmaxOfLaws) -> Table:
    """Return the kernels of a sum of laws and their weights."""
    weights = head.weights if isinstance(head, SumOfLaws) else head.softmax.weights
    rows = zip(head.laws.members, weights, strict=True)
    cells = [
        (FUNCTIONS.get(law.name, law.name), law.kind, f"{len(law.columns):,}", _shown(weight))
        for law, weight in rows
    ]
    return cells_table(("functions", "kernel", "inputs", "weight"), cells)

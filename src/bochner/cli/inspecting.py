"""`bochner inspect`."""

from pathlib import Path
from typing import Any

from rich.console import Console
from sklearn.utils.validation import check_is_fitted

from bochner import persist
from bochner.cli.learned import bank_facts, learned_facts, relevance_table
from bochner.cli.output import facts_table
from bochner.estimators.bank import BaNK
from bochner.estimators.bank_forecaster import BaNKForecaster
from bochner.estimators.learned_tables import LearnedTable
from bochner.estimators.table_base import TableModel


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

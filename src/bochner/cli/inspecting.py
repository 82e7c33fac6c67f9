"""`bochner inspect`."""

from pathlib import Path
from typing import Any

from rich.console import Console
from sklearn.utils.validation import check_is_fitted

from bochner import persist
from bochner.cli.output import facts_table
from bochner.estimators.table_models import TableModel


def inspect_model(path: Path, console: Console) -> None:
    """Print what a model file holds."""
    model = persist.load(path)
    if isinstance(model, TableModel):
        check_is_fitted(model)
    facts = {"model": type(model).__name__, **_facts(model)}
    console.print(facts_table(facts))
    if isinstance(model, TableModel):
        console.print()
        console.print(facts_table(_columns(model)))


def _facts(model: Any) -> dict[str, str]:
    if isinstance(model, TableModel):
        head = model.head_
        record = model.record_
        return {
            **{name.replace("_", " "): _shown(value) for name, value in record.items()},
            "numeric columns": model.encoder_.numeric,
            **_facts(head),
        }
    facts = {}
    if hasattr(model, "kernel_"):
        facts["kernel"] = repr(model.kernel_)
        facts["features"] = f"{2 * model.frequencies_.n_frequencies}, scheme {model.scheme!r}"
    if hasattr(model, "posterior_"):
        facts["alpha"] = _shown(model.alpha_)
        if hasattr(model, "log_evidence_"):  # a Krein space has none
            facts["log evidence"] = _shown(model.log_evidence_)
    return facts


def _columns(model: TableModel) -> dict[str, str]:
    """Return what every column of the table is."""
    return {state["name"]: state["kind"] for state in model.encoder_.columns_}


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)

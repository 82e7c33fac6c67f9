"""`bochner fit`."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from sklearn.model_selection import train_test_split

from bochner import persist
from bochner.cli.learned import column_ranges, learned_facts, relevance_table, write_pictures
from bochner.cli.models import Model
from bochner.cli.output import (
    check_folder,
    check_output,
    facts_table,
    notes,
    reporting,
    results_table,
)
from bochner.comparison.contenders import CONTENDERS, OURS, Split, measure
from bochner.estimators.learned_tables import LearnedTable
from bochner.estimators.table_base import TableModel
from bochner.tables.checks import (
    Task,
    check_table,
    check_target,
    drop_columns,
    infer_task,
    split_target,
)
from bochner.tables.reading import read_table
from bochner.tables.refusals import InputError

if TYPE_CHECKING:
    import pandas as pd

_TASKS: dict[str, Task | None] = {
    "auto": None,
    "regression": "regression",
    "classification": "classification",
}
_REGRESSION_COLUMNS = {"rmse": "RMSE", "error": "MSE / variance", "fit_seconds": "seconds"}
_CLASSIFICATION_COLUMNS = {"error": "error rate", "fit_seconds": "seconds"}

_ENCODED = {"standardize": "standardised", "normal_quantile": "mapped by quantiles to a normal"}


@dataclass(frozen=True, slots=True)
class FitOptions:
    """The options of `bochner fit`."""

    target: str
    model: Model
    task: str
    test_size: float
    seed: int
    out: Path
    drop: tuple[str, ...]
    compare: bool
    pictures: Path | None = None


def single_target(names: Sequence[str]) -> str:
    """Return the one name that --target was given."""
    if len(names) != 1:
        raise InputError(
            f"--target was given {len(names)} times ({', '.join(names)}): expected one column. "
            "Fit a model for each."
        )
    return names[0]


def fit_table(path: Path, options: FitOptions, console: Console) -> None:
    """Fit, measure on held-out rows, compare, print and save."""
    check_output(options.out, path)
    if options.pictures is not None:
        if not options.model.is_learned:
            raise InputError(
                "--pictures show what --model bank or gabasr has learned, and this model is "
                f"{options.model.kind}: leave it out, or use one of those."
            )
        check_folder(options.pictures)
    with reporting(console) as progress:
        progress(f"reading {path}")
        split = _read_split(path, options)
        model = options.model.make(split.task, options.seed)
        with notes() as noted:
            results = {OURS: measure(model, split, progress=progress)}
        for name, contender in CONTENDERS.items():
            if options.compare and name != OURS:
                progress(f"comparing with: {name}")
                other = contender(split.task, options.model.n_features, options.seed)
                results[name] = measure(other, split)
        model.record_ |= _record(options, split, results[OURS])
        written = []
        if isinstance(model, LearnedTable):
            model.record_["ranges"] = column_ranges(model, split.X)
            if options.pictures is not None:
                progress("drawing")
                written = write_pictures(model, split, options.pictures)
    persist.save(model, options.out)
    _print(console, options, split, model, results)
    for note in noted:
        console.print(f"\nNote: {note}", markup=False)
    saved = ", ".join(map(str, (options.out, *written)))
    console.print(f"\nSaved {saved}; next: bochner predict {options.out} FILE", markup=False)


def _read_split(path: Path, options: FitOptions) -> Split:
    if not 0.0 < options.test_size < 1.0:
        raise InputError(f"--test-size must lie between 0 and 1, got {options.test_size}.")
    features, target = split_target(drop_columns(read_table(path), options.drop), options.target)
    task = _task(options.task, target)
    check_target(target, task)
    check_table(features)
    _check_shares(len(target), target.nunique() if task == "classification" else 1, options)
    X, X_test, y, y_test = train_test_split(
        features,
        target.to_numpy(),
        test_size=options.test_size,
        random_state=options.seed,
        stratify=target if task == "classification" else None,
    )
    if len(set(y)) == 1:
        raise InputError(
            f"The rows to fit all have the target {y[0]}: choose another --seed or --test-size, "
            "or add rows."
        )
    return Split(X, y, X_test, y_test, task)


def _check_shares(n_rows: int, n_classes: int, options: FitOptions) -> None:
    """Refuse a share of test rows that leaves too few, or a class without rows, on a side."""
    n_test = ceil(options.test_size * n_rows)
    n_fit, fewest = n_rows - n_test, max(2, n_classes)
    if n_fit < fewest or n_test < n_classes:
        classes = f", for {n_classes} classes" if n_classes > 1 else ""
        raise InputError(
            f"--test-size {options.test_size:g} of {n_rows} rows leaves {n_fit} to fit and "
            f"{n_test} to test: expected at least {fewest} and {n_classes}{classes}. "
            "Choose another --test-size, or add rows."
        )


def _task(name: str, target: "pd.Series") -> Task:
    if name not in _TASKS:
        raise InputError(f"--task must be one of {', '.join(_TASKS)}, got {name!r}.")
    return _TASKS[name] or infer_task(target)


def _record(options: FitOptions, split: Split, metrics: dict[str, float]) -> dict[str, Any]:
    return {
        "target": options.target,
        "dropped": list(options.drop),
        "task": split.task,
        "n_columns": split.X.shape[1],
        "n_test_samples": len(split.y_test),
        **{f"test_{name}": value for name, value in metrics.items() if name != "fit_seconds"},
    }


def _print(
    console: Console,
    options: FitOptions,
    split: Split,
    model: TableModel,
    results: dict[str, dict[str, float]],
) -> None:
    regression = split.task == "regression"
    console.print(
        f"{split.task.capitalize()} of {options.target!r} from {_columns(split.X.shape[1])}: "
        f"{len(split.y)} rows to fit, {len(split.y_test)} to test, "
        f"{options.model.n_features} features.",
        markup=False,
    )
    if isinstance(model, LearnedTable):
        console.print("Learned:")
        console.print(facts_table(learned_facts(model)))
        console.print()
        console.print(relevance_table(model))
        console.print()
    else:
        console.print(
            f"Numbers are {_ENCODED[model.encoder_.numeric]}; kernel: "
            f"{type(model.head_.kernel_).__name__}, scheme {model.head_.scheme!r}.\n",
            markup=False,
        )
    console.print(
        results_table(results, _REGRESSION_COLUMNS if regression else _CLASSIFICATION_COLUMNS)
    )
    if regression:
        coverage = results[OURS]["coverage"]
        console.print(f"\nThe 90 % intervals cover {coverage:.1%} of the test rows.")


def _columns(count: int) -> str:
    return f"{count} column{'' if count == 1 else 's'}"

"""`bochner fit`: read, split, fit, compare, save, print."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
from rich.console import Console
from rich.table import Table

from bochner import persist
from bochner.cli.inspecting import expected_error, share_tables
from bochner.cli.output import check_folder, check_output, counted, reporting, results_table
from bochner.cli.pictures import write_pictures
from bochner.comparison.contenders import N_COMPONENTS, OURS, installed, measure
from bochner.comparison.split import Split, split_rows
from bochner.estimators.table_models import TableClassifier, TableRegressor
from bochner.learning.ensemble.learner import EFFORTS
from bochner.tables.checks import (
    Task,
    check_table,
    check_target,
    drop_columns,
    infer_task,
    side_column,
    split_target,
)
from bochner.tables.columns import labels
from bochner.tables.reading import read
from bochner.tables.refusals import InputError, nearest

_CHOICES: Mapping[str, Sequence[str]] = {
    "task": ("auto", *get_args(Task)),
    "method": ("auto", "learned", "fixed"),
    "effort": tuple(EFFORTS),
}
_MODELS: Mapping[str, Any] = {"regression": TableRegressor, "classification": TableClassifier}
_METRICS = {
    "regression": {"rmse": "RMSE", "error": "MSE / variance", "fit_seconds": "seconds"},
    "classification": {"log_loss": "log loss", "error": "error rate", "fit_seconds": "seconds"},
}

Results = dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """Options of `bochner fit`."""

    target: Sequence[str]
    task: str
    method: str
    effort: str
    time_limit: float | None
    n_jobs: int | None
    weight: str | None
    group: str | None
    time: str | None
    test_size: float
    seed: int
    out: Path
    drop: Sequence[str]
    compare: bool
    pictures: Path | None


def fit_table(path: Path, options: FitOptions, console: Console) -> None:
    """Fit a model to a table, measure it on held-out rows, save it and print the results."""
    _check_options(path, options)
    with reporting(console) as progress:
        progress(f"reading {path}")
        split = _read(path, options)
        model = _MODELS[split.task](
            method=options.method,
            effort=options.effort,
            time_limit=options.time_limit,
            n_jobs=options.n_jobs,
            random_state=options.seed,
        )
        # Fits of the other methods leave no rows out; then groups and times choose test rows only.
        leaves_out = options.method == "auto"
        together = {"groups": split.groups, "time": split.time} if leaves_out else {}
        results = {OURS: measure(model, split, progress=progress, **together)}
        for name, contender in installed().items() if options.compare else ():
            if name != OURS:
                progress(f"comparing with: {name}")
                results[name] = measure(contender(split.task, N_COMPONENTS, options.seed), split)
        model.record_ |= _record(options, split, results[OURS])
        progress("analysing the model")
        shares = model.importance(), model.interactions()
        written = []
        if options.pictures is not None:
            progress("drawing")
            written = write_pictures(model, split, *shares, options.pictures)
    persist.save(model, options.out)
    _print(console, options, split, model, results, share_tables(*shares))
    saved = ", ".join(map(str, (options.out, *written)))
    console.print(f"\nSaved {saved}; next: bochner predict {options.out} FILE", markup=False)


def _check_options(path: Path, options: FitOptions) -> None:
    """Raise an error that needs no data, and make the folder of the pictures."""
    if len(options.target) != 1:
        raise InputError(
            f"--target was given {len(options.target)} times ({', '.join(options.target)}): "
            "expected one column. Fit a model for each."
        )
    for name, choices in _CHOICES.items():
        given = getattr(options, name)
        if given not in choices:
            near = nearest(given, choices)
            hint = f" Did you mean {near!r}?" if near else ""
            raise InputError(f"--{name} must be one of {', '.join(choices)}, got {given!r}.{hint}")
    if options.group is not None and options.time is not None:
        raise InputError(
            "--group and --time both choose the rows that are held out: give one of them."
        )
    check_output(options.out, path)
    if options.pictures is not None:
        check_folder(options.pictures)


def _read(path: Path, options: FitOptions) -> Split:
    """Return the checked rows of a table, split."""
    sides = (options.weight, options.group, options.time)
    named = {*options.target, *options.drop, *(name for name in sides if name is not None)}
    frame = drop_columns(read(path, keep=named).frame, options.drop)
    rows: dict[str, Any] = {}
    if options.weight is not None:
        weight = side_column(frame, options.weight, "weight", ("numeric",))
        rows["weight"] = weight.values
    if options.group is not None:
        group = side_column(frame, options.group, "group")
        rows["groups"] = np.unique(labels(group.raw, group.present), return_inverse=True)[1]
    if options.time is not None:
        rows["time"] = side_column(frame, options.time, "time", ("numeric", "date")).values
    frame = drop_columns(frame, {name for name in (options.weight, options.group) if name})
    features, target = split_target(frame, options.target[0])
    task: Any = infer_task(target) if options.task == "auto" else options.task
    check_target(target, task)
    check_table(features)
    return split_rows(features, target, task, options.test_size, options.seed, **rows)


def _record(options: FitOptions, split: Split, metrics: dict[str, float]) -> dict[str, Any]:
    named = {name: getattr(options, name) for name in ("weight", "group", "time")}
    return {
        "target": options.target[0],
        "dropped": list(options.drop),
        **{name: column for name, column in named.items() if column is not None},
        "task": split.task,
        "n_columns": split.X.shape[1],
        "n_test_samples": len(split.y_test),
        **{f"test_{name}": value for name, value in metrics.items() if name != "fit_seconds"},
    }


def _print(
    console: Console,
    options: FitOptions,
    split: Split,
    model: TableRegressor | TableClassifier,
    results: Results,
    tables: list[Table],
) -> None:
    console.print(
        f"{split.task.capitalize()} of {options.target[0]!r} from "
        f"{counted(split.X.shape[1], 'column')}: {len(split.y)} rows to fit, {len(split.y_test)} "
        "to test.\n",
        markup=False,
    )
    console.print(results_table(results, _METRICS[split.task]))
    console.print()
    if "coverage" in results[OURS]:
        coverage = results[OURS]["coverage"]
        console.print(f"The 90 % intervals cover {coverage:.1%} of the test rows.")
    if model.score_ is not None:
        name = expected_error(model)
        console.print(f"The {name} of new rows is {model.score_:.4g}, by rows left out of the fit.")
    for table in tables:
        console.print()
        console.print(table)

"""`bochner fit`: the kinds of models and their options; read, split, fit, compare, save, print."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from rich.console import Console

from bochner import persist
from bochner.cli.inspecting import column_ranges, learned_facts, relevance_table
from bochner.cli.output import (
    check_folder,
    check_output,
    counted,
    facts_table,
    notes,
    reporting,
    results_table,
)
from bochner.cli.pictures import write_pictures
from bochner.comparison.contenders import CONTENDERS, OURS, measure
from bochner.comparison.split import Split, split_rows
from bochner.estimators.learned_tables import (
    LearnedTable,
    LearnedTableClassifier,
    LearnedTableRegressor,
)
from bochner.estimators.table_base import TableModel
from bochner.estimators.table_models import TableClassifier, TableRegressor
from bochner.tables.checks import (
    Task,
    check_table,
    check_target,
    drop_columns,
    infer_task,
    split_target,
)
from bochner.tables.reading import read_table
from bochner.tables.refusals import InputError, nearest

if TYPE_CHECKING:
    import pandas as pd

_LEARNED: Mapping[str, Any] = {
    "n_frequencies": 200,
    "n_burn_in": 100,
    "n_samples": 100,
    "time_limit": 120.0,
    "trend": 0,
}
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "bank": _LEARNED,
    "gabasr": _LEARNED,
    "fourier": {"kernel": "auto", "n_components": 1024},
}
"""Defaults of the options, by kind of model. A time limit of zero means no limit."""

_CLASSES: Mapping[tuple[str, str], Callable[..., TableModel]] = {
    ("bank", "regression"): LearnedTableRegressor,
    ("bank", "classification"): LearnedTableClassifier,
    ("gabasr", "regression"): partial(LearnedTableRegressor, envelope="learned"),
    ("gabasr", "classification"): partial(LearnedTableClassifier, envelope="learned"),
    ("fourier", "regression"): partial(TableRegressor, method="fixed"),
    ("fourier", "classification"): TableClassifier,
}


class Model:
    """A kind of model and its options, see :data:`DEFAULTS`."""

    def __init__(self, kind: str, given: Mapping[str, Any]) -> None:
        """Take the given options; those that are ``None`` keep defaults. Refuse other options."""
        if kind not in DEFAULTS:
            near = nearest(kind, DEFAULTS)
            hint = f" Did you mean {near!r}?" if near else ""
            raise InputError(f"--model must be one of {', '.join(DEFAULTS)}, got {kind!r}.{hint}")
        named = {name: value for name, value in given.items() if value is not None}
        for name in named:
            if name not in DEFAULTS[kind]:
                owner = next(other for other in DEFAULTS if name in DEFAULTS[other])
                raise InputError(
                    f"--{name.replace('_', '-')} is an option of --model {owner}, and this model "
                    f"is {kind}: leave it out, or use --model {owner}."
                )
        self.kind, self.options = kind, {**DEFAULTS[kind], **named}

    @property
    def is_learned(self) -> bool:
        """Whether the kernel is learned by sampling."""
        return self.kind != "fourier"

    @property
    def n_features(self) -> int:
        """Number of real features."""
        name, factor = ("n_frequencies", 2) if self.is_learned else ("n_components", 1)
        return factor * int(self.options[name])

    def make(self, task: str, seed: int) -> TableModel:
        """Return the estimator for a task."""
        options = dict(self.options)
        if "time_limit" in options:
            options["time_limit"] = options["time_limit"] or None
        return _CLASSES[self.kind, task](**options, random_state=seed)


_TASKS: dict[str, Task | None] = {"auto": None, **{task: task for task in get_args(Task)}}
_METRICS = {
    "regression": {"rmse": "RMSE", "error": "MSE / variance", "fit_seconds": "seconds"},
    "classification": {"error": "error rate", "fit_seconds": "seconds"},
}
_ENCODED = {"standardize": "standardised", "normal_quantile": "mapped by quantiles to a normal"}

Results = dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class FitOptions:
    """Options of `bochner fit`."""

    target: Sequence[str]
    model: Model
    task: str
    test_size: float
    seed: int
    out: Path
    drop: Sequence[str]
    compare: bool
    pictures: Path | None = None


def fit_table(path: Path, options: FitOptions, console: Console) -> None:
    """Fit a model to a table, measure it on held-out rows, save it and print the results."""
    _check_options(path, options)
    with reporting(console) as progress:
        progress(f"reading {path}")
        features, target, task = _read(path, options)
        split = split_rows(features, target, task, options.test_size, options.seed)
        model = options.model.make(task, options.seed)
        with notes() as noted:
            results = {OURS: measure(model, split, progress=progress)}
        for name, contender in CONTENDERS.items() if options.compare else ():
            if name != OURS:
                progress(f"comparing with: {name}")
                other = contender(task, options.model.n_features, options.seed)
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


def _check_options(path: Path, options: FitOptions) -> None:
    """Raise an error that needs no data, and make the folder of the pictures."""
    if len(options.target) != 1:
        raise InputError(
            f"--target was given {len(options.target)} times ({', '.join(options.target)}): "
            "expected one column. Fit a model for each."
        )
    if options.task not in _TASKS:
        raise InputError(f"--task must be one of {', '.join(_TASKS)}, got {options.task!r}.")
    check_output(options.out, path)
    if options.pictures is not None:
        if not options.model.is_learned:
            raise InputError(
                "--pictures show what --model bank or gabasr has learned, and this model is "
                f"{options.model.kind}: leave the option out, or use one of those models."
            )
        check_folder(options.pictures)


def _read(path: Path, options: FitOptions) -> tuple[pd.DataFrame, pd.Series, Task]:
    """Return checked features, target and task."""
    frame = drop_columns(read_table(path), options.drop)
    features, target = split_target(frame, options.target[0])
    task = _TASKS[options.task] or infer_task(target)
    check_target(target, task)
    check_table(features)
    return features, target, task


def _record(options: FitOptions, split: Split, metrics: dict[str, float]) -> dict[str, Any]:
    return {
        "target": options.target[0],
        "dropped": list(options.drop),
        "task": split.task,
        "n_columns": split.X.shape[1],
        "n_test_samples": len(split.y_test),
        **{f"test_{name}": value for name, value in metrics.items() if name != "fit_seconds"},
    }


def _print(
    console: Console, options: FitOptions, split: Split, model: TableModel, results: Results
) -> None:
    console.print(
        f"{split.task.capitalize()} of {options.target[0]!r} from "
        f"{counted(split.X.shape[1], 'column')}: {len(split.y)} rows to fit, {len(split.y_test)} "
        f"to test, {options.model.n_features} features.",
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
    console.print(results_table(results, _METRICS[split.task]))
    if "coverage" in results[OURS]:
        coverage = results[OURS]["coverage"]
        console.print(f"\nThe 90 % intervals cover {coverage:.1%} of the test rows.")

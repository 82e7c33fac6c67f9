"""`bochner fit`: read, hold rows out, fit, compare, save, show."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np
from rich.console import Console
from rich.text import Text

from bochner import persist
from bochner._numerics.arrays import Array, as_array
from bochner.cli.choosing import TestRows, chosen_rows
from bochner.cli.output import check_model_output, check_report, noting_warnings, plain, reporting
from bochner.cli.records import fit_record, versions
from bochner.cli.screen import print_studies
from bochner.comparison.split import Split, split_rows
from bochner.comparison.study import Model, Study, TableFacts, compared, table_facts
from bochner.estimators.table_classifier import TableClassifier
from bochner.estimators.table_regressor import TableRegressor
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
from bochner.tables.reading import ReadOptions, TableRead, read
from bochner.tables.refusals import InputError, nearest

if TYPE_CHECKING:
    import pandas as pd

_CHOICES: Mapping[str, Sequence[str]] = {
    "task": ("auto", *get_args(Task)),
    "method": ("auto", "learned", "fixed"),
    "effort": tuple(EFFORTS),
    "split": ("auto", "random", "time", "group"),
}
_MODELS: Mapping[str, Any] = {"regression": TableRegressor, "classification": TableClassifier}


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """Options of `bochner fit`."""

    target: Sequence[str]
    task: str = "auto"
    method: str = "auto"
    effort: str = "default"
    time_limit: float | None = None
    n_jobs: int | None = None
    weight: str | None = None
    id: str | None = None
    drop: Sequence[str] = ()
    split: str = "auto"
    time: str | None = None
    group: str | None = None
    test_size: float = 0.2
    interval: float = 0.9
    seed: int = 0
    compare: bool = True
    read: ReadOptions = field(default_factory=ReadOptions)
    out: Path = Path("model.bochner")
    report: Path | None = None
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The checked rows of a table, and how they are split."""

    facts: TableFacts
    layout: Mapping[str, Any]
    split: Split
    rows: TestRows


def fit_table(path: Path, options: FitOptions, console: Console) -> None:
    """Fit a model to a table, measure it on test rows, save it and show what was found."""
    _check_options(path, options)
    is_silent = options.quiet or options.as_json
    with noting_warnings() as notes, reporting(console, is_quiet=is_silent) as progress:
        progress(f"reading {path}")
        table = _table(path, options)
        model = _MODELS[table.split.task](
            method=options.method,
            effort=options.effort,
            time_limit=options.time_limit,
            n_jobs=options.n_jobs,
            random_state=options.seed,
        )
        studies = _studied(path, options, table, model, progress)
        persist.save(model, options.out)
        if options.report is not None:
            from bochner import report

            progress("writing the report")
            report.write(studies, options.report)
    if options.as_json:
        record = fit_record(studies, notes, options.out, options.report)
        sys.stdout.write(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    elif not options.quiet:
        print_studies(console, studies, notes, is_verbose=options.verbose)
        written = [f"\nModel   {options.out}"]
        if options.report is not None:
            written.append(f"Report  {options.report}")
        for line in (*written, f"Next    bochner predict {options.out} FILE --interval 90"):
            console.print(Text(plain(line)), soft_wrap=True)


def _check_options(path: Path, options: FitOptions) -> None:
    """Raise an error that needs no data."""
    for name, choices in _CHOICES.items():
        given = getattr(options, name)
        if given not in choices:
            near = nearest(given, choices)
            hint = f" Did you mean {near!r}?" if near else ""
            raise InputError(f"--{name} must be one of {', '.join(choices)}, got {given!r}.{hint}")
    if options.report is not None:
        import bochner.report  # noqa: F401  (so that a missing extra is noticed before the fit)
    if len(set(options.target)) < len(options.target):
        raise InputError(f"--target names a column twice: {', '.join(options.target)}.")
    if options.quiet and options.verbose:
        raise InputError("--quiet and --verbose exclude each other: give one of them.")
    inputs = [] if str(path) == "-" else [path]
    check_model_output(options.out, *inputs)
    if options.report is not None:
        if options.report.absolute() == options.out.absolute():
            raise InputError(f"--out and --report both name {options.out}: give two files.")
        check_report(options.report, *inputs)


def _table(path: Path, options: FitOptions) -> _Table:
    roles = (options.weight, options.id, options.group, options.time)
    kept = {*options.target, *options.drop, *(name for name in roles if name is not None)}
    found: TableRead = read(path, options.read, keep=kept)
    frame = drop_columns(found.frame, options.drop)
    sides: dict[str, Any] = {}
    if options.weight is not None:
        sides["weight"] = _weights(frame, options.weight)
    if options.id is not None:
        side_column(frame, options.id, "id")
    rows = chosen_rows(frame, options)
    aside = {name for name in (options.weight, options.id, rows.group) if name}
    if both := {*aside, options.time}.intersection(options.target):
        raise InputError(f"{both.pop()!r} is the target and has another role: name two columns.")
    frame = drop_columns(frame, aside)
    features, target = _targets(frame, options.target)
    task = _task(target, options.task)
    check_table(features)
    split = split_rows(
        features,
        target if target.shape[1] > 1 else target.iloc[:, 0],
        task,
        options.test_size,
        options.seed,
        **sides,
        **rows.per_row,
    )
    facts = table_facts(features, str(path), found.notes)
    return _Table(facts, found.layout.to_record(), split, rows)


def _weights(frame: pd.DataFrame, name: str) -> Array:
    column = side_column(frame, name, "weight", ("numeric",))
    if (wrong := np.flatnonzero(column.values < 0.0)).size:
        raise InputError(
            f"The weight {name!r} must not be negative, and is {column.values[wrong[0]]:.4g} in "
            f"row {wrong[0] + 1}: expected zero or more in every row."
        )
    return as_array(column.values)


def _targets(frame: pd.DataFrame, names: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the features and the complete targets, a column each."""
    features, targets = frame, []
    for name in names:
        features, target = split_target(features, name)
        targets.append(target)
    import pandas as pd

    return features, pd.concat(targets, axis=1)


def _task(target: pd.DataFrame, given: str) -> Task:
    """Return the task of the targets, and raise InputError if they do not suit it."""
    several = target.shape[1] > 1
    first = target.iloc[:, 0]
    task = cast(Task, given)
    if given == "auto":
        task = "regression" if several else infer_task(first)
    if several and task == "classification":
        raise InputError(
            f"--target was given {target.shape[1]} times: several targets must be numbers. Fit a "
            "model to each."
        )
    for name in target.columns:
        check_target(target[name], task)
    return task


def _studied(
    path: Path, options: FitOptions, table: _Table, model: Model, progress: Any
) -> list[Study]:
    """Fit and compare, and return a study of each target."""
    split = table.split
    # Fits of the other methods leave no rows out; then groups and times choose test rows only.
    leaves_out = options.method == "auto"
    together = {"groups": split.groups, "time": split.time} if leaves_out else {}
    outcomes = compared(
        model,
        split,
        level=options.interval,
        seed=options.seed,
        compare=options.compare,
        progress=progress,
        **together,
    )
    progress("analysing the model")
    shares = model.importance(), model.interactions()
    command = {"command": _command(path, options), "seed": options.seed, **versions()}
    studies = [
        Study(
            model,
            name,
            table.facts,
            split.of_target(number),
            of_target,
            *shares,
            kind=table.rows.kind,
            reason=table.rows.reason,
            record=command,
        )
        for number, (name, of_target) in enumerate(zip(options.target, outcomes, strict=True))
    ]
    model.record_ |= _record(options, table, studies)
    return studies


def _command(path: Path, options: FitOptions) -> str:
    """Return the command that repeats the fit."""
    given: list[str] = ["bochner", "fit", str(path)]
    for name in options.target:
        given += ["--target", name]
    default = FitOptions(target=())
    for name in ("task", "method", "effort", "time_limit", "weight", "id", "split", "time",
                 "group", "test_size", "interval", "seed"):  # fmt: skip
        value = getattr(options, name)
        if value != getattr(default, name):
            given += [f"--{name.replace('_', '-')}", str(value)]
    for name in options.drop:
        given += ["--drop", name]
    return " ".join(f'"{part}"' if any(map(str.isspace, part)) else part for part in given)


def _record(options: FitOptions, table: _Table, studies: Sequence[Study]) -> dict[str, Any]:
    """Return what a model file keeps of the fit."""
    named = {"weight": options.weight, "group": table.rows.group, "time": table.rows.time,
             "id": options.id}  # fmt: skip
    several = len(studies) > 1
    own = [study.own.scores() for study in studies]
    tested = {
        f"test_{name}": [scores[name].value for scores in own] if several else score.value
        for name, score in own[0].items()
        if np.isfinite(score.value)
    }
    return {
        "target": list(options.target) if several else options.target[0],
        "dropped": list(options.drop),
        **{name: column for name, column in named.items() if column is not None},
        "task": table.split.task,
        "source": table.facts.source,
        "layout": dict(table.layout),
        "interval": options.interval,
        "n_columns": table.split.X.shape[1],
        "n_test_samples": len(table.split.y_test),
        **tested,
    }

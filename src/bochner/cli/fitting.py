"""`bochner fit`: read, hold rows out, fit, compare, save, show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from rich.console import Console
from rich.text import Text

from bochner import files as persist
from bochner._base.arrays import Array, as_array
from bochner._base.progress import Progress
from bochner.cli.activity import reporting
from bochner.cli.choosing import SplitChoice, chosen_rows
from bochner.cli.fit_options import FitOptions
from bochner.cli.options import read_options
from bochner.cli.output import noting_warnings, plain, write_json
from bochner.cli.process_start import seconds_since_start
from bochner.cli.records import fit_record
from bochner.cli.screen import print_studies
from bochner.cli.stages import LEAST_SECONDS, Stages
from bochner.comparison.contenders import timed_fit
from bochner.comparison.others import add_others
from bochner.comparison.split import Split, split_rows
from bochner.comparison.study import (
    Model,
    Study,
    TableFacts,
    own_outcomes,
    row_names,
    studies_of,
    table_facts,
    versions,
)
from bochner.features.weight_meaning import are_whole
from bochner.files.errors import InputError
from bochner.files.reading import TableRead, named_by, read
from bochner.files.reading_options import ReadOptions
from bochner.tables.fingerprints import fingerprint
from bochner.tables.sensitivity import VarianceShares
from bochner.tables.table_checks import (
    Task,
    check_table,
    check_target,
    drop_columns,
    infer_task,
    side_column,
    split_target,
)
from bochner.tables.table_classifier import TableClassifier
from bochner.tables.table_regressor import TableRegressor

if TYPE_CHECKING:
    import pandas as pd

_PARTS = {
    "reading": 0.1,
    "fit": 3.0,
    "test": 0.2,
    "comparison": 1.0,
    "analysis": 1.0,
    "report": 1.0,
    "writing": 0.5,
}
"""Stages and their parts of a time limit. The fit, which improves with time, has nearly half or
more. "writing" is for the model file, and for a report without effects if these take too long."""

_MODELS: Mapping[str, Any] = {"regression": TableRegressor, "classification": TableClassifier}


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The checked rows of a table, how they are split, and the options with column names."""

    facts: TableFacts
    layout: Mapping[str, Any]
    split: Split
    rows: SplitChoice
    options: FitOptions
    ids: pd.Series | None = None


def fit_table(path: Path, options: FitOptions, console: Console) -> None:
    """Fit a model to a table, measure it on test rows, save it and show the results."""
    level, reading = options.level, read_options(options)
    options.check(path)
    stages = _stages(options)
    reports = reporting(is_quiet=options.quiet, limit=options.time_limit)
    with noting_warnings() as notes, reports as progress:
        with stages.stage("reading"):
            progress(f"reading {path}")
            table = _table(path, options, reading)
            options = table.options
        studies = _studied(path, options, table, level, stages, progress)
        persist.save(studies[0].model, options.out)
        if options.report is not None:
            _write_report(studies, options.report, stages, progress)
    if options.as_json:
        write_json(fit_record(studies, notes, options.out, options.report, stages))
    elif not options.quiet:
        print_studies(console, studies, notes, is_verbose=options.verbose)
        has_intervals = studies[0].own.probability is None
        _print_end(console, options, stages, has_intervals=has_intervals)


def _stages(options: FitOptions) -> Stages:
    """Return the stages of the command, and their parts of its time."""
    is_asked = {
        "comparison": options.compare,
        "analysis": options.analysis,
        "report": options.report is not None,
    }
    weights = {name: part for name, part in _PARTS.items() if is_asked.get(name, True)}
    return Stages(weights, options.time_limit, used=seconds_since_start())


def _print_end(
    console: Console, options: FitOptions, stages: Stages, *, has_intervals: bool
) -> None:
    """Print the seconds of the stages, the stages left out, the files and the next command."""
    indent = " " * len("Report  ")
    times = f"\n{indent}".join(stages.lines(console.width - len(indent)))
    written = [f"\nTime    {times}", f"Model   {options.out}"]
    if options.report is not None:
        written.append(f"Report  {options.report}")
    more = " --interval 90" if has_intervals else ""
    for line in (*written, f"Next    bochner predict {options.out} FILE{more}"):
        console.print(Text(plain(line)), soft_wrap=True)


def _write_report(studies: Sequence[Study], path: Path, stages: Stages, progress: Progress) -> None:
    """Write the report, without sections that need an analysis if time is short."""
    from bochner import report

    def write() -> bool:
        report.write(studies, path)
        return True

    progress("writing the report")
    with stages.stage("report") as deadline:
        if not deadline.run(write):
            stages.left_out.append("effects in the report")
            bare = [replace(study, importance=None, interactions=None) for study in studies]
            report.write(bare, path)


def _table(path: Path, options: FitOptions, reading: ReadOptions) -> _Table:
    roles = (options.weight, options.id, options.group, options.time)
    keep = {*options.target, *options.dropped, *(name for name in roles if name is not None)}
    table_read: TableRead = read(path, reading, keep=keep)
    options = options.renamed(partial(named_by, table_read.first))
    frame = drop_columns(table_read.frame, options.dropped)
    sides: dict[str, Any] = {}
    if options.weight is not None:
        sides["weight"] = _weights(frame, options.weight, options)
    if options.id is not None:
        side_column(frame, options.id, "id")
    rows = chosen_rows(frame, options)
    aside = {name for name in (options.weight, options.id, rows.group) if name}
    if in_two_roles := {*aside, options.time}.intersection(options.target):
        raise InputError(
            f"{in_two_roles.pop()!r} is the target and has another role: name two columns."
        )
    frame = drop_columns(frame, aside)
    left_out = [name for name, kind in table_read.layout.types.items() if kind == "ignore"]
    features, target = _targets(frame, options.target, left_out)
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
    facts = table_facts(features, str(path), table_read.notes)
    ids = None if options.id is None else table_read.frame[options.id]
    return _Table(facts, table_read.layout.to_record(), split, rows, options, ids)


def _weights(frame: pd.DataFrame, name: str, options: FitOptions) -> Array:
    column = side_column(frame, name, "weight", ("numeric",))
    if (wrong := np.flatnonzero(column.values < 0.0)).size:
        raise InputError(
            f"The weight {name!r} must not be negative, and is {column.values[wrong[0]]:.4g} in "
            f"row {wrong[0] + 1}: expected zero or more in every row."
        )
    if options.weights == "counts" and (parts := np.flatnonzero(~are_whole(column.values))).size:
        raise InputError(
            f"--weights counts needs whole numbers, and the weight {name!r} is "
            f"{column.values[parts[0]]:.6g} in row {parts[0] + 1}: leave --weights out, or round "
            "the column."
        )
    return as_array(column.values)


def _targets(
    frame: pd.DataFrame, names: Sequence[str], left_out: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the features and the complete targets, a column each."""
    features, targets = frame, []
    for name in names:
        features, target = split_target(features, name, left_out)
        targets.append(target)
    import pandas as pd

    return features, pd.concat(targets, axis=1)


def _task(target: pd.DataFrame, task_name: str) -> Task:
    """Return the task of the targets, and raise InputError if they do not suit it."""
    several = target.shape[1] > 1
    first = target.iloc[:, 0]
    task = cast(Task, task_name)
    if task_name == "auto":
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
    path: Path, options: FitOptions, table: _Table, level: float, stages: Stages, progress: Progress
) -> list[Study]:
    """Fit, compare and analyse within the time limit, and return a study of each target."""
    split = table.split
    model, seconds = _fitted(options, split, stages, progress)
    progress("predicting the test rows")
    with stages.stage("test"):
        outcomes = own_outcomes(model, split, level, seconds)
    if options.compare:
        with stages.stage("comparison") as deadline:
            stages.left_out += add_others(
                outcomes,
                split,
                deadline,
                level=level,
                seed=options.seed,
                n_jobs=options.n_jobs,
                progress=progress,
            )
    importance = interactions = None
    if options.analysis:
        importance, interactions = _analysed(model, stages, progress)
    command = {"command": options.command(path), "seed": options.seed, **versions()}
    studies = studies_of(
        model,
        options.target,
        table.facts,
        split,
        outcomes,
        importance=importance,
        interactions=interactions,
        kind=table.rows.kind,
        reason=table.rows.reason,
        record=command,
        row_names=row_names(split.X_test, table.ids),
    )
    model.record_ |= _record(options, table, level, studies)
    return studies


def _fitted(
    options: FitOptions, split: Split, stages: Stages, progress: Progress
) -> tuple[Model, float]:
    """Return a fitted model and the seconds of its fit."""
    special: dict[str, object] = {"weights": options.weights}
    if options.transformation != "none":
        if split.task != "regression":
            raise InputError(
                f"--transformation {options.transformation} is for targets that are numbers, and "
                "the target holds classes: leave it out."
            )
        special["transformation"] = options.transformation
    with stages.stage("fit") as deadline:
        limit = None if options.time_limit is None else max(deadline.left, LEAST_SECONDS)
        model: Model = _MODELS[split.task](
            effort=options.effort,
            time_limit=limit,
            memory_limit=options.memory_limit,
            n_jobs=options.n_jobs,
            random_state=options.seed,
            **special,
        )
        together: dict[str, Any] = {"groups": split.groups, "time": split.time}
        seconds = timed_fit(model, split, callback=progress.relay, **together)
    return model, seconds


def _analysed(
    model: Model, stages: Stages, progress: Progress
) -> tuple[VarianceShares | None, VarianceShares | None]:
    """Return the importance of columns and of pairs, or ``None`` for lack of time."""
    shares: list[VarianceShares | None] = []
    with stages.stage("analysis") as deadline:
        for name, compute in {
            "importance": model.importance,
            "interactions": model.interactions,
        }.items():
            progress(f"computing the {name} of columns")
            shares.append(deadline.run(compute))
            if shares[-1] is None:
                stages.left_out.append(name)
    importance, interactions = shares
    return importance, interactions


def _record(
    options: FitOptions, table: _Table, level: float, studies: Sequence[Study]
) -> dict[str, object]:
    """Return the record of the fit that the model file stores."""
    named = {"weight": options.weight, "group": table.rows.group, "time": table.rows.time,
             "id": options.id}  # fmt: skip
    several = len(studies) > 1
    scores_of_targets = [study.own.scores() for study in studies]
    tested = {
        f"test_{name}": [scores[name].value for scores in scores_of_targets]
        if several
        else score.value
        for name, score in scores_of_targets[0].items()
        if np.isfinite(score.value)
    }
    return {
        "target": list(options.target) if several else options.target[0],
        "dropped": list(options.dropped),
        **{name: column for name, column in named.items() if column is not None},
        "task": table.split.task,
        "source": table.facts.source,
        "layout": dict(table.layout),
        "fingerprint": fingerprint(table.split.X, table.split.X_test),
        "interval": level,
        "n_columns": table.split.X.shape[1],
        "n_test_samples": len(table.split.y_test),
        **tested,
    }

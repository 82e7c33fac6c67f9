"""`bochner fit`: read, hold rows out, fit, compare, save, show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from time import perf_counter
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
from bochner.cli.records import fit_record
from bochner.cli.screen import print_studies
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
from bochner.features.targets import are_whole
from bochner.files.errors import InputError
from bochner.files.read_options import ReadOptions
from bochner.files.table_reading import TableRead, named_by, read
from bochner.tables.row_keys import fingerprint
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

_SHARE_OF_FIT, _LEAST_SECONDS = 0.5, 0.01
"""Share of the time limit for the fit, and its least time limit, which must be positive."""

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
    until = inf if options.time_limit is None else perf_counter() + options.time_limit
    reports = reporting(is_quiet=options.quiet, limit=options.time_limit)
    with noting_warnings() as notes, reports as progress:
        progress(f"reading {path}")
        table = _table(path, options, reading)
        options = table.options
        studies, left_out = _studied(path, options, table, level, until, progress)
        persist.save(studies[0].model, options.out)
        if options.report is not None:
            from bochner import report

            progress("writing the report")
            report.write(studies, options.report)
    if options.as_json:
        write_json(fit_record(studies, notes, options.out, options.report, left_out))
    elif not options.quiet:
        print_studies(console, studies, notes, is_verbose=options.verbose)
        has_intervals = studies[0].own.probability is None
        _print_end(console, options, left_out, has_intervals=has_intervals)


def _print_end(
    console: Console, options: FitOptions, left_out: Sequence[str], *, has_intervals: bool
) -> None:
    """Print what was left out for lack of time, the files and the next command."""
    console.print()
    written = [f"Model   {options.out}"]
    if left_out:
        limit = f"{options.time_limit:g} s"
        written.insert(0, f"Left out at the limit of {limit}: {', '.join(left_out)}")
    if options.report is not None:
        written.append(f"Report  {options.report}")
    more = " --interval 90" if has_intervals else ""
    for line in (*written, f"Next    bochner predict {options.out} FILE{more}"):
        console.print(Text(plain(line)), soft_wrap=True)


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
    path: Path, options: FitOptions, table: _Table, level: float, until: float, progress: Progress
) -> tuple[list[Study], list[str]]:
    """Fit, compare and analyse, and return a study of each target, and what was left out."""
    split = table.split
    model, seconds = _fitted(options, split, until, progress)
    progress("predicting the test rows")
    outcomes = own_outcomes(model, split, level, seconds)
    left_out = []
    if options.compare:
        left_out += add_others(
            outcomes,
            split,
            level=level,
            seed=options.seed,
            n_jobs=options.n_jobs,
            until=until,
            progress=progress,
        )
    importance = interactions = None
    if options.analysis and perf_counter() >= until:
        left_out.append("importance of columns")
    elif options.analysis:
        progress("computing the importance of columns")
        importance, interactions = model.importance(), model.interactions()
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
    return studies, left_out


def _fitted(
    options: FitOptions, split: Split, until: float, progress: Progress
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
    limit = None if until == inf else max(_SHARE_OF_FIT * (until - perf_counter()), _LEAST_SECONDS)
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

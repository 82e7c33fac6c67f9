"""`bochner fit`: fits a model to a table, tests it on held-out rows, saves and shows it."""

import shlex
from math import inf
from time import perf_counter
from types import SimpleNamespace

import typer
from rich.console import Console

from bochner._base.names import naming
from bochner.cli.error_messages import INTERRUPTED
from bochner.cli.explaining import summary_blocks
from bochner.cli.json_documents import fit_record
from bochner.cli.options import fraction_option, read_options
from bochner.cli.output import check_outputs, noting_warnings, print_files, reporting, write_json
from bochner.cli.screen import print_studies
from bochner.cli.stored_summary import stored
from bochner.comparison.contenders import timed_fit
from bochner.comparison.split import Roles, split_table
from bochner.comparison.study import (
    Model,
    extended_studies,
    fit_facts,
    measured_studies,
    refitted,
    row_names,
    table_facts,
    versions,
)
from bochner.files.errors import InputError
from bochner.files.model_file import save
from bochner.files.table_reading import read
from bochner.tables.table_classifier import TableClassifier
from bochner.tables.table_regressor import TableRegressor

_SHARE_OF_FIT, _SHARE_OF_REPORT, _LEAST_SECONDS = 0.5, 0.15, 0.01
"""Shares of the time limit for the fit and for a report, and the least time limit of the fit."""


def fit_table(options: SimpleNamespace) -> None:
    """Fit a model to a table, measure it on test rows, save it and show the results."""
    level, layout = fraction_option("--interval", options.interval), read_options(options)
    _check(options)
    until = inf if options.time_limit is None else perf_counter() + options.time_limit
    path, columns = options.file, (options.weight, options.id, options.group, options.time)
    roles = Roles(tuple(options.target), tuple(options.drop or ()), *columns)
    with noting_warnings() as notes, reporting(limit=options.time_limit) as progress:
        progress(f"reading {path}")
        table = read(path, layout, keep={*roles.target, *roles.drop, *roles.names.values()})
        split = split_table(
            table.frame,
            roles,
            task=options.task,
            kind=options.split,
            test_size=options.test_size,
            seed=options.seed,
            left_out=table.left_out,
        )
        model = _model(split.task, options, until)
        facts = table_facts(
            table.frame[list(split.X.columns)], str(path), (*table.notes, *split.notes)
        )
        sides = {"groups": split.groups, "time": split.time}
        seconds = timed_fit(model, split, callback=progress.relay, **sides)
        progress("predicting the test rows")
        studies = measured_studies(
            model,
            split,
            roles.target,
            facts,
            level=level,
            seconds=seconds,
            is_analysed=False,
            record={"command": shlex.join(options.ctx.obj), "seed": options.seed, **versions()},
            row_names=row_names(split.X_test, None if roles.id is None else table.frame[roles.id]),
        )
        model.record_ |= fit_facts(studies, roles, table.layout.to_record())
        save(model, options.out)  # Before all that may fail, or be stopped
        report, left_out, is_stopped = options.report, list[str](), False
        try:
            studies, left_out = extended_studies(
                studies,
                split,
                compare=options.compare,
                seed=options.seed,
                until=until - _SHARE_OF_REPORT * (options.time_limit or 0.0) * (report is not None),
                progress=progress,
            )
            if options.refit:
                progress("fitting the model to all rows")
                model = refitted(model, split, progress)
            if studies[0].importance is not None:
                parts = studies[0].importance, studies[0].interactions
                model.record_["summary"] = stored(summary_blocks(model, *parts))
            save(model, options.out)
            if report is not None:
                from bochner.report import page

                progress("writing the report")
                page.write(studies, report)
        except KeyboardInterrupt:
            is_stopped, report = True, None
    if names := [(s["name"], "") for s in model.encoder_.columns_ if "parts" in s]:
        notes.append(f"Free text is read by parts of its words: {naming(names)}.")
    if options.as_json:
        write_json(fit_record(studies, notes, options.out, report, left_out))
        raise typer.Exit(INTERRUPTED if is_stopped else 0)
    console = Console()
    print_studies(console, studies, notes)
    if left_out:
        limit = "" if until == inf else f" or the limit of {options.time_limit:g} s"
        console.print(f"\nLeft out, because longer than the fit{limit}: {', '.join(left_out)}.")
    if is_stopped:
        console.print("\nStopped after the fit: the model is complete, the rest is left out.")
    more = "" if studies[0].is_classification else " --interval 90"
    more += " --keep all" if roles.id is None else ""  # Predictions of rows without names
    after = f"bochner predict {options.out} FILE{more}"
    console.print()
    rows = "fitted again to all rows, test rows included"
    if not options.refit or is_stopped:
        rows = "fitted without the test rows: --refit fits it again to all rows"
    print_files(console, {"Model": options.out, "": rows, "Report": report, "Next": after})
    if is_stopped:
        raise typer.Exit(INTERRUPTED)


def _model(task: str, options: SimpleNamespace, until: float) -> Model:
    """Return the unfitted table model with the parameters set by the options."""
    limit = None
    if until != inf:
        share = _SHARE_OF_FIT / (1 + options.refit)  # Of each of two fits
        limit = max(share * (until - perf_counter()), _LEAST_SECONDS)
    settings = {
        "effort": options.effort,
        "weights": options.weights,
        "time_limit": limit,
        "n_jobs": options.n_jobs,
        "random_state": options.seed,
    }
    if task == "regression":
        return TableRegressor(transformation=options.transformation, **settings)
    if options.transformation != "none":
        raise InputError(
            f"--transformation {options.transformation} is for targets that are numbers, and "
            "the target holds classes: leave it out."
        )
    return TableClassifier(**settings)


def _check(options: SimpleNamespace) -> None:
    """Raise an error for contradictory options, before any data are read."""
    if options.time_limit is not None and not 0.0 < options.time_limit < inf:
        raise InputError(
            f"--time-limit must be a positive number of seconds, got {options.time_limit:g}."
        )
    if len(set(options.target)) < len(options.target):
        raise InputError(f"--target names a column twice: {', '.join(options.target)}.")
    if options.weights != "precisions" and options.weight is None:
        raise InputError(f"--weights {options.weights} needs a column of weights: give --weight.")
    check_outputs({"model": options.out, "report": options.report}, options.file)

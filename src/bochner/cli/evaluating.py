"""`bochner evaluate`: errors and calibration of a model on a table with known targets."""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace

from rich.console import Console

from bochner.cli.json_documents import evaluation_record
from bochner.cli.model_files import Fresh, fitted_rows, load_model, read_for, target_names
from bochner.cli.output import check_report, plain_text, print_blocks, print_files, write_json
from bochner.cli.predicting import of_new_rows
from bochner.cli.progress_line import reporting
from bochner.cli.screen import (
    confusion_table,
    groups_table,
    print_checks,
    print_errors,
    scores_table,
)
from bochner.comparison.outcomes import KINDS_OF_ROWS, LEVEL, OF_SPREAD, Outcome, by_group
from bochner.comparison.study import Study, measured_studies, row_names, table_facts, versions
from bochner.files.errors import InputError
from bochner.tables.table_checks import side_column

_MOST_GROUPS = 12
"""Largest number of groups shown, in order of size."""


def evaluate_table(options: SimpleNamespace) -> None:
    """Measure a model on a table, and show or write the results."""
    path = options.file
    if options.report is not None:
        check_report(options.report, options.model, path)
    with reporting() as progress:
        progress(f"reading {path}")
        model = load_model(options.model)
        fresh = read_for(model, options)
        if fresh.targets is None:
            names = ", ".join(map(repr, target_names(model)))
            raise InputError(
                f"{path} has no row with a known target {names}: expected the column of the fit. "
                f"`bochner predict` needs none. {fresh.unscored}".rstrip()
            )
        note, is_fitted = fitted_rows(model, fresh)
        fresh = replace(fresh, notes=(*fresh.notes, note) if note else fresh.notes)
        progress("predicting")
        split = fresh.split(model)
        studies = measured_studies(
            model,
            split,
            target_names(model),
            table_facts(fresh.features, str(path), fresh.notes),
            level=float(model.record_.get("interval", LEVEL)),
            is_analysed=options.report is not None,  # Shown only in reports
            record={"command": f"bochner evaluate MODEL {path}", **versions()},
            row_names=row_names(split.X_test, fresh.frame.get(model.record_.get("id"))),
        )
        groups = [_groups(study.own, fresh, options.group) for study in studies]
        if options.report is not None:
            from bochner.report import page

            progress("writing the report")
            page.write(studies, options.report)
    if options.as_json:
        write_json(evaluation_record(studies, groups, options.model))
        return
    console = Console()
    for note in fresh.notes:
        console.print(plain_text(note))
    for study, of_groups in zip(studies, groups, strict=True):
        _print(console, study, of_groups, options.group)
        if others := of_new_rows(study.own, fresh, is_fitted):
            title = f"Errors of the {len(others.y):,} rows that the fit did not have:"
            print_blocks(console, plain_text(title), scores_table({"bochner": others}))
    if options.report is not None:
        console.print()
        print_files(console, {"Report": options.report})


def _groups(outcome: Outcome, fresh: Fresh, name: str | None) -> Mapping[str, Outcome]:
    if name is None:
        return {}
    labels = side_column(fresh.frame.iloc[fresh.rows_with_targets], name, "group").raw
    return by_group(replace(outcome, clusters=None), labels)


def _print(
    console: Console, study: Study, groups: Mapping[str, Outcome], group: str | None
) -> None:
    print_errors(console, study)
    print_checks(console, study)
    if study.is_classification:
        print_blocks(console, confusion_table(study.own))
    if kinds := study.by_kind:
        named = {KINDS_OF_ROWS[kind]: outcome for kind, outcome in kinds.items()}
        print_blocks(console, groups_table(named, "kind of rows", OF_SPREAD))
    if groups and group is not None:
        shown = dict(list(groups.items())[:_MOST_GROUPS])
        print_blocks(console, groups_table(shown, group))
        if others := list(groups.values())[_MOST_GROUPS:]:
            n_rows = sum(len(outcome.y) for outcome in others)
            console.print(f"{len(others)} more groups have {n_rows:,} rows: see --json.")

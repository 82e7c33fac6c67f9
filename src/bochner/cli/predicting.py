"""`bochner predict` and `bochner evaluate`: predictions of a table, and their errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from rich.console import Console
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_array
from bochner._base.number_texts import counted
from bochner.cli.json_documents import evaluation_record
from bochner.cli.model_files import Fresh, fitted_rows, load_model, read_for, target_names
from bochner.cli.options import fraction, fraction_option
from bochner.cli.output import (
    check_outputs,
    is_standard_output,
    plain_text,
    print_blocks,
    print_files,
    reporting,
    write_csv,
    write_json,
)
from bochner.cli.screen import (
    confusion_table,
    groups_table,
    print_checks,
    print_errors,
    scores_table,
)
from bochner.comparison.outcomes import KINDS_OF_ROWS, LEVEL, METRICS, OF_SPREAD, Outcome, by_group
from bochner.comparison.study import (
    Model,
    Study,
    measured_studies,
    own_outcomes,
    row_names,
    table_facts,
    versions,
)
from bochner.comparison.verdict import metric_text
from bochner.files.errors import InputError
from bochner.tables.table_checks import side_column
from bochner.tables.table_classifier import TableClassifier
from bochner.tables.table_regressor import TableRegressor

_MOST_GROUPS = 12
"""Largest number of groups shown, in order of size."""


def evaluate_table(options: SimpleNamespace) -> None:
    """Measure a model on a table, and show or write the results."""
    path = options.file
    check_outputs({"report": options.report}, options.model, path)
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


_SHARE_OF_ERROR, _FEWEST_DIGITS, _MOST_DECIMALS = 2, 4, 300
"""Power of ten by which rounding is finer than the expected error, so that it adds less than 0.5 %
of it; digits of any number; and decimals of doubles, after which they are zero."""

_PROBABILITY_DECIMALS = 6
"""Decimals of probabilities: the rows of a million are still ranked."""


def predict_table(options: SimpleNamespace) -> None:
    """Write predictions as CSV to a file or standard output, and errors to standard error."""
    interval, out = options.interval, options.out
    level = None if interval is None else fraction_option("--interval", interval)
    check_outputs({"table": out}, options.model, options.file)
    model = load_model(options.model)
    fresh = read_for(model, options)
    predicted = _predictions(model, fresh.features, level, options)
    predictions = pd.concat([_kept(model, fresh, options.keep, predicted), predicted], axis=1)
    inputs = list(map(str, fresh.frame.columns))
    write_csv(predictions, out, is_safe=options.safe_csv, inputs=inputs)
    messages = Console(stderr=True, soft_wrap=True)
    if out is not None and not is_standard_output(out):
        messages.print(plain_text(f"Table  {out}: {counted(len(predictions), 'row')}"))
    for line in (*fresh.notes, *_scored(model, fresh)):
        messages.print(plain_text(line))


def _kept(model: Model, fresh: Fresh, keep: str, predicted: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of the input table that precede the predictions in the output."""
    identity = model.record_.get("id", "")
    names = list(fresh.frame.columns) if keep == "all" else []
    if keep == "id" and identity in fresh.frame.columns:
        names = [identity]
    if clashing := [name for name in names if name in predicted.columns]:
        raise InputError(
            f"--keep {keep} keeps a column {clashing[0]!r:.60}, which predictions have, too: "
            "rename it, or use --keep none."
        )
    return fresh.frame[names].reset_index(drop=True)


def _scored(model: Model, fresh: Fresh) -> list[str]:
    """Return sentences on the errors of each target, if the table contains targets."""
    if fresh.targets is None or len(fresh.rows_with_targets) < 2:
        return []
    note, is_fitted = fitted_rows(model, fresh)
    lines = []
    outcomes = own_outcomes(model, fresh.split(model))
    for name, of_target in zip(target_names(model), outcomes, strict=True):
        (outcome,) = of_target.values()
        lines.append(
            f"Errors at {len(fresh.rows_with_targets):,} rows with {name!r}: {_errors(outcome)}."
        )
        if new_rows := of_new_rows(outcome, fresh, is_fitted):
            lines.append(
                f"Of these, {len(new_rows.y):,} rows were not fitted: {_errors(new_rows)}."
            )
    return [*lines, note] if note else lines


def of_new_rows(
    outcome: Outcome, fresh: Fresh, is_fitted: NDArray[np.bool_] | None
) -> Outcome | None:
    """Return the outcome of the rows that were not used in the fit; None for fewer than two."""
    if is_fitted is None:
        return None
    rows = np.flatnonzero(~is_fitted[fresh.rows_with_targets])
    return outcome.part(rows) if len(rows) > 1 else None


def _errors(outcome: Outcome) -> str:
    scores = outcome.scores()
    return ", ".join(f"{METRICS[n]} {metric_text(n, scores[n])}" for n in outcome.metrics)


def _predictions(
    model: BaseEstimator, frame: pd.DataFrame, level: float | None, options: SimpleNamespace
) -> pd.DataFrame:
    if isinstance(model, TableClassifier):
        for name in ("interval", "quantiles"):
            if getattr(options, name) not in (False, None):
                raise InputError(
                    f"--{name} is for regression, and this model classifies: leave it out; the "
                    "columns that begin with 'p_' are the probabilities of the classes."
                )
        probability = model.predict_proba(frame).round(_PROBABILITY_DECIMALS)
        columns = {"prediction": model.classes_[probability.argmax(axis=1)]}
        named = zip(model.classes_, probability.T, strict=True)
        return pd.DataFrame(columns | {f"p_{name}": values for name, values in named})
    assert isinstance(model, TableRegressor)  # The only other kind of table model
    of_rows = model.distributions(frame)
    columns = {"prediction": of_rows.mean_and_std()[0]}
    if level is not None:
        columns |= zip(("lower", "upper"), of_rows.interval(level), strict=True)
    if options.quantiles is not None:
        levels = _levels(options.quantiles)
        quantiles = of_rows.quantiles(np.array(list(levels.values())))
        columns |= {f"q{level}": quantiles[..., i] for i, level in enumerate(levels)}
    columns = {name: rounded(values, model.score_) for name, values in columns.items()}
    if not np.ndim(model.target_mean_):
        return pd.DataFrame(columns)
    targets = enumerate(target_names(model))
    return pd.DataFrame(
        {f"{name}_{kind}": values[:, i] for i, name in targets for kind, values in columns.items()}
    )


def rounded(values: Array, error: ArrayLike) -> Array:
    """Round numbers (n,) or (n, t) to a hundredth of an error () or (t,), and to four digits.

    >>> rounded(np.array([28.817982, 0.00123456, 1234567.8]), 1.4).tolist()
    [28.82, 0.001235, 1234567.8]
    """
    tiny = np.finfo(np.float64).tiny
    sizes = np.where(values, np.abs(values), 1.0)
    powers = np.log10(np.maximum([np.broadcast_to(error, values.shape), sizes], tiny))
    digits = np.array([_SHARE_OF_ERROR, _FEWEST_DIGITS - 1]).reshape(2, *[1] * values.ndim)
    decimals = np.clip((digits - np.floor(powers)).max(axis=0), 0, _MOST_DECIMALS)
    texts = map("{:.{}f}".format, values.ravel().tolist(), decimals.ravel().astype(int).tolist())
    return as_array(list(map(float, texts))).reshape(values.shape)


def _levels(text: str) -> dict[str, float]:
    """Parse comma-separated levels; numbers of one or more are per cent."""
    try:
        levels = {level.strip(): fraction(float(level)) for level in text.split(",")}
    except ValueError:
        levels = {}
    if not levels or not all(0.0 < level < 1.0 for level in levels.values()):
        raise InputError(
            f"--quantiles must be numbers between 0 and 1, separated by commas, such as "
            f"0.1,0.5,0.9, or per cent, such as 10,50,90, got {text!r:.60}."
        )
    return levels

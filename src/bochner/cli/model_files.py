"""Loads models written by `bochner fit`, and tables in the format of the training table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bochner._base.limits import LARGEST_TARGET
from bochner._base.names import brief, naming, shown
from bochner._base.number_texts import counted, entry
from bochner.comparison.split import Split
from bochner.comparison.study import Model
from bochner.files.columns import KIND_NAMES, Column, read_column
from bochner.files.errors import InputError
from bochner.files.model_file import load
from bochner.files.read_options import ReadOptions
from bochner.files.stored_classes import conforms
from bochner.files.table_reading import read
from bochner.series.forecaster import Forecaster
from bochner.tables.table_checks import training_rows
from bochner.tables.table_classifier import TableClassifier
from bochner.tables.table_model import TableModel

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class Fresh:
    """A table to which a fitted model is applied, with all columns and the ``features``.

    ``targets`` belong to ``rows_with_targets``, and are None without such rows; ``unscored`` is a
    note on targets that the model cannot predict.
    """

    frame: pd.DataFrame
    features: pd.DataFrame
    notes: tuple[str, ...]
    rows_with_targets: NDArray[np.intp]
    targets: NDArray[Any] | None
    unscored: str = ""

    def split(self, model: Model) -> Split:
        """Return the rows with known targets as test rows."""
        assert self.targets is not None  # Callers check that there are targets
        task = "classification" if isinstance(model, TableClassifier) else "regression"
        rows = self.features.iloc[self.rows_with_targets]
        reason = f"The test rows are all {len(rows):,} rows with a known target."
        return Split(rows, self.targets, rows, self.targets, task, kind="file", reason=reason)


def load_any(path: Path) -> Any:
    """Return a fitted model of a table or of series from its file."""
    model = load(path)
    if not isinstance(model, TableModel | Forecaster):
        raise InputError(
            f"{path} holds a {type(model).__name__}: expected a model that `bochner fit` or "
            "`bochner forecast` wrote. Load it in Python with bochner.load."
        )
    check_is_fitted(model)
    if isinstance(model, TableModel):
        check_record(model.record_, np.size(getattr(model, "target_mean_", 0.0)))
    return model


def load_model(path: Path) -> Any:
    """Return a fitted table model from its file."""
    model = load_any(path)
    if isinstance(model, Forecaster):
        raise InputError(
            f"{path} holds a model of a series: expected one of `bochner fit`. `bochner explain` "
            "shows it, and bochner.load(FILE).predict(STEPS) forecasts with it in Python."
        )
    return model


_FACTS: Mapping[str, Any] = {
    **dict.fromkeys(("n_samples", "n_columns", "n_test_samples"), int),
    **dict.fromkeys(("weight", "group", "time", "id", "task", "source", "summary"), str),
    "target": str | list[str],
    "dropped": list[str],
    "interval": float,
    "layout": dict[str, Any],
    "fingerprint": dict[str, Any],
}
"""Types of the optional facts in the record of a fit."""


def check_record(record: Mapping[str, Any], n_targets: int) -> None:
    """Raise InputError unless the record of a model has facts of the right types."""
    tested = [name for name in record if name.startswith("test_")]
    hints: dict[str, Any] = {**_FACTS, **dict.fromkeys(tested, float | list[float])}
    for name, fact in record.items():
        is_right = name not in hints or conforms(fact, hints[name])
        if name == "target":
            is_right = is_right and n_targets == (1 if isinstance(fact, str) else len(fact))
        elif name == "interval":
            is_right = is_right and 0.0 < fact < 1.0
        elif name == "fingerprint":
            is_right = is_right and fact.keys() == {"step", "keys", "chance"}
        elif name == "layout" and is_right:
            try:
                ReadOptions.from_record(fact)
            except (KeyError, TypeError, ValueError, AttributeError):
                is_right = False
        if not is_right:
            raise InputError(
                f"The model file has {shown(fact)} for the fact {shown(name)} about the fit, which "
                "has another type or value: the file was changed. Fit the model again."
            )


def target_names(model: Model) -> list[str]:
    """Return the names of the targets of a model."""
    named = model.record_.get("target", "target")
    return [named] if isinstance(named, str) else list(named)


def read_for(model: Model, options: SimpleNamespace) -> Fresh:
    """Read a table with the reading options of the fit, unless the command overrides them."""
    record, path = model.record_, options.file
    is_older = "layout" not in record
    layout = ReadOptions() if is_older else ReadOptions.from_record(record["layout"])
    given = {name: getattr(options, name) for name in ("table", "skip", "encoding")}
    given["bad_lines"] = "drop" if options.bad_lines == "drop" else None
    layout = replace(layout, **{name: value for name, value in given.items() if value is not None})
    layout = replace(layout, missing=(*layout.missing, *(options.missing or ())))
    states = {state["name"]: state for state in model.encoder_.columns_}
    text = [name for name, state in states.items() if state["kind"] == "text"]
    text += [record["id"]] if "id" in record and record["id"] not in states else []
    roles = {record[name] for name in ("weight", "group", "id") if name in record}
    keep = {*states, *target_names(model), *roles} if is_older else set[str]()
    levels = {str(level) for state in states.values()
              for level in (*state.get("levels", ()), *state.get("means", ()))}  # fmt: skip
    levels |= set(map(str, getattr(model, "classes_", ())))
    table_read = read(path, layout, text, keep, target_names(model), levels)
    expected_names = {*states, *target_names(model), *record.get("dropped", []), *roles}
    columns = list(table_read.frame.columns)
    unknown = [(name, "") for name in columns if name not in expected_names]
    notes = [f"Left out {naming(unknown)}: not in the training table."] if unknown else []
    # For a missing column, the error of the encoder names similar columns.
    is_complete = states.keys() <= set(columns)
    others = set() if is_complete else {name for name, _ in unknown}
    features = table_read.frame[[name for name in columns if name in states or name in others]]
    rows, targets, unscored = _targets(model, table_read.frame)
    unlike = _unlike(model, features)
    notes = [*table_read.notes, *notes, *filter(None, [unlike, unscored])]
    return Fresh(table_read.frame, features, tuple(notes), rows, targets, unscored)


_REASONS = {
    "missing": "a missing entry in {columns}, which had hardly any in the fit",
    "new level": "text that no training row had, in {columns}",
    "beyond the range": "an entry beyond the range of the fit in {columns}",
    "later": "a time after the last one of the fit in {columns}",
}
"""Descriptions of unusual rows, by the reasons of ``TableModel.unlike_rows``."""


def _unlike(model: Model, features: pd.DataFrame) -> str:
    """Return a note on rows unlike the training rows, or an empty text without such rows."""
    if set(features.columns) != {state["name"] for state in model.encoder_.columns_}:
        return ""  # predict raises an error that names the missing columns
    entries = model.unlike_entries(features)
    found = {reason: mask for reason, mask in entries.items() if mask.any()}
    if not found:
        return ""
    names = [state["name"] for state in model.encoder_.columns_]
    parts = []
    for reason, mask in found.items():
        columns = np.flatnonzero(mask.any(axis=0))
        firsts = {names[j]: int(mask[:, j].argmax()) for j in columns}
        examples = [
            (name, entry(value, 6) if isinstance(value, float) else brief(value))
            for name, row in firsts.items()
            for value in ("" if reason == "missing" else features[name].iloc[row],)
        ]
        count = int(mask.any(axis=1).sum())
        verb = "has" if count == 1 else "have"
        parts.append(f"{count:,} {verb} {_REASONS[reason].format(columns=naming(examples))}")
    total = int(np.any([mask.any(axis=1) for mask in found.values()], axis=0).sum())
    rows = f"{total:,} of the {len(features):,} rows are unlike the training rows"
    if total == 1:
        rows = f"One of the {len(features):,} rows is unlike the training rows"
    if len(features) == 1:
        rows = "The row is unlike the training rows"
    return f"{rows}: {'; '.join(parts)}. Their predictions are less certain."


def fitted_rows(model: Model, fresh: Fresh) -> tuple[str, NDArray[np.bool_] | None]:
    """Return a note on rows that the model was fitted to, and a mask of them (n,) if known."""
    record = model.record_.get("fingerprint")
    names = [state["name"] for state in model.encoder_.columns_]
    if record is None or not set(names) <= set(fresh.features.columns):
        return "", None
    count, is_fitted = training_rows(record, fresh.features[names])
    if not count:
        return "", None
    about = "" if is_fitted is not None else "About "
    verb = "was" if count == 1 else "were"
    return (
        f"{about}{count:,} of the {len(fresh.frame):,} rows {verb} used in the fit: errors of such "
        "rows are smaller than those of new rows."
    ), is_fitted


def _targets(
    model: Model, frame: pd.DataFrame
) -> tuple[NDArray[np.intp], NDArray[np.generic] | None, str]:
    """Return row indices with all targets, these targets, and a note on unusable targets."""
    names = target_names(model)
    nothing = np.empty(0, dtype=np.intp)
    if any(name not in frame.columns for name in names):
        return nothing, None, ""
    columns = [read_column(name, frame[name]) for name in names]
    if isinstance(model, TableClassifier):
        (column,) = columns
        classes = model.classes_.tolist()
        named: dict[Any, Any] = {str(label): label for label in classes}
        named |= {label: label for label in classes}
        labels = [named.get(raw, named.get(str(raw))) for raw in column.raw.tolist()]
        is_known = column.present & [label is not None for label in labels]
        rows, other_rows = np.flatnonzero(is_known), np.flatnonzero(column.present & ~is_known)
        targets = np.array(labels, dtype=object)[rows].astype(model.classes_.dtype)
        unscored = _unscored(column, other_rows, "is not a class of the training rows")
        return rows, targets if rows.size else None, unscored
    if text := [column for column in columns if column.kind != "numeric"]:
        kind = f"holds {KIND_NAMES[text[0].kind]}, and held numbers in the fit"
        return nothing, None, _unscored(text[0], np.flatnonzero(text[0].present), kind)
    values = np.stack([column.values for column in columns], axis=1)
    is_far = np.abs(values) > LARGEST_TARGET
    rows = np.flatnonzero((np.isfinite(values) & ~is_far).all(axis=1))
    targets = (values[:, 0] if len(names) == 1 else values)[rows]
    worst = int(is_far.any(axis=0).argmax())
    far = np.flatnonzero(is_far[:, worst])
    unscored = _unscored(columns[worst], far, f"is beyond {LARGEST_TARGET:g} in size")
    return rows, targets if rows.size else None, unscored


def _unscored(column: Column, rows: NDArray[np.intp], reason: str) -> str:
    """Return a note on rows whose target cannot be scored, or an empty text without such rows."""
    if not rows.size:
        return ""
    left_out = counted(len(rows), "row")
    return f"Errors leave out {left_out}: {shown(column.name)} {reason} ({column.at(rows[0])})."

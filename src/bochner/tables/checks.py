"""What a table is asked to do: its target, its task, and what no model should be fitted to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from bochner.tables.columns import WORDS, Column, Kind, each_kind, read_column
from bochner.tables.encoder import TableEncoder
from bochner.tables.reading import text_columns
from bochner.tables.refusals import drop_advice, naming, nearest, refuse_mixed
from bochner.tables.text_files import InputError, looks_like_numbers

if TYPE_CHECKING:
    import pandas as pd

Task = Literal["regression", "classification"]

_MOST_CLASSES = 64
_FEWEST_ROWS_A_CLASS = 20


def drop_columns(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Leave columns out of a table.

    Raises
    ------
    InputError
        If a name is not in the table; the nearest one is suggested.
    """
    names = list(names)
    for name in names:
        _check_name(frame, name)
    return frame.drop(columns=names)


def split_target(frame: pd.DataFrame, target: str) -> tuple[pd.DataFrame, pd.Series]:
    """Split a table into features and a complete target.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str
        Name of the column to predict.

    Returns
    -------
    features : pandas.DataFrame
        The other columns.
    target : pandas.Series
        The column to predict, nowhere missing and nowhere infinite.

    Raises
    ------
    InputError
        If the column is not there (the nearest name is suggested), is the only one, or has
        missing or infinite entries; or if there is one row.
    """
    _check_name(frame, target)
    if frame.shape[1] == 1:
        raise InputError(
            f"The table has no column but the target {target!r}: expected at least one to "
            "predict it from."
        )
    if len(frame) == 1:
        raise InputError("The table has one row: expected at least two to fit and one to test.")
    column = read_column(target, frame[target])
    _refuse_rows(column, np.flatnonzero(~column.present), "missing")
    _refuse_rows(column, column.beyond(), "infinite")
    return frame.drop(columns=[target]), frame[target]


def infer_task(target: pd.Series) -> Task:
    """Decide what a target asks for.

    Classification: text, categories, booleans; whole numbers with at most 64 values and, on
    average, at least 20 rows a value; and two whole numbers, each in at least two rows.
    Regression: all other numbers.

    Parameters
    ----------
    target : pandas.Series
        The column to predict, nowhere missing.

    Returns
    -------
    {"regression", "classification"}

    Raises
    ------
    InputError
        If the target holds dates, a mixture, or other objects.
    """
    column = _read_target(target)
    if column.kind == "text" or column.raw.dtype.kind == "b":
        return "classification"
    values, counts = np.unique(column.values, return_counts=True)
    whole = bool(np.all(values == np.round(values)))
    few = values.size <= _MOST_CLASSES and column.values.size >= _FEWEST_ROWS_A_CLASS * values.size
    two = values.size == 2 and bool(counts.min() >= 2)
    return "classification" if whole and (few or two) else "regression"


def check_target(target: pd.Series, task: Task) -> None:
    """Refuse a target from which the task cannot be learned.

    Parameters
    ----------
    target : pandas.Series
        The column to predict, nowhere missing.
    task : {"regression", "classification"}
        What to learn.

    Raises
    ------
    InputError
        Regression: if the target is text, or constant. Classification: if it has one class, or
        a class with one row.
    """
    column = _read_target(target)
    if task == "regression" and column.kind != "numeric":
        raise InputError(
            f"The target {column.name!r} is text ({column.first()}): regression expects numbers. "
            "Use --task classification, or choose another target."
        )
    values, counts = np.unique(column.values, return_counts=True)
    if values.size == 1:
        what = "one value throughout" if task == "regression" else "a single class"
        raise InputError(
            f"The target {column.name!r} has {what} ({column.first()}): expected at least two. "
            "Choose another target, or add rows."
        )
    single = [] if task == "regression" else values[counts == 1].tolist()
    if single:
        listed = ", ".join(map(repr, single[:5])) + (", ..." if len(single) > 5 else "")
        raise InputError(
            f"The target {column.name!r} has {len(single)} of {values.size} classes with only one "
            f"row ({listed}): expected at least two rows a class. Drop those rows, join rare "
            f"classes, or, for quantities, use --task regression."
        )


def check_table(features: pd.DataFrame, max_levels: int = 256) -> None:
    """Refuse a table of features that no model should be fitted to.

    Stricter than `TableEncoder`, which leaves out columns with a single value, since a part of
    a good table may have some; in a whole table they are a mistake.

    Parameters
    ----------
    features : pandas.DataFrame
        The columns to predict from.
    max_levels : int, default=256
        Most levels of a text column.

    Raises
    ------
    ValueError, TypeError
        What `TableEncoder.fit` refuses; text columns that are numbers but for some entries;
        and columns that are constant or all missing.
    """
    names = text_columns(features)
    mixed = [(name, example) for name in names if (example := _mixed_text(features[name]))]
    refuse_mixed(mixed)
    states = TableEncoder(max_levels=max_levels).fit(features).columns_
    missing = [(state["name"], "") for state in states if state["kind"] == "empty"]
    constant = [(state["name"], f"always {features[state['name']].iloc[0]}")
                for state in states if state["kind"] == "constant"]  # fmt: skip
    if missing:
        raise InputError(
            f"All entries are missing in {naming(missing)}: expected some. "
            f"Fill in, or {drop_advice(missing)}."
        )
    if constant:
        raise InputError(
            f"Nothing but one value in {naming(constant)}: expected at least two, since one "
            f"cannot help a prediction; {drop_advice(constant)}."
        )


def _mixed_text(series: pd.Series) -> str:
    """Show a number and a text of a column that looks like spoilt numbers; else return no text.

    Codes such as 1, 2, A are text. Decimals among text, or at least as many distinct whole
    numbers as distinct texts, are numbers with entries that are none.
    """
    import pandas as pd

    distinct = pd.Series(np.asarray(series.dropna().unique(), dtype=object))
    parsed = pd.to_numeric(distinct, errors="coerce")
    read = parsed.dropna()
    n_texts = distinct.size - read.size
    if not read.size or not n_texts:
        return ""
    if bool((read % 1 == 0).all()) and read.size < n_texts:
        return ""
    entries = (distinct[parsed.notna()].iloc[0], distinct[parsed.isna()].iloc[0])
    rows = (int(np.flatnonzero(series == entry)[0]) + 1 for entry in entries)
    return ", ".join(f"row {row}: {entry!r}" for row, entry in zip(rows, entries, strict=True))


def _read_target(target: pd.Series) -> Column:
    column = read_column(str(target.name), target)
    kind: Kind = column.kind
    example = each_kind(column) if kind == "mixed" else column.first()
    if kind == "text" and (mixture := _mixed_text(target)):
        kind, example = "mixed", mixture
    if kind not in ("numeric", "text"):
        raise InputError(
            f"The target {column.name!r} holds {WORDS[kind]} ({example}): expected numbers or "
            "text throughout. Convert it, or choose another target."
        )
    return column


def _check_name(frame: pd.DataFrame, name: str) -> None:
    if name in frame.columns:
        return
    names = tuple(map(str, frame.columns))
    near = nearest(name, names)
    hint = f" Did you mean {near!r}?" if near else ""
    listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    raise InputError(
        f"No column {name!r} in the table.{hint} It has {len(names)} columns: {listed}."
        f"{looks_like_numbers(names)}"
    )


def _refuse_rows(column: Column, rows: npt.NDArray[np.intp], what: str) -> None:
    if rows.size:
        listed = ", ".join(str(row + 1) for row in rows[:5]) + (", ..." if rows.size > 5 else "")
        raise InputError(
            f"The target {column.name!r} is {what} in {rows.size} of {column.raw.size} rows "
            f"(row{'s' if rows.size > 1 else ''} {listed}, counting from 1 below the header): "
            "expected a finite value in every row. Drop those rows, or fill them in."
        )

"""Checks of a table before a fit, and fingerprints that recognise its rows in later tables."""

from __future__ import annotations

import re
import shlex
import warnings
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, MatrixLike
from bochner._base.limits import LARGEST_ENTRY
from bochner._base.names import looks_like_numbers, nearest
from bochner.files.columns import KIND_NAMES, Column, Kind, read_column
from bochner.files.errors import InputError
from bochner.files.written_amounts import written_numbers
from bochner.tables.encoder import TableEncoder, read_part
from bochner.tables.observations import Keys
from bochner.tables.table_errors import refuse_mixed
from bochner.tables.table_rows import row_keys

if TYPE_CHECKING:
    import pandas as pd

Task = Literal["regression", "classification"]

_MOST_CLASSES = 64
"""Most distinct whole numbers that count as classes; letters have 26, ages and years have more."""

_FEWEST_ROWS_PER_CLASS = 20
"""Fewest rows per distinct whole number, on average, at which the numbers count as classes."""

_LEAST_FILLED, _FEWEST_LEVELS, _RARE = 0.6, 5, 0.1
"""Smallest share of the whole numbers in a range that occur, of at least so many, at which numbers
may be quantities; and rows of a rare number, relative to the average: ages and counts fill their
range and have rare ends, while codes of classes are about as frequent at the ends as elsewhere."""

_MOST_RATINGS, _TAIL = 10, 3
"""Most numbers of a scale, which may have few high marks, and greatest numbers of a rare tail."""

_MOST_LISTED = 5
"""Rows or classes that an error message lists."""

_MOST_COLUMNS_LISTED = 8
"""Columns of the table that an error message lists."""


def drop_columns(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Return a table without some columns, or raise InputError if it lacks one of them."""
    names = list(names)
    for name in names:
        parts = [part.strip() for part in name.split(",")]
        if name not in frame and len(parts) > 1 and set(parts) <= set(frame):
            flags = " ".join(f"--drop {shlex.quote(part)}" for part in parts)
            raise InputError(f"No column {name!r:.60}: repeat the option, as in {flags}.")
        check_name(frame, name)
    return frame.drop(columns=names)


def with_targets(frame: pd.DataFrame, targets: Sequence[str]) -> tuple[pd.DataFrame, str]:
    """Return the rows of a table with all targets, and a sentence on the rows left out."""
    for name in targets:
        check_name(frame, name)
    is_known = frame[list(targets)].notna().all(axis=1).to_numpy()
    rows = np.flatnonzero(~is_known) + 1
    names = " and ".join(map(repr, targets))
    if not is_known.any():
        raise InputError(f"The target {names} is missing in every row: choose another target.")
    if not rows.size:
        return frame, ""
    left_out = "has no target {} and is" if rows.size == 1 else "have no target {} and are"
    listed = f"(row{'s' if rows.size > 1 else ''} {_listed(rows.tolist())})"
    of_rows = f"{rows.size:,} of the {len(frame):,} rows {left_out.format(names)}"
    return frame[is_known], f"{of_rows} left out {listed}."


def split_target(
    frame: pd.DataFrame, target: str, left_out: Sequence[str] = ()
) -> tuple[pd.DataFrame, pd.Series]:
    """Return the features of a table and its complete target; raise InputError if there is none."""
    check_name(frame, target)
    if frame.shape[1] == 1:
        advice = ""
        if left_out:
            types = ";".join(f"{name},number" for name in left_out)
            listed = ", ".join(map(repr, left_out))
            advice = f" Reading has left out {listed}: give a type to keep it, --types {types!r}."
        raise InputError(
            f"The table has no column but the target {target!r:.60}: expected at least one to "
            f"predict it from.{advice}"
        )
    if len(frame) == 1:
        raise InputError("The table has one row: expected at least two to fit and one to test.")
    _check_complete("target", read_column(target, frame[target]))
    column = read_column(target, frame[target])
    hours = {target: column.values} if column.is_time_of_day else {}
    return frame.drop(columns=[target]), frame.assign(**hours)[target]


def side_column(frame: pd.DataFrame, name: str, role: str, kinds: Sequence[Kind] = ()) -> Column:
    """Return a complete column, such as weights, of one of some kinds; else raise InputError."""
    check_name(frame, name)
    column = read_column(name, frame[name])
    _check_complete(role, column)
    if kinds and column.kind not in kinds:
        expected = " or ".join(KIND_NAMES[kind] for kind in kinds)
        raise InputError(
            f"The {role} {name!r:.60} holds {KIND_NAMES[column.kind]} ({column.first()}): expected "
            f"{expected} in every row. Convert it, or choose another column."
        )
    return column


def infer_task(target: pd.Series) -> tuple[Task, str]:
    """Return the task that the values of a target suggest, and a reason if it may be another."""
    column = _read_target(target)
    if column.kind == "text" or column.raw.dtype.kind == "b":
        return "classification", ""
    values, counts = np.unique(column.values, return_counts=True)
    are_whole = bool(np.all(values == np.round(values)))
    has_many_rows = column.values.size >= _FEWEST_ROWS_PER_CLASS * values.size
    if are_whole and values.size == 2 and bool(counts.min() >= 2):
        return "classification", ""
    if not (are_whole and has_many_rows and 2 < values.size <= _MOST_CLASSES):
        return "regression", ""
    numbers = f"{values.size} whole numbers of {column.name!r:.60}"
    if _are_quantities(values, counts):
        reason = f"because the {numbers} fill a range as quantities do"
        return "regression", f"Task: regression, {reason}. For classes, use --task classification."
    reason = f"because the {numbers} have many rows each"
    return (
        "classification",
        f"Task: classification, {reason}. For quantities, use --task regression.",
    )


def _are_quantities(values: Array, counts: NDArray[np.intp]) -> bool:
    """Return whether whole numbers (k,) with ``counts`` of rows are ages, counts or marks."""
    is_long, rare = values.size > _MOST_RATINGS, _RARE * counts.mean()
    filled = values.size / (values[-1] - values[0] + 1.0)
    if values.size < _FEWEST_LEVELS or filled < _LEAST_FILLED:
        return False
    has_rare_ends = max(counts[0], counts[-1]) < rare
    has_rare_tail = is_long and bool(counts[-_TAIL:].max() < rare)
    is_no_code = is_long and values[0] not in (0.0, 1.0)
    return has_rare_ends or has_rare_tail or is_no_code or bool(counts.min() == 1)


def check_target(target: pd.Series, task: Task) -> None:
    """Raise InputError unless a target has two values, or two classes of two rows each."""
    column = _read_target(target, are_classes=task == "classification")
    if task == "regression" and column.kind != "numeric":
        raise InputError(
            f"The target {column.name!r:.60} is text ({column.first()}): regression expects "
            "numbers. Use --task classification, or choose another target."
        )
    values, counts = np.unique(column.values, return_counts=True)
    if values.size == 1:
        problem = "one value throughout" if task == "regression" else "a single class"
        raise InputError(
            f"The target {column.name!r:.60} has {problem} ({column.first()}): expected at least "
            "two. Choose another target, or add rows."
        )
    single = [] if task == "regression" else values[counts == 1].tolist()
    if single:
        raise InputError(
            f"The target {column.name!r:.60} has {len(single)} of {values.size} classes with only "
            f"one row ({_listed(list(map(repr, single)))}): expected at least two rows per class. "
            "Drop those rows, join rare classes, or, for quantities, use --task regression."
        )


def check_table(features: pd.DataFrame, target: pd.Series | None = None) -> None:
    """Raise an error for columns that models of a target should not be fitted to."""
    examples = [(name, _mixed_text(features[name])) for name in _text_columns(features)]
    refuse_mixed([(name, example) for name, example in examples if example])
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # Fits warn again
        TableEncoder().fit(features, target)


def _mixed_text(series: pd.Series) -> str:
    """Return examples of a number and of a text if a column seems to hold numbers with typos."""
    import pandas as pd

    distinct = np.asarray(series.dropna().unique(), dtype=object)
    parsed = np.asarray(pd.to_numeric(pd.Series(distinct), errors="coerce"), dtype=np.float64)
    local = written_numbers(list(map(str, distinct)))
    is_number = local | ~np.isnan(parsed)
    n_numbers, n_texts = np.count_nonzero(is_number), np.count_nonzero(~is_number)
    if not n_numbers or not n_texts:
        return ""
    if bool((parsed[is_number] % 1 == 0).all()) and n_numbers < n_texts:
        return ""
    if any(re.match("0[0-9]", str(entry)) for entry in distinct[is_number]):
        return ""  # Codes
    entries = (distinct[is_number][0], distinct[~is_number][0])
    places = (np.flatnonzero(series == entry)[0] for entry in entries)
    is_numbered = series.index.dtype.kind == "i"  # Rows without a target may have been left out
    rows = (int(series.index[place] if is_numbered else place) + 1 for place in places)
    return ", ".join(f"row {row}: {entry!r:.60}" for row, entry in zip(rows, entries, strict=True))


def _read_target(target: pd.Series, *, are_classes: bool = False) -> Column:
    column, advice = read_column(str(target.name), target), ""
    kind, example = column.kind, column.examples()
    if kind == "text" and not are_classes and (mixture := _mixed_text(target)):
        kind, example, advice = (
            "mixed",
            mixture,
            " If these are classes, use --task classification.",
        )
    if kind not in ("numeric", "text"):
        raise InputError(
            f"The target {column.name!r:.60} holds {KIND_NAMES[kind]} ({example}): expected "
            f"numbers or text throughout. Convert it, or choose another target.{advice}"
        )
    return column


def _check_complete(role: str, column: Column) -> None:
    large = column.infinite_rows()
    is_infinite = large.size and np.isinf(column.values[large]).any()
    infinite = "infinite" if is_infinite else f"beyond {LARGEST_ENTRY:g}"
    for rows, how in ((np.flatnonzero(~column.present), "missing"), (large, infinite)):
        if rows.size:
            raise InputError(
                f"The {role} {column.name!r:.60} is {how} in {rows.size} of {len(column.raw)} rows "
                f"(row{'s' if rows.size > 1 else ''} {_listed([row + 1 for row in rows])}, "
                "counting from 1 below the header): expected a finite value in every row. Drop "
                "those rows, or fill them in."
            )


def check_name(frame: pd.DataFrame, name: str) -> None:
    """Raise InputError unless the table has a column of that name; the message suggests one."""
    if name in frame.columns:
        return
    names = list(map(str, frame.columns))
    near = nearest(name, names)
    hint = f" Did you mean {near!r:.60}?" if near else ""
    plural = "s" if len(names) > 1 else ""
    raise InputError(
        f"No column {name!r:.60} in the table.{hint} It has {len(names)} column{plural}: "
        f"{_listed(names, _MOST_COLUMNS_LISTED)}.{looks_like_numbers(names)}"
    )


def _listed(items: Sequence[object], most: int = _MOST_LISTED) -> str:
    return ", ".join(map(str, items[:most])) + (", ..." if len(items) > most else "")


def _text_columns(frame: pd.DataFrame) -> list[str]:
    """Return the names of the columns whose present entries are all text."""
    from pandas.api.types import infer_dtype

    present = {name: frame[name].dropna() for name in frame.columns}
    return [name for name, some in present.items() if some.size and infer_dtype(some) == "string"]


_MOST_KEYS = 1 << 14
"""Most rows whose hashes are stored, four bytes each: a fingerprint stays within 100 kB."""

_LEAST_EXCESS = 0.05
"""Share of training rows in a file, beyond the share of test rows that equal a training row by
chance, above which the file counts as having training rows: errors then change by some per cent."""


def fingerprint(X: MatrixLike, X_test: MatrixLike) -> dict[str, object]:
    """Return hashes of training rows, and the share of test rows with one by chance, as JSON."""
    keys = _keys(X)
    step = -(-len(keys) // _MOST_KEYS)
    stored = np.unique(keys[keys % np.uint64(step) == 0].astype(np.uint32))
    record = {"step": step, "keys": b64encode(stored.astype("<u4").tobytes()).decode()}
    is_known, is_looked_up = _known(record, _keys(X_test))
    n_looked_up = max(int(is_looked_up.sum()), 1)
    return {**record, "chance": float(is_known.sum()) / n_looked_up}


def training_rows(record: Mapping[str, Any], X: MatrixLike) -> tuple[int, NDArray[np.bool_] | None]:
    """Return the number of training rows in a table, and their mask (n,) if all were stored."""
    keys = _keys(X)
    is_known, is_looked_up = _known(record, keys)
    share = float(is_known.sum()) / max(int(is_looked_up.sum()), 1)
    if share <= float(record["chance"]) + _LEAST_EXCESS:
        return 0, None
    return round(share * len(keys)), is_known if record["step"] == 1 else None


def _keys(X: MatrixLike) -> Keys:
    columns = read_part(X)
    return row_keys(columns, np.empty((len(columns[0].raw), 0)))


def _known(record: Mapping[str, Any], keys: Keys) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return masks (n,) of rows with a stored hash, and of rows whose hash would be stored."""
    stored = np.frombuffer(b64decode(record["keys"]), dtype="<u4")
    is_looked_up = keys % np.uint64(record["step"]) == 0
    return is_looked_up & np.isin(keys.astype(np.uint32), stored), is_looked_up

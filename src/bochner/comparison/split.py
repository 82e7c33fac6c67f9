"""Training and test rows of a table: random rows, the latest rows, or the rows of whole groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import train_test_split

from bochner._base.arrays import Floats, Index, as_array
from bochner._base.number_texts import counted
from bochner.files.columns import read_column
from bochner.files.errors import InputError
from bochner.tables import table_rows as copied_rows
from bochner.tables.table_checks import (
    Task,
    check_table,
    check_target,
    drop_columns,
    infer_task,
    side_column,
    split_target,
    with_targets,
)
from bochner.tables.table_rows import entry_hashes, is_sorted

if TYPE_CHECKING:
    import pandas as pd


_MOST_OF_A_NAME = 10
"""Most rows with one entry of an identifier; an entry of more rows is a remark such as "none"."""


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Training and test rows of a table, with targets (n,) or (n, t).

    Weights, groups and times are those of training rows, ``groups_test`` those of test rows.
    ``kind`` is "random", "time" (later rows), "group" (new groups) or "file" (rows of a file);
    ``reason`` and ``notes`` are sentences. ``everything`` has all rows of both parts to fit to.
    """

    X: Any
    y: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]
    task: str
    weight: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    time: NDArray[Any] | None = None
    groups_test: NDArray[Any] | None = None
    kind: str = "random"
    reason: str = "The test rows were chosen at random."
    column: str | None = None  # Column of times or groups by which test rows were chosen
    notes: tuple[str, ...] = ()
    everything: Split | None = None

    def of_target(self, number: int) -> Split:
        """Return the split restricted to one of several targets."""
        if self.y.ndim == 1:
            return self
        return replace(self, y=self.y[:, number], y_test=self.y_test[:, number])


@dataclass(frozen=True, slots=True)
class Roles:
    """Names of the columns of a table with a role other than feature."""

    target: tuple[str, ...]
    drop: tuple[str, ...] = ()
    weight: str | None = None
    id: str | None = None
    group: str | None = None
    time: str | None = None

    @property
    def names(self) -> dict[str, str]:
        """Mapping from role to column name, without targets and dropped columns."""
        roles = {role: getattr(self, role) for role in ("weight", "id", "group", "time")}
        return {role: name for role, name in roles.items() if name is not None}


def split_table(
    frame: pd.DataFrame,
    roles: Roles,
    *,
    task: str = "auto",
    kind: str = "auto",
    test_size: float = 0.2,
    seed: int = 0,
    left_out: Mapping[str, pd.Series] = MappingProxyType({}),
) -> Split:
    """Check the columns of a table, and split its rows, or raise InputError.

    Rows without a target are left out; the latest rows are tested if a column of dates sorts them.
    Copies of a row, and rows of an identifier, also one ``left_out`` at reading, stay together.
    """
    for role, name in (*roles.names.items(), *(("target", name) for name in roles.target)):
        if name in roles.drop:
            raise InputError(f"{name!r:.60} is the {role} and is also dropped: name it once.")
    frame, note = with_targets(drop_columns(frame, roles.drop), roles.target)
    weight = None if roles.weight is None else _weights(frame, roles.weight)
    if roles.id is not None:
        side_column(frame, roles.id, "id")
    kind, reason, column, of_rows = _chosen(frame, roles, kind)
    aside = {roles.weight, roles.id, roles.group if kind == "group" else None} - {None}
    if clash := {*aside, roles.time}.intersection(roles.target):
        raise InputError(f"{clash.pop()!r:.60} is the target and has another role: name two.")
    features, targets = drop_columns(frame, [str(name) for name in aside]), {}
    for name in roles.target:
        features, targets[name] = split_target(features, name, list(left_out))
    task, reason_of_task = _task(targets, task)
    target: Any = next(iter(targets.values()))
    check_table(features, target)
    if len(targets) > 1:
        import pandas as pd

        target = pd.concat(list(targets.values()), axis=1)
    read = [read_column(str(n), each) for n, each in (*features.items(), *targets.items())]
    originals = copied_rows.originals(entry_hashes(read, np.empty((len(frame), 0))))
    names = [frame[roles.id]] if roles.id else []
    names += [
        s[frame.index] for s in left_out.values() if s.value_counts().max() <= _MOST_OF_A_NAME
    ]
    units = _with_equal_names(originals, names)
    sides = {"weight": weight, "originals": originals, **of_rows}
    rows = split_rows(features, target, task, test_size, seed, units=units, **sides)
    notes = tuple(filter(None, (note, reason_of_task, *_notes_on_copies(originals, units))))
    return replace(rows, kind=kind, reason=reason, column=column, notes=notes)


def _with_equal_names(originals: Index, names: Sequence[pd.Series]) -> Index:
    """Return units (n,) that contain copies of a row, and rows with an equal identifier."""
    n = len(originals)
    ends = [originals]
    for series in names:
        number = series.factorize()[0]  # -1 where missing
        ends.append(np.where(number < 0, np.arange(n), _first_of(number)))
    edges = np.concatenate(ends), np.tile(np.arange(n), len(ends))
    graph = coo_array((np.ones(len(edges[0])), edges), shape=(n, n))
    return _first_of(connected_components(graph, directed=False)[1])


def _first_of(labels: NDArray[np.generic]) -> Index:
    """Return the index (n,) of the first row with the same label."""
    _, first, place = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(first[place], dtype=np.intp)


def _notes_on_copies(originals: Index, units: Index) -> Iterator[str]:
    """Yield sentences on copies of rows and on rows of one identifier."""
    n, different = len(originals), np.unique(originals)
    if len(different) < n:
        yield (
            f"{counted(n - len(different), 'duplicate')} among the {n:,} rows, equal to another "
            "row in every column: duplicates are held out together, and the model is fitted to one "
            "of each."
        )
    sizes = np.bincount(units[different])
    if n_sharing := int(sizes[sizes > 1].sum()):
        sharing = f"{n_sharing:,} of the {n:,} rows share their identifier with another row"
        yield f"{sharing}: they are held out together."


def _weights(frame: pd.DataFrame, name: str) -> Floats:
    values = side_column(frame, name, "weight", ("numeric",)).values
    if (wrong := np.flatnonzero(values < 0.0)).size:
        raise InputError(
            f"The weight {name!r:.60} must not be negative, and is {values[wrong[0]]:.4g} in "
            f"row {wrong[0] + 1}: expected zero or more in every row."
        )
    return as_array(values)


def _task(targets: dict[str, pd.Series], named: str) -> tuple[Task, str]:
    """Return the task ``named``, or inferred with a reason; raise InputError for a mismatch."""
    several, task, reason = len(targets) > 1, cast(Task, named), ""
    if named == "auto":
        task, reason = infer_task(next(iter(targets.values())))
        task, reason = ("regression", "") if several else (task, reason)
    if several and task == "classification":
        raise InputError(
            f"--target was given {len(targets)} times: several targets must be numbers. Fit a "
            "model to each."
        )
    for target in targets.values():
        check_target(target, task)
    return task, reason


def _chosen(
    frame: pd.DataFrame, roles: Roles, kind: str
) -> tuple[str, str, str | None, dict[str, Any]]:
    """Return the kind of the split, a sentence on it, and the times or groups with their column."""
    implied = "group" if roles.group else "time" if roles.time else "auto"
    if roles.group and roles.time:
        raise InputError(
            "--group and --time both choose the rows that are held out: give one of them."
        )
    if "auto" not in (kind, implied) and kind != implied:
        raise InputError(
            f"--split {kind} and --{implied} contradict each other: leave one of them out."
        )
    kind = implied if kind == "auto" else kind
    if kind == "group":
        if roles.group is None:
            raise InputError("--split group needs the column of the groups: add --group COLUMN.")
        group = side_column(frame, roles.group, "group")
        numbers = np.unique(group.texts(), return_inverse=True)[1]
        reason = f"groups by {roles.group!r:.60} that are absent from the training rows"
        return kind, f"The test rows belong to {reason}.", roles.group, {"groups": numbers}
    by, why = roles.time, ""
    dates = _dates(frame, roles) if by is None and kind != "random" else {}
    if kind == "auto":
        by = next((name for name, times in dates.items() if is_sorted(times)), None)
        why = ", because it sorts the table; --split random chooses random rows"
    elif kind == "time" and by is None:
        if len(dates) != 1:
            date_columns = f"{len(dates)}: {', '.join(dates)}" if dates else "none"
            raise InputError(
                f"--split time needs the column of times, and the table has several or no columns "
                f"of dates ({date_columns}): add --time COLUMN."
            )
        (by,) = dates
    if by is None:
        return "random", "The test rows were chosen at random.", None, {}
    times = side_column(frame, by, "time", ("numeric", "date")).values
    return "time", f"The test rows are the latest by {by!r:.60}{why}.", by, {"time": times}


def _dates(frame: pd.DataFrame, roles: Roles) -> dict[str, NDArray[Any]]:
    """Return the columns of dates without missing entries, by name."""
    names = [name for name in frame.columns if name not in roles.target]
    read = (read_column(str(name), frame[name]) for name in names)
    return {c.name: c.values for c in read if c.kind == "date" and c.present.all()}


def split_rows(
    features: pd.DataFrame,
    target: pd.Series | pd.DataFrame,
    task: str,
    test_size: float,
    seed: int,
    *,
    weight: Floats | None = None,
    groups: NDArray[np.generic] | None = None,
    time: NDArray[np.generic] | None = None,
    originals: Index | None = None,
    units: Index | None = None,
) -> Split:
    """Split rows into training and test rows at random, by whole groups or by time.

    ``units`` (n,) are not divided at random, and ``originals`` (n,) are the first of equal rows, of
    which one is trained on. Raises InputError for parts without enough rows, groups or classes.
    """
    if not 0.0 < test_size < 1.0:
        raise InputError(f"--test-size must lie between 0 and 1, got {test_size}.")
    rows = np.arange(len(target))
    originals, units = (rows if each is None else each for each in (originals, units))
    y = target.to_numpy()
    if groups is not None:
        units = np.unique(groups, return_inverse=True)[1]
    if time is not None:
        fit, test = _parts(np.argsort(time, kind="stable"), "rows", test_size, None)
        fit, test = np.sort(fit), np.sort(test)
    else:
        classes = y if task == "classification" and groups is None else None
        what, names = "rows" if groups is None else "groups", np.unique(units)
        fit, test = _parts(names, what, test_size, seed, classes)
        if groups is not None or len(names) < len(rows):
            fit, test = (np.flatnonzero(np.isin(units, part)) for part in (fit, test))
    if len(np.unique(originals)) < len(rows):
        fit = np.sort(fit[np.unique(originals[fit], return_index=True)[1]])
        test = test[~np.isin(originals[test], originals[fit])]
    if not test.size:
        raise InputError("All rows to test are copies of rows to fit: leave the copies out.")
    for column in y[fit].reshape(len(fit), -1).T:
        if len(set(column)) == 1:
            raise InputError(
                f"The rows to fit all have the target {column[0]}: choose another --seed or "
                "--test-size, or add rows."
            )
    fit_classes = set(y[fit]) if y.ndim == 1 else set()
    if task == "classification" and (lacking := sorted(set(y[test]) - fit_classes)):
        raise InputError(
            f"No row to fit has the class {lacking[0]}, which rows to test have: choose another "
            "--seed or --test-size, or add rows."
        )
    is_alone = groups is None and len(np.unique(units[test])) == len(test)
    sides = {"weight": weight, "groups": groups, "time": time}

    def fitted_to(rows: Index, **options: Any) -> Split:
        of_rows: dict[str, Any] = {
            name: None if side is None else side[rows] for name, side in sides.items()
        }
        of_test: dict[str, Any] = {"X_test": features.iloc[test], "y_test": y[test], "task": task}
        return Split(features.iloc[rows], y[rows], **of_test, **of_rows, **options)

    everything = fitted_to(np.union1d(fit, test))
    return fitted_to(fit, groups_test=None if is_alone else units[test], everything=everything)


def _parts(
    names: Index, what: str, test_size: float, seed: int | None, classes: NDArray[Any] | None = None
) -> tuple[Index, Index]:
    """Return the names of both parts, stratified by classes; without a seed, the last to test."""
    strata, single = None, names[:0]
    if classes is not None:
        _, strata, counts = np.unique(classes[names], return_inverse=True, return_counts=True)
        is_single = counts[strata] == 1
        strata, single, names = strata[~is_single], names[is_single], names[~is_single]
    n_classes = 1 if strata is None else len(np.unique(strata))
    n_test = ceil(test_size * len(names))
    n_fit, fewest = len(names) - n_test, max(2, n_classes)
    if n_fit < fewest or n_test < n_classes:
        in_classes = f", for {n_classes} classes" if n_classes > 1 else ""
        raise InputError(
            f"--test-size {test_size:g} of {len(names)} {what} leaves {n_fit} to fit and {n_test} "
            f"to test: expected at least {fewest} and {n_classes}{in_classes}. Choose another "
            f"--test-size, or add {what}."
        )
    if seed is None:
        return names[:-n_test], names[-n_test:]
    fit, test = train_test_split(names, test_size=test_size, random_state=seed, stratify=strata)
    return np.concatenate((fit, single)), test

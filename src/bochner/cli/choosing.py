"""Choice of held-out rows: random rows, the latest rows, or the rows of whole groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bochner.files.columns import labels, read_column
from bochner.files.errors import InputError
from bochner.tables.table_checks import side_column
from bochner.tables.table_rows import is_sorted

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class SplitChoice:
    """Choice of test rows, with a sentence on it, and times or groups of all rows."""

    kind: str = "random"
    reason: str = "The test rows were chosen at random."
    time: str | None = None
    group: str | None = None
    per_row: dict[str, Any] = field(default_factory=dict)


class SplitOptions(Protocol):
    """Options of a command for the choice of held-out rows."""

    @property
    def split(self) -> str: ...
    @property
    def time(self) -> str | None: ...
    @property
    def group(self) -> str | None: ...
    @property
    def target(self) -> Any: ...


def chosen_rows(frame: pd.DataFrame, options: SplitOptions) -> SplitChoice:
    """Return the choice of test rows.

    By default, the latest rows are held out if the table is sorted by a column of dates. Raises
    InputError if options contradict each other, or if the table lacks a column.
    """
    kind = _kind(options)
    if kind == "group":
        if options.group is None:
            raise InputError("--split group needs the column of the groups: add --group COLUMN.")
        group = side_column(frame, options.group, "group")
        numbers = np.unique(labels(group.raw, group.present), return_inverse=True)[1]
        reason = (
            f"The test rows belong to groups by {options.group!r} that are absent from the "
            "training rows."
        )
        return SplitChoice("group", reason, group=options.group, per_row={"groups": numbers})
    if kind == "random":
        return SplitChoice()
    dates = [] if options.time else _dates(frame, options)
    if kind == "auto":
        sorting = next(
            (name for name in dates if is_sorted(read_column(name, frame[name]).values)), None
        )
        if sorting is None:
            return SplitChoice()
        reason = (
            f"The test rows are the latest by {sorting!r}, because the table is in the order of "
            "these dates; --split random chooses random rows."
        )
        return _latest(frame, sorting, reason)
    if options.time is None and len(dates) != 1:
        date_columns = f"{len(dates)}: {', '.join(dates)}" if dates else "none"
        raise InputError(
            f"--split time needs the column of times, and the table has several or no columns of "
            f"dates ({date_columns}): add --time COLUMN."
        )
    name = options.time or dates[0]
    return _latest(frame, name, f"The test rows are the latest by {name!r}.")


def _kind(options: SplitOptions) -> str:
    """Return the requested kind of the choice of test rows, or "auto"."""
    if options.group is not None and options.time is not None:
        raise InputError(
            "--group and --time both choose the rows that are held out: give one of them."
        )
    implied = "auto" if options.time is None else "time"
    if options.group is not None:
        implied = "group"
    if "auto" not in (options.split, implied) and options.split != implied:
        raise InputError(
            f"--split {options.split} and --{implied} contradict each other: leave one of them out."
        )
    return implied if options.split == "auto" else options.split


def _dates(frame: pd.DataFrame, options: SplitOptions) -> list[str]:
    """Return the names of complete columns of dates."""
    read = (read_column(str(name), frame[name]) for name in frame.columns)
    kinds = {column.name: column for column in read if column.kind == "date"}
    return [name for name, c in kinds.items() if c.present.all() and name not in options.target]


def _latest(frame: pd.DataFrame, name: str, reason: str) -> SplitChoice:
    times = side_column(frame, name, "time", ("numeric", "date")).values
    return SplitChoice("time", reason, time=name, per_row={"time": times})

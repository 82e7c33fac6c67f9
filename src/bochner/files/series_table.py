"""Extraction of time series, known inputs and rows to forecast from the columns of a table."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import as_array
from bochner.files.columns import KIND_NAMES, Column, read_column
from bochner.files.errors import InputError
from bochner.files.local_dates import number_dates
from bochner.files.rule_reading import are_values
from bochner.tables.table_checks import check_name

if TYPE_CHECKING:
    import pandas as pd

ONE = "y"
"""Name of the series in a table with a single series."""

_FEW_TEXTS = 50  # Texts of a column that are tested for dates
_ZONES = (
    "Europe/Berlin", "Europe/London", "Europe/Athens", "Atlantic/Azores", "America/New_York",
    "America/Santiago", "Australia/Sydney", "Australia/Lord_Howe", "Asia/Jerusalem",
)  # fmt: skip
"""One zone for each rule by which clocks are set back, as the zones of a rule change alike."""

_MOST_NAMES = 3  # Most columns that the title of a report names
_ROLES: Mapping[str, tuple[Collection[str], str]] = {
    "target": (("numeric", "empty"), "numbers, and nothing at times whose value is unknown"),
    "time": (("numeric", "date"), "dates or numbers, in every row"),
    "known input": (("numeric", "text"), "numbers or text, in rows to forecast as well"),
    "series": (KIND_NAMES, "the name of a series in every row"),
}
"""Kinds that a column may have in each role, and what it must hold."""


@dataclass(frozen=True, slots=True, eq=False)
class TableSeries:
    """One time series with values (n,) up to the last known one, inputs (n + h, d), later times."""

    name: str
    values: pd.Series
    inputs: pd.DataFrame | None
    later: pd.Index[Any]


@dataclass(frozen=True, slots=True)
class SeriesColumns:
    """Names of the columns of a table with times, values, series names and known inputs."""

    time: str
    target: str
    series: str | None = None
    inputs: Sequence[str] = ()


def series_columns(
    frame: pd.DataFrame, target: str, time: str | None, series: str | None, inputs: Sequence[str]
) -> SeriesColumns:
    """Return the columns of a table that hold its time series, after a check of their names."""
    named = [target, *inputs, *(name for name in (time, series) if name is not None)]
    _check_names(frame, named)
    if time is not None:
        return SeriesColumns(time, target, series, inputs)
    are_dates = {str(name): read_column(str(name), frame[name]).kind == "date"
                 for name in frame.columns if name in inputs or name not in named}  # fmt: skip
    dates = [name for name, is_date in are_dates.items() if is_date and name not in named]
    for name in inputs:
        if not dates and are_dates[name]:
            raise InputError(
                f"The column {name!r:.60} has two roles: the times, as the only column of dates, "
                "and a known input. Leave it out of --known."
            )
    if len(dates) != 1:
        listed = f"{len(dates)} columns of dates: {', '.join(dates)}" if dates else "none"
        usual = next((n for n in are_dates if n.lower() in ("time", "year", "t", "jahr")), None)
        numeric = "." if usual is None or dates else f": did you mean --time {usual}?"
        near = "" if dates else _near(frame, [name for name in are_dates if name not in named])
        raise InputError(
            f"Expected one column of dates, found {listed}. {near}Name the column of times, of "
            f"dates or numbers, with --time{numeric}"
        )
    return SeriesColumns(dates[0], target, series, inputs)


def _check_names(frame: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise InputError if a table lacks a column, or a column is named twice."""
    for name in names:
        check_name(frame, name)
        if names.count(name) > 1:
            raise InputError(
                f"The column {name!r:.60} has two roles: name a different column for each."
            )


def _near(frame: pd.DataFrame, names: Sequence[str]) -> str:
    """Return a sentence on the first column whose numbers or texts are nearly dates."""
    for name in names:
        column = read_column(name, frame[name])
        entries = column.raw[column.present]
        if column.kind == "numeric":
            is_near = number_dates(name, column.values, requested=True) is not None
            is_near &= number_dates(name, column.values) is not None
        else:
            texts = list(map(str, entries[:_FEW_TEXTS])) if column.kind == "text" else []
            is_near = sum(are_values([text]) for text in texts) * 2 > len(texts)
        if is_near:
            return f"{name!r} looks like dates ({column.first()}): --types {name}=date reads it. "
    return ""


def stacked(
    frame: pd.DataFrame,
    targets: Sequence[str],
    columns: SeriesColumns,
    later: pd.DataFrame | None = None,
) -> tuple[pd.DataFrame, SeriesColumns]:
    """Return a table with several value columns as separate series, and its columns."""
    import pandas as pd

    kept = [columns.time, *columns.inputs]
    _check_names(frame, [*kept, *targets])
    if later is not None:
        _check_names(later, kept)
        frame = pd.concat([frame, later[kept]], ignore_index=True)
    numbers = {name: _read(frame, name, "target").values for name in targets}
    target = ", ".join(targets[:_MOST_NAMES])
    if len(targets) > _MOST_NAMES:
        target += f" and {len(targets) - _MOST_NAMES} more"
    series = next(name for name in ("series", "target", "column", "name") if name not in kept)
    stacked = frame[kept].assign(**numbers).melt(kept, targets, series, target)
    return stacked, SeriesColumns(columns.time, target, series, columns.inputs)


def table_series(
    frame: pd.DataFrame, columns: SeriesColumns, later: pd.DataFrame | None = None
) -> tuple[list[TableSeries], dict[str, str]]:
    """Return the series of a table, by first row, and the reasons to refuse each other series."""
    import pandas as pd

    if later is not None:
        needed = [columns.time, *columns.inputs, *([columns.series] if columns.series else [])]
        _check_names(later, needed)
        frame = pd.concat([frame, later[needed]], ignore_index=True)
    values = _read(frame, columns.target, "target").values
    times, inputs = _times(frame, columns.time), _inputs(frame, columns.inputs)
    names = np.full(len(frame), ONE, dtype=object)
    if columns.series is not None:
        _read(frame, columns.series, "series")
        names = np.asarray(frame[columns.series].astype(str), dtype=object)
    all_series: list[TableSeries] = []
    refused: dict[str, InputError] = {}
    order = np.argsort(times, kind="stable")
    for name in dict.fromkeys(names.tolist()):
        rows = order[names[order] == name]
        try:
            all_series.append(_one_series(str(name), rows, times, values, inputs, columns))
        except InputError as error:
            refused[str(name)] = error
    if not all_series:
        raise next(iter(refused.values()))
    return all_series, {name: str(error) for name, error in refused.items()}


def _one_series(
    name: str,
    rows: NDArray[np.intp],
    times: pd.Index[Any],
    values: NDArray[np.float64],
    inputs: pd.DataFrame | None,
    columns: SeriesColumns,
) -> TableSeries:
    """Return the series in some rows; InputError if a time repeats or no value is present."""
    import pandas as pd

    # Sensors write rows of events beside those of values.
    is_twice = times[rows].duplicated(keep=False)
    if not _come_again(times[rows][is_twice]):
        rows = rows[np.isfinite(values[rows]) | ~is_twice]
    times, values = times[rows], values[rows]
    inputs = None if inputs is None else inputs.iloc[rows].set_axis(times)
    if _come_again(times[times.duplicated(keep=False)]):
        warnings.warn(
            f"Times such as {times[times.duplicated()][0]} come twice, as clocks were set back: "
            "their two rows are averaged.",
            stacklevel=2,
        )
        are_whole = bool((np.nan_to_num(values) % 1.0 == 0.0).all())
        means = pd.Series(values, times).groupby(level=0).mean()
        times, values = means.index, as_array(means.round() if are_whole else means)
        inputs = None if inputs is None else inputs.groupby(level=0).mean()
    of = f" of the series {name!r:.60}" if columns.series else ""
    if len(twice := np.flatnonzero(times[1:] == times[:-1])):
        place = twice[0]
        first, second = sorted(rows[place : place + 2] + 1)
        is_clock = isinstance(times, pd.DatetimeIndex) and bool((times != times.normalize()).any())
        advice = " If clocks were set back, write times in UTC." if is_clock else ""
        apart = "" if of else "Name the column that tells the series apart with --series, or "
        raise InputError(
            f"The time {times[place]}{of} occurs in rows {first} and {second}. "
            f"{apart}{'sum' if apart else 'Sum'} or average the values of each time first.{advice}"
        )
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        raise InputError(f"All values {columns.target!r:.60}{of} are missing: expected some.")
    first, end = known[0], known[-1] + 1
    series = pd.Series(values[first:end], index=times[first:end])
    inputs = None if inputs is None else inputs.iloc[first:]
    return TableSeries(name, series, inputs, times[end:])


def _come_again(times: pd.Index[Any]) -> bool:
    """Return whether sorted times that repeat are those that a zone's clocks show twice."""
    import pandas as pd

    if not len(times) or not isinstance(times, pd.DatetimeIndex) or times.tz is not None:
        return False
    is_first = ~times.duplicated()
    in_zones = (times.tz_localize(zone, ambiguous=is_first, nonexistent="NaT") for zone in _ZONES)
    return any(utc.is_unique for utc in in_zones)


def _read(frame: pd.DataFrame, name: str, role: str) -> Column:
    """Return a column; raise InputError unless it holds what its role needs."""
    column, (kinds, expected) = read_column(name, frame[name]), _ROLES[role]
    missing = np.flatnonzero(~column.present)
    if role != "target" and len(missing):
        raise InputError(
            f"The {role} {name!r:.60} is missing in row {missing[0] + 1}, counting from 1 below "
            f"the header: expected {expected}."
        )
    if column.kind not in kinds:
        raise InputError(
            f"The {role} {name!r:.60} holds {KIND_NAMES[column.kind]} ({column.examples()}): "
            f"expected {expected}."
        )
    if role == "target" and np.isinf(column.values).any():
        row = np.argmax(np.isinf(column.values)) + 1
        raise InputError(f"The target {name!r:.60} is infinite in row {row}.")
    return column


def _times(frame: pd.DataFrame, name: str) -> pd.Index[Any]:
    import pandas as pd

    times: pd.Index[Any]
    if _read(frame, name, "time").kind == "numeric":
        times = pd.Index(frame[name].to_numpy())
    elif frame[name].dtype == object:  # Dates with several offsets keep their local times
        times = pd.Index(frame[name].tolist(), dtype=object)
    else:
        times = pd.DatetimeIndex(frame[name])
    return times


def _inputs(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame | None:
    """Return known inputs as numbers; text as indicators of all levels except the most common."""
    import pandas as pd

    parts = []
    for name in names:
        column = _read(frame, name, "known input")
        if column.kind == "numeric":
            parts.append(pd.DataFrame({name: column.values}))
            continue
        entries = frame[name].astype(str).reset_index(drop=True)
        levels = entries.value_counts().index[1:]
        indicators = {f"{name}={level}": (entries == level).astype(float) for level in levels}
        parts.append(pd.DataFrame(indicators))
    return pd.concat(parts, axis=1) if parts else None

"""Extraction of time series, known inputs and rows to forecast from the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner.files.columns import KIND_NAMES, Column, read_column
from bochner.files.errors import InputError
from bochner.files.number_dates import number_dates
from bochner.files.rule_reading import are_values
from bochner.tables.table_checks import check_name

if TYPE_CHECKING:
    import pandas as pd

ONE = "y"
"""Name of the series in a table with a single series."""

_FEW_TEXTS = 50
"""Texts of a column that are tested for dates."""

_MOST_NAMES = 3
"""Most columns that the title of a report names."""


@dataclass(frozen=True, slots=True, eq=False)
class TableSeries:
    """One time series of a table, sorted by time.

    ``values`` (n,) end with the last known value, and have NaN for unknown ones; their index has
    the times. ``inputs`` (n + h, d) are known at the h rows after the last known value, too, whose
    times are ``later``.
    """

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
    """Validate and return the columns of a table that hold its time series.

    Without the name of a column of times it is the only column of dates. Raises InputError if the
    table lacks a column, or a column has two roles.
    """
    named = [target, *inputs, *(name for name in (time, series) if name is not None)]
    for name in named:
        check_name(frame, name)
    if len(set(named)) < len(named):
        twice = next(name for name in named if named.count(name) > 1)
        raise InputError(f"The column {twice!r} has two roles: name a different column for each.")
    if time is None:
        free = [str(name) for name in frame.columns if name not in named]
        dates = [name for name in free if read_column(name, frame[name]).kind == "date"]
        for name in inputs:
            if not dates and read_column(name, frame[name]).kind == "date":
                raise InputError(
                    f"The column {name!r} has two roles: the times, as the only column of dates, "
                    "and a known input. Leave it out of --known."
                )
        if len(dates) != 1:
            listed = f"{len(dates)} columns of dates: {', '.join(dates)}" if dates else "none"
            near = "" if dates else _near(frame, free)
            raise InputError(
                f"Expected one column of dates, found {listed}. {near}"
                "Name the column of times, of dates or numbers, with --time."
            )
        time = dates[0]
    return SeriesColumns(time, target, series, inputs)


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
    """Stack several value columns of a table as separate series; return the table and its columns.

    Times and known inputs are those of all series. ``later`` is a table of rows to forecast, which
    are added. Raises InputError for a target that the table lacks, that is named twice, that has
    another role, or that does not hold numbers.
    """
    import pandas as pd

    kept = [columns.time, *columns.inputs]
    for name in targets:
        check_name(frame, name)
        if name in kept or targets.count(name) > 1:
            raise InputError(
                f"The column {name!r} has two roles: name a different column for each --target."
            )
    if later is not None:
        for name in kept:
            check_name(later, name)
        frame = pd.concat([frame, later[kept]], ignore_index=True)
    values = [_values(frame, name) for name in targets]
    target = ", ".join(targets[:_MOST_NAMES])
    if len(targets) > _MOST_NAMES:
        target += f" and {len(targets) - _MOST_NAMES} more"
    series = next(name for name in ("series", "target", "column", "name") if name not in kept)
    parts = [
        frame[kept].assign(**{series: name}).assign(**{target: column})
        for name, column in zip(targets, values, strict=True)
    ]
    stacked = SeriesColumns(columns.time, target, series, columns.inputs)
    return pd.concat(parts, ignore_index=True), stacked


def table_series(
    frame: pd.DataFrame, columns: SeriesColumns, later: pd.DataFrame | None = None
) -> tuple[list[TableSeries], dict[str, str]]:
    """Return the series of a table by first row, and the reasons to refuse each other series.

    Series with a time that occurs twice, or without known values, are refused if there are others:
    the dictionary has the reasons by their names.

    ``later`` is a table of rows to forecast with the times, the known inputs and, for several
    series, their names. Raises InputError for entries that are missing or of another kind, times
    that occur twice in a series, and series without known values.
    """
    import pandas as pd

    if later is not None:
        needed = [columns.time, *columns.inputs, *([columns.series] if columns.series else [])]
        for name in needed:
            check_name(later, name)
        frame = pd.concat([frame, later[needed]], ignore_index=True)
    values = _values(frame, columns.target)
    times = _times(frame, columns.time)
    inputs = _inputs(frame, columns.inputs)
    names = _names(frame, columns.series)
    all_series: list[TableSeries] = []
    refused: dict[str, InputError] = {}
    for name in dict.fromkeys(names.tolist()):
        rows = np.flatnonzero(names == name)
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

    rows = rows[np.argsort(times[rows], kind="stable")]
    _check_different(times[rows], rows, columns, name)
    known_places = np.flatnonzero(np.isfinite(values[rows]))
    if not len(known_places):
        of = f" of the series {name!r}" if columns.series else ""
        raise InputError(f"All values {columns.target!r}{of} are missing: expected some.")
    first, end = known_places[0], known_places[-1] + 1
    series = pd.Series(values[rows[first:end]], index=times[rows[first:end]])
    known_inputs = None
    if inputs is not None:
        known_inputs = inputs.iloc[rows[first:]].set_axis(times[rows[first:]])
    return TableSeries(name, series, known_inputs, times[rows[end:]])


def _values(frame: pd.DataFrame, name: str) -> NDArray[np.float64]:
    column = read_column(name, frame[name])
    if column.kind not in ("numeric", "empty"):
        raise InputError(
            f"The target {name!r} holds {KIND_NAMES[column.kind]} ({column.examples()}): expected "
            "numbers, and nothing at times whose value is unknown."
        )
    infinite = np.flatnonzero(np.isinf(column.values))
    if len(infinite):
        raise InputError(f"The target {name!r} is infinite in row {infinite[0] + 1}.")
    return column.values


def _check_present(column: Column, what: str, expected: str) -> None:
    """Raise InputError for a column with missing entries."""
    missing = np.flatnonzero(~column.present)
    if len(missing):
        raise InputError(
            f"The {what} {column.name!r} is missing in row {missing[0] + 1}, counting from 1 below "
            f"the header: expected {expected}."
        )


def _times(frame: pd.DataFrame, name: str) -> pd.Index[Any]:
    import pandas as pd

    column = read_column(name, frame[name])
    _check_present(column, "time", "a date or a number in every row")
    if column.kind == "numeric":
        numbers: pd.Index[Any] = pd.Index(frame[name].to_numpy())
        return numbers
    if column.kind != "date":
        raise InputError(
            f"The time {name!r} holds {KIND_NAMES[column.kind]} ({column.examples()}): expected "
            "dates or numbers."
        )
    if frame[name].dtype == object:  # Dates with several offsets from UTC keep their local times
        stamps: pd.Index[Any] = pd.Index(frame[name].tolist(), dtype=object)
        return stamps
    return pd.DatetimeIndex(frame[name])


def _inputs(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame | None:
    """Return known inputs as numbers; text as indicators of all levels except the most common.

    Missing entries are refused, as every input must be known at every time.
    """
    import pandas as pd

    if not names:
        return None
    parts = []
    for name in names:
        column = read_column(name, frame[name])
        _check_present(column, "known input", "an entry in every row, those to forecast included")
        if column.kind == "numeric":
            parts.append(pd.DataFrame({name: column.values}))
            continue
        if column.kind != "text":
            raise InputError(
                f"The known input {name!r} holds {KIND_NAMES[column.kind]}: expected numbers or "
                "text."
            )
        entries = frame[name].astype(str).reset_index(drop=True)
        levels = entries.value_counts().index[1:]
        indicators = {f"{name}={level}": (entries == level).astype(float) for level in levels}
        parts.append(pd.DataFrame(indicators))
    return pd.concat(parts, axis=1)


def _names(frame: pd.DataFrame, series: str | None) -> NDArray[np.generic]:
    if series is None:
        return np.full(len(frame), ONE, dtype=object)
    column = read_column(series, frame[series])
    _check_present(column, "series", "the name of a series in every row")
    return np.asarray(frame[series].astype(str), dtype=object)


def _check_different(
    times: pd.Index[Any], rows: NDArray[np.intp], columns: SeriesColumns, name: str
) -> None:
    """Raise InputError if a time occurs twice in a series that is sorted by time."""
    twice = np.flatnonzero(times[1:] == times[:-1])
    if not len(twice):
        return
    first, second = sorted((rows[twice[0]] + 1, rows[twice[0] + 1] + 1))
    if columns.series is None:
        advice = "Name the column that tells the series apart with --series, or sum or average"
        of = ""
    else:
        advice, of = "Sum or average", f" of the series {name!r}"
    raise InputError(
        f"The time {times[twice[0]]}{of} occurs in rows {first} and {second}. {advice} the values "
        "of each time first."
    )

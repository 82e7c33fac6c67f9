"""Dates as stamps in UTC and by the clock, and as numbers of days or months since 1970."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner.files.clocks import clock_times, is_fixed, zone_name
from bochner.files.columns import read_column

Stamps = NDArray[np.datetime64]

_DAY = np.timedelta64(1, "D")
"""One day, the unit of dates that are not monthly."""

_SHORTEST_MONTH = 27
"""Fewest days between monthly dates: February has 28."""


class Dates(NamedTuple):
    """Dates (n,) in nanoseconds, in UTC and in local time, with their zone.

    Dates of several offsets from UTC have the last of these for a zone.
    """

    utc: Stamps
    clock: Stamps
    zone: str | None


def read_dates(times: Any) -> Dates:
    """Return times (n,), a pandas index, a series, text or ``datetime64``, as dates.

    Raises TypeError if the entries are not dates, and ValueError if they are out of range in
    nanoseconds.
    """
    times = times.array if hasattr(times, "iloc") else times
    if hasattr(getattr(times, "dtype", None), "categories"):
        times = np.asarray(times)  # Codes of categories are not times
    if hasattr(times, "to_timestamp"):
        times = times.to_timestamp()
    zone = getattr(times, "tz", None)
    if zone is not None:  # An index, which may have nanoseconds
        utc = _nanoseconds(times.tz_convert("UTC").tz_localize(None))
        return Dates(utc, _nanoseconds(times.tz_localize(None)), zone_name(zone))
    dtype = times.dtype if hasattr(times, "dtype") else np.asarray(times).dtype
    if getattr(dtype, "kind", "O") in "OUT" or hasattr(dtype, "tz") or hasattr(dtype, "time_zone"):
        column = read_column("times", times if hasattr(times, "dtype") else np.asarray(times))
        is_date = column.kind == "date" and column.clock is not None
        if is_date and column.present.all():
            utc, clock = _nanoseconds(column.times()), _nanoseconds(column.wall_times())
            return Dates(utc, clock, column.zone or _offset_name(utc[-1], clock[-1]))
    stamps = _nanoseconds(times)
    return Dates(stamps, stamps, None)


def _offset_name(utc: np.datetime64, clock: np.datetime64) -> str:
    minutes = int((clock - utc) / np.timedelta64(1, "m"))
    hours, minutes_left = divmod(abs(minutes), 60)
    return f"UTC{'-' if minutes < 0 else '+'}{hours:02d}:{minutes_left:02d}"


def sortable_times(name: str, times: Any) -> NDArray[np.generic]:
    """Return times (n,) without missing entries as numbers or UTC stamps, which can be sorted.

    Raises TypeError for entries that are neither numbers nor dates, and ValueError for infinite
    numbers, dates out of range, and dates some of which have a time zone.
    """
    dtype: Any = getattr(times, "dtype", None)
    if hasattr(dtype, "categories"):
        if dtype.ordered:
            return np.asarray(times.cat.codes if hasattr(times, "cat") else times.codes)
        times = np.asarray(times)
    values = np.asarray(times)
    if values.dtype == object and len({type(value) for value in values.tolist()}) == 1:
        values = np.array(values.tolist())  # Numbers in an array of objects
    if values.dtype.kind in "iuf":
        if not np.isfinite(values).all():
            raise ValueError(f"{name} must hold finite numbers or dates, got infinite numbers.")
        return values
    if values.dtype.kind == "b":
        raise TypeError(f"{name} must hold numbers or dates, got True and False.")
    zones = {getattr(value, "tzinfo", None) is None for value in values.ravel().tolist()}
    if values.dtype == object and len(zones) > 1:
        raise ValueError(
            f"{name} has dates with a time zone and dates without one, whose order is not "
            f"defined. Localise the latter, for example by pandas' tz_localize."
        )
    try:
        return read_dates(times).utc
    except TypeError as error:
        raise TypeError(
            f"{name} must hold numbers or dates, got {str(values[0])!r} first. Convert text that "
            f"is not in ISO 8601, for example by pandas.to_datetime."
        ) from error


def on_clock_of(dates: Dates, zone: str | None) -> Dates:
    """Convert dates to the local time of a zone, unless it is None or a fixed offset from UTC.

    Offsets do not determine the zone, so dates with offsets keep their local times.
    """
    if zone is None or is_fixed(zone) or zone == dates.zone:
        return dates
    return Dates(dates.utc, _nanoseconds(clock_times(dates.utc, zone)), zone)


def _nanoseconds(times: object) -> Stamps:
    array = np.asarray(times)
    if array.dtype.kind not in "MOUST":
        raise TypeError(f"Times must be numbers or dates, got entries of type {array.dtype}.")
    try:
        stamps, coarse = array.astype("M8[ns]"), array.astype("M8[us]")
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"Times must be numbers, datetime64 or a pandas index of these or of periods, got "
            f"{str(np.asarray(times)[0])!r} first."
        ) from error
    # NumPy lets nanoseconds overflow without a word.
    if (outside := (stamps.astype("M8[us]") != coarse) & ~np.isnat(coarse)).any():
        raise ValueError(
            f"Dates must lie between the years 1678 and 2262, got {coarse[outside][0]}. Pass times "
            "as numbers, such as decimal years."
        )
    return stamps


def days_of(stamps: Stamps) -> Array:
    """Return days since 1970."""
    return (stamps - np.datetime64(0, "ns")) / _DAY


def month_offset(stamps: Stamps) -> float | None:
    """Return days after the first of a month, minus one for its last day, if dates are months."""
    if len(stamps) < 2 or np.median(np.diff(stamps) / _DAY) < _SHORTEST_MONTH:
        return None
    for shift in (0 * _DAY, _DAY):
        shifted = stamps + shift
        after = (shifted - shifted.astype("M8[M]").astype("M8[ns]")) / _DAY
        # The last days of months have different numbers, the days after them have not.
        if np.ptp(after) == 0.0 and (shift == 0 * _DAY or after[0] < 1.0):
            return float(after[0]) - float(shift / _DAY)
    return None


def months_of(stamps: Stamps, offset: float) -> Array:
    """Return months since 1970, with their fractions, for dates shifted back by some days."""
    shifted = stamps - np.timedelta64(round(offset * 86_400), "s")  # Seconds of a day
    first = shifted.astype("M8[M]")
    length = (first + 1).astype("M8[ns]") - first.astype("M8[ns]")
    fraction: Array = (shifted - first.astype("M8[ns]")) / length
    return first.astype(np.int64) + fraction

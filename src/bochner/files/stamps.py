"""Conversion of dates to UTC and local time, and to days or months since 1970."""

from __future__ import annotations

import json
from collections.abc import Container
from datetime import datetime, time, timedelta, timezone
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner.files.columns import clock_times, is_fixed, read_column, zone_name

if TYPE_CHECKING:
    import pandas as pd


Stamps = NDArray[np.datetime64]

_DAY = np.timedelta64(1, "D")  # One day, the unit of dates that are not monthly
_SHORTEST_MONTH = 27  # Fewest days between monthly dates: February has 28


class Dates(NamedTuple):
    """Dates (n,) in nanoseconds, in UTC and in local time, with their zone.

    Dates of several offsets from UTC have the last of these for a zone.
    """

    utc: Stamps
    clock: Stamps
    zone: str | None


def read_dates(times: Any) -> Dates:
    """Convert times (n,) of any type to `Dates`; TypeError or ValueError if they are no dates."""
    times = times.array if hasattr(times, "iloc") else times
    if hasattr(getattr(times, "dtype", None), "categories"):
        times = np.asarray(times)  # Category codes are not times
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
            last = timezone((clock[-1] - utc[-1]).astype("m8[us]").item())
            offset = datetime.min.replace(tzinfo=last).isoformat()[len("0001-01-01T00:00:00") :]
            return Dates(utc, clock, column.zone or f"UTC{offset}")
    stamps = _nanoseconds(times)
    return Dates(stamps, stamps, None)


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
            f"{name} must hold numbers or dates, got {str(values[0])!r:.60} first. Convert text "
            f"that is not in ISO 8601, for example by pandas.to_datetime."
        ) from error


def on_clock_of(dates: Dates, zone: str | None) -> Dates:
    """Convert dates to the local time of a zone; an offset from UTC does not tell the zone."""
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
            f"{str(np.asarray(times)[0])!r:.60} first."
        ) from error
    # NumPy does not report an overflow of nanoseconds.
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
    """Return the offset of monthly dates in days: 0 for the first of a month, -1 for the last."""
    if len(stamps) < 2 or np.median(np.diff(stamps) / _DAY) < _SHORTEST_MONTH:
        return None
    for shift in (0 * _DAY, _DAY):
        shifted = stamps + shift
        after = (shifted - shifted.astype("M8[M]").astype("M8[ns]")) / _DAY
        # Last days of months differ in number, so they are shifted to the first of the next month.
        if np.ptp(after) == 0.0 and (shift == 0 * _DAY or after[0] < 1.0):
            return float(after[0]) - float(shift / _DAY)
    return None


def months_of(stamps: Stamps, offset: float) -> Array:
    """Return fractional months since 1970 of dates, after shifting them back by some days."""
    shifted = stamps - np.timedelta64(round(offset * 86_400), "s")  # 86,400 seconds per day
    first = shifted.astype("M8[M]")
    length = (first + 1).astype("M8[ns]") - first.astype("M8[ns]")
    fraction: Array = (shifted - first.astype("M8[ns]")) / length
    return first.astype(np.int64) + fraction


def as_text(offset: Any) -> str | None:
    """Return the text of an offset for `from_text`, an alias such as ME or JSON, or None."""
    import pandas as pd
    from pandas.tseries.frequencies import to_offset

    text, name = str(offset.freqstr), type(offset).__name__
    try:
        if to_offset(text) == offset:
            return text
    except ValueError:  # pandas cannot parse its own text of this offset
        pass
    options = {key: value for key, value in offset.kwds.items() if key != "calendar"}
    facts = {"offset": name, "n": offset.n, "normalize": offset.normalize, "options": options}
    try:
        return json.dumps(facts, default=_plain) if hasattr(pd.offsets, name) else None
    except TypeError:
        return None


def _plain(value: object) -> dict[str, str | int]:
    """Return the options of offsets that JSON lacks."""
    if isinstance(value, timedelta):
        return {"microseconds": round(value / timedelta(microseconds=1))}
    if isinstance(value, np.datetime64):
        return {"day": str(value.astype("M8[D]"))}
    if isinstance(value, time):
        return {"time": value.strftime("%H:%M")}
    raise TypeError


def _restored(value: Any) -> Any:
    """Return an option as pandas takes it, for which times of day and days are texts."""
    if isinstance(value, list):
        return [_restored(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    is_duration = "microseconds" in value
    return timedelta(**value) if is_duration else next(iter(value.values()))


def from_text(text: str) -> Any:
    """Parse the text of an offset; raise ValueError if the text is invalid."""
    import pandas as pd
    from pandas.tseries.frequencies import to_offset

    if not text.startswith("{"):
        return to_offset(text)
    try:
        facts = json.loads(text)
        options = {key: _restored(value) for key, value in facts["options"].items()}
        made = getattr(pd.offsets, facts["offset"])
        return made(int(facts["n"]), normalize=facts["normalize"], **options)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"The frequency of the dates must be an offset, got {text}.") from error


def weekly(days: Container[int]) -> str:
    """Return the text of an offset to the next of some weekdays, numbered from Monday = 0."""
    import pandas as pd

    return str(as_text(pd.offsets.CustomBusinessDay(weekmask=_mask(days))))


def opening_hours(first: int, end: int, after: np.timedelta64, days: Container[int]) -> str:
    """Return the text of an offset to the next of some hours, ``after`` full ones, on weekdays."""
    import pandas as pd

    minutes = int(after / np.timedelta64(1, "m"))
    bounds = {"start": f"{first:02d}:{minutes:02d}", "end": f"{end:02d}:{minutes:02d}"}
    made: Any = pd.offsets.CustomBusinessHour  # The type stubs lack ``weekmask``
    return str(as_text(made(weekmask=_mask(days), **bounds)))


def _mask(days: Container[int]) -> str:
    return "".join(str(int(day in days)) for day in range(7))


def dates_from(first: pd.Timestamp, offset: Any, **end: Any) -> pd.DatetimeIndex:
    """Return ``pandas.date_range`` from a date, at the same local time where the zone allows.

    Times that clocks leave out move forward, and of times that come twice it is the earlier one.
    """
    import pandas as pd

    zone, offsets = first.tz, pd.offsets
    # A fixed duration; days of a zone have 23 to 25 hours.
    is_fixed = isinstance(offset, offsets.Tick) and not isinstance(offset, offsets.Day)
    if zone is None or is_fixed:
        return pd.date_range(first, freq=offset, **end)
    clock: dict[str, Any] = {
        name: bound.tz_localize(None) if isinstance(bound, pd.Timestamp) else bound
        for name, bound in end.items()
    }
    index = localised(pd.date_range(first.tz_localize(None), freq=offset, **clock), zone)
    try:
        return pd.DatetimeIndex(index, freq=offset)
    except ValueError:  # A time is missing or comes twice
        return index


def localised(shown: pd.DatetimeIndex, zone: Any) -> pd.DatetimeIndex:
    """Attach a time zone to local times, by the rules of `dates_from` for clock changes."""
    twice = np.ones(len(shown), dtype=bool)
    return shown.tz_localize(zone, ambiguous=twice, nonexistent="shift_forward")


def next_dates(last: pd.Timestamp, offset: object, count: int) -> pd.DatetimeIndex:
    """Return ``count`` dates of an offset after the last date, which may lie off the calendar."""
    index = dates_from(last, offset, periods=count + 1)
    return index[index > last][:count]


def monthly_offset(frequency: str | None) -> Any:
    """Return the offset to the same kind of day in the next month, None if its number is fixed."""
    if frequency is None or frequency.startswith("<"):  # Text that pandas writes but cannot parse
        return None
    offset = from_text(frequency)
    name = type(offset).__name__
    if name.startswith(("BusinessMonth", "BQuarter", "BYear")):
        return from_text("BME" if name.endswith("End") else "BMS")
    is_monthly = name.startswith(("WeekOf", "LastWeekOf", "CustomBusinessMonth"))
    return getattr(offset, "base", offset) if is_monthly else None


def own_frequency(times: Any) -> str | None:
    """Return the text of the frequency of a pandas index, or None without a frequency."""
    if hasattr(times, "to_timestamp"):
        return str(times.freqstr) if hasattr(times, "get_indexer") else None
    offset = getattr(times, "freq", None)
    return None if offset is None else as_text(offset)

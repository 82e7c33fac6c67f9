"""Columns of a table: numbers, dates or text, read from pandas, polars or NumPy, and zones."""

from __future__ import annotations

import math
import numbers
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timezone, tzinfo
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from bochner._base.arrays import decimal_years
from bochner._base.limits import LARGEST_ENTRY
from bochner._base.names import shown

if TYPE_CHECKING:
    import pandas as pd


Kind = Literal["numeric", "date", "text", "empty", "mixed", "unsupported"]

KIND_NAMES: dict[Kind, str] = {
    "numeric": "numbers",
    "date": "dates",
    "text": "text",
    "empty": "nothing",
    "mixed": "a mixture",
    "unsupported": "other objects",
}

_KIND_OF_DTYPE: dict[str, Kind] = {**dict.fromkeys("biuf", "numeric"), "M": "date", "U": "text"}
_KIND_OF_TYPE: tuple[tuple[tuple[type, ...], Kind], ...] = (
    ((str,), "text"),
    ((bool, np.bool_, numbers.Real, Decimal), "numeric"),
    ((date, np.datetime64), "date"),
)
_ISO_DATE = re.compile(
    r"\d{4}-\d{2}(-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?"
)


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column of a table, with arrays (n,).

    ``raw`` holds the given entries, with ISO 8601 dates in text as datetime64 and durations as
    days. ``values`` holds numbers, and dates as decimal years in UTC, NaN where missing (``raw``
    for other kinds). ``memo`` holds what several encoders compute from the entries.

    Times of day are hours since midnight. These and dates with zones or offsets from UTC have a
    ``clock``: the local time, of 1 January 1970 for times of day. ``zone`` is the name of the zone
    of the whole column, None if entries have offsets only.
    """

    name: str
    kind: Kind
    raw: npt.NDArray[Any]
    present: npt.NDArray[np.bool_]
    values: npt.NDArray[Any]
    is_category: bool = False
    clock: Stamps | None = None
    zone: str | None = None
    memo: dict[Any, Any] = field(default_factory=dict)

    @property
    def is_time_of_day(self) -> bool:
        """Whether the entries are times of day, in hours since midnight."""
        return self.kind == "numeric" and self.clock is not None

    def at_rows(self, rows: npt.NDArray[np.intp] | slice) -> Column:
        """Return some rows of the column."""
        clock = None if self.clock is None else self.clock[rows]
        arrays = (self.raw[rows], self.present[rows], self.values[rows])
        return Column(self.name, self.kind, *arrays, self.is_category, clock, self.zone)

    def at(self, row: int | np.intp) -> str:
        """Return the text "row i: entry", with rows counted from 1."""
        return f"row {row + 1}: {shown(self.raw[row])}"

    def first(self, kind: Kind | None = None) -> str:
        """Return the text "row i: entry" of the first present entry, or the first of a kind."""
        for row in np.flatnonzero(self.present):
            if kind is None or kind_of(type(self.raw[row])) == kind:
                return self.at(row)
        return "all missing"

    def examples(self) -> str:
        """Return the first entry, or the first entry of each kind in a mixed column."""
        if self.kind != "mixed":
            return self.first()
        kinds: tuple[Kind, ...] = ("numeric", "text", "date")
        entries = (self.first(kind) for kind in kinds)
        return ", ".join(example for example in entries if example != "all missing")

    def times(self) -> Stamps:
        """Return the present dates in UTC."""
        return _utc(self.raw[self.present])

    def wall_times(self, zone: str | None = None) -> Stamps:
        """Return the local times of the present dates, by default in the zone of each date."""
        if self.clock is None:
            return self.times()
        if zone is None or zone == self.zone:
            return self.clock[self.present]
        return clock_times(self.times(), zone)

    def texts(self) -> npt.NDArray[np.object_]:
        """Return the entries as text, see :func:`labels`; they are computed once."""
        if "texts" not in self.memo:
            self.memo["texts"] = labels(self.raw, self.present)
        texts: npt.NDArray[np.object_] = self.memo["texts"]
        return texts

    def infinite_rows(self) -> npt.NDArray[np.intp]:
        """Return the rows whose number is infinite or larger than `LARGEST_ENTRY`."""
        if self.kind != "numeric":
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(np.abs(self.values) > LARGEST_ENTRY)


def read_column(name: str, series: Any, *, keep_text: bool = False) -> Column:
    """Read a pandas or polars Series or a 1-D array.

    Categories become text. Text becomes dates if every entry is an ISO 8601 date or time, unless
    ``keep_text`` holds or the column is categorical.
    """
    dtype, clock = getattr(series, "dtype", None), None
    is_category = getattr(dtype, "categories", None) is not None
    zone = zone_name(getattr(dtype, "tz", None) or getattr(dtype, "time_zone", None))
    raw = _as_array(series, is_category) if zone is None else series_in_utc(series)
    present = _present(raw)
    if raw.dtype.kind == "O" and set(map(type, raw[present])) == {time}:
        times = [f"1970-01-01T{entry.replace(tzinfo=None)}" for entry in raw[present].tolist()]
        clock = _filled(present, times)
        hours = (clock - np.datetime64(0, "us")) / np.timedelta64(1, "h")
        return Column(name, "numeric", hours, present, hours, clock=clock)
    kind, may_be_dates = _kind(raw, present), not (keep_text or is_category)
    if kind == "date":
        clock, zone = (clock_times(raw, zone), zone) if zone else _clock(raw, present)
    elif kind == "text" and may_be_dates and (dates := _iso_dates(raw, present)) is not None:
        kind, (raw, clock) = "date", dates
        is_utc = clock is not None and np.array_equal(clock[present], raw[present])
        zone = "UTC" if is_utc else None
    values = _values(kind, raw, present)
    zone = None if zone is None or is_fixed(zone) else zone
    return Column(name, kind, raw, present, values, is_category, clock, zone)


def rows_of(X: object, rows: npt.NDArray[np.intp]) -> Any:
    """Select rows of a table, of the same type if that type can be indexed."""
    return _safe_indexing(X if hasattr(X, "__getitem__") else np.asarray(X), rows)


def unmasked(X: Any) -> Any:
    """Replace masked entries of a table by missing values; return other tables unchanged."""
    if not np.ma.is_masked(X):
        return X
    if X.dtype.kind in "mM":
        return X.filled(np.array("NaT", X.dtype))
    # Integer and text arrays cannot hold a missing value of their type.
    return np.where(np.ma.getmaskarray(X), None, X.data.astype(object))


def labels(raw: npt.NDArray[np.generic], present: npt.NDArray[np.bool_]) -> npt.NDArray[np.object_]:
    """Return entries as text, None where missing; whole numbers have no decimal point."""
    text = np.full(raw.shape[0], None, dtype=object)
    if set(map(type, raw[present].tolist())) <= {str}:
        text[present] = raw[present]
        return text
    text[present] = [
        str(int(entry)) if isinstance(entry, float) and entry.is_integer() else str(entry)
        for entry in raw[present].tolist()
    ]
    return text


def kind_of(entry_type: type) -> Kind:
    """Return the `Kind` of entries of a Python type."""
    kinds = (kind for types, kind in _KIND_OF_TYPE if issubclass(entry_type, types))
    return next(kinds, "unsupported")


def _as_array(series: Any, is_category: bool) -> npt.NDArray[Any]:
    if is_category:
        raw = np.asarray(series, dtype=object)
        return labels(raw, _present(raw))
    raw = np.asarray(series)
    if raw.ndim != 1 or raw.dtype.names:  # Entries are arrays or records, such as polars structs
        raw = np.fromiter(series, dtype=object, count=len(series))
    if raw.dtype.kind == "m":
        return raw / np.timedelta64(1, "D")
    return raw.astype(object) if raw.dtype.kind == "U" else raw


def _filled(present: npt.NDArray[np.bool_], times: Sequence[Any]) -> Stamps:
    """Return times (n,) from those of the present entries, NaT where missing."""
    stamps = np.full(present.shape[0], np.datetime64("NaT"), dtype="datetime64[us]")
    stamps[present] = times
    return stamps


def _clock(
    raw: npt.NDArray[Any], present: npt.NDArray[np.bool_]
) -> tuple[Stamps | None, str | None]:
    """Return the local times of dates (n,), None without offsets, and the only time zone."""
    entries = raw[present].tolist() if raw.dtype.kind == "O" else []
    zones = {getattr(entry, "tzinfo", None) for entry in entries}
    if zones <= {None}:
        return None, None
    clock = _filled(present, [entry_clock(entry) for entry in entries])
    return clock, zone_name(zones.pop()) if len(zones) == 1 else None


def _iso_dates(
    raw: npt.NDArray[np.generic], present: npt.NDArray[np.bool_]
) -> tuple[Stamps, Stamps | None] | None:
    """Parse text as times in UTC and local times; None unless all entries are ISO 8601."""
    texts: list[str] = raw[present].tolist()
    distinct = set(texts)
    if not all(map(_ISO_DATE.fullmatch, distinct)):
        return None
    try:
        read = {
            text: datetime.fromisoformat(f"{text}-01" if len(text) == 7 else text)
            for text in distinct
        }
        utc = {text: entry_in_utc(entry) for text, entry in read.items()}
    except (ValueError, OverflowError):  # No such date: the column stays text
        return None
    dates = _filled(present, [utc[text] for text in texts])
    if all(entry.tzinfo is None for entry in read.values()):
        return dates, None
    return dates, _filled(present, [entry_clock(read[text]) for text in texts])


def _present(raw: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    if raw.dtype.kind in "fcmM":
        missing: npt.NDArray[np.bool_] = np.isnan(raw)
        return ~missing
    if raw.dtype.kind != "O":
        return np.ones(raw.shape[0], dtype=bool)
    entries = raw.tolist()
    if set(map(type, entries)) <= {str, float, type(None)}:
        # Only NaN differs from itself
        return np.array([entry is not None and entry == entry for entry in entries], dtype=bool)
    return np.array([not _is_missing(entry) for entry in entries], dtype=bool)


def _is_missing(entry: Any) -> bool:
    # Comparing pandas' NA gives NA, which has no truth value: compare the type's name instead.
    may_be_nan = isinstance(entry, float | np.floating | np.datetime64)
    is_missing = entry is None or type(entry).__name__ in ("NAType", "NaTType")
    if isinstance(entry, Decimal):  # Comparing a signalling NaN raises an error
        return entry.is_nan()
    return is_missing or (may_be_nan and bool(entry != entry))


def _kind(raw: npt.NDArray[np.generic], present: npt.NDArray[np.bool_]) -> Kind:
    if not present.any():
        return "empty"
    if raw.dtype.kind != "O":
        return _KIND_OF_DTYPE.get(raw.dtype.kind, "unsupported")
    kinds = set(map(kind_of, set(map(type, raw[present]))))
    if "unsupported" in kinds:
        return "unsupported"
    return kinds.pop() if len(kinds) == 1 else "mixed"


def _values(
    kind: Kind, raw: npt.NDArray[np.generic], present: npt.NDArray[np.bool_]
) -> npt.NDArray[Any]:
    if kind not in ("numeric", "date", "empty"):
        return raw
    values = np.full(raw.shape[0], np.nan)
    if kind == "date":
        values[present] = decimal_years(_utc(raw[present]))
    if kind == "numeric":
        try:
            values[present] = raw[present]
        except OverflowError:  # Numbers beyond floats are infinite
            largest = sys.float_info.max
            values[present] = [
                float(entry) if abs(entry) <= largest else math.inf if entry > 0 else -math.inf
                for entry in raw[present].tolist()
            ]
    return values


def _utc(raw: npt.NDArray[np.generic]) -> npt.NDArray[np.datetime64]:
    entries = [entry_in_utc(entry) for entry in raw] if raw.dtype.kind == "O" else raw
    return np.asarray(entries, dtype="datetime64[us]")


Stamps = NDArray[np.datetime64]


def zone_name(zone: tzinfo | str | None) -> str | None:
    """Return the name of a zone: "Europe/Berlin", "UTC+01:00" for an offset, else its text."""
    if zone is None or isinstance(zone, str):
        return zone
    # zoneinfo stores the name as ``key``, pytz as ``zone``.
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)
    if name is None and (path := re.search(r"zoneinfo/([\w/+-]+)", repr(zone))):
        name = path[1]  # dateutil shows the path of a zone's file
    if name is not None:
        return str(name)
    offset = zone.utcoffset(None)
    return str(zone) if offset is None else str(timezone(offset))


def is_fixed(name: str) -> bool:
    """Return whether a zone is a fixed offset from UTC, such as "UTC+01:00", not a named region."""
    return name.startswith(("UTC+", "UTC-"))


def zone_of(name: str) -> tzinfo | None:
    """Return the time zone with a name, None if it is not in the database of this machine."""
    try:
        fixed = datetime.strptime(name, "UTC%z").tzinfo if is_fixed(name) else None
        return UTC if name == "UTC" else fixed or ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def clock_times(utc: Stamps, name: str) -> Stamps:
    """Convert times (n,), some NaT, from UTC to a zone; in UTC if the zone is not known here."""
    shown = utc.astype("M8[us]")
    present = ~np.isnat(shown)
    zone = zone_of(name)
    if zone is None:
        return shown
    # Since 1972 offsets of zones change at full quarters of an hour only.
    quarters, place = np.unique(shown[present].astype("M8[15m]"), return_inverse=True)
    offsets = [
        quarter.replace(tzinfo=UTC).astimezone(zone).utcoffset()
        for quarter in quarters.astype("M8[us]").tolist()
    ]
    shown[present] += np.array(offsets, dtype="m8[us]")[place]
    return shown


def entry_clock(entry: Any) -> Any:
    """Return the local time of a date with an offset; other entries are returned unchanged."""
    is_zoned = isinstance(entry, datetime) and entry.tzinfo is not None
    return entry.replace(tzinfo=None) if is_zoned else entry


def entry_in_utc(entry: object) -> Any:
    """Convert a date with an offset to UTC without offset; other dates are unchanged."""
    if isinstance(entry, datetime) and entry.tzinfo is not None:
        return entry.astimezone(UTC).replace(tzinfo=None)
    return entry


def series_in_utc(series: pd.Series) -> Stamps:
    """Convert dates (n,) of a pandas or polars series with a time zone to UTC; NaT if missing."""
    if hasattr(series, "dt") and hasattr(series.dt, "convert_time_zone"):  # Polars
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None).to_numpy()
    return np.asarray(series, dtype="datetime64[us]")

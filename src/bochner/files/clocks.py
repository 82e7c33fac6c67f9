"""Conversion between UTC and local time of zones and UTC offsets."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timezone, tzinfo
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

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


def series_zone(series: pd.Series) -> str | None:
    """Return the name of the time zone in the type of a pandas or polars series, or None."""
    dtype = getattr(series, "dtype", None)
    return zone_name(getattr(dtype, "tz", None) or getattr(dtype, "time_zone", None))


def series_in_utc(series: pd.Series) -> Stamps:
    """Convert dates (n,) of a pandas or polars series with a time zone to UTC; NaT if missing."""
    if hasattr(series, "dt") and hasattr(series.dt, "convert_time_zone"):  # Polars
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None).to_numpy()
    return np.asarray(series, dtype="datetime64[us]")

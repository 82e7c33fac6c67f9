"""Times of day and durations, written with colons: 12:44, 1:05 PM and 75:30."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner.files.local_numbers import SHARE_READ, present_sample

if TYPE_CHECKING:
    import pyarrow as pa

_PATTERN = (
    r"^(?P<hour>[0-9]{1,4}):(?P<minute>[0-5][0-9])"
    r"(?::(?P<second>[0-5][0-9]))?(?:[.,](?P<fraction>[0-9]{1,6}))?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?| Uhr| ?h)?$"
)

_DAY = 24.0
"""Hours of a day: longer times are durations."""

_MINUTES = 60.0
"""Minutes of an hour, and seconds of a minute."""


@dataclass(frozen=True, slots=True, eq=False)
class ClockTimes:
    """Times (n,) in hours, NaN where missing, or durations in the unit before the first colon.

    ``unread`` (n,) is a mask of other entries.
    """

    hours: NDArray[np.float64]
    is_duration: bool
    unread: NDArray[np.bool_]

    def entries(self) -> NDArray[Any]:
        """Return times of day (n,) as `datetime.time`, None where missing; durations as numbers."""
        if self.is_duration:
            return self.hours
        entries = np.full(self.hours.shape, None, dtype=object)
        present = ~np.isnan(self.hours)
        levels, place = np.unique(self.hours[present], return_inverse=True)
        midnight = datetime(1970, 1, 1)
        times = [(midnight + timedelta(hours=float(level))).time() for level in levels]
        entries[present] = np.array(times, dtype=object)[place]
        return entries


def find_times(texts: pa.Array) -> ClockTimes | None:
    """Return texts (n,), null where missing, as times if nearly all of them have the pattern."""
    import pyarrow.compute as pc

    for some in (present_sample(texts), texts):
        n_present = len(some) - some.null_count
        matched = pc.sum(pc.match_substring_regex(some, _PATTERN)).as_py() or 0
        if not n_present or matched < SHARE_READ * n_present:
            return None
    parts = pc.extract_regex(texts, _PATTERN)
    hour, minute, second = (_numbers(pc.struct_field(parts, i)) for i in range(3))
    fraction = pc.utf8_rpad(pc.struct_field(parts, 3).fill_null("0"), width=6, padding="0")
    half = pc.utf8_lower(pc.struct_field(parts, 4).fill_null(""))
    # Without seconds, as in 0:23.9, the fraction belongs to the second part.
    length = pc.binary_length(pc.struct_field(parts, 2).fill_null(""))
    has_second = np.array(pc.greater(length, 0))
    part = 1e-6 * _numbers(fraction)
    seconds = second + np.where(has_second, part, 0.0)
    minute = minute + np.where(has_second, 0.0, part)
    is_read = np.array(parts.is_valid())
    is_evening, is_morning = (np.array(pc.equal(half, letter)) for letter in "pa")
    has_half = is_evening | is_morning
    is_read &= ~has_half | ((hour >= 1) & (hour <= _DAY / 2))
    hour = np.where(has_half, hour % (_DAY / 2) + _DAY / 2 * is_evening, hour)
    is_duration = bool(np.any((hour >= _DAY)[is_read] | (~has_second & (part > 0.0))[is_read]))
    hours = hour + (minute + seconds / _MINUTES) / _MINUTES
    hours[~is_read] = np.nan
    return ClockTimes(hours, is_duration, np.array(texts.is_valid()) & ~is_read)


def _numbers(field: pa.Array) -> NDArray[np.float64]:
    """Return digits (n,) as numbers, zero for empty and null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    filled = field.fill_null("0")
    filled = pc.if_else(pc.equal(filled, ""), "0", filled)
    return np.array(pc.cast(filled, pa.float64()), dtype=np.float64)


def hours_of(entries: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return times of day (k,), `datetime.time` each, as hours since midnight."""
    seconds = [
        (time.hour * _MINUTES + time.minute) * _MINUTES + time.second + 1e-6 * time.microsecond
        for time in entries
    ]
    return np.array(seconds, dtype=np.float64) / _MINUTES**2

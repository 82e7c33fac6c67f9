"""Dates and times in local notation: day or month first, names of months, AM and PM."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

Order = Literal["dayfirst", "monthfirst"]
Times = NDArray[np.datetime64]
Family = Literal["iso", "month", "compact", "numeric", "named"]

ORDERS: Mapping[Order, str] = {"dayfirst": "days before months", "monthfirst": "months before days"}
"""Orders of days and months, with their names in notes."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAMES = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_TIME = (
    r"(?:(?:T|,? +)(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?(?: ?(?P<zone>Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?)?"
)
_DAY = "(?P<day>[0-9]{1,2})"
_NAME = rf"(?P<name>(?i:{_MONTH_NAMES}))\.?"
_YEAR = "(?P<year>[0-9]{4})"
_SHORT_YEAR = "(?P<year>[0-9]{2})"
_MARKS = "(?P<mark>[-/.]) ?", "(?P<mark_2>[-/.]) ?"

_PATTERNS: Mapping[str, tuple[Family, str]] = {
    "2021-12-31": ("iso", rf"^{_YEAR}{_MARKS[0]}(?P<month>[0-9]{{1,2}}){_MARKS[1]}{_DAY}{_TIME}$"),
    "2021-12": ("month", r"^(?P<year>[0-9]{4})-(?P<month>[0-9]{2})$"),
    "31/12/2021": (
        "numeric",
        rf"^{_DAY}{_MARKS[0]}(?P<month>[0-9]{{1,2}}){_MARKS[1]}{_YEAR}{_TIME}$",
    ),
    "31/12/21": ("numeric", rf"^{_DAY}/(?P<month>[0-9]{{1,2}})/{_SHORT_YEAR}{_TIME}$"),
    # Versions such as 1.2.10 are no dates.
    "31.12.21": (
        "numeric",
        r"^(?P<day>[0-9]{2})(?P<mark>[-.])(?P<month>[0-9]{2})(?P<mark_2>[-.])"
        rf"{_SHORT_YEAR}{_TIME}$",
    ),
    "31 Dec 2021": ("named", rf"^{_DAY}(?:st|nd|rd|th)?[ .-]*{_NAME}[ ,-]*{_YEAR}{_TIME}$"),
    "31-Dec-21": ("named", rf"^{_DAY}[ -]{_NAME}[ -]{_SHORT_YEAR}{_TIME}$"),
    "Dec 31, 2021": ("named", rf"^{_NAME} +{_DAY}(?:st|nd|rd|th)?,? +{_YEAR}{_TIME}$"),
    "Jan-21": ("named", rf"^{_NAME}(?:-| ?'){_SHORT_YEAR}$"),
    "Jan 2021": ("named", rf"^{_NAME}[ ,-]+{_YEAR}$"),
    "2021-Jan": ("named", rf"^{_YEAR}[ -]{_NAME}$"),
    "2021Q1": ("month", rf"^{_YEAR}[ -]?[Qq](?P<quarter>[1-4])$"),
    "Q1 2021": ("month", rf"^[Qq](?P<quarter>[1-4])[ /-]?{_YEAR}$"),
    "20211231": ("compact", rf"^{_YEAR}(?P<month>[0-9]{{2}})(?P<day>[0-9]{{2}}){_TIME}$"),
}
"""Patterns of dates, for `re` and for Arrow, by an example. Numeric ones have days first here."""

_ISO_OFFSET = r"^(.{10}[T ].*?)(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
"""An ISO 8601 time with its offset from UTC last; the date before it has ten characters."""

_SAMPLE_SIZE = 1000
"""Number of first entries from which the pattern is chosen."""

_FIRST_YEAR_OF_TWO_DIGITS = 69
"""Two-digit years from 69 on are in the twentieth century, as in POSIX."""

_LEAST_SHARE = 0.5
"""Share of the sample that must match a pattern for a column of dates; some may be wrong."""

_FRACTION_DIGITS = 6
"""Digits of microseconds, the unit of times."""


def other_order(order: Order) -> Order:
    """Return the opposite order: month first for day first, and vice versa."""
    return "monthfirst" if order == "dayfirst" else "dayfirst"


@dataclass(frozen=True, slots=True, eq=False)
class LocalDates:
    """Parsed parts of dates (n,) of one pattern; ``matched`` (n,) marks the texts that have it.

    ``first`` and ``second`` are the day and the month; in the family "numeric" the order may be
    month and day. ``time`` is the time in microseconds since midnight in UTC, NaT if it is not
    valid. ``offset`` is the offset of local time from UTC, None if no text has an offset. ``mark``
    is the separator of the parts, and ``has_short_years`` is for years such as 21. ``span`` is
    "quarter" or "month" for dates without days, which are read as the first day.
    """

    family: Family
    has_short_years: bool
    mark: str
    matched: NDArray[np.bool_]
    year: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    time: NDArray[np.timedelta64]
    offset: NDArray[np.timedelta64] | None = None
    span: str = ""

    def clock(self, times: Times) -> Times | None:
        """Return the local times for times (n,) in UTC, or None if no text has an offset."""
        return None if self.offset is None else times + self.offset

    def times(self, order: Order = "dayfirst") -> Times:
        """Return the times (n,) in UTC, NaT for texts without the pattern and for invalid dates."""
        swapped = self.family == "numeric" and order == "monthfirst"
        day, month = (self.second, self.first) if swapped else (self.first, self.second)
        valid = self.matched & ~np.isnat(self.time) & (month >= 1) & (month <= len(_MONTHS))
        valid &= self.year >= 1
        index = np.where(valid, (self.year - 1970) * len(_MONTHS) + month - 1, 0)
        months = index.astype("datetime64[M]")
        start, end = months.astype("datetime64[D]"), (months + 1).astype("datetime64[D]")
        dates = start + (day - 1).astype("timedelta64[D]")
        valid &= (day >= 1) & (dates < end)
        times: Times = dates.astype("datetime64[us]") + self.time
        times[~valid] = np.datetime64("NaT")
        return times

    def orders(self) -> tuple[Order, ...]:
        """Return the order in which most matched texts are valid dates, or both orders in a tie."""
        if self.family != "numeric":
            return ("dayfirst",)
        counts = [np.count_nonzero(~np.isnat(self.times(order))) for order in ORDERS]
        return tuple(o for o, count in zip(ORDERS, counts, strict=True) if count == max(counts))

    def reads(self, n_present: int) -> bool:
        """Return whether all ``n_present`` present texts are valid dates in the first order."""
        return bool((~np.isnat(self.times(self.orders()[0]))).sum() == n_present)


def iso_times(texts: pa.Array) -> tuple[Times, Times | None] | None:
    """Parse texts (n,) as UTC and local times, NaT for null; None unless all are ISO 8601.

    The first times are in UTC, the second ones are local times, or None without offsets.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    sample = texts.slice(0, _SAMPLE_SIZE)
    for zone in (None, "UTC"):
        try:
            pc.cast(sample, pa.timestamp("us", zone))  # Fails early if texts are not times
            times = pc.cast(texts, pa.timestamp("us", zone))
        except pa.ArrowInvalid:
            continue
        utc = np.asarray(times.to_numpy(), dtype="datetime64[us]")
        return utc, None if zone is None else _iso_clock(texts)
    return None


def _iso_clock(texts: pa.Array) -> Times:
    """Return the local times of ISO 8601 times (n,) with offsets from UTC."""
    import pyarrow as pa
    import pyarrow.compute as pc

    shown = pc.replace_substring_regex(texts, _ISO_OFFSET, r"\1")
    times = pc.cast(shown, pa.timestamp("us"))
    return np.asarray(times.to_numpy(), dtype="datetime64[us]")


def find_dates(texts: pa.Array, families: Sequence[Family]) -> LocalDates | None:
    """Parse texts (n,), some null, as dates of the most frequent pattern, or return None."""
    import pyarrow.compute as pc

    sample = texts.drop_null().slice(0, _SAMPLE_SIZE)
    counts = {
        (family, pattern): pc.sum(pc.match_substring_regex(sample, pattern)).as_py() or 0
        for family, pattern in _PATTERNS.values()
        if family in families
    }
    (family, pattern), count = max(counts.items(), key=lambda item: item[1])
    return _parse(texts, family, pattern) if count > _LEAST_SHARE * len(sample) else None


def dates_among(texts: pa.Array) -> NDArray[np.bool_]:
    """Return a mask (n,) of texts, some null, that have the pattern of a date, valid or not."""
    import pyarrow.compute as pc

    is_date = np.zeros(len(texts), dtype=bool)
    for family, pattern in _PATTERNS.values():
        if family != "compact":
            is_date |= np.array(pc.match_substring_regex(texts, pattern).fill_null(False))
    return is_date


def are_dates(texts: Sequence[str]) -> bool:
    """Return whether texts have the same pattern of dates in common notation."""
    # ISO 8601 texts are already read as dates, so other texts with hyphens are not dates.
    local = [pattern for family, pattern in _PATTERNS.values() if family in ("numeric", "named")]
    local += [_PATTERNS["2021-12-31"][1].replace("[-/.]", "[/.]")]
    return any(all(re.match(pattern, text) for text in texts) for pattern in local)


def _parse(texts: pa.Array, family: Family, pattern: str) -> LocalDates:
    import pyarrow.compute as pc

    parts = pc.extract_regex(texts, pattern)
    names = list(re.compile(pattern).groupindex)
    fields = {name: pc.struct_field(parts, i) for i, name in enumerate(names)}
    matched = _as_numpy(pc.is_valid(parts))
    if "mark_2" in fields:  # 31/12-2021 is not a date
        matched &= _as_numpy(pc.equal(fields["mark"], fields["mark_2"]).fill_null(False))
    year = _integers(fields["year"])
    short = _as_numpy(pc.equal(pc.binary_length(fields["year"]), 2).fill_null(False))
    century = np.where(year >= _FIRST_YEAR_OF_TWO_DIGITS, 1900, 2000)
    minutes = _zone_minutes(fields["zone"]) if "zone" in fields else np.zeros_like(year)
    if "quarter" in fields:
        months = 3 * _integers(fields["quarter"]) - 2
    else:
        months = _months(fields["name"]) if "name" in fields else _integers(fields["month"])
    span = "quarter" if "quarter" in fields else "" if "day" in fields else "month"
    return LocalDates(
        family,
        has_short_years=bool(short.any()),
        mark=_mark(fields),
        matched=matched,
        year=np.where(short, year + century, year),
        first=_integers(fields["day"]) if "day" in fields else np.ones_like(year),
        second=months,
        time=_times_of_day(fields, minutes)
        if "hour" in fields
        else np.zeros(year.size, "timedelta64[us]"),
        offset=minutes.astype("timedelta64[m]") if minutes.any() else None,
        span=span,
    )


def _mark(fields: Mapping[str, Any]) -> str:
    """Return the separator in the first date; a slash if the pattern has no separator."""
    marks = fields["mark"].drop_null().slice(0, 1).to_pylist() if "mark" in fields else []
    return str(marks[0]) if marks else "/"


def _times_of_day(fields: Mapping[str, Any], offset: NDArray[np.int64]) -> NDArray[np.timedelta64]:
    """Return microseconds since midnight in UTC, NaT for an invalid time.

    ``offset`` (n,) is the offset of local time from UTC in minutes.
    """
    import pyarrow.compute as pc

    hour, minute, second = (_integers(fields[name]) for name in ("hour", "minute", "second"))
    padded = pc.utf8_rpad(fields["fraction"], width=_FRACTION_DIGITS, padding="0")
    micro = _integers(pc.utf8_slice_codeunits(padded, 0, _FRACTION_DIGITS))
    half = pc.utf8_lower(fields["half"])
    morning, evening = (_as_numpy(pc.equal(half, letter).fill_null(False)) for letter in "ap")
    valid = (hour < 24) & (minute < 60) & (second < 60)
    valid &= ~(morning | evening) | ((hour >= 1) & (hour <= 12))
    hour = np.where(morning | evening, hour % 12 + 12 * evening, hour)
    seconds = (60 * hour + minute - offset) * 60 + second
    time = (1_000_000 * seconds + micro).astype("timedelta64[us]")
    time[~valid] = np.timedelta64("NaT")
    return time


def _zone_minutes(zone: pa.Array) -> NDArray[np.int64]:
    """Return offsets from UTC in minutes."""
    import pyarrow.compute as pc

    distinct = pc.unique(zone)
    minutes = [_minutes(text or "") for text in distinct.to_pylist()]
    codes = _as_numpy(pc.index_in(zone, value_set=distinct))
    return np.take(np.array(minutes, dtype=np.int64), codes)


def _minutes(zone: str) -> int:
    if not zone.startswith(("+", "-")):
        return 0
    digits = zone[1:].replace(":", "")
    return int(f"{zone[0]}1") * (60 * int(digits[:2]) + int(digits[2:]))


def _months(names: pa.Array) -> NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    short = pc.utf8_lower(pc.utf8_slice_codeunits(names, 0, 3))
    index = pc.index_in(short, value_set=pa.array(_MONTHS)).fill_null(-1)
    return np.asarray(_as_numpy(index), dtype=np.int64) + 1


def _integers(field: pa.Array) -> NDArray[np.int64]:
    """Convert texts of digits to integers, zero for empty and null texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    filled = field.fill_null("0")
    filled = pc.if_else(pc.equal(filled, ""), "0", filled)
    return np.asarray(_as_numpy(pc.cast(filled, pa.int64())), dtype=np.int64)


def _as_numpy(array: pa.Array) -> NDArray[Any]:
    return np.array(array)


_MINUTES = 60.0
"""Minutes of an hour, and seconds of a minute."""


def hours_of(entries: NDArray[np.generic]) -> NDArray[np.float64]:
    """Convert times of day (k,), `datetime.time` each, to hours since midnight."""
    seconds = [
        (time.hour * _MINUTES + time.minute) * _MINUTES + time.second + 1e-6 * time.microsecond
        for time in entries
    ]
    return np.array(seconds, dtype=np.float64) / _MINUTES**2

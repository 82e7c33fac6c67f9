"""One date in local notation: its parts by the groups of a pattern, and the time that they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta

from bochner.files.date_words import DateWords

_FIRST_YEAR_OF_TWO_DIGITS = 69
"""Two-digit years from 69 on are in the twentieth century, as in POSIX."""

_MONTHS_OF = {"quarter": 3, "half_year": 6}
"""Months of spans by their groups in patterns."""

_FRACTION_DIGITS = 6
"""Digits of microseconds, the unit of times."""

_ZONES: Mapping[str, int] = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "BST": 60, "WEST": 60, "CET": 60, "MET": 60, "MEZ": 60,
    "CEST": 120, "MESZ": 120, "EET": 120, "EEST": 180, "MSK": 180, "EST": -300, "EDT": -240,
    "CST": -360, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420, "JST": 540,
    "KST": 540, "AEST": 600, "AEDT": 660, "NZST": 720, "NZDT": 780,
}  # fmt: skip
"""Offsets from UTC of zones by their short names in minutes, those of North America as in RFC 822.
A short name that two countries use for different zones, such as IST, is no zone."""


def full_year(digits: str) -> int:
    """Return the year of two or four digits."""
    year = int(digits)
    if len(digits) > 2:
        return year
    return year + (1900 if year >= _FIRST_YEAR_OF_TWO_DIGITS else 2000)


def time_of(
    match: re.Match[str], words: DateWords, *, monthfirst: bool = False
) -> tuple[datetime, int]:
    """Return the time in UTC of a matched text, and its offset from UTC in minutes.

    Spans of several days are read as their first day. Raises ValueError for an invalid date.
    """
    parts = {name: text for name, text in match.groupdict().items() if text}
    if parts.get("mark") != parts.get("mark_2"):
        raise ValueError("31/12-2021 is not a date")
    if monthfirst:
        parts["month"], parts["day"] = parts["day"], parts["month"]
    day = datetime.combine(_day_of(parts, words), datetime.min.time())
    if "hour" not in parts:
        return day, 0
    offset = _offset_of(parts["zone"]) if "zone" in parts else 0
    return day + _time_of_day(parts) - timedelta(minutes=offset), offset


def _day_of(parts: Mapping[str, str], words: DateWords) -> date:
    """Return the day of a date, or the first day of a longer span."""
    year = full_year(parts["year"])
    if "week" in parts:
        return date.fromisocalendar(year, int(parts["week"]), int(parts.get("week_day", 1)))
    if "ordinal" in parts:
        day = date(year, 1, 1) + timedelta(int(parts["ordinal"]) - 1)
        if day.year != year:
            raise ValueError(f"{year} has fewer days")
        return day
    if "next" in parts and (year + 1 - int(parts["next"])) % 100:
        raise ValueError("the years of a fiscal year follow each other")
    month = words.month(parts["name"]) if "name" in parts else int(parts.get("month", 1))
    for name, length in _MONTHS_OF.items():
        month = length * (int(parts[name]) - 1) + 1 if name in parts else month
    return date(year, month, int(parts.get("day", 1)))


def _time_of_day(parts: Mapping[str, str]) -> timedelta:
    """Return the time since midnight; 24:00 is the next day."""
    hour, minute, second = (int(parts.get(name, 0)) for name in ("hour", "minute", "second"))
    fraction = parts.get("fraction", "").ljust(_FRACTION_DIGITS, "0")[:_FRACTION_DIGITS]
    if half := parts.get("half", parts.get("before")):
        if not 1 <= hour <= 12:
            raise ValueError("the hours of AM and PM are 1 to 12")
        hour = hour % 12 + 12 * (half in "Pp")
    time = timedelta(hours=hour, minutes=minute, seconds=second, microseconds=int(fraction))
    if minute > 59 or second > 59 or time > timedelta(days=1):
        raise ValueError("no such time of day")
    return time


def _offset_of(zone: str) -> int:
    """Return the offset of a zone such as +01:00, GMT+2 or CET in minutes."""
    match = re.search("([+-])([0-9]{1,2}):?([0-9]{2})?", zone)
    if match is None and zone not in _ZONES:
        raise ValueError(f"{zone} is no zone")
    if match is None:
        return _ZONES[zone]
    return int(f"{match[1]}1") * (60 * int(match[2]) + int(match[3] or 0))


def fiscal_year(year: int, written: str) -> str:
    """Return the fiscal year that begins in a year, in the notation of another one.

    >>> fiscal_year(2012, "1999-00"), fiscal_year(2012, "FY2001"), fiscal_year(2012, "2000/2001")
    ('2012-13', 'FY2012', '2012/2013')
    """
    first, *last = re.finditer("[0-9]+", written)
    texts = [f"{year:04d}"[-len(first[0]) :], *(f"{year + 1:04d}"[-len(end[0]) :] for end in last)]
    ends = [first, *last]
    for match, text in zip(reversed(ends), reversed(texts), strict=True):
        written = written[: match.start()] + text + written[match.end() :]
    return written

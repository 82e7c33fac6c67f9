"""Dates and times in local notation: day or month first, names of months, weeks, fiscal years."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bochner.files.date_forms import Notation, find_notation
from bochner.files.date_words import ENGLISH, DateWords, find_words
from bochner.files.rules import SAMPLE_SIZE

if TYPE_CHECKING:
    import pyarrow as pa

Times = NDArray[np.datetime64]
Offsets = NDArray[np.timedelta64]
Reader = Callable[[str], tuple[datetime | None, int]]
"""A function that returns the time in UTC of a text, or None, and its offset in minutes."""

_MOST_TESTED = 40
"""Entries from which the form is chosen: the first ones, and others of a sample."""

_FEW = 8
"""Times of day that are tried to find a valid one."""

_MONTHS = 12
"""Months of a year."""

_FIRST_YEAR_OF_TWO_DIGITS = 69
"""Two-digit years from 69 on are in the twentieth century, as in POSIX."""

_MONTHS_OF = {"quarter": 3, "half_year": 6}
"""Months of spans by their groups in forms."""

_ZONES: Mapping[str, int] = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "BST": 60, "WEST": 60, "CET": 60, "MET": 60, "MEZ": 60,
    "CEST": 120, "MESZ": 120, "EET": 120, "EEST": 180, "MSK": 180, "EST": -300, "EDT": -240,
    "CST": -360, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420, "JST": 540,
    "KST": 540, "AEST": 600, "AEDT": 660, "NZST": 720, "NZDT": 780,
}  # fmt: skip
"""Offsets from UTC of zones by their short names in minutes, those of North America as in RFC 822.
A short name that two countries use for different zones, such as IST, is no zone."""


@dataclass(frozen=True, slots=True, eq=False)
class LocalDates:
    """Dates (n,): times in UTC for each order of days and months, NaT for other texts.

    ``offset`` (n,) is that of local time from UTC. ``notation`` and ``words`` are those of the
    texts, None for ISO 8601.
    """

    by_order: Mapping[str, Times]
    offset: Offsets
    notation: Notation | None = None
    words: DateWords | None = None

    def times(self, order: str = "dayfirst") -> Times:
        """Return the times (n,) in UTC; the order matters only to dates with two orders."""
        return self.by_order.get(order, self.by_order["dayfirst"])

    def orders(self) -> tuple[str, ...]:
        """Return the order in which most texts are valid dates, or both orders in a tie."""
        counts = {order: np.sum(~np.isnat(times)) for order, times in self.by_order.items()}
        return tuple(order for order, count in counts.items() if count == max(counts.values()))


def iso_dates(texts: pa.Array) -> LocalDates | None:
    """Return the dates of texts (n,), some null; None unless all are ISO 8601."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def cast(some: pa.Array, zone: str | None = None) -> Times:
        return np.asarray(pc.cast(some, pa.timestamp("us", zone)).to_numpy(), "datetime64[us]")

    sample = texts.slice(0, SAMPLE_SIZE)
    first = sample.drop_null().slice(0, 1).to_pylist()
    if first and not re.match("[0-9]{4}-[0-9]{2}-[0-9]{2}", first[0]):
        return None
    for zone in (None, "UTC"):
        try:
            cast(sample, zone)  # Fails early if texts are not times
            utc = cast(texts, zone)
        except pa.ArrowInvalid:
            continue
        offset = np.zeros(len(utc), "timedelta64[m]")
        if zone is not None:
            clock = cast(pc.replace_substring_regex(texts, "(.{10}.*?)(Z|[+-][0-9:]+)$", r"\1"))
            offset = clock - utc
        return LocalDates({"dayfirst": utc}, offset)
    return None


def find_dates(texts: pa.Array, *, only_iso: bool = False) -> LocalDates | None:
    """Return the dates of texts (n,), some null, in their most frequent form, or None."""
    sample = texts.slice(0, 10 * SAMPLE_SIZE).drop_null()
    sample = (sample if len(sample) else texts.drop_null()).slice(0, SAMPLE_SIZE).to_pylist()
    step = 1 + len(sample) // _MOST_TESTED
    notation = find_notation(
        [*sample[:_MOST_TESTED], *sample[_MOST_TESTED::step]], only_iso=only_iso
    )
    words = None if notation is None else _words(notation)
    if notation is None or words is None:
        return None

    orders = ("dayfirst", "monthfirst") if notation.form.is_ordered else ("dayfirst",)
    readers = {
        order: lambda text, is_swapped=order == "monthfirst": read_match(
            notation.match(text), words, is_swapped=is_swapped
        )
        for order in orders
    }
    found = read_texts(texts, list(readers.values()), _head(notation))
    by_order = dict(zip(readers, (times for times, _ in found), strict=True))
    offset = np.where(np.isnat(found[0][0]), found[-1][1], found[0][1])
    return LocalDates(by_order, offset, notation, words)


def read_texts(
    texts: pa.Array, readers: Sequence[Reader], head: str | None = None
) -> list[tuple[Times, Offsets]]:
    """Return times in UTC and offsets (n,) of texts (n,), some null, by each of some readers.

    Readers are called for distinct texts. Days repeat and times of day repeat, dates with times of
    day rarely do: with an expression of the ``head`` before the time of day, only distinct days and
    distinct times of day are read, and added.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    if head is None or len(texts) <= SAMPLE_SIZE:
        entries, codes = _distinct(texts)
        return [_taken(map(reader, entries), codes) for reader in readers]
    halves = pc.extract_regex(texts, f"^(?P<day>{head})(?P<clock>.+)$")
    (days, day_codes), (clocks, clock_codes) = (
        _distinct(pc.struct_field(halves, place)) for place in (0, 1)
    )
    is_other = pc.and_(halves.is_null(), texts.is_valid())
    found = []
    for reader in readers:
        pairs = ((day, clock) for clock in clocks[:_FEW] for day in days)
        day, clock = next((pair for pair in pairs if reader("".join(pair))[0]), ("", ""))
        by_day, _ = _taken((reader(each + clock) for each in days), day_codes)
        by_clock, offset = _taken((reader(day + each) for each in clocks), clock_codes)
        times = by_day + (by_clock - np.datetime64(reader(day + clock)[0], "us"))
        rows = np.array(is_other)
        [(times[rows], offset[rows])] = read_texts(texts.filter(is_other), [reader])
        found.append((times, offset))
    return found


def _distinct(texts: pa.Array) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct texts, and the place (n,) of each text among them, -1 for null."""
    encoded = texts.dictionary_encode()
    return encoded.dictionary.to_pylist(), np.array(encoded.indices.fill_null(-1))


def _taken(
    entries: Iterable[tuple[datetime | None, int]], codes: NDArray[np.int64]
) -> tuple[Times, Offsets]:
    times, minutes = zip(*entries, (None, 0), strict=True)
    return np.array(times, "datetime64[us]")[codes], np.array(minutes, "timedelta64[m]")[codes]


def _head(notation: Notation) -> str | None:
    """Return the expression of all before the time of day, None if the number of blanks varies."""
    if notation.rewrites or "hour" not in notation.matches[0].re.groupindex:
        return None
    heads = [match.string[: match.start("hour")] for match in notation.matches]
    blanks = {head.count(" ") * head.endswith(" ") for head in heads}
    return f"(?:[^ ]* ){{{blanks.pop()}}}" if len(blanks) == 1 and blanks != {0} else None


def _words(notation: Notation) -> DateWords | None:
    """Return the language of the names of months and weekdays, None if they are other words."""
    parts = [match.groupdict() for match in notation.matches]
    names = {each["name"] for each in parts if each.get("name")}
    days = {each[key] for each in parts for key in ("weekday", "after") if each.get(key)}
    words = find_words(names, days)
    if words is None or notation.form.example != "Dec-21":
        return words
    # The numbers of "Jan 17" are years, not days, after another sign than a space, or if the
    # months are evenly spaced.
    matches = notation.matches
    months = [12 * int(each["year"]) + words.month(each["name"]) for each in matches]
    steps = np.abs(np.diff(months))
    steps = steps[steps > 0]
    is_even = steps.size > 0 and bool((steps % steps[0] == 0).all()) and steps[0] < _MONTHS
    are_years = is_even or any(each[0][each.end("name")] in "-/'" for each in matches)
    return words if are_years else None


def read_match(
    match: re.Match[str] | None, words: DateWords = ENGLISH, *, is_swapped: bool = False
) -> tuple[datetime | None, int]:
    """Return the time in UTC of a matched text, and its offset from UTC in minutes.

    Spans of several days are read as their first day. The time is None if there is no such date.
    With ``is_swapped`` the month is before the day.
    """
    parts = {name: part for name, part in match.groupdict().items() if part} if match else {}
    if not parts or parts.get("mark") != parts.get("mark_2"):  # 31/12-2021 is not a date
        return None, 0
    if is_swapped:
        parts["month"], parts["day"] = parts["day"], parts["month"]
    with suppress(ValueError, OverflowError):
        day = datetime.combine(_day_of(parts, words), datetime.min.time())
        offset = _offset_of(parts["zone"]) if "zone" in parts else 0
        return day + _time_of_day(parts) - timedelta(minutes=offset), offset
    return None, 0


def _day_of(parts: Mapping[str, str], words: DateWords) -> date:
    """Return the day of a date, or the first day of a longer span."""
    year = int(parts["year"])
    if len(parts["year"]) <= 2:
        year += 1900 if year >= _FIRST_YEAR_OF_TWO_DIGITS else 2000
    if "week" in parts:
        return date.fromisocalendar(year, int(parts["week"]), int(parts.get("week_day", 1)))
    if "ordinal" in parts:
        return datetime.strptime(f"{year} {parts['ordinal']}", "%Y %j").date()
    if "next" in parts and (year + 1 - int(parts["next"])) % 100:
        raise ValueError("the years of a fiscal year follow each other")
    month = words.month(parts["name"]) if "name" in parts else int(parts.get("month", 1))
    for name, length in _MONTHS_OF.items():
        month = length * (int(parts[name]) - 1) + 1 if name in parts else month
    return date(year, month, int(parts.get("day", 1)))


def _time_of_day(parts: Mapping[str, str]) -> timedelta:
    """Return the time since midnight; 24:00 is the next day."""
    hour, minute, second = (int(parts.get(name, 0)) for name in ("hour", "minute", "second"))
    microsecond = int(f"{parts.get('fraction', '')}000000"[:6])
    if half := parts.get("half", parts.get("before")):
        if not 1 <= hour <= 12:
            raise ValueError("the hours of AM and PM are 1 to 12")
        hour = hour % 12 + 12 * (half in "Pp")
    time = timedelta(hours=hour, minutes=minute, seconds=second, microseconds=microsecond)
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

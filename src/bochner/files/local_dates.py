"""Dates and times in local notation: day or month first, names of months, weeks, fiscal years."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from bochner.files.date_parts import time_of
from bochner.files.date_patterns import (
    DatePattern,
    Family,
    best_pattern,
    compiled,
    rewrites_for,
    rewritten,
)
from bochner.files.date_words import ENGLISH, DateWords, find_words

if TYPE_CHECKING:
    import pyarrow as pa

Order = Literal["dayfirst", "monthfirst"]
Times = NDArray[np.datetime64]
Integers = NDArray[np.int64]

ORDERS: Mapping[Order, str] = {"dayfirst": "days before months", "monthfirst": "months before days"}
"""Orders of days and months, with their names in notes."""

_ISO_OFFSET = r"^(.{10}[T ].*?)(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
"""An ISO 8601 time with its offset from UTC last; the date before it has ten characters."""

_SAMPLE_SIZE, _MOST_TESTED, _FEW = 1000, 40, 8
"""Entries from which the pattern is chosen, those of them that are tested, and those tested first:
most columns of other text fail with a few entries."""

_MONTHS = 12
"""Months of a year."""

_LIKE_FISCAL_YEARS = ("2021-12", "2021/12")
FISCAL_YEARS = DatePattern("2020-21")
"""Patterns of months that fiscal years share, and their own."""

_DIRECTIVES: Mapping[str, str] = {
    "year": "Y", "month": "m", "day": "d", "name": "b", "hour": "H", "minute": "M", "second": "S",
    "half": "p",
}  # fmt: skip
"""Directives of `strptime` for the parts of a date."""

_LATE_DAY = "(?:^|[^0-9])(?:29|30|31)(?:[^0-9]|$)"
"""A day that some months lack."""

_FIRST_TIME = np.datetime64("1000-01-01", "us")
"""First year of four digits: Arrow reads fewer, too."""

_LAST_MOVED = np.array([-1, 0, 0, 3, 0, 1, 0, 1, 0, 0, 1, 0, 1])
"""Last day of each month to which Arrow may have moved a day after the end of the month before."""


def other_order(order: Order) -> Order:
    """Return the opposite order: month first for day first, and vice versa."""
    return "monthfirst" if order == "dayfirst" else "dayfirst"


@dataclass(frozen=True, slots=True, eq=False)
class LocalDates:
    """Dates (n,) of one pattern; ``matched`` (n,) marks the texts that have it.

    ``by_order`` has the times in UTC for each order of days and months, NaT for texts without the
    pattern and for invalid dates. ``offset`` (n,) is that of local time from UTC. ``mark`` is the
    separator of the parts, and ``has_short_years`` is for years such as 21. ``language`` is that of
    names of months.
    """

    pattern: DatePattern
    by_order: Mapping[Order, Times]
    matched: NDArray[np.bool_]
    offset: NDArray[np.timedelta64]
    mark: str
    has_short_years: bool
    language: str

    @property
    def family(self) -> Family:
        """Family of the pattern."""
        return self.pattern.family

    @property
    def span(self) -> str:
        """Span of the dates, "" for days."""
        return self.pattern.span

    def clock(self, times: Times) -> Times | None:
        """Return the local times for times (n,) in UTC, or None if no text has an offset."""
        return times + self.offset if self.offset.any() else None

    def taken(self, codes: Integers) -> LocalDates:
        """Return the dates with numbers ``codes`` (n,), NaT for the code -1."""
        is_absent = codes < 0
        by_order = {order: times[codes] for order, times in self.by_order.items()}
        for times in by_order.values():
            times[is_absent] = np.datetime64("NaT")
        matched = self.matched[codes] & ~is_absent
        return replace(self, by_order=by_order, matched=matched, offset=self.offset[codes])

    def times(self, order: Order = "dayfirst") -> Times:
        """Return the times (n,) in UTC, NaT for texts without the pattern and for invalid dates."""
        return self.by_order.get(order, self.by_order["dayfirst"])

    def orders(self) -> tuple[Order, ...]:
        """Return the order in which most matched texts are valid dates, or both orders in a tie."""
        counts = {
            order: np.count_nonzero(~np.isnat(times)) for order, times in self.by_order.items()
        }
        return tuple(order for order, count in counts.items() if count == max(counts.values()))


def iso_times(texts: pa.Array) -> tuple[Times, Times | None] | None:
    """Parse texts (n,) as UTC and local times, NaT for null; None unless all are ISO 8601.

    The first times are in UTC, the second ones are local times, or None without offsets.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    sample = texts.slice(0, _SAMPLE_SIZE)
    first = sample.drop_null().slice(0, 1).to_pylist()
    if first and not re.match("[0-9]{4}-[0-9]{2}-[0-9]{2}", first[0].strip()):
        return None
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


@dataclass(frozen=True, slots=True, eq=False)
class _Notation:
    """Pattern of the first texts, matches of it, rewriting before it, and names of months."""

    pattern: DatePattern
    matches: Sequence[re.Match[str]]
    rewrites: Sequence[tuple[str, str]]
    words: DateWords

    def formats(self) -> dict[Order, str | None]:
        """Return formats of `strptime` by the order of days and months, None if others are left."""
        is_simple = not self.rewrites and self.words is ENGLISH
        dayfirst = _date_format(self.matches[0]) if is_simple else None
        if self.pattern.family != "numeric":
            return {"dayfirst": dayfirst}
        swapped = dayfirst and dayfirst.translate({ord("d"): "m", ord("m"): "d"})
        return {"dayfirst": dayfirst, "monthfirst": swapped}


def find_dates(texts: pa.Array, families: Sequence[Family]) -> LocalDates | None:
    """Parse texts (n,), some null, as dates of the most frequent pattern, or return None."""
    import pyarrow.compute as pc

    notation = _notation(_head(texts), families)
    if notation is None:
        return None
    parts = [match.groupdict() for match in notation.matches]
    codes = None
    if len(texts) > _SAMPLE_SIZE and not any(each.get("hour") for each in parts):
        encoded = pc.dictionary_encode(texts)  # Days repeat; times of day rarely do
        encoded = encoded.combine_chunks() if hasattr(encoded, "chunks") else encoded
        texts, codes = encoded.dictionary, np.array(encoded.indices.fill_null(-1))
    parsed = {order: _by_format(texts, each) for order, each in notation.formats().items()}
    is_read = np.logical_or.reduce([~np.isnat(times) for times, _ in parsed.values()])
    is_read &= ~np.logical_or.reduce([is_doubtful for _, is_doubtful in parsed.values()])
    dates = LocalDates(
        notation.pattern,
        {order: times for order, (times, _) in parsed.items()},
        is_read,
        np.zeros(len(texts), dtype="timedelta64[m]"),
        parts[0].get("mark") or "/",
        any(len(each["year"]) == 2 for each in parts),
        notation.words.language,
    )
    _fill_by_pattern(dates, texts, notation)
    return dates if codes is None else dates.taken(codes)


def _notation(head: Sequence[str], families: Sequence[Family]) -> _Notation | None:
    """Return the notation of dates that most of some texts have, or None."""
    pattern, rewrites = None, []
    for some in (head[:: 1 + len(head) // _FEW], head):  # Other text fails with few entries
        rewrites = rewrites_for(some)
        texts = rewritten(some, rewrites)
        pattern = best_pattern(texts, families)
        if pattern is None:
            return None
    assert pattern is not None
    if pattern.example in _LIKE_FISCAL_YEARS and _are_fiscal_years(texts):
        pattern = FISCAL_YEARS
    matches = [match for match in map(compiled(pattern).match, texts) if match]
    words = _words(matches)
    if words is None or (pattern.example == "Dec-21" and not _are_years(matches, words)):
        return None
    return _Notation(pattern, matches, rewrites, words)


def _head(texts: pa.Array) -> list[str]:
    """Return a few present texts: the first ones, and others among the first thousand."""
    sample = texts.slice(0, 10 * _SAMPLE_SIZE).drop_null()
    sample = (sample if len(sample) else texts.drop_null()).slice(0, _SAMPLE_SIZE).to_pylist()
    return [*sample[:_MOST_TESTED], *sample[_MOST_TESTED :: 1 + len(sample) // _MOST_TESTED]]


def _words(matches: Sequence[re.Match[str]]) -> DateWords | None:
    """Return the language of the names of months and weekdays in matched texts, or None."""
    parts = [match.groupdict() for match in matches]
    names = {each["name"] for each in parts if each.get("name")}
    days = {each[key] for each in parts for key in ("weekday", "after") if each.get(key)}
    return find_words(names, days)


def _are_years(matches: Sequence[re.Match[str]], words: DateWords) -> bool:
    """Return whether the numbers of "Jan 17" are years, not days.

    They are if a sign other than a space follows the month, or if the months are evenly spaced.
    """
    if any(match[0][match.end("name")] in "-/'" for match in matches):
        return True
    months = [12 * int(match["year"]) + words.month(match["name"]) for match in matches]
    steps = np.abs(np.diff(months))
    steps = steps[steps > 0]
    return steps.size > 0 and bool((steps % steps[0] == 0).all()) and steps[0] < _MONTHS


def _are_fiscal_years(texts: Sequence[str]) -> bool:
    """Return whether texts such as 2000-01 are two consecutive years, and not all the same."""
    years = map(re.compile(FISCAL_YEARS.regex).match, texts)
    pairs = {(int(match["year"]), int(match["next"])) for match in years if match}
    return len(pairs) > 1 and all((year + 1 - after) % 100 == 0 for year, after in pairs)


def _date_format(match: re.Match[str]) -> str | None:
    """Return the format of `strptime` of a matched text, or None if the text has other parts."""
    parts = {name: match.span(name) for name in match.re.groupindex if match[name]}
    parts = {name: span for name, span in parts.items() if not name.startswith("mark")}
    marks = {text for name, text in match.groupdict().items() if name.startswith("mark")}
    if len(marks) > 1 or not parts.keys() <= _DIRECTIVES.keys():
        return None
    text, end, made = match[0], 0, ""
    for name, (start, stop) in sorted(parts.items(), key=lambda item: item[1]):
        directive = _DIRECTIVES[name]
        directive = "y" if name == "year" and stop - start == 2 else directive
        directive = "I" if name == "hour" and "half" in parts else directive
        made += f"{text[end:start]}%{directive}"
        end = stop + (name == "half") - (text[stop - 1] == ".")
    return made + text[end:]


def _by_format(texts: pa.Array, date_format: str | None) -> tuple[Times, NDArray[np.bool_]]:
    """Return times (n,) by Arrow's `strptime`, NaT for other texts, and a mask of doubtful days."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if date_format is None:
        times = np.full(len(texts), np.datetime64("NaT"), dtype="datetime64[us]")
        return times, np.zeros(len(texts), dtype=bool)
    parsed = pc.strptime(texts, format=date_format, unit="us", error_is_null=True)
    times = np.asarray(parsed).astype("datetime64[us]", copy=True)
    # 31 April is moved to 1 May, and years may have one digit.
    month, day = (np.array(part(parsed).fill_null(0)) for part in (pc.month, pc.day))
    is_doubtful = day <= _LAST_MOVED[month]
    rows = np.flatnonzero(is_doubtful)
    is_doubtful[rows] = pc.match_substring_regex(texts.take(pa.array(rows)), _LATE_DAY)
    return times, is_doubtful | (times < _FIRST_TIME)


def _fill_by_pattern(dates: LocalDates, texts: pa.Array, notation: _Notation) -> None:
    """Fill in the dates of texts (n,) that have not been read, by the pattern's expression."""
    import pyarrow as pa

    rows = np.flatnonzero(~dates.matched & np.array(texts.is_valid()))
    entries = rewritten(texts.take(pa.array(rows)).to_pylist(), notation.rewrites)
    for row, text in zip(rows, entries, strict=True):
        match = compiled(dates.pattern).match(text)
        dates.matched[row] = match is not None
        for order, times in dates.by_order.items():
            times[row] = np.datetime64("NaT")
            with suppress(ValueError, OverflowError):  # No such date
                if match is not None:
                    times[row], minutes = time_of(
                        match, notation.words, monthfirst=order == "monthfirst"
                    )
                    dates.offset[row] = minutes

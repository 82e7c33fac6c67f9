"""Dates in local notation, as names of months, weeks or fiscal years, and as numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timezone
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner.files.date_forms import ENGLISH, ISO, DateForm, DateWords, find_form, find_words
from bochner.files.rules import SAMPLE_SIZE, first_present

if TYPE_CHECKING:
    import pyarrow as pa


Times = NDArray[np.datetime64]
Offsets = NDArray[np.timedelta64]

_MOST_TESTED = 40  # Entries from which the form is chosen: the first ones, and others of a sample
_FEWEST_DATES = 5
"""Fewest distinct dates whose rising order is evidence: five random dates rise once in 120."""

_REGULAR = 1.2  # Largest ratio of distances of regular dates: months have 28 to 31 days
_MONTHS = 12  # Months of a year
_ERAS = {"令和": 2018, "R": 2018, "平成": 1988, "H": 1988, "昭和": 1925, "S": 1925}
"""Years before the first ones of Japanese eras."""

_FIRST_YEAR_OF_TWO_DIGITS = 69
"""Two-digit years from 69 on are in the twentieth century, as in POSIX."""

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

    ``offset`` (n,) is that of local time from UTC, zero if no text tells it (not ``is_zoned``).
    """

    by_order: Mapping[str, Times]
    offset: Offsets
    form: DateForm = ISO
    words: DateWords = ENGLISH
    is_zoned: bool = False

    def times(self, order: str = "dayfirst") -> Times:
        """Return the times (n,) in UTC; the order matters only to dates with two orders."""
        return self.by_order.get(order, self.by_order["dayfirst"])

    def orders(self) -> tuple[str, ...]:
        """Return the order in which most texts are valid dates, or both orders in a tie."""
        counts = {order: np.sum(~np.isnat(times)) for order, times in self.by_order.items()}
        return tuple(order for order, count in counts.items() if count == max(counts.values()))

    def rising(self) -> list[str]:
        """Return the orders in which the dates rise from row to row."""
        import pandas as pd

        present = {order: pd.Series(times).dropna() for order, times in self.by_order.items()}
        return [order for order, dates in present.items()
                if dates.is_monotonic_increasing and dates.nunique() >= _FEWEST_DATES]  # fmt: skip

    def regular(self) -> list[str]:
        """Return the orders in which the dates, sorted, are nearly equally far from each other."""
        found = []
        for order, times in self.by_order.items():
            steps = np.diff(np.unique(times[~np.isnat(times)]))
            if len(steps) >= _FEWEST_DATES and steps.max() <= _REGULAR * steps.min():
                found.append(order)
        return found

    def series(self, order: str) -> Any:
        """Return local times (n,), in one zone or as objects if their offsets from UTC differ."""
        import pandas as pd

        utc, offset = self.times(order), self.offset
        distinct = np.unique(offset[~np.isnat(utc)])
        if not self.is_zoned or not len(distinct):
            return pd.Series(utc)
        in_utc = pd.Series(utc).dt.tz_localize("UTC")
        if len(distinct) == 1:
            return in_utc.dt.tz_convert(timezone(distinct[0].item()))
        entries: Any = pd.Series(pd.NaT, in_utc.index, dtype=object)
        for each in distinct:
            rows = offset == each
            entries[rows] = in_utc[rows].dt.tz_convert(timezone(each.item())).astype(object)
        return entries

    def notes(self, entry: str) -> list[tuple[str, str]]:
        """Return notes on spans of several days, on languages, and on years of two digits."""
        form, notes = self.form, []
        if form.span and (form.is_named or form.span != "month"):
            times = self.times()
            day = str(times[~np.isnat(times)][0]).split("T")[0]
            words = f"holds {form.span}s, which are read as their first day"
            notes.append((words, f"{entry} is read as {day}"))
        if self.words.language != "English":
            notes.append((f"has names of months in {self.words.language}", entry))
        if any(len(match["year"]) == 2 for match in form.matches):
            notes.append(("has years of two digits, which are taken for 1969 to 2068", ""))
        return notes


def iso_dates(texts: pa.Array) -> LocalDates | None:
    """Return the dates of texts (n,), some null; None unless all are ISO 8601."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def cast(some: pa.Array, zone: str | None = None) -> Times:
        return np.asarray(pc.cast(some, pa.timestamp("us", zone)).to_numpy(), "datetime64[us]")

    first = first_present(texts, 1).to_pylist()
    if first and not re.match("[0-9]{4}-[0-9]{2}-[0-9]{2}", first[0]):
        return None
    for zone in (None, "UTC"):
        try:
            cast(texts.slice(0, SAMPLE_SIZE), zone)  # Fails early if texts are not times
            utc = cast(texts, zone)
        except pa.ArrowInvalid:
            continue
        offset = np.zeros(len(utc), "timedelta64[m]")
        if zone is not None:
            clock = cast(pc.replace_substring_regex(texts, "(.{10}.*?)(Z|[+-][0-9:]+)$", r"\1"))
            offset = clock - utc
        return LocalDates({"dayfirst": utc}, offset, is_zoned=zone is not None)
    return None


def find_dates(texts: pa.Array, *, only_iso: bool = False) -> LocalDates | None:
    """Return the dates of texts (n,), some null, in their most frequent form, or None."""
    sample = first_present(texts).to_pylist()
    step = 1 + len(sample) // _MOST_TESTED
    tested = [*sample[:_MOST_TESTED], *sample[_MOST_TESTED::step]]
    form = find_form(tested, only_iso=only_iso)
    words = None if form is None else _words(form)
    return None if form is None or words is None else read_texts(texts, form, words)


def _words(form: DateForm) -> DateWords | None:
    """Return the language of the names of months and weekdays, None if they are other words."""
    parts = [match.groupdict() for match in form.matches]
    names = {each["name"] for each in parts if each.get("name")}
    days = {each[key] for each in parts for key in ("weekday", "after") if each.get(key)}
    words = find_words(names, days)
    if words is None or form.example != "Dec-21":
        return words
    # The numbers of "Jan 17" are years, not days, after another sign than a space, or if the
    # months are evenly spaced.
    months = [_MONTHS * int(each["year"]) + words.month(each["name"]) for each in parts]
    steps = np.abs(np.diff(months))
    steps = steps[steps > 0]
    is_even = steps.size > 0 and bool((steps % steps[0] == 0).all()) and steps[0] < _MONTHS
    are_years = is_even or any(each[0][each.end("name")] in "-/'" for each in form.matches)
    return words if are_years else None


def read_texts(texts: pa.Array, form: DateForm, words: DateWords = ENGLISH) -> LocalDates:
    """Return the dates, or first days, of texts (n,) in a form, NaT for other texts and null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    encoded = texts.dictionary_encode()
    distinct = encoded.dictionary
    for pattern, replacement in form.rewrites:
        distinct = pc.replace_substring_regex(distinct, pattern, replacement)
        distinct = pc.utf8_trim_whitespace(distinct)
    day_texts, clock_texts = _halves(distinct, form)
    days = _Parts(day_texts, form.regex)
    clocks = days if clock_texts is day_texts else _Parts(clock_texts, form.regex)
    month, day = _month(days, words), days.values("day", int, 1)
    offset = clocks.values("zone", _offset_of, np.timedelta64(0, "m"))
    clock = (_time_of_day(clocks) - offset)[clocks.rows]
    by_order = {"dayfirst": _days(days, month, day)[days.rows] + clock}
    if form.is_ordered:
        by_order["monthfirst"] = _days(days, day, month)[days.rows] + clock
    rows = np.array(encoded.indices.fill_null(len(distinct)))
    by_order = {
        order: np.append(times, np.datetime64("NaT"))[rows] for order, times in by_order.items()
    }
    offset = np.append(offset[clocks.rows], np.timedelta64(0))[rows]
    is_zoned = bool(clocks.values("zone", bool, False).any())
    return LocalDates(by_order, offset, form, words, is_zoned)


def _halves(texts: pa.Array, form: DateForm) -> tuple[pa.Array, pa.Array]:
    """Return texts (n,) with the days, and texts with the times of day, of texts (n,)."""
    import pyarrow.compute as pc

    matches = [match for match in form.matches if match.groupdict().get("hour")]
    heads = [match.string[: match.start("hour")] for match in matches]
    blanks = {head.count(" ") * head.endswith(" ") for head in heads}
    if len(texts) <= SAMPLE_SIZE or len(blanks) != 1 or 0 in blanks:
        return texts, texts
    halves = pc.extract_regex(texts, f"^(?P<day>(?:[^ ]* ){{{blanks.pop()}}})(?P<clock>.+)$")
    if halves.null_count:
        return texts, texts
    clock = matches[0].string.removeprefix(heads[0])
    return (
        pc.binary_join_element_wise(halves.field("day"), clock, ""),
        pc.binary_join_element_wise(heads[0], halves.field("clock"), ""),
    )


class _Parts:
    """Parts of distinct dates (k,) by the groups of an expression, and the dates' rows (n,)."""

    def __init__(self, texts: pa.Array, regex: str) -> None:
        import pyarrow.compute as pc

        encoded = texts.dictionary_encode()
        groups = pc.extract_regex(encoded.dictionary, regex)
        self.rows = np.array(encoded.indices)
        self.is_found = np.array(groups.is_valid())
        self.texts = {field.name: groups.field(field.name) for field in groups.type}

    def values(self, name: str, convert: Callable[[str], Any], default: Any = 0) -> NDArray[Any]:
        """Return the values (k,) of a part, and a default where a text lacks the part."""
        if name not in self.texts:
            return np.full(len(self.is_found), default)
        encoded = self.texts[name].dictionary_encode()
        values = [convert(text) if text else default for text in encoded.dictionary.to_pylist()]
        by_row: NDArray[Any] = np.array(values)[np.array(encoded.indices)]
        return by_row


def _month(parts: _Parts, words: DateWords) -> NDArray[np.int64]:
    """Return the months (n,) from 1 to 12, or the first months of quarters and half years."""
    month: NDArray[np.int64] = parts.values("month", int, 1)
    month += parts.values("name", lambda name: words.month(name) - 1)
    month += parts.values("quarter", lambda quarter: 3 * int(quarter) - 3)
    month += parts.values("half_year", lambda half: 6 * int(half) - 6)
    return month


def _days(parts: _Parts, month: NDArray[np.int64], day: NDArray[np.int64]) -> Times:
    """Return the days (n,) of dates, or the first days of longer spans, NaT if there are none."""
    number, era = parts.values("year", _year), parts.values("era", _ERAS.__getitem__)
    number = np.where(era > 0, era + number % 100, number)
    years = (number - 1970).astype("datetime64[Y]")
    months = years.astype("datetime64[M]") + (month - 1)
    days = months.astype("datetime64[D]") + (day - 1)
    is_valid = (months.astype("datetime64[Y]") == years) & (days.astype("datetime64[M]") == months)
    if (ordinal := parts.values("ordinal", int)).any():
        days = years.astype("datetime64[D]") + (ordinal - 1)
        is_valid = days.astype("datetime64[Y]") == years
    if (week := parts.values("week", int, -1)).max(initial=-1) >= 0:
        seventh = years.astype("datetime64[D]") + 6
        # Weeks of NumPy begin with a Thursday, and the first week of a year has the first one.
        thursday = (seventh.astype("datetime64[W]") + (week - 1)).astype("datetime64[D]")
        days = thursday + parts.values("week_day", int, 1) - 4
        is_valid = thursday.astype("datetime64[Y]") == years
    after = parts.values("next", int, -1)
    is_valid &= parts.is_found & (number > 0) & ((after < 0) | ((number + 1 - after) % 100 == 0))
    is_valid &= parts.values("mark", ord) == parts.values("mark_2", ord)  # Not 31/12-2021
    return np.where(is_valid, days, np.datetime64("NaT")).astype("datetime64[us]")


def _year(digits: str) -> int:
    """Return a year of two or four digits."""
    century = 1900 if int(digits) >= _FIRST_YEAR_OF_TWO_DIGITS else 2000
    return int(digits) + century * (len(digits) <= 2)


def _time_of_day(parts: _Parts) -> Offsets:
    """Return the times (n,) since midnight, NaT if there are none; 24:00 is the next day."""
    hour, minute, second = (parts.values(name, int) for name in ("hour", "minute", "second"))
    microsecond = parts.values("fraction", lambda digits: int(f"{digits}000000"[:6]))
    # The hours of AM and PM are 1 to 12
    half = parts.values("half", lambda letter: 1 + (letter in "Pp"))
    is_valid = (minute <= 59) & (second <= 59) & ((half == 0) | ((hour >= 1) & (hour <= 12)))
    hour = np.where(half > 0, hour % 12 + 12 * (half - 1), hour)
    time = ((hour * 60 + minute) * 60 + second) * 10**6 + microsecond
    is_valid &= time <= 24 * 3600 * 10**6
    return np.where(is_valid, time.astype("timedelta64[us]"), np.timedelta64("NaT"))


def _offset_of(zone: str) -> np.timedelta64:
    """Return the offset of a zone such as +01:00, GMT+2 or CET, NaT for other words."""
    match = re.search("([+-])([0-9]{1,2}):?([0-9]{2})?", zone)
    if match is None:
        return np.timedelta64(_ZONES.get(zone, "NaT"), "m")
    minutes = int(f"{match[1]}1") * (60 * int(match[2]) + int(match[3] or 0))
    return np.timedelta64(minutes, "m")


Numbers = NDArray[np.float64]

_FEWEST = 3  # Fewest distinct numbers that can show that they are dates
_FEWEST_IN_DOUBT = 6
"""Fewest distinct numbers that are named as possible dates: six months among numbers of that size
by chance have a probability of 0.12 to the power of six."""

_STEPS = (60, 300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400, 604_800)
"""Seconds between times of a regular series."""

_NAMES = {
    "day": "date datum fecha dato datetime dátum päivä päivämäärä tarih дата 日期 日付 날짜 年月日 "
    "day tag jour dia día giorno dag",
    "month": "date datum fecha data dato дата month monat mois mes mês mese maand måned månad "
    "miesiąc měsíc месяц ay month ym yyyymm yearmonth period periode período periodo 年月 月",
    "week": "date datum week woche semaine semana settimana kw yyyyww yearweek period 週 周",
    "second": "time timestamp epoch unix ts date datum datetime zeit zeitstempel created updated "
    "zeitpunkt hora heure tijd tid время",
    "": "",
}
"""Words in the names of columns of dates, by the unit."""

_DIGITS = (
    ("yyyy", "(?P<year>19[0-9]{2}|20[0-9]{2}|2100)"), ("ww", "(?P<week>[0-9]{2})"),
    ("mm", "(?P<month>[0-9]{2})"), ("dd", "(?P<day>[0-9]{2})"), ("hh", "(?P<hour>[0-9]{2})"),
    ("mm", "(?P<minute>[0-9]{2})"), ("ss", "(?P<second>[0-9]{2})"),
)  # fmt: skip
"""Expressions of the digits of forms; other numbers are no years."""

FORMS: Mapping[str, tuple[str, str, float, float]] = {
    "yyyymmdd": ("days", "day", 19000101, 21001231),
    "yyyymm": ("months", "month", 190001, 210012),
    "yyyyww": ("weeks", "week", 190001, 210053),
    "mm.yyyy": ("months", "month", 1.19, 12.21),
    "yyyy.mm": ("months", "month", 1900.01, 2100.12),
    "yyyymmddhh": ("hours", "day", 1900010100, 2100123124),
    "yyyymmddhhmm": ("times", "day", 190001010000, 210012312400),
    "yyyymmddhhmmss": ("times", "day", 19000101000000, 21001231240000),
    # Counted from 1970 in 1973 to 2096, and from 30 December 1899 in 1927 to 2119
    "seconds since 1970": ("seconds since 1970", "second", 1e8, 4e9),
    "milliseconds since 1970": ("milliseconds since 1970", "second", 1e11, 4e12),
    "days of a spreadsheet": ("days of a spreadsheet", "day", 1e4, 8e4),
    "yyyy": ("years", "", 1900, 2100),
}
"""Noun, unit, and least and largest number of forms of dates that are numbers, in the order in
which they are tried. Numbers without a unit are dates only if the user asks for them."""

_SINCE = {
    "seconds since 1970": ("1970-01-01", 1e6),
    "milliseconds since 1970": ("1970-01-01", 1e3),
    "days of a spreadsheet": ("1899-12-30", 8.64e10),
}
"""Start and unit in microseconds of forms that count from a start."""


def number_times(numbers: Numbers, form: str) -> Times:
    """Return times (n,) of numbers in a form, NaT for other numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    _, _, least, largest = FORMS[form]
    is_valid = (numbers >= least) & (numbers <= largest)
    start, unit = _SINCE.get(form, ("1970-01-01", 10.0 ** len(form.partition(".")[2])))
    scaled = np.where(is_valid, numbers, 0.0) * unit
    whole = np.round(scaled)
    if form in _SINCE:
        times = np.datetime64(start, "us") + whole.astype("timedelta64[us]")
        return np.where(is_valid, times, np.datetime64("NaT"))
    is_valid &= np.abs(scaled - whole) <= 1e-9 * scaled
    regex = digits = form.replace(".", "")
    for part, group in _DIGITS:
        regex = regex.replace(part, group, 1)
    texts = pa.array(whole.astype(np.int64), mask=~is_valid).cast(pa.string())
    padded = pc.utf8_lpad(texts, len(digits), "0")
    return read_texts(padded, DateForm(form, "", f"^{regex}$")).times()


class NumberDates(NamedTuple):
    """The form, times (n,) and an example of numbers; ``is_sure`` unless they may be no dates."""

    form: str
    is_sure: bool
    example: str
    times: Times


def number_dates(name: str, numbers: Numbers, *, requested: bool = False) -> NumberDates | None:
    """Return how numbers (n,) are dates if all of them may be, else None.

    Numbers are dates if no other numbers are like them, if their months, weeks or seconds are
    evenly spaced over the end of a year, or if the name of the column says so.
    """
    present = numbers[~np.isnan(numbers)]
    for form, (_, unit, least, largest) in FORMS.items() if present.size else ():
        is_near = least <= present.min() <= present.max() <= largest
        if not is_near or np.isnat(number_times(present[:SAMPLE_SIZE], form)).any():
            continue
        all_times = number_times(numbers, form)
        times = all_times[~np.isnan(numbers)]
        distinct = np.unique(times)
        is_like_no_other = form.startswith("yyyymmdd") or _is_named(name, unit)
        is_sure = requested or (
            unit != ""
            and distinct.size >= _FEWEST
            and (is_like_no_other or _is_even(distinct, unit, form))
        )
        rises = bool((np.diff(times) > np.timedelta64(0)).all())
        is_usual = unit == "month" or (rises and unit in ("week", "second"))
        is_likely = is_usual and distinct.size >= _FEWEST_IN_DOUBT
        if (is_sure or is_likely) and not np.isnat(times).any():
            time = str(times[0]).replace("T00:00:00.000000", "")
            example = f"{present[0]:.15g} is read as {time}"
            return NumberDates(form, is_sure, example, all_times)
    return None


def _is_named(name: str, unit: str) -> bool:
    """Return whether a word in the name of a column is that of a unit of time."""
    spaced = re.sub("([a-z])([A-Z])", r"\1 \2", name).casefold()
    return not set(re.split(r"[\W_0-9]+", spaced)).isdisjoint(_NAMES[unit].split())


def _is_even(distinct: Times, unit: str, form: str) -> bool:
    """Return whether sorted times are evenly spaced: over the end of a year, or hours and days."""
    if form.startswith("days"):
        return False
    years = distinct.astype("datetime64[Y]")
    units = {"month": "datetime64[M]", "week": "datetime64[W]", "second": "datetime64[s]"}
    steps = np.diff(distinct.astype(units[unit])).astype(np.int64)
    is_even = bool((steps == steps[0]).all())
    if unit == "second":
        return is_even and int(steps[0]) in _STEPS
    return is_even and years[0] < years[-1] and steps[0] < len(_STEPS) and distinct.size > _FEWEST

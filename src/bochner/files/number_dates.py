"""Numbers that are dates: 20210105, 202101, 1.2021, seconds since 1970, days of spreadsheets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner.files.date_forms import DateForm
from bochner.files.local_dates import Times, read_texts
from bochner.files.rules import SAMPLE_SIZE

Numbers = NDArray[np.float64]

_FEWEST = 3
"""Fewest distinct numbers that can show that they are dates."""

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

"""Numbers that are dates: 20210105, 202101, 1.2021, seconds since 1970, days of spreadsheets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Times = NDArray[np.datetime64]

_SAMPLE_SIZE = 1000
"""Numbers that are tested first: most other numbers fail within them."""

_YEARS = (1900, 2100)
"""First and last year of dates that are written as numbers."""

_FEWEST = 3
"""Fewest distinct numbers that can show that they are dates."""

_FEWEST_IN_DOUBT = 6
"""Fewest distinct numbers that are named as possible dates: six months among numbers of that size
by chance have a probability of 0.12 to the power of six."""

_STEPS = (60, 300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400, 604_800)
"""Seconds between times of a regular series."""

_FIRST_SECOND, _LAST_SECOND = 1e8, 4e9
"""Seconds since 1970 in 1973 and 2096."""

_FIRST_DAY, _LAST_DAY = 10_000, 80_000
"""Days of spreadsheets in 1927 and 2119, which are counted from 30 December 1899."""

_NAMES = {
    "day": "date datum fecha dato datetime dátum päivä päivämäärä tarih дата 日期 日付 날짜 年月日 "
    "day tag jour dia día giorno dag",
    "month": "date datum fecha data dato дата month monat mois mes mês mese maand måned månad "
    "miesiąc měsíc месяц ay month ym yyyymm yearmonth period periode período periodo 年月 月",
    "week": "date datum week woche semaine semana settimana kw yyyyww yearweek period 週 周",
    "second": "time timestamp epoch unix ts date datum datetime zeit zeitstempel created updated "
    "zeitpunkt hora heure tijd tid время",
}
"""Words in the names of columns of dates, by the unit."""


def _calendar(year: Numbers, month: Numbers, day: Numbers | float = 1.0) -> Times:
    """Return days (n,), NaT for parts that are no date."""
    with np.errstate(invalid="ignore"):
        valid = (year >= _YEARS[0]) & (year <= _YEARS[1]) & (month >= 1) & (month <= 12)
        valid &= (month % 1 == 0) & (year % 1 == 0) & (day % 1 == 0)
    months = np.where(valid, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    start, end = months.astype("datetime64[D]"), (months + 1).astype("datetime64[D]")
    days = start + np.where(valid, day - 1, 0).astype("timedelta64[D]")
    times: Times = days.astype("datetime64[us]")
    times[~valid | (np.asarray(day) < 1) | (days >= end)] = np.datetime64("NaT")
    return times


def _with_clock(numbers: Numbers, n_digits: int) -> Times:
    """Return times of numbers such as 20210105130000, with digits of the time of day."""
    unit = 10.0**n_digits
    days, clock = numbers // unit, numbers % unit * 10.0 ** (6 - n_digits)
    times = _calendar(days // 10_000, days // 100 % 100, days % 100)
    hour, minute, second = clock // 10_000, clock // 100 % 100, clock % 100
    times[(hour > 23) | (minute > 59) | (second > 59)] = np.datetime64("NaT")
    return times + _microseconds(3600 * hour + 60 * minute + second)


def _microseconds(seconds: Numbers) -> NDArray[np.timedelta64]:
    """Return durations (n,), zero where unknown."""
    return np.round(1e6 * np.nan_to_num(seconds)).astype("timedelta64[us]")


def _weeks(numbers: Numbers) -> Times:
    """Return the Mondays of ISO weeks such as 202153."""
    year, week = numbers // 100, numbers % 100
    fourth = _calendar(year, np.ones_like(year), 4.0).astype("datetime64[D]")
    monday = fourth - ((fourth.astype(np.int64) + 3) % 7).astype("timedelta64[D]")
    days = monday + np.nan_to_num(7 * (week - 1)).astype("timedelta64[D]")
    thursday_year = (days + 3).astype("datetime64[Y]").astype(np.int64) + 1970
    times: Times = days.astype("datetime64[us]")
    times[np.isnat(fourth) | (week < 1) | (week % 1 != 0) | (thursday_year != year)] = "NaT"
    return times


def _since(numbers: Numbers, first: float, last: float, scale: float, start: str) -> Times:
    """Return times by the number of ``scale`` seconds since a start."""
    valid = (numbers >= first) & (numbers <= last)
    times = np.datetime64(start, "us") + _microseconds(np.where(valid, numbers, 0) * scale)
    times[~valid] = np.datetime64("NaT")
    return times


def _parts(numbers: Numbers, digits: int) -> tuple[Numbers, Numbers]:
    """Return the whole part, and the decimals as a whole number, of numbers with some decimals."""
    shifted = numbers * 10.0**digits
    whole = np.round(shifted)
    whole[np.abs(shifted - whole) > 1e-6 * np.abs(shifted)] = np.nan
    return whole // 10**digits, whole % 10**digits


@dataclass(frozen=True, slots=True)
class _Form:
    """A way to write times as numbers.

    ``is_sure`` is True if numbers that are all valid need no further evidence.
    """

    noun: str
    unit: str
    times: Callable[[Numbers], Times]
    is_sure: bool = False


FORMS: Mapping[str, _Form] = {
    "yyyymmdd": _Form(
        "days", "day", lambda x: _calendar(x // 10_000, x // 100 % 100, x % 100), True
    ),
    "yyyymm": _Form("months", "month", lambda x: _calendar(x // 100, x % 100)),
    "yyyyww": _Form("weeks", "week", _weeks),
    "mm.yyyy": _Form("months", "month", lambda x: _calendar(_parts(x, 4)[1], _parts(x, 4)[0])),
    "yyyy.mm": _Form("months", "month", lambda x: _calendar(*_parts(x, 2))),
    "yyyymmddhh": _Form("hours", "day", lambda x: _with_clock(x, 2), True),
    "yyyymmddhhmm": _Form("times", "day", lambda x: _with_clock(x, 4), True),
    "yyyymmddhhmmss": _Form("times", "day", lambda x: _with_clock(x, 6), True),
    "seconds since 1970": _Form(
        "seconds since 1970", "second",
        lambda x: _since(x, _FIRST_SECOND, _LAST_SECOND, 1.0, "1970-01-01"),
    ),
    "milliseconds since 1970": _Form(
        "milliseconds since 1970", "second",
        lambda x: _since(x, 1e3 * _FIRST_SECOND, 1e3 * _LAST_SECOND, 1e-3, "1970-01-01"),
    ),
    "days of a spreadsheet": _Form(
        "days of a spreadsheet", "day",
        lambda x: _since(x, _FIRST_DAY, _LAST_DAY, 86_400.0, "1899-12-30"),
    ),
    "yyyy": _Form("years", "never", lambda x: _calendar(x, np.ones_like(x))),
}  # fmt: skip
"""Forms of dates that are numbers, in the order in which they are tried."""


@dataclass(frozen=True, slots=True)
class NumberDates:
    """The form of numbers that are dates; ``is_sure`` unless they may be other numbers."""

    form: str
    is_sure: bool

    def example(self, numbers: Numbers) -> str:
        """Return the first number with the time that it means."""
        first = numbers[~np.isnan(numbers)][:1]
        time = str(FORMS[self.form].times(first)[0]).replace("T00:00:00.000000", "")
        return f"{first[0]:.15g} is read as {time}"


def number_dates(name: str, numbers: Numbers, *, requested: bool = False) -> NumberDates | None:
    """Return how numbers (n,) are dates if all of them may be, else None.

    Numbers are dates if no other numbers are like them, if their months, weeks or seconds are
    evenly spaced over the end of a year, or if the name of the column says so.
    """
    present = numbers[~np.isnan(numbers)]
    for form, each in FORMS.items():
        if not present.size or np.isnat(each.times(present[:_FEWEST])).any():
            continue
        times = each.times(present)
        if np.isnat(times).any():
            continue
        distinct = np.unique(times)
        if requested:
            return NumberDates(form, True)
        if each.unit == "never" or distinct.size < _FEWEST:
            continue
        is_named = _is_named(name, each.unit)
        if each.is_sure or is_named or _is_even(distinct, each.unit, form):
            return NumberDates(form, True)
        rises = bool((np.diff(times) > np.timedelta64(0)).all())
        is_usual = each.unit == "month" or (rises and each.unit in ("week", "second"))
        if distinct.size >= _FEWEST_IN_DOUBT and is_usual:
            return NumberDates(form, False)
    return None


def noted_doubt(name: str, numbers: Numbers) -> list[tuple[str, str]]:
    """Return a note on numbers (n,) that may be dates, with an example."""
    dates = number_dates(name, numbers[:_SAMPLE_SIZE])
    dates = dates and number_dates(name, numbers)
    if dates is None or dates.is_sure:
        return []
    words = f"looks like dates ({FORMS[dates.form].noun}), read as numbers: --types {name}=date"
    return [(f"{words} reads dates", dates.example(numbers))]


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

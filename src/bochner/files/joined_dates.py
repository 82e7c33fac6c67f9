"""Dates in several columns: date and time of day, year and month, joined into one column."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner.files.columns import read_column
from bochner.files.date_words import find_words

if TYPE_CHECKING:
    import pandas as pd

Numbers = NDArray[np.float64]
Times = NDArray[np.datetime64]

_NAMES: Mapping[str, str] = {
    "year": "year yr yyyy jahr année annee an año ano anno jaar år rok год ano 年",
    "quarter": "quarter quartal qtr q trimestre kwartaal kwartał kvartal квартал 季度 四半期",
    "month": "month mon mm mo monat mois mes mês mese maand måned månad miesiąc месяц 月",
    "week": "week wk kw woche semaine semana settimana vecka uge uke неделя 週 周",
    "day": "day dd dy tag jour día dia giorno dag dzień день 日",
    "hour": "hour hr hh stunde heure hora ora uur time godzina час 時 时",
    "minute": "minute min mi",
}  # fmt: skip
"""Words in the names of columns with parts of dates."""

_LIMITS: Mapping[str, tuple[int, int]] = {
    "year": (1800, 2200), "quarter": (1, 4), "month": (1, 12), "week": (1, 53), "day": (1, 31),
    "hour": (0, 24), "minute": (0, 59),
}  # fmt: skip
"""Smallest and largest numbers of the parts of a date."""

_CLOCK = re.compile(
    "([0-9]{1,2})[:.h]([0-9]{2})(?:[:.]([0-9]{2})(?:[.,][0-9]+)?)?(?: ?([AaPp])[Mm])?"
)
"""A time of day."""


def join_dates(frame: pd.DataFrame, named: Collection[str]) -> tuple[pd.DataFrame, str]:
    """Return a table whose parts of dates are joined in a first column, and a note on it.

    The parts are a date and a time of day, or a year with a quarter, a month or a week, a day and
    an hour. Columns in ``named`` have another role. The note is empty if nothing is joined.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"year": [2020, 2021], "month": [12, 1], "sold": [3.0, 4.0]})
    >>> joined, note = join_dates(frame, ["sold"])
    >>> list(joined), str(joined["year month"][1])
    (['year month', 'sold'], '2021-01-01 00:00:00')
    """
    free = [str(name) for name in frame.columns if name not in named]
    columns = {name: read_column(name, frame[name]) for name in free}
    days = [name for name, column in columns.items() if column.kind == "date"]
    if len(days) > 1:
        return frame, ""
    parts = _parts(frame, [name for name in free if name not in days])
    if days:
        date = columns[days[0]]
        clock = {name: part for name, part in parts.items() if name in ("clock", "hour", "minute")}
        present = date.raw[date.present].astype("datetime64[us]")
        has_clock = date.clock is not None or (present != present.astype("M8[D]")).any()
        if not clock or has_clock or len(np.unique(present)) == len(present):
            return frame, ""
        names = [days[0], *(name for name, _ in clock.values())]
        start: Any = date.raw.astype("datetime64[us]")
        times: Times | None = start + _time_of_day(clock)
    else:
        times, used = _calendar_times(parts)
        if times is None:
            return frame, ""
        names = [parts[part][0] for part in used]
    joined = " ".join(names)
    place = min(list(frame.columns).index(name) for name in names)
    rest = frame.drop(columns=names)
    rest.insert(min(place, rest.shape[1]), joined, times)
    first = str(rest[joined].iloc[0]).removesuffix(" 00:00:00")
    listed = " and ".join(filter(None, [", ".join(map(repr, names[:-1])), repr(names[-1])]))
    return rest, f"{listed} are joined into times (row 1: {first})."


def _parts(frame: pd.DataFrame, names: Collection[str]) -> dict[str, tuple[str, Numbers]]:
    """Return the first column of each part of a date with its numbers; "clock" is in hours."""
    parts: dict[str, tuple[str, Numbers]] = {}
    for name in names:
        words = set(re.split(r"[\W_0-9]+", name.casefold()))
        for part, known in _NAMES.items():
            numbers = _numbers(frame[name], part) if words & set(known.split()) else None
            if numbers is not None and part not in parts:
                parts[part] = name, numbers
        hours = _hours(frame[name]) if "clock" not in parts else None
        if hours is not None:
            parts["clock"] = name, hours
    return parts


def _numbers(series: pd.Series, part: str) -> Numbers | None:
    """Return the numbers of a part of a date, also by names of months and "Q1", else None."""
    import pandas as pd

    if series.dtype.kind not in "iuf":
        texts = series.astype(str).str.strip()
        words = find_words(set(texts.unique()), ()) if part == "month" else None
        if words is not None:
            series = texts.map({text: words.month(text) for text in texts.unique()})
        else:
            series = pd.to_numeric(texts.str.removeprefix("Q"), errors="coerce")
    numbers = series.to_numpy(dtype=float, na_value=np.nan)
    first, last = _LIMITS[part]
    is_valid = (numbers >= first) & (numbers <= last) & (numbers == np.round(numbers))
    return numbers if is_valid.all() and numbers.size else None


def _hours(series: pd.Series) -> Numbers | None:
    """Return times of day such as 13:30 in hours, 24:00 included, None for other entries."""
    column = read_column(str(series.name), series)
    if column.is_time_of_day:
        return np.asarray(column.values, dtype=np.float64)
    if column.kind != "text":
        return None
    hours: dict[Any, float] = {}
    for text in set(column.raw.tolist()):
        match = _CLOCK.fullmatch(str(text).strip())
        if match is None:
            return None
        hour, minute, second = (int(each or 0) for each in match.groups()[:3])
        if match[4]:
            hour = hour % 12 + 12 * (match[4] in "Pp")
        if hour > 24 or minute > 59 or second > 59:
            return None
        hours[text] = hour + minute / 60 + second / 3600
    return np.array([hours[text] for text in column.raw.tolist()])


def _time_of_day(parts: Mapping[str, tuple[str, Numbers]]) -> NDArray[np.timedelta64]:
    """Return durations (n,) since midnight."""
    zero = ("", np.zeros(1))
    hours = parts.get("clock", parts.get("hour", zero))[1]
    if "clock" not in parts and hours.size and hours.min() >= 1 and hours.max() == 24:
        hours = hours - 1  # Hours from 1 to 24 are numbered, and begin at midnight
    minutes = 60 * hours + (parts.get("minute", zero)[1] if "clock" not in parts else 0)
    return np.round(6e7 * minutes).astype("timedelta64[us]")


def _calendar_times(
    parts: Mapping[str, tuple[str, Numbers]],
) -> tuple[Times | None, list[str]]:
    """Return times (n,) by year and month, quarter or week, and the parts that they have."""
    spans = [name for name in ("month", "quarter", "week") if name in parts]
    if "year" not in parts or not spans:
        return None, []
    span, used = spans[0], ["year", spans[0]]
    number = {name: part.astype(np.int64) for name, (_, part) in parts.items() if name != "clock"}
    months = (number["year"] - 1970) * 12
    if span == "week":
        fourth = months.astype("M8[M]").astype("M8[D]") + 3
        monday = fourth - ((fourth.astype(np.int64) + 3) % 7).astype("m8[D]")
        weeks: Times = (monday + 7 * (number["week"] - 1)).astype("M8[us]")
        return weeks, used
    months += number["month"] - 1 if span == "month" else 3 * (number["quarter"] - 1)
    days: Any = months.astype("M8[M]").astype("M8[D]")
    if span == "month" and "day" in number:
        days, used = days + (number["day"] - 1), [*used, "day"]
        if (days.astype("M8[M]") != months.astype("M8[M]")).any():
            return None, []
        clock = {name: parts[name] for name in ("clock", "hour", "minute") if name in parts}
        if clock:
            clock.pop("hour", None) if "clock" in clock else None
            return days.astype("M8[us]") + _time_of_day(clock), [*used, *clock]
    return days.astype("M8[us]"), used

"""Dates in several columns: date and time of day, year and month, joined into one column."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bochner._base.names import listed
from bochner.files.columns import Column, read_column
from bochner.files.date_rule import DateRule
from bochner.files.read_options import ReadOptions
from bochner.files.rules import TextColumn

if TYPE_CHECKING:
    import pandas as pd

_PARTS: Mapping[str, tuple[str, str, str]] = {
    "year": (
        "year yr yyyy jahr année annee an año ano anno jaar år rok год ano 年", "", "[12][0-9]{3}"
    ),
    "quarter": (
        "quarter quartal qtr q trimestre kwartaal kwartał kvartal квартал 季度 四半期",
        "Q", "Q?[1-4]",
    ),
    "month": (
        "month mon mm mo monat mois mes mês mese maand måned månad miesiąc месяц 月",
        "/", r"[0-9]{1,2}|[^\W0-9]+\.?",
    ),
    "week": ("week wk kw woche semaine semana settimana vecka uge uke неделя 週 周", "W", "[0-9]+"),
    "day": ("day dd dy tag jour día dia giorno dag dzień день 日", "/", "[0-9]+"),
    "clock": ("", " ", "[0-9]{1,2}[:.h][0-9]{2}.*"),
    "hour": ("hour hr hh stunde heure hora ora uur time godzina час 時 时", " ", "[0-9]+"),
    "minute": ("minute min mi", ":", "[0-9]+"),
}  # fmt: skip
"""Words in the names of columns with parts of dates, the sign before a part in a text of all parts,
and the expression of its entries. Columns with a time of day may have any name."""

_OF_DAYS = ("date clock", "date hour minute", "date hour")
_OF_YEARS = (
    "year month day clock", "year month day hour minute", "year month day hour", "year month day",
    "year month", "year quarter", "year week",
)  # fmt: skip
"""Parts that make a time, the longer ones first."""

_DAYS = re.compile(r"(day|date)[\W_]*of[\W_]*(the[\W_]*)?month|(?<![^\W_])m(onth)?day")
"""Names of a day of the month, in which ``month`` is no part of the date."""

_NUMBERED = re.compile(r"(day|date)[\W_]*of[\W_]*(the[\W_]*)?(week|year)")
"""Names of a day of the week or year, which follows from the other parts."""

_HOURS, _MINUTES = 24, 60
"""Hours of a day, and minutes of an hour. Hours from 1 to 24 are numbered, and begin at midnight;
larger ones have their minutes, such as 1330."""


def join_dates(frame: pd.DataFrame, named: Collection[str]) -> tuple[pd.DataFrame, str]:
    """Return a table whose parts of dates are joined in one column, and a note, empty if none are.

    Columns in ``named`` have another role.
    """
    import pandas as pd
    import pyarrow as pa

    free = [str(name) for name in frame.columns if name not in named]
    parts = _parts([read_column(name, frame[name]) for name in free])
    if not parts or not len(frame):
        return frame, ""
    texts = ["".join(row) for row in zip(*(texts for _, texts in parts.values()), strict=True)]
    reading = DateRule().read(TextColumn("", pa.array(texts), ReadOptions()), {})
    if reading.isna().any():
        return frame, ""
    is_midnight = reading == reading.dt.normalize()
    later = reading + pd.to_timedelta(is_midnight.astype(int), unit="D")
    if later.is_monotonic_increasing > reading.is_monotonic_increasing:  # 24:00 ends a day
        reading = later
    names = [name for name, _ in parts.values()]
    rest = frame.drop(columns=names)
    place = min(map(list(frame.columns).index, names))
    rest.insert(place, " ".join(names), reading.to_numpy())
    first = str(reading[0]).removesuffix(" 00:00:00")
    return rest, f"{listed([*map(repr, names)])} are joined into times (row 1: {first})."


def _parts(columns: Sequence[Column]) -> dict[str, tuple[str, list[str]]]:
    """Return the names and texts of the columns whose texts make a date, none if there is none."""
    dates = [column for column in columns if column.kind == "date"]
    found = _named_parts([column for column in columns if column.kind != "date"])
    if dates:
        days = dates[0].times()
        are_days = dates[0].clock is None and (days == days.astype("M8[D]")).all()
        is_one = len(dates) == 1 and len(days) == len(dates[0].raw)
        if not (is_one and are_days and len(np.unique(days)) < len(days)):
            return {}
        found["date"] = dates[0].name, np.datetime_as_string(days.astype("M8[D]")).tolist()
    joined = (parts.split() for parts in (_OF_DAYS if dates else _OF_YEARS))
    used = next((parts for parts in joined if set(parts) <= set(found)), [])
    return {part: found[part] for part in used}


def _named_parts(columns: Collection[Column]) -> dict[str, tuple[str, list[str]]]:
    """Return the first column of each part of a date, with the texts of the part."""
    parts: dict[str, tuple[str, list[str]]] = {}
    for column in columns:
        name = _NUMBERED.sub("", _DAYS.sub("day", column.name.casefold()))
        words = set(re.split(r"[\W_0-9]+", re.split(r"[\W_]of[\W_]", name)[0]))
        for part, (known, sign, regex) in _PARTS.items():
            is_named = not known or words & {*known.split(), "unnamed"}
            match = re.compile(regex).fullmatch
            if part in parts or not is_named or not all(map(match, _texts(column))):
                continue
            texts = [text.lstrip("Q") for text in _texts(column)]
            hours = set(map(int, texts)) if part == "hour" else {0}
            if max(hours) > _HOURS and all(hour % 100 < _MINUTES for hour in hours):
                texts = [f"{int(text) // 100}:{int(text) % 100:02}" for text in texts]
            elif min(hours) >= 1 and max(hours) == _HOURS:
                texts = [str(int(text) - 1) for text in texts]
            parts[part] = column.name, [sign + text for text in texts]
            break
    return parts


def _texts(column: Column) -> Iterator[str]:
    if column.kind == "numeric" and column.clock is not None:
        return (clock[len("1970-01-01T") :] for clock in map(str, column.clock))
    if column.kind == "numeric":
        return (f"{number:.15g}" for number in column.values.tolist())
    return map(str, column.raw.tolist())


def fiscal_year(year: int, written: str) -> str:
    """Return the fiscal year that begins in a year, in the notation of another one.

    >>> fiscal_year(2012, "1999-00"), fiscal_year(2012, "FY2001"), fiscal_year(2012, "2000/2001")
    ('2012-13', 'FY2012', '2012/2013')
    """
    years = iter((year, year + 1))
    return re.sub("[0-9]+", lambda match: f"{next(years):04d}"[-len(match[0]) :], written)

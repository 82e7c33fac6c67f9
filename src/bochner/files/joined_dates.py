"""The rule for dates in one notation, and dates in several columns, which are joined."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner.files.columns import Column, read_column
from bochner.files.local_dates import (
    FORMS,
    LocalDates,
    find_dates,
    iso_dates,
    number_dates,
    number_times,
)
from bochner.files.read_options import DATE_KINDS, ReadOptions
from bochner.files.rules import Decision, Rule, TextColumn, first_present, plain_numbers

if TYPE_CHECKING:
    import pandas as pd

ORDERS = {"dayfirst": "days before months", "monthfirst": "months before days"}
"""Orders of days and months, with their names in notes."""

_OTHER_ORDER = {"dayfirst": "monthfirst", "monthfirst": "dayfirst"}

_FEW = 8  # First entries that tell numbers from other notations


class DateRule(Rule):
    """Reads dates; the setting ``order`` is that of days and months that are both numbers.

    ``form`` is that of dates that are numbers, and ``written`` is a fiscal year as the file has it.
    """

    name = "date"
    noun = "dates"

    def decide(self, column: TextColumn) -> Decision | None:
        """Return the order of days and months, or None if less than half of the texts are dates."""
        if plain_numbers(first_present(column.texts, _FEW)) is not None:
            return self._decide_numbers(column)
        dates = _found(column)
        if dates is None:
            return None
        is_read = {order: ~np.isnat(dates.times(order)) for order in ORDERS}
        n_read = np.count_nonzero(is_read["dayfirst"] | is_read["monthfirst"])
        if not n_read:
            return None
        notes, form = dates.notes(column.entry()), dates.form
        if not form.is_ordered:
            written = {"written": column.entry()} if form.span == "fiscal year" else {}
            return Decision(self.name, written, notes=notes)
        only = {order: is_read[order] & ~is_read[other] for order, other in _OTHER_ORDER.items()}
        examples = {order: column.entry(int(np.argmax(rows))) for order, rows in only.items()}
        if n_read == column.n_present and all(rows.any() for rows in only.values()):
            words = "holds dates with days before months and months before days: read as text"
            return Decision("text", notes=[(words, ", ".join(examples.values()))])
        asked = DATE_KINDS.get(column.requested or "") or column.options.dates
        if asked in ORDERS:
            return Decision(self.name, {"order": asked}, notes=notes)
        order, *more = dates.orders()
        if more:
            return Decision(self.name, {}, {"order": tuple(ORDERS)}, notes)
        example = (f"holds {ORDERS[order]}", examples[order])
        return Decision(self.name, {"order": order}, notes=[example, *notes])

    def _decide_numbers(self, column: TextColumn) -> Decision | None:
        """Return the form of numbers that are dates, or None for other numbers."""
        is_asked = column.requested is not None
        if not is_asked and column.options.dates in ("iso", "none"):
            return None
        read = plain_numbers(column.texts)
        if read is None:
            return None
        dates = number_dates(column.name, np.array(read, dtype=float), requested=is_asked)
        if dates is None or not dates.is_sure:
            return None
        column.memo["times"] = dates.times
        words = f"holds {FORMS[dates.form][0]} as numbers, which are read as dates"
        advice = "a type number (types=, --types) keeps numbers"
        notes = [] if is_asked else [(words, f"{dates.example}; {advice}")]
        return Decision(self.name, {"form": dates.form}, notes=notes)

    def settle(
        self, column: TextColumn, decision: Decision, decided: Mapping[str, str], *, is_local: bool
    ) -> Decision:
        """Return the order of the other columns, or the likeliest one."""
        order, reason = _open_order(column, decided, is_local)
        other = _OTHER_ORDER[order]
        words = (
            f"has days and months in an order that no entry shows: {ORDERS[order]} is assumed, "
            f"{reason}; dates={other!r} (--dates {other}) overrules that"
        )
        notes = [(words, column.entry()), *decision.notes]
        return replace(decision, settings={"order": order}, choices={}, notes=notes)

    def read(self, column: TextColumn, settings: Mapping[str, Any]) -> Any:
        """Return the times, in UTC or in local time with its offset."""
        import pandas as pd

        if "form" in settings and "times" not in column.memo:
            numbers = pd.to_numeric(column.texts.to_pandas(), errors="coerce").astype(float)
            column.memo["times"] = number_times(numbers.to_numpy(), settings["form"])
        if "form" in settings:
            return pd.Series(column.memo["times"])
        dates = _found(column)
        if dates is None:
            return pd.Series(np.full(len(column.texts), np.datetime64("NaT", "us")))
        return dates.series(settings.get("order", "dayfirst"))


def _found(column: TextColumn) -> LocalDates | None:
    """Return the dates of a column, those of ISO 8601 only if the options say so."""
    is_free = column.requested is not None or column.options.recorded
    if not column.n_present or (column.options.dates == "none" and not is_free):
        return None
    if "dates" not in column.memo:
        only_iso = column.options.dates == "iso" and not is_free
        found = iso_dates(column.texts) or find_dates(column.texts, only_iso=only_iso)
        column.memo["dates"] = found
    dates: LocalDates | None = column.memo["dates"]
    return dates


def _open_order(column: TextColumn, decided: Mapping[str, str], is_local: bool) -> tuple[str, str]:
    """Return the order, and its reason, for dates that are valid in both orders."""
    if decided:
        order = max(ORDERS, key=list(decided.values()).count)
        other = next(name for name, some in decided.items() if some == order)
        return order, f"as in {other!r}"
    dates: LocalDates = column.memo["dates"]
    rising = dates.rising()
    if len(rising) == 1:
        return rising[0], "because the dates then rise from row to row"
    mark = dates.form.matches[0]["mark"]
    if mark != "/":
        return "dayfirst", f"the usual order with {mark!r}"
    if not is_local:
        reason = "because the file has slashes in dates and no decimal commas"
        return "monthfirst", f"the American order, {reason}"
    return "dayfirst", "the European order, because the file has decimal commas or semicolons"


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
    listed = f"{', '.join(map(repr, names[:-1]))} and {names[-1]!r}"
    return rest, f"{listed} are joined into times (row 1: {first})."


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
        words = set(re.split(r"[\W_0-9]+", column.name.casefold()))
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

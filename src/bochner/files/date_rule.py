"""The rule for dates in the notation of programs and of countries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.names import shown
from bochner.files.date_patterns import Family
from bochner.files.local_dates import (
    ORDERS,
    LocalDates,
    Order,
    find_dates,
    iso_times,
    other_order,
)
from bochner.files.number_dates import FORMS, number_dates
from bochner.files.plain_numbers import plain_numbers
from bochner.files.read_options import DATE_KINDS
from bochner.files.rules import Conventions, Decision, Rule, TextColumn

_ALL_FAMILIES: tuple[Family, ...] = ("iso", "month", "numeric", "named", "compact")
_FAMILIES: Mapping[str, tuple[Family, ...]] = {"iso": ("iso", "month"), "none": ()}
"""Patterns of dates that are tried, by `ReadOptions.dates`."""

_FEW = 8
"""First entries that tell numbers from other notations."""

_FEWEST_DATES = 5
"""Fewest distinct dates whose rising order is evidence: five random dates rise once in 120."""


class DateRule(Rule):
    """Reads dates; the setting ``order`` is that of days and months that are both numbers.

    ``form`` is that of dates that are numbers, and ``written`` is a fiscal year as the file has it.
    """

    name = "date"
    noun = "dates"

    def decide(self, column: TextColumn) -> Decision | None:
        """Return the order of days and months, or None if less than half of the texts are dates."""
        if plain_numbers(column.sample().slice(0, _FEW)) is not None:
            numbers = _numbers(column)
            return None if numbers is None else self._decide_numbers(column, numbers)
        dates = _found(column)
        if dates is None:
            return None
        if not isinstance(dates, LocalDates):
            return Decision(self.name)
        if _orders_mix(column, dates):
            times = {order: ~np.isnat(dates.times(order)) for order in ORDERS}
            rows = (int(np.argmax(times[order] & ~times[other_order(order)])) for order in ORDERS)
            words = "holds dates with days before months and months before days: read as text"
            notes = [(words, ", ".join(shown(column.texts[row]) for row in rows))]
            return Decision("text", notes=notes)
        notes = _notes(column, dates)
        if dates.family != "numeric":
            written = {"written": column.entry()} if dates.span == "fiscal year" else {}
            return Decision(self.name, written, notes=notes)
        asked = DATE_KINDS.get(column.requested or "") or column.options.dates
        if asked in ORDERS:
            return Decision(self.name, {"order": asked}, notes=notes)
        possible = dates.orders()
        if len(possible) > 1:
            return Decision(self.name, {}, {"order": possible}, notes)
        unread = np.isnat(dates.times(other_order(possible[0])))
        row = int(np.argmax(unread & ~np.isnat(dates.times(possible[0]))))
        example = (f"holds {ORDERS[possible[0]]}", shown(column.texts[row]))
        return Decision(self.name, {"order": possible[0]}, notes=[example, *notes])

    def _decide_numbers(self, column: TextColumn, numbers: NDArray[np.float64]) -> Decision | None:
        """Return the form of numbers that are dates, or None for other numbers."""
        dates = number_dates(column.name, numbers, requested=column.requested is not None)
        if dates is None or not dates.is_sure:
            return None
        notes = []
        if column.requested is None:
            words = f"holds {FORMS[dates.form].noun} as numbers, which are read as dates"
            advice = "a type number (types=, --types) keeps numbers"
            notes = [(words, f"{dates.example(numbers)}; {advice}")]
        return Decision(self.name, {"form": dates.form}, notes=notes)

    def settle(self, column: TextColumn, decision: Decision, file: Conventions) -> Decision:
        """Return the order of the other columns, or the likeliest one."""
        dates = _found(column)
        assert isinstance(dates, LocalDates)
        order, reason = _open_order(dates, file)
        other = other_order(order)
        words = (
            f"has days and months in an order that no entry shows: {ORDERS[order]} is assumed, "
            f"{reason}; dates={other!r} (--dates {other}) overrules that"
        )
        settings = {**decision.settings, "order": order}
        notes = [(words, column.entry()), *decision.notes]
        return replace(decision, settings=settings, choices={}, notes=notes)

    def read(self, column: TextColumn, settings: Mapping[str, Any]) -> Any:
        """Return the times, in UTC or in local time with its offset."""
        import pandas as pd

        if "form" in settings:
            numbers = _as_floats(column)
            times = FORMS[settings["form"]].times(numbers)
            return pd.Series(times)
        forced = replace(column, requested=column.requested or self.name)
        dates = _found(forced if column.options.recorded else column)
        if isinstance(dates, LocalDates):
            times = dates.times(settings.get("order", "dayfirst"))
            clock = dates.clock(times)
        elif dates is not None:
            times, clock = dates
        else:
            times, clock = np.full(len(column.texts), np.datetime64("NaT"), "datetime64[us]"), None
        return _zoned(times, clock)


def _numbers(column: TextColumn) -> NDArray[np.float64] | None:
    """Return the numbers (n,) of a column that may be dates, None for other columns."""
    if column.requested is None and column.options.dates in _FAMILIES:
        return None
    sample = plain_numbers(column.sample())
    if sample is None or not len(sample):
        return None
    is_asked = column.requested is not None
    if number_dates(column.name, np.array(sample, dtype=float), requested=is_asked) is None:
        return None
    return None if plain_numbers(column.texts) is None else _as_floats(column)


def _as_floats(column: TextColumn) -> NDArray[np.float64]:
    """Return the entries (n,) of a column as numbers, NaN for other entries."""
    import pandas as pd

    numbers = plain_numbers(column.texts)
    if numbers is None:
        numbers = pd.to_numeric(column.texts.to_pandas(), errors="coerce")
    return np.array(numbers, dtype=float)


def _found(column: TextColumn) -> LocalDates | tuple[Any, Any] | None:
    """Return the dates of a column, or times in UTC and on the clock for texts of ISO 8601."""
    families: Sequence[Family] = _ALL_FAMILIES
    if column.requested is None:
        families = _FAMILIES.get(column.options.dates, _ALL_FAMILIES)
    if not families or not column.n_present:
        return None
    return iso_times(column.texts) or find_dates(column.texts, families)


def _notes(column: TextColumn, dates: LocalDates) -> list[tuple[str, str]]:
    """Return notes on spans of several days, on languages, and on years of two digits."""
    notes = []
    times = dates.times()
    if dates.span and (dates.family == "named" or dates.span != "month"):
        day = str(times[~np.isnat(times)][0]).split("T")[0]
        words = f"holds {dates.span}s, which are read as their first day"
        notes.append((words, f"{column.entry()} is read as {day}"))
    if dates.language != "English":
        notes.append((f"has names of months in {dates.language}", column.entry()))
    if dates.has_short_years:
        notes.append(("has years of two digits, which are taken for 1969 to 2068", ""))
    return notes


def _orders_mix(column: TextColumn, dates: LocalDates) -> bool:
    """Return whether all entries are dates, some day first and some month first."""
    if dates.family != "numeric":
        return False
    absent = [np.isnat(dates.times(order)) for order in ORDERS]
    valid = np.count_nonzero(~(absent[0] & absent[1]))
    length, n_present = len(column.texts), column.n_present
    return valid == n_present and all(mask.sum() > length - n_present for mask in absent)


def _open_order(dates: LocalDates, file: Conventions) -> tuple[Order, str]:
    """Return the order, and its reason, for dates that are valid in both orders."""
    decided = list(file.decided.values())
    if decided:
        order: Order = max(ORDERS, key=decided.count)
        other = next(name for name, some in file.decided.items() if some == order)
        return order, f"as in {other!r}"
    rising = [order for order in ORDERS if _rises(dates, order)]
    if len(rising) == 1:
        return rising[0], "because the dates then rise from row to row"
    if dates.mark != "/":
        return "dayfirst", f"the usual order with {dates.mark!r}"
    if file.decimal == "." and not file.has_semicolons:
        reason = "because the file has slashes in dates and no decimal commas"
        return "monthfirst", f"the American order, {reason}"
    return "dayfirst", "the European order, because the file has decimal commas or semicolons"


def _rises(dates: LocalDates, order: Order) -> bool:
    times = dates.times(order)
    steps = np.diff(times[~np.isnat(times)])
    zero = np.timedelta64(0)
    return bool((steps >= zero).all() and (steps > zero).sum() >= _FEWEST_DATES - 1)


def _zoned(utc: NDArray[np.datetime64], clock: NDArray[np.datetime64] | None) -> Any:
    """Return times (n,) in UTC as a pandas series that shows the local times ``clock`` (n,).

    Without a clock, or if it shows UTC itself, dates have no zone. A single offset becomes the zone
    of the series; several become a series of objects, each with its own offset.
    """
    import pandas as pd

    series = pd.Series(utc)
    if clock is None:
        return series
    offsets = clock - utc
    distinct = np.unique(offsets[~np.isnat(offsets)])
    if not distinct.any():
        return series
    in_utc = series.dt.tz_localize("UTC")
    if len(distinct) == 1:
        return in_utc.dt.tz_convert(timezone(distinct[0].item()))
    entries = np.full(len(utc), pd.NaT, dtype=object)
    for offset in distinct:
        rows = offsets == offset
        entries[rows] = in_utc[rows].dt.tz_convert(timezone(offset.item())).astype(object)
    return pd.Series(entries, dtype=object)

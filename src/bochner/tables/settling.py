"""Conversion of columns of texts by the conventions of the file, with remarks on guesses."""

from __future__ import annotations

from dataclasses import replace
from datetime import timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner.tables.conventions import BY_ENTRIES, BY_OPTION, Conventions
from bochner.tables.delimited import MISSING
from bochner.tables.guesses import Guess, IsoDates, PlainNumbers, Truths
from bochner.tables.local_dates import ORDERS, LocalDates, Order, other_order
from bochner.tables.local_numbers import MARKS, LocalNumbers, has_mark
from bochner.tables.options import NUMBER_KINDS, ReadOptions
from bochner.tables.quantities import Quantities
from bochner.tables.refusals import InputError
from bochner.tables.remarks import Remarks, shown
from bochner.tables.text_columns import Settled, settle_text
from bochner.tables.times_of_day import ClockTimes
from bochner.tables.units import is_currency

_MOST_WORDS = 3
"""Words that a note lists: a note stays within a few lines."""

_KINDS_BY_MARK = {".": "decimal point", ",": "decimal comma"}


def settle(
    some: Guess, conventions: Conventions, options: ReadOptions, remarks: Remarks
) -> Settled:
    """Return the values of a column, and add remarks on guesses.

    Raises InputError if entries are not of the requested kind.
    """
    found, settled = some.found, None
    _refuse_other_unit(some, options)
    if isinstance(found, PlainNumbers):
        settled = _plain_numbers(some, found, conventions, options, remarks)
    elif isinstance(found, LocalNumbers):
        settled = _local_numbers(some, found, conventions, options, remarks)
    elif isinstance(found, Quantities) and not (found.unread & _present(some)).any():
        settled = _quantities(some, found, conventions, options, remarks)
    elif isinstance(found, ClockTimes) and not (found.unread & _present(some)).any():
        settled = _times(some, found, remarks)
    elif isinstance(found, IsoDates):
        settled = Settled(_zoned(found.times, found.clock), None)
    elif isinstance(found, LocalDates):
        settled = _local_dates(some, found, conventions, remarks)
    elif isinstance(found, Truths):
        settled = _settled(found.values, None)
    if settled is None:
        return settle_text(some, options, remarks)
    markers = some.markers()
    for marker, count in markers.items():
        if marker in MISSING or marker in some.words:
            continue
        words = f"entries {marker!r}, which count as missing"
        remarks.add(some.name, f"has {words}", f"have {words}", f"{count} of {len(some.texts)}")
    if some.words:
        listed = ", ".join(repr(shown(word)) for word in some.words[:_MOST_WORDS])
        listed += ", ..." if len(some.words) > _MOST_WORDS else ""
        count = sum(markers[word] for word in some.words)
        words = f"entries {listed}, which count as missing because the other entries are numbers or"
        example = f"{count} of {len(some.texts)}; a type text, --types FILE, keeps them"
        remarks.add(some.name, f"has {words} dates", f"have {words} dates", example)
    if markers and settled.kind is None and not isinstance(found, Truths):
        is_date = isinstance(found, IsoDates | LocalDates)
        settled = replace(settled, kind="date" if is_date else "number")
    return replace(settled, words=some.words)


def _present(some: Guess) -> NDArray[np.bool_]:
    return np.array(some.cleaned.is_valid())


def _refuse_other_unit(some: Guess, options: ReadOptions) -> None:
    """Raise InputError if a column of a later file has another unit than it had at the fit."""
    unit = options.units.get(some.name)
    if unit is None or not options.recorded:
        return
    found = some.found
    now = found.unit if isinstance(found, LocalNumbers | Quantities) else ""
    if isinstance(found, ClockTimes):
        now = _time_unit(found)
    if now == unit or (not now and is_currency(unit)):
        return
    entry = shown(some.cleaned.drop_null()[0]) if len(some.cleaned.drop_null()) else "no entry"
    if isinstance(found, LocalNumbers | Quantities | PlainNumbers | ClockTimes):
        if entry == "no entry":
            return
        raise InputError(
            f"Column {some.name!r} had {_unit_words(unit)} at the fit, and has {_unit_words(now)} "
            f"here ({entry}): convert the entries, and write them as at the fit."
        )


def _unit_words(unit: str) -> str:
    return f"the unit {unit}" if unit else "no unit"


def _settled(values: NDArray[Any], kind: str | None) -> Settled:
    import pandas as pd

    return Settled(pd.Series(values), kind)


def _plain_numbers(
    some: Guess,
    found: PlainNumbers,
    conventions: Conventions,
    options: ReadOptions,
    remarks: Remarks,
) -> Settled | None:
    if found.too_long and some.kind is None and not options.recorded:  # else it would be recorded
        words = "whole numbers with more digits than floating-point numbers hold: read as text"
        remarks.add(some.name, f"has {words}", f"have {words}")
        return None
    if found.code is not None and some.kind is None and not options.recorded:
        rule, row = found.code
        entry, number = shown(some.cleaned[row]), found.numbers[row]
        if rule == "padded":
            words = "leading zeros, which numbers lose; a type text (--types FILE) keeps them"
            remarks.add(some.name, f"has {words}", f"have {words}", f"{entry} is read as {number}")
            return _settled(np.array(found.numbers), "number")
        what = "leading zeros" if rule == "zeros" else "a letter E among digits"
        words = f"codes with {what}: read as text; a type number (--types FILE) overrules that"
        remarks.add(some.name, f"has {words}", f"have {words}", entry)
        return None
    differs = conventions.decimal == "," and has_mark(some.cleaned)
    return _settled(np.array(found.numbers), _KINDS_BY_MARK["."] if differs else None)


def _local_numbers(
    some: Guess,
    found: LocalNumbers,
    conventions: Conventions,
    options: ReadOptions,
    remarks: Remarks,
) -> Settled:
    marks = found.decimals
    decimal = marks[0] if len(marks) == 1 else conventions.decimal
    asked = options.decimal if some.kind is None else (NUMBER_KINDS[some.kind] or options.decimal)
    numbers = found.read(decimal)
    for mark, row in found.rows.items():
        example = f"{shown(some.cleaned[row])} is read as {numbers[row]}"
        words = f"decimal {MARKS[mark]}" if mark == decimal else f"{MARKS[mark]} between thousands"
        if len(marks) == 2 and asked == "auto":
            other = "," if decimal == "." else "."
            words = (
                f"{MARKS[mark]} that may separate thousands or decimals: "
                f"{'decimals' if mark == decimal else 'thousands'} are assumed; decimal={other!r} "
                f"(--decimal {other}) overrules that"
            )
        if mark == "," or mark != decimal or len(marks) == 2:
            remarks.add(some.name, f"has {words}", f"have {words}", example)
    if found.unit and not isinstance(some.found, Quantities):
        words = "percentages" if found.unit == "%" else f"amounts in {found.unit}"
        example = f"{shown(some.cleaned.drop_null()[0])} is read as {numbers.drop_null()[0]}"
        remarks.add(some.name, f"holds {words}", f"hold {words}", example)
    differs = bool(marks) and decimal != conventions.decimal
    kind = _KINDS_BY_MARK[decimal] if differs else "number"
    return replace(_settled(np.array(numbers), kind), unit=found.unit or None)


def _quantities(
    some: Guess,
    found: Quantities,
    conventions: Conventions,
    options: ReadOptions,
    remarks: Remarks,
) -> Settled:
    settled = _local_numbers(some, found.numbers, conventions, options, remarks)
    numbers = settled.series.to_numpy()
    if found.unit:
        row = int(np.argmax(_present(some)))
        words = "percentages" if found.unit == "%" else f"quantities with the unit {found.unit}"
        example = f"{shown(some.cleaned[row])} is read as {numbers[row]:.15g}"
        remarks.add(some.name, f"holds {words}", f"hold {words}", example)
    for words, row in found.rules.items():
        example = f"{shown(some.cleaned[row])} is read as {numbers[row]:.15g}"
        remarks.add(some.name, f"has {words}", f"have {words}", example)
    return replace(settled, unit=found.unit)


def _time_unit(found: ClockTimes) -> str:
    return "duration" if found.is_duration else "time of day"


def _times(some: Guess, found: ClockTimes, remarks: Remarks) -> Settled:
    row = int(np.argmax(_present(some)))
    entry = shown(some.cleaned[row])
    if found.is_duration or some.kind in NUMBER_KINDS:
        words = "durations, in the unit before the first colon"
        remarks.add(some.name, f"holds {words}", f"hold {words}",
                    f"{entry} is read as {found.hours[row]:.6g}")  # fmt: skip
        return replace(_settled(found.hours, "number"), unit=_time_unit(found))
    words = (
        "times of day, which are cyclic: 23:59 is next to 0:00; a type number (--types FILE) makes "
        "them durations"
    )
    remarks.add(some.name, f"holds {words}", f"hold {words}", entry)
    return replace(_settled(found.entries(), "date"), unit=_time_unit(found))


def _local_dates(
    some: Guess, found: LocalDates, conventions: Conventions, remarks: Remarks
) -> Settled | None:
    default: tuple[Order, str] = ("dayfirst", BY_OPTION)
    order, reason = conventions.orders.get(some.name, default)
    times = found.times(order)
    if np.count_nonzero(~np.isnat(times)) < len(some.cleaned) - some.cleaned.null_count:
        return None
    if reason == BY_ENTRIES:
        row = int(np.argmax(np.isnat(found.times(other_order(order))) & ~np.isnat(times)))
        words, example = ORDERS[order], shown(some.cleaned[row])
        remarks.add(some.name, f"holds {words}", f"hold {words}", example)
    elif reason != BY_OPTION:
        other = other_order(order)
        words = (
            f"days and months in an order that no entry shows: {ORDERS[order]} is assumed, "
            f"{reason}; dates={other!r} (--dates {other}) overrules that"
        )
        example = shown(some.cleaned.drop_null()[0])
        remarks.add(some.name, f"has {words}", f"have {words}", example)
    if found.span:
        words = f"{found.span}s, which are read as their first day"
        example = f"{shown(some.cleaned.drop_null()[0])} is read as {times[~np.isnat(times)][0]}"
        if found.family == "named" or found.span == "quarter":
            remarks.add(some.name, f"holds {words}", f"hold {words}", example.split("T")[0])
    if found.has_short_years:
        words = "years of two digits, which are taken for 1969 to 2068"
        remarks.add(some.name, f"has {words}", f"have {words}")
    differs = found.family == "numeric" and order != conventions.order
    clock = found.clock(times)
    return Settled(_zoned(times, clock), order if differs else "date")


def _zoned(utc: NDArray[np.datetime64], clock: NDArray[np.datetime64] | None) -> Any:
    """Return times (n,) in UTC as a pandas series whose clocks show ``clock`` (n,).

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

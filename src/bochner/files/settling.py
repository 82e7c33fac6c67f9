"""Conversion of columns of texts by the conventions of the file, with remarks on guesses."""

from __future__ import annotations

from dataclasses import replace
from datetime import timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner.files.conventions import BY_ENTRIES, BY_OPTION, Conventions
from bochner.files.delimited import MISSING
from bochner.files.errors import InputError
from bochner.files.guesses import Guess, IsoDates, PlainNumbers, Truths
from bochner.files.local_dates import ORDERS, LocalDates, Order, other_order
from bochner.files.local_numbers import MARKS, LocalNumbers, has_mark
from bochner.files.number_units import is_currency
from bochner.files.quantities import Quantities
from bochner.files.reading_options import NUMBER_KINDS, ReadOptions
from bochner.files.remarks import Remarks, shown
from bochner.files.text_columns import Settled, settle_text
from bochner.files.times_of_day import ClockTimes

_MOST_WORDS = 3
"""Words that a note lists: a note stays within a few lines."""

_KINDS_BY_MARK = {".": "decimal point", ",": "decimal comma"}


def settle(
    column: Guess, conventions: Conventions, options: ReadOptions, remarks: Remarks
) -> Settled:
    """Return the values of a column, and add remarks on guesses.

    Raises InputError if entries are not of the requested kind.
    """
    interpretation = column.interpretation
    _refuse_other_unit(column, options)
    settled = _interpreted(column, conventions, options, remarks)
    if settled is None:
        return settle_text(column, options, remarks)
    markers = column.markers()
    for marker, count in markers.items():
        if marker in MISSING or marker in column.words:
            continue
        words = f"entries {marker!r}, which count as missing"
        remarks.add(column.name, f"has {words}", f"have {words}", f"{count} of {len(column.texts)}")
    if column.words:
        listed = ", ".join(repr(shown(word)) for word in column.words[:_MOST_WORDS])
        listed += ", ..." if len(column.words) > _MOST_WORDS else ""
        count = sum(markers[word] for word in column.words)
        words = f"entries {listed}, which count as missing because the other entries are numbers or"
        example = f"{count} of {len(column.texts)}; a type text, --types FILE, keeps them"
        remarks.add(column.name, f"has {words} dates", f"have {words} dates", example)
    if markers and settled.kind is None and not isinstance(interpretation, Truths):
        is_date = isinstance(interpretation, IsoDates | LocalDates)
        settled = replace(settled, kind="date" if is_date else "number")
    return replace(settled, words=column.words)


def _interpreted(
    column: Guess, conventions: Conventions, options: ReadOptions, remarks: Remarks
) -> Settled | None:
    """Return the values by the interpretation of a column; None if they stay text."""
    match column.interpretation:
        case PlainNumbers() as plain:
            return _plain_numbers(column, plain, conventions, options, remarks)
        case LocalNumbers() as numbers:
            return _local_numbers(column, numbers, conventions, options, remarks)
        case Quantities() as quantities if not (quantities.unread & _present(column)).any():
            return _quantities(column, quantities, conventions, options, remarks)
        case ClockTimes() as times if not (times.unread & _present(column)).any():
            return _times(column, times, options, remarks)
        case IsoDates() as dates:
            return Settled(_zoned(dates.times, dates.clock), None)
        case LocalDates() as dates:
            return _local_dates(column, dates, conventions, remarks)
        case Truths() as truths:
            return _settled(truths.values, None)
    return None


def _present(column: Guess) -> NDArray[np.bool_]:
    return np.array(column.cleaned.is_valid())


def _refuse_other_unit(column: Guess, options: ReadOptions) -> None:
    """Raise InputError if a column of a later file has another unit than it had at the fit."""
    unit = options.units.get(column.name)
    if unit is None or not options.recorded:
        return
    interpretation = column.interpretation
    now = interpretation.unit if isinstance(interpretation, LocalNumbers | Quantities) else ""
    if isinstance(interpretation, ClockTimes):
        now = _time_unit(interpretation)
    if now == unit or (not now and is_currency(unit)):
        return
    entry = shown(column.cleaned.drop_null()[0]) if len(column.cleaned.drop_null()) else "no entry"
    if isinstance(interpretation, LocalNumbers | Quantities | PlainNumbers | ClockTimes):
        if entry == "no entry":
            return
        raise InputError(
            f"Column {column.name!r} had {_unit_words(unit)} at the fit, and has "
            f"{_unit_words(now)} here ({entry}): convert the entries, and write them as at the fit."
        )


def _unit_words(unit: str) -> str:
    return f"the unit {unit}" if unit else "no unit"


def _settled(values: NDArray[np.generic], kind: str | None) -> Settled:
    import pandas as pd

    return Settled(pd.Series(values), kind)


def _plain_numbers(
    column: Guess,
    plain: PlainNumbers,
    conventions: Conventions,
    options: ReadOptions,
    remarks: Remarks,
) -> Settled | None:
    if plain.too_long and column.kind is None and not options.recorded:  # else it would be recorded
        words = "whole numbers with more digits than floating-point numbers hold: read as text"
        remarks.add(column.name, f"has {words}", f"have {words}")
        return None
    if plain.code is not None and column.kind is None and not options.recorded:
        rule, row = plain.code
        entry, number = shown(column.cleaned[row]), plain.numbers[row]
        if rule == "padded":
            words = "leading zeros, which numbers lose; a type text (--types FILE) keeps them"
            remarks.add(
                column.name, f"has {words}", f"have {words}", f"{entry} is read as {number}"
            )
            return _settled(np.array(plain.numbers), "number")
        what = "leading zeros" if rule == "zeros" else "a letter E among digits"
        words = f"codes with {what}: read as text; a type number (--types FILE) overrules that"
        remarks.add(column.name, f"has {words}", f"have {words}", entry)
        return None
    differs = conventions.decimal == "," and has_mark(column.cleaned)
    return _settled(np.array(plain.numbers), _KINDS_BY_MARK["."] if differs else None)


def _local_numbers(
    column: Guess,
    local: LocalNumbers,
    conventions: Conventions,
    options: ReadOptions,
    remarks: Remarks,
) -> Settled:
    marks = local.decimals
    decimal = marks[0] if len(marks) == 1 else conventions.decimal
    requested_decimal = (
        options.decimal if column.kind is None else (NUMBER_KINDS[column.kind] or options.decimal)
    )
    numbers = local.read(decimal)
    for mark, row in local.rows.items():
        example = f"{shown(column.cleaned[row])} is read as {numbers[row]}"
        words = f"decimal {MARKS[mark]}" if mark == decimal else f"{MARKS[mark]} between thousands"
        if len(marks) == 2 and requested_decimal == "auto":
            other = "," if decimal == "." else "."
            words = (
                f"{MARKS[mark]} that may separate thousands or decimals: "
                f"{'decimals' if mark == decimal else 'thousands'} are assumed; decimal={other!r} "
                f"(--decimal {other}) overrules that"
            )
        if mark == "," or mark != decimal or len(marks) == 2:
            remarks.add(column.name, f"has {words}", f"have {words}", example)
    if local.unit and not isinstance(column.interpretation, Quantities):
        words = "percentages" if local.unit == "%" else f"amounts in {local.unit}"
        example = f"{shown(column.cleaned.drop_null()[0])} is read as {numbers.drop_null()[0]}"
        remarks.add(column.name, f"holds {words}", f"hold {words}", example)
    differs = bool(marks) and decimal != conventions.decimal
    kind = _KINDS_BY_MARK[decimal] if differs else "number"
    return replace(_settled(np.array(numbers), kind), unit=local.unit or None)


def _quantities(
    column: Guess,
    quantities: Quantities,
    conventions: Conventions,
    options: ReadOptions,
    remarks: Remarks,
) -> Settled:
    settled = _local_numbers(column, quantities.numbers, conventions, options, remarks)
    numbers = settled.series.to_numpy()
    if quantities.unit:
        row = int(np.argmax(_present(column)))
        words = (
            "percentages"
            if quantities.unit == "%"
            else f"quantities with the unit {quantities.unit}"
        )
        example = f"{shown(column.cleaned[row])} is read as {numbers[row]:.15g}"
        remarks.add(column.name, f"holds {words}", f"hold {words}", example)
    for words, row in quantities.rules.items():
        example = f"{shown(column.cleaned[row])} is read as {numbers[row]:.15g}"
        remarks.add(column.name, f"has {words}", f"have {words}", example)
    return replace(settled, unit=quantities.unit)


def _time_unit(times: ClockTimes) -> str:
    return "duration" if times.is_duration else "time of day"


def _times(column: Guess, times: ClockTimes, options: ReadOptions, remarks: Remarks) -> Settled:
    row = int(np.argmax(_present(column)))
    entry = shown(column.cleaned[row])
    if times.is_duration or column.kind in NUMBER_KINDS:
        words = "durations, in the unit before the first colon"
        remarks.add(column.name, f"holds {words}", f"hold {words}",
                    f"{entry} is read as {times.hours[row]:.6g}")  # fmt: skip
        return replace(_settled(times.hours, "number"), unit=_time_unit(times))
    words = "times of day, which are cyclic: 23:59 is next to 0:00"
    if not options.recorded:
        words += "; a type number (--types FILE) makes them durations"
    remarks.add(column.name, f"holds {words}", f"hold {words}", entry)
    return replace(_settled(times.entries(), "date"), unit=_time_unit(times))


def _local_dates(
    column: Guess, dates: LocalDates, conventions: Conventions, remarks: Remarks
) -> Settled | None:
    default: tuple[Order, str] = ("dayfirst", BY_OPTION)
    order, reason = conventions.orders.get(column.name, default)
    times = dates.times(order)
    if np.count_nonzero(~np.isnat(times)) < len(column.cleaned) - column.cleaned.null_count:
        return None
    if reason == BY_ENTRIES:
        row = int(np.argmax(np.isnat(dates.times(other_order(order))) & ~np.isnat(times)))
        words, example = ORDERS[order], shown(column.cleaned[row])
        remarks.add(column.name, f"holds {words}", f"hold {words}", example)
    elif reason != BY_OPTION:
        other = other_order(order)
        words = (
            f"days and months in an order that no entry shows: {ORDERS[order]} is assumed, "
            f"{reason}; dates={other!r} (--dates {other}) overrules that"
        )
        example = shown(column.cleaned.drop_null()[0])
        remarks.add(column.name, f"has {words}", f"have {words}", example)
    if dates.span:
        words = f"{dates.span}s, which are read as their first day"
        example = f"{shown(column.cleaned.drop_null()[0])} is read as {times[~np.isnat(times)][0]}"
        if dates.family == "named" or dates.span == "quarter":
            remarks.add(column.name, f"holds {words}", f"hold {words}", example.split("T")[0])
    if dates.has_short_years:
        words = "years of two digits, which are taken for 1969 to 2068"
        remarks.add(column.name, f"has {words}", f"have {words}")
    differs = dates.family == "numeric" and order != conventions.order
    clock = dates.clock(times)
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

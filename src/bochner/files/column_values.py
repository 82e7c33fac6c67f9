"""Conversion of text columns to values by the conventions of the file, with remarks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timezone
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.names import Remarks, shown
from bochner.files.column_types import (
    BY_ENTRIES,
    BY_OPTION,
    MISSING,
    Conventions,
    Guess,
    IsoDates,
    PlainNumbers,
    Truths,
    guess,
    looks_otherwise,
)
from bochner.files.errors import InputError
from bochner.files.local_dates import ORDERS, LocalDates, Order, other_order
from bochner.files.local_numbers import (
    MARKS,
    SHARE_READ,
    LocalNumbers,
    has_mark,
    is_currency,
    numbers_among,
)
from bochner.files.read_options import DATE_KINDS, NUMBER_KINDS, ReadOptions

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_MOST_WORDS = 3
"""Words that a note lists: a note stays within a few lines."""

_HALF = 0.5
"""Smallest share of numbers or dates at which text is a column with errors, not an identifier."""

_SAMPLE_SIZE = 1000
"""Entries of a text column that are tested first for numbers, dates and levels."""

_MOST_LEVELS = 256
"""Levels of a text column up to which they are compared, the most that `TableEncoder` encodes."""

_KINDS_BY_MARK = {".": "decimal point", ",": "decimal comma"}


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Values (n,) of a column, and its kind, recorded because a later file might not show it.

    ``is_mixed`` is for text that seems to hold numbers or dates with errors. ``unit`` is that of
    quantities, "" without a unit, and None for other columns. ``words`` are entries that count as
    missing in this column.
    """

    series: pd.Series
    kind: str | None
    is_mixed: bool = False
    unit: str | None = None
    words: tuple[str, ...] = ()


def column_values(
    column: Guess, conventions: Conventions, options: ReadOptions, remarks: Remarks
) -> Values:
    """Return the values of a column, and add remarks on guesses.

    Raises InputError if entries are not of the requested kind.
    """
    _refuse_other_unit(column, options)
    values = _by_type(column, conventions, options, remarks)
    if values is None:
        return _text(column, options, remarks)
    markers = column.markers()
    for marker, count in markers.items():
        if marker not in MISSING and marker not in column.words:
            words = f"has entries {marker!r}, which count as missing"
            remarks.add(column.name, words, f"{count} of {len(column.texts)}")
    if column.words:
        listed = ", ".join(repr(shown(word)) for word in column.words[:_MOST_WORDS])
        listed += ", ..." if len(column.words) > _MOST_WORDS else ""
        count = sum(markers[word] for word in column.words)
        remarks.add(
            column.name,
            f"has entries {listed}, which count as missing because the other entries are numbers "
            "or dates",
            f"{count} of {len(column.texts)}; a type text, types=, --types, keeps them",
        )
    if markers and values.kind is None and not isinstance(column.type, Truths):
        is_date = isinstance(column.type, IsoDates | LocalDates)
        values = replace(values, kind="date" if is_date else "number")
    return replace(values, words=column.words)


def _by_type(
    column: Guess, conventions: Conventions, options: ReadOptions, remarks: Remarks
) -> Values | None:
    """Return values of the guessed type of a column, or None if the column stays text."""
    match column.type:
        case PlainNumbers() as plain:
            return _plain_numbers(column, plain, conventions, options, remarks)
        case LocalNumbers() as numbers:
            return _local_numbers(column, numbers, conventions, options, remarks)
        case IsoDates() as dates:
            return Values(_zoned(dates.times, dates.clock), None)
        case LocalDates() as dates:
            return _local_dates(column, dates, conventions, remarks)
        case Truths() as truths:
            return _values(truths.values, None)
    return None


def _present(column: Guess) -> NDArray[np.bool_]:
    return np.array(column.cleaned.is_valid())


def _first(column: Guess) -> str:
    """Return the first entry of a column as shown in a note."""
    present = column.cleaned.drop_null()
    return shown(present[0]) if len(present) else "no entry"


def _values(values: NDArray[np.generic], kind: str | None, unit: str | None = None) -> Values:
    import pandas as pd

    return Values(pd.Series(values), kind, unit=unit)


def _refuse_other_unit(column: Guess, options: ReadOptions) -> None:
    """Raise InputError if the numbers of a column have another unit than at the fit."""
    unit, some = options.units.get(column.name), column.type
    if unit is None or not options.recorded or not len(column.cleaned.drop_null()):
        return
    if not isinstance(some, LocalNumbers | PlainNumbers):
        return
    now = some.unit if isinstance(some, LocalNumbers) else ""
    if now != unit and (now or not is_currency(unit)):
        then, here = (f"the unit {each}" if each else "no unit" for each in (unit, now))
        raise InputError(
            f"Column {column.name!r} had {then} at the fit, and has {here} here "
            f"({_first(column)}): convert the entries, and write them as at the fit."
        )


def _plain_numbers(
    column: Guess,
    plain: PlainNumbers,
    conventions: Conventions,
    options: ReadOptions,
    remarks: Remarks,
) -> Values | None:
    is_free = column.kind is None and not options.recorded  # A recorded decision stands
    if plain.too_long and is_free:
        words = "has whole numbers with more digits than floating-point numbers hold: read as text"
        remarks.add(column.name, words)
        return None
    if plain.code is not None and is_free:
        rule, row = plain.code
        entry = shown(column.cleaned[row])
        if rule == "padded":
            words = "has leading zeros, which numbers lose; a type text (--types) keeps them"
            remarks.add(column.name, words, f"{entry} is read as {plain.numbers[row]}")
            return _values(np.array(plain.numbers), "number")
        what = "leading zeros" if rule == "zeros" else "a letter E among digits"
        remarks.add(
            column.name,
            f"has codes with {what}: read as text; a type number (types=, --types) overrules that",
            entry,
        )
        return None
    differs = conventions.decimal == "," and has_mark(column.cleaned)
    return _values(np.array(plain.numbers), _KINDS_BY_MARK["."] if differs else None)


def _local_numbers(
    column: Guess,
    local: LocalNumbers,
    conventions: Conventions,
    options: ReadOptions,
    remarks: Remarks,
) -> Values:
    marks = local.decimals
    decimal = marks[0] if len(marks) == 1 else conventions.decimal
    requested = options.decimal
    if column.kind is not None:
        requested = NUMBER_KINDS[column.kind] or options.decimal
    numbers = local.read(decimal)
    for mark, row in local.rows.items():
        words = f"decimal {MARKS[mark]}" if mark == decimal else f"{MARKS[mark]} between thousands"
        if len(marks) == 2 and requested == "auto":
            other = "," if decimal == "." else "."
            words = (
                f"{MARKS[mark]} that may separate thousands or decimals: "
                f"{'decimals' if mark == decimal else 'thousands'} are assumed; decimal={other!r} "
                f"(--decimal {other}) overrules that"
            )
        if mark == "," or mark != decimal or len(marks) == 2:
            example = f"{shown(column.cleaned[row])} is read as {numbers[row]}"
            remarks.add(column.name, f"has {words}", example)
    if local.unit:
        words = "percentages" if local.unit == "%" else f"amounts in {local.unit}"
        example = f"{_first(column)} is read as {numbers.drop_null()[0]}"
        remarks.add(column.name, f"holds {words}", example)
    differs = bool(marks) and decimal != conventions.decimal
    kind = _KINDS_BY_MARK[decimal] if differs else "number"
    return _values(np.array(numbers), kind, local.unit or None)


def _local_dates(
    column: Guess, dates: LocalDates, conventions: Conventions, remarks: Remarks
) -> Values | None:
    default: tuple[Order, str] = ("dayfirst", BY_OPTION)
    order, reason = conventions.orders.get(column.name, default)
    times, other = dates.times(order), other_order(order)
    if np.count_nonzero(~np.isnat(times)) < len(column.cleaned) - column.cleaned.null_count:
        return None
    if reason == BY_ENTRIES:
        row = int(np.argmax(np.isnat(dates.times(other)) & ~np.isnat(times)))
        remarks.add(column.name, f"holds {ORDERS[order]}", shown(column.cleaned[row]))
    elif reason != BY_OPTION:
        words = (
            f"has days and months in an order that no entry shows: {ORDERS[order]} is assumed, "
            f"{reason}; dates={other!r} (--dates {other}) overrules that"
        )
        remarks.add(column.name, words, _first(column))
    if dates.span and (dates.family == "named" or dates.span != "month"):
        day = str(times[~np.isnat(times)][0]).split("T")[0]
        words = f"holds {dates.span}s, which are read as their first day"
        remarks.add(column.name, words, f"{_first(column)} is read as {day}")
    if dates.has_short_years:
        words = "has years of two digits, which are taken for 1969 to 2068"
        remarks.add(column.name, words)
    differs = dates.family == "numeric" and order != conventions.order
    return Values(_zoned(times, dates.clock(times)), order if differs else "date")


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


def _text(column: Guess, options: ReadOptions, remarks: Remarks) -> Values:
    """Return a text column, as categories if the encoder would misread its texts."""
    import pandas as pd

    if column.kind not in (None, "text"):
        raise _refusal(column, options)
    if column.padded:
        remarks.add(column.name, "has white space around entries, which is removed")
    series = pd.Series(column.texts.to_pandas())
    if column.kind == "text":
        is_requested = column.name in options.types and not options.recorded
        return Values(series.astype("category") if is_requested else series, "text")
    if _are_excluded(column, options, remarks):
        return Values(series.astype("category"), "text", is_mixed=True)
    if _has_errors(column, remarks):
        return Values(series, "text", is_mixed=True)
    levels = _levels(column.texts)
    return Values(series, "text" if levels is None or looks_otherwise(levels) else None)


def _are_excluded(column: Guess, options: ReadOptions, remarks: Remarks) -> bool:
    """Check whether text holds numbers or dates that the options exclude, and add a remark."""
    if isinstance(column.type, LocalDates) and _orders_mix(column, column.type):
        times = {order: ~np.isnat(column.type.times(order)) for order in ORDERS}
        rows = (int(np.argmax(times[order] & ~times[other_order(order)])) for order in ORDERS)
        words = "holds dates with days before months and months before days: read as text"
        remarks.add(column.name, words, ", ".join(shown(column.cleaned[row]) for row in rows))
        return True
    if options.decimal == "auto" and options.dates == "auto":
        return False
    free = guess(column.name, column.texts, None, ReadOptions()).type
    if free is None or (isinstance(free, PlainNumbers) and free.code is not None):
        return False
    numbers = isinstance(free, PlainNumbers | LocalNumbers)
    option = f"decimal={options.decimal!r}" if numbers else f"dates={options.dates!r}"
    words = f"is text, because {option} does not allow for its entries"
    remarks.add(column.name, words, _first(column))
    return True


def _orders_mix(column: Guess, dates: LocalDates) -> bool:
    """Return whether all entries are dates, some day first and some month first."""
    if dates.family != "numeric":
        return False
    absent = [np.isnat(dates.times(order)) for order in ORDERS]
    n_present = len(column.cleaned) - column.cleaned.null_count
    valid = np.count_nonzero(~(absent[0] & absent[1]))
    return valid == n_present and all(mask.sum() > len(mask) - n_present for mask in absent)


def _has_errors(column: Guess, remarks: Remarks) -> bool:
    """Return whether at least half of the texts are numbers or dates; add a remark if most are."""
    texts = column.cleaned
    if isinstance(column.type, LocalDates):
        what, good = "dates", ~np.isnat(column.type.times(column.type.orders()[0]))
    else:
        sample = texts.slice(0, _SAMPLE_SIZE)
        if numbers_among(sample).sum() < _HALF * (len(sample) - sample.null_count):
            return False
        what, good = "numbers", numbers_among(texts)
    n_good, n_present = good.sum(), len(texts) - texts.null_count
    if SHARE_READ * n_present <= n_good < n_present:
        n_bad, example = _others(column, good)
        words = f"is text, because {n_bad} of {n_present} entries are no {what}"
        remarks.add(column.name, words, example)
    return bool(_HALF * n_present <= n_good < n_present)


def _others(column: Guess, good: NDArray[np.bool_]) -> tuple[int, str]:
    """Return the number of present entries outside the mask ``good``, and the first such entry."""
    bad = _present(column) & ~good
    row = int(np.argmax(bad))
    return int(bad.sum()), f"row {row + 1}: {shown(column.cleaned[row])!r}"


def _refusal(column: Guess, options: ReadOptions) -> InputError:
    """Return the error for entries that do not have the requested kind of the column."""
    kind, some = str(column.kind), column.type
    if kind in NUMBER_KINDS:
        decimal = NUMBER_KINDS[kind] or options.decimal
        marks = (decimal,) if decimal != "auto" else (".", ",")
        good = numbers_among(column.cleaned, marks, options.units.get(column.name, ""))
        expected = "numbers" if decimal == "auto" else f"numbers with decimal {MARKS[decimal]}"
        if unit := options.units.get(column.name):
            expected = f"numbers with the unit {unit}, as at the fit"
    else:
        wanted = DATE_KINDS[kind] or options.dates
        order = next((order for order in ORDERS if order == wanted), None)
        expected = "dates" if order is None else f"dates with {ORDERS[order]}"
        good = np.zeros(len(column.cleaned), dtype=bool)
        if isinstance(some, LocalDates):
            good = ~np.isnat(some.times(order or some.orders()[0]))
    n_bad, example = _others(column, good)
    advice = "or name them by missing= (--missing)"
    if not options.recorded:
        advice = f"{advice.removeprefix('or ')}, or give the column another type (types=, --types)"
    return InputError(
        f"Column {column.name!r} should hold {expected}, but {n_bad} of "
        f"{len(column.cleaned) - column.cleaned.null_count} entries are something else "
        f"({example}). Correct them, leave unknown ones empty, {advice}."
    )


def _levels(texts: pa.Array) -> pa.Array | None:
    """Return the distinct texts of a column, None if they are many."""
    import pyarrow.compute as pc

    if len(pc.unique(texts.slice(0, _SAMPLE_SIZE))) > _MOST_LEVELS:
        return None
    levels = pc.unique(texts).drop_null()
    return levels if len(levels) <= _MOST_LEVELS else None

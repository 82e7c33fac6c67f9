"""Columns read as text, including texts that look like numbers, with remarks on oddities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bochner.files.errors import InputError
from bochner.files.guesses import Guess, PlainNumbers, guess, looks_otherwise
from bochner.files.local_dates import ORDERS, LocalDates, other_order
from bochner.files.local_numbers import MARKS, SHARE_READ, LocalNumbers, numbers_among
from bochner.files.quantities import MixedUnits, Quantities
from bochner.files.reading_options import DATE_KINDS, NUMBER_KINDS, ReadOptions
from bochner.files.remarks import Remarks, shown
from bochner.files.times_of_day import ClockTimes

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_HALF = 0.5
"""Share of numbers or dates from which text is not an identifier, but a column with errors."""

_SAMPLE_SIZE = 1000
"""Entries of a text column that are looked at first, for that share and for its levels."""

_MOST_LEVELS = 256
"""Levels of a text column up to which they are compared, the most that `TableEncoder` encodes."""


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """A column (n,), and the kind to record, since another file might not show it.

    ``is_mixed`` is for text that seems to hold numbers or dates with errors. ``unit`` is that of
    quantities, "" without a unit, and None for other columns. ``words`` are entries that count as
    missing in this column.
    """

    series: pd.Series
    kind: str | None
    is_mixed: bool = False
    unit: str | None = None
    words: tuple[str, ...] = ()


def settle_text(column: Guess, options: ReadOptions, remarks: Remarks) -> Settled:
    """Return a column of text, as categories if the encoder would take it for something else."""
    import pandas as pd

    if column.kind not in (None, "text"):
        raise _refusal(column, options)
    if column.padded:
        words = "white space around entries, which is removed"
        remarks.add(column.name, f"has {words}", f"have {words}")
    series = pd.Series(column.texts.to_pandas())
    if column.kind == "text":
        is_requested = column.name in options.types and not options.recorded
        return Settled(series.astype("category") if is_requested else series, "text")
    if _remark_on_looks(column, options, remarks):
        return Settled(series.astype("category"), "text", is_mixed=True)
    if isinstance(column.interpretation, MixedUnits):
        rows = column.interpretation.rows
        words = f"text, because its numbers have several units, or none: {_listed_units(rows)}"
        example = ", ".join(f"row {row + 1}: {shown(column.cleaned[row])}" for row in rows.values())
        remarks.add(column.name, f"is {words}", f"are {words}", example)
        return Settled(series.astype("category"), "text", is_mixed=True)
    if _has_errors(column, remarks):
        return Settled(series, "text", is_mixed=True)
    levels = _levels(column.texts)
    if levels is not None:
        _remark_on_case(column.name, levels.to_pylist(), remarks)
    return Settled(series, "text" if levels is None or looks_otherwise(levels) else None)


def _remark_on_looks(column: Guess, options: ReadOptions, remarks: Remarks) -> bool:
    """Check whether text holds numbers or dates that the options exclude, and add a remark."""
    if isinstance(column.interpretation, LocalDates) and _orders_mix(column, column.interpretation):
        words = "dates with days before months and months before days: read as text"
        rows = (int(np.argmax(~np.isnat(column.interpretation.times(order))
                              & np.isnat(column.interpretation.times(other_order(order)))))
                for order in ORDERS)  # fmt: skip
        example = ", ".join(shown(column.cleaned[row]) for row in rows)
        remarks.add(column.name, f"holds {words}", f"hold {words}", example)
        return True
    if options.decimal == "auto" and options.dates == "auto":
        return False
    free = guess(column.name, column.texts, None, ReadOptions()).interpretation
    if free is None or isinstance(free, MixedUnits):
        return False
    if isinstance(free, PlainNumbers) and free.code is not None:
        return False
    if options.recorded and isinstance(free, Quantities | ClockTimes):
        return False
    numbers = isinstance(free, PlainNumbers | LocalNumbers | Quantities)
    option = f"decimal={options.decimal!r}" if numbers else f"dates={options.dates!r}"
    words = f"text, because {option} does not allow for its entries"
    remarks.add(column.name, f"is {words}", f"are {words}", shown(column.cleaned.drop_null()[0]))
    return True


def _orders_mix(column: Guess, dates: LocalDates) -> bool:
    """Return whether all entries are dates, but in different orders of day and month."""
    if dates.family != "numeric":
        return False
    absent = [np.isnat(dates.times(order)) for order in ORDERS]
    n_present = len(column.cleaned) - column.cleaned.null_count
    valid = np.count_nonzero(~(absent[0] & absent[1]))
    return valid == n_present and all(mask.sum() > len(mask) - n_present for mask in absent)


def _has_errors(column: Guess, remarks: Remarks) -> bool:
    """Check whether half of a text column are numbers or dates, and add a remark if most are."""
    texts = column.cleaned
    if isinstance(column.interpretation, LocalDates):
        kind_name, good = (
            "dates",
            ~np.isnat(column.interpretation.times(column.interpretation.orders()[0])),
        )
    else:
        sample = texts.slice(0, _SAMPLE_SIZE)
        if numbers_among(sample).sum() < _HALF * (len(sample) - sample.null_count):
            return False
        kind_name, good = "numbers", numbers_among(texts)
    n_good, n_present = good.sum(), len(texts) - texts.null_count
    if SHARE_READ * n_present <= n_good < n_present:
        n_bad, example = _others(column, good)
        words = f"text, because {n_bad} of {n_present} entries are no {kind_name}"
        remarks.add(column.name, f"is {words}", f"are {words}", example)
    return bool(_HALF * n_present <= n_good < n_present)


def _others(column: Guess, good: NDArray[np.bool_]) -> tuple[int, str]:
    """Return the number of present entries that are not good, and the first one with its row."""
    bad = np.array(column.cleaned.is_valid()) & ~good
    row = int(np.argmax(bad))
    return int(bad.sum()), f"row {row + 1}: {shown(column.cleaned[row])!r}"


def _refusal(column: Guess, options: ReadOptions) -> InputError:
    assert column.kind is not None
    if column.kind in NUMBER_KINDS:
        decimal = NUMBER_KINDS[column.kind] or options.decimal
        good = numbers_among(column.cleaned, (decimal,) if decimal != "auto" else (".", ","))
        expected = "numbers" if decimal == "auto" else f"numbers with decimal {MARKS[decimal]}"
        if unit := options.units.get(column.name):
            expected = f"numbers with the unit {unit}, as at the fit"
        if isinstance(column.interpretation, MixedUnits):
            rows = column.interpretation.rows
            examples = (f"row {row + 1}: {shown(column.cleaned[row])}" for row in rows.values())
            return InputError(
                f"Column {column.name!r} should hold {expected}, but has several units, or none: "
                f"{_listed_units(rows)} ({', '.join(examples)}). Convert its entries to one unit."
            )
        if isinstance(column.interpretation, Quantities | ClockTimes):
            good = ~column.interpretation.unread
    else:
        interpretation = column.interpretation
        wanted = DATE_KINDS[column.kind] or options.dates
        order = next((order for order in ORDERS if order == wanted), None)
        expected = "dates" if order is None else f"dates with {ORDERS[order]}"
        good = np.zeros(len(column.cleaned), dtype=bool)
        if isinstance(interpretation, LocalDates):
            good = ~np.isnat(interpretation.times(order or interpretation.orders()[0]))
    n_bad, example = _others(column, good)
    n_present = len(column.cleaned) - column.cleaned.null_count
    return InputError(
        f"Column {column.name!r} should hold {expected}, but {n_bad} of {n_present} entries are "
        f"something else ({example}). Correct them, leave unknown ones empty, {_advice(options)}."
    )


def _advice(options: ReadOptions) -> str:
    """Return the options that read other entries; the fit has decided the type of a later file."""
    named = "name them by missing= (--missing)"
    if options.recorded:
        return f"or {named}"
    return f"{named}, or give the column another type (--types FILE)"


def _listed_units(rows: Mapping[str, int]) -> str:
    return " and ".join(rows)


def _levels(texts: pa.Array) -> pa.Array | None:
    """Return the distinct texts of a column, None if they are many."""
    import pyarrow.compute as pc

    if len(pc.unique(texts.slice(0, _SAMPLE_SIZE))) > _MOST_LEVELS:
        return None
    levels = pc.unique(texts).drop_null()
    return levels if len(levels) <= _MOST_LEVELS else None


def _remark_on_case(name: str, levels: list[str], remarks: Remarks) -> None:
    folded: dict[str, str] = {}
    for level in levels:
        other = folded.setdefault(level.casefold(), level)
        if other != level:
            words = "levels that differ only by case, and are kept apart"
            example = f"{shown(other)!r} and {shown(level)!r}"
            remarks.add(name, f"has {words}", f"have {words}", example)
            return

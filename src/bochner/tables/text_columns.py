"""Columns read as text, including texts that look like numbers, with remarks on oddities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner.tables.guesses import Guess, PlainNumbers, guess, looks_otherwise
from bochner.tables.local_dates import ORDERS, LocalDates, other_order
from bochner.tables.local_numbers import MARKS, SHARE_READ, LocalNumbers, numbers_among
from bochner.tables.options import DATE_KINDS, NUMBER_KINDS, ReadOptions
from bochner.tables.quantities import MixedUnits, Quantities
from bochner.tables.refusals import InputError
from bochner.tables.remarks import Remarks, shown
from bochner.tables.times_of_day import ClockTimes

if TYPE_CHECKING:
    import pandas as pd

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


def settle_text(some: Guess, options: ReadOptions, remarks: Remarks) -> Settled:
    """Return a column of text, as categories if the encoder would take it for something else."""
    import pandas as pd

    if some.kind not in (None, "text"):
        raise _refusal(some, options)
    if some.padded:
        words = "white space around entries, which is removed"
        remarks.add(some.name, f"has {words}", f"have {words}")
    series = pd.Series(some.texts.to_pandas())
    if some.kind == "text":
        asked = some.name in options.types and not options.recorded
        return Settled(series.astype("category") if asked else series, "text")
    if _remark_on_looks(some, options, remarks):
        return Settled(series.astype("category"), "text", is_mixed=True)
    if isinstance(some.found, MixedUnits):
        rows = some.found.rows
        words = f"text, because its numbers have several units, or none: {_listed_units(rows)}"
        example = ", ".join(f"row {row + 1}: {shown(some.cleaned[row])}" for row in rows.values())
        remarks.add(some.name, f"is {words}", f"are {words}", example)
        return Settled(series.astype("category"), "text", is_mixed=True)
    if _has_errors(some, remarks):
        return Settled(series, "text", is_mixed=True)
    levels = _levels(some.texts)
    if levels is not None:
        _remark_on_case(some.name, levels.to_pylist(), remarks)
    return Settled(series, "text" if levels is None or looks_otherwise(levels) else None)


def _remark_on_looks(some: Guess, options: ReadOptions, remarks: Remarks) -> bool:
    """Check whether text holds numbers or dates that the options exclude, and add a remark."""
    if isinstance(some.found, LocalDates) and _orders_mix(some, some.found):
        words = "dates with days before months and months before days: read as text"
        rows = (int(np.argmax(~np.isnat(some.found.times(order))
                              & np.isnat(some.found.times(other_order(order)))))
                for order in ORDERS)  # fmt: skip
        example = ", ".join(shown(some.cleaned[row]) for row in rows)
        remarks.add(some.name, f"holds {words}", f"hold {words}", example)
        return True
    if options.decimal == "auto" and options.dates == "auto":
        return False
    free = guess(some.name, some.texts, None, ReadOptions()).found
    if free is None or isinstance(free, MixedUnits):
        return False
    if isinstance(free, PlainNumbers) and free.code is not None:
        return False
    if options.recorded and isinstance(free, Quantities | ClockTimes):
        return False
    numbers = isinstance(free, PlainNumbers | LocalNumbers | Quantities)
    given = f"decimal={options.decimal!r}" if numbers else f"dates={options.dates!r}"
    words = f"text, because {given} does not allow for its entries"
    remarks.add(some.name, f"is {words}", f"are {words}", shown(some.cleaned.drop_null()[0]))
    return True


def _orders_mix(some: Guess, found: LocalDates) -> bool:
    """Tell whether all entries are dates, but in different orders of day and month."""
    if found.family != "numeric":
        return False
    absent = [np.isnat(found.times(order)) for order in ORDERS]
    n_present = len(some.cleaned) - some.cleaned.null_count
    valid = np.count_nonzero(~(absent[0] & absent[1]))
    return valid == n_present and all(mask.sum() > len(mask) - n_present for mask in absent)


def _has_errors(some: Guess, remarks: Remarks) -> bool:
    """Check whether half of a text column are numbers or dates, and add a remark if most are."""
    texts = some.cleaned
    if isinstance(some.found, LocalDates):
        what, good = "dates", ~np.isnat(some.found.times(some.found.orders()[0]))
    else:
        sample = texts.slice(0, _SAMPLE_SIZE)
        if numbers_among(sample).sum() < _HALF * (len(sample) - sample.null_count):
            return False
        what, good = "numbers", numbers_among(texts)
    n_good, n_present = good.sum(), len(texts) - texts.null_count
    if SHARE_READ * n_present <= n_good < n_present:
        n_bad, example = _others(some, good)
        words = f"text, because {n_bad} of {n_present} entries are no {what}"
        remarks.add(some.name, f"is {words}", f"are {words}", example)
    return bool(_HALF * n_present <= n_good < n_present)


def _others(some: Guess, good: NDArray[np.bool_]) -> tuple[int, str]:
    """Return the number of present entries that are not good, and the first one with its row."""
    bad = np.array(some.cleaned.is_valid()) & ~good
    row = int(np.argmax(bad))
    return int(bad.sum()), f"row {row + 1}: {shown(some.cleaned[row])!r}"


def _refusal(some: Guess, options: ReadOptions) -> InputError:
    assert some.kind is not None
    if some.kind in NUMBER_KINDS:
        decimal = NUMBER_KINDS[some.kind] or options.decimal
        good = numbers_among(some.cleaned, (decimal,) if decimal != "auto" else (".", ","))
        what = "numbers" if decimal == "auto" else f"numbers with decimal {MARKS[decimal]}"
        if unit := options.units.get(some.name):
            what = f"numbers with the unit {unit}, as at the fit"
        if isinstance(some.found, MixedUnits):
            rows = some.found.rows
            examples = (f"row {row + 1}: {shown(some.cleaned[row])}" for row in rows.values())
            return InputError(
                f"Column {some.name!r} should hold {what}, but has several units, or none: "
                f"{_listed_units(rows)} ({', '.join(examples)}). Convert its entries to one unit."
            )
        if isinstance(some.found, Quantities | ClockTimes):
            good = ~some.found.unread
    else:
        found = some.found
        wanted = DATE_KINDS[some.kind] or options.dates
        order = next((order for order in ORDERS if order == wanted), None)
        what = "dates" if order is None else f"dates with {ORDERS[order]}"
        good = np.zeros(len(some.cleaned), dtype=bool)
        if isinstance(found, LocalDates):
            good = ~np.isnat(found.times(order or found.orders()[0]))
    n_bad, example = _others(some, good)
    n_present = len(some.cleaned) - some.cleaned.null_count
    return InputError(
        f"Column {some.name!r} should hold {what}, but {n_bad} of {n_present} entries are none "
        f"({example}). Correct them, leave unknown ones empty, name them by missing= "
        "(--missing), or give the column another type (--types FILE)."
    )


def _listed_units(rows: Mapping[str, int]) -> str:
    return " and ".join(rows)


def _levels(texts: Any) -> Any | None:
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

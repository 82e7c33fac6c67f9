"""Guesses of the type of a column of texts: numbers, dates, truth values or text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner.tables.delimited import MISSING
from bochner.tables.local_dates import Family, LocalDates, dates_among, find_dates, iso_times
from bochner.tables.local_numbers import (
    LocalNumbers,
    find_numbers,
    has_points,
    loses_digits,
    may_hold_numbers,
    plain_numbers,
)
from bochner.tables.options import DATE_KINDS, NUMBER_KINDS, ReadOptions

if TYPE_CHECKING:
    import pyarrow as pa

MARKERS = (
    *dict.fromkeys(map(str.lower, MISSING)), "n.a.", "missing", "-", "--", "---", "\u2013",
    "\u2014", "?", ".", "..", ":", "0000-00-00", "0000-00-00 00:00:00",
    "#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!",
)  # fmt: skip
"""Lower-case markers of missing numbers or dates, in addition to the general markers: dashes, marks
of statistical offices, dates of MySQL, and errors of Excel."""

_FAMILIES: Mapping[str, tuple[Family, ...]] = {
    "auto": ("iso", "month", "numeric", "named"),
    "iso": ("iso", "month"),
    "dayfirst": ("iso", "month", "numeric", "named"),
    "monthfirst": ("iso", "month", "numeric", "named"),
    "none": (),
}
"""Patterns of dates that are tried, by `ReadOptions.dates`."""

_FORCED_FAMILIES: tuple[Family, ...] = ("iso", "month", "numeric", "named", "compact")
"""Patterns in a column that is said to hold dates: 20211231 would be a number elsewhere."""

_TRUTHS: Mapping[str, bool] = {
    "True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False,
}  # fmt: skip
"""Truth values, as `pandas.read_csv` reads them."""


@dataclass(frozen=True, slots=True, eq=False)
class PlainNumbers:
    """Numbers (n,) as programs write them, an Arrow array.

    ``too_long`` is for whole numbers whose digits float64 would lose.
    """

    numbers: Any
    too_long: bool


@dataclass(frozen=True, slots=True, eq=False)
class Truths:
    """Truth values (n,), None where missing."""

    values: NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class IsoDates:
    """Times (n,) in UTC of ISO 8601, NaT where missing.

    ``clock`` (n,) is the local time; None if the texts have no offset from UTC.
    """

    times: NDArray[np.datetime64]
    clock: NDArray[np.datetime64] | None = None


Interpretation = PlainNumbers | LocalNumbers | Truths | IsoDates | LocalDates


@dataclass(frozen=True, slots=True, eq=False)
class Guess:
    """Guessed type of a column of texts, before the conventions of the file are decided.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : str or None
        The requested kind, None if it is guessed.
    texts : Arrow array (n,)
        Texts without white space around them, null where missing.
    cleaned : Arrow array (n,)
        The same with null in place of `MARKERS`.
    interpretation : Interpretation or None
        Numbers or dates that the cleaned texts stand for, None for text.
    padded : bool
        Whether white space was removed.
    """

    name: str
    kind: str | None
    texts: Any
    cleaned: Any
    interpretation: Interpretation | None = None
    padded: bool = False

    def markers(self) -> dict[str, int]:
        """Return how often each of the `MARKERS` occurs in the texts."""
        import pyarrow.compute as pc

        if self.cleaned is self.texts:
            return {}
        marked = pc.filter(self.texts, pc.and_not(pc.is_valid(self.texts), self.cleaned.is_valid()))
        return {some["values"]: some["counts"] for some in pc.value_counts(marked).to_pylist()}


def guess(name: str, texts: pa.Array, kind: str | None, options: ReadOptions) -> Guess:
    """Guess the type of the texts (n,) of a column, an Arrow array with null where missing."""
    import pyarrow.compute as pc

    interpretation = None if kind == "text" else _interpret(texts, kind, options)
    if interpretation is not None and _is_complete(interpretation, texts):
        return Guess(name, kind, texts, texts, interpretation)
    trimmed = pc.utf8_trim_whitespace(texts)
    padded = bool(pc.any(pc.not_equal(trimmed, texts)).as_py())
    texts = _without(trimmed, MISSING if padded else ("",))
    cleaned = _without(texts, MARKERS, pc.utf8_lower(texts))
    if kind == "text" or cleaned.null_count == texts.null_count:
        cleaned = texts
    if kind != "text" and (padded or cleaned is not texts):
        interpretation = _interpret(cleaned, kind, options)
    return Guess(name, kind, texts, cleaned, interpretation, padded)


def _is_complete(interpretation: Interpretation, texts: pa.Array) -> bool:
    """Return whether all present texts have the pattern that was found."""
    if not isinstance(interpretation, LocalDates):
        return True
    return bool(interpretation.matched.sum() == len(texts) - texts.null_count)


def looks_otherwise(levels: pa.Array) -> bool:
    """Return whether some levels (k,) of text would not be read as text in a separate file."""
    if may_hold_numbers(levels) or dates_among(levels).any():
        return True
    texts = levels.to_pylist()
    return any(text in _TRUTHS or text.lower() in MARKERS for text in texts)


def _interpret(texts: pa.Array, kind: str | None, options: ReadOptions) -> Interpretation | None:
    interpretation: Interpretation | None = None
    if kind is None or kind in NUMBER_KINDS:
        mark = None if kind is None else NUMBER_KINDS[kind]
        wanted = replace(options, decimal=mark) if mark else options
        interpretation = _plain(texts, wanted) or find_numbers(texts, _decimals(wanted))
    if kind is None:
        interpretation = interpretation or _truths(texts)
    if interpretation is None and (kind is None or kind in DATE_KINDS):
        families = _FAMILIES[options.dates] if kind is None else _FORCED_FAMILIES
        times = iso_times(texts) if families else None
        interpretation = find_dates(texts, families) if families and times is None else None
        interpretation = IsoDates(*times) if times is not None else interpretation
    return interpretation


def _decimals(options: ReadOptions) -> Sequence[str]:
    return (".", ",") if options.decimal == "auto" else options.decimal


def _plain(texts: pa.Array, options: ReadOptions) -> PlainNumbers | None:
    """Return numbers that programs write, unless they have points where commas are expected."""
    numbers = plain_numbers(texts)
    if numbers is None or (options.decimal == "," and has_points(texts)):
        return None
    return PlainNumbers(numbers, loses_digits(texts, numbers))


def _truths(texts: pa.Array) -> Truths | None:
    import pyarrow.compute as pc

    def are_truths(some: pa.Array) -> bool:
        return set(pc.unique(some).to_pylist()) <= {*_TRUTHS, None}

    # Columns of other text differ within a few entries.
    if not (are_truths(texts.slice(0, len(_TRUTHS))) and are_truths(texts)):
        return None
    values = [text if text is None else _TRUTHS[text] for text in texts.to_pylist()]
    return Truths(np.array(values, dtype=object if texts.null_count else bool))


def _without(texts: pa.Array, markers: Sequence[str], keys: pa.Array = None) -> Any:
    """Return texts with null in place of those whose keys are markers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = texts if keys is None else keys
    is_marker = pc.is_in(keys, value_set=pa.array(markers))
    return pc.if_else(is_marker, pa.scalar(None, pa.string()), texts)

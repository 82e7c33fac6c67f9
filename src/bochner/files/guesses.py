"""Guesses of the type of a column of texts: numbers, dates, truth values or text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner.files.delimited import MISSING
from bochner.files.local_dates import Family, LocalDates, dates_among, find_dates, iso_times
from bochner.files.local_numbers import (
    SHARE_READ,
    LocalNumbers,
    code_rule,
    find_numbers,
    has_mark,
    loses_digits,
    may_hold_numbers,
    numbers_among,
    plain_numbers,
    present_sample,
)
from bochner.files.quantities import MixedUnits, Quantities, find_quantities
from bochner.files.reading_options import DATE_KINDS, NUMBER_KINDS, ReadOptions
from bochner.files.times_of_day import ClockTimes, find_times

if TYPE_CHECKING:
    import pyarrow as pa

MARKERS = (
    *dict.fromkeys(map(str.lower, MISSING)), "n.a.", "missing", "-", "--", "---", "\u2013",
    "\u2014", "?", ".", "..", ":", "0000-00-00", "0000-00-00 00:00:00",
    "#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!",
)  # fmt: skip
"""Lower-case markers of missing numbers or dates, in addition to the general markers: dashes, marks
of statistical offices, dates of MySQL, and errors of Excel."""

_WORDS = frozenset(MISSING)

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

_SAMPLE_SIZE = 1000
"""Entries that are looked at first: columns of other text fail within them at little cost."""

_LEAST_SAMPLE_SHARE = 0.8
"""Share of numbers in the sample below which the column has hardly nine tenths of numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class PlainNumbers:
    """Numbers (n,) as programs write them, an Arrow array.

    ``too_long`` is for whole numbers whose digits float64 would lose, and ``code`` for codes with
    their first row, as `code_rule` returns it.
    """

    numbers: Any
    too_long: bool
    code: tuple[str, int] | None = None


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


Interpretation = (
    PlainNumbers
    | LocalNumbers
    | Quantities
    | MixedUnits
    | Truths
    | IsoDates
    | LocalDates
    | ClockTimes
)

_MOST_WORDS = 20
"""Most distinct entries that count as missing because nearly all other ones are numbers or dates:
a column with more is not one of numbers with a few remarks."""

_FEWEST_NUMBERS = 20
"""Distinct whole numbers from which a column with a few words is one of numbers: 1, 2, 3 and X are
codes."""


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
    words : tuple of str
        Entries that count as missing because nearly all other ones are numbers or dates.
    """

    name: str
    kind: str | None
    texts: Any
    cleaned: Any
    interpretation: Interpretation | None = None
    padded: bool = False
    words: tuple[str, ...] = field(default=())

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

    if options.missing:
        texts = _without(texts, options.missing)
    interpretation = None if kind == "text" else _interpret(texts, kind, options)
    if interpretation is not None and _is_complete(interpretation, texts):
        return Guess(name, kind, texts, texts, interpretation)
    if kind != "text" and (quick := _plain_with_gaps(texts, options)):
        return Guess(name, kind, texts, *quick)
    trimmed = pc.utf8_trim_whitespace(texts)
    padded = bool(pc.any(pc.not_equal(trimmed, texts)).as_py())
    texts = _without(trimmed, ("", *options.missing))
    if kind == "text":
        return Guess(name, kind, texts, texts, None, padded)
    words = tuple(map(str.lower, options.words.get(name, ())))
    cleaned = _without(texts, (*MARKERS, *words), pc.utf8_lower(texts))
    if cleaned.null_count == texts.null_count:
        cleaned = texts
    if padded or cleaned is not texts:
        interpretation = _interpret(cleaned, kind, options)
    if interpretation is None or not _is_complete(interpretation, cleaned):
        interpretation = interpretation or _quantities(name, cleaned, kind, options)
        if kind is None and not options.recorded:
            cleaned, interpretation, words = _without_words(name, cleaned, interpretation, options)
            return Guess(name, kind, texts, cleaned, interpretation, padded, words)
    return Guess(name, kind, texts, cleaned, interpretation, padded)


def _plain_with_gaps(texts: pa.Array, options: ReadOptions) -> tuple[pa.Array, PlainNumbers] | None:
    """Return plain numbers among the usual words for missing ones, of which no more is asked."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sample = texts.slice(0, _SAMPLE_SIZE)
    words = _WORDS.intersection(pc.unique(sample).to_pylist())
    if len(words) != 1 or plain_numbers(_without(sample, MISSING)) is None:
        return None
    # A comparison with one word takes a tenth of the time of a search among all.
    cleaned = pc.if_else(pc.equal(texts, *words), pa.scalar(None, pa.string()), texts)
    interpretation = _plain(cleaned, options)
    return None if interpretation is None else (cleaned, interpretation)


def _is_complete(interpretation: Interpretation, texts: pa.Array) -> bool:
    """Return whether all present texts have the pattern that was interpretation."""
    if not isinstance(interpretation, LocalDates):
        return True
    return bool(interpretation.matched.sum() == len(texts) - texts.null_count)


def _quantities(
    name: str, texts: pa.Array, kind: str | None, options: ReadOptions
) -> Quantities | MixedUnits | ClockTimes | None:
    """Return numbers that are written with text, or times of day.

    In a later file, only columns that held such entries at the fit are read so.
    """
    is_date = kind in DATE_KINDS or (kind is None and options.dates != "none")
    if options.recorded and name not in options.units:
        return None
    interpretation: Quantities | MixedUnits | ClockTimes | None = None
    if kind is None or kind in NUMBER_KINDS:
        mark = None if kind is None else NUMBER_KINDS[kind]
        wanted = replace(options, decimal=mark) if mark else options
        interpretation = find_quantities(texts, _decimals(wanted), is_recorded=options.recorded)
    if interpretation is None and (is_date or kind in NUMBER_KINDS):
        interpretation = find_times(texts)
    return interpretation


def _without_words(
    name: str, texts: pa.Array, interpretation: Interpretation | None, options: ReadOptions
) -> tuple[pa.Array, Interpretation | None, tuple[str, ...]]:
    """Return texts with null in place of a few words among numbers or dates, and the words."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n_present = len(texts) - texts.null_count
    if isinstance(interpretation, Quantities | ClockTimes):
        read = ~interpretation.unread
    elif isinstance(interpretation, LocalDates):
        read = ~np.isnat(interpretation.times(interpretation.orders()[0])) | ~np.array(
            texts.is_valid()
        )
    elif interpretation is None:
        sample = present_sample(texts)
        if numbers_among(sample).sum() < _LEAST_SAMPLE_SHARE * len(sample):
            return texts, interpretation, ()
        read = numbers_among(texts) | ~np.array(texts.is_valid())
    else:
        return texts, interpretation, ()
    n_unread = np.count_nonzero(~read)
    if not n_unread or n_present - n_unread < SHARE_READ * n_present:
        return texts, interpretation, ()
    words = tuple(pc.unique(texts.filter(pa.array(~read))).to_pylist())
    kept = pc.if_else(pa.array(read), texts, pa.scalar(None, pa.string()))
    if len(words) > _MOST_WORDS:
        return (
            texts,
            None if isinstance(interpretation, Quantities | ClockTimes) else interpretation,
            (),
        )
    if isinstance(interpretation, Quantities | ClockTimes):
        return kept, interpretation, words
    if any(map(str.isdigit, "".join(words))) or (interpretation is None and _are_codes(kept)):
        return texts, interpretation, ()
    again = _interpret(kept, None, options)
    return (kept, again, words) if again is not None else (texts, interpretation, ())


def _are_codes(texts: pa.Array) -> bool:
    """Return whether numbers (n,) are few distinct whole ones, as codes are."""
    import pyarrow.compute as pc

    levels = pc.unique(texts.drop_null())
    return len(levels) < _FEWEST_NUMBERS and all(map(str.isdigit, levels.to_pylist()))


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
    if numbers is None or (options.decimal == "," and has_mark(texts)):
        return None
    return PlainNumbers(numbers, loses_digits(texts, numbers), code_rule(texts, numbers))


def _truths(texts: pa.Array) -> Truths | None:
    import pyarrow.compute as pc

    def are_truths(some: object) -> bool:
        return set(pc.unique(some).to_pylist()) <= {*_TRUTHS, None}

    # Columns of other text differ within a few entries.
    if not (are_truths(texts.slice(0, len(_TRUTHS))) and are_truths(texts)):
        return None
    values = [text if text is None else _TRUTHS[text] for text in texts.to_pylist()]
    return Truths(np.array(values, dtype=object if texts.null_count else bool))


def _without(texts: pa.Array, markers: Sequence[str], keys: pa.Array | None = None) -> pa.Array:
    """Return texts with null in place of those whose keys are markers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = texts if keys is None else keys
    is_marker = pc.is_in(keys, value_set=pa.array(markers))
    return pc.if_else(is_marker, pa.scalar(None, pa.string()), texts)

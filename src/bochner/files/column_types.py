"""Guesses of the types of text columns, and of the decimal mark and date order of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner.files.date_patterns import Family
from bochner.files.local_dates import (
    ORDERS,
    LocalDates,
    Order,
    dates_among,
    find_dates,
    iso_times,
)
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
from bochner.files.read_options import DATE_KINDS, NUMBER_KINDS, ReadOptions

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = (
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
"""Words for missing entries in columns of numbers or dates, as for `pandas.read_csv`. In text
columns they are text, such as a class None or the country code NA."""

MARKERS = (
    *dict.fromkeys(map(str.lower, MISSING)), "n.a.", "missing", "-", "--", "---", "\u2013",
    "\u2014", "?", ".", "..", ":", "0000-00-00", "0000-00-00 00:00:00",
    "#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!",
)  # fmt: skip
"""Lower-case markers of missing numbers or dates, in addition to the general markers: dashes, marks
of statistical offices, dates of MySQL, and errors of Excel."""

_WORDS = frozenset(MISSING)

_COMMON_FAMILIES: tuple[Family, ...] = ("iso", "month", "numeric", "named", "compact")
_FAMILIES: Mapping[str, tuple[Family, ...]] = {"iso": ("iso", "month"), "none": ()}
"""Patterns of dates that are tried, by `ReadOptions.dates`."""

_FORCED_FAMILIES = _COMMON_FAMILIES
"""Patterns in a column whose requested kind is dates: 20211231 is a number in other columns."""

_TRUTHS: Mapping[str, bool] = {
    "True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False,
}  # fmt: skip
"""Truth values, as `pandas.read_csv` reads them."""

_SAMPLE_SIZE = 1000
"""Entries that are tested first, because most columns of other text fail within them."""

_LEAST_SAMPLE_SHARE = 0.8
"""Share of numbers in the sample below which a share of 0.9 in the column is unlikely."""

_MOST_WORDS = 20
"""Most distinct entries that count as missing in a column that nearly only holds numbers or dates:
a column with more such entries is text."""

_FEWEST_NUMBERS = 20
"""Fewest distinct integers in a numeric column that also has words: 1, 2, 3 and X are codes."""


_FEWEST_DATES = 5
"""Fewest distinct dates whose rising order is evidence: five random dates rise once in 120."""

BY_ENTRIES, BY_OPTION = "by the entries", "by an option"
"""Reasons for the order of days and months."""


@dataclass(frozen=True, slots=True, eq=False)
class PlainNumbers:
    """Numbers (n,) in the notation of programming languages, as an Arrow array.

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
    """Times (n,) in UTC, parsed from ISO 8601 texts; NaT where missing.

    ``clock`` (n,) is the local time; None if the texts have no offset from UTC.
    """

    times: NDArray[np.datetime64]
    clock: NDArray[np.datetime64] | None = None


ColumnType = PlainNumbers | LocalNumbers | Truths | IsoDates | LocalDates


@dataclass(frozen=True, slots=True, eq=False)
class Guess:
    """Guessed type of a column of texts (n,), before the conventions of the file are decided.

    ``kind`` is the requested kind, ``texts`` are without white space around them, and ``cleaned``
    has null in place of `MARKERS` as well. ``words`` are entries that count as missing because
    nearly all others are numbers or dates.
    """

    name: str
    kind: str | None
    texts: Any
    cleaned: Any
    type: ColumnType | None = None
    padded: bool = False
    words: tuple[str, ...] = field(default=())

    def markers(self) -> dict[str, int]:
        """Return the number of occurrences of each of the `MARKERS` in the texts."""
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
    guessed = None if kind == "text" else _type_of(texts, kind, options)
    if guessed is not None and _is_complete(guessed, texts):
        return Guess(name, kind, texts, texts, guessed)
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
        guessed = _type_of(cleaned, kind, options)
    is_complete = guessed is not None and _is_complete(guessed, cleaned)
    if kind is None and not (is_complete or options.recorded):
        cleaned, guessed, words = _without_words(cleaned, guessed, options)
        return Guess(name, kind, texts, cleaned, guessed, padded, words)
    return Guess(name, kind, texts, cleaned, guessed, padded)


def _plain_with_gaps(texts: pa.Array, options: ReadOptions) -> tuple[pa.Array, PlainNumbers] | None:
    """Return texts without the word for missing entries, and their plain numbers; else None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sample = texts.slice(0, _SAMPLE_SIZE)
    words = _WORDS.intersection(pc.unique(sample).to_pylist())
    if len(words) != 1 or plain_numbers(_without(sample, MISSING)) is None:
        return None
    # Comparing with one word takes a tenth of the time of searching for all words.
    cleaned = pc.if_else(pc.equal(texts, *words), pa.scalar(None, pa.string()), texts)
    guessed = _plain(cleaned, options)
    return None if guessed is None else (cleaned, guessed)


def _is_complete(guessed: ColumnType, texts: pa.Array) -> bool:
    """Return whether all present texts have the pattern of the guessed type."""
    if not isinstance(guessed, LocalDates):
        return True
    return bool(guessed.matched.sum() == len(texts) - texts.null_count)


def _without_words(
    texts: pa.Array, guessed: ColumnType | None, options: ReadOptions
) -> tuple[pa.Array, ColumnType | None, tuple[str, ...]]:
    """Return texts with null for words such as NA among numbers or dates, and these words."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n_present, is_present = len(texts) - texts.null_count, np.array(texts.is_valid())
    if isinstance(guessed, LocalDates):
        read = ~np.isnat(guessed.times(guessed.orders()[0])) | ~is_present
    elif guessed is None:
        sample = present_sample(texts)
        if numbers_among(sample).sum() < _LEAST_SAMPLE_SHARE * len(sample):
            return texts, guessed, ()
        read = numbers_among(texts) | ~is_present
    else:
        return texts, guessed, ()
    n_unread = np.count_nonzero(~read)
    if not n_unread or n_present - n_unread < SHARE_READ * n_present:
        return texts, guessed, ()
    words = tuple(pc.unique(texts.filter(pa.array(~read))).to_pylist())
    kept = pc.if_else(pa.array(read), texts, pa.scalar(None, pa.string()))
    if len(words) > _MOST_WORDS:
        return texts, guessed, ()
    if any(map(str.isdigit, "".join(words))) or (guessed is None and _are_codes(kept)):
        return texts, guessed, ()
    again = _type_of(kept, None, options)
    return (kept, again, words) if again is not None else (texts, guessed, ())


def _are_codes(texts: pa.Array) -> bool:
    """Return whether the numbers (n,) are a few distinct non-negative integers, as codes are."""
    import pyarrow.compute as pc

    levels = pc.unique(texts.drop_null())
    return len(levels) < _FEWEST_NUMBERS and all(map(str.isdigit, levels.to_pylist()))


def looks_otherwise(levels: pa.Array) -> bool:
    """Return whether some levels (k,) of text would not be read as text in a separate file."""
    if may_hold_numbers(levels) or dates_among(levels).any():
        return True
    texts = levels.to_pylist()
    return any(text in _TRUTHS or text.lower() in MARKERS for text in texts)


def _type_of(texts: pa.Array, kind: str | None, options: ReadOptions) -> ColumnType | None:
    guessed: ColumnType | None = None
    if kind is None or kind in NUMBER_KINDS:
        mark = None if kind is None else NUMBER_KINDS[kind]
        wanted = replace(options, decimal=mark) if mark else options
        guessed = _plain(texts, wanted) or find_numbers(texts, _decimals(wanted))
    if kind is None:
        guessed = guessed or _truths(texts)
    if guessed is None and (kind is None or kind in DATE_KINDS):
        families = _FORCED_FAMILIES
        if kind is None:
            families = _FAMILIES.get(options.dates, _COMMON_FAMILIES)
        times = iso_times(texts) if families else None
        guessed = find_dates(texts, families) if families and times is None else None
        guessed = IsoDates(*times) if times is not None else guessed
    return guessed


def _decimals(options: ReadOptions) -> Sequence[str]:
    return (".", ",") if options.decimal == "auto" else options.decimal


def _plain(texts: pa.Array, options: ReadOptions) -> PlainNumbers | None:
    """Return plain numbers, or None if they have decimal points where commas are expected."""
    numbers = plain_numbers(texts)
    if numbers is None or (options.decimal == "," and has_mark(texts)):
        return None
    return PlainNumbers(numbers, loses_digits(texts, numbers), code_rule(texts, numbers))


def _truths(texts: pa.Array) -> Truths | None:
    import pyarrow.compute as pc

    def are_truths(some: object) -> bool:
        return set(pc.unique(some).to_pylist()) <= {*_TRUTHS, None}

    # A column of other text shows within a few entries that it holds no truth values.
    if not (are_truths(texts.slice(0, len(_TRUTHS))) and are_truths(texts)):
        return None
    values = [text if text is None else _TRUTHS[text] for text in texts.to_pylist()]
    return Truths(np.array(values, dtype=object if texts.null_count else bool))


def _without(texts: pa.Array, markers: Sequence[str], keys: pa.Array | None = None) -> pa.Array:
    """Return texts with null where the key (by default the text itself) is a marker."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = texts if keys is None else keys
    is_marker = pc.is_in(keys, value_set=pa.array(markers))
    return pc.if_else(is_marker, pa.scalar(None, pa.string()), texts)


@dataclass(frozen=True, slots=True)
class Conventions:
    """Decimal mark of a file, and order of days and months; None if no column needs the order.

    ``orders`` has the order of each column with days and months as numbers, and the reason.
    """

    decimal: str
    order: Order | None
    orders: dict[str, tuple[Order, str]]


def decide_conventions(
    guesses: Sequence[Guess], options: ReadOptions, *, has_semicolons: bool
) -> tuple[list[Guess], Conventions]:
    """Return the guesses revised to one decimal mark and date order, and these conventions.

    ``has_semicolons`` is True if semicolons separate the fields, as is usual in countries with
    decimal commas.
    """
    guesses, decimal = list(guesses), options.decimal
    if decimal == "auto":
        guesses = _with_points(guesses, has_semicolons=has_semicolons)
        votes = Counter(g.type.decimals for g in guesses if isinstance(g.type, LocalNumbers))
        decimal = "," if votes[",",] > votes[".",] else "."
    # In files with decimal points, dates with slashes are more often American (month first).
    american = decimal == "." and not has_semicolons
    orders = _orders(guesses, options, american=american)
    counts = Counter(order for order, _ in orders.values())
    most: Order = max(ORDERS, key=lambda some: counts[some])
    order = _explicit(options.dates) or (most if counts else None)
    return guesses, Conventions(decimal, order, orders)


def _with_points(guesses: list[Guess], *, has_semicolons: bool) -> list[Guess]:
    """Return guesses in which a point in plain numbers may be a thousands separator.

    Points may group thousands if semicolons separate the fields, or if a column may have decimal
    commas.
    """
    commas = any(isinstance(g.type, LocalNumbers) and "," in g.type.decimals for g in guesses)
    if not (commas or has_semicolons):
        return guesses
    changed = []
    for some in guesses:
        if isinstance(some.type, PlainNumbers) and some.kind != "decimal point":
            local = find_numbers(some.cleaned, (".", ","))
            some = replace(some, type=local) if local and local.decimals else some
        changed.append(some)
    return changed


def _explicit(dates: str | None) -> Order | None:
    return next((order for order in ORDERS if order == dates), None)


def _orders(
    guesses: Sequence[Guess], options: ReadOptions, *, american: bool
) -> dict[str, tuple[Order, str]]:
    """Return, for each column with numeric days and months, their order and the reason for it."""
    orders: dict[str, tuple[Order, str]] = {}
    open_columns: list[tuple[str, LocalDates]] = []
    for some in guesses:
        if not isinstance(some.type, LocalDates) or some.type.family != "numeric":
            continue
        kind = some.kind and DATE_KINDS[some.kind]
        possible = some.type.orders()
        n_present = len(some.cleaned) - some.cleaned.null_count
        if requested := _explicit(kind) or _explicit(options.dates):
            orders[some.name] = requested, BY_OPTION
        elif not some.type.reads(n_present):
            continue  # The column stays text, with or without a remark
        elif len(possible) == 1:
            orders[some.name] = possible[0], BY_ENTRIES
        else:
            open_columns.append((some.name, some.type))
    decided = [(order, name) for name, (order, reason) in orders.items() if reason == BY_ENTRIES]
    for name, dates in open_columns:
        orders[name] = _open_order(dates, decided, american=american)
    return orders


def _open_order(
    dates: LocalDates, decided: Sequence[tuple[Order, str]], *, american: bool
) -> tuple[Order, str]:
    """Return the order, and its reason, for dates that are valid in both orders."""
    if decided:
        counts = Counter(order for order, _ in decided)
        order = max(ORDERS, key=lambda some: counts[some])
        other = next(name for some, name in decided if some == order)
        return order, f"as in {other!r}"
    rising = [order for order in ORDERS if _rises(dates, order)]
    if len(rising) == 1:
        return rising[0], "because the dates then rise from row to row"
    if dates.mark != "/":
        return "dayfirst", f"the usual order with {dates.mark!r}"
    if american:
        return (
            "monthfirst",
            "the American order, because the file has slashes in dates and no decimal commas",
        )
    return "dayfirst", "the European order, because the file has decimal commas or semicolons"


def _rises(dates: LocalDates, order: Order) -> bool:
    times = dates.times(order)
    steps = np.diff(times[~np.isnat(times)])
    zero = np.timedelta64(0)
    return bool((steps >= zero).all() and (steps > zero).sum() >= _FEWEST_DATES - 1)

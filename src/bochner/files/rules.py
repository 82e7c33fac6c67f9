"""Rules by which the columns of a file become numbers, dates, truth values or text.

A rule is a transformer of one column that may decline it. The order of the rules, and what each of
them has decided for a column, are all that a later file needs to be read as the first one was.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.names import brief
from bochner.files.read_options import DATE_KINDS, NUMBER_KINDS, ReadOptions

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


Notes = Sequence[tuple[str, str]]
"""Pairs of words and an example, as `Remarks.add` takes them."""

MISSING = (
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
"""Words for missing entries in columns of numbers or dates, as for `pandas.read_csv`. In text
columns they are text, such as a class None or the country code NA."""

MARKERS = frozenset(map(str.lower, (
    *MISSING, "n.a.", "missing", "-", "--", "---", "\u2013", "\u2014", "?", ".", "..", ":",
    "0000-00-00", "0000-00-00 00:00:00", "#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!",
)))  # fmt: skip
"""Lower-case markers of missing numbers or dates, in addition to the general markers: dashes, marks
of statistical offices, dates of MySQL, and errors of Excel."""

SAMPLE_SIZE = 1000
"""Entries that are tested first, because most columns of another kind fail within them."""

SHARE_READ = 0.9
"""Smallest share of entries that a rule must read; the others are missing."""


def first_present(texts: pa.Array, count: int = SAMPLE_SIZE) -> pa.Array:
    """Return the first texts (count,) that are not null; copies all rows only if many are null."""
    head = texts.slice(0, 10 * SAMPLE_SIZE).drop_null()
    return (head if len(head) else texts.drop_null()).slice(0, count)


MIXED = 0.5
"""Share of numbers, dates or times below which a column is other text, not one with errors."""


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """A column of texts (n,), an Arrow array with null where missing.

    ``requested`` is the kind that the user asks for, None if any rule may read the column. ``memo``
    holds what a rule has found in the texts.
    """

    name: str
    texts: Any
    options: ReadOptions
    requested: str | None = None
    memo: dict[str, Any] = field(default_factory=dict, init=False)

    def is_for(self, rule: str) -> bool:
        """Return whether the column may be read by a rule: none, or this one, is asked for."""
        kinds = {"number": NUMBER_KINDS, "date": DATE_KINDS}.get(rule, (rule,))
        return self.requested is None or self.requested in kinds

    @property
    def n_present(self) -> int:
        """Number of entries that are not missing."""
        return len(self.texts) - int(self.texts.null_count)

    def present(self) -> NDArray[np.bool_]:
        """Return the mask (n,) of entries that are not missing."""
        return np.array(self.texts.is_valid())

    def entry(self, row: int = -1) -> str:
        """Return an entry as shown in a note, by default the first one that is present."""
        entry = self.texts[row] if row >= 0 else [*first_present(self.texts, 1), "no entry"][0]
        return brief(entry)

    def without(self, words: Collection[str], *, is_bare: bool = False) -> TextColumn:
        """Return the column with null in place of words; bare texts have no white space or case."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not words:
            return self
        texts = pc.utf8_trim_whitespace(self.texts) if is_bare else self.texts
        keys = pc.utf8_lower(texts) if is_bare else texts
        is_word = pc.is_in(keys, value_set=pa.array(list(words), pa.string()))
        return replace(self, texts=pc.if_else(is_word, pa.scalar(None, pa.string()), texts))

    def bare(self, words: Sequence[str] = ()) -> TextColumn:
        """Return the column without white space around texts, `MARKERS` and words."""
        return self.without({"", *MARKERS, *map(str.lower, words)}, is_bare=True)


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What a rule has decided for a column: the rule's name and its settings, as plain JSON.

    ``choices`` are values of a setting with which the rule reads the column equally well. They are
    settled by the other columns of the file.
    """

    rule: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: Notes = ()


class Rule(ABC):
    """A transformer of one column of texts, which may decline the column.

    Its ``name`` is the kind of the columns that it reads, and ``noun`` what they hold.
    """

    name: str
    noun: str

    @abstractmethod
    def decide(self, column: TextColumn) -> Decision | None:
        """Return how the column is read, or None if less than half can be and none is asked for."""

    def settle(
        self, column: TextColumn, decision: Decision, decided: Mapping[str, str], *, is_local: bool
    ) -> Decision:
        """Return a decision without choices, settled by what other columns have ``decided``.

        ``is_local`` is True if the file seems to be from a country with decimal commas.
        """
        return decision

    @abstractmethod
    def read(self, column: TextColumn, settings: Mapping[str, Any]) -> pd.Series:
        """Return the values (n,) of the column, missing where the rule cannot read an entry."""


_TRUTHS: Mapping[str, bool] = {
    "True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False,
}  # fmt: skip
"""Truth values, as `pandas.read_csv` reads them."""


class TruthRule(Rule):
    """Reads the truth values that programs write, in columns without other words."""

    name = "truth"
    noun = "truth values"

    def decide(self, column: TextColumn) -> Decision | None:
        """Return a decision if all entries are truth values."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if column.entry() not in _TRUTHS:
            return None
        is_truth = pc.is_in(column.texts, value_set=pa.array([*_TRUTHS, None], pa.string()))
        return Decision(self.name) if pc.all(is_truth).as_py() else None

    def read(self, column: TextColumn, settings: Mapping[str, Any]) -> pd.Series:
        """Return the truth values, objects if some are missing."""
        import pandas as pd

        return pd.Series(column.texts.to_pandas()).map(_TRUTHS)


class TextRule(Rule):
    """Reads any entries as text, without white space around them."""

    name = "text"
    noun = "text"

    def decide(self, column: TextColumn) -> Decision:
        """Return a decision for any column, with a note on white space."""
        import pyarrow.compute as pc

        is_padded = pc.not_equal(pc.utf8_trim_whitespace(column.texts), column.texts)
        words = "has white space around entries, which is removed"
        return Decision(self.name, notes=[(words, "")] if pc.any(is_padded).as_py() else [])

    def read(self, column: TextColumn, settings: Mapping[str, Any]) -> pd.Series:
        """Return the texts, missing where they are empty."""
        import pandas as pd

        return pd.Series(column.without({""}, is_bare=True).texts.to_pandas())


class FunctionRule(Rule):
    """Reads a column by a function of the user, as `bochner.read_table` describes it."""

    def __init__(self, name: str, function: Callable[[Any], Any], noun: str = "") -> None:
        self.name, self.noun = name, noun or name
        self.function = function

    def _values(self, name: str, texts: pa.Array) -> pd.Series:
        """Return what the function returns, nothing known if it declines the column."""
        import pandas as pd

        try:
            values = self.function(pd.Series(texts.to_pandas()))
        except Exception as error:
            error.add_note(f"This was in the rule {self.name!r} for the column {name!r:.60}.")
            raise
        return pd.Series(np.full(len(texts), np.nan) if values is None else values)

    def decide(self, column: TextColumn) -> Decision | None:
        """Return a decision unless the function declines a sample of the column."""
        sample = self._values(column.name, first_present(column.texts))
        return Decision(self.name) if sample.notna().any() else None

    def read(self, column: TextColumn, settings: Mapping[str, Any]) -> pd.Series:
        """Return what the function returns, without an entry where it declines the column."""
        values, count = self._values(column.name, column.texts), len(column.texts)
        if len(values) != count:
            raise ValueError(
                f"The rule {self.name!r} returned {len(values)} values for {count} entries of "
                f"column {column.name!r:.60}: expected one value for each entry."
            )
        return values.where(values.notna()).reset_index(drop=True)  # None is missing, too


_TIME = re.compile(
    r"\s*(?P<hour>[01]?[0-9]|2[0-4]):(?P<minute>[0-5][0-9])"
    r"(?::(?P<second>[0-5][0-9])(?:[.,](?P<fraction>[0-9]{1,6}))?)? ?(?P<half>[AaPp][Mm])?\s*"
)


def times_of_day(texts: pd.Series) -> pd.Series | None:
    """Return times (n,) such as 13:05, 1:05 pm or 00:18:19.5, which models use as hours."""
    read = ((text, _time(text)) for text in texts.dropna().unique())
    times = texts.map({text: found for text, found in read if found is not None}).astype(object)
    return times if times.notna().sum() >= max(MIXED * texts.notna().sum(), 1) else None


def _time(text: str) -> time | None:
    """Return a time; 24:00 is midnight."""
    match = _TIME.fullmatch(text)
    hour, half = (int(match["hour"]), match["half"]) if match else (0, None)
    if match is None or (half and not 1 <= hour <= 12):  # The hours of a half day
        return None
    hour = hour % 12 + 12 * (half in ("pm", "PM", "Pm")) if half else hour % 24
    fraction = int(f"{match['fraction'] or ''}000000"[:6])
    return time(hour, int(match["minute"]), int(match["second"] or 0), fraction)


TIMES = FunctionRule("time", times_of_day, "times of day")
"""The rule for times of day."""


LARGEST_EXACT = 2**53
"""Largest integer up to which all integers are exact in float64, the type of encoded tables."""


def plain_numbers(texts: pa.Array) -> pa.Array | None:
    """Return texts (n,) as integers or floats if all are in the notation of programs, else None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sample = texts.slice(0, SAMPLE_SIZE)
    for kind in (pa.int64(), pa.float64()):
        try:
            pc.cast(sample, kind)  # Fails early for most texts
            numbers = pc.cast(texts, kind)
        except pa.ArrowInvalid:
            continue
        # Arrow also reads hexadecimal numbers, which are codes.
        return None if pa.types.is_integer(kind) and has_mark(texts, "x") else numbers
    return None


def has_mark(texts: pa.Array, mark: str = ".") -> bool:
    """Return whether one of the texts (n,) has a mark, by default a point."""
    import pyarrow.compute as pc

    return pc.any(pc.match_substring(texts, mark)).as_py() is True


def all_match(texts: pa.Array, pattern: str) -> bool:
    """Return whether all texts (n,) have a pattern; most other columns fail in a sample."""
    import pyarrow.compute as pc

    masks = (
        pc.match_substring_regex(some, pattern) for some in (texts.slice(0, SAMPLE_SIZE), texts)
    )
    return all(pc.all(mask).as_py() is not False for mask in masks)

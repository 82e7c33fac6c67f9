"""Rules by which the columns of a file become numbers, dates, truth values or text.

A rule is a transformer of one column that may decline it. The order of the rules, and what each of
them has decided for a column, are all that a later file needs to be read as the first one was.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.names import shown
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
        return shown(entry)

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

    def decide(self, column: TextColumn) -> Decision | None:
        """Return a decision unless the function declines a sample of the column."""
        sample = self.function(first_present(column.texts).to_pandas())
        return None if sample is None or not sample.notna().any() else Decision(self.name)

    def read(self, column: TextColumn, settings: Mapping[str, Any]) -> pd.Series:
        """Return what the function returns, without an entry where it declines the column."""
        import pandas as pd

        texts = pd.Series(column.texts.to_pandas())
        values = self.function(texts)
        values = pd.Series(np.nan, texts.index) if values is None else pd.Series(values)
        if len(values) != len(texts):
            raise ValueError(
                f"The rule {self.name!r} returned {len(values)} values for {len(texts)} entries of "
                f"column {column.name!r}: expected one value for each entry."
            )
        return values.where(values.notna()).reset_index(drop=True)  # None is missing, too

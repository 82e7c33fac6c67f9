"""The rules for truth values and for text, and rules that are functions of the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bochner.files.rules import Decision, Reading, Rule, TextColumn

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
        import pyarrow.compute as pc

        # A column of other text shows within a few entries that it holds no truth values.
        for some in (column.texts.slice(0, len(_TRUTHS)), column.texts):
            if not set(pc.unique(some).to_pylist()) <= {*_TRUTHS, None}:
                return None
        return Decision(self.name) if column.n_present else None

    def read(self, column: TextColumn, settings: Mapping[str, Any]) -> Reading:
        """Return the truth values, None where missing."""
        import pandas as pd

        texts = column.texts.to_pylist()
        values = [None if text is None else _TRUTHS.get(text) for text in texts]
        unread = np.array([value is None for value in values], dtype=bool) & column.present()
        kind = object if unread.any() or column.texts.null_count else bool
        return Reading(pd.Series(np.array(values, dtype=kind)), unread if unread.any() else None)


class TextRule(Rule):
    """Reads any entries as text, without white space around them."""

    name = "text"
    noun = "text"

    def decide(self, column: TextColumn) -> Decision:
        """Return a decision for any column."""
        return Decision(self.name)

    def read(self, column: TextColumn, settings: Mapping[str, Any]) -> Reading:
        """Return the texts, as categories if they would be read otherwise later on."""
        import pandas as pd
        import pyarrow as pa
        import pyarrow.compute as pc

        trimmed = pc.utf8_trim_whitespace(column.texts)
        notes = []
        if pc.any(pc.not_equal(trimmed, column.texts)).as_py():
            notes.append(("has white space around entries, which is removed", ""))
        texts = pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)
        series = pd.Series(texts.to_pandas())
        return Reading(
            series.astype("category") if settings.get("is_category") else series, None, notes
        )


class FunctionRule(Rule):
    """Reads a column by a function of the user, where it reads nearly all entries.

    The function takes the texts as a pandas Series, and returns a Series of values, missing where
    it cannot read an entry, or None to decline the column.
    """

    def __init__(self, name: str, function: Callable[[Any], Any]) -> None:
        self.name = self.noun = name
        self.function = function

    def decide(self, column: TextColumn) -> Decision | None:
        """Return a decision unless the function declines a sample of the column."""
        sample = self.function(column.sample().to_pandas())
        return None if sample is None or not sample.notna().any() else Decision(self.name)

    def read(self, column: TextColumn, settings: Mapping[str, Any]) -> Reading:
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
        unread = values.isna().to_numpy() & column.present()
        return Reading(values.reset_index(drop=True), unread if unread.any() else None)

"""The rules for truth values and for text, and rules that are functions of the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner.files.rules import Decision, Rule, TextColumn

if TYPE_CHECKING:
    import pandas as pd

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
        return values.reset_index(drop=True)

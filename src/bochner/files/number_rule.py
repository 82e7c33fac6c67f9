"""The rule for numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner.files.errors import InputError
from bochner.files.local_dates import FORMS, number_dates
from bochner.files.read_options import NUMBER_KINDS
from bochner.files.rules import (
    LARGEST_EXACT,
    MIXED,
    Decision,
    Rule,
    TextColumn,
    all_match,
    first_present,
    has_mark,
    plain_numbers,
)
from bochner.files.written_amounts import MARKS, PATTERNS, THOUSANDS, WrittenNumbers

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_FEWEST_WIDE_CODES = 3
"""Fewest digits of codes with leading zeros and equal width: 01 to 12 may be months."""

_BARE_EXPONENT = "^[0-9]+E[0-9]+$"
"""A code such as 1E3 or 7E10; programs write numbers with a point, a sign or a small e."""


class NumberRule(Rule):
    """Reads numbers with either decimal mark, thousands, one unit or currency, factors and flags.

    Its settings are the decimal mark, if an entry has one, the unit and the factor.
    """

    name = "number"
    noun = "numbers"

    def decide(self, column: TextColumn) -> Decision | None:
        """Return the decimal mark, the unit and the factor, or None for fewer numbers than text."""
        mark = NUMBER_KINDS.get(column.requested or "") or column.options.decimal
        decimals = tuple(THOUSANDS) if mark == "auto" else (mark,)
        numbers = plain_numbers(column.texts)
        has_point = numbers is not None and has_mark(column.texts)
        if numbers is None or (has_point and "." not in decimals):
            return _decide_written(column, decimals)
        decision = Decision(self.name) if column.requested else _decide_codes(column, numbers)
        if decision.rule != self.name:
            return decision
        is_open = has_point and "," in decimals and all_match(column.texts, PATTERNS[","])
        settings = {"decimal": "."} if has_point and not is_open else {}
        notes = list(decision.notes)
        dates = number_dates(column.name, np.array(numbers, dtype=float))
        if dates is not None and not dates.is_sure:
            words = f"looks like dates ({FORMS[dates.form][0]}), read as numbers"
            notes += [(f"{words}: --types {column.name}=date reads dates", dates.example)]
        return Decision(self.name, settings, {"decimal": decimals} if is_open else {}, notes)

    def settle(
        self, column: TextColumn, decision: Decision, decided: Mapping[str, str], *, is_local: bool
    ) -> Decision:
        """Return the decision with the decimal mark of most other columns of the file."""
        counts = Counter(decided.values())
        decimal = "," if counts[","] > counts["."] else "."
        decision = replace(decision, settings={**decision.settings, "decimal": decimal}, choices={})
        if not is_local and not counts[","] and not has_mark(column.texts, ","):
            return decision  # Points between fields that are separated by commas
        written = WrittenNumbers(column.texts, decimal)
        mark, row = next(iter(written.marks().items()))
        words = (
            f"has {MARKS[mark]} that may separate thousands or decimals: "
            f"{'decimals' if mark == decimal else 'thousands'} are assumed; "
            f"decimal={THOUSANDS[decimal]!r} (--decimal {THOUSANDS[decimal]}) overrules that"
        )
        note = (words, written.example(decision.settings, row))
        return replace(decision, notes=[note, *decision.notes])

    def read(self, column: TextColumn, settings: Mapping[str, Any]) -> pd.Series:
        """Return the numbers; InputError if all entries have another unit than the settings."""
        import pandas as pd
        import pyarrow.compute as pc

        unit, decimal = settings.get("unit", ""), settings.get("decimal", ".")
        if not unit and "factor" not in settings and (decimal == "." or not has_mark(column.texts)):
            numbers = plain_numbers(column.texts)
            if numbers is not None:
                return pd.Series(np.array(numbers))
        written = WrittenNumbers(column.texts, decimal)
        values = written.values(settings)
        if (unit or settings.get("factor")) and written.ends and np.isnan(values).all():
            here = "".join(written.ends[0][::2]) or "no unit"
            raise InputError(
                f"Column {column.name!r:.60} had the unit {unit or settings['factor']} at the fit, "
                f"and has {here} here ({column.entry()}): convert the entries to that unit."
            )
        rows = np.array(pc.index_in(column.texts, value_set=written.levels).fill_null(-1))
        return pd.Series(np.append(values, np.nan)[rows])


def _decide_written(column: TextColumn, decimals: Sequence[str]) -> Decision | None:
    """Return the decision on numbers that are not all in the notation of programs."""
    for texts in (first_present(column.texts), column.texts):
        written = [WrittenNumbers(texts, decimal) for decimal in decimals]
        shares = [each.share(each.numbers) for each in written]
        if not max(shares) or (not column.requested and max(shares) < MIXED):
            return None
    possible = [i for i, share in enumerate(shares) if share == max(shares)]
    best, best_decimal = written[possible[0]], decimals[possible[0]]
    settings = best.amount()
    share = 0.0 if settings is None else best.share(best.values(settings))
    if settings is None or not share or (not column.requested and share < MIXED):
        return None
    marks = best.marks()
    is_open = len(possible) > 1 and bool(marks)
    settings |= {"decimal": best_decimal} if marks and not is_open else {}
    choices = {"decimal": tuple(decimals[i] for i in possible)} if is_open else {}
    return Decision("number", settings, choices, best.notes(settings, {} if is_open else marks))


def _decide_codes(column: TextColumn, numbers: pa.Array) -> Decision:
    """Return the decision for text if plain numbers (n,) are codes, or would lose digits."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts, is_whole = column.texts, pa.types.is_integer(numbers.type)
    is_large = any(abs(end or 0) > LARGEST_EXACT for end in pc.min_max(numbers).as_py().values())
    if is_large and (is_whole or all_match(texts, "^[+-]?[0-9]+$")):
        words = "has whole numbers with more digits than floating-point numbers hold: read as text"
        return Decision("text", notes=[(words, "")])
    row = pc.index(pc.match_substring_regex(texts, "^0[0-9]"), True).as_py() if is_whole else -1
    if row >= 0:
        lengths = pc.min_max(pc.binary_length(texts)).as_py()
        if lengths["min"] == lengths["max"] < _FEWEST_WIDE_CODES:
            words = "has leading zeros, which numbers lose; a type text (--types) keeps them"
            example = f"{column.entry(row)} is read as {numbers[row]}"
            return Decision("number", notes=[(words, example)])
    elif is_whole or not all_match(texts, _BARE_EXPONENT):
        return Decision("number")
    what = "leading zeros" if row >= 0 else "a letter E among digits"
    words = f"has codes with {what}: read as text; a type number (types=, --types) overrules that"
    return Decision("text", notes=[(words, column.entry(row))])

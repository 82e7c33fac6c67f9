"""The rule for numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner._base.names import shown
from bochner.files.errors import InputError
from bochner.files.number_dates import noted_doubt
from bochner.files.plain_numbers import (
    LARGEST_EXACT,
    all_match,
    code_rule,
    has_mark,
    loses_digits,
    plain_numbers,
)
from bochner.files.read_options import NUMBER_KINDS
from bochner.files.rules import Conventions, Decision, Reading, Rule, TextColumn
from bochner.files.written_amounts import (
    MARKS,
    NO_UNIT,
    PATTERNS,
    THOUSANDS,
    Amounts,
    Parts,
    either,
    has_decimals,
    number_values,
    parts_of,
    shared_amounts,
)

if TYPE_CHECKING:
    import pyarrow as pa

_MIXED = 0.5
"""Share of numbers below which the rule declines a column."""


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
        if numbers is None:
            return _decide_local(column, decimals)
        has_point = has_mark(column.texts)
        if has_point and "." not in decimals:
            return _decide_local(column, decimals)
        if column.requested is None and (code := _code(column, numbers)):
            return code
        doubt = noted_doubt(column.name, np.array(numbers, dtype=float))
        if not has_point:
            return Decision(self.name, {}, notes=[*_padded(column, numbers), *doubt])
        is_open = "," in decimals and all_match(column.texts, PATTERNS[","])
        choices = {"decimal": decimals} if is_open else {}
        return Decision(self.name, {} if is_open else {"decimal": "."}, choices, doubt)

    def settle(self, column: TextColumn, decision: Decision, file: Conventions) -> Decision:
        """Return the decision with the decimal mark of most other columns of the file."""
        counts = Counter(file.decided.values())
        decimal = "," if counts[","] > counts["."] else "."
        settled = replace(decision, settings={**decision.settings, "decimal": decimal}, choices={})
        other = THOUSANDS[decimal]
        rows = _rows_of_marks(column.texts)
        if "," not in rows and not file.has_semicolons and not counts[","]:
            return settled  # Points between fields that are separated by commas
        mark, row = next(iter(rows.items()))
        what = "decimals" if mark == decimal else "thousands"
        words = (
            f"has {MARKS[mark]} that may separate thousands or decimals: {what} are assumed; "
            f"decimal={other!r} (--decimal {other}) overrules that"
        )
        return replace(settled, notes=[(words, _example(column, settled.settings, row))])

    def read(self, column: TextColumn, settings: Mapping[str, Any]) -> Reading:
        """Return the numbers.

        Raises InputError if all entries have another unit than that of the settings.
        """
        import pandas as pd

        amounts = Amounts(settings.get("unit", ""), settings.get("factor"))
        decimal = settings.get("decimal", ".")
        if amounts == Amounts() and (decimal == "." or not has_mark(column.texts)):
            numbers = plain_numbers(column.texts)
            if numbers is not None:
                return Reading(pd.Series(np.array(numbers)))
        parts, codes = parts_of(column.texts)
        _refuse_other_unit(column, amounts, parts)
        fits = parts.fits(decimal)
        values = number_values(parts, decimal, amounts, fits)
        entries = np.append(values, np.nan)[codes]  # Missing entries have the code -1
        unread = np.isnan(entries) & column.present()
        if not unread.any() and column.texts.null_count == 0 and not has_decimals(parts, fits):
            whole = entries == np.round(entries)
            if whole.all() and np.abs(entries).max(initial=0.0) <= LARGEST_EXACT:
                entries = entries.astype(np.int64)
        return Reading(pd.Series(entries), unread if unread.any() else None)


def _decide_local(column: TextColumn, decimals: Sequence[str]) -> Decision | None:
    """Return the decision on numbers that are not all in the notation of programs."""
    sample, _ = parts_of(column.sample())
    if not column.requested and sample.share(either(sample, decimals)) < _MIXED:
        return None
    parts, _ = parts_of(column.texts)
    fits = {decimal: parts.fits(decimal) for decimal in decimals}
    shares = {decimal: parts.share(mask) for decimal, mask in fits.items()}
    best = max(shares.values())
    possible = tuple(decimal for decimal in decimals if shares[decimal] == best)
    if not best:
        return None
    amounts = shared_amounts(parts, fits[possible[0]])
    settings: dict[str, Any] = {"unit": amounts.unit} if amounts.unit else {}
    if amounts.factor is not None:
        settings["factor"] = amounts.factor
    rows = _rows_of_marks(column.texts)
    if not rows:
        possible = possible[:1]
    elif len(possible) == 1:
        settings["decimal"] = possible[0]
    values = number_values(parts, possible[0], amounts, fits[possible[0]])
    if not np.isfinite(values).any() or (
        not column.requested and parts.share(np.isfinite(values)) < _MIXED
    ):
        return None
    choices = {"decimal": possible} if len(possible) > 1 else {}
    notes = [] if choices else _notes_of_marks(column, settings, rows)
    return Decision("number", settings, choices, [*notes, *_notes_of_amounts(column, settings)])


def _rows_of_marks(texts: pa.Array) -> dict[str, int]:
    """Return the first row with a point and the first row with a comma, where they exist."""
    import pyarrow.compute as pc

    rows = {mark: pc.index(pc.match_substring(texts, mark), True).as_py() for mark in THOUSANDS}
    return {mark: row for mark, row in rows.items() if row >= 0}


def _example(column: TextColumn, settings: Mapping[str, Any], row: int) -> str:
    """Return how an entry is read, as shown in a note."""
    entry = TextColumn(column.name, column.texts.slice(row, 1), column.options)
    number = NumberRule().read(entry, settings).values[0]
    return f"{shown(column.texts[row])} is read as {number}"


def _notes_of_marks(
    column: TextColumn, settings: Mapping[str, Any], rows: Mapping[str, int]
) -> list[tuple[str, str]]:
    decimal = settings.get("decimal", ".")
    notes = []
    for mark, row in rows.items():
        words = f"decimal {MARKS[mark]}" if mark == decimal else f"{MARKS[mark]} between thousands"
        if mark == "," or mark != decimal:
            notes.append((f"has {words}", _example(column, settings, row)))
    return notes


def _notes_of_amounts(column: TextColumn, settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    unit, factor = settings.get("unit", ""), settings.get("factor")
    if unit == NO_UNIT or not (unit or factor is not None):
        return []
    if unit == "%":
        words = "holds percentages"
    elif factor == "":
        words = "has factors such as k and M, which are multiplied"
    else:
        words = f"holds amounts in {unit}{' ' * bool(unit and factor)}{factor or ''}"
    read = NumberRule().read(replace(column, texts=column.sample()), settings).values
    row = int(np.argmax(read.notna()))
    return [(words, f"{shown(column.sample()[row])} is read as {read[row]}")]


def _refuse_other_unit(column: TextColumn, amounts: Amounts, parts: Parts) -> None:
    """Raise InputError if all numbers of a column have another unit than they should have."""
    ends = [end for end in parts.ends if end is not None]
    if amounts.unit == NO_UNIT or not (amounts.unit or amounts.factor):
        return
    units = {front + rest for _, front, _, rest in ends}
    if not ends or any(not np.isnan(amounts.number_factor(end)) for end in ends):
        return
    then, unit = amounts.unit or amounts.factor, next(iter(units))
    here = f"the unit {unit}" if unit else "no unit"
    raise InputError(
        f"Column {column.name!r} had the unit {then} at the fit, and has {here} here "
        f"({column.entry()}): convert the entries, and write them as at the fit."
    )


def _code(column: TextColumn, numbers: pa.Array) -> Decision | None:
    """Return the decision for text if plain numbers (n,) are codes, or would lose digits."""
    texts = column.texts
    if loses_digits(texts, numbers):
        words = "has whole numbers with more digits than floating-point numbers hold: read as text"
        return Decision("text", notes=[(words, "")])
    rule, row = code_rule(texts, numbers) or ("padded", 0)
    if rule == "padded":
        return None
    what = "leading zeros" if rule == "zeros" else "a letter E among digits"
    words = f"has codes with {what}: read as text; a type number (types=, --types) overrules that"
    return Decision("text", notes=[(words, column.entry(row))])


def _padded(column: TextColumn, numbers: pa.Array) -> list[tuple[str, str]]:
    """Return a note on numbers of two digits with leading zeros."""
    rule, row = code_rule(column.texts, numbers) or ("", 0)
    if rule != "padded" or column.requested is not None:
        return []
    words = "has leading zeros, which numbers lose; a type text (--types) keeps them"
    return [(words, f"{column.entry(row)} is read as {numbers[row]}")]

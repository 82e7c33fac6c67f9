"""The rule for numbers: decimal commas, thousands, currencies, units, factors and flags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.names import shown
from bochner.files.errors import InputError
from bochner.files.read_options import NUMBER_KINDS
from bochner.files.rules import (
    SAMPLE_SIZE,
    SHARE_READ,
    Conventions,
    Decision,
    Reading,
    TextColumn,
)

if TYPE_CHECKING:
    import pyarrow as pa

MARKS = {".": "points", ",": "commas"}
"""Decimal marks, with their names in notes."""

_THOUSANDS = {".": ",", ",": "."}
"""Separator of thousands by decimal mark."""

SPACES = " \u00a0\u2009\u202f'\u2019"
"""Other separators of thousands: spaces of several widths, and apostrophes."""

_CURRENCIES = "[$€£¥₹₽₩₺₪]|(?:US|R|A|C)[$]|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|Fr|kr|zł"

_MEASURES = frozenset(
    [
        "%",
        "mm",
        "cm",
        "m",
        "km",
        "in",
        "ft",
        "mi",
        "m2",
        "km2",
        "m²",
        "km²",
        "sqm",
        "sqft",
        "ha",
        "ml",
        "cl",
        "l",
        "m3",
        "m³",
        "mg",
        "g",
        "kg",
        "t",
        "lb",
        "lbs",
        "oz",
        "ms",
        "s",
        "sec",
        "min",
        "h",
        "hr",
        "hrs",
        "d",
        "days",
        "weeks",
        "months",
        "years",
        "Hz",
        "kHz",
        "MHz",
        "GHz",
        "kV",
        "mV",
        "mA",
        "kW",
        "MW",
        "kWh",
        "kJ",
        "kcal",
        "hPa",
        "kPa",
        "MPa",
        "bar",
        "mbar",
        "psi",
        "°C",
        "°F",
        "°",
        "mph",
        "km/h",
        "m/s",
        "rpm",
        "ppm",
        "dB",
    ]
)
"""Units that may stand next to a number; other units need a space or decimals before them."""

_FACTORS = {
    "k": 1e3, "K": 1e3, "M": 1e6, "mn": 1e6, "Mio": 1e6, "Mio.": 1e6, "B": 1e9, "bn": 1e9,
    "Mrd": 1e9, "Mrd.": 1e9,
}  # fmt: skip
"""Factors that are written after numbers."""

_FLAG = re.compile(r"[*†‡§+?!#^~]+|\([\w*]{1,2}\)")
"""Flags after numbers: stars, marks of footnotes, letters in brackets, and the plus of 10,000+."""

_STATUS = re.compile(r"[a-z]{1,2}")
"""Letters by which statistical offices mark entries, such as p for provisional."""

LARGEST_EXACT = 2**53
"""Largest integer up to which all integers are exact in float64, the type of encoded tables."""

_FEWEST_WIDE_CODES = 3
"""Fewest digits of codes with leading zeros and equal width: 01 to 12 may be months."""

_NO_UNIT = "?"
"""In place of a unit, where numbers do not share one."""

_MIXED = 0.5
"""Share of numbers below which the rule declines a column."""


def _pattern(decimal: str) -> str:
    mark, comma = re.escape(decimal), re.escape(_THOUSANDS[decimal])
    groups = "|".join(f"[1-9][0-9]{{0,2}}(?:{some}[0-9]{{3}})+" for some in (comma, f"[{SPACES}]"))
    return rf"^[+-]?(?:(?:[0-9]+|{groups})(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?$"


_PATTERNS = {decimal: _pattern(decimal) for decimal in _THOUSANDS}
"""Patterns of numbers by decimal mark, for `re` and for Arrow."""

_BARE_EXPONENT = "^[0-9]+E[0-9]+$"
"""A code such as 1E3 or 7E10; programs write numbers with a point, a sign or a small e."""

_ENTRY = (
    rf"^(?P<limit>(?:[<>≤≥≈~])?)[{SPACES}]?(?P<sign>[+-]?)(?P<front>(?:{_CURRENCIES})?)[{SPACES}]?"
    rf"(?P<body>[+-]?[0-9.,][0-9.,{SPACES}]*?(?:[eE][+-]?[0-9]+)?)"
    rf"(?P<gap>[{SPACES}]?)(?P<rest>(?:[^0-9.,{SPACES}][^{SPACES}]{{0,11}})?)$"
)
"""A number with a limit or currency in front of it, and a unit, factor or flag behind it."""


class _Parts:
    """The parts of distinct texts (k,), with their numbers of occurrences."""

    def __init__(self, levels: pa.Array, counts: NDArray[np.int64]) -> None:
        import pyarrow.compute as pc

        self.levels, self.counts = levels, counts
        texts = pc.replace_substring(levels, "\u2212", "-")  # Typographic minus sign
        self.parts = pc.extract_regex(texts, _ENTRY)

    def field(self, name: str) -> list[str | None]:
        """Return a part of each text, None for texts that are no numbers."""
        import pyarrow.compute as pc

        return list(pc.struct_field(self.parts, _FIELDS.index(name)).to_pylist())

    @cached_property
    def bodies(self) -> pa.Array:
        """The signs and digits, null for texts that are no numbers."""
        import pyarrow.compute as pc

        sign, body = (pc.struct_field(self.parts, _FIELDS.index(name)) for name in ("sign", "body"))
        return pc.binary_join_element_wise(sign, body, "")

    @cached_property
    def ends(self) -> list[tuple[str, str, str, str] | None]:
        """The limit, the currency in front, the gap and the rest of each text."""
        names = ("limit", "front", "gap", "rest")
        columns = zip(*map(self.field, names), strict=True)
        return [None if some[0] is None else some for some in columns]  # type: ignore[misc]

    def fits(self, decimal: str) -> NDArray[np.bool_]:
        """Return the mask (k,) of texts whose digits are a number with a decimal mark."""
        import pyarrow.compute as pc

        return np.array(pc.match_substring_regex(self.bodies, _PATTERNS[decimal]).fill_null(False))

    def share(self, mask: NDArray[np.bool_]) -> float:
        """Return the share of entries in a mask (k,) of levels."""
        return float(self.counts[mask].sum() / max(self.counts.sum(), 1))


_FIELDS = tuple(re.compile(_ENTRY).groupindex)


@dataclass(frozen=True, slots=True)
class _Amounts:
    """The unit and factor that the texts of a column share; ``factor`` None without factors.

    An empty factor is for factors that differ, such as k and M, which are multiplied.
    """

    unit: str = ""
    factor: str | None = None

    def number_factor(self, end: tuple[str, str, str, str] | None) -> float:
        """Return what the number of a text is multiplied by, NaN if the text has another unit."""
        if end is None:
            return np.nan
        _, front, gap, rest = end
        factor = 1.0
        if self.factor is not None:
            if rest in _FACTORS:
                factor, rest = _FACTORS[rest] / _FACTORS.get(self.factor, 1.0), ""
            elif self.factor:
                return np.nan
        is_flag = _FLAG.fullmatch(rest) or (gap and not self.unit and _STATUS.fullmatch(rest))
        unit = front + ("" if is_flag else rest)
        is_right = unit == self.unit or (not unit and is_currency(self.unit))
        return factor if is_right else np.nan


def _amounts(parts: _Parts, fits: NDArray[np.bool_]) -> _Amounts:
    """Return the unit and the factor that most numbers have."""
    units: Counter[str] = Counter()
    factors: Counter[str] = Counter()
    spaced: Counter[str] = Counter()
    for end, count, is_number in zip(parts.ends, parts.counts.tolist(), fits, strict=True):
        if end is None or not is_number:
            continue
        _, front, gap, rest = end
        if rest in _FACTORS:
            factors[rest] += count
            rest = ""
        rest = "" if _FLAG.fullmatch(rest) else rest
        units[front + rest] += count
        spaced[front + rest] += count * bool(gap)
    total = units.total()
    unit = max(units, key=units.__getitem__, default="")
    if is_currency(unit) or (not unit and any(map(is_currency, units))):
        unit = next(some for some in units.most_common() if is_currency(some[0]))[0]
        units[unit] += units[""]
    is_unit = unit in _MEASURES or is_currency(unit) or spaced[unit] == units[unit]
    if unit and (units[unit] < SHARE_READ * total or not (is_unit or _has_decimals(parts, fits))):
        return _Amounts(_NO_UNIT)
    if not factors:
        return _Amounts(unit)
    common = max(factors, key=factors.__getitem__)
    return _Amounts(unit, common if factors[common] == total else "")


def _has_decimals(parts: _Parts, fits: NDArray[np.bool_]) -> bool:
    import pyarrow.compute as pc

    return bool(
        np.array(pc.match_substring_regex(parts.bodies, "[.,]").fill_null(False))[fits].any()
    )


class NumberRule:
    """Reads numbers with either decimal mark, thousands, one unit or currency, factors and flags.

    Its settings are the decimal mark, if an entry has one, the unit and the factor.
    """

    name = "number"
    noun = "numbers"

    def decide(self, column: TextColumn) -> Decision | None:
        """Return the decimal mark, the unit and the factor, or None for fewer numbers than text."""
        kind, mark = column.requested, column.options.decimal
        mark = (NUMBER_KINDS[kind] if kind in NUMBER_KINDS else None) or mark
        decimals = tuple(_THOUSANDS) if mark == "auto" else (mark,)
        numbers = plain_numbers(column.texts)
        if numbers is None:
            return _decide_local(column, decimals)
        has_point = has_mark(column.texts)
        if has_point and "." not in decimals:
            return _decide_local(column, decimals)
        if kind is None and (code := _code(column, numbers)):
            return code
        if not has_point:
            return Decision(self.name, {}, notes=_padded(column, numbers))
        is_open = "," in decimals and _all_match(column.texts, _PATTERNS[","])
        choices = {"decimal": decimals} if is_open else {}
        return Decision(self.name, {} if is_open else {"decimal": "."}, choices)

    def settle(self, column: TextColumn, decision: Decision, file: Conventions) -> Decision:
        """Return the decision with the decimal mark of most other columns of the file."""
        counts = Counter(file.decided.values())
        decimal = "," if counts[","] > counts["."] else "."
        settled = replace(decision, settings={**decision.settings, "decimal": decimal}, choices={})
        other = _THOUSANDS[decimal]
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

        amounts = _Amounts(settings.get("unit", ""), settings.get("factor"))
        decimal = settings.get("decimal", ".")
        if amounts == _Amounts() and (decimal == "." or not has_mark(column.texts)):
            numbers = plain_numbers(column.texts)
            if numbers is not None:
                return Reading(pd.Series(np.array(numbers)))
        parts, codes = _parts_of(column.texts)
        _refuse_other_unit(column, amounts, parts)
        fits = parts.fits(decimal)
        values = _values(parts, decimal, amounts, fits)
        entries = np.append(values, np.nan)[codes]  # Missing entries have the code -1
        unread = np.isnan(entries) & column.present()
        if not unread.any() and column.texts.null_count == 0 and not _has_decimals(parts, fits):
            whole = entries == np.round(entries)
            if whole.all() and np.abs(entries).max(initial=0.0) <= LARGEST_EXACT:
                entries = entries.astype(np.int64)
        return Reading(pd.Series(entries), unread if unread.any() else None)


def _decide_local(column: TextColumn, decimals: Sequence[str]) -> Decision | None:
    """Return the decision on numbers that are not all in the notation of programs."""
    sample, _ = _parts_of(column.sample())
    if not column.requested and sample.share(_either(sample, decimals)) < _MIXED:
        return None
    parts, _ = _parts_of(column.texts)
    fits = {decimal: parts.fits(decimal) for decimal in decimals}
    shares = {decimal: parts.share(mask) for decimal, mask in fits.items()}
    best = max(shares.values())
    possible = tuple(decimal for decimal in decimals if shares[decimal] == best)
    if not best:
        return None
    amounts = _amounts(parts, fits[possible[0]])
    settings: dict[str, Any] = {"unit": amounts.unit} if amounts.unit else {}
    if amounts.factor is not None:
        settings["factor"] = amounts.factor
    rows = _rows_of_marks(column.texts)
    if not rows:
        possible = possible[:1]
    elif len(possible) == 1:
        settings["decimal"] = possible[0]
    values = _values(parts, possible[0], amounts, fits[possible[0]])
    if not np.isfinite(values).any() or (
        not column.requested and parts.share(np.isfinite(values)) < _MIXED
    ):
        return None
    choices = {"decimal": possible} if len(possible) > 1 else {}
    notes = [] if choices else _notes_of_marks(column, settings, rows)
    return Decision("number", settings, choices, [*notes, *_notes_of_amounts(column, settings)])


def _either(parts: _Parts, decimals: Sequence[str]) -> NDArray[np.bool_]:
    return np.logical_or.reduce([parts.fits(decimal) for decimal in decimals])


def _parts_of(texts: pa.Array) -> tuple[_Parts, NDArray[np.intp]]:
    """Return the parts of the distinct texts, and their positions (n,), -1 where missing."""
    import pyarrow.compute as pc

    counts = pc.value_counts(texts.drop_null())
    levels, numbers = counts.field(0), np.array(counts.field(1))
    codes = np.array(pc.index_in(texts, value_set=levels).fill_null(-1))
    return _Parts(levels, numbers), codes.astype(np.intp)


def _values(
    parts: _Parts, decimal: str, amounts: _Amounts, fits: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the numbers (k,) of texts, NaN for other texts and other units."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.if_else(pa.array(fits), parts.bodies, pa.scalar(None, pa.string()))
    texts = pc.replace_substring(texts, _THOUSANDS[decimal], "")
    texts = pc.replace_substring(texts, ",", ".") if decimal == "," else texts
    texts = pc.replace_substring_regex(texts, f"[{SPACES}]", "")
    values = np.array(pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    factors = {end: amounts.number_factor(end) for end in set(parts.ends)}
    return values * np.array([factors[end] for end in parts.ends], dtype=np.float64)


def _rows_of_marks(texts: pa.Array) -> dict[str, int]:
    """Return the first row with a point and the first row with a comma, where they exist."""
    import pyarrow.compute as pc

    rows = {mark: pc.index(pc.match_substring(texts, mark), True).as_py() for mark in _THOUSANDS}
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
    row = int(np.argmax(column.present()))
    if unit == _NO_UNIT or not (unit or factor is not None):
        return []
    if unit == "%":
        words = "holds percentages"
    elif factor == "":
        words = "has factors such as k and M, which are multiplied"
    else:
        words = f"holds amounts in {unit}{' ' * bool(unit and factor)}{factor or ''}"
    return [(words, _example(column, settings, row))]


def _refuse_other_unit(column: TextColumn, amounts: _Amounts, parts: _Parts) -> None:
    """Raise InputError if all numbers of a column have another unit than they should have."""
    ends = [end for end in parts.ends if end is not None]
    if amounts.unit == _NO_UNIT or not (amounts.unit or amounts.factor):
        return
    units = {front + rest for _, front, _, rest in ends}
    if not ends or any(not np.isnan(amounts.number_factor(end)) for end in ends):
        return
    then, here = amounts.unit or amounts.factor, next(iter(units))
    raise InputError(
        f"Column {column.name!r} had the unit {then} at the fit, and has "
        f"{f'the unit {here}' if here else 'no unit'} here ({column.entry()}): convert the entries, "
        "and write them as at the fit."
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
        is_code = pa.types.is_integer(kind) and pc.any(pc.match_substring(texts, "x")).as_py()
        return None if is_code else numbers
    return None


def code_rule(texts: pa.Array, numbers: pa.Array) -> tuple[str, int] | None:
    """Return the reason why plain numbers (n,) are codes, and the first such row, or None.

    The rule is "zeros" for leading zeros that tell entries apart, "padded" for two digits with a
    leading zero, which numbers lose without harm, and "exponents" if all entries are such as 7E10.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_integer(numbers.type):
        return ("exponents", 0) if _all_match(texts, _BARE_EXPONENT) else None
    lengths = pc.binary_length(texts)
    has_zero = pc.and_(pc.starts_with(texts, "0"), pc.greater(lengths, 1)).fill_null(False)
    row = pc.index(has_zero, True).as_py()
    if row < 0:
        return None
    ends = pc.min_max(lengths).as_py()
    is_padded = ends["min"] == ends["max"] < _FEWEST_WIDE_CODES
    return ("padded" if is_padded else "zeros"), row


def has_mark(texts: pa.Array, mark: str = ".") -> bool:
    """Return whether one of the texts (n,) has a decimal mark."""
    import pyarrow.compute as pc

    return pc.any(pc.match_substring(texts, mark)).as_py() is True


def loses_digits(texts: pa.Array, numbers: pa.Array) -> bool:
    """Return whether texts are integers of which some are too large to be exact in float64."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_integer(numbers.type) and not _all_match(texts, "^[+-]?[0-9]+$"):
        return False
    ends = pc.min_max(numbers).as_py()
    return ends["min"] is not None and max(-ends["min"], ends["max"]) > LARGEST_EXACT


def written_numbers(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return a mask (n,) of texts that are numbers with the decimal mark that fits most texts."""
    patterns = map(re.compile, _PATTERNS.values())
    masks = [[pattern.match(text) is not None for text in texts] for pattern in patterns]
    return np.array(max(masks, key=sum), dtype=bool)


def are_decimals(texts: Sequence[str]) -> bool:
    """Return whether all texts are numbers with the same decimal mark, and not all integers."""
    return not all(map(str.isdigit, texts)) and bool(written_numbers(texts).all())


def _all_match(texts: pa.Array, pattern: str) -> bool:
    import pyarrow.compute as pc

    sample = texts.slice(0, SAMPLE_SIZE)
    parts = (sample, texts) if len(texts) > SAMPLE_SIZE else (sample,)
    return all(pc.all(pc.match_substring_regex(part, pattern)).as_py() is not False
               for part in parts)  # fmt: skip


def is_currency(unit: str) -> bool:
    """Return whether a unit is a currency, which amounts of money may omit."""
    return re.fullmatch(_CURRENCIES, unit) is not None


def are_quantities(texts: pa.Array) -> bool:
    """Return whether all texts (k,) are numbers with a common unit."""
    parts, _ = _parts_of(texts)
    fits = _either(parts, tuple(_THOUSANDS))
    return bool(fits.all()) and _amounts(parts, fits).unit not in ("", _NO_UNIT)


def is_number(text: str) -> bool:
    """Return whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True

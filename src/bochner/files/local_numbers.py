"""Numbers in local notation: decimal commas, thousands separators, currencies and units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

MARKS = {".": "points", ",": "commas"}
"""Decimal marks, with their names in notes."""

_THOUSANDS = {".": ",", ",": "."}
"""Separator of thousands by decimal mark."""

SPACES = " \u00a0\u2009\u202f'\u2019"
"""Other separators of thousands: spaces of several widths, and apostrophes."""

_CURRENCIES = "[$€£¥₹₽₩₺₪]|(?:US|R|A|C)[$]|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|Fr|kr|zł"
_PER_CENT = "%"
_MEASURES = (
    "mm|cm|m|km|in|ft|mi|m2|km2|m²|km²|sqm|sqft|ha|ml|cl|l|m3|m³|mg|g|kg|t|lb|lbs|oz|ms|s|sec|min|"
    "h|hr|hrs|d|days|weeks|months|years|Hz|kHz|MHz|GHz|kV|mV|mA|kW|MW|kWh|kJ|kcal|hPa|kPa|MPa|bar|"
    "mbar|psi|°C|°F|°|mph|km/h|m/s|rpm|ppm|dB"
)
"""Units of measurement that may stand after numbers."""

LARGEST_EXACT = 2**53
"""Largest integer up to which all integers are exact in float64, the type of encoded tables."""

SHARE_READ = 0.9
"""Smallest share of numbers or dates among the present entries at which a column of text is read as
numbers or dates."""

_SAMPLE_SIZE = 1000
"""Entries that are tested first, because most columns of other text fail within them."""


def _pattern(decimal: str) -> str:
    mark, comma = re.escape(decimal), re.escape(_THOUSANDS[decimal])
    groups = "|".join(f"[1-9][0-9]{{0,2}}(?:{some}[0-9]{{3}})+" for some in (comma, f"[{SPACES}]"))
    return rf"^[+-]?(?:(?:[0-9]+|{groups})(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?$"


_PATTERNS = {decimal: _pattern(decimal) for decimal in _THOUSANDS}
"""Patterns of numbers by decimal mark, for `re` and for Arrow."""

_BARE_EXPONENT = "^[0-9]+E[0-9]+$"
"""A code such as 1E3 or 7E10; programs write numbers with a point, a sign or a small e."""

_UNIT = f"{_CURRENCIES}|{_PER_CENT}"
_WITH_UNIT = (
    rf"^(?P<sign>[+-]?)(?P<front>(?:{_UNIT})?)[{SPACES}]?"
    rf"(?P<body>[+-]?[0-9.,][0-9.,{SPACES}]*?(?:[eE][+-]?[0-9]+)?)"
    rf"[{SPACES}]?(?P<back>(?:{_UNIT}|{_MEASURES})?)$"
)


@dataclass(frozen=True, slots=True)
class LocalNumbers:
    """Texts (n,) of numbers without their unit, and the decimal marks that can read all texts.

    With two marks, the numbers depend on the choice of the decimal mark; without marks, no text has
    one. ``rows`` has the first row with a point and the first row with a comma, where they exist.
    """

    texts: Any
    unit: str
    decimals: tuple[str, ...]
    rows: Mapping[str, int]

    def read(self, decimal: str) -> pa.Array:
        """Return the numbers (n,) as an Arrow array, null where the texts are null."""
        import pyarrow.compute as pc

        texts, mark = self.texts, _THOUSANDS[decimal]
        texts = pc.replace_substring(texts, mark, "") if mark in self.rows else texts
        texts = pc.replace_substring(texts, ",", ".") if decimal == "," else texts
        numbers = plain_numbers(texts)
        if numbers is None:
            numbers = plain_numbers(pc.replace_substring_regex(texts, f"[{SPACES}]", ""))
        assert numbers is not None  # The patterns of `find_numbers` accept nothing else
        return numbers


def present_sample(texts: pa.Array) -> pa.Array:
    """Return the first present texts (k,); copies all rows only if many are missing."""
    head = texts.slice(0, 10 * _SAMPLE_SIZE).drop_null()
    return (head if len(head) else texts.drop_null()).slice(0, _SAMPLE_SIZE)


def plain_numbers(texts: pa.Array) -> pa.Array | None:
    """Return texts (n,) as integers or floats if all are in the notation of programs, else None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sample = texts.slice(0, _SAMPLE_SIZE)
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


_FEWEST_WIDE_CODES = 3
"""Fewest digits of codes with leading zeros and equal width: 01 to 12 may be months."""


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


def find_numbers(texts: pa.Array, decimals: Sequence[str]) -> LocalNumbers | None:
    """Parse texts (n,) as numbers if one decimal mark can read all of them, else return None."""
    import pyarrow.compute as pc

    for bodies, unit in _bodies(texts):
        possible = tuple(decimal for decimal in decimals if _all_match(bodies, _PATTERNS[decimal]))
        if possible:
            contained = {mark: pc.match_substring(bodies, mark) for mark in _THOUSANDS}
            rows = {mark: pc.index(mask, True).as_py() for mark, mask in contained.items()}
            rows = {mark: row for mark, row in rows.items() if row >= 0}
            return LocalNumbers(bodies, unit, possible if rows else (), rows)
    return None


def numbers_among(
    texts: pa.Array, decimals: Sequence[str] = (".", ","), unit: str = ""
) -> NDArray[np.bool_]:
    """Return a mask (n,) of texts that are numbers with the decimal mark that fits most texts."""
    import pyarrow.compute as pc

    if unit:
        texts = pc.replace_substring_regex(texts, rf"[{SPACES}]*{re.escape(unit)}[{SPACES}]*", "")
    masks = [pc.match_substring_regex(texts, _PATTERNS[decimal]) for decimal in decimals]
    return max((np.array(mask.fill_null(False)) for mask in masks), key=np.count_nonzero)


def may_hold_numbers(texts: pa.Array) -> bool:
    """Return whether one of the texts (k,) might be a number, with or without a unit."""
    import pyarrow.compute as pc

    plain = pc.replace_substring(texts, "\u2212", "-")
    infinite = pc.match_substring_regex(plain, "^[+-]?(?i:inf(?:inity)?)$")
    return pc.any(pc.or_(infinite, pc.match_substring_regex(plain, _WITH_UNIT))).as_py() is True


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

    sample = texts.slice(0, _SAMPLE_SIZE)
    parts = (sample, texts) if len(texts) > _SAMPLE_SIZE else (sample,)
    return all(pc.all(pc.match_substring_regex(part, pattern)).as_py() is not False
               for part in parts)  # fmt: skip


def _bodies(texts: pa.Array) -> Iterator[tuple[pa.Array, str]]:
    """Yield the texts unchanged, then without their unit if they share a single unit."""
    import pyarrow.compute as pc

    yield texts, ""
    for some in (texts.slice(0, _SAMPLE_SIZE), texts):
        plain = pc.replace_substring(some, "\u2212", "-")  # Typographic minus sign
        if not _all_match(plain, _WITH_UNIT):
            return
    parts = pc.extract_regex(plain, _WITH_UNIT)
    sign, front, body, back = (pc.struct_field(parts, i) for i in range(4))
    units = pc.binary_join_element_wise(front, back, "")
    counts = {some["values"]: some["counts"] for some in pc.value_counts(units).to_pylist()}
    named = [unit for unit in counts if unit]
    if len(named) > 1 or (named and "" in counts and not is_currency(named[0])):
        return  # Entries have different units
    yield pc.binary_join_element_wise(sign, body, ""), named[0] if named else ""


def is_currency(unit: str) -> bool:
    """Return whether a unit is a currency, which amounts of money may omit."""
    return re.fullmatch(_CURRENCIES, unit) is not None

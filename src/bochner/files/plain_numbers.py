"""Numbers in the notation of programs, and codes that look like numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bochner.files.rules import SAMPLE_SIZE

if TYPE_CHECKING:
    import pyarrow as pa

LARGEST_EXACT = 2**53
"""Largest integer up to which all integers are exact in float64, the type of encoded tables."""

_FEWEST_WIDE_CODES = 3
"""Fewest digits of codes with leading zeros and equal width: 01 to 12 may be months."""

_BARE_EXPONENT = "^[0-9]+E[0-9]+$"
"""A code such as 1E3 or 7E10; programs write numbers with a point, a sign or a small e."""


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
        return ("exponents", 0) if all_match(texts, _BARE_EXPONENT) else None
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

    if not pa.types.is_integer(numbers.type) and not all_match(texts, "^[+-]?[0-9]+$"):
        return False
    ends = pc.min_max(numbers).as_py()
    return ends["min"] is not None and max(-ends["min"], ends["max"]) > LARGEST_EXACT


def is_number(text: str) -> bool:
    """Return whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def all_match(texts: pa.Array, pattern: str) -> bool:
    """Return whether all texts (n,) have a pattern; most other columns fail in a sample."""
    import pyarrow.compute as pc

    sample = texts.slice(0, SAMPLE_SIZE)
    parts = (sample, texts) if len(texts) > SAMPLE_SIZE else (sample,)
    return all(pc.all(pc.match_substring_regex(part, pattern)).as_py() is not False
               for part in parts)  # fmt: skip

"""Numbers in the notation of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bochner.files.rules import SAMPLE_SIZE

if TYPE_CHECKING:
    import pyarrow as pa

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

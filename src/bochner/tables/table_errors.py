"""Errors of tables; each names the columns, the expected entries and a remedy."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from itertools import chain

import numpy as np

from bochner._base.limits import LARGEST_ENTRY
from bochner._base.names import MOST_LETTERS, MOST_NAMED, ColumnDetails, naming, nearest
from bochner.files.columns import Column, kind_of
from bochner.files.rule_reading import are_values

_SAMPLE_SIZE = 100
"""Distinct texts that are read first: text other than numbers and dates fails within them."""


def drop_advice(columns: ColumnDetails) -> str:
    """Return advice on dropping columns, in Python and on the command line."""
    shown = [name for name, _ in columns[:MOST_NAMED]]
    dots = ["..."] if len(columns) > len(shown) else []
    if max(map(len, shown)) > MOST_LETTERS:
        return "drop " + ("it" if len(columns) == 1 else "them")
    quoted = [f'"{name}"' if any(map(str.isspace, name)) else name for name in shown]
    flags = " ".join([*(f"--drop {name}" for name in quoted), *dots])
    listed = ", ".join([*map(repr, shown), *dots])
    pronoun = "it" if len(columns) == 1 else "them"
    return f"drop {pronoun}: X.drop(columns=[{listed}]), or {flags} on the command line"


def refuse_small(n: int, d: int, fewest_rows: int) -> None:
    """Raise ValueError if n rows or d columns are too few to fit."""
    if d == 0:
        raise ValueError(
            f"Found a table with 0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required."
        )
    if n < fewest_rows:
        raise ValueError(
            f"The table has {'one row' if n else 'no rows'} (n_samples={n}): expected at least "
            f"{fewest_rows}. Add rows."
        )


def refuse_other_names(names: Sequence[str], fitted: Sequence[str]) -> None:
    """Raise ValueError unless a table has the columns of the training table, in any order."""
    present, expected = set(names), set(fitted)
    missing = [name for name in fitted if name not in present]
    extra = [name for name in names if name not in expected]
    if missing:
        near = ((name, nearest(name, extra)) for name in missing)
        with_hints = [
            (name, f"nearest name there: {other!r:.60}" if other else "") for name, other in near
        ]
        raise ValueError(
            f"Missing {naming(with_hints)}: expected all columns of the fit, {len(fitted)} of "
            "them. Rename or add the columns; their entries may be empty."
        )
    if extra:
        raise ValueError(
            f"Unexpected {naming([(name, '') for name in extra])}: expected only the "
            f"{len(fitted)} columns of the fit. Leave them out: "
            "X[list(model.feature_names_in_)], or delete them from the file."
        )


def refuse_unreadable(columns: Sequence[Column]) -> None:
    """Raise TypeError for entries of unusable types, ValueError for complex or mixed columns."""
    foreign = [(c.name, _foreign_type(c)) for c in columns if c.kind == "unsupported"]
    if any("complex" in detail for _, detail in foreign):
        raise ValueError(
            f"Complex data not supported: {naming(foreign)}. Split real and imaginary parts, "
            f"or {drop_advice(foreign)}."
        )
    if foreign:
        raise TypeError(
            f"Unreadable {naming(foreign)}: every entry of the table argument must be "
            f"a string, a number or a date. Convert, or {drop_advice(foreign)}."
        )
    refuse_mixed([(c.name, c.examples()) for c in columns if c.kind == "mixed"])


def refuse_mixed(mixed: ColumnDetails) -> None:
    """Raise ValueError for columns of mixed kinds; the message has examples of each kind."""
    if mixed:
        raise ValueError(
            f"Mixed types in {naming(mixed)}: expected numbers, text or dates throughout. "
            "Leave missing entries empty, convert the others to one kind, read codes as text "
            f"(types=, --types), or {drop_advice(mixed)}."
        )


def refuse_infinite(columns: Sequence[Column]) -> None:
    """Raise ValueError for numbers that are infinite or beyond `LARGEST_ENTRY`."""
    rows = [(c, c.infinite_rows()) for c in columns]
    infinite = [(c.name, f"{r.size} of them, first in {c.at(r[0])}") for c, r in rows if r.size]
    if infinite:
        raise ValueError(
            f"Infinite numbers (or beyond {LARGEST_ENTRY:g}) in {naming(infinite)}: expected "
            "finite ones. Replace them, or leave the entries empty, which counts as missing."
        )


_LONGEST_LEVELS = 15_000_000
"""Characters of the levels of a table: two encoders store them in a header of at most 40 MB."""


def refuse_long_levels(levels: Mapping[str, Collection[str]]) -> None:
    """Raise ValueError if the levels of columns are too long to be stored in a model file."""
    lengths = {name: sum(map(len, map(ascii, texts))) for name, texts in levels.items()}
    if sum(lengths.values()) > _LONGEST_LEVELS:
        name = max(lengths, key=lengths.__getitem__)
        raise ValueError(
            f"Too long texts in {naming([(name, f'{lengths[name]:,} characters of levels')])}: "
            f"expected at most {_LONGEST_LEVELS:,} in a table, since the model stores them. "
            f"Shorten the texts, as by X[column].str[:1000], or {drop_advice([(name, '')])}."
        )


LEAST_SIZE = 1e-300
"""Size of the largest number of a column below which deviations lose digits as denormal numbers."""


def refuse_tiny(columns: Sequence[Column]) -> None:
    """Raise ValueError for columns of numbers so small that their reciprocals overflow."""
    numeric = [column for column in columns if column.kind == "numeric"]
    sizes = [(c.name, float(np.nanmax(np.abs(c.values), initial=0.0))) for c in numeric]
    tiny = [(name, f"{size:.3g} at most") for name, size in sizes if 0.0 < size < LEAST_SIZE]
    if tiny:
        raise ValueError(
            f"Numbers too small to be divided by in {naming(tiny)}: expected one of at least "
            f"{LEAST_SIZE:g} in a column. Change its unit."
        )


def warn_of_identifiers(columns: Sequence[Column]) -> None:
    """Warn that text columns with mostly distinct entries are left out."""
    with_counts = [
        (c.name, f"{len(set(c.raw[c.present]))} distinct texts in {c.present.sum()} rows")
        for c in columns
    ]
    if with_counts:
        warnings.warn(
            f"Identifiers in {naming(with_counts)}: left out of the features, because most texts "
            f"occur once. Group the levels to use them, or, for no warning, "
            f"{drop_advice(with_counts)}.",
            stacklevel=1,  # Raised in one place, so that Python shows the warning once
        )


def warn_of_written_values(columns: Sequence[Column]) -> list[Column]:
    """Warn of text columns that hold numbers or dates, and return the remaining columns."""
    written = [column for column in columns if column.kind == "text" and _is_written(column)]
    if written:
        warnings.warn(
            "Numbers or dates written as text in "
            f"{naming([(c.name, c.first()) for c in written])}: encoded as text. Convert them, or "
            "read the file or the frame with bochner.read_table, which recognises decimal commas, "
            "units and local dates; categories are encoded as text without a warning.",
            stacklevel=1,  # Raised in one place, as above
        )
    return [column for column in columns if column not in written]


def _is_written(column: Column) -> bool:
    texts = list(dict.fromkeys(column.raw[column.present]))
    if column.is_category or not any(map(str.isdigit, chain.from_iterable(texts))):
        return False
    try:
        return all(map(are_values, (texts[:_SAMPLE_SIZE], texts)))
    except (ImportError, UnicodeEncodeError):  # Without the extra, files cannot be read either
        return False


def _foreign_type(column: Column) -> str:
    if column.raw.dtype.kind != "O":
        return str(column.raw.dtype)
    types = map(type, column.raw[column.present])
    return next(entry_type.__name__ for entry_type in types if kind_of(entry_type) == "unsupported")

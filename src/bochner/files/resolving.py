"""Conversion of the columns of a file, and the record of this conversion."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bochner.files.conventions import Conventions, decide, own_kind
from bochner.files.guesses import Guess, PlainNumbers, guess
from bochner.files.native import prepare
from bochner.files.reading_options import ReadOptions
from bochner.files.remarks import Remarks, shown
from bochner.files.settling import settle

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class RawColumns:
    """Columns (n,) by name, Arrow arrays of texts or pandas Series of anything else.

    ``delimiter`` is that of a text file, ``n_names`` the number of lines of names, and ``first``
    has the entries of the first row if there are no names.
    """

    columns: dict[str, Any]
    notes: tuple[str, ...]
    delimiter: str = ""
    n_names: int | None = None
    first: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedColumns:
    """Converted columns, and the kinds and units to record, by name.

    ``mixed`` has the names of columns of text that seem to hold numbers or dates with errors.
    """

    columns: dict[str, pd.Series]
    conventions: Conventions
    kinds: dict[str, str]
    units: dict[str, str]
    words: dict[str, tuple[str, ...]]
    mixed: list[str]


def resolve(
    raw: RawColumns, options: ReadOptions, text: Collection[str], remarks: Remarks
) -> ResolvedColumns:
    """Return converted columns by the conventions of the file."""
    requested = {**dict.fromkeys(text, "text"), **options.types}
    columns, guesses = {}, []
    for name, column in raw.columns.items():
        kind = requested.get(name)
        if kind == "ignore":
            continue
        prepared = (
            prepare(name, column, kind, is_later=options.recorded)
            if hasattr(column, "iloc")
            else column
        )
        columns[name] = prepared
        if not hasattr(prepared, "iloc"):
            if other := own_kind(prepared, kind, options, raw.delimiter):
                kind = other
                delimiter = f"the delimiter {raw.delimiter!r}"
                words = f"{other}s, unlike the file of the fit, as {delimiter} shows"
                remarks.add(name, f"has {words}", f"have {words}")
            guesses.append(guess(name, prepared, kind, options))
    guesses, conventions = decide(guesses, options, has_semicolons=raw.delimiter == ";")
    made = ResolvedColumns(columns, conventions, {}, {}, {}, [])
    for some in guesses:
        settled = settle(some, conventions, options, remarks)
        columns[some.name] = settled.series
        if settled.kind is not None:
            made.kinds[some.name] = settled.kind
        if settled.unit is not None:
            made.units[some.name] = settled.unit
        if settled.words:
            made.words[some.name] = settled.words
        if settled.is_mixed:
            made.mixed.append(some.name)
        if isinstance(some.interpretation, PlainNumbers) and hasattr(
            raw.columns[some.name], "iloc"
        ):
            _remark_on_stored_text(some, settled.series, remarks)
    if numbers := _numbers(options.missing):
        for name, series in columns.items():
            if series.dtype.kind in "iuf" and (is_missing := series.isin(numbers)).any():
                columns[name] = series.mask(is_missing)
    return made


def _numbers(words: Sequence[str]) -> list[float]:
    """Return the words that are numbers, which are missing however a column writes them."""
    numbers = []
    for word in words:
        with suppress(ValueError):
            numbers.append(float(word))
    return numbers


def _remark_on_stored_text(some: Guess, series: pd.Series, remarks: Remarks) -> None:
    """Note numbers that a spreadsheet or another typed table holds as text."""
    if series.dtype.kind not in "iuf" or some.kind is not None or series.isna().all():
        return
    words = "numbers that are stored as text: read as numbers; a type text (--types FILE)"
    remarks.add(some.name, f"has {words} keeps them", f"have {words} keeps them",
                shown(some.cleaned.drop_null()[0]))  # fmt: skip

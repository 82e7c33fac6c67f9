"""Identifier columns: a saved index, row numbers, names, codes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bochner._base.names import Remarks, brief
from bochner.files.rules import MARKERS

if TYPE_CHECKING:
    import pandas as pd

_INDEX = re.compile(r"unnamed: \d+(\.\d+)*|index|level_\d+", re.IGNORECASE)
"""Names that a saved index of pandas has in a file."""

_FEWEST_ROWS = 20
"""Fewest rows of identifiers without a known name, and of constant columns."""

_FEWEST_LEFT = 2
"""Columns that must remain if a column of row numbers is left out: an input and a target."""

_IDENTIFIER_WORD = re.compile(
    "uuid|guid|key|pk|identifier|index|unnamed|sku|ssn|isbn|imei|"
    "(?:[cehopstu]|hh|fi|emp|user|cust|customer|client|member|person|patient|subj|subject|case|obs|"
    "rec|record|row|study|item|prod|product|order|trans|transaction|resp|respondent|household|"
    "parcel|property|house|student|player|device|sample|account|acct|invoice|ticket|doc|document|"
    "image|file|event|session|visit|encounter|claim|policy|loan|listing|object)?ids?"
)
"""A word such as key, id, PID or customerid, but not humid or acid."""

_NUMBERING_WORD = re.compile(
    "number|no|num|nr|nbr|code|ref|reference|serial|barcode|ean|account|invoice|ticket|order|phone"
)
"""Last words of names of identifiers or quantities; such columns stay, with a remark."""

_TIME_WORD = re.compile(
    "year|month|week|day|date|hour|minute|second|time|t|period|quarter|step|age"
)
"""Words in names of quantities that often increase by one, such as years."""

_NEARLY_UNIQUE = 0.95
"""Share of distinct texts from which a column of at least 20 rows is an identifier."""

_MANY_LEVELS = 256
"""Levels above which `TableEncoder` regards text as an identifier, if they are more than half."""

_IDENTIFIER_SHARE = 0.5
"""Share of distinct texts above which `TableEncoder` regards text as an identifier."""

_SAMPLE_SIZE = 1000  # Rows, spread over the table, in which distinct texts are counted first
_FEWEST_DISTINCT = 0.4
"""Share of distinct texts in the sample below which the table cannot have half: in a sample of
1,000 of a table with half, the share is larger, and its standard error is below 0.02."""

_WORD = re.compile(r"(?<![^\W_])[^\W\d_]{3,}(?![^\W_])")
"""A word of at least three letters, without digits next to it, unlike most groups of a UUID."""

_SHARE_WITH_WORDS = 0.5
"""Share of texts with a repeated word from which text is read by its parts. A word in more texts,
such as the beginning of an invoice number, does not distinguish them."""


def may_identify(name: str, values: NDArray[np.generic]) -> bool:
    """Return whether numbers (n,) may be identifiers: nearly all are distinct and the name fits."""
    present = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    if present.size < _FEWEST_ROWS or bool((present != np.round(present)).any()):
        return False
    words = _words(name)
    # A single word such as "number" may as well name a count.
    is_number = len(words) > 1 and _NUMBERING_WORD.fullmatch(words[-1]) is not None
    fits = _names_identifiers(words) or is_number or words == ["code"]
    return fits and np.unique(present).size >= _NEARLY_UNIQUE * present.size


def _names_identifiers(words: Sequence[str]) -> bool:
    return any(_IDENTIFIER_WORD.fullmatch(word) for word in words)


def leave_out(
    columns: Mapping[str, pd.Series], keep: Collection[str], remarks: Remarks, only_index: bool
) -> list[str]:
    """Return the names of columns to drop, and add remarks on these and on constant columns.

    Constant columns stay, because a part of a table may have some.
    """
    left: list[str] = []
    constant = set() if only_index else {n for n, s in columns.items() if _is_constant(s)}
    for name, series in columns.items():
        # Nothing can be predicted from a constant column.
        remaining = len(columns.keys() - constant - {name, *left})
        if name in keep:
            continue
        if words := _reason(name, series, remaining, only_index=only_index):
            left.append(name)
            remarks.forget(name)
            remarks.add(name, words)
        elif not only_index and series.dtype.kind in "iu" and may_identify(name, series.to_numpy()):
            what = "in nearly every row and may be an identifier, to be dropped (--drop)"
            remarks.add(name, f"differs {what}")
        elif name in constant:
            words = "has the same entry in every row and is not used"
            remarks.add(name, words, brief(series.iloc[0]))
    return left


def _is_constant(series: pd.Series) -> bool:
    """Return whether all of 20 rows or more have the same entry, by the rule of `TableEncoder`."""
    if len(series) < _FEWEST_ROWS or series.isna().any():
        return False
    parts = (series.head(_FEWEST_ROWS), series.head(_SAMPLE_SIZE), series)
    return all((part.map(str) == str(series.iloc[0])).all() for part in parts)


def _reason(name: str, series: pd.Series, remaining: int, *, only_index: bool) -> str:
    """Return the remark on a column to be dropped, or an empty text to keep the column."""
    if remaining < 1:
        return ""
    is_index = _INDEX.fullmatch(name) is not None
    if series.isna().all():
        is_unnamed = is_index and name.lower().startswith("unnamed")
        nothing = "no name and no entries" if is_unnamed else "no entries"
        return f"has {nothing} and is left out" if is_unnamed or not only_index else ""
    values = series.to_numpy() if series.dtype.kind in "iu" else np.empty(0, dtype=np.int64)
    steps = np.diff(values)  # One row, numbered 0 or 1, is no index
    if is_index and steps.size and values[0] in (0, 1) and bool((steps == 1).all()):
        return "counts the rows and is left out"
    if only_index or len(series) < _FEWEST_ROWS:
        return ""
    why = _reason_of_numbers(name, values, remaining) if values.size else _reason_of_text(series)
    return why and f"{why} and is left out; a type given for a column (types=, --types) keeps it"


def _reason_of_numbers(name: str, values: np.ndarray, remaining: int) -> str:
    words, steps = _words(name), np.diff(values)
    counts = bool((steps == 1).all() or (steps == -1).all())
    if counts and remaining >= _FEWEST_LEFT and not any(map(_TIME_WORD.fullmatch, words)):
        return "counts the rows"
    n_distinct = np.unique(values).size if _names_identifiers(words) else 0
    if n_distinct < _NEARLY_UNIQUE * values.size:
        return ""
    return f"differs in {'nearly ' * (n_distinct < values.size)}every row"


def _reason_of_text(series: pd.Series) -> str:
    from pandas.api.types import infer_dtype

    is_text = infer_dtype(series.head(_SAMPLE_SIZE), skipna=True) in ("string", "categorical")
    if not is_text or not _is_nearly_unique(series):
        return ""
    are_sentences = has_words(_without_words(series).unique().tolist())
    return "" if are_sentences else "differs in nearly every row"


def _words(name: str) -> list[str]:
    """Return the words of a name such as "customerId", "user_id" or "Unnamed: 0"."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.findall(r"[a-z]+", spaced.lower())


def has_words(texts: Sequence[str]) -> bool:
    """Return whether distinct texts, other than addresses of mail, share words with others."""
    some = [texts[i] for i in range(0, len(texts), -(-len(texts) // _SAMPLE_SIZE))] if texts else []
    words = [set(_WORD.findall(text.lower())) for text in some if "@" not in text]
    counts = Counter(chain.from_iterable(words))
    most = _SHARE_WITH_WORDS * len(some)
    repeated = {word for word, count in counts.items() if 1 < count <= most}
    return sum(not repeated.isdisjoint(of_text) for of_text in words) >= max(most, 1)


def _without_words(series: pd.Series) -> pd.Series:
    """Return the present texts (k,) that are not words for missing entries, such as NA."""
    present = series.dropna().astype(str)
    return present[~present.str.lower().isin(MARKERS)]


def _is_nearly_unique(series: pd.Series) -> bool:
    rows = np.linspace(0, len(series) - 1, min(_SAMPLE_SIZE, len(series))).astype(np.intp)
    sample = _without_words(series.iloc[rows])
    if sample.nunique() < _FEWEST_DISTINCT * len(sample):
        return False
    present = _without_words(series)
    n_distinct, n_present = present.nunique(), len(present)
    is_distinct = n_present >= _FEWEST_ROWS and n_distinct >= _NEARLY_UNIQUE * n_present
    return is_distinct or n_distinct > max(_MANY_LEVELS, _IDENTIFIER_SHARE * n_present)

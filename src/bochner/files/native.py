"""Columns that have a type in the file, as in Parquet files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bochner.files.columns import kind_of, labels
from bochner.files.errors import InputError
from bochner.files.reading_options import DATE_KINDS, NUMBER_KINDS

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def prepare(name: str, series: pd.Series, kind: str | None, *, is_later: bool = False) -> Any:
    """Prepare a column (n,) for a requested kind, or for a guess if None; text as an Arrow array.

    Dates keep their zone. Numbers among text become text, because spreadsheets may hold both.
    ``is_later`` is True for a file that is read as that of the fit was.
    Raises InputError if numbers are requested and the column holds dates.
    """
    is_date, is_number = series.dtype.kind == "M", series.dtype.kind in "iuf"
    if kind in NUMBER_KINDS and is_date:
        raise InputError(
            f"Column {name!r} should hold numbers, but holds dates (row 1: {series.iloc[0]}). "
            + ("Convert them." if is_later else "Give it another type (--types FILE).")
        )
    if (kind in NUMBER_KINDS and is_number) or (kind in DATE_KINDS and is_date):
        return series
    if kind is None and (series.dtype.kind != "O" or series.dtype == "category"):
        return series
    kinds = {kind_of(entry) for entry in set(map(type, series[series.notna()]))}
    is_readable = kinds <= {"text", "numeric", "date"}
    return _texts(series) if is_readable and (kind is not None or "text" in kinds) else series


def _texts(series: pd.Series) -> pa.Array:
    import pyarrow as pa

    present = series.notna().to_numpy()
    texts = labels(np.asarray(series, dtype=object), present)
    try:
        return pa.chunked_array([pa.array(texts, pa.string())])
    except UnicodeEncodeError as error:
        raise InputError(
            f"Column {series.name!r} holds text that is no Unicode ({error.object!r}), as of a "
            "file that was read in another encoding: read the file with its encoding, or replace "
            "the text."
        ) from None

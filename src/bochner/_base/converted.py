"""Inputs that NumPy silently converts to numbers, and inputs with masked entries."""

import datetime
from collections.abc import Iterator, Mapping
from decimal import Decimal
from importlib import import_module
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

NUMBERS = (Real, Decimal, np.bool_)
"""Types of entries of object arrays that are numbers."""

_SHOWN_LENGTH = 40
"""Most characters of an entry that an error message shows: two entries fit on one line."""

_MOST_BITS = 128
"""Most bits of a whole number that a message shows: they have 39 digits; Python writes no 4,301."""

_NUMBER_KINDS = "biufc"
_NO_NUMBERS = (str, bytes, datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)
_KIND_NAMES = {"M": "dates", "m": "durations"}


def shown(entry: object) -> str:
    """Format an entry for a message: short, and without NumPy's name of its type."""
    plain = entry.item() if isinstance(entry, np.generic) else entry
    if isinstance(plain, int) and plain.bit_length() > _MOST_BITS:
        return f"a whole number of {plain.bit_length()} bits"
    text = repr(plain)
    return text if len(text) <= _SHOWN_LENGTH else f"{text[: _SHOWN_LENGTH - 4]}...{text[-1]}"


def is_frame(X: object) -> bool:
    """Return whether ``X`` is a data frame of pandas or polars, or of the same methods."""
    return hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "get_column"))


def of_arrow(X: Any) -> Any:
    """Return an Arrow table or record batch as a pandas data frame; other objects unchanged."""
    if not (hasattr(X, "column_names") and hasattr(X, "to_pandas")):
        return X
    _pandas("an Arrow table")
    return X.to_pandas()


def as_frame(name: str, X: Any) -> Any:
    """Return the table that all readers of columns take; raise TypeError for lists of mappings.

    Arrow tables and mappings of columns become pandas data frames. Data frames of pandas and
    polars, arrays and lists of rows are returned unchanged.
    """
    if isinstance(X, Mapping) and not sparse.issparse(X):  # one of scipy's is a dict
        return _of_mapping(name, X)
    refuse_no_rows(name, X)
    return of_arrow(X)


def _of_mapping(name: str, X: Mapping[Any, Any]) -> Any:
    """Return the columns of a mapping as a data frame, whose rows are in the order of entries."""
    pandas = _pandas("a dictionary of columns")
    columns = {}
    for key, values in X.items():
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            raise TypeError(
                f"{name} is a dictionary, whose entry {key!r} is no column: expected a sequence "
                f"for each column, got {shown(values)}."
            )
        column = values.to_pandas() if hasattr(values, "to_pandas") else pandas.Series(values)
        columns[key] = column.reset_index(drop=True)
    if len(lengths := {len(column) for column in columns.values()}) > 1:
        raise ValueError(
            f"{name} is a dictionary, whose columns must have equal lengths, got "
            f"{min(lengths)} and {max(lengths)} entries."
        )
    return pandas.DataFrame(columns)


def _pandas(what: str) -> Any:
    """Return the module pandas; raise ImportError if it is not installed."""
    try:
        # By name, because the core does not need it.
        return import_module("pandas")
    except ImportError:
        raise ImportError(
            f"A table that is {what} needs pandas, which is not installed: run pip install pandas."
        ) from None


def not_numbers(values: object) -> str | None:
    """Return which text, date or duration an array, a list or a table holds, if there is one."""
    for where, part in _parts(values):
        kind = part.dtype.kind
        if kind in _KIND_NAMES:
            return f"{_KIND_NAMES[kind]} ({part.dtype}){where}"
        types = set(map(type, part.flat)) if kind in "OSU" else ()
        if any(issubclass(kind_of_entry, _NO_NUMBERS) for kind_of_entry in types):
            entry = next(entry for entry in part.flat if isinstance(entry, _NO_NUMBERS))
            kind_name = next(
                kind_of_entry.__name__
                for kind_of_entry in _NO_NUMBERS
                if isinstance(entry, kind_of_entry)
            )
            return f"{shown(entry)} of type {kind_name}{where}"
    return None


def refuse_masked(name: str, values: Any, also: str = "") -> None:
    """Raise ValueError if entries of a masked array are masked; ``also`` ends the message."""
    count = int(np.count_nonzero(np.ma.getmaskarray(values))) if np.ma.is_masked(values) else 0
    if count:
        raise ValueError(
            f"{name} must not have masked entries, which count as missing, got {count}. Leave "
            f"their rows out, or fill them in.{also}"
        )


def complex_words(name: str) -> str:
    """Return the message for complex numbers, which begins as scikit-learn's does."""
    return (
        f"Complex data not supported: {name} must hold real numbers. Pass real and imaginary "
        f"parts as separate columns, or to separate models."
    )


def refuse_complex(name: str, values: object) -> None:
    """Raise ValueError for an array of complex numbers."""
    if getattr(getattr(values, "dtype", None), "kind", "") == "c":
        raise ValueError(complex_words(name))


def refuse_lazy(name: str, X: object) -> None:
    """Raise TypeError for a lazy table of polars or a collection of Dask."""
    if type(X).__module__.partition(".")[0] in ("dask", "dask_expr"):
        raise TypeError(
            f"{name} is a Dask collection: expected rows in memory. Map the method over its "
            f"partitions, as in {name}.map_partitions(model.predict), or give {name}.compute()."
        )
    if hasattr(X, "collect_schema") and not hasattr(X, "get_column"):
        raise TypeError(f"{name} is a lazy table: expected rows in memory. Give {name}.collect().")


def refuse_no_rows(name: str, X: object) -> None:
    """Raise TypeError for mappings of columns or of rows, and for lazy tables."""
    refuse_lazy(name, X)
    of_rows = isinstance(X, list | tuple) and bool(X) and isinstance(X[0], Mapping)
    if of_rows or (isinstance(X, Mapping) and not sparse.issparse(X)):  # one of scipy's is a dict
        description = "a list of dictionaries" if of_rows else f"a {type(X).__name__}"
        raise TypeError(
            f"{name} is {description}: expected an array or a table. Give pandas.DataFrame({name})."
        )


def _parts(values: Any) -> Iterator[tuple[str, Any]]:
    """Yield arrays that may hold something else than numbers, with the column they are in."""
    if sparse.issparse(values):
        return
    if getattr(getattr(values, "dtype", None), "kind", "O") in _NUMBER_KINDS:
        return
    if not is_frame(values):
        yield "", np.asarray(values)
        return
    pairs = zip(values.columns, values.dtypes, strict=True)
    for place, (name, dtype) in enumerate(pairs):
        if getattr(dtype, "kind", "O") not in _NUMBER_KINDS:
            column = values.iloc[:, place] if hasattr(values, "iloc") else values[name]
            yield f" in column {str(name)!r}", np.asarray(column)

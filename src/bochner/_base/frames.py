"""Conversion of tables of several libraries to data frames."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from scipy import sparse

from bochner._base.arrays import stacked_rows
from bochner._base.checks import refuse_no_rows


def of_arrow(X: Any) -> Any:
    """Convert an Arrow table or record batch to pandas; return other objects unchanged."""
    if not (hasattr(X, "column_names") and hasattr(X, "to_pandas")):
        return X
    _pandas("an Arrow table")
    return X.to_pandas()


def as_frame(name: str, X: Any) -> Any:
    """Convert Arrow tables and mappings of columns to data frames; return others unchanged."""
    if isinstance(X, Mapping) and not sparse.issparse(X):  # one of scipy's sparse classes is a dict
        return _of_mapping(name, X)
    refuse_no_rows(name, X)
    return of_arrow(X)


def _of_mapping(name: str, X: Mapping[Any, Any]) -> Any:
    """Convert a mapping of columns to a data frame, with rows in the order of the entries."""
    pandas = _pandas("a dictionary of columns")
    columns = {}
    for key, values in X.items():
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            raise TypeError(
                f"{name} is a dictionary, whose entry {key!r:.60} is no column: expected a "
                f"sequence for each column, got {values!r:.60}."
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
        # Imported by name, because pandas is an optional dependency.
        return import_module("pandas")
    except ImportError:
        raise ImportError(
            f"A table that is {what} needs pandas, which is not installed: run pip install pandas."
        ) from None


def stacked(first: Any, second: Any) -> Any:
    """Concatenate the rows of two tables; raise ValueError if their columns differ."""
    if not (hasattr(first, "iloc") and hasattr(second, "iloc")):
        return stacked_rows(first, second)
    if list(first.columns) != list(second.columns):
        raise ValueError(
            f"There are pieces of other columns: {', '.join(map(repr, first.columns))}; and "
            f"{', '.join(map(repr, second.columns))}."
        )
    pandas = _pandas("a data frame")
    joined = pandas.concat([first, second], ignore_index=True)
    for place, pair in enumerate(zip(first.dtypes, second.dtypes, strict=True)):
        # Without this, categories that differ become entries that are not categories.
        if all(isinstance(dtype, pandas.CategoricalDtype) for dtype in pair) and pair[0] != pair[1]:
            columns = [first.iloc[:, place], second.iloc[:, place]]
            joined.isetitem(place, _as_text_if_mixed(columns, pandas.api.types.union_categoricals))
    return joined


def _as_text_if_mixed(columns: list[Any], union: Any) -> Any:
    """Return the union of two columns of categories, as text if their types differ."""
    if columns[0].cat.categories.dtype != columns[1].cat.categories.dtype:
        columns = [categories.cat.rename_categories(str) for categories in columns]
    return union(columns, ignore_order=True)

"""Dask collections, told from other data without importing Dask."""

from typing import Any


def is_dask(X: Any) -> bool:
    """Return whether ``X`` is a Dask array or data frame."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")

"""What can be given to ``fit`` in place of arrays: chunks of rows that arrive one by one."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner.estimators._dask import is_dask
from bochner.features.chunks import ArrayChunks, Chunk, RowChunks, StreamChunks

Check = Callable[[Any, Any, Any, bool], Chunk]
"""Of rows, targets, weights and whether they are the first: returns them checked, or raises."""


def is_stream(X: Any, y: Any) -> bool:
    """Tell whether ``X`` is an iterable of chunks: no array and no table, and without targets."""
    array_like = any(hasattr(X, name) for name in ("shape", "__array__", "__dataframe__"))
    if y is not None or array_like or not isinstance(X, Iterable) or isinstance(X, str):
        return False
    return not isinstance(X, list | tuple) or bool(X and isinstance(X[0], tuple))


def row_chunks(
    X: Any, y: Any, sample_weight: Any, check: Check, *, numeric: bool = True
) -> RowChunks:
    """Return the rows that were given to ``fit``, which are checked when they are met.

    ``numeric`` says whether targets are numbers, not labels.
    """
    if is_dask(X):
        from bochner.distributed.dask_chunks import DaskChunks

        return DaskChunks.of(X, y, sample_weight, check, numeric=numeric)
    if not is_stream(X, y):
        return ArrayChunks(check(X, y, sample_weight, True))
    if sample_weight is not None:
        raise ValueError("Weights of chunks belong into them: (X, y, sample_weight).")
    is_first = True

    def checked(given: Any) -> Chunk:
        nonlocal is_first
        chunk = check(*_unpacked(given), is_first)
        is_first = False
        return chunk

    return StreamChunks(X, checked)


def labels_of(rows: RowChunks, X: Any) -> NDArray[Any]:
    """Return the labels that occur, sorted; a stream ``X`` is met once for them alone.

    Raises
    ------
    ValueError
        If the stream is an iterator, which has but one pass.
    """
    if isinstance(rows, ArrayChunks):
        return np.unique(rows.head.y)
    if is_dask(X):
        from bochner.distributed.dask_chunks import DaskChunks

        assert isinstance(rows, DaskChunks)
        return rows.labels()
    if not rows.is_repeatable:
        raise ValueError(
            "An iterator of chunks does not tell all classes before the first chunk is met. Pass "
            "a list of chunks, or an object whose __iter__ starts anew; or call partial_fit with "
            "classes."
        )
    found = [np.unique(_unpacked(given)[1]) for given in X]
    return np.unique(np.concatenate(found))


def _unpacked(given: Any) -> tuple[Any, Any, Any]:
    if not (isinstance(given, tuple) and len(given) in (2, 3)):
        raise ValueError(
            "A chunk must be a tuple (X, y) or (X, y, sample_weight), got an object of type "
            f"{type(given).__name__}."
        )
    X, y, *weight = given
    return X, y, weight[0] if weight else None

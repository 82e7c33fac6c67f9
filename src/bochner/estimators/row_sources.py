"""Rows given to estimators: arrays, Dask collections, or chunks that are read one by one."""

import os
from collections.abc import Callable, Iterable, Mapping, Sized
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bochner.features.chunks import NO_ROWS, ArrayChunks, Chunk, RowChunks, StreamChunks

Check = Callable[[Any, Any, Any, bool], Chunk]
"""Takes rows, targets, weights and whether they are the first; returns them checked, or raises."""

_PARQUET = "Pass bochner.datasets.ParquetChunks({path}, target=...) in its place."
_TEXT = (
    "Read it with pandas.read_csv({path}), and pass X and y from its columns; or, for many rows, "
    "chunks (X, y) of the tables from pandas.read_csv({path}, chunksize=...)."
)
_READERS: Mapping[str, str] = {
    ".parquet": _PARQUET,
    ".pq": _PARQUET,
    ".csv": _TEXT,
    ".npy": "Pass numpy.load({path}, mmap_mode='r'), and y, in its place.",
}
_ANY_READER = (
    "Read it into an array or a table first, or pass a generator of chunks; a Parquet file is read "
    "by bochner.datasets.ParquetChunks."
)


def lazily(
    model: Any, method: str, X: Any, columns: tuple[int, ...] = (), *, return_std: bool = False
) -> NDArray[Any]:
    """Return a Dask array of a fitted model's predictions, ``columns`` per row.

    Raises ``ValueError`` for standard deviations.
    """
    from bochner.distributed import partitions

    check_is_fitted(model, ("learned_", "posterior_"), all_or_any=any)
    if return_std:
        raise ValueError(
            "Predictions for Dask collections have no standard deviations; call predict on rows in "
            "memory, partition by partition."
        )
    dtype = np.dtype(np.float64)
    if method == "predict_proba":
        columns = model.classes_.shape
    elif hasattr(model, "classes_"):
        dtype = model.classes_.dtype
    lazy: NDArray[Any] = partitions.lazily(model, method, X, columns, dtype)
    return lazy


def is_dask(X: Any) -> bool:
    """Return whether ``X`` is a Dask array or data frame."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def _is_stream(X: Any, y: Any) -> bool:
    """Return whether ``X`` is an iterable of chunks, without targets, and not an array or table."""
    array_like = any(hasattr(X, name) for name in ("shape", "__array__", "__dataframe__"))
    if y is not None or array_like or not isinstance(X, Iterable):
        return False
    return not isinstance(X, list | tuple) or bool(X and isinstance(X[0], tuple))


def row_chunks(
    X: Any, y: Any, sample_weight: Any, check: Check, *, numeric: bool = True
) -> RowChunks:
    """Return the rows given to ``fit``, which are checked as they are read.

    ``numeric`` is whether targets are numbers instead of labels. Chunks without rows are skipped.
    Raises TypeError for a path or a function, and ValueError for weights next to chunks.
    """
    _refuse_unread(X)
    if is_dask(X):
        from bochner.distributed.collected import Collected

        found = Collected.of(X, y, sample_weight, numeric=numeric, learning=False)
        return found.validated(check)
    if not _is_stream(X, y):
        return ArrayChunks(check(X, y, sample_weight, True))
    if sample_weight is not None:
        raise ValueError("Pass the weights of chunks in each chunk: (X, y, sample_weight).")
    is_first = True

    def checked(given: Any) -> Chunk | None:
        nonlocal is_first
        parts = _unpacked(given)
        if _is_empty(parts):
            return None
        chunk = check(*parts, is_first)
        is_first = False
        return chunk

    return StreamChunks(X, checked)


def labels_of(rows: RowChunks, X: Any) -> NDArray[Any]:
    """Return the labels that occur, sorted; a stream ``X`` is read once for them.

    Raises ValueError if the stream is an iterator, which can be read only once, or has no rows.
    """
    if isinstance(rows, ArrayChunks):
        return np.unique(rows.head.y)
    if is_dask(X):
        from bochner.distributed.collected import Collected

        assert isinstance(rows, Collected)
        return rows.labels()
    if not rows.is_repeatable:
        raise ValueError(
            "An iterator of chunks cannot be read a second time for the classes. Pass a list of "
            "chunks, or an object whose __iter__ starts anew; or call partial_fit with classes."
        )
    found = [np.unique(parts[1]) for parts in map(_unpacked, X) if not _is_empty(parts)]
    if not found:
        raise ValueError(NO_ROWS)
    return np.unique(np.concatenate(found))


def _unpacked(given: Any) -> tuple[Any, Any, Any]:
    if not (isinstance(given, tuple) and len(given) in (2, 3)):
        raise ValueError(
            "A chunk must be a tuple (X, y) or (X, y, sample_weight), got an object of type "
            f"{type(given).__name__}."
        )
    X, y, *weight = given
    return X, y, weight[0] if weight else None


def _is_empty(parts: tuple[Any, Any, Any]) -> bool:
    """Return whether rows, targets and weights have length zero."""

    def has_none(part: Any) -> bool:
        shape = getattr(part, "shape", None)
        if shape is not None:
            return len(shape) > 0 and shape[0] == 0
        return isinstance(part, Sized) and len(part) == 0

    X, y, weight = parts
    return has_none(X) and has_none(y) and (weight is None or has_none(weight))


def _refuse_unread(X: Any) -> None:
    """Raise TypeError for a path or a function."""
    if isinstance(X, str | os.PathLike):
        path = os.fspath(X)
        advice = _READERS.get(PurePath(path).suffix.lower(), _ANY_READER).format(path=repr(path))
        raise TypeError(
            f"X is the path {path!r}, and rows were expected: an array, a table, a Dask "
            f"collection or an iterable of chunks (X, y). {advice}"
        )
    if callable(X) and not isinstance(X, Iterable):
        raise TypeError(
            "X is a function, and rows were expected; call it and pass the array, or the chunks "
            "(X, y), that it returns."
        )

"""Dask arrays and data frames: their partitions, and passes over them on the workers."""

import pickle
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np
from dask.base import compute, is_dask_collection
from dask.delayed import Delayed, delayed
from dask.sizeof import sizeof

from bochner._base.arrays import MatrixLike
from bochner.engines.collected import Collected
from bochner.engines.partition_rows import Check, PieceSplit
from bochner.features.chunks import Chunk
from bochner.features.row_sums import FeatureSums

_FAN_IN = 4  # Number of values that one task adds, all of which it holds in memory


class DaskExecutor:
    """Executor of Dask; ``Delayed`` parts are recomputed in every pass unless persisted."""

    def map(self, function: Callable[[int, Any], Any], parts: Sequence[Delayed]) -> list[Delayed]:
        """Return the lazy values of ``function(index, part)`` for every part."""
        sent = delayed(pickle.dumps(function, protocol=5), name=f"sent-{uuid4().hex}")
        return [delayed(applied, pure=False)(sent, *numbered) for numbered in enumerate(parts)]

    def tree_reduce(self, plus: Callable[[Any, Any], Any], handles: Sequence[Delayed]) -> Any:
        """Compute the values and return their sum, added a few at a time in a fixed order."""
        add = delayed(reduce, pure=False)
        while len(handles) > 1:
            starts = range(0, len(handles), _FAN_IN)
            handles = [add(plus, handles[start : start + _FAN_IN]) for start in starts]
        return compute(handles[0])[0] if handles else None


def applied(sent: bytes, index: int, part: object) -> Any:
    """Return ``function(index, part)`` for a function that was sent as pickled bytes."""
    return pickle.loads(sent)(index, part)


@sizeof.register(Chunk)  # type: ignore[untyped-decorator]
def _bytes_of_rows(chunk: Chunk) -> int:
    """Return the bytes of a chunk, from which Dask estimates the cost of moving it."""
    return sum(0 if part is None else sizeof(part) for part in (chunk.X, chunk.y, chunk.weight))


@sizeof.register(FeatureSums)  # type: ignore[untyped-decorator]
def _bytes_of_sums(sums: FeatureSums) -> int:
    return sums.gram.nbytes + sums.cross.nbytes + sums.features.nbytes


def partitions_of(X: Any, y: Any, sample_weight: Any = None) -> list[Delayed]:
    """Return ``(X, y, sample_weight)`` of every partition of a Dask array or data frame."""
    blocks = blocks_of_rows(X)
    if y is None:
        raise ValueError(
            "A fit to a Dask collection requires y to be passed, but the target y is None; "
            "pass a Dask array, or a column of the data frame that X comes from."
        )
    targets = _blocks_of_column("y", y, X, len(blocks))
    weights = _blocks_of_column("sample_weight", sample_weight, X, len(blocks))
    rows = zip(range(len(blocks)), blocks, targets, weights, strict=True)
    return [delayed(_together, pure=False)(*row) for row in rows]


def _together(index: int, X: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
    for name, column in (("y", y), ("sample_weight", weight)):
        if column is not None and len(column) != len(X):
            raise ValueError(
                f"Partition {index} has {len(X)} rows of X and {len(column)} of {name}; "
                f"repartition {name} like X."
            )
    return X, y, weight


def blocks_of_rows(X: Any) -> list[Delayed]:
    """Return the partitions of an array or a data frame, with all columns of their rows."""
    if is_frame(X):
        return list(X.to_delayed())
    if not isinstance(X, da.Array):
        raise TypeError(f"Expected a Dask array or data frame, got {type(X).__name__}.")
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, got a Dask array of shape {X.shape}.")
    return _blocks_of_array("X", X)


def _blocks_of_array(name: str, array: Any) -> list[Delayed]:
    if np.isnan(array.shape).any():
        raise ValueError(
            f"The chunks of {name} have unknown sizes; call {name}.compute_chunk_sizes() first, or "
            "pass the data frame that it comes from."
        )
    if array.ndim > 1 and array.numblocks[1] > 1:
        # Features need all columns of a row in one place.
        array = array.rechunk({1: -1})
    blocks: list[Delayed] = array.to_delayed().ravel().tolist()
    return blocks


def _blocks_of_column(name: str, column: Any, X: Any, count: int) -> list[Any]:
    """Return the blocks of targets or weights, one for each of the ``count`` blocks of ``X``."""
    if column is None:
        return [None] * count
    if not is_dask_collection(column):
        if is_frame(X):
            raise ValueError(
                f"{name} is in memory and X is a Dask data frame, whose partitions have unknown "
                f"sizes; pass {name} as a column of it."
            )
        column = da.from_array(np.asarray(column), chunks=-1)
    if not is_frame(X) and isinstance(column, da.Array):
        if not np.isnan(column.shape[0]) and column.shape[0] != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and {name} has {column.shape[0]}.")
        if column.chunks[0] != X.chunks[0] and not np.isnan(column.shape[0]):
            column = column.rechunk({0: X.chunks[0]})
    if isinstance(column, da.Array):
        blocks = _blocks_of_array(name, column)
    else:
        blocks = list(column.to_delayed())
        have_divisions = is_frame(X) and X.known_divisions and column.known_divisions
        if have_divisions and X.divisions != column.divisions:
            raise ValueError(f"{name} has other divisions than X; repartition it like X.")
    if len(blocks) != count:
        raise ValueError(
            f"X has {count} partitions and {name} has {len(blocks)}; repartition {name} like X."
        )
    return blocks


def is_frame(X: MatrixLike) -> bool:
    """Return whether ``X`` is a Dask data frame."""
    return is_dask_collection(X) and hasattr(X, "npartitions") and hasattr(X, "divisions")


def collect(X: Any, y: Any, sample_weight: Any, *, numeric: bool) -> Collected:
    """Return the rows of Dask collections; every pass over them reads and checks them again."""
    parts = partitions_of(X, y, sample_weight)
    meta = X._meta if is_frame(X) else None
    return Collected.of(DaskExecutor(), parts, Check(PieceSplit(), numeric), meta)

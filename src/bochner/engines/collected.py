"""Checked rows of partitions on the workers of an engine, with a sample on the client."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.threads import single_threaded_blas
from bochner.engines.partition_rows import Executor, Names, refusal
from bochner.features.chunks import Chunk, ChunkSum, Given, RowChunks, Total

SAMPLE_ROWS = 100_000
"""Number of rows copied to the client for computations other than sums over rows, such as median
distances and designed measures: 80 MB for a hundred columns."""

Read = Callable[[Any], tuple[Any, Names]]
"""A function of a part that returns its checked rows (``None`` without rows) and column names."""


@dataclass(frozen=True, slots=True)
class PartitionLayout:
    """Names and number of columns, and number of targets, which all parts must share."""

    n_columns: int
    n_targets: int | None  # None for one target in one dimension
    names: Names

    @classmethod
    def of(cls, chunk: Any, names: Names) -> "PartitionLayout":
        """Return the layout of a chunk of rows."""
        n_targets = None if chunk.y.ndim == 1 else chunk.y.shape[1]
        return cls(chunk.X.shape[1], n_targets, names)

    @classmethod
    def check(cls, layouts: Sequence[tuple[int, "PartitionLayout"]]) -> None:
        """Raise ValueError if layouts, each paired with the index of its part, differ."""
        first, common = layouts[0]
        for index, layout in layouts:
            if layout != common:
                raise ValueError(
                    f"Partition {index} has {layout}, and partition {first} has {common}. All must "
                    "have the same columns, in the same order."
                )

    def __str__(self) -> str:
        targets = "one target" if self.n_targets is None else f"targets (n, {self.n_targets})"
        names = "" if self.names is None else f" named {', '.join(map(repr, self.names))}"
        return f"{self.n_columns} columns{names} and {targets}"


@dataclass(frozen=True, slots=True, eq=False)
class Collected(RowChunks):
    """Rows in the parts of an executor, with the number of rows of each part and a sample."""

    executor: Executor
    parts: Any
    read: Read
    lengths: tuple[int, ...]
    sample: Chunk
    meta: Any  # Columns of a data frame that the rows come from, without rows, or None

    @classmethod
    def of(
        cls,
        executor: Executor,
        parts: Any,
        read: Read,
        meta: Any = None,
        layouts: Any = PartitionLayout,
    ) -> "Collected":
        """Return the rows that ``read`` finds in parts; raise ValueError if columns differ."""
        described = _pass(executor, parts, partial(_described, read, layouts), add)
        lengths, each = zip(*described, strict=True) if described else ((), ())
        if not sum(lengths):
            raise ValueError("There are no rows, or none that has weight.")
        with_layout = [(index, layout) for index, layout in enumerate(each) if layout is not None]
        layouts.check(with_layout)
        names = with_layout[0][1].names
        if meta is None and names is not None:
            from pandas import DataFrame  # the parts are data frames

            meta = DataFrame(columns=list(names))
        picked = partial(_picked, read, _chosen(lengths))
        return cls(executor, parts, read, lengths, _pass(executor, parts, picked, add), meta)

    def validated(self, check: Callable[[Any, Any, Any, bool], Chunk]) -> "Collected":
        """Return the rows with their sample validated by an estimator's ``check``."""
        sample = self.sample
        return replace(self, sample=check(self.frame(), sample.y, sample.weight, True))

    @property
    def head(self) -> Chunk:
        return self.sample

    @property
    def n_samples(self) -> None:
        return None

    def total(
        self, function: ChunkSum[Given, Total], *args: Given.args, **kwargs: Given.kwargs
    ) -> Total:
        """Return a function's sum over chunks; each has its own child of generators in ``args``."""
        n_parts = len(self.lengths)
        shares = {
            place: arg.spawn(n_parts)
            for place, arg in enumerate(args)
            if isinstance(arg, np.random.Generator)
        }
        plain_args = [None if place in shares else arg for place, arg in enumerate(args)]
        called = partial(_called, self.read, function, plain_args, kwargs, shares)
        total: Total | None = _pass(self.executor, self.parts, called, add)
        if total is None:
            raise ValueError("There are no rows to sum over.")
        return total

    def rest(self, function: Callable[[Any, NDArray[np.intp]], Total]) -> Total | None:
        """Return the sum over parts of ``function(rows, indices of rows outside the sample)``."""
        called = partial(_of_rest, self.read, function, _chosen(self.lengths))
        total: Total | None = _pass(self.executor, self.parts, called, add)
        return total

    @property
    def is_whole(self) -> bool:
        """Whether the sample contains all rows."""
        return len(self.sample) == sum(self.lengths)

    def labels(self) -> NDArray[Any]:
        """Return the distinct targets of all rows, in ascending order."""
        called = partial(_labels, self.read)
        return np.asarray(_pass(self.executor, self.parts, called, np.union1d))

    def frame(self) -> Any:
        """Return the inputs of the sample, as a data frame if they come from one."""
        if self.meta is None:
            return self.sample.X
        return type(self.meta)(self.sample.X, columns=self.meta.columns)


def _pass(
    executor: Executor,
    parts: object,
    function: Callable[[int, Any], Any],
    plus: Callable[..., object],
) -> Any:
    """Return ``function(index, part)`` of all parts added by ``plus``; raise errors of workers."""
    handles = executor.map(partial(_guarded, function), parts)
    total = executor.tree_reduce(partial(_plus, plus), handles)
    if isinstance(total, Exception):
        raise total
    return total


def _guarded(function: Callable[[int, Any], Any], index: int, part: object) -> Any:
    """Return the function's value, or its error as a value: engines would retry a failing task."""
    try:
        with single_threaded_blas():
            return function(index, part)
    except (TypeError, ValueError) as error:
        return refusal(index, error)


def _plus(plus: Callable[[Any, Any], Any], first: object, second: object) -> Any:
    """Return the sum of two values by ``plus``; ``None`` adds nothing, and an error is the sum."""
    if first is None or isinstance(second, Exception):
        return first if isinstance(first, Exception) else second
    if second is None or isinstance(first, Exception):
        return first
    return plus(first, second)


def _described(read: Read, layouts: Any, index: int, part: object) -> tuple[tuple[int, Any]]:
    chunk, names = read(part)
    return ((0, None),) if chunk is None else ((len(chunk), layouts.of(chunk, names)),)


def _chosen(lengths: tuple[int, ...]) -> list[NDArray[np.intp]] | None:
    """Return the indices of the sampled rows of every part; ``None`` means all rows."""
    n, bounds = sum(lengths), np.cumsum([0, *lengths])
    if n <= SAMPLE_ROWS:
        return None
    rows = np.sort(np.random.default_rng(n).choice(n, size=SAMPLE_ROWS, replace=False))
    cuts = np.searchsorted(rows, bounds)
    return [rows[cuts[i] : cuts[i + 1]] - bounds[i] for i in range(len(lengths))]


def _picked(read: Read, chosen: list[NDArray[np.intp]] | None, index: int, part: object) -> Any:
    chunk, _ = read(part)
    return chunk if chunk is None or chosen is None else chunk[chosen[index]]


def _of_rest(
    read: Read,
    function: Callable[..., object],
    chosen: list[NDArray[np.intp]] | None,
    index: int,
    part: object,
) -> Any:
    chunk, _ = read(part)
    if chunk is None or chosen is None:
        return None
    not_chosen = np.delete(np.arange(len(chunk)), chosen[index])
    return function(chunk, not_chosen) if len(not_chosen) else None


def _labels(read: Read, index: int, part: object) -> NDArray[np.generic] | None:
    chunk, _ = read(part)
    return None if chunk is None else np.unique(chunk.y)


def _called(
    read: Read,
    function: Callable[..., object],
    args: Sequence[object],
    kwargs: Mapping[str, object],
    shares: dict[int, list[np.random.Generator]],
    index: int,
    part: object,
) -> Any:
    """Return ``function`` of a part's chunk, or ``None`` if no row of it has positive weight."""
    chunk, _ = read(part)
    if chunk is None or not chunk.weights.any():
        return None
    spawned_args = [
        shares[place][index] if place in shares else arg for place, arg in enumerate(args)
    ]
    return function([chunk], *spawned_args, **kwargs)

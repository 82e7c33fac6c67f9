"""Checked rows of Dask collections on the workers, and a sample of them here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from bochner._numerics.arrays import FLOATS
from bochner._numerics.checked import (
    check_rows_given,
    check_targets,
    check_weights,
    labels,
    numbers,
)
from bochner._numerics.foreign import refuse_masked
from bochner.distributed.chunked_rows import ChunkedRows, LocalOrder, Size
from bochner.distributed.partitions import is_frame, partitions_of
from bochner.distributed.passes import gathered, kept, mapped, summed
from bochner.features.chunks import Chunk, ChunkSum, Given, RowChunks, Sum
from bochner.learning.inference.basis import Basis
from bochner.learning.inference.preparation import Scaling, Trend
from bochner.learning.inference.training_data import ScaledData, TrainingData

SAMPLE_ROWS = 100_000
"""Number of rows copied to the client for what is not a sum over rows, such as median distances
and designed measures: 80 MB for a hundred columns."""


class Prepared:
    """Rows of a partition in the layout of a chain, with the targets of every problem.

    Inputs (d, k) are scaled, of the type of the features; targets are (t, k), ``fixed`` (q, k).
    """

    def __init__(
        self,
        scaling: Scaling,
        trend: Trend,
        dtype: np.dtype[Any],
        task: Any,
        unit: float,
        chunk: Chunk,
    ) -> None:
        """Prepare rows in the user's units; weights are divided by a unit."""
        scaled = scaling.apply(chunk.X)
        self.inputs = np.ascontiguousarray(scaled.T.astype(dtype, copy=False))
        self.targets = np.ascontiguousarray(task.columns(task.codes(chunk.y)).T)
        self.fixed = np.ascontiguousarray(trend.columns(scaled).T)
        self.weight = None if chunk.weight is None else chunk.weight / unit

    def __sizeof__(self) -> int:
        # Dask estimates the cost of moving the object from this.
        parts = (self.inputs, self.targets, self.fixed, self.weight)
        return sum(0 if part is None else part.nbytes for part in parts)


def _problem_rows(column: int, factor: float, basis: Basis, prepared: Prepared) -> TrainingData:
    """Return the rows of one problem: a column of the targets, times a factor."""
    target, weight = factor * prepared.targets[column], prepared.weight
    return TrainingData.of(prepared.inputs.T, target, prepared.fixed.T, weight, basis=basis)


@dataclass(frozen=True, slots=True, eq=False)
class Collected(RowChunks):
    """Rows of Dask collections: a chunk in every partition, the lengths of all, and a sample.

    The sample is in memory: at most :data:`SAMPLE_ROWS` rows, drawn without replacement, in order.
    """

    parts: tuple[Delayed, ...]
    lengths: tuple[int, ...]
    sample: Chunk
    meta: Any  # Columns of a data frame that the rows come from, without rows, or None

    @classmethod
    def of(
        cls, X: Any, y: Any, sample_weight: Any, *, numeric: bool, learning: bool
    ) -> "Collected":
        """Return the checked rows of Dask collections; see :func:`partitions_of`.

        For ``learning`` by a chain workers keep the checked rows; otherwise every pass reads and
        checks them. Raises ValueError if the data are unusable.
        """
        check = Check(numeric=numeric, learning=learning)
        parts = tuple(mapped(check, partitions_of(X, y, sample_weight)))
        parts = kept(parts) if learning else parts
        lengths = gathered(mapped(len, parts))
        if not sum(lengths):
            raise ValueError("There are no rows, or none that has weight.")
        meta = X._meta if is_frame(X) else None
        return cls(parts, lengths, _sample(parts, lengths), meta)

    def validated(self, check: Callable[[Any, Any, Any, bool], Chunk]) -> "Collected":
        """Return the rows with their sample as an estimator's check returns it."""
        sample = self.sample
        return replace(self, sample=check(self.frame(), sample.y, sample.weight, True))

    @property
    def head(self) -> Chunk:
        return self.sample

    @property
    def n_samples(self) -> None:
        return None

    def total(
        self, function: ChunkSum[Given, Sum], *args: Given.args, **kwargs: Given.kwargs
    ) -> Sum:
        """Return the sum; for a generator among ``args`` every chunk gets a child of its own."""
        rngs = [arg.spawn(len(self.parts)) for arg in args if isinstance(arg, np.random.Generator)]
        rest = tuple(None if isinstance(arg, np.random.Generator) else arg for arg in args)
        terms = mapped(partial(_called, function, rest, kwargs), self.parts, *rngs)
        total: Sum | None = summed(terms, _plus)
        if total is None:
            raise ValueError("There are no rows to sum over.")
        return total

    @property
    def is_whole(self) -> bool:
        """Whether the sample contains all rows."""
        return len(self.sample) == sum(self.lengths)

    def labels(self) -> NDArray[Any]:
        """Return the distinct targets, in ascending order."""
        return np.asarray(summed(mapped(_labels, self.parts), np.union1d))

    def frame(self) -> Any:
        """Return the inputs of the sample, as a data frame if they come from one."""
        if self.meta is None:
            return self.sample.X
        return type(self.meta)(self.sample.X, columns=self.meta.columns)

    def learnable(
        self, columns: Sequence[ScaledData], problems: Any, scaling: Scaling, trend: Trend
    ) -> list[ScaledData]:
        """Return the data of every problem, for chains that end with passes over all rows.

        ``columns`` holds the distinct rows of the sample with the targets of each problem.
        """
        dtype = columns[0].X.dtype
        preparation = partial(Prepared, scaling, trend, dtype, problems.task, problems.unit)
        prepared = kept(mapped(preparation, self.parts))
        return [
            replace(data, elsewhere=self._rows(prepared, data, column, problems))
            for column, data in enumerate(columns)
        ]

    def _rows(
        self, prepared: tuple[Delayed, ...], data: ScaledData, column: int, problems: Any
    ) -> ChunkedRows:
        rows = partial(_problem_rows, column, data.target_factor, data.basis)
        parts = tuple(mapped(rows, prepared))
        if not self.is_whole:
            size = Size(sum(self.lengths), data.fixed.shape[1], data.X.dtype, data.basis)
            return ChunkedRows(parts, size)
        here, sample = data.rows(), self.sample
        given = (sample.X, problems.task.codes(sample.y), sample.weight)
        order = LocalOrder(here, (problems.X, problems.codes), given, self.lengths)
        return ChunkedRows(parts, Size(here.n_samples, here.n_fixed, here.dtype, here.basis), order)


@dataclass(frozen=True, slots=True)
class Check:
    """Checks the rows of a partition."""

    numeric: bool  # whether targets are numbers, not labels
    # For a chain inputs become float64, targets are single, and rows without weight are dropped
    learning: bool

    def __call__(self, part: tuple[int, Any, Any, Any]) -> Chunk:
        index, X, y, weight = part
        try:
            return self._checked(X, y, weight)
        except (TypeError, ValueError) as error:
            raise type(error)(f"In partition {index}: {error}") from error

    def _checked(self, X: Any, y: Any, weight: Any) -> Chunk:
        dtypes = np.float64 if self.learning else FLOATS
        X = check_rows_given(X, dtype=dtypes, ensure_min_samples=0)
        y = np.asarray(numbers(y) if self.numeric else labels(y))
        y = column_or_1d(y) if self.learning or not self.numeric or y.ndim == 1 else y
        if self.numeric:
            y = y.astype(np.float64)
            if not np.isfinite(y).all():
                raise ValueError("y contains numbers that are not finite.")
            check_targets(y)
        if weight is None:
            return Chunk(X, y)
        refuse_masked("sample_weight", weight)
        weight = column_or_1d(np.asarray(weight)).astype(np.float64)
        if not (np.isfinite(weight) & (weight >= 0.0)).all():
            raise ValueError("sample_weight must be finite and not negative.")
        check_weights(weight)
        chunk = Chunk(X, y, weight)
        return chunk[np.flatnonzero(weight)] if self.learning else chunk


def _picked(chunk: Chunk, chosen: NDArray[np.intp] | None) -> Chunk:
    return chunk if chosen is None else chunk[chosen]


def _sample(parts: Sequence[Delayed], lengths: Sequence[int]) -> Chunk:
    n, bounds = sum(lengths), np.cumsum([0, *lengths])
    chosen: list[NDArray[np.intp] | None] = [None] * len(parts)
    if n > SAMPLE_ROWS:
        rows = np.sort(np.random.default_rng(n).choice(n, size=SAMPLE_ROWS, replace=False))
        cuts = np.searchsorted(rows, bounds)
        chosen = [rows[cuts[i] : cuts[i + 1]] - bounds[i] for i in range(len(parts))]
    sample: Chunk = reduce(add, gathered(mapped(_picked, parts, chosen)))
    return sample


def _labels(chunk: Chunk) -> NDArray[Any]:
    return np.unique(chunk.y)


def _called(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    chunk: Chunk,
    *rngs: np.random.Generator,
) -> Any:
    """Call a function of chunks with generators in place of ``None``, if the chunk has weight."""
    if not chunk.weights.any():
        return None
    left = iter(rngs)
    given = [next(left, None) if arg is None else arg for arg in args]
    return function([chunk], *given, **kwargs)


def _plus(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return first + second

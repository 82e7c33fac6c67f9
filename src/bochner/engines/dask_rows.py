"""Rows of Dask collections: collected for a fit, and prepared on the workers for chains."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from dask.delayed import Delayed

from bochner.engines.chunked_rows import ChunkedRows, LocalOrder, Size
from bochner.engines.collected import Collected
from bochner.engines.partition_rows import Check, TupleParts, refusal
from bochner.engines.partitions import is_frame, partitions_of
from bochner.engines.passes import DaskExecutor, kept, mapped
from bochner.features.chunks import Chunk
from bochner.learned.basis import Basis
from bochner.learned.preparation import Scaling, Trend
from bochner.learned.training_data import ScaledData, TrainingData


def collect(X: Any, y: Any, sample_weight: Any, *, numeric: bool, learning: bool) -> Collected:
    """Return the checked rows of Dask collections; see :func:`partitions_of`.

    For ``learning`` by a chain workers keep the checked rows; otherwise every pass reads and
    checks them. Raises ValueError if the data are unusable.
    """
    executor, check = DaskExecutor(), Check(TupleParts(), numeric, learning)
    parts = partitions_of(X, y, sample_weight)
    meta = X._meta if is_frame(X) else None
    if not learning:
        return Collected.of(executor, parts, check, meta)
    checked = kept(executor.map(partial(_checked, check), parts))
    return Collected.of(executor, checked, _nameless, meta)


def _checked(check: Check, index: int, part: object) -> Chunk | None:
    try:
        return check(part)[0]
    except (TypeError, ValueError) as error:
        raise refusal(index, error) from error


def _nameless(chunk: Chunk) -> tuple[Chunk, None]:
    return chunk, None


class PreparedPartition:
    """Rows of a partition in the layout of a chain, with the targets of every problem.

    Inputs (d, k) are scaled, of the type of the features; targets are (t, k), ``fixed`` (q, k).
    """

    def __init__(
        self,
        scaling: Scaling,
        trend: Trend,
        dtype: np.dtype[np.generic],
        task: Any,
        unit: float,
        has_precisions: bool,
        chunk: Chunk,
    ) -> None:
        """Prepare rows in the user's units; weights are divided by a unit."""
        scaled = scaling.apply(chunk.X)
        self.inputs = np.ascontiguousarray(scaled.T.astype(dtype, copy=False))
        self.targets = np.ascontiguousarray(task.columns(task.codes(chunk.y)).T)
        self.fixed = np.ascontiguousarray(trend.columns(scaled).T)
        self.weight = None if chunk.weight is None else chunk.weight / unit
        self.has_precisions = has_precisions

    def __sizeof__(self) -> int:
        # Dask estimates the cost of moving the object from this.
        parts = (self.inputs, self.targets, self.fixed, self.weight)
        return sum(0 if part is None else part.nbytes for part in parts)


def _problem_rows(
    column: int, factor: float, basis: Basis, prepared: PreparedPartition
) -> TrainingData:
    """Return the rows of one problem: a column of the targets, times a factor."""
    target, weight = factor * prepared.targets[column], prepared.weight
    repeats = None if weight is None or not prepared.has_precisions else np.ones(len(weight))
    inputs, fixed = prepared.inputs.T, prepared.fixed.T
    return TrainingData.of(inputs, target, fixed, weight, basis=basis, repeats=repeats)


def learnable(
    rows: Collected, columns: Sequence[ScaledData], problems: Any, scaling: Scaling, trend: Trend
) -> list[ScaledData]:
    """Return the data of every problem, for chains that end with passes over all rows.

    ``columns`` holds the distinct rows of the sample with the targets of each problem.
    """
    dtype = columns[0].X.dtype
    units = problems.unit, problems.has_precisions
    preparation = partial(PreparedPartition, scaling, trend, dtype, problems.task, *units)
    prepared = kept(mapped(preparation, rows.parts))
    return [
        replace(data, elsewhere=_rows(rows, prepared, data, column, problems))
        for column, data in enumerate(columns)
    ]


def _rows(
    collected: Collected,
    prepared: tuple[Delayed, ...],
    data: ScaledData,
    column: int,
    problems: Any,
) -> ChunkedRows:
    """Return the rows of one problem on the workers, in local order if all rows are local."""
    rows = partial(_problem_rows, column, data.target_factor, data.basis)
    parts = tuple(mapped(rows, prepared))
    if not collected.is_whole:
        size = Size(sum(collected.lengths), data.fixed.shape[1], data.X.dtype, data.basis)
        return ChunkedRows(parts, size)
    here, sample = data.rows(), collected.sample
    local_data = (sample.X, problems.task.codes(sample.y), sample.weight)
    order = LocalOrder(here, (problems.X, problems.codes), local_data, collected.lengths)
    return ChunkedRows(parts, Size(here.n_samples, here.n_fixed, here.dtype, here.basis), order)

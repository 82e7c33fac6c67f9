"""Tables in partitions: a sample of rows in memory, and sums over the other rows on workers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bochner._base.arrays import Array, as_array, rounded
from bochner._base.names import shown
from bochner.engines.collected import Collected, PartitionLayout
from bochner.engines.partition_rows import CheckTable, Names, PartitionedRows, PieceSplit
from bochner.features.chunks import Chunk
from bochner.files.columns import KIND_NAMES, Kind
from bochner.tables.encoder import TableEncoder, joined, read_part
from bochner.tables.observations import Elsewhere, Rows


def collected_table(
    X: object, y: ArrayLike | None, sample_weight: ArrayLike | None, *, numeric: bool
) -> Collected:
    """Return a sample of the rows of positive weight of a table in partitions."""
    if isinstance(X, PartitionedRows):
        if y is not None or sample_weight is not None:
            raise ValueError(
                "Targets and weights of PartitionedRows are in the partitions: pass fit(rows), "
                "without y and sample_weight."
            )
        check = CheckTable(X.split, numeric)
        collected = Collected.of(X.executor, X.parts, check, layouts=TableLayout)
    else:
        from bochner.engines.dask import DaskExecutor, partitions_of

        check, parts = CheckTable(PieceSplit(), numeric), partitions_of(X, y, sample_weight)
        collected = Collected.of(DaskExecutor(), parts, check, layouts=TableLayout)
    if not numeric and not collected.is_whole:
        _check_labels(collected)
    return collected


def _check_labels(rows: Collected) -> None:
    """Raise ValueError if a class has no row in the sample."""
    unseen = np.setdiff1d(rows.labels(), rows.sample.y)
    if unseen.size:
        raise ValueError(
            f"The class {shown(unseen[0])} is so rare that the sample of {len(rows.sample):,} of "
            f"{sum(rows.lengths):,} rows has none of it: leave its rows out, or give them another "
            "class."
        )


@dataclass(frozen=True, slots=True)
class TableLayout:
    """Names of the columns of a partition, and the kinds of their entries."""

    layout: PartitionLayout
    has_numbers: bool | None  # Whether targets are numbers, not text; None without rows
    columns: tuple[tuple[Kind, str], ...]  # Kind of each column, with an example entry

    @classmethod
    def of(cls, piece: Chunk, names: Names) -> "TableLayout":
        """Return the layout of a partition; raise an error for columns invalid in a table."""
        columns: list[tuple[Kind, str]] = [("empty", "")] * piece.X.shape[1]
        if len(piece):
            columns = [(column.kind, column.first()) for column in read_part(piece.X)]
        has_numbers = piece.y.dtype.kind in "biuf" if len(piece) else None
        return cls(PartitionLayout.of(piece, names), has_numbers, tuple(columns))

    @property
    def names(self) -> Names:
        """Names of the columns."""
        return self.layout.names

    @staticmethod
    def check(layouts: Sequence[tuple[int, "TableLayout"]]) -> None:
        """Raise ValueError if partitions differ in their columns or in the kinds of entries."""
        PartitionLayout.check([(index, part.layout) for index, part in layouts])
        first = layouts[0][1]
        names = first.names or [f"x{place}" for place in range(len(first.columns))]
        for place, name in enumerate(names):
            examples: dict[Kind, tuple[int, str]] = {}
            for index, part in layouts:
                kind, example = part.columns[place]
                if kind != "empty":
                    examples.setdefault(kind, (index, example))
            if len(examples) > 1:
                listed = (
                    f"{KIND_NAMES[k]} in partition {i} ({e})" for k, (i, e) in examples.items()
                )
                raise ValueError(
                    f"Mixed types in column {shown(name)}: {', '.join(listed)}. Convert the "
                    "entries to one kind, or leave missing ones empty."
                )
        of_kind: dict[bool, int] = {}
        for index, part in layouts:
            if part.has_numbers is not None:
                of_kind.setdefault(part.has_numbers, index)
        if len(of_kind) > 1:
            raise ValueError(
                f"Targets are numbers in partition {of_kind[True]} and text in partition "
                f"{of_kind[False]}: convert them to one kind."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Others:
    """The rows of a partitioned table that are not in the sample."""

    collected: Collected
    unit: float  # Unit of the weights
    names: NDArray[Any] | None  # Labels by class index, if targets are labels

    def encoded(
        self, encoders: list[TableEncoder], targets: Callable[[NDArray[np.generic]], Array]
    ) -> Elsewhere:
        """Return sums over the rows, encoded like the sample, with the scaled targets of a fit."""
        encode = partial(_encoded, encoders, targets, self.unit, self.names)

        def total(function: Callable[[Rows], Array]) -> Array:
            sums = self.collected.rest(partial(_of_rows, function, encode))
            assert sums is not None  # None if the sample has all rows
            return sums

        return total


def _of_rows(
    function: Callable[[Rows], Array],
    encode: Callable[[Chunk, NDArray[np.intp]], Rows],
    piece: Chunk,
    chosen: NDArray[np.intp],
) -> Array:
    return function(encode(piece, chosen))


def _encoded(
    encoders: list[TableEncoder],
    targets: Callable[[NDArray[Any]], Array],
    unit: float,
    names: NDArray[Any] | None,
    piece: Chunk,
    chosen: NDArray[np.intp],
) -> Rows:
    """Return some encoded rows of a partition; raise ValueError for entries of another kind."""
    # All rows are encoded, so that row numbers in errors refer to the partition.
    tables = [as_array(encoder.transform(piece.X)) for encoder in encoders]
    y = piece.y[chosen]
    if names is not None:
        order = np.argsort(names)
        y = order[np.searchsorted(names, y, sorter=order)]
    return Rows(joined(tables)[chosen], rounded(targets(y)), piece.weights[chosen] / unit)

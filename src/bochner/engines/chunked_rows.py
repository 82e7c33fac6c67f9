"""The rows of a chain, on Dask workers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner.engines.passes import gathered, kept, mapped, summed
from bochner.learned.basis import Basis
from bochner.learned.training_data import Along, Columns, SummedRows, TrainingData

Pieces = tuple[Delayed, ...]
"""Columns of every partition, computed and kept on the workers."""


@dataclass(frozen=True, slots=True)
class Size:
    """Numbers of rows on workers and of their fixed columns, and their features."""

    n_samples: int
    n_fixed: int
    dtype: np.dtype[Any]
    basis: Basis


class LocalOrder:
    """Positions of the n rows of partitions among the k distinct, ordered rows in memory."""

    def __init__(
        self,
        rows: TrainingData,
        ordered: tuple[Array, Array],
        local_data: tuple[Array, Array, Array | None],
        lengths: Sequence[int],
    ) -> None:
        """Find the rows with inputs (k, d) and targets (k,) ``ordered`` among ``local_data``.

        Inputs (n, d), targets and weights (n,) are of partitions with ``lengths`` rows.
        """
        X, y, weight = local_data
        order = np.lexsort((y, *X.T[::-1]))
        group = np.empty(len(y), dtype=np.intp)
        group[order] = _groups(X[order], y[order])
        weight = np.ones(len(y)) if weight is None else weight
        self.rows, self.group, self.group_of_ordered = rows, group, _groups(*ordered)
        self.share: Array = weight / np.bincount(group, weight)[group]
        self.bounds = np.cumsum(lengths)[:-1]

    def here(self, pieces: Sequence[Array]) -> Array:
        """Gather a column of the rows in memory from its pieces in the partitions."""
        values = np.empty(self.group_of_ordered[-1] + 1)
        values[self.group] = np.concatenate(pieces)
        return np.asarray(values[self.group_of_ordered])

    def there(self, column: Array) -> tuple[Array, ...]:
        """Split a column over the partitions so that sums over equal rows are preserved."""
        total = np.bincount(self.group_of_ordered, column)
        return tuple(np.split(self.share * total[self.group], self.bounds))


def _groups(X: Array, y: Array) -> NDArray[np.intp]:
    """Return the number of each row in ascending order, the same one for equal rows."""
    is_new = (X[1:] != X[:-1]).any(axis=1) | (y[1:] != y[:-1])
    return np.concatenate(([0], np.cumsum(is_new))).astype(np.intp)


@dataclass(frozen=True, eq=False)
class ChunkedRows(SummedRows):
    """Rows on workers, a part in every partition, which return sums only.

    Features are computed again in every pass. The rows of a lost worker are recomputed from the
    user's data and from the arrays sent by the client. With the ``order`` of few rows, variates are
    drawn on the client exactly as for rows in memory; with ``None`` every partition draws its
    variates.
    """

    parts: tuple[Delayed, ...]  # one TrainingData each
    size: Size
    order: LocalOrder | None = None

    @property
    def n_samples(self) -> int:
        return self.size.n_samples

    @property
    def n_fixed(self) -> int:
        return self.size.n_fixed

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.size.dtype

    @property
    def basis(self) -> Basis:
        return self.size.basis

    @cached_property
    def _sizes(self) -> list[Array]:
        sizes: list[Array] = summed(mapped(_sizes, self.parts), _plus)
        return sizes

    @property
    def n_observations(self) -> float:
        return float(self._sizes[0])

    @property
    def total_square(self) -> float:
        return float(self._sizes[1])

    def total(
        self,
        function: Callable[..., Sequence[object]],
        *args: object,
        along: Along = (),
        n_features: int,
    ) -> list[Array]:
        parts = self._calls("total", function, along, *args, n_features=n_features)
        sums: list[Array] = summed(parts, _plus)
        return sums

    def each(
        self, function: Callable[..., Array], *args: object, along: Along = (), n_features: int = 1
    ) -> Pieces:
        return kept(self._calls("each", function, along, *args, n_features=n_features))

    def _calls(
        self,
        method: str,
        function: Callable[..., object],
        along: Along,
        *args: object,
        **options: int,
    ) -> list[Delayed]:
        """Return the values of a method of every part, not yet computed."""
        absent = [None] * len(self.parts)
        columns = (absent if column is None else column for column in along)
        return mapped(partial(_called, method, function, args, options), self.parts, *columns)

    def drawn(
        self,
        rng: np.random.Generator,
        function: Callable[..., Array],
        *,
        along: Sequence[Columns] = (),
    ) -> Columns:
        if self.order is None:
            draw = partial(_drawn, function, int(rng.integers(np.iinfo(np.int64).max)))
            return kept(mapped(draw, self.parts, range(len(self.parts)), *along))
        columns = [self.order.here(gathered(column)) for column in along]
        return self.order.there(function(self.order.rows, *columns, rng))

    def reweighted(
        self, function: Callable[..., tuple[Array, Array]], *, along: Sequence[Columns] = ()
    ) -> "ChunkedRows":
        return replace(self, parts=tuple(self._calls("reweighted", function, along)))

    def room(self, n_features: int) -> None:
        return None


def _called(
    method: str,
    function: Callable[..., object],
    args: tuple[object, ...],
    options: dict[str, int],
    part: TrainingData,
    *along: Array | None,
) -> Any:
    """Call a method of a part with a function, arguments, and its share of the columns."""
    return getattr(part, method)(function, *args, along=along, **options)


def _drawn(
    function: Callable[..., Array], seed: int, part: TrainingData, index: int, *shares: Array
) -> Array:
    return part.drawn(np.random.default_rng([seed, index]), function, along=shares)


def _sizes(part: TrainingData) -> list[Array]:
    return [np.array(part.n_observations), np.array(part.total_square)]


def _plus(first: list[Array], second: list[Array]) -> list[Array]:
    return [a + b for a, b in zip(first, second, strict=True)]

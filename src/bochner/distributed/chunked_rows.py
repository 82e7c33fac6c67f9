"""The rows of a chain, on Dask workers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.distributed.local_order import LocalOrder
from bochner.distributed.passes import gathered, kept, mapped, summed
from bochner.learning.inference.basis import Basis
from bochner.learning.inference.summed import Columns, SummedRows
from bochner.learning.inference.training_data import TrainingData

Pieces = tuple[Delayed, ...]
"""Columns of every partition, computed and kept on the workers."""


@dataclass(frozen=True, slots=True)
class Size:
    """Sizes of rows on workers: ``n_samples`` of them, ``n_fixed`` columns, and their features."""

    n_samples: int
    n_fixed: int
    dtype: np.dtype[Any]
    basis: Basis


@dataclass(frozen=True, eq=False)
class ChunkedRows(SummedRows):
    """Rows on workers, a part in every partition, which return sums only.

    Features are computed again in every pass. The rows of a worker that is lost are made again
    from the user's data and from what was sent.

    Parameters
    ----------
    parts : tuple of Delayed
        One :class:`~bochner.learning.inference.training_data.TrainingData` per partition.
    size : Size
    order : LocalOrder or None
        Order of few rows, in which variates are drawn here exactly as for rows in memory; with
        ``None`` every partition draws its own, from a seed and its number.
    """

    parts: tuple[Delayed, ...]
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
    def total_weight(self) -> float:
        return float(self._sizes[0])

    @property
    def total_square(self) -> float:
        return float(self._sizes[1])

    def total(
        self,
        function: Callable[..., Sequence[Any]],
        *args: Any,
        along: Sequence[Columns | None] = (),
        n_features: int,
    ) -> list[Array]:
        call = partial(_called, "total", function, args, _present(along), n_features)
        sums: list[Array] = summed(mapped(call, self.parts, *_given(along)), _plus)
        return sums

    def each(
        self,
        function: Callable[..., Array],
        *args: Any,
        along: Sequence[Columns | None] = (),
        n_features: int = 1,
    ) -> Pieces:
        call = partial(_called, "each", function, args, _present(along), n_features)
        return kept(mapped(call, self.parts, *_given(along)))

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
        parts = mapped(partial(_reweighted, function), self.parts, *along)
        return replace(self, parts=tuple(parts))

    def room(self, n_features: int) -> None:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Rows of a partition in the layout of a chain, with the targets of every problem.

    Parameters
    ----------
    inputs : ndarray of shape (d, k)
        Scaled inputs, in the type of the features.
    targets : ndarray of shape (t, k)
    fixed : ndarray of shape (q, k)
    weight : ndarray of shape (k,) or None
    """

    inputs: NDArray[Any]
    targets: Array
    fixed: Array
    weight: Array | None

    def __sizeof__(self) -> int:
        # Dask estimates the cost of moving the object from this.
        parts = (self.inputs, self.targets, self.fixed, self.weight)
        return sum(0 if part is None else part.nbytes for part in parts)


def problem_rows(column: int, factor: float, basis: Basis, prepared: Prepared) -> TrainingData:
    """Return the rows of one problem: a column of the targets, times a factor.

    The factor is one half for a logistic likelihood.
    """
    target = factor * prepared.targets[column]
    return TrainingData.of(
        prepared.inputs.T, target, prepared.fixed.T, prepared.weight, basis=basis
    )


def _called(
    method: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    present: tuple[bool, ...],
    n_features: int,
    part: TrainingData,
    *shares: Array,
) -> Any:
    """Call a method of a part with a function, its share of the columns, and arguments."""
    left = iter(shares)
    along = tuple(next(left) if there else None for there in present)
    return getattr(part, method)(function, *args, along=along, n_features=n_features)


def _drawn(
    function: Callable[..., Array], seed: int, part: TrainingData, index: int, *shares: Array
) -> Array:
    return part.drawn(np.random.default_rng([seed, index]), function, along=shares)


def _reweighted(
    function: Callable[..., tuple[Array, Array]], part: TrainingData, *shares: Array
) -> TrainingData:
    return part.reweighted(function, along=shares)


def _sizes(part: TrainingData) -> list[Array]:
    return [np.array(part.total_weight), np.array(part.total_square)]


def _plus(first: list[Array], second: list[Array]) -> list[Array]:
    return [a + b for a, b in zip(first, second, strict=True)]


def _present(along: Sequence[Columns | None]) -> tuple[bool, ...]:
    return tuple(column is not None for column in along)


def _given(along: Sequence[Columns | None]) -> list[Columns]:
    return [column for column in along if column is not None]

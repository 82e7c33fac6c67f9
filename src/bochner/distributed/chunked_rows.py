"""The rows of a chain, on Dask workers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
"""Columns of every partition, computed and kept there."""


@dataclass(frozen=True, slots=True)
class Size:
    """What is known of rows without meeting them.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    n_fixed : int
        Number of fixed columns.
    dtype : numpy.dtype
        Of inputs and features.
    basis : Basis
    """

    n_samples: int
    n_fixed: int
    dtype: np.dtype[Any]
    basis: Basis


@dataclass(frozen=True, eq=False)
class ChunkedRows(SummedRows):
    """Rows that lie on workers, a part in every partition; only sums come back.

    Features are made anew in every pass. A worker that is lost takes nothing with it that cannot
    be made again from the user's data and from what was sent.

    Parameters
    ----------
    parts : tuple of Delayed
        Of :class:`~bochner.learning.inference.training_data.TrainingData`.
    size : Size
    order : LocalOrder or None
        Of few rows, in which variates are drawn here as they are for rows in memory; ``None``
        means that every partition draws its own, from a seed.
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
        call = _PartCall("total", function, args, _present(along), n_features)
        sums: list[Array] = summed(mapped(call, self.parts, *_given(along)), _plus)
        return sums

    def each(
        self,
        function: Callable[..., Array],
        *args: Any,
        along: Sequence[Columns | None] = (),
        n_features: int = 1,
    ) -> Pieces:
        call = _PartCall("each", function, args, _present(along), n_features)
        return kept(mapped(call, self.parts, *_given(along)))

    def drawn(
        self,
        rng: np.random.Generator,
        function: Callable[..., Array],
        *,
        along: Sequence[Columns] = (),
    ) -> Columns:
        if self.order is None:
            draw = _PartDraw(function, int(rng.integers(np.iinfo(np.int64).max)))
            return kept(mapped(draw, self.parts, range(len(self.parts)), *along))
        columns = [self.order.here(gathered(column)) for column in along]
        return self.order.there(function(self.order.rows, *columns, rng))

    def reweighted(
        self, function: Callable[..., tuple[Array, Array]], *, along: Sequence[Columns] = ()
    ) -> "ChunkedRows":
        parts = mapped(_PartWeights(function), self.parts, *along)
        return replace(self, parts=tuple(parts))

    def room(self, n_features: int) -> None:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Rows of a partition as chains want them, with the targets of every problem.

    Parameters
    ----------
    inputs : ndarray of shape (d, k)
        Scaled, in the type of the features.
    targets : ndarray of shape (t, k)
    fixed : ndarray of shape (q, k)
    weight : ndarray of shape (k,) or None
    """

    inputs: NDArray[Any]
    targets: Array
    fixed: Array
    weight: Array | None

    def __sizeof__(self) -> int:
        # So that Dask knows what it would cost to move.
        parts = (self.inputs, self.targets, self.fixed, self.weight)
        return sum(0 if part is None else part.nbytes for part in parts)


@dataclass(frozen=True, slots=True)
class Problem:
    """Makes the rows of one of the problems of a partition.

    Parameters
    ----------
    column : int
        Of the targets.
    factor : float
        Of the targets: one half where a likelihood is logistic.
    basis : Basis
    """

    column: int
    factor: float
    basis: Basis

    def __call__(self, prepared: Prepared) -> TrainingData:
        target = self.factor * prepared.targets[self.column]
        return TrainingData.of(
            prepared.inputs.T, target, prepared.fixed.T, prepared.weight, basis=self.basis
        )


@dataclass(frozen=True, slots=True, eq=False)
class _PartCall:
    """Calls a method of a part with a function, its share of the columns, and arguments."""

    method: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    present: tuple[bool, ...]
    n_features: int

    def __call__(self, part: TrainingData, *shares: Array) -> Any:
        left = iter(shares)
        along = tuple(next(left) if there else None for there in self.present)
        method = getattr(part, self.method)
        return method(self.function, *self.args, along=along, n_features=self.n_features)


@dataclass(frozen=True, slots=True, eq=False)
class _PartDraw:
    function: Callable[..., Array]
    seed: int

    def __call__(self, part: TrainingData, index: int, *shares: Array) -> Array:
        return part.drawn(np.random.default_rng([self.seed, index]), self.function, along=shares)


@dataclass(frozen=True, slots=True, eq=False)
class _PartWeights:
    function: Callable[..., tuple[Array, Array]]

    def __call__(self, part: TrainingData, *shares: Array) -> TrainingData:
        return part.reweighted(self.function, along=shares)


def _sizes(part: TrainingData) -> list[Array]:
    return [np.array(part.total_weight), np.array(part.total_square)]


def _plus(first: list[Array], second: list[Array]) -> list[Array]:
    return [a + b for a, b in zip(first, second, strict=True)]


def _present(along: Sequence[Columns | None]) -> tuple[bool, ...]:
    return tuple(column is not None for column in along)


def _given(along: Sequence[Columns | None]) -> list[Columns]:
    return [column for column in along if column is not None]

"""Rows that are met only in sums over parts of them, wherever they are."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.learning.inference.basis import Basis

if TYPE_CHECKING:
    from bochner.learning.inference.training_data import TrainingData

Columns = Any
"""Values that belong to rows, one or several each: an array whose last axis is the rows where these
are in memory, and what stands for such arrays where they are elsewhere."""


class SummedRows(ABC):
    """Rows of a regression on features, which a chain asks only for sums over them.

    What is summed is a pure function ``function(part, *along, *args)`` of a part of the rows (a
    :class:`~bochner.learning.inference.training_data.TrainingData`), of its share of the columns
    ``along``, and of anything else. Functions are those of modules, so that they can be sent to
    where rows are, and arrays they return are new ones.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def basis(self) -> Basis:
        """From the unknowns of a chain to its features."""

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of rows, ``n``."""

    @property
    @abstractmethod
    def n_fixed(self) -> int:
        """Number of fixed columns, ``q``."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """Type of the inputs and of the features."""

    @property
    @abstractmethod
    def total_weight(self) -> float:
        """How many rows there are when one of weight ``w`` stands for ``w`` of them."""

    @property
    @abstractmethod
    def total_square(self) -> float:
        r""":math:`\sum w y^2`."""

    @abstractmethod
    def total(
        self,
        function: Callable[..., Sequence[Any]],
        *args: Any,
        along: Sequence[Columns | None] = (),
        n_features: int,
    ) -> list[Array]:
        """Return the sums over parts of the arrays that ``function`` makes of each, in float64.

        Every part has its share of the columns ``along``, or ``None``. ``n_features`` numbers per
        row, which the function takes while it runs, bound the size of a part.
        """

    @abstractmethod
    def each(
        self,
        function: Callable[..., Array],
        *args: Any,
        along: Sequence[Columns | None] = (),
        n_features: int = 1,
    ) -> Columns:
        """Return the columns that ``function(part, *along, *args)`` makes of each part."""

    @abstractmethod
    def drawn(
        self, rng: Generator, function: Callable[..., Array], *, along: Sequence[Columns] = ()
    ) -> Columns:
        """Return a random column: ``function(part, *along, rng)``."""

    @abstractmethod
    def reweighted(
        self, function: Callable[..., tuple[Array, Array]], *, along: Sequence[Columns] = ()
    ) -> "SummedRows":
        """Return the same rows with weights ``w`` and pseudo-targets :math:`w y`.

        Both are what ``function(part, *along)`` returns.
        """

    @abstractmethod
    def room(self, n_features: int) -> NDArray[Any] | None:
        """Return an empty array (n_features, n) for features, or ``None``: they cannot be kept."""


def part_features(part: "TrainingData", omega: Array, Z: NDArray[Any] | None) -> NDArray[Any]:
    """Return features and fixed columns of a part of the rows, those kept or made anew."""
    return part.features(omega) if Z is None else Z

"""The order in which rows in memory would be, and columns brought into it and back."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.learning.inference.training_data import TrainingData


@dataclass(frozen=True, slots=True, eq=False)
class LocalOrder:
    """Positions of the rows of partitions among the distinct, ordered rows in memory.

    Parameters
    ----------
    rows : TrainingData
        Rows in memory; see :func:`~bochner.learning.inference.preparation.distinct_rows`.
    group : ndarray of shape (n,)
        Number of the group of equal rows, for every row of the partitions in order.
    own : ndarray of shape (k,)
        Groups of the rows in memory.
    share : ndarray of shape (n,)
        Share of a row in the weight of its group.
    bounds : ndarray of shape (number of partitions - 1,)
        First rows of all partitions but the first.
    """

    rows: TrainingData
    group: NDArray[np.intp]
    own: NDArray[np.intp]
    share: Array
    bounds: NDArray[np.intp]

    @classmethod
    def of(
        cls,
        rows: TrainingData,
        ordered: tuple[Array, Array],
        given: tuple[Array, Array, Array | None],
        lengths: Sequence[int],
    ) -> "LocalOrder":
        """Return the order of ``rows``.

        ``ordered`` are their inputs (k, d), in the units of the data, and targets (k,); ``given``
        are inputs (n, d), targets (n,) and weights (n,) of all partitions in order, whose numbers
        of rows are ``lengths``.
        """
        X, y, weight = given
        order = np.lexsort((y, *X.T[::-1]))
        group = np.empty(len(y), dtype=np.intp)
        group[order] = _groups(X[order], y[order])
        weight = np.ones(len(y)) if weight is None else weight
        share = weight / np.bincount(group, weight)[group]
        return cls(rows, group, _groups(*ordered), share, np.cumsum(lengths)[:-1])

    def here(self, pieces: Sequence[Array]) -> Array:
        """Return a column of the rows in memory, from those of the partitions."""
        values = np.empty(self.own[-1] + 1)
        values[self.group] = np.concatenate(pieces)
        column: Array = values[self.own]
        return column

    def there(self, column: Array) -> tuple[Array, ...]:
        """Return the pieces of partitions whose sums over equal rows are those of the column."""
        total = np.bincount(self.own, column)
        return tuple(np.split(self.share * total[self.group], self.bounds))


def _groups(X: Array, y: Array) -> NDArray[np.intp]:
    """Return the number of each row in ascending order, the same one for equal rows."""
    is_new = (X[1:] != X[:-1]).any(axis=1) | (y[1:] != y[:-1])
    return np.concatenate(([0], np.cumsum(is_new))).astype(np.intp)

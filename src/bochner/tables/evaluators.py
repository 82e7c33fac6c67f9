"""Evaluation of functions at rows with groups of columns exchanged between rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, steps
from bochner._base.threads import in_order, single_threaded_blas

_BATCH = 250
"""Rows that a thread predicts at once, 8 MB of 4,000 features: a quarter of the rows that models
keep."""


@dataclass(frozen=True, slots=True, eq=False)
class RowFunction:
    """A function of rows that can combine groups of columns of different rows."""

    function: Callable[[Array], Array]  # From rows (n, d) to predictions (n,) or (n, t)
    owners: NDArray[np.intp]  # (d,): Group of each column

    def predict(self, X: Array) -> Array:
        """Return predictions (n, t) of rows (n, d), by batches that threads share."""
        return self._in_batches(len(X), lambda batch: X[batch])

    def exchanged(self, pool: Array, sources: NDArray[np.intp]) -> Array:
        """Return predictions (q, t) of rows with group ``g`` taken from a row of the pool (r, d).

        ``sources`` (q, g) are the numbers of these rows.
        """
        columns = np.arange(len(self.owners))

        def rows(batch: slice) -> Array:
            return pool[sources[batch][:, self.owners], columns]

        return self._in_batches(len(sources), rows)

    def _in_batches(self, count: int, rows: Callable[[slice], Array]) -> Array:
        # Matrices of so few rows gain nothing from threads of linear algebra, which wait for each
        # other: 80 draws of learned frequencies took two to five times the CPU time with two.
        batches = list(steps(count, _BATCH))
        with single_threaded_blas() as n_threads:
            parts = in_order(lambda batch: self.function(rows(batch)), batches, n_threads)
            return np.concatenate([values for _, values in parts]).reshape(count, -1)


def owners_of(groups: Mapping[str, NDArray[np.intp]], n_columns: int) -> NDArray[np.intp]:
    """Return the group number (d,) of each column; columns without a group get ``len(groups)``."""
    owners = np.full(n_columns, len(groups), dtype=np.intp)
    for number, columns in enumerate(groups.values()):
        owners[columns] = number
    return owners

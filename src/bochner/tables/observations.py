"""All observations of a table in encoded columns, from which fits take distinct rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array
from bochner._base.keys import bits, mixed
from bochner.tables.distinct_rows import CellObservations, Chosen, Rows, pooled

REST, FIRST, SECOND = 0, 1, 2
"""Parts of scored observations: observations that were not in the search, and the first and the
second half of the search. A half is predicted by kernels that were learned on the other half."""

_OBSERVATIONS_PER_ROW = 50
"""Most observations per row of a search: more observations hardly change its errors."""

_FEW_ROWS = 100_000
"""Most rows whose copies are found by sorting them, which takes three times their memory. Of more
rows, keys are sorted."""


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """Observations with encoded columns, targets, weights and groups.

    Observations of equal inputs in the same group have the same ``cell``.
    """

    X: Array  # (n, d)
    Y: Array  # (n, t): Of mean zero
    weights: Array  # (n,): Of mean one; noise variances are inversely proportional to them
    groups: Chosen | None  # (n,): Numbers of groups that are left out together
    shared: Chosen | None  # (d,): Numbers of the length scales of columns
    cell: Chosen  # (n,)
    unit: float = 1.0  # Factor of the noise of new rows, relative to a row of weight one

    @classmethod
    def of(
        cls,
        X: Array,
        Y: Array,
        weights: Array,
        groups: Chosen | None = None,
        shared: Chosen | None = None,
        unit: float = 1.0,
    ) -> "Observations":
        """Return observations with the cells of equal inputs."""
        # Equal inputs of different groups are different rows: groups are left out separately.
        labels = [] if groups is None else [groups]
        return cls(X, Y, weights, groups, shared, equal_rows(X, *labels), unit)

    def __len__(self) -> int:
        return len(self.Y)

    def rows(self, units: Chosen, n_last: int = 0) -> Rows:
        """Return the distinct rows of the observations ``units``, in order of first appearance.

        Rows with one of the last ``n_last`` observations come after all other rows.
        """
        members, cell = self._placed(units, n_last)
        if len(members) == len(units):
            return self._as_they_are(units)
        totals, means, deviations = pooled(cell, self.Y[units], self.weights[units])
        # Halves of the observations, which are in random order.
        is_first = np.arange(len(units)) < (len(units) + 1) // 2
        observed = self._merged(units, cell, deviations, is_first)
        return Rows(self.X[members], means, totals, self._groups(members), self.shared, observed)

    def scored(self, units: Chosen, n_last: int, part: Chosen) -> "Scored":
        """Return the last ``n_last`` of the observations ``units`` as scored observations.

        ``part`` (n_last,) has the part of each. Cells number the rows of :meth:`rows` with the same
        arguments.
        """
        _, cell = self._placed(units, n_last)
        _, _, deviations = pooled(cell, self.Y[units], self.weights[units])
        last = slice(len(units) - n_last, None)
        weights = self.weights[units[last]]
        observed = CellObservations(cell[last], deviations[last], weights, np.ones(n_last))
        return Scored(units[last], part, observed, self._centres(units)[units[last]])

    def _centres(self, units: Chosen) -> Array:
        """Return the mean targets (n, t) of ``units`` without the group of each observation.

        Targets are centred by the mean of all observations; a left-out observation must not have
        contributed to the mean that predicts it. Without groups each observation is its own group.
        """
        labels = np.arange(len(self)) if self.groups is None else self.groups
        total = np.bincount(labels[units], self.weights[units], int(labels.max()) + 1)
        sums = np.stack(
            [
                np.bincount(labels[units], self.weights[units] * y, len(total))
                for y in self.Y[units].T
            ],
            axis=1,
        )
        # A single group leaves no rest: its mean is zero divided by a tiny number.
        rest = np.maximum(total.sum() - total, np.finfo(np.float64).tiny)
        means: Array = ((sums.sum(axis=0) - sums) / rest[:, None])[labels]
        return means

    def _placed(self, units: Chosen, n_last: int) -> tuple[Chosen, Chosen]:
        """Return an observation of each distinct row (C,), and the row of each observation (m,)."""
        cells = self.cell[units]
        _, first, place = np.unique(cells, return_index=True, return_inverse=True)
        is_last = np.zeros(len(first), dtype=bool)
        is_last[place[len(units) - n_last :]] = True
        # By whether a row has a last observation, then by first appearance.
        order = np.lexsort((first, is_last))
        return units[first[order]], np.argsort(order)[place]

    def prefix(self, units: Chosen, n_rows: int) -> Chosen:
        """Return the longest prefix of observations with at most ``n_rows`` distinct rows.

        It has at most 50 observations per row on average: the standard error of the mean of 50
        targets is a seventh of their standard deviation.
        """
        is_new = np.zeros(len(units), dtype=bool)
        is_new[np.unique(self.cell[units], return_index=True)[1]] = True
        count = int(np.searchsorted(np.cumsum(is_new), n_rows, side="right"))
        return units[: min(count, _OBSERVATIONS_PER_ROW * n_rows)]

    def _as_they_are(self, units: Chosen) -> Rows:
        groups = self._groups(units)
        return Rows(self.X[units], self.Y[units], self.weights[units], groups, self.shared)

    def _groups(self, units: Chosen) -> Chosen | None:
        if self.groups is None:
            return None
        numbers = np.unique(self.groups[units], return_inverse=True)[1]
        # A single group cannot be left out, because no row would remain: its rows are left out
        # one by one.
        return numbers if numbers.any() else None

    def _merged(
        self, units: Chosen, cell: Chosen, deviations: Array, is_first: NDArray[np.bool_]
    ) -> CellObservations:
        """Return the distinct observations; ``counts`` says how many equal ones each stands for."""
        weights = self.weights[units]
        # Equal observations have equal leave-one-out errors and are computed once.
        keys = equal_rows(self.Y[units], weights, cell)
        _, chosen, atom = np.unique(keys, return_index=True, return_inverse=True)
        counts = np.bincount(atom).astype(np.float64)
        n_first = np.bincount(atom, is_first).astype(np.float64)
        return CellObservations(cell[chosen], deviations[chosen], weights[chosen], counts, n_first)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Observations whose left-out predictions are computed, with the part of the search."""

    units: Chosen  # (s,): Indices of the observations
    part: Chosen  # (s,): REST, FIRST or SECOND
    observed: CellObservations
    centres: Array  # (s, t): Mean targets without the observation and its group


def equal_rows(*columns: NDArray[np.number]) -> Chosen:
    """Return labels (n,) that are equal for rows with equal entries in all columns (n,), (n, k).

    Labels are numbers from zero to the number of different rows.
    """
    n_rows = len(columns[0])
    if n_rows <= _FEW_ROWS:
        return _labels(columns)
    keys = np.zeros(n_rows, dtype=np.uint64)
    for column in columns:
        for entries in column.reshape(n_rows, -1).T:
            keys = mixed(keys + bits(as_array(entries)))
    _, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    # Rows of different keys differ. Rows of equal keys are compared, because keys may collide.
    repeated = np.flatnonzero(counts[place] > 1)
    labels = np.empty(n_rows, dtype=np.int64)
    is_single = counts[place] == 1
    labels[is_single] = np.arange(np.count_nonzero(is_single))
    if len(repeated):
        of_repeated = _labels([column[repeated] for column in columns])
        labels[repeated] = np.count_nonzero(is_single) + of_repeated
    return labels


def _labels(columns: Sequence[NDArray[np.number]]) -> Chosen:
    table = np.column_stack([as_array(column) for column in columns]) + 0.0  # No negative zeros
    table = np.ascontiguousarray(table)
    # Sorting rows as bytes is faster than np.unique(axis=0), which sorts them field by field.
    row_bytes = table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1])))[:, 0]
    return np.asarray(np.unique(row_bytes, return_inverse=True)[1], dtype=np.int64)

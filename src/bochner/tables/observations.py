"""Observations of a table, their distinct rows (*cells*), and errors of observations left out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array, steps

Keys = NDArray[np.uint64]

_MULTIPLIERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
"""Odd numbers of the finaliser of SplitMix64 (Steele, Lea and Flood, 2014)."""

_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
"""Bit shifts of the finaliser of SplitMix64."""


def bits(values: NDArray[np.float64]) -> Keys:
    """Return the bits of numbers; both zeros share one pattern, and all missing values another."""
    canonical = np.where(np.isnan(values), np.nan, values + 0.0)
    return canonical.view(np.uint64)


def mixed(keys: Keys) -> Keys:
    """Hash integers so that every bit of the result depends on every input bit."""
    for shift, multiplier in zip(_SHIFTS, _MULTIPLIERS, strict=False):
        keys = (keys ^ (keys >> shift)) * np.uint64(multiplier)
    return keys ^ (keys >> _SHIFTS[-1])


Chosen = NDArray[np.int64]
"""Indices of rows or of columns."""


Elsewhere = Callable[[Callable[["Rows"], Array]], Array]
"""Sums of a function of rows over all parts of the rows outside memory; workers unpickle it."""


class UnitError(NamedTuple):
    """The mean square of residuals of left-out observations, and its derivatives."""

    error: float
    by_coef: Array  # (C, t): Derivatives by the coefficients of the cells
    by_diagonal: Array  # (C,): Negative derivative by the diagonal of the inverse
    by_noise: float  # Derivative by log alpha, at fixed coefficients and diagonal


@dataclass(frozen=True, slots=True, eq=False)
class CellObservations:
    """Observations in cells, of the noise variance ``alpha / weight`` relative to the signal."""

    cell: Chosen  # (m,): Row of each observation
    deviations: Array  # (m, t): Deviations of targets from the mean of their cell
    weights: Array  # (m,)
    counts: Array  # (m,): Numbers of equal observations
    n_first: Array | None = None  # (m,): Part of the counts in the first half, see Rows.halves

    def left_out(
        self, totals: Array, coef: Array, diagonal: Array, alpha: float
    ) -> tuple[Array, Array]:
        r"""Return the residuals (m, t) and relative variances (m,) of observations left out.

        ``totals`` (C,) are the weights ``W`` of cells, ``coef`` (C, t) and ``diagonal`` (C,) are
        :math:`c = M \bar y` and the diagonal of :math:`M = (K + \alpha W^{-1})^{-1}`. Residuals are
        :math:`(y_i - \hat f) / (1 - u_i s / \alpha)` with :math:`\hat f = \bar y - \alpha c / W`
        and :math:`s = \alpha / W - \alpha^2 M_{cc} / W^2`.
        """
        share, precision, left = self._shares(totals, diagonal, alpha)
        # Multiplied by the precision, so that a cell of a single observation has no rounding error.
        numerators = precision[:, None] * self.deviations + coef[self.cell]
        return numerators / left[:, None], 1.0 / (share * left)

    def _shares(self, totals: Array, diagonal: Array, alpha: float) -> tuple[Array, Array, Array]:
        """Return shares of cells' weights, cells' precisions and residuals' divisors, each (m,)."""
        share = self.weights / totals[self.cell]
        precision = totals[self.cell] / alpha
        return share, precision, (1.0 - share) * precision + share * diagonal[self.cell]

    def error(self, totals: Array, coef: Array, diagonal: Array, alpha: float) -> UnitError:
        """Return the weighted mean square of left-out residuals, with its derivatives."""
        share, precision, left = self._shares(totals, diagonal, alpha)
        residuals, _ = self.left_out(totals, coef, diagonal, alpha)
        n_cells, scale = len(totals), 1.0 / float(self.counts.sum())
        weighted = (scale * self.counts * self.weights)[:, None] * residuals
        change = 2.0 * weighted / left[:, None]
        # Derivatives of all observations of a cell add up.
        by_coef = as_array([np.bincount(self.cell, part, n_cells) for part in change.T]).T
        by_left = np.sum(change * residuals, axis=1)
        lag = (1.0 - share)[:, None] * residuals - self.deviations
        by_noise = float(precision @ np.sum(change * lag, axis=1))
        by_diagonal = as_array(np.bincount(self.cell, share * by_left, n_cells))
        return UnitError(float(np.sum(weighted * residuals)), by_coef, by_diagonal, by_noise)

    def part(self, chosen: Chosen, n_cells: int) -> "CellObservations":
        """Return the observations of the chosen cells, out of ``n_cells``."""
        # Position of each cell among the chosen ones; -1 for others.
        place = np.full(n_cells, -1)
        place[chosen] = np.arange(len(chosen))
        indices = np.flatnonzero(place[self.cell] >= 0)
        n_first = None if self.n_first is None else self.n_first[indices]
        cell = place[self.cell[indices]]
        return CellObservations(
            cell, self.deviations[indices], self.weights[indices], self.counts[indices], n_first
        )


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Distinct encoded rows with their observed targets."""

    X: Array  # (C, d)
    Y: Array  # (C, t): Weighted means of the targets of each row
    weights: Array  # (C,): Total weights; noise variances are proportional to their inverses
    groups: Chosen | None = None  # (C,): Group indices; None: no observations share a group
    shared: Chosen | None = None  # (d,): Length-scale index by column; None: all differ
    observed: CellObservations | None = None  # None: a single observation for each row

    def __len__(self) -> int:
        return len(self.Y)

    @property
    def observations(self) -> CellObservations:
        """The observations, one or several for each row."""
        if self.observed is not None:
            return self.observed
        n, ones = len(self), np.ones(len(self))
        return CellObservations(np.arange(n), np.zeros(self.Y.shape), self.weights, ones)

    @property
    def n_observations(self) -> float:
        """Number of observations, including equal observations."""
        return float(len(self)) if self.observed is None else float(self.observed.counts.sum())

    def scatter(self) -> float:
        """Return the weighted sum of squares of targets about the means of their rows."""
        if self.observed is None:
            return 0.0
        squares = np.sum(self.observed.deviations**2, axis=1)
        return float(np.sum(self.observed.counts * self.observed.weights * squares))

    def part(self, chosen: Chosen) -> "Rows":
        """Return the chosen rows."""
        groups = None
        if self.groups is not None:
            groups = np.unique(self.groups[chosen], return_inverse=True)[1]
        observed = None if self.observed is None else self.observed.part(chosen, len(self))
        return Rows(
            self.X[chosen], self.Y[chosen], self.weights[chosen], groups, self.shared, observed
        )

    def columns(self, chosen: Chosen) -> "Rows":
        """Return the rows with the chosen columns only."""
        shared = None if self.shared is None else self.shared[chosen]
        return replace(self, X=self.X[:, chosen], shared=shared)

    def with_unit_targets(self) -> "Rows":
        """Return the rows with targets over √t, so that sums of squares over targets are means."""
        root, observed = np.sqrt(self.Y.shape[1]), self.observed
        if observed is not None:
            observed = replace(observed, deviations=observed.deviations / root)
        return replace(self, Y=self.Y / root, observed=observed)

    def length_scales(self) -> Chosen:
        """Return the index (d,) of the length scale of each column."""
        if self.shared is None:
            return np.arange(self.X.shape[1])
        return np.unique(self.shared, return_inverse=True)[1]

    def members(self) -> list[Chosen]:
        """Return the indices of the rows of each group."""
        assert self.groups is not None
        order = np.argsort(self.groups, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.groups[order])) + 1)

    def halves(self) -> tuple["Rows", "Rows"]:
        """Return two halves of the observations, each with whole groups."""
        if self.groups is not None:
            is_first = self.groups % 2 == 0
            return self.part(np.flatnonzero(is_first)), self.part(np.flatnonzero(~is_first))
        if self.observed is None:
            first, second = np.array_split(np.arange(len(self)), 2)
            return self.part(first), self.part(second)
        n_first = self.observed.n_first
        assert n_first is not None  # Set by `Observations.rows`
        return self._observed_by(n_first), self._observed_by(self.observed.counts - n_first)

    def _observed_by(self, counts: Array) -> "Rows":
        """Return the rows whose observations have nonzero ``counts`` (m,), with these counts."""
        observed = self.observations
        indices = np.flatnonzero(counts)
        cell, counts = observed.cell[indices], counts[indices]
        targets = self.Y[cell] + observed.deviations[indices]
        # Cells without an observation in this half are dropped.
        cells, cell = np.unique(cell, return_inverse=True)
        totals, means, deviations = pooled(cell, targets, observed.weights[indices] * counts)
        one_each = CellObservations(cell, deviations, observed.weights[indices], counts)
        return Rows(self.X[cells], means, totals, None, self.shared, one_each)

    def solved(self, inverse: Array, right: Array) -> Array:
        """Multiply ``right`` (n, t) by inverses of the groups' diagonal blocks of ``inverse``."""
        result = np.empty_like(right)
        for rows in self.members():
            result[rows] = np.linalg.solve(inverse[np.ix_(rows, rows)], right[rows])
        return result

    def left_out_variance(self, inverse: Array) -> Array:
        """Return leave-group-out variances (n,): diagonals of inverses of blocks of ``inverse``."""
        result = np.empty(len(self))
        for rows in self.members():
            result[rows] = np.diagonal(np.linalg.inv(inverse[np.ix_(rows, rows)]))
        return result

    def left_out_squares(self, inverse: Array, coef: Array, alpha: float) -> float:
        """Return the weighted sum of squared left-out residuals, given M (n, n) and M Y (n, t)."""
        if self.groups is None:
            diagonal = as_array(np.diagonal(inverse))
            error = self.observations.error(self.weights, coef, diagonal, alpha).error
            return self.n_observations * error
        residuals = self.solved(inverse, coef)
        return float(np.sum(self.weights[:, None] * residuals**2)) + self.scatter()


def pooled(cell: Chosen, targets: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Return total weights (C,) and weighted means (C, t) of cells, and deviations from them."""
    totals = as_array(np.bincount(cell, weights))
    sums = as_array([np.bincount(cell, weights * target) for target in targets.T]).T
    means = sums / totals[:, None]
    return totals, means, targets - means[cell]


REST, FIRST, SECOND = 0, 1, 2
"""Part of the search with a scored observation; kernels of one half predict the other half."""

_OBSERVATIONS_PER_ROW = 50
"""Most observations per row of a search: more observations hardly change its errors."""

_FEW_ROWS, _HASHED_ROWS = 100_000, 4096
"""Most rows that are sorted to find equal ones, in three times their memory, and rows hashed at
once."""


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """Observations; those of equal inputs in the same group have the same ``cell``."""

    X: Array  # (n, d)
    Y: Array  # (n, t): Of mean zero
    weights: Array  # (n,): Of mean one; noise variances are inversely proportional to them
    groups: Chosen | None  # (n,): Indices of groups that are left out together
    shared: Chosen | None  # (d,): Length-scale index by column
    cell: Chosen  # (n,): Row index by observation
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
        """Return distinct rows by first appearance; those of the last ``n_last`` come last."""
        members, cell = self._placed(units, n_last)
        if len(members) == len(units):
            groups = self._groups(units)
            return Rows(self.X[units], self.Y[units], self.weights[units], groups, self.shared)
        totals, means, deviations = pooled(cell, self.Y[units], self.weights[units])
        # The observations are in random order, so that these halves are random.
        is_first = np.arange(len(units)) < (len(units) + 1) // 2
        observed = self._merged(units, cell, deviations, is_first)
        return Rows(self.X[members], means, totals, self._groups(members), self.shared, observed)

    def scored(self, units: Chosen, n_last: int, part: Chosen) -> "Scored":
        """Return the last ``n_last`` of some observations, with their cells in :meth:`rows`."""
        _, cell = self._placed(units, n_last)
        _, _, deviations = pooled(cell, self.Y[units], self.weights[units])
        last = slice(len(units) - n_last, None)
        weights = self.weights[units[last]]
        observed = CellObservations(cell[last], deviations[last], weights, np.ones(n_last))
        return Scored(units[last], part, observed, self._centres(units)[units[last]])

    def _centres(self, units: Chosen) -> Array:
        """Return, for each observation, the mean targets (n, t) of ``units`` outside its group."""
        labels = np.arange(len(self)) if self.groups is None else self.groups
        total = np.bincount(labels[units], self.weights[units], int(labels.max()) + 1)
        of_targets = [self.weights[units] * y for y in self.Y[units].T]
        sums = np.stack([np.bincount(labels[units], y, len(total)) for y in of_targets], axis=1)
        # A single group leaves no observations: zero is divided by a tiny number.
        rest = np.maximum(total.sum() - total, np.finfo(np.float64).tiny)
        means: Array = ((sums.sum(axis=0) - sums) / rest[:, None])[labels]
        return means

    def _placed(self, units: Chosen, n_last: int) -> tuple[Chosen, Chosen]:
        """Return one observation per distinct row (C,), and the row index by observation (m,)."""
        cells = self.cell[units]
        _, first, place = np.unique(cells, return_index=True, return_inverse=True)
        is_last = np.zeros(len(first), dtype=bool)
        is_last[place[len(units) - n_last :]] = True
        # Rows without a last observation come first, each kind by first appearance.
        order = np.lexsort((first, is_last))
        return units[first[order]], np.argsort(order)[place]

    def prefix(self, units: Chosen, n_rows: int) -> Chosen:
        """Return the longest prefix of observations with at most ``n_rows`` distinct rows."""
        is_new = np.zeros(len(units), dtype=bool)
        is_new[np.unique(self.cell[units], return_index=True)[1]] = True
        count = int(np.searchsorted(np.cumsum(is_new), n_rows, side="right"))
        return units[: min(count, _OBSERVATIONS_PER_ROW * n_rows)]

    def _groups(self, units: Chosen) -> Chosen | None:
        if self.groups is None:
            return None
        numbers = np.unique(self.groups[units], return_inverse=True)[1]
        # No row would remain without a single group: its rows are left out one by one.
        return numbers if numbers.any() else None

    def _merged(
        self, units: Chosen, cell: Chosen, deviations: Array, is_first: NDArray[np.bool_]
    ) -> CellObservations:
        """Merge equal observations; ``counts`` are the numbers of merged observations."""
        weights = self.weights[units]
        # Equal observations have equal leave-one-out errors and are computed once.
        keys = equal_rows(self.Y[units], weights, cell)
        _, chosen, atom = np.unique(keys, return_index=True, return_inverse=True)
        counts = np.bincount(atom).astype(np.float64)
        n_first = np.bincount(atom, is_first).astype(np.float64)
        return CellObservations(cell[chosen], deviations[chosen], weights[chosen], counts, n_first)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Observations whose left-out predictions are computed, and their part of the search."""

    units: Chosen  # (s,): Indices of the observations
    part: Chosen  # (s,): REST, FIRST or SECOND
    observed: CellObservations
    centres: Array  # (s, t): Mean targets without the observation and its group


def equal_rows(*columns: NDArray[np.number]) -> Chosen:
    """Return labels (n,) that are equal for rows with equal entries in all columns (n,), (n, k)."""
    n_rows = len(columns[0])
    if n_rows <= _FEW_ROWS:
        table = np.column_stack([as_array(column) for column in columns])
        table = np.ascontiguousarray(table + 0.0)  # Without negative zeros
        # Sorting rows as bytes is faster than np.unique(axis=0), which sorts them field by field.
        row_bytes = table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1])))[:, 0]
        return np.asarray(np.unique(row_bytes, return_inverse=True)[1], dtype=np.int64)
    # Two of n different rows have the same hash with a probability of n² / 4e19.
    keys = np.zeros(n_rows, dtype=np.uint64)
    for rows in steps(n_rows, _HASHED_ROWS):
        for column in columns:
            for entries in np.ascontiguousarray(column[rows].reshape(-1, column[0].size).T):
                keys[rows] = mixed(keys[rows] + bits(as_array(entries)))
    return np.asarray(np.unique(keys, return_inverse=True)[1], dtype=np.int64)


def fold_numbers(groups: NDArray[np.int64] | None, n: int, n_folds: int) -> NDArray[np.int64]:
    """Return a fold (n,) for each row, equal within groups; without groups, folds take turns."""
    if groups is None or not np.ptp(groups):
        return np.arange(n) % n_folds
    first, number = np.unique(groups, return_index=True, return_inverse=True)[1:]
    return np.argsort(np.argsort(first))[number] % n_folds

"""Distinct rows of a table with their observations, and errors at left-out observations.

Observations with equal inputs share a row of the kernel matrix, a *cell*, which saves time: a
posterior only depends on the mean of the targets in a cell and the sum of their weights. Each
observation is still left out by itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array

Chosen = NDArray[np.int64]
"""Indices of rows or of columns."""


class Elsewhere(Protocol):
    """Rows outside memory, such as other partitions, in the encoding of the rows in memory."""

    def total(self, function: Callable[["Rows"], Array]) -> Array:
        """Return the sum of a function of the rows of each part; the function can be pickled."""


class UnitError(NamedTuple):
    """The error at left-out observations, and its derivatives."""

    error: float
    by_coef: Array  # (C, t): By the coefficients of the cells
    by_diagonal: Array  # (C,): Minus the derivative by the diagonal of the inverse, not negative
    by_noise: float  # By log alpha, at fixed coefficients and diagonal


@dataclass(frozen=True, slots=True, eq=False)
class CellObservations:
    r"""Observations in cells for leave-one-out errors.

    An observation of weight ``u`` has the noise variance :math:`\alpha / u`, relative to the signal
    variance. It represents ``counts`` equal and independent observations.
    """

    cell: Chosen  # (m,): Row of each observation
    deviations: Array  # (m, t): Of targets from the mean of their cell
    weights: Array  # (m,)
    counts: Array  # (m,): Whole numbers
    n_first: Array | None = None  # (m,): Part of the counts in the first half, see Rows.halves

    def left_out(
        self, totals: Array, coef: Array, diagonal: Array, alpha: float
    ) -> tuple[Array, Array]:
        r"""Return the residuals (m, t) and relative variances (m,) of observations left out.

        ``totals`` (C,) are the weights ``W`` of cells, ``coef`` (C, t) and ``diagonal`` (C,) are
        :math:`c = M \bar y` and the diagonal of :math:`M = (K + \alpha W^{-1})^{-1}`. A cell has
        the posterior mean :math:`\hat f = \bar y - \alpha c / W` and variance
        :math:`s = \alpha / W - \alpha^2 M_{cc} / W^2`. The residual and the variance of an
        observation, its noise included, are :math:`(y_i - \hat f) / (1 - u_i s / \alpha)` and
        :math:`(\alpha / u_i) / (1 - u_i s / \alpha)`. Both are divided by :math:`\alpha / W`, so
        that a single observation has :math:`c / M_{cc}` and :math:`1 / M_{cc}` without rounding.
        """
        share, precision, left = self._shares(totals, diagonal, alpha)
        # Multiplied by the precision, so that a cell of a single observation has no rounding error.
        numerators = precision[:, None] * self.deviations + coef[self.cell]
        return numerators / left[:, None], 1.0 / (share * left)

    def _shares(self, totals: Array, diagonal: Array, alpha: float) -> tuple[Array, Array, Array]:
        """Return shares of cell weights, cell precisions, and divisors of residuals, each (m,)."""
        share = self.weights / totals[self.cell]
        precision = totals[self.cell] / alpha
        return share, precision, (1.0 - share) * precision + share * diagonal[self.cell]

    def error(self, totals: Array, coef: Array, diagonal: Array, alpha: float) -> UnitError:
        """Return the weighted mean of squares of residuals, with its derivatives.

        Arguments are those of :meth:`left_out`. The mean is over observations, counts included.
        """
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
    """Distinct encoded rows with their observed targets.

    Leave-one-out errors leave out one observation at a time, or one group.
    """

    X: Array  # (C, d)
    Y: Array  # (C, t): Weighted means of the targets of each row
    weights: Array  # (C,): Total weights; noise variances are proportional to their inverses
    groups: Chosen | None = None  # (C,): Numbers from zero; None: no observations share a group
    shared: Chosen | None = None  # (d,): Numbers of the length scales of columns; None: all differ
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
        """Number of observations, equal ones included."""
        return float(len(self)) if self.observed is None else float(self.observed.counts.sum())

    def scatter(self) -> float:
        """Return the weighted sum of squares of targets about the means of their rows."""
        if self.observed is None:
            return 0.0
        squares = np.sum(self.observed.deviations**2, axis=1)
        return float(np.sum(self.observed.counts * self.observed.weights * squares))

    def part(self, chosen: Chosen) -> "Rows":
        """Return some of the rows."""
        groups = None
        if self.groups is not None:
            groups = np.unique(self.groups[chosen], return_inverse=True)[1]
        observed = None if self.observed is None else self.observed.part(chosen, len(self))
        return Rows(
            self.X[chosen], self.Y[chosen], self.weights[chosen], groups, self.shared, observed
        )

    def columns(self, chosen: Chosen) -> "Rows":
        """Return the rows with some of the columns."""
        shared = None if self.shared is None else self.shared[chosen]
        return replace(self, X=self.X[:, chosen], shared=shared)

    def with_unit_targets(self) -> "Rows":
        """Return the rows with targets divided by the square root of the number of targets.

        Sums of squares over targets then are means over targets, so that a repeated target column
        does not change the errors.
        """
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
        assert n_first is not None  # Rows with several observations are made with halves
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
        """Return the inverses of the groups' diagonal blocks of (n, n) times ``right`` (n, t)."""
        result = np.empty_like(right)
        for rows in self.members():
            result[rows] = np.linalg.solve(inverse[np.ix_(rows, rows)], right[rows])
        return result

    def left_out_variance(self, inverse: Array) -> Array:
        """Return the diagonals (n,) of the inverses of the groups' diagonal blocks of (n, n)."""
        result = np.empty(len(self))
        for rows in self.members():
            result[rows] = np.diagonal(np.linalg.inv(inverse[np.ix_(rows, rows)]))
        return result

    def left_out_squares(self, inverse: Array, coef: Array, alpha: float) -> float:
        """Return the weighted sum of squared leave-one-out or leave-group-out residuals.

        ``inverse`` (n, n) is the inverse of the covariance of targets, ``coef`` (n, t) its product
        with the targets.
        """
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

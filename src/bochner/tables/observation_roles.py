"""Roles of the observations of a table in a fit: to choose kernels, and to be scored."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner.tables.distinct_rows import Chosen, Elsewhere, Rows
from bochner.tables.efforts import Effort
from bochner.tables.observations import FIRST, SECOND, Observations, Scored

MOST_SCORED = 3000
"""Largest number of scored rows: the standard error of a quantile is below one per cent in rank."""

_FEWEST_OTHERS = 500
"""Fewest rows outside the search and the landmarks for which only these rows are scored: the 90 per
cent quantile of 500 scores has a standard error of 1.3 per cent in rank."""

_VARIANCE_LANDMARKS = 500
"""Number of landmarks of variances. Variances are smoother than means, and the model file contains
the matrix of these landmarks: half a megabyte in single precision. Log densities of new targets
differ by 0.001 from those with a thousand landmarks."""

_LEAST_UNSCORED = 1000
"""Fewest rows that are not scored if there are many rows: they correct the noise."""

_MANY_ROWS = 4000
"""Number of rows above which each fit takes more than a second, so that only the best kernels are
fitted."""


@dataclass(frozen=True, slots=True, eq=False)
class FitPlan:
    """A random order of observations: the first ones choose kernels, the last ones are scored."""

    observations: Observations
    order: Chosen  # (n,): Indices of the observations
    search: Chosen  # The first observations, which choose kernels
    rows: Rows  # Distinct rows of all observations; rows of scored observations come last
    scored: Scored  # The last observations
    more_rows: int  # Number of rows on which the best kernels are refined after the search
    n_landmarks: int  # Zero for exact fits
    n_variance: int  # Number of landmarks of variances; zero if variances are not needed
    by_halves: bool  # Whether observations of the search are scored, by kernels of the other half
    elsewhere: Elsewhere | None
    n_part: int = 0  # Number of rows of an exact fit to a part of the rows; zero if there is none

    @classmethod
    def of(
        cls,
        observations: Observations,
        effort: Effort,
        latest: NDArray[np.bool_] | None,
        with_variance: bool,
        rng: Generator,
        elsewhere: Elsewhere | None = None,
        used: Chosen | None = None,
    ) -> "FitPlan":
        """Return the plan, which decides which observations are scored.

        Scored are the observations marked by ``latest``. Without it, observations outside the
        search and the landmarks are scored if there are enough of them, else all observations. New
        rows are no landmarks, and left-out predictions at landmarks have larger errors. Time and
        memory depend on the number of distinct rows, the accuracy of scores on the number of
        observations. The plan has only the observations ``used``, or all of them.
        """
        used = np.arange(len(observations)) if used is None else used
        n_rows = len(np.unique(observations.cell[used]))
        # With rows elsewhere a fit is never exact: their number is unknown here.
        n_landmarks = effort.landmarks(n_rows) if elsewhere is None else effort.n_landmarks
        n_last, has_others = _scored_rows(effort, len(used), n_landmarks, n_rows)
        order = rng.permutation(used)
        if latest is not None:
            is_last = latest[order]
        elif has_others:
            is_last = _last(observations, order, n_last)
        else:
            is_last = np.ones(len(order), dtype=bool)
        # Scored observations come last, where fits expect their rows.
        order = np.concatenate((order[~is_last], order[is_last]))
        n_scored = int(np.sum(is_last))
        unscored = order if is_last.all() else order[:-n_scored]
        search = observations.prefix(unscored, effort.search_rows)
        by_halves = not has_others and latest is None
        # REST, except for observations that chose the kernel.
        part = np.zeros(n_scored, dtype=np.int64)
        if by_halves:
            part[: len(search)] = _halves(observations, search)
        rows = observations.rows(order, n_scored)
        n_variance = min(len(rows), _VARIANCE_LANDMARKS)
        return cls(
            observations,
            order,
            search,
            rows,
            observations.scored(order, n_scored, part),
            effort.more_rows,
            min(n_landmarks, len(rows)),
            n_variance if with_variance else 0,
            by_halves,
            elsewhere,
            effort.most_exact if n_landmarks and elsewhere is None else 0,
        )

    @property
    def has_many_rows(self) -> bool:
        """Whether only the best kernels are fitted, and chosen by more rows than the search had."""
        return len(self.rows) > _MANY_ROWS

    @property
    def n_scored_rows(self) -> int:
        """Number of distinct rows of the scored observations, which come last."""
        return len(self.rows) - int(self.scored.observed.cell.min())

    @property
    def part(self) -> Chosen:
        """The rows of an exact fit to a part: the first rows and those that are scored."""
        n_rows, n_last = len(self.rows), self.n_scored_rows
        return np.append(np.arange(self.n_part - n_last), np.arange(n_rows - n_last, n_rows))

    def rows_of_laws(self, count: int) -> Array:
        """Return the encoded rows (count, d) of laws: all rows, landmarks or a part."""
        if count == len(self.rows):
            return self.rows.X
        if count == self.n_part:
            return self.rows.X[self.part]  # Landmarks of other kernels are its first rows
        return self.rows.X[:count].copy()  # A view would keep all rows in memory

    def rows_of_part(self) -> tuple[Rows, Scored]:
        """Return the rows of the part, and the scored observations with their places in it."""
        observed = self.scored.observed
        observed = replace(observed, cell=observed.cell - (len(self.rows) - self.n_part))
        return self.rows.part(self.part), replace(self.scored, observed=observed)

    def first(self, n_rows: int) -> Rows:
        """Return at most ``n_rows`` first distinct rows, without the scored rows.

        If all rows are scored, kernels learned on one half of the search rows score the other half.
        """
        n_others = len(self.order) - (0 if self.by_halves else len(self.scored.units))
        return self.observations.rows(self.observations.prefix(self.order[:n_others], n_rows))


def _scored_rows(effort: Effort, n_samples: int, n_landmarks: int, n_rows: int) -> tuple[int, bool]:
    """Return the number of scored observations, and whether they are excluded from the search.

    If enough observations are neither in the search nor landmarks, only these are scored, otherwise
    all observations. ``n_rows`` is the number of distinct rows.
    """
    n_more = effort.more_rows if n_rows > _MANY_ROWS else _LEAST_UNSCORED
    n_others = n_samples - max(effort.search_rows, n_landmarks, n_more)
    has_others = n_others >= _FEWEST_OTHERS
    return (min(n_others, MOST_SCORED) if has_others else n_samples), has_others


def _halves(observations: Observations, search: Chosen) -> Chosen:
    """Return FIRST or SECOND for each observation of the search, as :meth:`Rows.halves` does."""
    is_first = np.arange(len(search)) < (len(search) + 1) // 2
    if observations.groups is not None:
        number = np.unique(observations.groups[search], return_inverse=True)[1]
        is_first = number % 2 == 0 if number.any() else is_first
    return np.where(is_first, FIRST, SECOND)


def _last(observations: Observations, order: Chosen, count: int) -> NDArray[np.bool_]:
    """Return a mask (n,) of about ``count`` last observations of the order, in complete groups."""
    if observations.groups is None:
        return np.arange(len(order)) >= len(order) - count
    labels, places, groups = np.unique(
        observations.groups[order], return_index=True, return_inverse=True
    )
    # Groups in descending order of their first observation in the random order.
    latest_first = np.argsort(-places)
    totals = np.cumsum(np.bincount(groups)[latest_first])
    n_groups = min(max(1, np.searchsorted(totals, count, "right")), len(labels) - 1)
    return np.isin(groups, latest_first[:n_groups])

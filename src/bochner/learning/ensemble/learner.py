"""Fitting the laws of a table, and predicting the rows that each leaves out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._numerics.progress import Progress
from bochner._numerics.threads import in_order, single_threaded_blas, threads_of_blas
from bochner.learning.ensemble.efforts import Effort, measured_rate, tree_seconds
from bochner.learning.ensemble.kernel_laws import (
    KernelLaw,
    LeaveOneOutPredictions,
    exact,
    on_landmarks,
)
from bochner.learning.ensemble.laws import Laws, ScoredLaws, n_rows_of
from bochner.learning.ensemble.leave_one_out import Found
from bochner.learning.ensemble.observations import FIRST, SECOND, Observations, Scored
from bochner.learning.ensemble.rows import Chosen, Elsewhere, Rows
from bochner.learning.ensemble.search import Family, learned, noise_factor, refined
from bochner.learning.ensemble.tree_laws import (
    BOOSTINGS,
    FEWEST_FOR_TREES,
    TreeLaw,
    TreeLearner,
)
from bochner.learning.ensemble.trees import TreeInputs

_MOST_SCORED = 3000
"""Most rows that are scored: the error of a quantile is below one per cent in rank."""

_FEWEST_OTHERS = 500
"""Fewest rows without a part in the search or among landmarks that are scored alone: their scores'
quantile of 90 per cent is accurate to 1.3 per cent in rank."""

_NOISE_ROWS = 1600
"""Rows, of not many, that correct the noise found by the search in a third of a second a law."""

_VARIANCE_LANDMARKS = 500
"""Landmarks of variances, which are smoother than means, and whose matrix the model keeps: half a
megabyte. Log densities of new targets are those by a thousand landmarks to 0.001."""

_LEAST_UNSCORED = 1000
"""Fewest rows that are not scored where others are many: they correct the noise."""

_HOPELESS = 1.5
"""Errors this many times the least in the search: such laws get next to no weight in the sum."""

_MANY_ROWS = 4000
"""Rows beyond which each fit takes more than a second, and only the best kernels are fitted."""

_FEW_LAWS = 2
"""Most kernels that are fitted to many rows: a third changes errors by some per cent either way.
Those with the least left-out errors of more rows than the search had are the best of new rows,
too."""

_SEARCH_SHARE = 0.5
"""Share of a time limit after which no search for a kernel begins; fits need the rest."""

_TREES_SHARE = 0.7
"""Share of a time limit after which no trees begin: up to five fits of them take a while."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """A family of kernels on some of the encoded columns."""

    name: str
    family: Family
    columns: Chosen
    has_trends: bool  # Whether columns that only grow or fall in time are among these


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """Observations in a random order, and what the first and the last of them are for."""

    observations: Observations
    order: Chosen  # (n,): Numbers of the observations
    search: Chosen  # Those that choose kernels, the first ones
    rows: Rows  # The distinct rows of all; those of scored observations are the last
    scored: Scored  # The last ones
    more_rows: int  # Rows that move the best kernels on from the search
    n_landmarks: int  # Zero for exact fits
    n_variance: int  # Landmarks of variances; zero if there is no need for variances
    by_halves: bool  # Whether those of the search are scored, by what the other half has learned
    elsewhere: Elsewhere | None

    @classmethod
    def of(
        cls,
        observations: Observations,
        effort: Effort,
        latest: NDArray[np.bool_] | None,
        with_variance: bool,
        rng: Generator,
        elsewhere: Elsewhere | None = None,
    ) -> "_Plan":
        """Return the plan: the latest are scored, else those without another part if many.

        New rows are no landmarks, and predictions at landmarks that are left out are worse. Times
        and memory depend on the number of distinct rows, errors of scores on that of observations.
        """
        n_rows = int(observations.cell.max()) + 1
        n_landmarks = effort.landmarks(n_rows) if elsewhere is None else effort.n_landmarks
        n_last, has_others = _scored_rows(effort, len(observations), n_landmarks, n_rows)
        order = rng.permutation(len(observations))
        if latest is not None:
            is_last = latest[order]
        elif has_others:
            is_last = _last(observations, order, n_last)
        else:
            is_last = np.ones(len(order), dtype=bool)
        order = np.concatenate((order[~is_last], order[is_last]))
        n_scored = int(np.sum(is_last))
        others = order if is_last.all() else order[:-n_scored]
        search = observations.prefix(others, effort.search_rows)
        by_halves = not has_others and latest is None
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
        )

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
    return (min(n_others, _MOST_SCORED) if has_others else n_samples), has_others


def _halves(observations: Observations, search: Chosen) -> Chosen:
    """Return the half of each observation of the search, as :meth:`Rows.halves` takes them."""
    is_first = np.arange(len(search)) < (len(search) + 1) // 2
    if observations.groups is not None:
        number = np.unique(observations.groups[search], return_inverse=True)[1]
        is_first = number % 2 == 0 if number.any() else is_first
    return np.where(is_first, FIRST, SECOND)


def _variants(columns: Chosen, trends: Chosen | None) -> list[Chosen]:
    """Return columns, and those without trends if there are any others."""
    if trends is None:
        return [columns]
    others = np.setdiff1d(columns, trends)
    return [columns, others] if 0 < len(others) < len(columns) else [columns]


def _best_of_kinds(results: Sequence[tuple[_Trial, Found]]) -> list[tuple[_Trial, Found]]:
    """Return the first of each family, with trends and without, among kernels in some order.

    Kernels of one family on two encodings are nearly the same function: both together are no better
    than the better one, and are not weighed more accurately.
    """
    firsts: dict[tuple[str, bool], tuple[_Trial, Found]] = {}
    for trial, found in results:
        firsts.setdefault((trial.name, trial.has_trends), (trial, found))
    return list(firsts.values())


def _last(observations: Observations, order: Chosen, count: int) -> NDArray[np.bool_]:
    """Return which observations in an order are about the last ones, with whole groups."""
    if observations.groups is None:
        return np.arange(len(order)) >= len(order) - count
    labels, places, groups = np.unique(
        observations.groups[order], return_index=True, return_inverse=True
    )
    latest_first = np.argsort(-places)
    totals = np.cumsum(np.bincount(groups)[latest_first])
    n_groups = min(max(1, np.searchsorted(totals, count, "right")), len(labels) - 1)
    return np.isin(groups, latest_first[:n_groups])


@dataclass(frozen=True, slots=True)
class Learner:
    """How to fit the laws of a table; see :class:`bochner.TableRegressor`."""

    effort: Effort
    n_threads: int
    time_limit: float | None
    progress: Progress

    def fit(
        self,
        observations: Observations,
        encodings: Sequence[Chosen],
        rng: Generator,
        *,
        latest: NDArray[np.bool_] | None = None,
        trends: Chosen | None = None,
        with_variance: bool = True,
        elsewhere: Elsewhere | None = None,
        labels: NDArray[np.int64] | None = None,
        cycles: Chosen | None = None,
        line: Chosen | None = None,
    ) -> ScoredLaws:
        """Return the laws of observations with targets of variance about one.

        ``encodings`` are sets of columns, each the whole table; all of them together are one more.
        Rows that no search has seen are scored if they are many, else all rows, by kernels that the
        other half of the rows has learned; only those marked by ``latest`` if it is given. Each
        kernel is also learned without the columns ``trends``, if there are some: those that only
        grow or fall in time, which later rows have beyond all that was fitted. Laws are also fitted
        to rows ``elsewhere``, of which ``rows`` are a sample without them. Trees are a law of rows
        in memory, if these are many; those of ``labels`` (n,), numbers of classes, have log odds.
        Their inputs are phases of ``cycles``, see :meth:`TreeInputs.of`, and some are fitted to
        residuals of a line of the columns ``line``.
        """
        began = perf_counter()
        order_rng, search_rng, tree_rng = rng.spawn(3)
        effort, rate = self.effort, np.inf
        if self.time_limit is not None:
            n_rows, n_columns = int(observations.cell.max()) + 1, len(encodings[0])
            with threads_of_blas(self.n_threads):
                rate = measured_rate()
            effort = effort.within(self.time_limit, n_rows, n_columns, rate)
        plan = _Plan.of(observations, effort, latest, with_variance, order_rng, elsewhere)
        sets = [*encodings, np.unique(np.concatenate(encodings))]
        trials = [
            _Trial(name, family, columns, has_trends=columns is whole)
            for name, (family, count) in self.effort.families.items()
            for whole in sets[:count]
            for columns in _variants(whole, trends)
        ]
        with single_threaded_blas():
            found = self._searched(plan, trials, began, search_rng)
        fitted: list[tuple[KernelLaw | TreeLaw, LeaveOneOutPredictions]] = []
        last = 0.0  # Seconds of the kernel before
        for number, (trial, result) in enumerate(found):
            started = perf_counter()
            if fitted and self._is_late(began, 1.0, last):
                break
            self.progress("fitting to all rows kernel", number + 1, len(found))
            with threads_of_blas(self.n_threads):
                fitted.append(self._fitted(plan, trial, result))
            last = perf_counter() - started
        of_trees = (encodings[-1], observations.shared, cycles)
        for boosting in BOOSTINGS if elsewhere is None else ():
            n_trees = boosting.most_trees(len(observations)) * observations.Y.shape[1]
            seconds = tree_seconds(len(observations), len(encodings[-1]), n_trees, rate)
            if not self._is_late(began, _TREES_SHARE, seconds):
                inputs = TreeInputs.of(*of_trees, has_waves=boosting.has_waves)
                seed, columns = int(tree_rng.integers(2**31)), line if boosting.has_line else None
                trees = TreeLearner(boosting, inputs, labels, seed, columns)
                fitted += self._of_trees(plan, trees)
        return self._judged(plan, fitted, TreeInputs.of(*of_trees))

    def _of_trees(
        self, plan: _Plan, learner: TreeLearner
    ) -> list[tuple[KernelLaw | TreeLaw, LeaveOneOutPredictions]]:
        """Return boosted trees, if there are rows enough."""
        if len(plan.observations) < FEWEST_FOR_TREES:
            return []
        self.progress(f"fitting {learner.boosting.name}")
        trees = learner.fit(plan.observations, plan.order, plan.scored, self.n_threads)
        return [] if trees is None else [trees]

    def _judged(
        self,
        plan: _Plan,
        fitted: Sequence[tuple[KernelLaw | TreeLaw, LeaveOneOutPredictions]],
        columns: TreeInputs,
    ) -> ScoredLaws:
        """Return the laws, their noise in the units of the weights that were given."""
        members, left_out = zip(*fitted, strict=True)
        means, variances, noise = (np.stack(p, axis=1) for p in zip(*left_out, strict=True))
        unit = plan.observations.unit
        own_noise = noise / plan.scored.observed.weights[:, None, None]
        rows, shared = plan.rows.X[: n_rows_of(members)], plan.observations.shared
        blocks = None if shared is None else TreeInputs.of(np.arange(rows.shape[1]), shared)
        laws = Laws(rows, [law.with_variances(1.0, unit) for law in members], blocks)
        units = plan.scored.units
        groups = plan.observations.groups
        groups = None if groups is None else groups[units]
        inputs = plan.observations.X[units]
        return ScoredLaws(
            laws, units, inputs, columns, means, variances, own_noise, unit * noise, groups
        )

    def _is_late(self, began: float, share: float, seconds: float = 0.0) -> bool:
        """Whether a share of the time limit is over, or work of ``seconds`` would exceed it."""
        if self.time_limit is None:
            return self.progress.is_stopped
        passed = perf_counter() - began
        is_over = passed > share * self.time_limit or passed + seconds > self.time_limit
        return self.progress.is_stopped or is_over

    def _searched(
        self, plan: _Plan, trials: Sequence[_Trial], began: float, rng: Generator
    ) -> list[tuple[_Trial, Found]]:
        """Return the kernels found in the time that there is, at least one, the best first."""
        seeds = rng.spawn(len(trials))
        some = plan.observations.rows(plan.search)
        is_refined = len(plan.rows) > _MANY_ROWS
        most = plan.first(plan.more_rows if is_refined else _NOISE_ROWS)

        def search(number: int) -> Found | None:
            if number and self._is_late(began, _SEARCH_SHARE):
                return None
            trial = trials[number]
            return learned(trial.family, some.columns(trial.columns), seeds[number])

        def error_of_more(entry: tuple[_Trial, Found]) -> float:
            trial, found = entry
            return found.whole.left_out_error(most.columns(trial.columns))

        def corrected(entry: tuple[_Trial, Found]) -> Found:
            trial, found = entry
            if is_refined:
                return replace(found, whole=refined(found.whole, most.columns(trial.columns)))
            factor = noise_factor(found.whole, most.columns(trial.columns))
            return found.with_noise(factor)

        results: list[tuple[_Trial, Found]] = []
        for number, found in in_order(search, range(len(trials)), self.n_threads):
            if found is not None:
                self.progress("learned kernel", number + 1, len(trials))
                results.append((trials[number], found))
        if is_refined:
            errors = in_order(error_of_more, results, self.n_threads)
            results = [(trial, replace(f, error=error)) for (trial, f), error in errors]
        results.sort(key=lambda entry: entry[1].error)
        results = _best_of_kinds(results)
        most_error = _HOPELESS * results[0][1].error
        results = [entry for entry in results if entry[1].error <= most_error]
        results = results[: _FEW_LAWS if is_refined else None]
        if most.n_observations > len(plan.search):
            pairs = in_order(corrected, results, self.n_threads)
            results = [(trial, found) for (trial, _), found in pairs]
        return results

    def _fitted(
        self, plan: _Plan, trial: _Trial, found: Found
    ) -> tuple[KernelLaw, LeaveOneOutPredictions]:
        """Return the law of all rows, and its left-out means and variances."""
        learned = (trial.name, found.whole, plan.rows, trial.columns)
        if plan.n_landmarks:
            sizes = plan.n_landmarks, plan.n_variance
            return on_landmarks(*learned, sizes, plan.scored, self.n_threads, plan.elsewhere)
        law, left_out = exact(*learned, plan.n_variance, plan.scored, self.n_threads)
        left_out = LeaveOneOutPredictions(*map(np.array, left_out))
        for part, kernel in zip((FIRST, SECOND), found.halves, strict=True):
            others = plan.scored.part == FIRST + SECOND - part
            if others.any():
                of_half = (trial.name, kernel, plan.rows, trial.columns, plan.n_variance)
                _, by_half = exact(*of_half, plan.scored, self.n_threads, part)
                for values, new_values in zip(left_out, by_half, strict=True):
                    values[others] = new_values[others]
        return law, left_out

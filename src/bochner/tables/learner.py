"""Fit of the base models of a table with their left-out predictions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._base.progress import Progress
from bochner._base.threads import in_order, single_threaded_blas, threads_of_blas
from bochner.tables.base_laws import Laws, ScoredLaws, TableLaw, n_rows_of
from bochner.tables.estimator_laws import EstimatorLearner, n_fits
from bochner.tables.fit_plan import (
    OF_BINS,
    Effort,
    FitPlan,
    InputCounts,
    measured_rate,
    trees_fit,
    within_memory,
)
from bochner.tables.kernel_laws import (
    KernelLaw,
    LeaveOneOutPredictions,
    exact,
    is_part_better,
    on_landmarks,
)
from bochner.tables.kernel_search import Begun, Family, begun, finished, noise_factor, refined
from bochner.tables.landmark_fits import has_passes
from bochner.tables.later_stretches import folds_of_stretches, over_stretches
from bochner.tables.leave_one_out import Found
from bochner.tables.level_means import Removal
from bochner.tables.observations import FIRST, SECOND, Chosen, Elsewhere, Observations
from bochner.tables.tree_laws import FEWEST_FOR_TREES, TreeLearner, most_trees
from bochner.tables.trees import TreeInputs

_NOISE_ROWS = 1600
"""Rows that correct the noise after a search of few rows, in a third of a second per law."""

_MORE_ROWS = 1.5
"""Ratio to the rows of the search above which more rows correct the noise."""

_HOPELESS = 1.5
"""Ratio to the least error above which a kernel is dropped: its weight would be almost zero."""

_FEW_LAWS = 2
"""Most kernels of many rows: a third one changes errors by some per cent in either direction."""

_SEARCH_SHARE = 0.5
"""Share of a time limit after which no search for a kernel starts; fits need the rest."""

_REFINED_SHARE = 0.6
"""Share of a time limit after which kernels are not refined on more rows."""

_Fit = tuple[TableLaw, LeaveOneOutPredictions]
"""A law with its left-out predictions of scored observations."""

_Refittable = tuple[_Fit, Callable[[FitPlan], _Fit | None]]
"""A fitted law with its predictions, and the function that fits it again by another plan."""

_REMAINING_SHARE = 0.6
"""Share of the rest of a time limit for the first kernel of many rows."""

_TREES_SHARE = 0.7
"""Share of a time limit after which no boosting or base model starts: each takes up to five
fits."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """A family of kernels to be searched, on some of the encoded columns."""

    name: str
    family: Family
    columns: Chosen
    has_trends: bool  # Whether the columns include monotone functions of time


_Searched = tuple[_Trial, Found]
"""A trial and the kernels learned for it."""

_Entry = TypeVar("_Entry", _Searched, tuple[_Trial, Begun])


def _hopeful(results: Sequence[_Entry]) -> list[_Entry]:
    """Return the kernels, best first, without those whose weights would be almost zero."""
    ordered = sorted(results, key=lambda entry: entry[1].error)
    most_error = _HOPELESS * ordered[0][1].error
    return [entry for entry in ordered if entry[1].error <= most_error]


def _variants(columns: Chosen, trends: Chosen | None) -> list[Chosen]:
    """Return the columns, and also the columns without ``trends`` if some, not all, are trends."""
    if trends is None:
        return [columns]
    stationary = np.setdiff1d(columns, trends)
    return [columns, stationary] if 0 < len(stationary) < len(columns) else [columns]


def _input_counts(
    observations: Observations, columns: Chosen, *, is_mapped: bool = False
) -> InputCounts:
    # A linear map mixes the columns of levels with others.
    inputs = columns if is_mapped else TreeInputs.of(columns, observations.shared)
    return InputCounts(len(columns), len(inputs))


def _shape(observations: Observations) -> tuple[int, int, int]:
    """Return the numbers of different rows, columns, and values of targets after the first."""
    n_rows, Y = int(observations.cell.max()) + 1, observations.Y
    return n_rows, observations.X.shape[1], Y.size - len(Y)


@dataclass(frozen=True, slots=True)
class Learner:
    """Settings and steps of fitting base models; the time limit starts when it is created."""

    effort: Effort
    n_threads: int
    time_limit: float | None
    progress: Progress
    memory_limit: int | None = None  # Bytes
    began: float = field(default_factory=lambda: perf_counter())

    def fit(
        self,
        observations: Observations,
        encodings: Sequence[Chosen],
        rng: Generator,
        *,
        removal: Removal | None = None,
        trends: Chosen | None = None,
        with_variance: bool = True,
        elsewhere: Elsewhere | None = None,
        labels: NDArray[np.int64] | None = None,
        cycles: Chosen | None = None,
        line: Chosen | None = None,
        base_models: Sequence[Any] = (),
    ) -> ScoredLaws:
        """Fit base models to observations with targets of variance about one.

        ``encodings`` have the columns of each encoding of the table, ``cycles`` (c, 2) those of
        waves (first, number), ``trends`` those that are monotone in time, ``line`` those of a
        regression.
        """
        order_rng, tree_rng, model_rng = rng.spawn(3)
        removal = removal or Removal()
        shape = _shape(observations)
        largest, rate = self._within_memory(observations, shape), np.inf
        effort = largest
        # The union of encodings is one more: a kernel may need columns of two encodings.
        sets = [*encodings, np.unique(np.concatenate(encodings))]
        trials = [
            _Trial(name, family, columns, has_trends=columns is encoding)
            for name, (family, count) in self.effort.families.items()
            for encoding in sets[:count]
            for columns in _variants(encoding, trends)
        ]
        if self.time_limit is not None:
            counts, rate = _input_counts(observations, encodings[0]), measured_rate(self.n_threads)
            effort = effort.within(self.time_limit, shape[0], counts, len(trials), rate)
        latest = None if removal.stretches is None else removal.latest
        plan = FitPlan.of(observations, effort, latest, with_variance, order_rng, elsewhere)
        with single_threaded_blas():
            searched = self._searched(plan, trials)
        fits_began = perf_counter()
        if self.time_limit is not None:
            trial, kernels = searched[0]
            counts = _input_counts(
                observations, trial.columns, is_mapped=kernels.full.matrix is not None
            )
            plan = self._within_rest(plan, largest, counts)
        results = self._kernels(plan, searched)
        results += self._estimators(plan, base_models, encodings[0], labels, model_rng)
        of_trees = (encodings[-1], observations.shared, cycles)
        if elsewhere is None:  # Trees need all rows in memory
            results += self._trees(plan, of_trees, labels, line, tree_rng, rate)
        fitted, fits = [law for law, _ in results], [again for _, again in results]
        units = plan.scored.units
        if removal.stretches is not None:
            at_origin = partial(self._at_origin, effort, with_variance, fits)
            seconds = perf_counter() - fits_began
            fitted, units = over_stretches(
                fitted, observations, units, removal.stretches, at_origin, seconds
            )
        return self._judged(plan, fitted, TreeInputs.of(*of_trees), units, removal)

    def _kernels(self, plan: FitPlan, searched: Sequence[_Searched]) -> list[_Refittable]:
        """Return fits of the searched kernels within the time limit, at least one."""
        results: list[_Refittable] = []
        last = 0.0  # Seconds of the preceding kernel
        for number, (trial, kernels) in enumerate(searched):
            started = perf_counter()
            # At least one kernel is fitted after the time limit, so that there is a model.
            if results and self._is_late(1.0, last):
                break
            self.progress("fitting to all rows kernel", number + 1, len(searched))
            fit = partial(self._fitted, trial=trial, kernels=kernels)
            # Threads of BLAS spin: on busy cores, fits to few rows take ten times as long.
            with threads_of_blas(self.n_threads if plan.has_many_rows else 1):
                results.append((fit(plan), fit))
            last = perf_counter() - started
        return results

    def _estimators(
        self,
        plan: FitPlan,
        base_models: Sequence[Any],
        columns: Chosen,
        labels: NDArray[np.int64] | None,
        rng: Generator,
    ) -> list[_Refittable]:
        """Return fits of the user's base models within the time limit."""
        results: list[_Refittable] = []
        for number, model in enumerate(base_models):
            if self._is_late(_TREES_SHARE):
                break
            self.progress("fitting base model", number + 1, len(base_models))
            seed, name = int(rng.integers(2**31)), f"base model {number + 1}"
            seconds = self._end() - perf_counter()
            estimator = EstimatorLearner(name, model, columns, labels, seed, seconds)
            results += self._by_residuals(plan, estimator)
        return results

    def _trees(
        self,
        plan: FitPlan,
        of_trees: tuple[Chosen, Chosen | None, Chosen | None],
        labels: NDArray[np.int64] | None,
        line: Chosen | None,
        rng: Generator,
        rate: float,
    ) -> list[_Refittable]:
        """Return fits of boosted trees within the limits, if there are enough observations."""
        results: list[_Refittable] = []
        n_samples, n_outputs = plan.observations.Y.shape
        if n_samples < FEWEST_FOR_TREES:
            return results
        fits, limit = n_fits(len(plan.scored.units), n_samples), self.memory_limit
        sizes = fits * most_trees(n_samples) * n_outputs, min(fits, self.n_threads)
        if limit is not None and not trees_fit(limit, _shape(plan.observations), *sizes):
            return results
        for has_line in (True, False):
            # Without time for the bins of all fits, there would be no tree.
            of_bins = fits * OF_BINS * n_samples * len(TreeInputs.of(*of_trees)) / rate
            if self._is_late(_TREES_SHARE) or perf_counter() + of_bins > self._end():
                break
            # A single split of a wave separates the night from other times.
            inputs = TreeInputs.of(*of_trees, has_waves=not has_line)
            seed, columns = int(rng.integers(2**31)), line if has_line else None
            # For classes, a line without trees has lower errors in the sum of laws.
            most = 0 if has_line and labels is not None else most_trees(n_samples)
            self.progress("fitting trees on a line" if has_line else "fitting trees")
            learner = TreeLearner(inputs, labels, seed, columns, most, self._end())
            results += self._by_residuals(plan, learner)
        return results

    def _by_residuals(
        self, plan: FitPlan, learner: TreeLearner | EstimatorLearner
    ) -> list[_Refittable]:
        """Return the fit of trees or of an estimator, or an empty list."""

        def fit(plan: FitPlan, *, is_final: bool = False) -> _Fit | None:
            data = plan.observations, plan.order, plan.scored
            return learner.fit(*data, self.n_threads, is_final=is_final)

        law = fit(plan, is_final=True)
        return [] if law is None else [(law, fit)]

    def _at_origin(
        self,
        effort: Effort,
        with_variance: bool,
        fits: Sequence[Callable[[FitPlan], _Fit | None]],
        observations: Observations,
        used: Chosen,
        is_last: NDArray[np.bool_],
        seconds: float,
    ) -> tuple[Chosen, list[LeaveOneOutPredictions]] | None:
        """Return observations of ``is_last``, predicted from the rest of ``used``, if in time."""
        if self._is_late(1.0, seconds):
            return None
        self.progress("predicting an earlier stretch of time")
        # A fixed seed: the order does not matter.
        rng = np.random.default_rng(0)
        plan = FitPlan.of(observations, effort, is_last, with_variance, rng, used=used)
        with threads_of_blas(self.n_threads):
            pairs = [fit(plan) for fit in fits]
        predictions = [pair[1] for pair in pairs if pair is not None]
        return (plan.scored.units, predictions) if len(predictions) == len(pairs) else None

    def _within_memory(self, observations: Observations, shape: tuple[int, ...]) -> Effort:
        """Return the sizes of a fit to rows of a ``shape`` that the memory limit allows."""
        if self.memory_limit is None:
            return self.effort
        groups = observations.groups
        largest = 0 if groups is None else int(np.bincount(groups).max())
        return within_memory(self.effort, self.memory_limit, shape, self.n_threads, largest)

    def _within_rest(self, plan: FitPlan, effort: Effort, counts: InputCounts) -> FitPlan:
        """Return the plan with as many landmarks as the rest of the time limit allows."""
        if not plan.n_landmarks or plan.elsewhere is not None:
            return plan
        rate = measured_rate(self.n_threads)
        seconds = _REMAINING_SHARE * max(self._end() - perf_counter(), 0.0)
        n_rows = len(plan.rows)
        most_exact, n_landmarks = effort.sizes_within(seconds, n_rows, counts, rate)
        # Scored rows are not landmarks: without passes, the plan limits the number of landmarks.
        if not has_passes(n_rows, n_landmarks):
            n_landmarks = min(n_landmarks, plan.n_landmarks)
        return replace(plan, n_landmarks=n_landmarks, n_part=min(plan.n_part, most_exact))

    def _judged(
        self,
        plan: FitPlan,
        fitted: Sequence[_Fit],
        columns: TreeInputs,
        units: Chosen,
        removal: Removal,
    ) -> ScoredLaws:
        """Return the fitted laws with their predictions of the observations ``units`` (s,)."""
        members, left_out = zip(*fitted, strict=True)
        means, variances, noise = (np.stack(p, axis=1) for p in zip(*left_out, strict=True))
        unit = plan.observations.unit
        noise_of_scored = noise / plan.observations.weights[units, None, None]
        rows, shared = plan.rows_of_laws(n_rows_of(members)), plan.observations.shared
        blocks = None if shared is None else TreeInputs.of(np.arange(rows.shape[1]), shared)
        laws = Laws(rows, [law.with_variances(1.0, unit) for law in members], blocks)
        groups, times = plan.observations.groups, None
        if removal.stretches is not None and removal.times is not None:
            times = removal.times[units]
            groups = folds_of_stretches(removal.stretches[units], times)
        elif groups is not None:
            groups = groups[units]
        inputs = plan.observations.X[units]
        of_scored = means, variances, noise_of_scored, unit * noise
        return ScoredLaws(laws, units, inputs, columns, *of_scored, groups, times)

    def _end(self) -> float:
        """Return the end of the time limit, by the performance counter."""
        return np.inf if self.time_limit is None else self.began + self.time_limit

    def _is_late(self, share: float, seconds: float = 0.0) -> bool:
        """Return whether a share of the time limit is over, or would be after ``seconds`` more."""
        if self.time_limit is None:
            return self.progress.is_stopped
        passed = perf_counter() - self.began
        is_over = passed > share * self.time_limit or passed + seconds > self.time_limit
        return self.progress.is_stopped or is_over

    def _searched(self, plan: FitPlan, trials: Sequence[_Trial]) -> list[_Searched]:
        """Return the kernels learned within the time limit (at least one), best first."""
        search_rows = plan.observations.rows(plan.search)
        is_refined = plan.has_many_rows
        more_rows = plan.first(plan.more_rows if is_refined else _NOISE_ROWS)

        # The first trial of each family comes first.
        names = [trial.name for trial in trials]
        numbers = sorted(range(len(names)), key=lambda number: names[:number].count(names[number]))

        def begin(number: int) -> tuple[_Trial, Begun] | None:
            if number != numbers[0] and self._is_late(_SEARCH_SHARE):
                return None
            trial = trials[number]
            return trial, begun(trial.family, search_rows.columns(trial.columns))

        def finish(entry: tuple[_Trial, Begun]) -> _Searched:
            trial, begin = entry
            if self._is_late(_SEARCH_SHARE):
                return trial, begin.found()
            return trial, finished(trial.family, begin, search_rows.columns(trial.columns))

        def with_error_of_more(entry: _Searched) -> _Searched:
            trial, kernels = entry
            error = kernels.full.left_out_error(more_rows.columns(trial.columns))
            return trial, replace(kernels, error=error)

        def corrected(entry: _Searched) -> _Searched:
            trial, kernels = entry
            rows = more_rows.columns(trial.columns)
            if is_refined:
                return trial, replace(kernels, full=refined(kernels.full, rows))
            return trial, kernels.with_noise(noise_factor(kernels.full, rows))

        begins: list[tuple[_Trial, Begun]] = []
        for _, entry in in_order(begin, numbers, self.n_threads):
            if entry is not None:
                begins.append(entry)
                self.progress("learned kernel", len(begins), len(trials))
        # The best columns of each family, with trends and without trends.
        firsts: dict[tuple[str, bool], tuple[_Trial, Begun]] = {}
        for trial, kernel in _hopeful(begins):
            firsts.setdefault((trial.name, trial.has_trends), (trial, kernel))
        results = [each for _, each in in_order(finish, list(firsts.values()), self.n_threads)]
        if is_refined:
            results = [each for _, each in in_order(with_error_of_more, results, self.n_threads)]
        results = _hopeful(results)[: _FEW_LAWS if is_refined else None]
        has_time = not is_refined or not self._is_late(_REFINED_SHARE)
        if more_rows.n_observations > _MORE_ROWS * len(plan.search) and has_time:
            results = [entry for _, entry in in_order(corrected, results, self.n_threads)]
        return results

    def _fitted(
        self, plan: FitPlan, trial: _Trial, kernels: Found
    ) -> tuple[KernelLaw, LeaveOneOutPredictions]:
        """Fit a kernel to all rows; return the law with its left-out means and variances."""
        arguments = (trial.name, kernels.full, plan.rows, trial.columns)
        if plan.n_landmarks:
            if is_part_better(kernels.full, trial.columns, plan, self.n_threads):
                rows, scored = plan.rows_of_part()
                of_part = (trial.name, kernels.full, rows, trial.columns)
                return exact(*of_part, plan.n_variance, scored, self.n_threads)[:2]
            sizes, more = (plan.n_landmarks, plan.n_variance), (plan.elsewhere, self._end())
            return on_landmarks(*arguments, sizes, plan.scored, self.n_threads, *more)
        law, left_out, growth = exact(*arguments, plan.n_variance, plan.scored, self.n_threads)
        left_out = LeaveOneOutPredictions(*map(np.array, left_out))
        for part, kernel in zip((FIRST, SECOND), kernels.halves, strict=True):
            in_other_half = plan.scored.part == FIRST + SECOND - part
            if in_other_half.any():
                of_half = (trial.name, kernel, plan.rows, trial.columns, 0)
                _, by_half, _ = exact(*of_half, plan.scored, self.n_threads, part, growth)
                for values, new_values in zip(left_out, by_half, strict=True):
                    values[in_other_half] = new_values[in_other_half]
        return law, left_out

"""Learner of table models: a weighted sum of base models."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from time import perf_counter
from typing import Any, Generic, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bochner._base.arrays import Array, as_array, rounded
from bochner._base.progress import Progress
from bochner._base.threads import single_threaded_blas, threads_for
from bochner.features.parameters import generators
from bochner.tables.base_laws import ScoredLaws
from bochner.tables.encoder import TableEncoder, joined
from bochner.tables.encodings import cycle_places, output_names, scale_numbers
from bochner.tables.estimator_laws import check_takes_weights
from bochner.tables.fit_plan import Effort
from bochner.tables.learner import Learner
from bochner.tables.observations import Observations
from bochner.tables.table_rows import TableRows
from bochner.tables.table_tasks import LawSum, TableTask, TargetMap

_ENCODINGS: tuple[Literal["standardize", "normal_quantile"], ...] = (
    "standardize",
    "normal_quantile",
)
"""Encodings of numbers whose columns the weighted sum concatenates."""

_LEAST_SECONDS = 1e-3
"""Time limit of a fit whose encoding took all of it: limits are positive."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedHead(Generic[TargetMap, LawSum]):
    """A fitted head with its encoders, and the map of the targets."""

    encoders: list[TableEncoder]  # Their concatenated outputs are the encoded columns
    head: LawSum
    targets: TargetMap
    expected_error: float | Array | None = (
        None  # In the unit of the targets, if not that of the head
    )


@dataclass(frozen=True, slots=True, eq=False)
class SumLearner:
    """Fits kernels, boosted trees and base models, weighted by predictions of left-out rows."""

    effort: Effort
    time_limit: float | None
    memory_limit: int | None  # Bytes
    n_jobs: int | None
    random_state: Any
    base_models: tuple[Any, ...] = ()
    began: float = field(default_factory=perf_counter)  # When the time of the limit began

    def check_in_partitions(
        self, groups: ArrayLike | str | None, time: ArrayLike | str | None
    ) -> None:
        """Raise ValueError for groups, times and base models, which need all rows in memory."""
        if self.base_models:
            raise ValueError(
                "base_models need rows in memory, and X is in partitions: leave them out, or pass "
                "some of the rows, such as X.sample(frac=0.1).compute()."
            )
        if groups is not None or time is not None:
            raise ValueError(
                "groups and time need rows in memory, and X is in partitions: leave them out, or "
                "pass some of the rows, such as X.sample(frac=0.1).compute()."
            )

    def fit(
        self, rows: TableRows, task: TableTask[TargetMap, LawSum], progress: Progress
    ) -> FittedHead[TargetMap, LawSum]:
        """Return the fitted encoders of both encodings with the weighted sum."""
        targets = task.targets(rows)
        encoders, scored_laws = self.scored_laws(rows, task, targets, progress)
        head, error = task.sum_of_laws(scored_laws, rows, rows.weights_or_ones, targets)
        return FittedHead(encoders, head, targets, error)

    def scored_laws(
        self,
        rows: TableRows,
        task: TableTask[TargetMap, LawSum],
        targets: TargetMap,
        progress: Progress,
    ) -> tuple[list[TableEncoder], ScoredLaws]:
        """Return encoders, and base models with their predictions of left-out rows."""
        if rows.weights is not None:
            check_takes_weights(self.base_models)
        progress("encoding the table")
        scaled = targets(rows.y)
        encoders = [TableEncoder(numeric=numeric) for numeric in _ENCODINGS]
        removal, elsewhere = rows.removal, rows.others
        if task.is_numeric and elsewhere is None:  # Trees are fitted to rows in memory
            encoders.append(TableEncoder(numeric="tails"))
        tables = [
            as_array(encoder.fit_transform(rows.X, scaled, removal=removal)) for encoder in encoders
        ]
        ends = np.cumsum([0] + [table.shape[1] for table in tables])
        first, second, *tails = (np.arange(*pair) for pair in pairwise(ends))
        with single_threaded_blas() as n_threads:
            n_threads = threads_for(self.n_jobs, n_threads)
        (rng,) = generators(self.random_state, 1)
        encoded = joined(tables)
        seconds_left = None
        if self.time_limit is not None:
            seconds_left = max(self.time_limit - (perf_counter() - self.began), _LEAST_SECONDS)
        learner = Learner(self.effort, n_threads, seconds_left, progress, self.memory_limit)
        scored_laws = learner.fit(
            Observations.of(
                encoded,
                rounded(scaled),
                rows.weights_or_ones,
                removal.groups,
                _scale_numbers(encoders),
                rows.noise_unit,
            ),
            [first, second],
            rng,
            removal=removal,
            trends=_trends(encoded, rows.order),
            with_variance=task.is_numeric,
            elsewhere=None if elsewhere is None else elsewhere.encoded(encoders, targets),
            labels=task.numbers_of_classes(rows),
            cycles=_cycles(encoders),
            line=np.concatenate([first, *tails]),
            base_models=self.base_models,
        )
        return encoders, scored_laws


def _trends(encoded: Array, order: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
    """Return the indices of the columns (n, d) that are monotone in an order of the rows."""
    if order is None:
        return None
    steps = np.diff(encoded[order], axis=0)
    return np.flatnonzero((steps >= 0.0).all(axis=0) | (steps <= 0.0).all(axis=0))


def _scale_numbers(encoders: Sequence[TableEncoder]) -> NDArray[np.intp]:
    """Return the index of the length scale of each column of several encoded tables."""
    of_columns = [scale_numbers(state) for encoder in encoders for state in encoder.columns_]
    ends = np.cumsum([0] + [len(numbers) for numbers in of_columns])
    return np.concatenate([end + numbers for end, numbers in zip(ends, of_columns, strict=False)])


def _cycles(encoders: Sequence[TableEncoder]) -> NDArray[np.intp]:
    """Return the first column and the width (c, 2) of each cycle of several encoded tables."""
    places, end = [np.empty((0, 2), dtype=np.intp)], 0
    for state in (state for encoder in encoders for state in encoder.columns_):
        places.append(cycle_places(state) + np.array([end, 0]))
        end += len(output_names(state))
    return np.concatenate(places)

"""Fit of the encoders, base models and target transformation of a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from bochner._base.arrays import Array, as_array, rounded
from bochner._base.checks import generators
from bochner._base.progress import Progress
from bochner._base.threads import single_threaded_blas, threads_for
from bochner.tables.base_laws import ScoredLaws
from bochner.tables.encoder import TableEncoder, joined
from bochner.tables.encodings import cycle_places, output_names, scale_numbers
from bochner.tables.estimator_laws import check_takes_weights
from bochner.tables.fit_plan import TRIAL, Effort
from bochner.tables.learner import Learner
from bochner.tables.level_means import Removal
from bochner.tables.observations import Observations
from bochner.tables.table_predictions import ScaledTargets, Transformation, most_likely
from bochner.tables.table_rows import TableRows
from bochner.tables.weighted_sum import SumOfLaws

_ENCODINGS: tuple[Literal["standardize", "normal_quantile"], ...] = (
    "standardize",
    "normal_quantile",
)
"""Encodings of numbers whose columns the weighted sum concatenates."""

_LEAST_SECONDS = 1e-3
"""Time limit of a fit after an encoding that took all the time: limits are positive."""

_TRIED_ROWS = 800
"""Largest number of rows on which transformations of the target are compared."""


@dataclass(frozen=True, slots=True, eq=False)
class FitSettings:
    """Validated parameters of a fit; the time limit starts when they are created."""

    effort: Effort
    time_limit: float | None
    memory_limit: int | None  # Bytes
    n_jobs: int | None
    random_state: Any
    base_models: tuple[Any, ...] = ()
    began: float = field(default_factory=lambda: perf_counter())


def fitted_laws(
    settings: FitSettings,
    rows: TableRows,
    targets: Callable[[NDArray[Any]], Array],
    progress: Progress,
    labels: NDArray[np.int64] | None = None,
) -> tuple[list[TableEncoder], ScoredLaws]:
    """Return encoders, and base models of scaled targets (n, t) with left-out predictions."""
    if rows.weights is not None:
        check_takes_weights(settings.base_models)
    progress("encoding the table")
    scaled = targets(rows.y)
    encoders = [TableEncoder(numeric=numeric) for numeric in _ENCODINGS]
    if labels is None and rows.others is None:  # Trees are fitted to rows in memory
        encoders.append(TableEncoder(numeric="tails"))
    tables: list[Array] = []
    for encoder in encoders:
        other = encoders[0] if tables else None
        tables.append(encoder.fit_training_rows(rows.X, scaled, rows.removal, other))
    ends = np.cumsum([0] + [table.shape[1] for table in tables])
    first, second, *tails = (np.arange(*pair) for pair in pairwise(ends))
    with single_threaded_blas() as n_threads:
        n_threads = threads_for(settings.n_jobs, n_threads)
    (rng,) = generators(settings.random_state, 1)
    encoded = joined(tables)
    seconds_left = None
    if settings.time_limit is not None:
        passed = perf_counter() - settings.began
        seconds_left = max(settings.time_limit - passed, _LEAST_SECONDS)
    learner = Learner(settings.effort, n_threads, seconds_left, progress, settings.memory_limit)
    observations = Observations.of(
        encoded,
        rounded(scaled),
        rows.weights_or_ones,
        rows.removal.groups,
        scale_numbers([state for encoder in encoders for state in encoder.columns_]),
        rows.noise_unit,
    )
    return encoders, learner.fit(
        observations,
        [first, second],
        rng,
        removal=rows.removal,
        trends=_trends(encoded, rows.order),
        with_variance=labels is None,
        elsewhere=None if rows.others is None else rows.others.encoded(encoders, targets),
        labels=labels,
        cycles=_cycles(encoders),
        line=np.concatenate([first, *tails]),
        base_models=settings.base_models,
    )


def _trends(encoded: Array, order: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
    """Return the indices of columns (n, d) that are monotone when rows are sorted by ``order``."""
    if order is None:
        return None
    steps = np.diff(encoded[order], axis=0)
    return np.flatnonzero((steps >= 0.0).all(axis=0) | (steps <= 0.0).all(axis=0))


def _cycles(encoders: Sequence[TableEncoder]) -> NDArray[np.intp]:
    """Return the first column and the number of columns (c, 2) of each cycle of some encoders."""
    places, end = [np.empty((0, 2), dtype=np.intp)], 0
    for state in (state for encoder in encoders for state in encoder.columns_):
        places.append(cycle_places(state) + np.array([end, 0]))
        end += len(output_names(state))
    return np.concatenate(places)


def chosen_transformation(
    name: str, rows: TableRows, settings: FitSettings, progress: Progress
) -> Transformation | None:
    """Return the named transformation, or the most likely one; ``None`` means no transformation."""
    if name == "none":
        return None
    if rows.y.ndim > 1:
        raise ValueError(
            f"transformation={name!r:.60} takes a single target y of shape (n,), got "
            f"{rows.y.shape}: fit a model to each, or leave it out."
        )
    if name != "auto":
        return Transformation.of(name, rows.y)
    if np.ptp(rows.y) == 0.0:  # All transformations are as likely
        return None
    progress("choosing a transformation of the target")
    (rng,) = generators(settings.random_state, 1)
    # Transformations are tried only if they are defined for all targets.
    least = np.min(rows.y)
    names = ["none", *["log"] * int(least > 0.0), *["sqrt"] * int(least >= 0.0), "rank"]
    choices = [Transformation.of(each, rows.y) for each in names]
    part = rows.part(np.sort(rng.permutation(len(rows.y))[:_TRIED_ROWS]))
    if part.removal.latest is not None:  # Later rows of a subset are few: leave out single rows
        part = replace(part, removal=Removal())
    densities = [
        _left_out_density(replace(part, y=transformation(part.y)), settings)
        + transformation.log_slope(part.y)
        - transformation.n_knots / len(rows.y)
        for transformation in choices
    ]
    best = choices[most_likely(np.stack(densities, axis=1))]
    return None if best.name == "none" else best


def _left_out_density(rows: TableRows, settings: FitSettings) -> Array:
    """Return leave-one-out log densities (n,) of the targets of a table with few rows."""
    targets = ScaledTargets.of(rows.y, rows.weights)
    _, laws = fitted_laws(replace(settings, effort=TRIAL), rows, targets, Progress(None))
    scaled, weights = targets.scaled(rows.y), rows.weights_or_ones
    head, (_, std) = SumOfLaws.with_left_out(laws, scaled, weights)
    densities = np.empty(len(rows.y))
    densities[laws.scored] = norm.logpdf(head.scores, scale=head.law.std) - np.log(std)
    return as_array(densities - np.log(targets.scale))

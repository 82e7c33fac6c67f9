"""Other methods on the rows of a fitted model, which share one encoding of the table."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

from bochner._base.progress import Progress, silent
from bochner._base.threads import single_threaded_blas, threads_for
from bochner.comparison.contenders import (
    CATBOOST,
    N_COMPONENTS,
    common_encoder,
    installed,
    timed_fit,
)
from bochner.comparison.outcomes import LEVEL, Outcome, outcome
from bochner.comparison.split import Split

_Encoded = tuple[Split, float]
"""A split with encoded rows, and the seconds that encoding the training rows took."""


def add_others(
    outcomes: Sequence[dict[str, Outcome]],
    split: Split,
    *,
    level: float = LEVEL,
    seed: int = 0,
    n_jobs: int | None = None,
    until: float = inf,
    progress: Progress = silent,
) -> list[str]:
    """Add the outcomes of other methods, by name, to the outcomes of each target.

    All methods use the threads that ``n_jobs`` gives to the fit of a table model. Their time in
    seconds covers encoding the training rows and the fit. No method starts after the time ``until``
    of ``perf_counter``. Returns the names of the methods left out for lack of time.
    """
    with single_threaded_blas() as n_blas:
        n_threads = threads_for(n_jobs, n_blas)
    encodings: list[_Encoded] = []
    left_out = []
    for name in installed():
        if perf_counter() >= until:
            left_out.append(name)
            continue
        progress(f"comparing with: {name}")
        if not encodings:
            encodings = [_encoded(split.of_target(k)) for k in range(len(outcomes))]
        for of_target, encoded in zip(outcomes, encodings, strict=True):
            of_target[name] = _outcome(name, encoded, level, seed, n_threads)
    return left_out


def _encoded(split: Split) -> _Encoded:
    began = perf_counter()
    encoder = common_encoder()
    encoded = encoder.fit_transform(split.X, split.y)
    seconds = perf_counter() - began
    return replace(split, X=encoded, X_test=encoder.transform(split.X_test)), seconds


def _outcome(name: str, encoded: _Encoded, level: float, seed: int, n_threads: int) -> Outcome:
    """Fit a method to encoded rows, and return its predictions of the test rows."""
    split, seconds = encoded
    model = installed()[name](split.task, N_COMPONENTS, seed)[1:]  # Without the encoder
    if name == CATBOOST:
        model[-1].set_params(thread_count=n_threads)
    # Other libraries overflow where targets are huge: their errors say so.
    with threadpool_limits(n_threads), np.errstate(over="ignore", invalid="ignore"):
        seconds += timed_fit(model, split, n_openmp=n_threads)
        return outcome(model, split, level, seconds)

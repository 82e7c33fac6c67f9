"""Common methods for tables, fitted and tested on the same rows as a model."""

import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from math import inf
from threading import current_thread, main_thread
from time import perf_counter
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV, RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from bochner._base.progress import Progress, silent
from bochner._base.threads import (
    single_threaded_blas,
    threads_for,
    threads_of_blas,
    threads_of_trees,
)
from bochner.comparison.outcomes import LEVEL, Outcome, outcome
from bochner.comparison.split import Split
from bochner.tables.encoder import TableEncoder

N_COMPONENTS = 1024
"""Number of random features of the compared methods, as of table models with a fixed kernel."""

OURS = "bochner"
LINEAR = "linear model"
RBF_SAMPLER = "RBFSampler + RidgeCV"
TREES = "gradient-boosted trees"
CATBOOST = "CatBoost"
CONSTANT = "constant probability"

_ALPHAS: tuple[float, ...] = tuple(np.logspace(-3, 3, 13).tolist())
"""Candidate ridge penalties for cross-validation: two per decade, from 0.001 to 1,000."""

T = TypeVar("T")
Contender = Callable[[str, int, int], BaseEstimator]


def _linear(task: str, n_components: int, seed: int) -> BaseEstimator:
    head = RidgeCV(_ALPHAS) if task == "regression" else LogisticRegression(max_iter=1000)
    return make_pipeline(common_encoder(), head)


def _rbf_sampler(task: str, n_components: int, seed: int) -> BaseEstimator:
    head = RidgeCV(_ALPHAS) if task == "regression" else RidgeClassifierCV(_ALPHAS)
    features = RBFSampler(gamma="scale", n_components=n_components, random_state=seed)
    return make_pipeline(common_encoder(), StandardScaler(), features, head)


def _trees(task: str, n_components: int, seed: int) -> BaseEstimator:
    is_regression = task == "regression"
    trees = HistGradientBoostingRegressor if is_regression else HistGradientBoostingClassifier
    return make_pipeline(common_encoder(), trees(random_state=seed))


def _catboost(task: str, n_components: int, seed: int) -> BaseEstimator:
    import catboost

    is_regression = task == "regression"
    trees = catboost.CatBoostRegressor if is_regression else catboost.CatBoostClassifier
    # CatBoost with default hyperparameters, without its output and files.
    model = trees(random_seed=seed, verbose=False, allow_writing_files=False)
    return make_pipeline(common_encoder(), model)


def common_encoder() -> TableEncoder:
    """Return the table encoder that precedes each method in a pipeline."""
    # Standardised, one-hot encoded and imputed. With fewer than 10⁸ rows no value is clipped, since
    # none of n values is more than √n standard deviations from the mean.
    return TableEncoder(numeric="standardize", clip=1e4)


CONTENDERS: Mapping[str, Contender] = MappingProxyType(
    {LINEAR: _linear, TREES: _trees, RBF_SAMPLER: _rbf_sampler}
)


def installed() -> Mapping[str, Contender]:
    """Return the methods whose packages are installed; CatBoost is optional."""
    has_catboost = find_spec("catboost") is not None
    return {**CONTENDERS, CATBOOST: _catboost} if has_catboost else CONTENDERS


def timed_fit(model: BaseEstimator, split: Split, **fit_options: object) -> float:
    """Fit ``model`` to the training rows and return the seconds it took."""
    if split.weight is not None:
        prefix = f"{model.steps[-1][0]}__" if isinstance(model, Pipeline) else ""
        fit_options[f"{prefix}sample_weight"] = split.weight
    start = perf_counter()
    model.fit(split.X, split.y, **fit_options)
    return perf_counter() - start


_LEAST_SECONDS = 10.0
"""Time in seconds that each method has, even if the fit of the model took less."""
_AGAIN = 1.0  # Seconds to a further signal: Python drops the exception of one in a finaliser


class _TimeIsOverError(Exception):
    """Raised by the timer of :func:`within_time`."""


def _stop(*_: object) -> None:
    raise _TimeIsOverError


def within_time(work: Callable[[], T], until: float) -> T | None:
    """Return the result of a function, or ``None`` if it does not end at ``until``.

    Work that has begun is stopped in the main thread, and only where there are timers: not on
    Windows.
    """
    seconds = until - perf_counter()
    if seconds <= 0.0:
        return None
    if seconds == inf or not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        return work()
    earlier = signal.signal(signal.SIGALRM, _stop)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
            return work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    except _TimeIsOverError:
        return None
    finally:
        signal.signal(signal.SIGALRM, earlier)


_MANY_ROWS = 10_000
"""Rows above which other methods have several BLAS threads, which spin on busy cores."""

_Encoded = tuple[Split, float]
"""A split with encoded rows, and the time in seconds to encode the training rows."""


def add_others(
    outcomes: Sequence[dict[str, Outcome]],
    split: Split,
    *,
    level: float = LEVEL,
    seed: int = 0,
    n_jobs: int | None = None,
    until: float = inf,
    longest: float = inf,
    progress: Progress = silent,
) -> list[str]:
    """Fit the other methods, and add their outcomes by name; return those that took too long.

    They have the BLAS threads of a fit with ``n_jobs`` to many rows, and seconds include the
    encoding. Each is stopped after ``longest`` seconds, or ten, and all at ``until``.
    """
    with single_threaded_blas() as n_blas:
        n_threads = threads_for(n_jobs, n_blas)
    targets = range(len(outcomes))
    if split.task == "classification":  # The shares of the classes in the training rows
        of_shares = DummyClassifier().fit(split.X, split.y, split.weight)
        outcomes[0][CONSTANT] = outcome(of_shares, split)
    encodings = within_time(lambda: [_encoded(split.of_target(k)) for k in targets], until)
    if encodings is None:
        return list(installed())
    left_out = []
    for name in installed():
        progress(f"comparing with: {name}")
        end = min(until, perf_counter() + max(longest, _LEAST_SECONDS))
        work = partial(_outcomes, name, encodings, level, seed, n_threads)
        if (of_targets := within_time(work, end)) is None:
            left_out.append(name)
            continue
        for of_target, outcome_of_method in zip(outcomes, of_targets, strict=True):
            of_target[name] = outcome_of_method
    return left_out


def _encoded(split: Split) -> _Encoded:
    began = perf_counter()
    encoder = common_encoder()
    encoded = encoder.fit_transform(split.X, split.y)
    seconds = perf_counter() - began
    return replace(split, X=encoded, X_test=encoder.transform(split.X_test)), seconds


def _outcomes(
    name: str, encodings: Sequence[_Encoded], level: float, seed: int, n_threads: int
) -> list[Outcome]:
    """Fit a method to encoded rows of each target, and return its predictions of the test rows."""
    found = []
    for split, encoding_seconds in encodings:
        model = installed()[name](split.task, N_COMPONENTS, seed)[1:]  # The step after the encoder
        if name == CATBOOST:
            model[-1].set_params(thread_count=n_threads)
        # Ignore overflows of other libraries with huge targets; their errors show them.
        with (
            threads_of_blas(n_threads if len(split.y) > _MANY_ROWS else 1),
            threads_of_trees(),  # On shared cores, two can be a hundred times slower than one
            np.errstate(over="ignore", invalid="ignore"),
        ):
            seconds = encoding_seconds + timed_fit(model, split)
            found.append(outcome(model, split, level, seconds))
    return found

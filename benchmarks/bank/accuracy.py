"""Errors, coverage and predictive densities over folds, and seconds against sizes."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import QuantileTransformer

from benchmarks.bank import design
from benchmarks.bank.methods import compete
from benchmarks.folds import fold_of
from benchmarks.predictions import figures, predict
from bochner import papers
from bochner.learned import Chains
from bochner.learned.learned_kernel_classifier import LearnedKernelClassifier
from bochner.learned.learned_kernel_regressor import LearnedKernelRegressor

_MH_ITERATIONS = 3  # Times BaNK's iterations: in all folds the limit of seconds ends "mh" earlier
_MOST_QUANTILES = 1_000  # scikit-learn's default, which warns where there are fewer rows


def accuracy_metrics(
    name: str, method: str, size: design.Size, fold: int, folder: Path | None
) -> dict[str, float]:
    """Return a method's figures on the test rows of a fold.

    ``mse`` or ``error``, ``coverage`` and ``nlpd`` where there are deviations or probabilities,
    and ``fit_seconds`` with the choice of settings.
    """
    if method in (design.OURS, design.RANKS, design.MH):
        return dict(_sampled(name, method, size, fold, folder))
    data = fold_of(name, fold, folder)
    start = perf_counter()
    metrics = figures(compete(method, data, size.n_frequencies, fold), data)
    return {**metrics, "fit_seconds": perf_counter() - start}


# A fold of "mh" has the seconds that ours took: measured just before, or else measured again.
@lru_cache(maxsize=1)
def _sampled(
    name: str, method: str, size: design.Size, fold: int, folder: Path | None
) -> Mapping[str, float]:
    data = fold_of(name, fold, folder)
    limit, times = design.TIME_LIMITS.get(name), design.LONGER.get(name, 1)
    sampler: Any = "auto"
    if method == design.MH:
        limit = _sampled(name, design.OURS, size, fold, folder)["fit_seconds"]
        times, sampler = _MH_ITERATIONS, papers.bank.SAMPLER
    kind = LearnedKernelRegressor if data.is_regression else LearnedKernelClassifier
    bank = kind(
        size.n_frequencies,
        sampler=sampler,
        chains=Chains(
            times * size.n_iterations, times * size.n_iterations, n_chains=1, time_limit=limit
        ),
        random_state=fold,
    )
    model = with_ranks(bank, len(data.y), fold) if method == design.RANKS else bank
    start = perf_counter()
    model.fit(data.X, data.y)
    seconds = perf_counter() - start
    learned = bank.learned_[0]
    return {
        **figures(predict(model, data), data),
        "fit_seconds": seconds,
        "n_draws": float(learned.draws.n_draws),
        "is_sparse": float(learned.structure == "sparse"),
    }


def with_ranks(model: Any, n_rows: int, seed: int) -> Any:
    """Return a model of every input as it is and of its rank among the training rows."""
    n_quantiles = min(_MOST_QUANTILES, n_rows)
    ranks = QuantileTransformer(n_quantiles=n_quantiles, random_state=seed)
    return make_pipeline(make_union("passthrough", ranks), model)


def scaling_metrics(
    name: str, n_rows: int, n_frequencies: int, n_iterations: int, fold: int, folder: Path | None
) -> dict[str, float]:
    """Return the median seconds of a sweep over all frequencies, and the test error."""
    data = fold_of(name, fold, folder)
    order = np.random.default_rng(fold).permutation(len(data.y))
    data = data.part(np.sort(order[:n_rows]))
    kind = LearnedKernelRegressor if data.is_regression else LearnedKernelClassifier
    model = kind(
        n_frequencies,
        structure="sparse",
        chains=Chains(n_iterations, n_iterations, n_chains=1, thin=1),
        random_state=fold,
    ).fit(data.X, data.y)
    seconds = float(np.median(model.trace_.kept("seconds")))
    metrics = {"sweep_seconds": seconds}
    prediction = model.predict(data.X_test)
    if data.is_regression:
        return {"mse": float(np.mean((prediction - data.y_test) ** 2)), **metrics}
    return {"error": float(np.mean(prediction != data.y_test)), **metrics}

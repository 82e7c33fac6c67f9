"""Areas under curves, errors and predictive densities on real data."""

from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.folds import Fold, held_out_at_random, one_of_five
from benchmarks.gabasr.data import prepared
from benchmarks.gabasr.design import (
    BANK,
    CO2,
    OURS,
    PUBLISHED,
    Size,
    budget_of,
)
from benchmarks.gabasr.methods import auc, chosen_trend, compete, learner
from benchmarks.predictions import Prediction, figures, predict


def accuracy_metrics(
    name: str, method: str, size: Size, fold: int, folder: Path | None
) -> dict[str, float]:
    """Return a method's figures on the test rows of a fold.

    Of classes ``auc`` and ``error``; of regressions ``mse``, in squared units of the target, and
    ``r2``; ``nlpd`` where there are deviations or probabilities; ``fit_seconds``, with the choice
    of settings, and ``n_draws`` and ``trend`` of what is sampled.
    """
    dataset = prepared(name, folder)
    data = (held_out_at_random if name == CO2 else one_of_five)(dataset, fold)
    start = perf_counter()
    if method not in (OURS, PUBLISHED, BANK):
        prediction = compete(method, data, fold)
        return {**fold_figures(prediction, data), "fit_seconds": perf_counter() - start}
    budget = budget_of(name, size)
    if method == PUBLISHED:
        budget = replace(budget, n_frequencies=size.published_frequencies)
    trend = chosen_trend(method, budget, data, fold) if data.is_regression else 0
    model = learner(method, budget, fold, is_regression=data.is_regression, trend=trend)
    model.fit(data.X, data.y)
    seconds = perf_counter() - start
    n_draws = float(sum(learned.draws.n_draws for learned in model.learned_))
    found = fold_figures(predict(model, data), data)
    return {**found, "fit_seconds": seconds, "n_draws": n_draws, "trend": float(trend)}


def fold_figures(prediction: Prediction, fold: Fold) -> dict[str, float]:
    """Return figures of predictions, in units of the source."""
    found = figures(prediction, fold)
    if not fold.is_regression:
        return {"auc": auc(prediction.mean, fold), **found}
    r2 = 1.0 - found["mse"] / float(np.var(fold.y_test))
    found["mse"] *= fold.unit**2
    if "nlpd" in found:
        found["nlpd"] += float(np.log(fold.unit))
    return {"r2": r2, **found}

"""Areas under curves, errors and predictive densities on real data and on exclusive or."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.folds import Fold, held_out_at_random, one_of_five
from benchmarks.gabasr import design
from benchmarks.gabasr.data import prepared, xor_probability, xor_rows
from benchmarks.gabasr.design import PUBLISHED, TRUE, Size
from benchmarks.gabasr.methods import auc, chosen_trend, compete, learner
from benchmarks.predictions import Prediction, figures, predict
from bochner._base.arrays import Array


def accuracy_metrics(
    name: str, method: str, size: design.Size, fold: int, folder: Path | None
) -> dict[str, float]:
    """Return a method's figures on the test rows of a fold.

    A classification has ``auc`` and ``error``; a regression ``mse``, in squared units of the
    target, and ``r2``. ``nlpd`` needs deviations or probabilities, ``fit_seconds`` includes the
    choice of settings, and sampled kernels have ``n_draws`` and ``trend``.
    """
    dataset = prepared(name, folder)
    data = (held_out_at_random if name == design.CO2 else one_of_five)(dataset, fold)
    start = perf_counter()
    if method not in (design.OURS, design.PUBLISHED, design.BANK):
        prediction = compete(method, data, fold)
        return {**fold_figures(prediction, data), "fit_seconds": perf_counter() - start}
    budget = design.budget_of(name, size)
    if method == design.PUBLISHED:
        budget = replace(budget, n_frequencies=size.published_frequencies)
    trend = chosen_trend(method, budget, data, fold) if data.is_regression else 0
    model = learner(method, budget, fold, is_regression=data.is_regression, trend=trend)
    model.fit(data.X, data.y)
    seconds = perf_counter() - start
    n_draws = float(sum(learned.draws.n_draws for learned in model.learned_))
    metrics = fold_figures(predict(model, data), data)
    return {**metrics, "fit_seconds": seconds, "n_draws": n_draws, "trend": float(trend)}


def fold_figures(prediction: Prediction, fold: Fold) -> dict[str, float]:
    """Return figures of predictions, in units of the source."""
    metrics = figures(prediction, fold)
    if not fold.is_regression:
        return {"auc": auc(prediction.mean, fold), **metrics}
    r2 = 1.0 - metrics["mse"] / float(np.var(fold.y_test))
    metrics["mse"] *= fold.unit**2
    if "nlpd" in metrics:
        metrics["nlpd"] += float(np.log(fold.unit))
    return {"r2": r2, **metrics}


GRID = tuple(round(-2.5 + 0.25 * k, 2) for k in range(21))  # Places of either input in a picture


def probability_name(first: float, second: float) -> str:
    """Return the name of the metric: the probability of class one at a place."""
    return f"p_at_{first:g}_{second:g}"


def xor_metrics(method: str, size: Size, seed: int) -> dict[str, float]:
    """Return figures on as many fresh rows as were learned from.

    In the first trial with the probability of class one on a grid.
    """
    rng = np.random.default_rng(seed)
    X, y = xor_rows(rng, size.xor_rows)
    fold = Fold(X, y, *xor_rows(rng, size.xor_rows), is_regression=False)
    probability: Callable[[Array], Array] = xor_probability
    if method != TRUE:
        model = learner(method, size.xor, seed, is_regression=False).fit(X, y)
        probability = partial(_learned_probability, model)
    metrics = fold_figures(Prediction(probability(fold.X_test)), fold)
    if seed == 0 and method != PUBLISHED:
        places = list(product(GRID, GRID))
        at_grid = probability(np.array(places))
        metrics |= {
            probability_name(*place): float(p) for place, p in zip(places, at_grid, strict=True)
        }
    return metrics


def _learned_probability(model: Any, X: Array) -> Array:
    return np.asarray(model.predict_proba(X)[:, 1])

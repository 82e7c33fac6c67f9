"""The problem of exclusive or: two classes, two inputs, and no linear rule."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks.folds import Fold
from benchmarks.gabasr.accuracy import fold_figures
from benchmarks.gabasr.data import xor_probability, xor_rows
from benchmarks.gabasr.design import PUBLISHED, TRUE, Size
from benchmarks.gabasr.methods import learner
from benchmarks.predictions import Prediction
from bochner._numerics.arrays import Array

GRID = tuple(round(-2.5 + 0.25 * k, 2) for k in range(21))


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
    found = fold_figures(Prediction(probability(fold.X_test)), fold)
    if seed == 0 and method != PUBLISHED:
        places = list(product(GRID, GRID))
        at_grid = probability(np.array(places))
        found |= {
            probability_name(*place): float(p) for place, p in zip(places, at_grid, strict=True)
        }
    return found


def _learned_probability(model: Any, X: Array) -> Array:
    probability: Array = model.predict_proba(X)[:, 1]
    return probability

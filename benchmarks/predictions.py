"""What a method predicts at the test rows of a fold, its figures, and choices by them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from benchmarks.folds import Fold
from bochner._base.arrays import Array
from bochner.learned.training_data import Scaling

INTERVAL = 0.9  # Probability of the central intervals whose coverage is counted

_CLIP = 10.0  # Robust deviations at which inputs are clipped: eeg_eye_state has gross outliers
_TREES = tuple(product((0.05, 0.15), (15, 63)))  # Rates and leaves around the defaults, 0.1 and 31
_MOST_TREES = 1_000  # Ten times the default; 20 trees without a gain end the fit earlier


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """Predictions at test rows: means with optional deviations, or probabilities."""

    mean: Array  # (n,): of the target, or the probability of a one
    std: Array | None = None  # (n,): of the target, where a method has it
    # False where a classifier only ranks rows, those above one half being ones.
    is_probability: bool = True


def loss(prediction: Prediction, fold: Fold) -> float:
    """Return the mean square error, or the mean negative log probability of the class."""
    if fold.is_regression:
        return float(np.mean((prediction.mean - fold.y_test) ** 2))
    return log_loss(prediction.mean, fold.y_test)


def log_loss(probability: Array, y: NDArray[Any]) -> float:
    """Return the mean negative log probability of labels zero and one."""
    tiny = np.finfo(np.float64).eps
    right = np.where(y == 1, probability, 1.0 - probability)
    return float(-np.mean(np.log(np.maximum(right, tiny))))


def predict(model: Any, fold: Fold, *, with_std: bool = True) -> Prediction:
    """Return the predictions of a fitted model that has deviations or probabilities."""
    if not fold.is_regression:
        return Prediction(model.predict_proba(fold.X_test)[:, 1])
    if with_std:
        return Prediction(*model.predict(fold.X_test, return_std=True))
    return Prediction(model.predict(fold.X_test))


def figures(prediction: Prediction, fold: Fold) -> dict[str, float]:
    """Return errors, and where there are deviations or probabilities the ``nlpd``.

    ``mse``, and ``coverage`` of central 90 % intervals, or ``error``: the share of wrong classes.
    """
    mean, y = prediction.mean, fold.y_test
    if fold.is_regression:
        metrics = {"mse": float(np.mean((mean - y) ** 2))}
        if prediction.std is not None:
            metrics |= _of_intervals(y - mean, prediction.std)
        return metrics
    metrics = {"error": float(np.mean((mean > 0.5) != (y == 1)))}
    if prediction.is_probability:
        metrics["nlpd"] = log_loss(mean, y)
    return metrics


def _of_intervals(residual: Array, std: Array) -> dict[str, float]:
    half_width = ndtri(0.5 + INTERVAL / 2.0) * std
    return {
        "coverage": float(np.mean(np.abs(residual) <= half_width)),
        "nlpd": float(-np.mean(log_density(residual, std))),
    }


def log_density(residual: Array, std: Array) -> Array:
    """Return log densities of normal variables of mean zero, in nats."""
    return np.asarray(-0.5 * np.log(2.0 * np.pi * std**2) - 0.5 * (residual / std) ** 2)


def scaled(fold: Fold) -> Fold:
    """Return inputs less their median, over a deviation that outliers do not move, clipped."""
    scaling = Scaling.of(fold.X)
    X, X_test = (np.clip(scaling.apply(X), -_CLIP, _CLIP) for X in (fold.X, fold.X_test))
    return replace(fold, X=X, X_test=X_test)


def thinned(fold: Fold, most: int, rng: np.random.Generator) -> Fold:
    """Return the fold with a random subset of its training rows if there are too many."""
    if len(fold.y) <= most:
        return fold
    return fold.part(np.sort(rng.permutation(len(fold.y))[:most]))


def chosen(
    predictor: Callable[[Fold, Any], Prediction],
    settings: Sequence[Any],
    fold: Fold,
    n: int,
    rng: np.random.Generator,
    criterion: Callable[[Prediction, Fold], float] = loss,
) -> Prediction:
    """Return the predictions with the setting that is least on held-out training rows."""
    choice = fold.inner(n, rng)
    best = min(settings, key=lambda setting: criterion(predictor(choice, setting), choice))
    return predictor(fold, best)


def boosting(fold: Fold, n: int, rng: np.random.Generator) -> Prediction:
    """Return the predictions of trees: rate and size chosen, their number by early stopping."""
    state = int(rng.integers(2**31))

    def boosted(fold: Fold, setting: tuple[float, int]) -> Prediction:
        regressor, classifier = HistGradientBoostingRegressor, HistGradientBoostingClassifier
        kind = regressor if fold.is_regression else classifier
        model = kind(
            learning_rate=setting[0],
            max_leaf_nodes=setting[1],
            max_iter=_MOST_TREES,
            early_stopping=True,
            n_iter_no_change=20,
            random_state=state,
        )
        return predict(model.fit(fold.X, fold.y), fold, with_std=False)

    return chosen(boosted, _TREES, fold, n, rng)

"""What the kernels learned by sampling are compared with: each fits a fold and predicts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.linear_model import LogisticRegression

from benchmarks.bank import design
from benchmarks.baselines import (
    ALaCarteRegressor,
    MultipleKernelFeatures,
    RandomFrequencyClassifier,
)
from benchmarks.folds import Fold
from benchmarks.predictions import Prediction, boosting, chosen, loss, scaled, thinned
from bochner._base.arrays import Array, row_blocks
from bochner.features.parameters import median_distance
from bochner.features.transformer import FourierFeatures

_SCALES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)  # Length scales over the median distance
_ALPHAS = tuple(10.0**k for k in range(-10, 3))  # Penalties of ridge regression, one per decade
_CS = tuple(10.0 ** (1.5 * k) for k in range(5))  # Inverse penalties of logistic regression
_MAX_ITER = (30, 100)  # Iterations of AlaC and RFO: 100 is their default, and 30 stop early
_LOGISTIC_ITERATIONS = 50  # Most Newton steps; each penalty starts from the one before
_BYTES_AN_ENTRY = 16  # A float64 feature and one copy of it


def compete(method: str, fold: Fold, n_frequencies: int, seed: int) -> Prediction:
    """Return a competitor's predictions; its settings are chosen on training rows alone."""
    rng = np.random.default_rng([seed, sorted(_COMPETITORS).index(method)])
    fold = thinned(fold, design.MOST_ROWS[method], rng)
    if method != design.TREES:
        fold = scaled(fold)
    return _COMPETITORS[method](fold, 2 * n_frequencies, rng)


def _fixed_gaussian(fold: Fold, width: int, rng: np.random.Generator) -> Prediction:
    distance = median_distance(fold.X, np.random.default_rng(rng.integers(2**31)))
    state = int(rng.integers(2**31))
    candidates = [
        FourierFeatures(
            "gaussian", width, scheme="iid", length_scale=scale * distance, random_state=state
        )
        for scale in _SCALES
    ]
    return _linear(candidates, fold, design.MOST_CHOICE_ROWS[design.RKS], rng)


def _bank_of_kernels(fold: Fold, width: int, rng: np.random.Generator) -> Prediction:
    state = int(rng.integers(2**31))
    bank = MultipleKernelFeatures(width, weights="uniform", random_state=state)
    return _linear([bank], fold, design.MOST_CHOICE_ROWS[design.MKL], rng)


def _linear(candidates: Sequence[Any], fold: Fold, n: int, rng: np.random.Generator) -> Prediction:
    """Return predictions of a linear model on the best of some features, penalty chosen."""
    choice = fold.inner(n, rng)
    penalties, predict = (_ALPHAS, _ridge) if fold.is_regression else (_CS, _logistic)
    losses = {
        (index, place): loss(prediction, choice)
        for index, features in enumerate(candidates)
        for place, prediction in enumerate(predict(features, choice, penalties))
    }
    index, place = min(losses, key=lambda key: losses[key])
    return predict(candidates[index], fold, (penalties[place],))[0]


def _ridge(features: Any, fold: Fold, alphas: Sequence[float]) -> list[Prediction]:
    """Return predictions of ridge regression with an intercept, for each penalty.

    Penalties are in units of the mean eigenvalue of the features' Gram matrix.
    """
    Z = features.fit(fold.X).transform(fold.X)
    centre, mean = Z.mean(axis=0), float(fold.y.mean())
    Z -= centre
    values, vectors = eigh(Z.T @ Z)
    values = np.maximum(values, 0.0)
    cross = vectors.T @ (Z.T @ (fold.y - mean))
    rotated = (features.transform(fold.X_test) - centre) @ vectors
    unit = float(values.mean())
    return [Prediction(mean + rotated @ (cross / (values + alpha * unit))) for alpha in alphas]


def _logistic(features: Any, fold: Fold, Cs: Sequence[float]) -> list[Prediction]:
    Z = features.fit(fold.X).transform(fold.X)
    # Newton steps: the optima of weak penalties are a thousand steps of L-BFGS away.
    model = LogisticRegression(
        solver="newton-cholesky", max_iter=_LOGISTIC_ITERATIONS, warm_start=True
    )
    predictions = []
    for C in Cs:
        model.set_params(C=C).fit(Z, fold.y)
        predictions.append(Prediction(_probabilities(model, features, fold.X_test)))
    return predictions


def _probabilities(model: Any, features: Any, X: Array) -> Array:
    blocks = row_blocks(len(X), _BYTES_AN_ENTRY * len(model.coef_[0]))
    parts = [model.predict_proba(features.transform(X[rows]))[:, 1] for rows in blocks]
    return np.concatenate(parts).astype(np.float64)


def _a_la_carte(fold: Fold, width: int, rng: np.random.Generator) -> Prediction:
    state = int(rng.integers(2**31))

    def predict(fold: Fold, max_iter: int) -> Prediction:
        model = ALaCarteRegressor(width, max_iter=max_iter, random_state=state)
        return Prediction(*model.fit(fold.X, fold.y).predict(fold.X_test, return_std=True))

    return chosen(predict, _MAX_ITER, fold, design.MOST_CHOICE_ROWS[design.ALAC], rng)


def _frequency_optimisation(fold: Fold, width: int, rng: np.random.Generator) -> Prediction:
    state = int(rng.integers(2**31))

    def predict(fold: Fold, max_iter: int) -> Prediction:
        model = RandomFrequencyClassifier(width, max_iter=max_iter, random_state=state)
        return Prediction(model.fit(fold.X, fold.y).predict_proba(fold.X_test)[:, 1])

    return chosen(predict, _MAX_ITER, fold, design.MOST_CHOICE_ROWS[design.RFO], rng)


def _boosting(fold: Fold, width: int, rng: np.random.Generator) -> Prediction:
    return boosting(fold, design.MOST_CHOICE_ROWS[design.TREES], rng)


_COMPETITORS: Mapping[str, Callable[[Fold, int, np.random.Generator], Prediction]] = {
    design.RKS: _fixed_gaussian,
    design.MKL: _bank_of_kernels,
    design.ALAC: _a_la_carte,
    design.RFO: _frequency_optimisation,
    design.TREES: _boosting,
}

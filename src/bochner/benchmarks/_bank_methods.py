"""What the kernels learned by sampling are compared with: each fits a fold and predicts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression

from bochner._numerics.arrays import Array, row_blocks
from bochner.baselines import ALaCarteRegressor, MultipleKernelFeatures, RandomFrequencyClassifier
from bochner.benchmarks._bank_design import ALAC, MKL, MOST_CHOICE_ROWS, MOST_ROWS, RFO, RKS, TREES
from bochner.benchmarks._bank_rows import Fold
from bochner.features.length_scales import median_distance
from bochner.features.transformer import FourierFeatures
from bochner.learning.inference.preparation import Scaling

_SCALES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
_ALPHAS = tuple(10.0**k for k in range(-10, 3))
_CS = tuple(10.0 ** (1.5 * k) for k in range(5))
_MAX_ITER = (30, 100)
_TREES = tuple(product((0.05, 0.15), (15, 63)))
_MOST_TREES = 1_000
_LOGISTIC_ITERATIONS = 50
_CLIP = 10.0
_BYTES_AN_ENTRY = 16


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """What is predicted at test rows.

    Parameters
    ----------
    mean : ndarray of shape (n,)
        Of the target, or the probability of a one.
    std : ndarray of shape (n,) or None
        Of the target, where a method has it.
    """

    mean: Array
    std: Array | None = None


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


def compete(method: str, fold: Fold, n_frequencies: int, seed: int) -> Prediction:
    """Return a competitor's predictions; its settings are chosen on training rows alone.

    Parameters
    ----------
    method : str
        RKS, MKL, AlaC, RFO or trees.
    fold : Fold
    n_frequencies, seed : int
    """
    rng = np.random.default_rng([seed, sorted(_COMPETITORS).index(method)])
    most = MOST_ROWS[method]
    if len(fold.y) > most:
        fold = fold.part(np.sort(rng.permutation(len(fold.y))[:most]))
    if method != TREES:
        fold = _scaled(fold)
    return _COMPETITORS[method](fold, 2 * n_frequencies, rng)


def _scaled(fold: Fold) -> Fold:
    """Return inputs less their median, over a deviation that outliers do not move, clipped."""
    scaling = Scaling.of(fold.X)
    X, X_test = (np.clip(scaling.apply(X), -_CLIP, _CLIP) for X in (fold.X, fold.X_test))
    return Fold(X, fold.y, X_test, fold.y_test, fold.is_regression)


def _fixed_gaussian(fold: Fold, width: int, rng: np.random.Generator) -> Prediction:
    distance = median_distance(fold.X, np.random.default_rng(rng.integers(2**31)))
    state = int(rng.integers(2**31))
    candidates = [
        FourierFeatures(
            "gaussian", width, scheme="iid", length_scale=scale * distance, random_state=state
        )
        for scale in _SCALES
    ]
    return _linear(candidates, fold, MOST_CHOICE_ROWS[RKS], rng)


def _bank_of_kernels(fold: Fold, width: int, rng: np.random.Generator) -> Prediction:
    state = int(rng.integers(2**31))
    bank = MultipleKernelFeatures(width, weights="uniform", random_state=state)
    return _linear([bank], fold, MOST_CHOICE_ROWS[MKL], rng)


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

    return _chosen(predict, _MAX_ITER, fold, MOST_CHOICE_ROWS[ALAC], rng)


def _frequency_optimisation(fold: Fold, width: int, rng: np.random.Generator) -> Prediction:
    state = int(rng.integers(2**31))

    def predict(fold: Fold, max_iter: int) -> Prediction:
        model = RandomFrequencyClassifier(width, max_iter=max_iter, random_state=state)
        return Prediction(model.fit(fold.X, fold.y).predict_proba(fold.X_test)[:, 1])

    return _chosen(predict, _MAX_ITER, fold, MOST_CHOICE_ROWS[RFO], rng)


def _boosting(fold: Fold, width: int, rng: np.random.Generator) -> Prediction:
    state = int(rng.integers(2**31))

    def predict(fold: Fold, setting: tuple[float, int]) -> Prediction:
        kind = HistGradientBoostingRegressor
        if not fold.is_regression:
            kind = HistGradientBoostingClassifier
        model = kind(
            learning_rate=setting[0],
            max_leaf_nodes=setting[1],
            max_iter=_MOST_TREES,
            early_stopping=True,
            n_iter_no_change=20,
            random_state=state,
        ).fit(fold.X, fold.y)
        if fold.is_regression:
            return Prediction(model.predict(fold.X_test))
        return Prediction(model.predict_proba(fold.X_test)[:, 1])

    return _chosen(predict, _TREES, fold, MOST_CHOICE_ROWS[TREES], rng)


def _chosen(
    predict: Callable[[Fold, Any], Prediction],
    settings: Sequence[Any],
    fold: Fold,
    n: int,
    rng: np.random.Generator,
) -> Prediction:
    """Return the predictions with the setting of least loss on held-out training rows."""
    choice = fold.inner(n, rng)
    return predict(fold, min(settings, key=lambda setting: loss(predict(choice, setting), choice)))


_COMPETITORS: Mapping[str, Callable[[Fold, int, np.random.Generator], Prediction]] = (
    MappingProxyType(
        {
            RKS: _fixed_gaussian,
            MKL: _bank_of_kernels,
            ALAC: _a_la_carte,
            RFO: _frequency_optimisation,
            TREES: _boosting,
        }
    )
)

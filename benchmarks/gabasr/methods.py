"""What locally stationary kernels are compared with, and how the learners are made."""

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from benchmarks.folds import Fold
from benchmarks.gabasr import design
from benchmarks.predictions import (
    Prediction,
    boosting,
    chosen,
    figures,
    loss,
    predict,
    scaled,
    thinned,
)
from bochner import papers
from bochner._base.arrays import Array
from bochner.features.parameters import median_distance
from bochner.kernels import Harmonizable
from bochner.learned import Chains
from bochner.learned.learned_kernel_classifier import LearnedKernelClassifier
from bochner.learned.learned_kernel_regressor import LearnedKernelRegressor
from bochner.learned.locally_stationary_models import (
    LocallyStationaryClassifier,
    LocallyStationaryRegressor,
)
from bochner.linear.krein_ridge import KreinRidge

_PENALTIES = tuple(10.0**k for k in range(-3, 4))  # One per decade, three around one either way
_LINEAR_CS = (0.01, 0.1, 1.0, 10.0)  # Inverse penalties of linear SVMs
_CS = (0.1, 1.0, 10.0, 100.0)  # Inverse penalties of RBF SVMs
_EPSILONS = (0.01, 0.1)  # Margins of a regression, in deviations of its target
_WIDTHS = (0.03, 0.1, 0.3, 1.0, 3.0)
"""Length scales of Gaussian kernels, over the median distance."""

_LINEAR_ITERATIONS = 5_000  # Most iterations of liblinear, five times scikit-learn's default
_STEPS = 1_000_000  # Most steps of libsvm, which has no limit by default


def learner(
    method: str, budget: design.Budget, seed: int, *, is_regression: bool, trend: int = 0
) -> Any:
    """Return an estimator that learns its kernel."""
    shared: dict[str, Any] = {"random_state": seed}
    if method == design.PUBLISHED:
        return LocallyStationaryClassifier(
            budget.n_frequencies,
            sampler=papers.gabasr.sampler(),
            **shared,
            chains=Chains(design.PAPER_SWEEPS - 1, 1, thin=1, time_limit=budget.seconds),
        )
    kinds: Mapping[tuple[str, bool], Callable[..., Any]] = {
        (design.OURS, True): LocallyStationaryRegressor,
        (design.OURS, False): LocallyStationaryClassifier,
        (design.BANK, True): LearnedKernelRegressor,
        (design.BANK, False): LearnedKernelClassifier,
    }
    if method == design.WINDOWED:
        method, shared = design.OURS, shared | {"envelope": "windows"}
    return kinds[method, is_regression](
        budget.n_frequencies,
        chains=Chains(
            budget.n_iterations, budget.n_iterations, n_chains=1, time_limit=budget.seconds
        ),
        trend=trend,
        **shared,
    )


def harmonizable(X: Array, y: Array, seed: int) -> KreinRidge:
    """Return a ridge with the harmonizable mixture of greatest evidence, less its parameters.

    Each window adds a weight, and for each input a centre, a width, a frequency and a spread.
    """

    def fitted(n_windows: int) -> tuple[float, KreinRidge]:
        model = KreinRidge(
            Harmonizable.covering(X, n_windows),
            design.HARMONIZABLE_FEATURES,
            "evidence",
            length_scale="evidence",
            fit_intercept=True,
            random_state=seed,
        ).fit(X, y)
        return model.log_evidence_ - n_windows * (1 + 4 * X.shape[1]), model

    return max(map(fitted, design.WINDOWS), key=lambda scored_model: scored_model[0])[1]


def chosen_trend(method: str, budget: design.Budget, fold: Fold, seed: int) -> int:
    """Return the degree of the trend of greater predictive density on held-out training rows.

    Two fits with a quarter of the budget, to four fifths of the training rows or less.
    """
    inner = fold.inner(design.MOST_CHOICE_ROWS[design.TREES], np.random.default_rng(seed))
    few = design.Budget(
        budget.n_frequencies, max(2, budget.n_iterations // 4), budget.seconds / 4.0
    )

    def loss_of(trend: int) -> float:
        model = learner(method, few, seed, is_regression=True, trend=trend)
        return figures(predict(model.fit(inner.X, inner.y), inner), inner)["nlpd"]

    return min(design.TRENDS, key=loss_of)


def compete(method: str, fold: Fold, seed: int) -> Prediction:
    """Return a competitor's predictions; its settings are chosen on training rows alone."""
    rng = np.random.default_rng([seed, sorted(_COMPETITORS).index(method)])
    fold = thinned(fold, design.MOST_ROWS[method], rng)
    if method != design.TREES:
        fold = scaled(fold)
    return _COMPETITORS[method](fold, rng)


def ranking_loss(prediction: Prediction, fold: Fold) -> float:
    """Return the mean square error, or of classes one less the area under the curve."""
    if fold.is_regression:
        return loss(prediction, fold)
    return 1.0 - auc(prediction.mean, fold)


def auc(score: Array, fold: Fold) -> float:
    """Return the area under the receiver operating characteristic."""
    return float(roc_auc_score(fold.y_test, score))


def _linear(fold: Fold, rng: np.random.Generator) -> Prediction:
    def fitted(fold: Fold, penalty: float) -> Prediction:
        logistic = LogisticRegression(C=1.0 / penalty, max_iter=1_000)
        model = Ridge(penalty) if fold.is_regression else logistic
        return predict(model.fit(fold.X, fold.y), fold, with_std=False)

    return chosen(fitted, _PENALTIES, fold, design.MOST_CHOICE_ROWS[design.LINEAR], rng)


def _linear_svm(fold: Fold, rng: np.random.Generator) -> Prediction:
    state = int(rng.integers(2**31))

    def fitted(fold: Fold, C: float) -> Prediction:
        kind = LinearSVR if fold.is_regression else LinearSVC
        return _machine(kind(C=C, max_iter=_LINEAR_ITERATIONS, random_state=state), fold)

    return chosen(
        fitted, _LINEAR_CS, fold, design.MOST_CHOICE_ROWS[design.LINEAR_SVM], rng, ranking_loss
    )


def _rbf_svm(fold: Fold, rng: np.random.Generator) -> Prediction:
    distance = median_distance(fold.X, np.random.default_rng(rng.integers(2**31)))

    def fitted(fold: Fold, setting: tuple[float, float, float]) -> Prediction:
        C, width, epsilon = setting
        gamma = 0.5 / (width * distance) ** 2
        shared = {"C": C, "gamma": gamma, "max_iter": _STEPS}
        model = SVR(epsilon=epsilon, **shared) if fold.is_regression else SVC(**shared)
        return _machine(model, fold)

    epsilons = _EPSILONS if fold.is_regression else _EPSILONS[:1]
    settings = tuple(product(_CS, _WIDTHS, epsilons))
    return chosen(
        fitted, settings, fold, design.MOST_CHOICE_ROWS[design.RBF_SVM], rng, ranking_loss
    )


def _machine(model: Any, fold: Fold) -> Prediction:
    model.fit(fold.X, fold.y)
    if fold.is_regression:
        return Prediction(model.predict(fold.X_test))
    return Prediction(expit(model.decision_function(fold.X_test)), is_probability=False)


def _boosting(fold: Fold, rng: np.random.Generator) -> Prediction:
    return boosting(fold, design.MOST_CHOICE_ROWS[design.TREES], rng)


_COMPETITORS: Mapping[str, Callable[[Fold, np.random.Generator], Prediction]] = {
    design.LINEAR: _linear,
    design.LINEAR_SVM: _linear_svm,
    design.RBF_SVM: _rbf_svm,
    design.TREES: _boosting,
}

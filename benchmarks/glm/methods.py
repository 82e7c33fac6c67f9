"""Methods by name: our laws of targets, statsmodels, and boosted trees."""

from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression

from benchmarks.glm.data import CENSORED, COUNTS, LABELS, ORDERED, OUTLIERS, Problem
from bochner import (
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    KernelGLMClassifier,
    KernelGLMRegressor,
)
from bochner._base.arrays import Array
from bochner.gaussian_process import CensoredGaussianLikelihood

TAILS = (0.05, 0.95)  # Ends of 90 % intervals
_LEAST = 1e-15  # Least probability of a class: those of trees may be zero


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """Log densities or log probabilities of the test targets, and 90 % intervals of numbers."""

    log_density: Array  # (n2,)
    lower: Array | None = None  # (n2,)
    upper: Array | None = None


Method = Callable[[Problem, int], Prediction]
"""Fits to the training rows, with a seed, and predicts the test rows."""


def _numbers(law: Any, length_scale: str, p: Problem, seed: int) -> Prediction:
    law = CensoredGaussianLikelihood(left=0.0) if law == "censored" else law
    model = KernelGLMRegressor(law, length_scale=length_scale, random_state=seed)
    train: dict[str, Array] = {"exposure": p.exposure} if p.kind == COUNTS else {}
    test: dict[str, Array] = {"exposure": p.exposure_test} if p.kind == COUNTS else {}
    model.fit(p.X, p.y, **train)
    if law == "gaussian":
        return normal(p, *model.predict(p.X_test, return_std=True))
    density = model.log_predictive_density(p.X_test, p.y_test, **test)
    return Prediction(density, *model.predict_interval(p.X_test, level=0.9, **test))


def _classes(law: str, length_scale: str, p: Problem, seed: int) -> Prediction:
    model = KernelGLMClassifier(law, length_scale=length_scale, random_state=seed)
    return classified(p, model.fit(p.X, p.y))


def _process(p: Problem, seed: int) -> Prediction:
    model = GaussianProcessRegressor(random_state=seed).fit(p.X, p.y)
    return normal(p, *model.predict(p.X_test, return_std=True))


def _class_process(p: Problem, seed: int) -> Prediction:
    return classified(p, GaussianProcessClassifier(random_state=seed).fit(p.X, p.y))


def normal(p: Problem, mean: Array, std: Array) -> Prediction:
    """Return the prediction of normal laws; censored targets have the mass beyond the limit."""
    law = stats.norm(mean, std)
    density = law.logpdf(p.y_test)
    if p.kind == CENSORED:
        density = np.where(p.y_test <= 0.0, law.logcdf(0.0), density)
    low, high = (np.asarray(law.ppf(tail)) for tail in TAILS)
    return Prediction(np.asarray(density), low, high)


def classified(p: Problem, model: Any) -> Prediction:
    """Return the prediction of a classifier; classes without training rows are improbable."""
    probability = np.full((len(p.y_test), p.n_classes), _LEAST)
    probability[:, np.asarray(model.classes_, dtype=np.intp)] = model.predict_proba(p.X_test)
    chosen = probability[np.arange(len(p.y_test)), p.y_test]
    return Prediction(np.log(np.maximum(chosen, _LEAST)))


def _boosted_counts(p: Problem, seed: int) -> Prediction:
    model = HistGradientBoostingRegressor(loss="poisson", random_state=seed)
    model.fit(p.X, p.y / p.exposure, sample_weight=p.exposure)
    return _law(p, stats.poisson(model.predict(p.X_test) * p.exposure_test))


def _boosted_classes(p: Problem, seed: int) -> Prediction:
    return classified(p, HistGradientBoostingClassifier(random_state=seed).fit(p.X, p.y))


def _logistic(p: Problem, seed: int) -> Prediction:
    return classified(p, LogisticRegression(max_iter=1000).fit(p.X, p.y))


def _law(p: Problem, law: Any) -> Prediction:
    """Return the prediction of laws of counts."""
    return Prediction(law.logpmf(p.y_test), *(law.ppf(tail) for tail in TAILS))


def _with_constant(X: Array) -> Array:
    return np.column_stack((np.ones(len(X)), X))


def _linear_poisson(p: Problem, seed: int) -> Prediction:
    import statsmodels.api as sm

    model = sm.GLM(p.y, _with_constant(p.X), family=sm.families.Poisson(), exposure=p.exposure)
    mean = model.fit().predict(_with_constant(p.X_test), exposure=p.exposure_test)
    return _law(p, stats.poisson(mean))


def _linear_negative_binomial(p: Problem, seed: int) -> Prediction:
    import statsmodels.api as sm

    model = sm.NegativeBinomial(p.y, _with_constant(p.X), exposure=p.exposure)
    fitted = model.fit(disp=False, maxiter=200)
    mean = fitted.predict(_with_constant(p.X_test), exposure=p.exposure_test)
    size = 1.0 / fitted.params[-1]
    return _law(p, stats.nbinom(size, size / (size + mean)))


def _proportional_odds(p: Problem, seed: int) -> Prediction:
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    model = OrderedModel(p.y, p.X, distr="logit").fit(method="bfgs", disp=False, maxiter=200)
    codes = np.unique(p.y)
    probability = np.full((len(p.y_test), p.n_classes), _LEAST)
    probability[:, codes] = np.asarray(model.predict(p.X_test))
    chosen = probability[np.arange(len(p.y_test)), p.y_test]
    return Prediction(np.log(np.maximum(chosen, _LEAST)))


def _tobit(p: Problem, seed: int) -> Prediction:
    from statsmodels.base.model import GenericLikelihoodModel

    class Tobit(GenericLikelihoodModel):
        """Linear regression of numbers that are censored on the left at zero."""

        def nloglikeobs(self, params: Array) -> NDArray[Any]:
            law = stats.norm(self.exog @ params[:-1], np.exp(params[-1]))
            known: Any = law.logpdf(self.endog)
            loss: NDArray[Any] = -np.where(self.endog <= 0.0, law.logcdf(0.0), known)
            return loss

    X = _with_constant(p.X)
    start = np.append(np.linalg.lstsq(X, p.y, rcond=None)[0], np.log(p.y.std()))
    model = Tobit(p.y, X, extra_params_names=["log_scale"])
    params = model.fit(start_params=start, method="bfgs", disp=False, maxiter=500).params
    mean = _with_constant(p.X_test) @ params[:-1]
    return normal(p, mean, np.full(len(mean), np.exp(params[-1])))


def _linear_student_t(p: Problem, seed: int) -> Prediction:
    from statsmodels.miscmodels.tmodel import TLinearModel

    with redirect_stdout(StringIO()):  # It prints that it initialises
        model = TLinearModel(p.y, _with_constant(p.X))
    model = model.fit(method="bfgs", disp=False, maxiter=500)
    df, scale = (float(value) for value in model.params[-2:])
    law = stats.t(df, _with_constant(p.X_test) @ model.params[:-2], scale)
    return Prediction(law.logpdf(p.y_test), *(law.ppf(tail) for tail in TAILS))


def _torch(law: str, p: Problem, seed: int) -> Prediction:
    from benchmarks.glm.torch_process import predicted

    return predicted(law, p, seed)


def _ours(fit: Callable[..., Prediction], *laws: str) -> dict[str, Method]:
    return {
        f"bochner {law.replace('_', ' ')}{name}": partial(fit, law, scale)
        for law in laws
        for name, scale in (("", "median"), (", evidence", "evidence"))
    }


METHODS: Mapping[str, Mapping[str, Method]] = {
    COUNTS: {
        **_ours(_numbers, "poisson", "negative_binomial"),
        "statsmodels Poisson": _linear_poisson,
        "statsmodels negative binomial": _linear_negative_binomial,
        "GPyTorch Poisson": partial(_torch, "poisson"),
        "GPyTorch negative binomial": partial(_torch, "negative_binomial"),
        "boosted trees": _boosted_counts,
    },
    ORDERED: {
        **_ours(_classes, "ordinal"),
        "bochner softmax, evidence": partial(_classes, "softmax", "evidence"),
        "statsmodels proportional odds": _proportional_odds,
        "GPyTorch ordinal": partial(_torch, "ordinal"),
        "logistic regression": _logistic,
        "boosted trees": _boosted_classes,
    },
    CENSORED: {
        **_ours(_numbers, "censored"),
        "bochner gaussian, evidence": partial(_numbers, "gaussian", "evidence"),
        "statsmodels Tobit": _tobit,
        "GPyTorch censored": partial(_torch, "censored"),
    },
    LABELS: {
        **_ours(_classes, "auto"),
        "bochner GaussianProcessClassifier": _class_process,
        "GPyTorch labels": partial(_torch, "labels"),
        "logistic regression": _logistic,
        "boosted trees": _boosted_classes,
    },
    OUTLIERS: {
        **_ours(_numbers, "student_t"),
        "bochner gaussian, evidence": partial(_numbers, "gaussian", "evidence"),
        "bochner GaussianProcessRegressor": _process,
        "statsmodels Student-t": _linear_student_t,
        "GPyTorch Student-t": partial(_torch, "student_t"),
    },
}
PACKAGES = {
    method: "gpytorch" if method.startswith("GPyTorch") else "statsmodels"
    for methods in METHODS.values()
    for method in methods
    if method.startswith(("GPyTorch", "statsmodels"))
}

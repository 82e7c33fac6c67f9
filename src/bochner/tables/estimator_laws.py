"""Base models with the variance of left-out residuals, such as estimators of users."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from bochner._base.arrays import Array, as_array
from bochner._base.limits import LARGEST_TARGET
from bochner._base.names import shown
from bochner._base.registry import register
from bochner._base.threads import in_order, single_threaded_blas, threads_of_trees
from bochner._base.warn import warn_user
from bochner.tables.kernel_laws import LeaveOneOutPredictions
from bochner.tables.observations import Chosen, Observations, Scored, fold_numbers

_N_FOLDS = 4
"""Number of folds of the scored observations; each fold costs one more fit."""

_FEW_SCORED = 0.2
"""Share of scored observations up to which a single fit without all of them predicts them."""

_NEGLIGIBLE = 0.01
"""Share of scored observations up to which the fit without them is the fit to all observations:
with one per cent fewer observations, the excess error changes by less than half a per cent."""


@dataclass(frozen=True, slots=True, eq=False)
class ResidualLaw(ABC):
    """A base model with the variance ``signal * (misfit + alpha / weight)`` of residuals."""

    name: str
    signal: Array  # (t,): Variance of left-out residuals at weight one
    misfit: float
    alpha: float

    @abstractmethod
    def mean(self, X: Array, rows: Array) -> Array:
        """Return means (n', t) of encoded rows (n', d)."""

    def variance(self, X: Array, rows: Array, weight: Array | float = 1.0) -> Array:
        """Return variances (n', t) of new targets at encoded rows (n', d)."""
        relative = np.broadcast_to(self.misfit + self.alpha / as_array(weight), len(X))
        return relative[:, None] * self.signal

    @property
    def noise(self) -> Array:
        """Noise variance (t,) of a target of weight one."""
        return self.alpha * self.signal

    def covariance(self, X: Array, rows: Array, weight: Array | float = 1.0) -> Array:
        """Return covariances (n', n', t) of new targets, zero except for the variances."""
        cov = np.zeros((len(X), len(X), len(self.signal)))
        np.einsum("iit->it", cov)[:] = self.variance(X, rows, weight)
        return cov

    def with_variances(self, of_function: float, of_noise: float) -> Self:
        """Return the law with the variances of misfit and noise multiplied by factors."""
        alpha = of_noise / of_function * self.alpha
        return replace(self, signal=of_function * self.signal, alpha=alpha)


Fitted = TypeVar("Fitted", bound=ResidualLaw)


def n_fits(n_scored: int, n_samples: int) -> int:
    """Return the largest number of fits that left-out errors of ``n_scored`` observations need."""
    if n_scored <= _NEGLIGIBLE * n_samples:
        return 1
    return 2 if n_scored <= _FEW_SCORED * n_samples else 1 + _N_FOLDS


def with_left_out(
    fitted: Callable[[Chosen], Fitted],
    data: Observations,
    order: Chosen,
    scored: Scored,
    labels: NDArray[np.int64] | None,
    n_threads: int = 1,
    shortened: Callable[[list[Fitted], list[tuple[Fitted, Chosen]]], list[Fitted]] | None = None,
    *,
    is_final: bool = True,
) -> tuple[Fitted, LeaveOneOutPredictions] | None:
    """Fit a base model; return it with its left-out means and variances, ``None`` for few rows."""
    # Fits without a fold: all observations of the order except the removed ones.
    folds = [
        (np.setdiff1d(order, removed), places) for removed, places in _folds(data, order, scored)
    ]
    classes = np.zeros(len(data), dtype=np.int64) if labels is None else labels
    n_classes = int(classes.max()) + 1
    if min(np.bincount(classes[rows], minlength=n_classes).min() for rows, _ in folds) < 2:
        return None

    parts = [rows for rows, _ in folds]
    if is_final and len(scored.units) > _NEGLIGIBLE * len(order):
        parts = [np.sort(order), *parts]
    # Fits run in threads; a single fit has all threads.
    n_inner = n_threads if len(parts) == 1 else 1

    def law_of(rows: Chosen) -> Fitted:
        with threads_of_trees(n_inner):
            return fitted(rows)

    with single_threaded_blas():
        laws = [law for _, law in in_order(law_of, parts, n_threads)]
    units = scored.units
    if shortened is not None:  # By the models of the folds and their left-out observations
        of_folds = zip(laws[-len(folds) :], folds, strict=True)
        laws = shortened(laws, [(law, units[places]) for law, (_, places) in of_folds])
    law = laws[0]
    means = np.empty((len(units), len(law.signal)))
    for of_fold, (_, places) in zip(laws[-len(folds) :], folds, strict=True):
        rows = data.X[units[places]]
        means[places] = of_fold.mean(rows, rows)
    if labels is not None:
        unknown = np.full(means.shape, np.nan)
        return law, LeaveOneOutPredictions(means, unknown, unknown)
    # Out-of-fold residuals give the variance of a new target.
    squares = (data.Y[units] - means) ** 2
    weights = scored.observed.weights
    signal = squares.mean(axis=0)
    relative = np.mean(squares / np.where(signal > 0.0, signal, 1.0), axis=1)
    # Equal weights do not distinguish misfit from noise: all variance counts as noise.
    misfit, alpha = 0.0, 1.0
    if np.ptp(weights):
        misfit, alpha = variance_parts(relative, np.ones(len(units)), 1.0 / weights)
    # The share of the noise falls with the weight, that of the misfit does not.
    variances = signal * (misfit + alpha / weights)[:, None]
    noise = np.broadcast_to(signal * alpha, means.shape)
    law = replace(law, signal=signal, misfit=float(misfit), alpha=float(alpha))
    return law, LeaveOneOutPredictions(means, variances, noise)


def _folds(data: Observations, order: Chosen, scored: Scored) -> Iterator[tuple[Chosen, Chosen]]:
    """Yield the observations that each fit leaves out, and their positions in ``scored``."""
    n_scored = len(scored.units)
    groups = None if data.groups is None else data.groups[scored.units]
    is_one_block = groups is not None and not np.ptp(groups)
    if is_one_block or n_scored <= _FEW_SCORED * len(order):
        yield scored.units, np.arange(n_scored)
        return
    folds = fold_numbers(groups, n_scored, _N_FOLDS)
    for fold in np.unique(folds):  # There may be fewer groups than folds
        places = np.flatnonzero(folds == fold)
        yield scored.units[places], places


def checked_base_models(models: object, of_classes: bool) -> tuple[Any, ...]:
    """Return validated base models; raise TypeError for anything but a list of estimators."""
    if not isinstance(models, list | tuple):
        raise TypeError(
            f"base_models must be a list or tuple of estimators, got {shown(models)}: write "
            "base_models=[estimator] for a single one."
        )
    kind = "classifier with predict_proba" if of_classes else "regressor"
    for number, model in enumerate(models):
        if advice := _advice(model, of_classes):
            raise TypeError(
                f"base_models[{number}] must be a {kind}, got {shown(model)}: {advice}."
            )
    return tuple(models)


def _advice(model: Any, of_classes: bool) -> str:
    """Return advice on a model that cannot be a base model, or an empty string."""
    if isinstance(model, type):
        return f"pass an object, {model.__name__}()"
    of_both = "__sklearn_tags__", "get_params", "fit"
    has_kind = all(hasattr(model, name) for name in of_both)
    if has_kind and (is_classifier(model) if of_classes else is_regressor(model)):
        if hasattr(model, "predict_proba" if of_classes else "predict"):
            return ""
        return "wrap it in CalibratedClassifierCV" if of_classes else "its class needs predict"
    if has_kind and (is_regressor(model) if of_classes else is_classifier(model)):
        other = "TableRegressor" if of_classes else "TableClassifier"
        return f"it is for bochner.{other}"
    mixin = "ClassifierMixin" if of_classes else "RegressorMixin"
    return f"derive its class from {mixin} and BaseEstimator, in this order"


def check_takes_weights(base_models: Sequence[Any]) -> None:
    """Raise ValueError if the fit of a base model does not take weights of rows."""
    for number, model in enumerate(base_models):
        if not has_fit_parameter(model, "sample_weight"):
            raise ValueError(
                f"sample_weight differs between rows, but fit of base_models[{number}], "
                f"{shown(model)}, does not take it: leave the weights out, or pass an estimator "
                "whose fit has the parameter sample_weight."
            )


_LEAST_PROBABILITY = 1e-3
"""Least probability of a class, because votes of few neighbours or trees are zero or one."""


_SUM_ERROR = 1e-3
"""Largest deviation of a row's probabilities from a sum of one: rounding in half precision."""


@register(shapes={"signal": "t", "columns": "c"})
@dataclass(frozen=True, slots=True, eq=False)
class EstimatorLaw(ResidualLaw):
    """Fitted estimators as a base model: one per target, or a single classifier."""

    columns: Chosen  # (c,): Encoded columns that the estimators take
    estimators: list[BaseEstimator]
    is_classifier: bool

    def __post_init__(self) -> None:
        if len(self.estimators) != (1 if self.is_classifier else len(self.signal)):
            raise ValueError(f"{len(self.estimators)} estimators of {len(self.signal)} outputs")

    @property
    def kind(self) -> str:
        """Name of the class of the estimators."""
        return type(self.estimators[0]).__name__

    def mean(self, X: Array, rows: Array) -> Array:
        """Return means (n', t) of encoded rows (n', d), or raise ValueError if some are missing."""
        if self.is_classifier:
            # Log odds of two classes are one output.
            n_classes = max(len(self.signal), 2)
            return _log_odds(self._checked("predict_proba", X, (len(X), n_classes)))
        return self._checked("predict", X, (len(X),))

    def _checked(self, method: str, X: Array, shape: tuple[int, ...]) -> Array:
        """Return the validated outputs of a method of the estimators, joined by columns."""
        outputs = []
        for estimator in self.estimators:
            raw = np.asarray(getattr(estimator, method)(X[:, self.columns]))
            values = raw[:, 0] if len(shape) == 1 and raw.shape == (*shape, 1) else raw
            is_number = values.dtype.kind in "biuf"
            fault = ""
            if values.shape != shape or not is_number:
                fault = f"an array of shape {raw.shape} and type {raw.dtype}"
            elif not np.isfinite(values).all():
                fault = "NaN or infinite numbers"
            elif np.abs(values).max(initial=0.0) > LARGEST_TARGET:
                fault = f"numbers beyond {LARGEST_TARGET:g} in size"
            elif len(shape) == 2 and (
                values.min(initial=0.0) < 0.0
                or (np.abs(values.sum(axis=1) - 1.0) > _SUM_ERROR).any()
            ):
                fault = "rows that are negative or do not sum to one"
            if fault:
                expected = "probabilities" if len(shape) == 2 else "finite numbers"
                raise ValueError(
                    f"{method} of the {self.name}, {shown(estimator)}, must return {expected} of "
                    f"shape {shape} for {len(X)} rows of standardised columns; it returned {fault}."
                )
            outputs.append(as_array(values.reshape(len(X), -1)))
        return np.hstack(outputs)


def _log_odds(probabilities: Array) -> Array:
    """Return log odds (n, 1) of two classes, or centred log probabilities (n, C)."""
    logs = np.log(np.maximum(probabilities, _LEAST_PROBABILITY))
    if logs.shape[1] == 2:
        return logs[:, 1:] - logs[:, :1]
    return as_array(logs - logs.mean(axis=1, keepdims=True))


class _LateError(Exception):
    """Raised if the fits of an estimator would exceed the time limit."""


@dataclass(frozen=True, slots=True, eq=False)
class EstimatorLearner:
    """Fits clones of an estimator to numeric targets, or one to class labels."""

    name: str
    model: Any
    columns: Chosen
    labels: NDArray[np.int64] | None  # (n,): Indices of classes; None for a regression
    seed: int
    seconds: float = np.inf  # Time limit of all fits

    def fit(
        self,
        data: Observations,
        order: Chosen,
        scored: Scored,
        n_threads: int = 1,
        *,
        is_final: bool = True,
    ) -> tuple[EstimatorLaw, LeaveOneOutPredictions] | None:
        """Return an estimator with left-out predictions; ``None``, with a warning, if fits fail."""
        began, total, taken = perf_counter(), n_fits(len(scored.units), len(order)), list[float]()
        options = {"sample_weight": data.weights} if np.ptp(data.weights) else {}

        def fitted(rows: Chosen) -> EstimatorLaw:
            started = perf_counter()
            expected = (total - len(taken)) * max(taken, default=0.0) / n_threads
            if taken and started + expected > began + self.seconds:
                raise _LateError
            X, some = data.X[np.ix_(rows, self.columns)], {k: w[rows] for k, w in options.items()}
            targets = data.Y[rows].T.copy() if self.labels is None else [self.labels[rows]]
            models = [self._seeded() for _ in targets]
            for model, y in zip(models, targets, strict=True):
                model.fit(X, y, **some)
            taken.append(perf_counter() - started)
            arguments = self.columns, models, self.labels is not None
            return EstimatorLaw(self.name, np.ones(data.Y.shape[1]), 0.0, 1.0, *arguments)

        try:
            law = with_left_out(
                fitted, data, order, scored, self.labels, n_threads, is_final=is_final
            )
            reason = (
                "a fold leaves fewer than two rows, or fewer than two of a class: pass more rows"
            )
        except _LateError:
            law, reason = None, f"its {total} fits would exceed the time limit: pass a longer one"
        if law is None and is_final:
            warn_user(f"The {self.name}, {shown(self.model)}, is left out, because {reason}.")
        return law

    def _seeded(self) -> Any:
        """Return a clone of the estimator in which unset random seeds are set."""
        model = clone(self.model)
        of_seeds = {k: v for k, v in model.get_params().items() if k.endswith("random_state")}
        return model.set_params(**{k: self.seed for k, v in of_seeds.items() if v is None})


def variance_parts(squares: Array, function: Array, noise: Array) -> tuple[float, float]:
    """Return non-negative factors of function and noise variances (s,), fitted to ``squares``."""
    total = np.maximum(function + noise, np.finfo(np.float64).tiny)
    parts = np.column_stack((function / total, noise / total))
    # Non-negative: a variance may be estimated as zero.
    factors, _ = nnls(parts, squares / total)
    return float(factors[0]), float(factors[1])

"""Estimators of scikit-learn's interface among the laws of a table: base models of the user."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from bochner._base.arrays import Array, as_array
from bochner._base.limits import LARGEST_TARGET
from bochner._base.registry import register
from bochner._base.warn import warn_user
from bochner.tables.distinct_rows import Chosen
from bochner.tables.kernel_laws import LeaveOneOutPredictions
from bochner.tables.observations import Observations, Scored
from bochner.tables.residual_laws import ResidualLaw, n_fits, with_left_out

_LEAST_PROBABILITY = 1e-3
"""Least probability of a class, because votes of few neighbours or trees are zero or one. On three
small tables with neighbours, forests and logistic regression, log losses of the sum are at most
seven per cent above the least of all bounds between 0.1 and 1e-8."""


_SUM_ERROR = 1e-3
"""Largest deviation of a row's probabilities from a sum of one: rounding in half precision."""


@register(shapes={"signal": "t", "columns": "c"})
@dataclass(frozen=True, slots=True, eq=False)
class EstimatorLaw(ResidualLaw):
    """Fitted estimators as a law of a table: one for each target, or a single classifier.

    The means of a classifier are log odds of two classes, or centred log probabilities of several,
    as those of boosted trees.
    """

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
        """Return what a method of the estimators returns for encoded rows, side by side.

        Raises ValueError unless each returns finite numbers of a shape, probabilities that sum to
        one, or a column of numbers in place of an array of one axis.
        """
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
            elif len(shape) == 2 and not _are_probabilities(values):
                fault = "rows that are negative or do not sum to one"
            if fault:
                expected = "probabilities" if len(shape) == 2 else "finite numbers"
                raise ValueError(
                    f"{method} of the {self.name}, {estimator!r}, must return {expected} of shape "
                    f"{shape} for {len(X)} rows of standardised columns; it returned {fault}."
                )
            outputs.append(as_array(values.reshape(len(X), -1)))
        return np.hstack(outputs)


def _are_probabilities(values: NDArray[Any]) -> bool:
    sums = values.sum(axis=1)
    return bool((values >= 0.0).all() and (np.abs(sums - 1.0) <= _SUM_ERROR).all())


def _log_odds(probabilities: Array) -> Array:
    """Return log odds (n, 1) of two classes, or centred log probabilities (n, C)."""
    logs = np.log(np.maximum(probabilities, _LEAST_PROBABILITY))
    if logs.shape[1] == 2:
        return logs[:, 1:] - logs[:, :1]
    return as_array(logs - logs.mean(axis=1, keepdims=True))


class _LateError(Exception):
    """The fits of an estimator would take more time than there is."""


@dataclass(frozen=True, slots=True, eq=False)
class EstimatorLearner:
    """Fits clones of an estimator to numeric targets, or one to class labels."""

    name: str
    model: Any
    columns: Chosen
    labels: NDArray[np.int64] | None  # (n,): Indices of classes; None for a regression
    seed: int
    seconds: float = np.inf  # Left for all fits

    def fit(
        self,
        data: Observations,
        order: Chosen,
        scored: Scored,
        n_threads: int = 1,
        *,
        is_final: bool = True,
    ) -> tuple[EstimatorLaw, LeaveOneOutPredictions] | None:
        """Return the law of all observations with its predictions, see :func:`with_left_out`.

        Equal weights are not passed to the estimator. The result is ``None``, with a warning, if
        folds are too small for a law, or if the first fit shows that the others would be late.
        """
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
            warn_user(f"The {self.name}, {self.model!r}, is left out, because {reason}.")
        return law

    def _seeded(self) -> Any:
        """Return a clone whose seeds are set where they are ``None``."""
        model = clone(self.model)
        of_seeds = {k: v for k, v in model.get_params().items() if k.endswith("random_state")}
        return model.set_params(**{k: self.seed for k, v in of_seeds.items() if v is None})

"""Predictions and fitted attributes of linear models, in the shape of the targets."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import Array, InputRows, row_blocks
from bochner.features.landmarks import FeatureMap
from bochner.linear.iterative import IterativeSolution
from bochner.linear.krein import KreinSolution
from bochner.linear.ridge_posterior import FunctionLaw, RidgePosterior

LinearSolution = RidgePosterior | KreinSolution | IterativeSolution
"""Types of solutions in model files of linear models."""


def predictions(
    features: FeatureMap, solution: LinearSolution, X: InputRows, *, with_std: bool
) -> tuple[Any, Any]:
    """Return predicted means and, with ``with_std``, standard deviations, both of shape (n, t).

    With ``with_std``, ``features`` include the check features of the solution's law.

    Raises ValueError if the solution has no standard deviations.
    """
    law = with_uncertainty(solution).law if with_std else solution
    mean = np.empty((X.shape[0], law.coef.shape[1]))
    std = np.empty_like(mean) if with_std else None
    for rows in row_blocks(len(mean), 8 * features.n_features):
        Z = features.features(X[rows])
        mean[rows] = law.mean(Z)
        if std is not None and isinstance(law, FunctionLaw):
            std[rows] = law.std(Z)
    return mean, std


def covariances(features: FeatureMap, solution: LinearSolution, X: InputRows) -> Any:
    """Return predictive covariances (n, n, t) of rows (n, d).

    Raises ValueError if the solution has no covariances.
    """
    return with_uncertainty(solution).law.cov(features.features(X, np.float64))


def with_uncertainty(solution: LinearSolution) -> RidgePosterior:
    """Return the solution unchanged; raise ValueError with advice if it has no covariance."""
    if not isinstance(solution, RidgePosterior):
        raise ValueError(f"The model has no predictive standard deviation. {solution.limitation}")
    return solution


def offered(solution: Any, name: str) -> Any:
    """Return the attribute ``name`` of a solution; raise AttributeError if it is ``None``."""
    value = getattr(solution, name)
    if value is None:
        quantity = name.removeprefix("log_").replace("_", " ")
        raise AttributeError(f"The model has no {quantity}. {solution.limitation}")
    return value


class LinearAttributes:
    """Mixin of the fitted attributes of linear models, squeezed if there is one target."""

    posterior_: Any
    _single_target: bool
    _target_origin: Array

    @property
    def coef_(self) -> Array:
        """Weights of the features."""
        check_is_fitted(self, "posterior_")
        coef: Array = self.posterior_.coef
        return coef[:, 0] if self._single_target else coef.T

    @property
    def intercept_(self) -> Any:
        """The intercept; zero unless ``fit_intercept`` is true."""
        check_is_fitted(self, "posterior_")
        return self._squeezed((self.posterior_.intercept + self._target_origin)[None])[0]

    @property
    def alpha_(self) -> float:
        """The regularisation, either given or chosen by the fit."""
        return float(self.posterior_.alpha)

    @property
    def log_evidence_(self) -> float:
        """Log marginal likelihood of the training targets, if the solver computes it."""
        return float(offered(self.posterior_, "log_evidence"))

    @property
    def condition_number_(self) -> float:
        """Condition number of the linear system for the weights.

        Times 2e-16, it is the relative error of the weights. It is computed at each access.
        """
        return float(offered(self.posterior_, "condition_number"))

    def _squeezed(self, values: Any) -> Any:
        return values[..., 0] if self._single_target else values

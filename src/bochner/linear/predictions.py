"""Predictions and fitted attributes of linear models, in the shape of the targets."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import Array, InputRows, row_blocks
from bochner._base.limits import DEVICE_BLOCK_BYTES
from bochner._base.namespaces import like, namespace, on_device, widened
from bochner._base.promises import NotPromisedError
from bochner.features.residual import FeatureMap
from bochner.linear.iterative import IterativeSolution
from bochner.linear.krein import KreinSolution
from bochner.linear.pairs import PairSolution
from bochner.linear.ridge_posterior import FunctionLaw, RidgePosterior

LinearSolution = RidgePosterior | KreinSolution | IterativeSolution
"""Types of solutions in model files of linear models."""

_SPREAD = ("centre", "noise_root", "prior_root", "noise_variance", "prior_variance")
"""Arrays of a law that standard deviations and covariances need."""


def predictions(
    features: FeatureMap, solution: LinearSolution, X: InputRows, *, with_std: bool
) -> tuple[Any, Any]:
    """Return means and, with ``with_std``, standard deviations, both of shape (n, t).

    For standard deviations the features are those of the solution's law.

    Features and predictions of rows (n, d) on a device are computed there, block by block, in
    float64, or in float32 if the device has no float64. The weights are copied to the device once,
    and for standard deviations also a matrix of shape (p, p). Raises ValueError if the solution
    has no standard deviations.
    """
    law = with_uncertainty(solution).law if with_std else solution
    if on_device(X):
        return _on_device(features, law, X)
    mean = np.empty((X.shape[0], law.coef.shape[1]))
    std = np.empty_like(mean) if with_std else None
    for rows in row_blocks(len(mean), 8 * features.n_features):
        Z = features.features(X[rows])
        mean[rows] = law.mean(Z)
        if std is not None and isinstance(law, FunctionLaw):
            std[rows] = law.std(Z)
    return mean, std


def covariances(features: FeatureMap, solution: LinearSolution, X: InputRows) -> Any:
    """Return predictive covariances (n, n, t) of rows (n, d), on the device of the rows.

    Raises ValueError if the solution has no covariances.
    """
    law = with_uncertainty(solution).law
    if not on_device(X):
        return law.cov(features.features(X, np.float64))
    wide = widened(X[:0, :])
    Z = features.to_device_of(X).features(X, wide.dtype)
    return _moved(law, wide, _SPREAD).cov(Z)


def with_uncertainty(solution: LinearSolution) -> RidgePosterior:
    """Return the solution if it has a covariance; otherwise raise ValueError with advice."""
    if not isinstance(solution, RidgePosterior):
        raise NotPromisedError(
            f"The model has no predictive standard deviation. {solution.limitation}"
        )
    return solution


def _moved(solution: LinearSolution | FunctionLaw, wide: object, names: Iterable[str]) -> Any:
    """Return the solution with some fields as arrays of the type and on the device of ``wide``."""
    # The new fields are arrays of the device, which contradicts the declared types of the fields.
    fields: dict[str, Any] = {name: like(getattr(solution, name), wide) for name in names}
    return replace(solution, **fields)


def _on_device(
    feature_map: FeatureMap, solution: LinearSolution | FunctionLaw, X: InputRows
) -> tuple[Any, Any]:
    wide = widened(X[:0, :])
    with_std = isinstance(solution, FunctionLaw)
    moved = _moved(solution, wide, ("coef", "intercept", *(_SPREAD if with_std else ())))
    features = feature_map.to_device_of(X)
    means, stds = [], []
    row_bytes = 8 * feature_map.n_features
    for rows in row_blocks(X.shape[0], row_bytes, block_bytes=DEVICE_BLOCK_BYTES):
        Z = features.features(X[rows, :], wide.dtype)
        means.append(moved.mean(Z))
        if with_std:
            stds.append(moved.std(Z))
    concat = namespace(X).concat
    return concat(means, axis=0), concat(stds, axis=0) if with_std else None


def offered(solution: LinearSolution | PairSolution, name: str) -> Any:
    """Return a quantity of a solution; raise AttributeError if the solution does not offer it."""
    value = getattr(solution, name)
    if value is None:
        quantity = name.removeprefix("log_").replace("_", " ")
        raise AttributeError(f"The model has no {quantity}. {solution.limitation}")
    return value


class SolutionAttributes:
    """Learned attributes of every linear model."""

    posterior_: Any

    @property
    def alpha_(self) -> float:
        """The regularisation in use."""
        return float(self.posterior_.alpha)

    @property
    def log_evidence_(self) -> float:
        """Log marginal likelihood of the training targets; not for every solution."""
        return float(offered(self.posterior_, "log_evidence"))

    @property
    def condition_number_(self) -> float:
        """Condition number of the system for the weights, whose relative error is it times 2e-16.

        Computed at each access from the singular values of a matrix of shape (p, p) for ``p``
        features.
        """
        return float(offered(self.posterior_, "condition_number"))


class RegressionAttributes(SolutionAttributes):
    """Learned attributes of regressions with one target or several."""

    _single_target: bool
    _target_origin: Array

    @property
    def coef_(self) -> Array:
        """Weights of the features, or of pairs of features."""
        check_is_fitted(self, "posterior_")
        coef: Array = self.posterior_.coef
        if isinstance(self.posterior_, PairSolution):
            return coef
        return coef[:, 0] if self._single_target else coef.T

    @property
    def intercept_(self) -> Any:
        """The constant, zero unless ``fit_intercept``."""
        return self._squeezed((self.posterior_.intercept + self._target_origin)[None])[0]

    @property
    def noise_variance_(self) -> Any:
        """Maximum-likelihood noise variance; not for solutions without a likelihood."""
        return self._squeezed(offered(self.posterior_, "noise_variance")[None])[0]

    def _squeezed(self, values: Any) -> Any:
        return values[..., 0] if self._single_target else values

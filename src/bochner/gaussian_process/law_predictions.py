"""Quantiles, intervals and log densities of models with a likelihood of the targets."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import r2_score
from sklearn.utils.validation import _num_samples

from bochner._base.arrays import Array, MatrixLike, as_array, as_level, as_levels
from bochner.gaussian_process.likelihood import NumberLikelihood, checked_targets
from bochner.gaussian_process.likelihood_mixtures import LikelihoodMixture


class LawPredictions(ABC):
    """Methods of models that return predictive distributions of new targets."""

    @abstractmethod
    def _target_law(self) -> NumberLikelihood:
        """Return the fitted likelihood; raise ``NotFittedError`` before a fit."""

    @abstractmethod
    def _predictive(
        self, X: object, exposure: ArrayLike | None, shape: tuple[int, ...] | None = None
    ) -> Iterator[tuple[slice, LikelihoodMixture]]:
        """Yield slices of rows with their predictive distributions.

        Raises ``ValueError`` if the ``shape`` of targets does not match the rows.
        """

    def predict_interval(
        self, X: MatrixLike, level: float = 0.9, exposure: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Return lower and upper ends (n,) of central intervals of new targets.

        Parameters
        ----------
        X : array-like of shape (n, d)
        level : float, default=0.9
            Probability of the interval, between 0 and 1. Intervals of counts have at least this
            probability.
        exposure : array-like of shape (n,), default=None
            As in :meth:`predict`.
        """
        chosen = as_level(level)
        ends = self.predict_quantiles(X, (0.5 - 0.5 * chosen, 0.5 + 0.5 * chosen), exposure)
        return ends[:, 0], ends[:, 1]

    def predict_quantiles(
        self, X: MatrixLike, levels: object = (0.1, 0.5, 0.9), exposure: ArrayLike | None = None
    ) -> Array:
        """Return quantiles (n, q) of new targets at levels (q,) between 0 and 1.

        The quantiles are those of the likelihood averaged over the posterior of the latent value.
        Quantiles of counts are whole numbers.
        """
        chosen = as_levels(levels).tolist()
        return np.concatenate(
            [
                np.column_stack([part.quantiles(level) for level in chosen])
                for _, part in self._predictive(X, exposure)
            ]
        )

    def log_predictive_density(
        self, X: MatrixLike, y: ArrayLike, exposure: ArrayLike | None = None
    ) -> Array:
        """Return log predictive densities (n,) of targets ``y`` (n,), log probabilities of counts.

        The mean over held-out rows scores the predictive distribution; larger is better.
        """
        law, targets = self._target_law(), as_array(y)
        parts = self._predictive(X, exposure, targets.shape)
        targets = checked_targets(law, targets)
        return np.concatenate([part.log_density(targets[rows]) for rows, part in parts])

    def score(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Any:
        """Return the coefficient of determination of the predicted means."""
        predicted = self.predict(X, exposure=exposure)  # type: ignore[attr-defined]
        return float(r2_score(y, predicted, sample_weight=sample_weight))


def check_shape(shape: tuple[int, ...] | None, X: object) -> None:
    """Raise ``ValueError`` if the ``shape`` of targets does not match rows ``X``."""
    n = _num_samples(X)
    if shape not in (None, (n,)):
        raise ValueError(f"y must have shape ({n},), got {shape}.")

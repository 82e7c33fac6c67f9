"""Weighted sums of laws that predict numbers with intervals, and class probabilities."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._numerics.arrays import Array, as_array
from bochner.learning.ensemble.learner import Judged, Laws
from bochner.learning.ensemble.weights import member_weights
from bochner.learning.softmax_weights import SoftmaxWeights, fit_softmax
from bochner.registry import register

_TINY = 1e-12
"""Least standard deviation, relative to that of the target: exact predictions have scores, too."""

Pair = tuple[Array, Array]
"""Means and standard deviations, each of shape (n, *t)."""


@register
@dataclass(frozen=True, slots=True, eq=False)
class SumOfLaws:
    r"""A weighted sum of laws, and the left-out scores that calibrate its intervals.

    With weights :math:`w_k`, mean and variance are those of the mixture, :math:`m = \sum_k w_k m_k`
    and :math:`s^2 = \sum_k w_k (s_k^2 + (m_k - m)^2)`. The scores are
    :math:`r_i = (y_i - m_{-i}(x_i)) / s_{-i}(x_i)` of rows left out. Standard deviations are
    multiplied by the scores' root mean square. The interval of level ``l`` is
    :math:`m(x) \pm q s(x)`, ``q`` the :math:`\lceil (n + 1) l \rceil`-th smallest :math:`|r_i|`, as
    in jackknife+ (Barber, Candès, Ramdas and Tibshirani, 2021). For exchangeable rows that has a
    coverage of at least :math:`2 l - 1`, and of about ``l`` if leaving out a row changes
    predictions little. The few numbers that are chosen on all rows (weights, pulls) are not covered
    by the guarantee.

    Several targets have weights and scores of their own. Shapes end with ``*t``: nothing for a
    single target, else the number of targets.
    """

    laws: Laws
    weights: Array  # (K, *t)
    scores: Array  # (s, *t)
    scale: Array | float  # (*t): Root mean square of the scores
    left_out_rmse: Array | float  # (*t): Root mean square of left-out residuals

    def __post_init__(self) -> None:
        of_target = self.scores.shape[1:], np.shape(self.scale), np.shape(self.left_out_rmse)
        if any(shape != self.weights.shape[1:] for shape in of_target):
            raise ValueError(
                f"SumOfLaws has weights of shape {self.weights.shape}, but scores, scale and "
                f"left_out_rmse for targets of shape {of_target}"
            )
        if not len(self.scores):
            raise ValueError("SumOfLaws has no scores")

    @classmethod
    def of(cls, judged: Judged, y: Array, sample_weight: Array) -> "SumOfLaws":
        """Return the sum for targets (n, *t) of all rows, whose weights (n,) have mean one."""
        target, row_weights = y[judged.scored], sample_weight[judged.scored]
        residuals = judged.means - target.reshape(len(target), 1, -1)
        residuals *= np.sqrt(row_weights)[:, None, None]
        found = [member_weights(residuals[:, :, own]) for own in range(residuals.shape[2])]
        weights = np.stack(found, axis=1).reshape(-1, *target.shape[1:])
        mean, std = mixture(judged.means, judged.variances, weights)
        scores = (target - mean) / np.maximum(std, _TINY)
        scale, error = (
            np.sqrt(np.average(part**2, axis=0, weights=row_weights))
            for part in (scores, target - mean)
        )
        return cls(judged.laws, weights, scores, np.maximum(scale, _TINY), error)

    def predict(self, X: Array, return_std: bool = False, return_cov: bool = False) -> Array | Pair:
        """Return means (n, *t) of encoded rows (n, d), and what is asked for.

        Standard deviations are (n, *t) and covariances (n, n, *t).
        """
        if return_cov:
            return self._joint_moments(X)
        if not return_std:
            laws, weights = self.laws.used(self.weights)
            return _averaged(laws.means(X), weights)
        mean, std = self._moments(X)
        return mean, self.scale * std

    def interval(self, X: Array, level: float) -> Pair:
        """Return lower and upper ends (n, *t) of prediction intervals of encoded rows (n, d)."""
        mean, std = self._moments(X)
        half = self.score(level) * std
        return mean - half, mean + half

    def score(self, level: float) -> Array:
        """Return the conformal quantile (*t) of absolute scores: the greatest of too few."""
        return _ranked(np.abs(self.scores), level)

    def quantiles(self, X: Array, levels: Array) -> Array:
        """Return quantiles (n, *t, q) of new targets at encoded rows (n, d)."""
        mean, std = self._moments(X)
        ends = np.stack([_ranked(self.scores, level) for level in levels], axis=-1)
        found: Array = mean[..., None] + std[..., None] * ends
        return found

    def sample(self, X: Array, n_samples: int, rng: Generator) -> Array:
        """Return draws (n, *t, n_samples) of new targets at encoded rows.

        All targets of a draw have the scores of one row, which keeps what their errors share.
        """
        mean, std = self._moments(X)
        drawn = np.moveaxis(rng.choice(self.scores, (len(X), n_samples)), 1, -1)
        found: Array = mean[..., None] + std[..., None] * drawn
        return found

    def _joint_moments(self, X: Array) -> Pair:
        """Return means (n, *t), and scaled covariances (n, n, *t) of the mixture of laws."""
        laws, weights = self.laws.used(self.weights)
        means = laws.means(X)
        mean = _averaged(means, weights)
        deviation = means - mean.reshape(len(mean), 1, -1)
        shares = weights.reshape(len(weights), -1)
        cov = np.einsum("ikt,jkt,kt->ijt", deviation, deviation, shares)
        for law, share in zip(laws.members, shares, strict=True):
            cov += share * law.covariance(X, laws.rows)
        return mean, self.scale**2 * cov.reshape(len(X), *mean.shape)

    def _moments(self, X: Array) -> Pair:
        laws, weights = self.laws.used(self.weights)
        return mixture(laws.means(X), laws.variances(X), weights)


def _ranked(scores: Array, level: float) -> Array:
    rank = int(np.ceil((len(scores) + 1) * level))
    return as_array(np.sort(scores, axis=0)[min(max(rank, 1), len(scores)) - 1])


def mixture(means: Array, variances: Array, weights: Array) -> Pair:
    """Return mean and standard deviation (n, *t) of mixtures of laws.

    Means and variances are (n, K, t) and weights (K, *t).
    """
    mean = _averaged(means, weights)
    spread = (means - mean.reshape(len(means), 1, -1)) ** 2
    return mean, np.sqrt(_averaged(variances + spread, weights))


def _averaged(values: Array, weights: Array) -> Array:
    """Return sums (n, *t) of values (n, K, t) times weights (K, *t)."""
    averaged: Array = np.sum(values.reshape(-1, *weights.shape) * weights, axis=1)
    return averaged


@register
@dataclass(frozen=True, slots=True, eq=False)
class SoftmaxOfLaws:
    r"""Class probabilities by a softmax of the laws' values, fitted to rows left out.

    Each law regresses the indicators of the classes by least squares.
    """

    laws: Laws
    softmax: SoftmaxWeights
    classes_: NDArray[Any]
    left_out_log_loss: float  # Mean negative log probability of left-out rows

    @classmethod
    def of(
        cls, judged: Judged, classes: NDArray[Any], labels: NDArray[np.intp], weight: Array
    ) -> "SoftmaxOfLaws":
        """Return the probabilities of classes for numbers of classes (n,) of all rows."""
        scores = _both(judged.means)
        own, row_weights = labels[judged.scored], weight[judged.scored]
        softmax = fit_softmax(scores, own, row_weights)
        found = softmax.probabilities(scores)[np.arange(len(own)), own]
        loss = -float(np.average(np.log(found), weights=row_weights))
        return cls(judged.laws, softmax, classes, loss)

    def predict_proba(self, X: Array) -> Array:
        """Return class probabilities (n, C) of encoded rows (n, d), never zero or one."""
        laws, weights = self.laws.used(self.softmax.weights)
        return replace(self.softmax, weights=weights).probabilities(_both(laws.means(X)))

    def predict(self, X: Array) -> NDArray[Any]:
        """Return the most probable classes (n,) of encoded rows (n, d)."""
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X), axis=1)])


def _both(values: Array) -> Array:
    """Return values (n, K, C), of which two classes have one column."""
    return np.concatenate([-values, values], axis=2) if values.shape[2] == 1 else values

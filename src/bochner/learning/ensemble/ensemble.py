"""Weighted sums of laws that predict numbers with intervals, and class probabilities."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.learning.ensemble.learner import Judged, Laws
from bochner.learning.ensemble.weights import member_weights
from bochner.learning.softmax_weights import SoftmaxWeights, fit_softmax
from bochner.registry import register

_TINY = 1e-12
"""Least standard deviation, relative to that of the target: exact predictions have scores, too."""

Pair = tuple[Array, Array]
"""Means and standard deviations, each of shape (n,)."""


@register(shapes={"weights": "k", "scores": "s"})
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
    """

    laws: Laws
    weights: Array  # (K,)
    scores: Array  # (s,): Sorted
    scale: float  # Root mean square of the scores
    left_out_rmse: float  # Root mean square of left-out residuals

    @classmethod
    def of(cls, judged: Judged, y: Array, sample_weight: Array) -> "SumOfLaws":
        """Return the sum for targets (n,) of all rows, whose weights (n,) have mean one."""
        target, row_weights = y[judged.scored], sample_weight[judged.scored]
        means = judged.means[:, :, 0]
        root = np.sqrt(row_weights)[:, None]
        weights = member_weights(root * (means - target[:, None]))
        mean, std = mixture(means, np.sqrt(judged.variances), weights)
        scores = (target - mean) / np.maximum(std, _TINY)
        scale, error = (
            float(np.sqrt(np.average(part**2, weights=row_weights)))
            for part in (scores, target - mean)
        )
        return cls(judged.laws, weights, np.sort(scores), max(scale, _TINY), error)

    def predict(self, X: Array, return_std: bool = False) -> Array | Pair:
        """Return means (n,) of encoded rows (n, d), and standard deviations if asked for."""
        if not return_std:
            averaged: Array = self.laws.means(X)[:, :, 0] @ self.weights
            return averaged
        mean, std = self._moments(X)
        return mean, self.scale * std

    def interval(self, X: Array, level: float) -> Pair:
        """Return lower and upper ends of prediction intervals of encoded rows (n, d)."""
        mean, std = self._moments(X)
        half = self.score(level) * std
        return mean - half, mean + half

    def score(self, level: float) -> float:
        """Return the conformal quantile of absolute scores: the greatest, if there are too few."""
        return _ranked(np.sort(np.abs(self.scores)), level)

    def quantiles(self, X: Array, levels: Array) -> Array:
        """Return quantiles (n, q) of new targets at encoded rows (n, d)."""
        mean, std = self._moments(X)
        ends = np.array([_ranked(self.scores, level) for level in levels])
        found: Array = mean[:, None] + std[:, None] * ends
        return found

    def sample(self, X: Array, n_samples: int, rng: Generator) -> Array:
        """Return draws (n, n_samples) of new targets at encoded rows, by draws of the scores."""
        mean, std = self._moments(X)
        drawn = rng.choice(self.scores, (len(X), n_samples))
        found: Array = mean[:, None] + std[:, None] * drawn
        return found

    def _moments(self, X: Array) -> Pair:
        return mixture(self.laws.means(X)[:, :, 0], np.sqrt(self.laws.variances(X)), self.weights)


def _ranked(scores: Array, level: float) -> float:
    rank = int(np.ceil((len(scores) + 1) * level))
    return float(scores[min(max(rank, 1), len(scores)) - 1])


def mixture(means: Array, stds: Array, weights: Array) -> Pair:
    """Return mean and standard deviation (n,) of mixtures of laws with these moments (n, K)."""
    mean = means @ weights
    variance = (stds**2 + (means - mean[:, None]) ** 2) @ weights
    return mean, np.sqrt(variance)


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
        return self.softmax.probabilities(_both(self.laws.means(X)))

    def predict(self, X: Array) -> NDArray[Any]:
        """Return the most probable classes (n,) of encoded rows (n, d)."""
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X), axis=1)])


def _both(values: Array) -> Array:
    """Return values (n, K, C), of which two classes have one column."""
    return np.concatenate([-values, values], axis=2) if values.shape[2] == 1 else values

"""Predictive distributions: mixtures of likelihoods, quantiles, and methods of models."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp, ndtri
from sklearn.metrics import r2_score
from sklearn.utils.validation import _num_samples

from bochner._base.arrays import Array, ArrayLike, MatrixLike, as_array, as_level, as_levels
from bochner.gaussian_process.likelihood import NumberLikelihood, checked_targets

_DOUBLINGS = 60  # Largest number of doublings of a bracket: a factor of 1e18 includes all targets
_STEPS = 200  # Largest number of steps inside a bracket
_LARGEST = 2.0**52
"""Count at which the search for an upper end stops: twice this count, float64 ends at even ones."""

_SETTLED = 1e-10  # Tolerance of the normal score of a probability: probabilities are exact to 4e-11
_HIGHEST = 40.0
"""Normal score instead of infinity, beyond the scores of all float64 probabilities."""

Distribution = Callable[[Array], Array]
"""Probabilities (n,) that new targets are at most ``y`` (n,)."""


def quantiles(distribution: Distribution, level: float, centre: Array, width: Array) -> Array:
    """Return quantiles (n,) of new targets, searched from the bracket ``centre`` ± ``width``."""

    def score(y: Array) -> Array:
        return np.clip(ndtri(distribution(y)), -_HIGHEST, _HIGHEST) - ndtri(level)

    low, high, far = centre - width, centre + width, width
    below, above = score(low), score(high)
    for _ in range(_DOUBLINGS):
        if not ((below > 0.0).any() or (above < 0.0).any()):
            break
        far = 2.0 * far
        low = np.where(below > 0.0, centre - far, low)
        high = np.where(above < 0.0, centre + far, high)
        below, above = score(low), score(high)
    return _root(score, low, high, below, above)


def _root(score: Distribution, low: Array, high: Array, below: Array, above: Array) -> Array:
    """Return the root (n,) of an increasing function in a bracket with values at both ends."""
    for step in range(_STEPS):
        middle = 0.5 * (low + high)
        if step % 3 < 2:  # Every third step bisects, which bounds the number of steps
            rise = above - below
            chord = low - below * (high - low) / np.where(rise > 0.0, rise, 1.0)
            middle = np.where((chord > low) & (chord < high), chord, middle)
        value = score(middle)
        is_settled = np.abs(value) <= _SETTLED
        reached = value >= 0.0
        above = np.where(reached, value, 0.5 * above)
        below = np.where(reached, 0.5 * below, value)
        low = np.where(is_settled | ~reached, middle, low)
        high = np.where(is_settled | reached, middle, high)
        if (high - low <= np.spacing(np.abs(high))).all():
            break
    return high


def whole_quantiles(distribution: Distribution, level: float, log_mean: Array) -> Array:
    """Return quantiles (n,) of new counts, searched from log means (n,)."""
    low = np.full(len(log_mean), -1.0)
    high = np.exp(np.clip(np.ceil(log_mean), 0.0, np.log(_LARGEST))).round()
    while True:
        is_below = (distribution(high) < level) & (high < _LARGEST)
        if not is_below.any():
            break
        low, high = np.where(is_below, high, low), np.where(is_below, 2.0 * high + 1.0, high)
    while (high - low > 1.0).any():
        middle = np.floor(0.5 * (low + high))
        reached = distribution(middle) >= level
        open_ = high - low > 1.0
        low = np.where(open_ & ~reached, middle, low)
        high = np.where(open_ & reached, middle, high)
    return as_array(high)


_MOST_LAWS = 64
"""Largest number of likelihoods for quantiles, whose cost is proportional to it. Successive draws
of a chain are correlated: quantiles from 32 of 80 draws are within 0.07 standard deviations of the
noise of those from all draws."""

_MOST_COUNTS = 32
"""Largest number of likelihoods for quantiles of counts, which take 101 terms per row, likelihood
and evaluation. The quantiles of 80 draws differ by at most one count."""


@dataclass(frozen=True, slots=True, eq=False)
class LikelihoodMixture:
    """A mixture of ``S`` likelihoods; deviations from the mean are multiplied by ``factor``."""

    laws: tuple[NumberLikelihood, ...]
    mean: Array  # (S, n): Means of the latent values
    variance: Array  # (S, n)
    factor: float = 1.0

    def moments(self) -> tuple[Array, Array]:
        """Return mean and variance (n,) of new targets."""
        parts = [law.moments(*latent) for law, *latent in self._each()]
        means, variances = (np.array(part) for part in zip(*parts, strict=True))
        variance = variances.mean(axis=0) + means.var(axis=0)
        return means.mean(axis=0), as_array(self.factor**2 * variance)

    def distribution(self, y: Array) -> Array:
        """Return the probabilities (n,) that new targets are at most ``y`` (n,)."""
        y = self._unscaled(y)
        total = np.zeros(self.mean.shape[1])
        for law, mean, variance in self._each():
            total += law.distribution(y, mean, variance)
        return total / len(self.laws)

    def log_density(self, y: Array) -> Array:
        """Return log densities (n,) of targets ``y`` (n,), log probabilities of counts."""
        y = self._unscaled(y)
        terms = [law.log_predictive(y, *latent) for law, *latent in self._each()]
        return as_array(logsumexp(terms, axis=0) - np.log(len(self.laws) * self.factor))

    def quantiles(self, level: float) -> Array:
        """Return the quantiles (n,) of new targets: the least ``q`` with ``P(y <= q) >= level``."""
        is_discrete = self.laws[0].is_discrete
        most = _MOST_COUNTS if is_discrete else _MOST_LAWS
        if len(self.laws) > most:
            index = np.linspace(0, len(self.laws) - 1, most).astype(np.intp)  # evenly spaced
            laws = tuple(self.laws[i] for i in index)
            some = replace(self, laws=laws, mean=self.mean[index], variance=self.variance[index])
            return some.quantiles(level)
        centre = self.mean.mean(axis=0)
        if is_discrete:
            return whole_quantiles(self.distribution, level, centre)
        spread = np.sqrt(self.variance.mean(axis=0) + self.mean.var(axis=0))
        unit = float(np.mean([law.unit for law in self.laws]))
        return quantiles(self.distribution, level, centre, self.factor * (spread + unit))

    def _unscaled(self, y: Array) -> Array:
        """Return targets (n,) with deviations from the mean latent values divided by ``factor``."""
        return as_array(y + (1.0 / self.factor - 1.0) * (y - self.mean.mean(axis=0)))

    def _each(self) -> list[tuple[NumberLikelihood, Array, Array]]:
        return list(zip(self.laws, self.mean, self.variance, strict=True))


class LawPredictions(ABC):
    """Methods of models that return predictive distributions of new targets."""

    @abstractmethod
    def _target_law(self) -> NumberLikelihood:
        """Return the fitted likelihood; raise ``NotFittedError`` before a fit."""

    @abstractmethod
    def _predictive(
        self, X: object, exposure: ArrayLike | None, shape: tuple[int, ...] | None = None
    ) -> Iterator[tuple[slice, LikelihoodMixture]]:
        """Yield slices of rows with their predictive distributions."""

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

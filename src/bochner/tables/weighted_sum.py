"""Weighted sums of base models (laws) that predict intervals of numbers or class probabilities."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from bochner._base.arrays import Array, Index, as_array
from bochner._base.registry import register
from bochner.features.chunks import Units
from bochner.linear.softmax_weights import SoftmaxWeights, fit_softmax, left_out_probabilities
from bochner.tables.base_laws import Laws, ScoredLaws
from bochner.tables.estimator_laws import variance_parts
from bochner.tables.later_stretches import (
    AveragedSoftmax,
    effective_number,
    fit_over_stretches,
    widened,
)
from bochner.tables.observations import fold_numbers
from bochner.tables.predictive import Pair, ScoreLaw
from bochner.tables.widths import Moments, Widths, fitted_widths

_SHRINKAGE = 0.3
"""Largest penalty of unequal weights, relative to the median member's mean square error: a member
with an error 10 per cent below three other members gets a quarter more than an equal weight."""

_OBSERVATIONS = 10.0
"""Penalty times the effective number of rows: above 33 rows the penalty decreases. With a third of
it, errors of 500 rows with heavy tails are two per cent greater."""

_CONSTRAINT = 1e4
"""Weight of the equation that the weights sum to one; the sum then has an error of 1e-8."""


def member_weights(residuals: Array, share_of_rows: float = 1.0) -> Array:
    r"""Return non-negative weights (K,) that sum to one, given left-out residuals (n, K).

    They minimise :math:`w^\top G w + \tau \|w - 1/K\|^2`, where ``G`` (K, K) are the mean products
    of residuals; :math:`\tau` falls with the effective number of rows times ``share_of_rows``.
    """
    n_members = residuals.shape[1]
    products = residuals.T @ residuals / max(len(residuals), 1)
    level = float(np.median(np.diagonal(products)))
    if not level > 0.0:  # Without errors or rows, no member is better than another.
        return np.full(n_members, 1.0 / n_members)
    # Medians over members, so that one bad member does not decide.
    squares = np.median(residuals**2, axis=1)
    share = _SHRINKAGE
    if squares.any():
        n_effective = share_of_rows * float(squares.sum()) ** 2 / float(squares @ squares)
        share = min(share, _OBSERVATIONS / n_effective)
    # On the simplex the linear term of the penalty is a constant.
    quadratic = products / level + share * np.eye(n_members)
    root = np.linalg.cholesky(quadratic).T
    system = np.vstack([root, np.full((1, n_members), _CONSTRAINT)])
    weights, _ = nnls(system, np.append(np.zeros(n_members), _CONSTRAINT))
    normed: Array = weights / weights.sum()
    return normed


_WEIGHT_FOLDS = 10
"""Folds for the weights of held-out scores: nine tenths determine them almost as well as all."""

_LEAST_FUNCTION = 1e-3
"""Smallest factor of a function's variance over that of the noise: draws keep some spread."""

_WEIGHTS_ERROR = 1e-6
"""Largest deviation of a sum of weights from one: more than rounding errors."""

_TINY = 1e-12
"""Smallest standard deviation over that of the target: scores of exact predictions are finite."""


@register
@dataclass(frozen=True, slots=True, eq=False)
class SumOfLaws:
    r"""A weighted sum of base models (laws), and the left-out scores that calibrate its intervals.

    With weights :math:`w_k`, mean and variance are :math:`m = \sum_k w_k m_k` and
    :math:`s^2 = \sum_k w_k (s_k^2 + (m_k - m)^2)`, times the square of a factor :math:`g(x)`. A new
    target is :math:`m(x) + s(x) z`, where ``z`` has the law of the scores of left-out observations.
    """

    laws: Laws
    weights: Array  # (K, *t)
    scores: Array  # (s, *t)
    left_out_rmse: Array | float  # (*t): Root mean square of residuals of new targets
    widths: tuple[Widths, ...]  # Factor of standard deviations, by target

    def __post_init__(self) -> None:
        of_target = self.scores.shape[1:], np.shape(self.left_out_rmse)
        if any(shape != self.weights.shape[1:] for shape in of_target):
            raise ValueError(
                f"SumOfLaws has weights of shape {self.weights.shape}, but scores and "
                f"left_out_rmse for targets of shape {of_target}"
            )
        if not len(self.scores):
            raise ValueError("SumOfLaws has no scores")
        if (self.weights < 0.0).any():
            raise ValueError("SumOfLaws has a weight below zero")
        if (np.abs(self.weights.sum(axis=0) - 1.0) > _WEIGHTS_ERROR).any():
            raise ValueError("the weights of SumOfLaws do not sum to one")

    @classmethod
    def with_left_out(
        cls, models: ScoredLaws, y: Array, sample_weight: Array
    ) -> tuple["SumOfLaws", Pair]:
        """Return the sum for targets (n, *t), and left-out means and deviations (s, *t)."""
        target, root = y[models.scored], np.sqrt(sample_weight[models.scored])
        residuals = models.means - target.reshape(len(target), 1, -1)
        residuals *= root[:, None, None]
        shape, share = target.shape[1:], 1.0
        stretches, times = models.groups, models.times
        if stretches is not None and times is not None:
            share = effective_number(residuals.mean(axis=1), stretches, times) / len(residuals)
        all_weights = _weights(residuals, shape, share)
        # Equal weights do not distinguish the noise from the variance of the function.
        if np.ptp(root):
            models = _with_parts(models, target, all_weights)
        # new_std is the deviation of a target of weight one.
        mean, std, new_std, spread = (np.empty(target.shape) for _ in range(4))
        folds = fold_numbers(models.groups, len(target), _WEIGHT_FOLDS)
        # Scores of weights that were fitted to the same observations would be too small.
        for fold in np.unique(folds):
            rows, outside = np.flatnonzero(folds == fold), folds != fold
            weights = _weights(residuals[outside] if outside.any() else residuals[:0], shape, share)
            means = models.means[rows]
            mean[rows], std[rows], spread[rows] = mixture(means, models.variances[rows], weights)
            new = models.function[rows] + models.new_noise[rows]
            _, new_std[rows], _ = mixture(means, new, weights)
        std, new_std = np.maximum(std, _TINY), np.maximum(new_std, _TINY)
        widths, factors = _widths(models, Moments(mean, new_std**2, spread), (target - mean) / std)
        std, new_std = np.maximum(factors * std, _TINY), np.maximum(factors * new_std, _TINY)
        scores = (target - mean) / std
        error = np.sqrt(np.mean((scores * new_std) ** 2, axis=0))
        if stretches is not None and times is not None:
            scores = widened(scores, stretches, times)
        return cls(*models.laws.used(all_weights), scores, error, widths), (mean, std)

    @property
    def law(self) -> ScoreLaw:
        """The distribution of the standardised errors of new targets."""
        return ScoreLaw.of(self.scores)

    def components(self, X: Array, sample_weight: Array | None = None) -> Pair:
        """Return means, and factors of standardised errors, (n, *t) at encoded rows (n, d)."""
        means, variances = self.laws.means(X), self.laws.variances(X, sample_weight)
        mean, std, _ = mixture(means, variances, self.weights)
        return mean, self._factors(X, means, variances, sample_weight) * std

    def growth(self, X: Array, shifted: Array) -> Array:
        """Return increases of variances (n, *t) from ``X`` to ``shifted``, by factors of ``X``."""
        means, before = self.laws.means(X), self.laws.variances(X)
        growth = np.maximum(self.laws.variances(shifted) - before, 0.0)
        return _averaged(growth, self.weights) * self._factors(X, means, before, None) ** 2

    def predict(
        self,
        X: Array,
        return_std: bool = False,
        return_cov: bool = False,
        sample_weight: Array | None = None,
        *,
        are_similar: bool = False,
    ) -> Array | Pair:
        """Return means (n, *t), and the spread (n, *t) or (n, n, *t) of new targets with noise."""
        if return_cov:
            return self._joint_moments(X, sample_weight)
        if not return_std:
            return _averaged(self.laws.means(X, are_similar), self.weights)
        mean, std = self.components(X, sample_weight)
        return mean, self.law.std * std

    def _joint_moments(self, X: Array, sample_weight: Array | None) -> Pair:
        """Return means (n, *t) and covariances (n, n, *t) of new targets by the mixture."""
        laws, means = self.laws, self.laws.means(X)
        mean = _averaged(means, self.weights)
        deviation = means - mean.reshape(len(mean), 1, -1)
        shares = self.weights.reshape(len(self.weights), -1)
        # Covariance between the laws; the covariances of the laws are added.
        cov = np.einsum("ikt,jkt,kt->ijt", deviation, deviation, shares)
        variances = np.zeros((len(X), len(laws.members), shares.shape[1]))
        noise_weight = 1.0 if sample_weight is None else sample_weight
        for number, (law, share) in enumerate(zip(laws.members, shares, strict=True)):
            law_cov = law.covariance(X, laws.rows, noise_weight)
            variances[:, number] = np.einsum("iit->it", law_cov)
            cov += share * law_cov
        cov = cov.reshape(len(X), *mean.shape)
        factors = self._factors(X, means, variances, sample_weight)
        return mean, self.law.std**2 * cov * factors * factors[:, None]

    def _factors(
        self, X: Array, means: Array, variances: Array, sample_weight: Array | None
    ) -> Array:
        """Return factors (n, *t) of standard deviations; moments of base models are (n, K, t)."""
        if not any(width.curves for width in self.widths):
            return np.ones((len(X), *self.weights.shape[1:]))
        if sample_weight is not None:
            noise = np.stack([np.ravel(law.noise) for law in self.laws.members])
            of_unit = variances + noise * (1.0 - 1.0 / sample_weight)[:, None, None]
            variances = np.maximum(of_unit, noise)  # Rounding of a tiny weight's noise
        mean, std, spread = mixture(means, variances, self.weights)
        moments = Moments(mean, std**2, spread)
        pairs = zip(self.widths, moments.targets(), strict=True)
        factors = np.stack([width(of_target, X) for width, of_target in pairs], axis=1)
        return factors.reshape(mean.shape)


def _with_parts(models: ScoredLaws, target: Array, weights: Array) -> ScoredLaws:
    """Return base models with variances of function and noise that fit left-out residuals."""
    shares, targets = weights.reshape(len(weights), -1), target.reshape(len(target), -1)
    mean = np.sum(models.means * shares, axis=1)
    spread = (models.means - mean[:, None]) ** 2
    noise = np.sum(models.noise * shares, axis=1)
    function = np.sum((models.function + spread) * shares, axis=1)
    total = np.maximum(function + noise, np.finfo(np.float64).tiny)
    parts = ((targets - mean) ** 2, function, noise)
    of_function, of_noise = variance_parts(*(np.mean(part / total, axis=1) for part in parts))
    of_function = max(of_function, _LEAST_FUNCTION * of_noise, np.finfo(np.float64).tiny)
    members = [law.with_variances(of_function, of_noise) for law in models.laws.members]
    return replace(
        models,
        laws=replace(models.laws, members=members),
        variances=of_function * models.function + of_noise * models.noise,
        noise=of_noise * models.noise,
        new_noise=of_noise * models.new_noise,
    )


def _widths(
    models: ScoredLaws, moments: Moments, scores: Array
) -> tuple[tuple[Widths, ...], Array]:
    """Return the widths of each target from left-out scores (s, *t), with their factors (s, *t)."""
    columns = np.abs(scores).reshape(len(scores), -1).T
    inputs, are_stretches = (models.X, models.columns, models.groups), models.times is not None
    fits = [
        fitted_widths(of_target, column, *inputs, are_stretches=are_stretches)
        for of_target, column in zip(moments.targets(), columns, strict=True)
    ]
    factors = np.stack([factors for _, factors in fits], axis=1)
    return tuple(widths for widths, _ in fits), factors.reshape(scores.shape)


def _weights(residuals: Array, shape: tuple[int, ...], share: float) -> Array:
    """Return the weights (K, *t) of base models from their left-out residuals (n, K, t)."""
    n_targets = residuals.shape[2]
    weights = [member_weights(residuals[:, :, target], share) for target in range(n_targets)]
    return np.stack(weights, axis=1).reshape(-1, *shape)


def mixture(means: Array, variances: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Return means, standard deviations and variances between means (n, *t) of mixtures."""
    mean = _averaged(means, weights)
    spread = _averaged((means - mean.reshape(len(means), 1, -1)) ** 2, weights)
    return mean, np.sqrt(_averaged(variances, weights) + spread), spread


def _averaged(values: Array, weights: Array) -> Array:
    """Return sums (n, *t) of values (n, K, t) times weights (K, *t)."""
    return as_array(np.sum(values.reshape(-1, *weights.shape) * weights, axis=1))


@register
@dataclass(frozen=True, slots=True, eq=False)
class SoftmaxOfLaws:
    """Class probabilities from a softmax of the values of base models, fitted to left-out rows."""

    laws: Laws
    softmax: SoftmaxWeights | AveragedSoftmax
    classes_: NDArray[Any]
    left_out_log_loss: float  # Mean negative log probability of left-out rows

    @classmethod
    def of(
        cls, models: ScoredLaws, classes: NDArray[np.generic], labels: Index, weight: Array
    ) -> "SoftmaxOfLaws":
        """Return the softmax fitted to class numbers (n,) of all rows."""
        scores, labels = _both(models.means), labels[models.scored]
        weights = weight[models.scored]
        softmax: SoftmaxWeights | AveragedSoftmax
        if models.groups is not None and models.times is not None:
            arguments = scores, labels, weights, models.groups, models.times
            softmax, left_out = fit_over_stretches(*arguments)
        else:
            softmax = fit_softmax(scores, labels, weights)
            units = Units(weights, np.ones(len(labels)))
            fitted = scores, labels, units, models.groups
            left_out = left_out_probabilities(*fitted, full_fit=softmax)
        loss = -float(np.average(np.log(left_out), weights=weights))
        laws, used = models.laws.used(softmax.weights)
        return cls(laws, replace(softmax, weights=used), classes, loss)

    def predict_proba(self, X: Array, *, are_similar: bool = False) -> Array:
        """Return class probabilities (n, C) of encoded rows (n, d), never zero or one."""
        return self.softmax.probabilities(_both(self.laws.means(X, are_similar)))

    def predict(self, X: Array) -> NDArray[np.generic]:
        """Return the most probable classes (n,) of encoded rows (n, d)."""
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X), axis=1)])


def _both(values: Array) -> Array:
    """Return values (n, K, C) for all classes; two classes are stored as one column."""
    return np.concatenate([-values, values], axis=2) if values.shape[2] == 1 else values

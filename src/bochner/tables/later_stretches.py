"""Predictions of later stretches of time, from the observations before each (rolling origins)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import norm, qmc, t

from bochner._base.arrays import Array, as_array
from bochner._base.registry import register
from bochner.linear.softmax_weights import SoftmaxWeights, fit_softmax, loss_curvature
from bochner.tables.base_laws import TableLaw
from bochner.tables.kernel_laws import LeaveOneOutPredictions
from bochner.tables.observations import Chosen, Observations

_PARTS = 4
"""Number of parts of a single stretch, each left out in turn when weights are fitted."""

_CALIBRATED = 0.95
"""Level of the quantiles, t over normal, whose ratio widens scores: that of 90 % intervals."""

_FEWEST_FREE = 2.0
"""Fewest degrees of freedom of a scale: with one, intervals of 90 % are six times as wide."""


AtOrigin = Callable[..., tuple[Chosen, Sequence[LeaveOneOutPredictions]] | None]
"""Predicts a stretch, the new group of the observations, its mask (n,), from the observations up to
its end in expected seconds; returns its observations and their predictions by each law."""


def over_stretches(
    fitted: Sequence[tuple[TableLaw, LeaveOneOutPredictions]],
    observations: Observations,
    units: Chosen,
    stretches: Chosen,
    at_origin: AtOrigin,
    seconds: float,
) -> tuple[list[tuple[TableLaw, LeaveOneOutPredictions]], Chosen]:
    """Return laws with predictions of all stretches of time, and the observations (s,)."""
    assert observations.groups is not None
    all_units, all_predictions = [units], [[predictions for _, predictions in fitted]]
    for number in range(int(stretches.max()) - 1, 0, -1):
        began, is_last = perf_counter(), stretches == number
        groups = np.where(is_last, observations.groups.max() + 1, observations.groups)
        used = np.flatnonzero(stretches <= number)
        result = at_origin(replace(observations, groups=groups), used, is_last, seconds)
        if result is None:
            break
        all_units.append(result[0])
        all_predictions.append(list(result[1]))
        seconds = perf_counter() - began
    targets = [observations.Y[each] for each in all_units]
    pooled = [
        _pooled(law, targets, predictions)
        for (law, _), predictions in zip(fitted, zip(*all_predictions, strict=True), strict=True)
    ]
    return pooled, np.concatenate(all_units)


def _pooled(
    law: TableLaw, targets: Sequence[Array], predictions: Sequence[LeaveOneOutPredictions]
) -> tuple[TableLaw, LeaveOneOutPredictions]:
    """Return a law and its predictions (s, t) of all stretches, with one variance fitted to all."""
    means, variances, noise = (np.concatenate(parts) for parts in zip(*predictions, strict=True))
    if len(predictions) > 1 and (noise > 0.0).all():  # NaN for classes
        relative = variances / noise
        pooled = np.mean((np.concatenate(targets) - means) ** 2 / relative, axis=0)
        factor = pooled / predictions[0].unit_noise[0]
        law = replace(law, signal=factor * law.signal)
        variances, noise = pooled * relative, np.broadcast_to(pooled, means.shape)
    return law, LeaveOneOutPredictions(means, variances, noise)


def folds_of_stretches(stretches: Chosen, times: Chosen) -> Chosen:
    """Return folds (s,) for the fit of weights: stretches, or parts of a single stretch."""
    if np.ptp(stretches):
        return stretches
    number = np.unique(times, return_inverse=True)[1]
    if not number.any():
        number = np.arange(len(times))
    return np.asarray(_PARTS * number // (number.max() + 1), dtype=np.int64)


def effective_number(errors: Array, stretches: Chosen, times: Chosen) -> float:
    r"""Return the effective number :math:`s / \tau` of errors (s, c) that are correlated in time.

    Sums of ``b`` successive errors have a mean square of at most :math:`\tau b` times an error's.
    """
    total = float(np.sum(errors**2))
    if not total > 0.0:
        return float(len(errors))
    order = np.lexsort((times, stretches))
    ratio = 1.0
    runs = [errors[order][stretches[order] == number] for number in np.unique(stretches)]
    while max(len(run) for run in runs) > 1:
        ratio = max(ratio, sum(float(np.sum(run.sum(axis=0) ** 2)) for run in runs) / total)
        runs = [part for run in runs for part in np.array_split(run, 2) if len(part)]
    return len(errors) / ratio


def widened(scores: Array, stretches: Chosen, times: Chosen) -> Array:
    """Return scores (s, *t) of stretches of time, enlarged by a factor per target."""
    columns = scores.reshape(len(scores), -1)
    free = [effective_number(each[:, None], stretches, times) for each in columns.T]
    ends = t.ppf(_CALIBRATED, np.maximum(as_array(free) - 1.0, _FEWEST_FREE))
    factors = as_array(ends / norm.ppf(_CALIBRATED))
    return as_array(scores * factors.reshape(scores.shape[1:]))


_DRAWS = 64
"""Draws of scale and constants, a power of two as Sobol points need, for losses to 0.002."""


@register(shapes={"weights": "k", "scales": "j", "biases": "jc"})
@dataclass(frozen=True, slots=True, eq=False)
class AveragedSoftmax:
    r"""Average over ``J`` draws of the softmax of :math:`s_j \sum_k b_k f_k + a_j`."""

    weights: Array  # (K,): b, not negative
    scales: Array  # (J,): s, not negative
    biases: Array  # (J, C): a

    def probabilities(self, scores: Array) -> Array:
        """Return class probabilities (n, C), never zero or one, given scores (n, K, C)."""
        summed = _summed(scores, self.weights)
        total = np.zeros((len(scores), self.biases.shape[1]))
        for scale, bias in zip(self.scales, self.biases, strict=True):
            total += SoftmaxWeights(np.array([scale]), bias).probabilities(summed)
        return as_array(total / len(self.scales))


def fit_averaged(scores: Array, labels: NDArray[np.intp], weight: Array) -> AveragedSoftmax:
    """Fit a softmax to scores (n, K, C), in which row i counts as ``weight[i]`` rows."""
    fitted = fit_softmax(scores, labels, weight)
    optimum = SoftmaxWeights(np.ones(1), fitted.biases)
    hessian, _ = loss_curvature(optimum, _summed(scores, fitted.weights), labels, weight)
    points = qmc.Sobol(len(hessian), rng=np.random.default_rng(0)).random(_DRAWS)
    # Precision is the inverse of the covariance: moves solve with the transposed factor.
    root = np.linalg.cholesky(hessian)
    moves = np.linalg.solve(root.T, ndtri(points).T).T
    scales = np.maximum(1.0 + moves[:, 0], 0.0)
    return AveragedSoftmax(fitted.weights, scales, fitted.biases + moves[:, 1:])


def fit_over_stretches(
    scores: Array, labels: NDArray[np.intp], weight: Array, groups: Chosen, times: Chosen
) -> tuple[AveragedSoftmax, Array]:
    """Fit a softmax to left-out scores (s, K, C); return it, and held-out likelihoods (s,)."""

    def without_each(factor: float) -> Array:
        probabilities = np.empty((len(labels), scores.shape[2]))
        for group in np.unique(groups):
            rows = groups == group
            fitted = fit_averaged(scores, labels, np.where(rows, 0.0, factor * weight))
            probabilities[rows] = fitted.probabilities(scores[rows])
        return probabilities

    errors = (labels[:, None] == np.arange(scores.shape[2])) - without_each(1.0)
    factor = effective_number(np.sqrt(weight)[:, None] * errors, groups, times) / len(labels)
    left_out = without_each(factor)[np.arange(len(labels)), labels]
    return fit_averaged(scores, labels, factor * weight), as_array(left_out)


def _summed(scores: Array, weights: Array) -> Array:
    """Return the weighted sum (n, 1, C) of the scores (n, K, C) of laws."""
    return as_array(np.einsum("nkc,k->nc", scores, weights)[:, None])

r"""Softmax of the values of laws for later stretches of time, whose errors are correlated.

Rows of a stretch share errors, so that few stretches determine constants of the classes and the
scale of the values less than as many uncorrelated rows. Each row counts by the effective number of
the errors, and probabilities are averages over what the scale and the constants may be.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import qmc

from bochner._base.arrays import Array, as_array
from bochner._base.registry import register
from bochner.linear.softmax_weights import SoftmaxWeights, fit_softmax, loss_curvature
from bochner.tables.later_stretches import effective_number
from bochner.tables.observations import Chosen

_DRAWS = 64
"""Number of draws of scale and constants, a power of two as Sobol points need: log losses differ by
less than 0.002 from those of ten times as many draws."""


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
    """Return the softmax of scores (n, K, C) of rows that count as ``weight`` (n,) rows."""
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
    """Return the softmax of left-out scores (s, K, C), and probabilities (s,) of labels."""

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

"""Class probabilities by a softmax of the scores of several models, with one weight per model."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve, solve_triangular
from scipy.special import log_softmax, softmax

from bochner._base import limits
from bochner._base.arrays import Array, Index, as_array, jittered_cholesky, row_blocks
from bochner._base.descent import minimised
from bochner._base.registry import register
from bochner.features.chunks import Chunk, RowSample, Targets, Units
from bochner.features.landmarks import FeatureMap
from bochner.features.row_sums import FeatureSums
from bochner.linear.iterative import IterativeSolution
from bochner.linear.krein import KreinSolution
from bochner.linear.ridge_posterior import RidgePosterior, centred_sums, origin

_PENALTY = 0.1
"""Precision of the prior, with which logits have a standard deviation of three. It keeps logits
finite if classes are separable. Ten times more or less changes the log loss of digits and
breast_cancer by less than 0.01."""

UNIFORM = float(np.sqrt(np.finfo(np.float64).eps))
"""Share of uniform probabilities in the result, 1.5e-8: no probability is rounded to one."""

_INFLUENTIAL = 0.1
"""Change of the logarithm of a probability above which a Newton step is not accurate enough."""

_MOST_REFITS = 50
"""Largest number of exact fits without a row or group, of 10 ms each. With as many parameters as
rows, more rows would need such a fit; Newton steps are accurate enough for means over rows."""

_TOLERANCE = 1e-9
"""Largest gradient at the end of the fit, in nats per row: weights then have about eight digits."""


@register(shapes={"weights": "k", "biases": "c"})
@dataclass(frozen=True, slots=True, eq=False)
class SoftmaxWeights:
    r"""Logits :math:`\sum_k b_k f_k + a`: weights ``b`` of ``K`` models, biases ``a`` by class."""

    weights: Array  # (K,): b, nonnegative
    biases: Array  # (C,): a, of sum zero

    @classmethod
    def plain(cls, n_classes: int) -> "SoftmaxWeights":
        """Return the weights of a single model, equal to one, and zero biases."""
        return cls(np.ones(1), np.zeros(n_classes))

    def probabilities(self, scores: Array) -> Array:
        """Return class probabilities (n, C), never zero or one, given scores (n, K, C)."""
        probabilities: Array = softmax(_logits(scores, self.weights, self.biases), axis=1)
        return (1.0 - UNIFORM) * probabilities + UNIFORM / len(self.biases)


def fit_softmax(
    scores: Array,
    labels: NDArray[np.intp],
    sample_weight: Array | None = None,
    *,
    has_biases: bool = True,
) -> SoftmaxWeights:
    """Return the weights and biases of greatest penalised likelihood.

    ``scores`` (n, K, C) are out-of-fold scores of ``K`` models for ``C`` classes, ``labels`` (n,)
    are class indices, and a row of weight ``w`` counts as ``w`` equal rows. Biases, and weights
    times the standard deviation of scores, have a normal prior of variance ten.
    """
    n, n_laws, n_classes = scores.shape
    weight = np.ones(n) if sample_weight is None else sample_weight
    units = _law_units(scores, weight)
    # Scores are standardised, so that one penalty suits models of any scale.
    scaled = scores / units[:, None]
    indicators = (labels[:, None] == np.arange(n_classes)).astype(np.float64)
    size = max(float(weight.sum()), 1.0)

    def loss(parameters: Array) -> tuple[float, Array]:
        logits = _logits(scaled, parameters[:n_laws], parameters[n_laws:])
        log_p = log_softmax(logits, axis=1)
        excess = weight[:, None] * (np.exp(log_p) - indicators)
        value = 0.5 * _PENALTY * parameters @ parameters - weight @ np.sum(indicators * log_p, 1)
        by_law = np.einsum("nkc,nc->k", scaled, excess)
        slope = _PENALTY * parameters + np.append(by_law, excess.sum(axis=0))
        return float(value) / size, slope / size

    optimum = minimised(
        loss,
        np.append(np.full(n_laws, 1.0 / n_laws), np.zeros(n_classes)),
        n_steps=1000,
        bounds=[(0.0, None)] * n_laws + [(None, None) if has_biases else (0.0, 0.0)] * n_classes,
        decrease=0.0,
        slope=_TOLERANCE,
    ).point
    return SoftmaxWeights(optimum[:n_laws] / units, optimum[n_laws:])


def left_out_probabilities(
    scores: Array,
    labels: NDArray[np.intp],
    units: Units,
    groups: NDArray[np.intp] | None = None,
    *,
    has_biases: bool = True,
) -> Array:
    """Return leave-one-out probabilities (n,) of each row's label under the softmax.

    One observation of the ``units`` is left out at a time or, with ``groups`` (n,), its group.
    With the gradient :math:`g_i` and the Hessian :math:`H_i` of the left-out loss, parameters
    change by one Newton step, :math:`(H - H_i)^{-1} g_i`.
    """
    totals = units.totals
    number = np.arange(len(labels)) if groups is None else groups
    number = np.unique(number, return_inverse=True)[1]
    removed = np.where(totals > 0.0, units.weights, 0.0) if groups is None else totals
    full_fit = fit_softmax(scores, labels, totals, has_biases=has_biases)
    before = _own(full_fit.probabilities(scores), labels)
    result = _after_a_step(full_fit, scores, labels, totals, removed, number, has_biases)
    result = (1.0 - UNIFORM) * result + UNIFORM / scores.shape[2]
    change = np.abs(np.log(result / before))
    # The number of exact refits is limited, so the largest changes come first.
    order = np.argsort(-change, kind="stable")[: np.count_nonzero(change > _INFLUENTIAL)]
    for index in list(dict.fromkeys(number[order]))[:_MOST_REFITS]:
        rows = number == index
        rest = np.where(rows, totals - removed, totals)
        refitted = fit_softmax(scores, labels, rest, has_biases=has_biases)
        result[rows] = _own(refitted.probabilities(scores[rows]), labels[rows])
    return as_array(result)


def _after_a_step(
    full_fit: SoftmaxWeights,
    scores: Array,
    labels: NDArray[np.intp],
    totals: Array,
    removed: Array,
    number: NDArray[np.intp],
    has_biases: bool,
) -> Array:
    """Return approximate leave-group-out probabilities (n,) of rows' labels, by Newton steps."""
    n_laws, n_classes = scores.shape[1:]
    hessian, free = loss_curvature(full_fit, scores, labels, totals, has_biases=has_biases)
    point = np.append(full_fit.weights, full_fit.biases)[free]
    low = np.append(np.zeros(n_laws), np.full(n_classes, -np.inf))[free]
    blocks = list(_blocks(number, _row_bytes(len(point), n_classes)))
    result = np.empty(len(labels))
    for rows, place in blocks:
        design = _design(scores[rows])[..., free]
        terms = _derivatives(design, labels[rows], point)
        slope, curvature = (_added(removed[rows], term, place) for term in terms)
        # All Newton steps start from the Hessian of the full fit.
        moved = point + np.linalg.solve(hessian - curvature, slope[..., None])[place, :, 0]
        logits = np.einsum("ncq,nq->nc", design, np.maximum(moved, low))
        result[rows] = _own(softmax(logits, axis=1), labels[rows])
    return result


def loss_curvature(
    fitted: SoftmaxWeights,
    scores: Array,
    labels: NDArray[np.intp],
    weight: Array,
    *,
    has_biases: bool = True,
) -> tuple[Array, NDArray[np.bool_]]:
    """Return the loss's Hessian (q, q) by free parameters, and which of the K + C are free."""
    n_classes = scores.shape[2]
    free = np.append(fitted.weights > 0.0, np.full(n_classes, has_biases))
    point = np.append(fitted.weights, fitted.biases)[free]
    spread = np.append(_law_units(scores, weight), np.ones(n_classes))[free]
    hessian = np.diag(_PENALTY * spread**2)
    for rows in row_blocks(len(labels), _row_bytes(len(point), n_classes)):
        design = _design(scores[rows])[..., free]
        hessian += np.tensordot(weight[rows], _derivatives(design, labels[rows], point)[1], 1)
    return hessian, free


def _row_bytes(n_parameters: int, n_classes: int) -> int:
    """Return the number of bytes that the derivatives of one row take."""
    return 8 * n_parameters * (2 * n_classes + n_parameters)


def _own(probabilities: Array, labels: NDArray[np.intp]) -> Array:
    """Select the probability (n,) of each row's label from class probabilities (n, C)."""
    return as_array(probabilities[np.arange(len(labels)), labels])


def _blocks(number: NDArray[np.intp], row_bytes: int) -> Iterator[tuple[Index, Index]]:
    """Yield indices of rows in blocks of complete groups, with the group index of each row."""
    order = np.argsort(number, kind="stable")
    ends = np.append(0, np.cumsum(np.bincount(number)))
    for part in row_blocks(len(ends) - 1, row_bytes * len(number) // (len(ends) - 1)):
        rows = order[ends[part.start] : ends[part.stop]]
        yield rows, number[rows] - part.start


def _design(scores: Array) -> Array:
    """Return the derivatives (n, C, K + C) of logits by weights and biases."""
    n, _, n_classes = scores.shape
    ones = np.broadcast_to(np.eye(n_classes), (n, n_classes, n_classes))
    return np.concatenate((scores.swapaxes(1, 2), ones), axis=2)


def _derivatives(design: Array, labels: NDArray[np.intp], point: Array) -> tuple[Array, Array]:
    """Return gradients (n, q) and Hessians (n, q, q) of each row's loss at parameters (q,)."""
    probabilities = softmax(design @ point, axis=1)
    mean = np.einsum("ncq,nc->nq", design, probabilities)
    of_label = design[np.arange(len(labels)), labels]
    curvature = design.swapaxes(1, 2) @ (probabilities[..., None] * design)
    return mean - of_label, curvature - mean[:, :, None] * mean[:, None]


def _added(weights: Array, terms: Array, place: NDArray[np.intp]) -> Array:
    """Return weighted sums (g, ...) of terms (n, ...) over groups; ``place`` (n,) is the group."""
    sums = np.zeros((int(place.max()) + 1, *terms.shape[1:]))
    np.add.at(sums, place, weights.reshape(-1, *[1] * (terms.ndim - 1)) * terms)
    return sums


def _law_units(scores: Array, weight: Array) -> Array:
    """Return each model's standard deviation (K,) of scores across classes, one instead of zero."""
    total = max(float(weight.sum()), np.finfo(np.float64).tiny)
    units: Array = np.sqrt(weight @ scores.var(axis=2) / total)
    return as_array(np.where(units == 0.0, 1.0, units))


def _logits(scores: Array, weights: Array, biases: Array) -> Array:
    logits: Array = np.einsum("nkc,k->nc", scores, weights) + biases
    return logits


_FARTHEST = 3.0
"""Largest absolute value of a leave-one-out prediction, three times that of an indicator."""

Leverage = Callable[[Array], Array]
"""Function from features (n, p) of rows to their leverages (n,): derivatives of predictions by the
targets of the same rows, of unit weight."""


def left_out_indicators(
    sample: RowSample,
    features: FeatureMap,
    targets: Targets,
    solution: RidgePosterior | KreinSolution | IterativeSolution,
    sums: FeatureSums | None,
    signature: Array,
    *,
    fit_intercept: bool,
) -> Array:
    """Return leave-one-out predictions (s, t) of class indicators at sampled rows."""
    rows = sample.rows
    if isinstance(solution, RidgePosterior):
        # A posterior stores the inverse root; other solutions factorise the sums here.
        leverage = _of_posterior(solution)
    elif sums is not None:
        leverage = _of_sums(sums, signature, solution.alpha, fit_intercept)
    else:
        leverage = _of_sample(sample, features, solution.alpha, fit_intercept)
    values = np.empty((len(rows), targets.n_targets))
    weights = sample.unit_weights
    row_bytes = 8 * features.n_features
    for part in row_blocks(len(rows), row_bytes, block_bytes=limits.SUMS_BLOCK_BYTES):
        Z, y = _features(features, rows[part]), targets(rows.y[part])
        remaining = 1.0 - weights[part] * leverage(Z)
        remaining[np.abs(remaining) < limits.NEGLIGIBLE] = limits.NEGLIGIBLE
        values[part] = y - (y - solution.mean(Z)) / remaining[:, None]
    return np.clip(values, -_FARTHEST, _FARTHEST)


def _features(features: FeatureMap, rows: Chunk) -> Array:
    return as_array(features.features(rows.X))


def _of_posterior(posterior: RidgePosterior) -> Leverage:
    def leverage(Z: Array) -> Array:
        # The quadratic form of the inverse matrix, from its root.
        spread = np.sum(((Z - posterior.centre) @ posterior.whitener) ** 2, axis=1)
        return as_array(spread + posterior.intercept_variance)

    return leverage


def _of_sums(sums: FeatureSums, signature: Array, alpha: float, fit_intercept: bool) -> Leverage:
    centred, _ = centred_sums(sums, fit_intercept)
    centre, _ = origin(sums, centred)
    factors = lu_factor(centred.gram + alpha * np.diag(signature), overwrite_a=True)
    constant = 1.0 / sums.weight if fit_intercept else 0.0

    def leverage(Z: Array) -> Array:
        Z = Z - centre
        return as_array(np.sum(Z * lu_solve(factors, Z.T).T, axis=1) + constant)

    return leverage


def _of_sample(
    sample: RowSample, features: FeatureMap, alpha: float, fit_intercept: bool
) -> Leverage:
    """Return the leverages of ridge regression on the sample alone, by Woodbury's identity."""
    share = sample.shares
    Z = _features(features, sample.rows)
    centre = share @ Z / share.sum() if fit_intercept else np.zeros(Z.shape[1])
    constant = 1.0 / share.sum() if fit_intercept else 0.0
    B = (Z - centre) * np.sqrt(share)[:, None]
    lower = jittered_cholesky(B @ B.T, alpha)

    def leverage(Z: Array) -> Array:
        Z = Z - centre
        explained = np.sum(solve_triangular(lower, B @ Z.T, lower=True) ** 2, axis=0)
        return as_array((np.sum(Z**2, axis=1) - explained) / alpha + constant)

    return leverage

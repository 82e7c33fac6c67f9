"""Class probabilities by a softmax of the scores of several models, with one weight per model."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve, solve_triangular
from scipy.special import log_softmax, softmax

from bochner._base import limits
from bochner._base.arrays import Array, as_array, jittered_cholesky, row_blocks
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

_REFITTED_SIZE = 20_000
"""Number of scores beyond which refits take longer than 10 ms each, so that there are fewer."""

_MOST_STEPS, _STEP_SIZES = 1000, 3e8
"""Most steps of a fit, and most steps times scores: more take over six seconds."""

_MANY_PARAMETERS, _ROUNDS = 100, (30, 8)
"""Parameters beyond which there are fewer iterations of a Newton step; without a class's only two
rows, a step of eight iterations has an error of three per cent."""

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
    start: SoftmaxWeights | None = None,
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

    point = np.append(np.full(n_laws, 1.0 / n_laws), np.zeros(n_classes))
    optimum = minimised(
        loss,
        point if start is None else np.append(start.weights * units, start.biases),
        n_steps=int(min(_MOST_STEPS, max(1.0, _STEP_SIZES / max(scores.size, 1)))),
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
    full_fit: SoftmaxWeights | None = None,
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
    full_fit = full_fit or fit_softmax(scores, labels, totals, has_biases=has_biases)
    before = _own(full_fit.probabilities(scores), labels)
    result = _after_a_step(full_fit, scores, labels, totals, removed, number, has_biases)
    result = (1.0 - UNIFORM) * result + UNIFORM / scores.shape[2]
    change = np.abs(np.log(result / before))
    # The number of exact refits is limited, so the largest changes come first.
    order = np.argsort(-change, kind="stable")[: np.count_nonzero(change > _INFLUENTIAL)]
    n_refits = int(_MOST_REFITS * min(1.0, _REFITTED_SIZE / max(scores.size, 1)))
    for index in list(dict.fromkeys(number[order]))[:n_refits]:
        rows = number == index
        rest = np.where(rows, totals - removed, totals)
        refitted = fit_softmax(scores, labels, rest, has_biases=has_biases, start=full_fit)
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
    n_laws = scores.shape[1]
    hessian, free = loss_curvature(full_fit, scores, labels, totals, has_biases=has_biases)
    inverse, logits = np.linalg.inv(hessian), _logits(scores, full_fit.weights, full_fit.biases)
    shares = softmax(logits, axis=1)

    def moves(steps: Array) -> Array:
        """Return changes (n, C) of logits by steps (g, q) of the parameters."""
        steps_of_all = np.zeros((len(steps), len(free)))
        steps_of_all[:, free] = steps
        steps_of_rows = steps_of_all[number]
        return as_array(
            np.einsum("nkc,nk->nc", scores, steps_of_rows[:, :n_laws]) + steps_of_rows[:, n_laws:]
        )

    def totals_of_groups(slopes: Array) -> Array:
        """Return gradients (g, q) of the removed loss, from those by logits (n, C)."""
        gradients = np.hstack([np.einsum("nkc,nc->nk", scores, slopes), slopes])[:, free]
        return _added(removed, gradients, number)

    slope = totals_of_groups(shares - np.eye(scores.shape[2])[labels])
    steps = slope @ inverse
    # Solves (H - H_g) step = slope for each group by iterations with the inverse of H.
    for _ in range(_ROUNDS[len(inverse) > _MANY_PARAMETERS]):
        changes = moves(steps)
        changes -= np.sum(shares * changes, axis=1, keepdims=True)
        steps = (slope + totals_of_groups(shares * changes)) @ inverse
    weights = full_fit.weights[free[:n_laws]]
    steps[:, : len(weights)] = np.maximum(steps[:, : len(weights)], -weights)
    return _own(softmax(logits + moves(steps), axis=1), labels)


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
    spread = np.append(_law_units(scores, weight), np.ones(n_classes))
    shares = softmax(_logits(scores, fitted.weights, fitted.biases), axis=1)
    weighted = weight[:, None] * shares
    products = scores * weighted[:, None]
    means = np.hstack([np.einsum("nkc,nc->nk", scores, shares), shares])
    hessian = np.diag(np.append(np.zeros(scores.shape[1]), weighted.sum(axis=0)))
    hessian += np.diag(_PENALTY * spread**2) - means.T @ (weight[:, None] * means)
    n_laws, cross = scores.shape[1], products.sum(axis=0)
    hessian[:n_laws, :n_laws] += np.tensordot(products, scores, ((0, 2), (0, 2)))
    hessian[:n_laws, n_laws:] += cross
    hessian[n_laws:, :n_laws] += cross.T
    return hessian[np.ix_(free, free)], free


def _own(probabilities: Array, labels: NDArray[np.intp]) -> Array:
    """Select the probability (n,) of each row's label from class probabilities (n, C)."""
    return as_array(probabilities[np.arange(len(labels)), labels])


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

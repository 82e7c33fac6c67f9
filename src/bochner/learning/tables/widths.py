r"""Widths of intervals as functions of the prediction and of the columns.

Errors of most targets grow with the target, and differ between regions. The variances of laws with
constant noise do not show this. A factor :math:`g(x)` of the standard deviations is learned from
the absolute scores :math:`a_i` of left-out observations, with the negative log likelihood of a
Laplace law,

.. math:: \sum_i \log g(x_i) + a_i / g(x_i),

which is less sensitive to large errors than squares. :math:`\log g` is a sum of curves of the
prediction, of the laws' standard deviation and of their disagreement, and of boosted trees of the
columns. Curves and trees are used if they increase the cross-validated likelihood.

A leave-one-out prediction may reveal the left-out target. Among ``k`` equal rows, the prediction
without a target differs from the mean prediction by a ``k``-th of the target's residual, with the
opposite sign. Curves must not resolve such differences. Between two knots, the distance times the
number of observations is therefore at least several residuals.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from bochner._numerics.arrays import Array, as_array
from bochner.learning.tables.removal import fold_numbers
from bochner.learning.tables.rows import Chosen
from bochner.learning.tables.trees import TreeInputs, Trees
from bochner.registry import register

FEWEST_FOR_WIDTHS = 100
"""Fewest scores for curves: with fewer, curves do not increase the likelihood."""

_FEWEST_FOR_TREES = 500
"""Fewest scores for trees: up to 700 rows trees hardly change the widths."""

_FOLDS, _TREE_FOLDS = 10, 5
"""Numbers of cross-validation folds of the scores for curves and, because fits of trees take
longer, for trees."""

_KNOTS = 8
"""Number of knots of a curve, at quantiles of its input."""

_PULL = 10.0
"""Penalty of squared steps between knots, in observations: a third or three times the penalty
changes the likelihood by less than its standard error on six tables."""

_LEAST_PRODUCT = 8.0
"""Least distance of two knots times the number of observations between them, in mean absolute
residuals. Among a hundred equal rows with normal residuals the product of the first and the last
leave-one-out prediction is below six."""

_LEAST_STEP = 0.01
"""Least distance of two knots, in logarithms of deviations: smaller distances are rounding
errors."""

_LEAST_SCORE = 1e-3
"""Lower bound of scores, relative to their mean, so that predictions without error have a width."""

_LEAST_DISAGREEMENT = 1e-4
"""Number added to the disagreement of the laws, relative to the variance, before its logarithm."""

_TREES: dict[str, Any] = {
    "loss": "gamma",
    "max_iter": 80,
    "learning_rate": 0.05,
    "max_leaf_nodes": 4,
    "min_samples_leaf": 40,
    "l2_regularization": 1.0,
    "early_stopping": False,
}
"""Options of small trees. The mean of the forty scores of a leaf has a standard error of a sixth
of it."""

_MOST_STEPS = 50
"""Largest number of Newton steps: the loss is convex, and ten steps suffice."""


@register(shapes={"knots": "k", "values": "k"})
@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A function of a number, linear between knots and constant beyond them."""

    knots: Array  # (k,): Increasing
    values: Array  # (k,)

    def __call__(self, x: Array) -> Array:
        return as_array(np.interp(x, self.knots, self.values))


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Means and variances (n, *t) of targets of weight one, and the variance between the laws."""

    mean: Array
    variance: Array
    disagreement: Array

    def targets(self) -> list["Moments"]:
        """Return the moments (n,) of each target."""
        parts = self.mean, self.variance, self.disagreement
        columns = (part.reshape(len(part), -1).T for part in parts)
        return [Moments(*target) for target in zip(*columns, strict=True)]

    def inputs(self) -> Array:
        """Return the inputs (n, 3) of the curves: mean, log deviation and log disagreement."""
        variance = np.maximum(self.variance, np.finfo(np.float64).tiny)
        share = self.disagreement / variance + _LEAST_DISAGREEMENT
        return np.column_stack((self.mean, 0.5 * np.log(variance), 0.5 * np.log(share)))

    def in_means(self) -> Array:
        """Return the inputs (n, 3) in the unit of means; NaN for the deviation, which has none."""
        unknown = np.full(len(self.mean), np.nan)
        return np.column_stack((self.mean, unknown, np.sqrt(self.disagreement)))


@register
@dataclass(frozen=True, slots=True, eq=False)
class Widths:
    """Factors of the standard deviations of a target; constant one without curves."""

    curves: tuple[Curve, ...] = ()  # Of the inputs of Moments
    columns: TreeInputs | None = None  # Inputs of the trees
    trees: Trees | None = None  # Added to the curves

    def __call__(self, moments: Moments, X: Array) -> Array:
        """Return the factors (n,) at encoded rows (n, d)."""
        if not self.curves:
            return np.ones(len(X))
        inputs = moments.inputs()
        factors = _product(self.curves, inputs)
        if self.trees is not None and self.columns is not None:
            factors *= np.exp(self.trees(self.columns(X))[:, 0])
        return factors


def fitted_widths(
    moments: Moments, scores: Array, X: Array, columns: TreeInputs | None, groups: Chosen | None
) -> tuple[Widths, Array]:
    """Return widths fitted to absolute scores (s,), and their out-of-fold factors (s,).

    ``columns`` computes the inputs of trees from encoded rows ``X`` (s, d). ``groups`` (s,) are
    labels of scores that are left out together.
    """
    n = len(scores)
    # Returned if neither curves nor trees increase the likelihood.
    unchanged = Widths(), np.ones(n)
    level = float(np.mean(scores))
    if n < FEWEST_FOR_WIDTHS or not level > 0.0:
        return unchanged
    # The conformal scale fits the level of the scores: factors describe departures from it.
    residuals, scores = scores * np.sqrt(moments.variance), np.maximum(scores / level, _LEAST_SCORE)
    inputs, in_means = moments.inputs(), moments.in_means()

    def curves_of(rows: Chosen) -> tuple[Curve, ...]:
        knots = _knots(inputs[rows], in_means[rows], float(np.mean(residuals[rows])))
        return _curves(inputs[rows], scores[rows], knots)

    folds = fold_numbers(groups, n, _FOLDS)
    constant, of_curves, of_trees = np.empty(n), np.empty(n), np.empty(n)
    for rows, outside in _parts(folds):
        # Curves must predict left-out scores better than their mean.
        constant[rows] = np.mean(scores[outside])
        of_curves[rows] = _product(curves_of(outside), inputs[rows])
    if not _is_better(of_curves, constant, scores, groups):
        return unchanged
    curves = curves_of(np.arange(n))
    if columns is None or n < _FEWEST_FOR_TREES:
        return Widths(curves), of_curves
    wide = columns(X)
    for rows, outside in _parts(folds % _TREE_FOLDS):
        fold_curves = curves_of(outside)
        trees = _trees(
            wide[outside], scores[outside] / _product(fold_curves, inputs[outside]), columns
        )
        of_trees[rows] = _product(fold_curves, inputs[rows]) * np.exp(trees(wide[rows])[:, 0])
    if not _is_better(of_trees, of_curves, scores, groups):
        return Widths(curves), of_curves
    trees = _trees(wide, scores / _product(curves, inputs), columns)
    return Widths(curves, columns, trees), of_trees


def _parts(folds: Chosen) -> Iterator[tuple[Chosen, Chosen]]:
    """Yield the rows of each fold, and the rows of all other folds."""
    for fold in np.unique(folds):
        yield np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)


def _product(curves: tuple[Curve, ...], inputs: Array) -> Array:
    """Return exponentials (n,) of sums of curves, each of a column of the inputs (n, c)."""
    values = [curve(column) for curve, column in zip(curves, inputs.T, strict=True)]
    return as_array(np.exp(np.sum(values, axis=0)))


def _trees(inputs: Array, scores: Array, columns: TreeInputs) -> Trees:
    model = HistGradientBoostingRegressor(**_TREES, random_state=0)
    return Trees.fitted([(model, scores)], inputs, len(columns.starts), np.ones(len(inputs)))


def _is_better(factors: Array, baseline: Array, scores: Array, groups: Chosen | None) -> bool:
    """Return whether the log likelihood gains more than twice its standard error over groups."""
    # Differences of two Laplace log likelihoods, per score.
    gains = np.log(baseline) + scores / baseline - np.log(factors) - scores / factors
    away = gains - np.mean(gains)
    if groups is not None and np.ptp(groups):
        away = np.bincount(np.unique(groups, return_inverse=True)[1], away)
    return bool(np.sum(gains) > 2.0 * np.sqrt(np.sum(away**2)))


def _knots(inputs: Array, in_means: Array, residual: float) -> list[Array]:
    """Return knots at quantiles of inputs (n, c), farther apart than leave-one-out differences.

    ``residual`` is the mean absolute residual; see the description of the module.
    """
    knots = []
    places = np.round(np.linspace(0.01, 0.99, _KNOTS) * (len(inputs) - 1)).astype(np.intp)
    for column, in_mean in zip(inputs.T, in_means.T, strict=True):
        # Stable, so that ties have the same order on every platform.
        order = np.argsort(column, kind="stable")
        chosen = [places[0]]
        for place in places[1:]:
            last_row, row = order[chosen[-1]], order[place]
            product = (in_mean[row] - in_mean[last_row]) * (place - chosen[-1])
            # The product of the second input is NaN, which must pass: "not <=", rather than ">".
            if (
                column[row] - column[last_row] > _LEAST_STEP
                and not product <= _LEAST_PRODUCT * residual
            ):
                chosen.append(place)
        knots.append(column[order[chosen]])
    return knots


def _curves(inputs: Array, scores: Array, knots: list[Array]) -> tuple[Curve, ...]:
    """Return the curves of greatest penalised likelihood, by Newton steps with step halving.

    The first curve contains the constant of the sum.
    """
    ends = np.cumsum([0] + [len(places) for places in knots])
    basis = np.hstack(
        [
            np.stack([np.interp(column, places, unit) for unit in np.eye(len(places))], axis=1)
            for column, places in zip(inputs.T, knots, strict=True)
        ]
    )
    penalty = np.zeros((ends[-1], ends[-1]))
    for start, end in pairwise(ends):
        steps = np.diff(np.eye(end - start), axis=0)
        penalty[start:end, start:end] = _PULL * steps.T @ steps
        if start:  # The constant of the sum is in the first curve
            penalty[start:end, start:end] += 1.0 / (end - start)

    def loss(coef: Array) -> float:
        logs = basis @ coef
        return float(np.sum(logs + scores * np.exp(-logs)) + 0.5 * coef @ penalty @ coef)

    coef = np.zeros(ends[-1])
    coef[: ends[1]] = np.log(np.mean(scores))
    value = loss(coef)
    for _ in range(_MOST_STEPS):
        ratio = scores * np.exp(-(basis @ coef))
        gradient = basis.T @ (1.0 - ratio) + penalty @ coef
        curvature = (basis * np.maximum(ratio, 0.1)[:, None]).T @ basis + penalty
        curvature[np.diag_indices_from(curvature)] += 1e-9 * len(scores)
        # A lower bound of the curvature keeps the step finite for scores near zero.
        step, size = np.linalg.solve(curvature, gradient), 1.0
        while (trial := loss(coef - size * step)) > value and size > 1e-6:
            size *= 0.5
        if not trial < value:
            break
        coef, gain, value = coef - size * step, value - trial, trial
        if gain < 1e-9 * len(scores):
            break
    return tuple(
        Curve(places, coef[start:end])
        for places, (start, end) in zip(knots, pairwise(ends), strict=True)
    )

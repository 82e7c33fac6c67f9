r"""Widths of intervals as functions of the prediction and of the columns.

Errors of most targets grow with the target, and differ between regions, which the variances of laws
with one noise do not know. A factor :math:`g(x)` of the standard deviations is learned from the
absolute scores :math:`a_i` of observations left out, with the likelihood of a Laplace law,

.. math:: \sum_i \log g(x_i) + a_i / g(x_i),

which great errors move less than squares would. :math:`\log g` is a sum of curves of the
prediction, of the laws' own deviation and of their disagreement, and of boosted trees of the
columns. Curves and trees are used if they make the likelihood of observations left out greater.

Predictions without an observation tell its target where nothing else differs: among ``k`` equal
rows, that without a target is below the mean of the others by a ``k``-th of its residual. Curves
resolve no such differences: between two of their knots, the distance times the number of
observations is several residuals.
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
"""Fewest scores for curves: those of fewer are as likely without."""

_FEWEST_FOR_TREES = 500
"""Fewest scores for trees: widths of 700 rows are as good with as without."""

_FOLDS, _TREE_FOLDS = 10, 5
"""Folds of the scores, each with factors that the others give; fits of trees take longer."""

_KNOTS = 8
"""Knots of a curve, at quantiles."""

_PULL = 10.0
"""Penalty of the squared steps between knots, in observations: a third to three times as much
changes the likelihood by less than its standard error on six tables."""

_LEAST_PRODUCT = 8.0
"""Least distance of two knots times the observations between them, in mean absolute residuals. For
normal residuals of equal rows the product is below six from the first to the last in a hundred."""

_LEAST_STEP = 0.01
"""Least distance of two knots, in logarithms of deviations: smaller ones are rounding errors."""

_LEAST_SCORE = 1e-3
"""Least score that is counted, relative to their mean: predictions without error have a width."""

_LEAST_DISAGREEMENT = 1e-4
"""Least disagreement of the laws, relative to the variance."""

_TREES: dict[str, Any] = {
    "loss": "gamma",
    "max_iter": 80,
    "learning_rate": 0.05,
    "max_leaf_nodes": 4,
    "min_samples_leaf": 40,
    "l2_regularization": 1.0,
    "early_stopping": False,
}
"""Small trees of leaves with forty scores, whose mean is known to a sixth."""

_MOST_STEPS = 50
"""Most Newton steps: the likelihood is concave, and ten suffice."""


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
    """Means and variances (n, *t) of targets of weight one, with the part that laws disagree by."""

    mean: Array
    variance: Array
    disagreement: Array

    def targets(self) -> list["Moments"]:
        """Return the moments (n,) of each target."""
        parts = self.mean, self.variance, self.disagreement
        columns = (part.reshape(len(part), -1).T for part in parts)
        return [Moments(*own) for own in zip(*columns, strict=True)]

    def inputs(self) -> Array:
        """Return the inputs (n, 3) of the functions that give the widths of a target.

        Means are in units of the targets' standard deviation.
        """
        variance = np.maximum(self.variance, np.finfo(np.float64).tiny)
        share = self.disagreement / variance + _LEAST_DISAGREEMENT
        return np.column_stack((self.mean, 0.5 * np.log(variance), 0.5 * np.log(share)))

    def in_means(self) -> Array:
        """Return the inputs (n, 3) in the unit of means; the second column is ``nan``."""
        unknown = np.full(len(self.mean), np.nan)
        return np.column_stack((self.mean, unknown, np.sqrt(self.disagreement)))


@register
@dataclass(frozen=True, slots=True, eq=False)
class Widths:
    """Factors of the standard deviations of a target: one, unless there are curves."""

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
    moments: Moments,
    scores: Array,
    X: Array,
    columns: TreeInputs | None,
    groups: Chosen | None,
) -> tuple[Widths, Array]:
    """Return widths by absolute scores (s,), and factors (s,) that each fold's others give.

    ``columns`` are the inputs of trees on encoded rows ``X`` (s, d), and ``groups`` (s,) numbers of
    scores that are left out together.
    """
    n = len(scores)
    unchanged = Widths(), np.ones(n)
    level = float(np.mean(scores))
    if n < FEWEST_FOR_WIDTHS or not level > 0.0:
        return unchanged
    # Relative to their mean: the factors are about one.
    residuals, scores = scores * np.sqrt(moments.variance), np.maximum(scores / level, _LEAST_SCORE)
    inputs, in_means = moments.inputs(), moments.in_means()

    def curves_of(rows: Chosen) -> tuple[Curve, ...]:
        knots = _knots(inputs[rows], in_means[rows], float(np.mean(residuals[rows])))
        return _curves(inputs[rows], scores[rows], knots)

    folds = fold_numbers(groups, n, _FOLDS)
    constant, of_curves, of_trees = np.empty(n), np.empty(n), np.empty(n)
    for rows, others in _parts(folds):
        constant[rows] = np.mean(scores[others])
        of_curves[rows] = _product(curves_of(others), inputs[rows])
    if not _is_better(of_curves, constant, scores, groups):
        return unchanged
    curves = curves_of(np.arange(n))
    if columns is None or n < _FEWEST_FOR_TREES:
        return Widths(curves), of_curves
    wide = columns(X)
    for rows, others in _parts(folds % _TREE_FOLDS):
        own = curves_of(others)
        trees = _trees(wide[others], scores[others] / _product(own, inputs[others]), columns)
        of_trees[rows] = _product(own, inputs[rows]) * np.exp(trees(wide[rows])[:, 0])
    if not _is_better(of_trees, of_curves, scores, groups):
        return Widths(curves), of_curves
    trees = _trees(wide, scores / _product(curves, inputs), columns)
    return Widths(curves, columns, trees), of_trees


def _parts(folds: Chosen) -> Iterator[tuple[Chosen, Chosen]]:
    """Yield the rows of each fold, and all others."""
    for fold in np.unique(folds):
        yield np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)


def _product(curves: tuple[Curve, ...], inputs: Array) -> Array:
    """Return exponentials (n,) of sums of curves, each of a column of the inputs (n, c)."""
    values = [curve(column) for curve, column in zip(curves, inputs.T, strict=True)]
    return as_array(np.exp(np.sum(values, axis=0)))


def _trees(inputs: Array, scores: Array, columns: TreeInputs) -> Trees:
    model = HistGradientBoostingRegressor(**_TREES, random_state=0)
    return Trees.fitted([(model, scores)], inputs, len(columns.starts), np.ones(len(inputs)))


def _is_better(factors: Array, others: Array, scores: Array, groups: Chosen | None) -> bool:
    """Return whether the likelihood gains more than twice its standard error over groups."""
    gains = np.log(others) + scores / others - np.log(factors) - scores / factors
    away = gains - np.mean(gains)
    if groups is not None and np.ptp(groups):
        away = np.bincount(np.unique(groups, return_inverse=True)[1], away)
    return bool(np.sum(gains) > 2.0 * np.sqrt(np.sum(away**2)))


def _knots(inputs: Array, in_means: Array, residual: float) -> list[Array]:
    """Return knots at quantiles of inputs (n, c) that targets of a mean residual leave apart."""
    found = []
    places = np.round(np.linspace(0.01, 0.99, _KNOTS) * (len(inputs) - 1)).astype(np.intp)
    for column, in_mean in zip(inputs.T, in_means.T, strict=True):
        order = np.argsort(column, kind="stable")
        kept = [places[0]]
        for place in places[1:]:
            last, own = order[kept[-1]], order[place]
            product = (in_mean[own] - in_mean[last]) * (place - kept[-1])
            # Products of an input that has no targets are unknown, and not too small.
            if (
                column[own] - column[last] > _LEAST_STEP
                and not product <= _LEAST_PRODUCT * residual
            ):
                kept.append(place)
        found.append(column[order[kept]])
    return found


def _curves(inputs: Array, scores: Array, knots: list[Array]) -> tuple[Curve, ...]:
    """Return curves of greatest penalised likelihood, by Newton steps that are halved if need be.

    The first curve has the constant.
    """
    ends = np.cumsum([0] + [len(own) for own in knots])
    basis = np.hstack(
        [
            np.stack([np.interp(column, own, unit) for unit in np.eye(len(own))], axis=1)
            for column, own in zip(inputs.T, knots, strict=True)
        ]
    )
    penalty = np.zeros((ends[-1], ends[-1]))
    for start, end in pairwise(ends):
        steps = np.diff(np.eye(end - start), axis=0)
        penalty[start:end, start:end] = _PULL * steps.T @ steps
        if start:  # Constants are those of the first curve
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
        step, size = np.linalg.solve(curvature, gradient), 1.0
        while (trial := loss(coef - size * step)) > value and size > 1e-6:
            size *= 0.5
        if not trial < value:
            break
        coef, gain, value = coef - size * step, value - trial, trial
        if gain < 1e-9 * len(scores):
            break
    return tuple(
        Curve(own, coef[start:end]) for own, (start, end) in zip(knots, pairwise(ends), strict=True)
    )

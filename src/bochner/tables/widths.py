r"""Widths of intervals as functions of the prediction and of the columns.

A factor :math:`g(x)` of the standard deviations is learned from the absolute scores :math:`a_i` of
left-out observations, with the negative log likelihood :math:`\sum_i \log g(x_i) + a_i / g(x_i)` of
a Laplace law. :math:`\log g` is a sum of penalised curves, terms of indicators and boosted trees,
which is used if it increases the cross-validated likelihood. Between two knots, the distance times
the number of observations is at least several residuals, so that curves do not resolve the effect
of a row's own target.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from bochner._base.arrays import Array, as_array
from bochner._base.registry import register
from bochner.tables.observations import Chosen, fold_numbers
from bochner.tables.tree_growth import TreeSizes, boosted, gamma
from bochner.tables.trees import TreeInputs, Trees, none
from bochner.tables.width_terms import BinaryColumns, BinaryTerms, Curve, WidthTerms

FEWEST_FOR_WIDTHS = 100
"""Fewest scores for curves: with fewer, curves do not increase the likelihood."""

_FEWEST_FOR_TREES = 500
"""Fewest scores for trees: up to 700 rows trees hardly change the widths."""

_FOLDS, _TREE_FOLDS = 10, 5
"""Cross-validation folds of the scores for curves and, because they take longer, for trees."""

_KNOTS = 8
"""Number of knots of a curve, at quantiles of its input."""

_MOST_NUMBERS, _NUMBER_KNOTS, _FEWEST_VALUES = 20, 5, 3
"""Most numeric columns with curves, their knots, and fewest values: time is quadratic."""

_LEAST_PRODUCT = 8.0
"""Least distance of two knots times the number of observations between them, in mean absolute
residuals: among a hundred equal rows it is below six."""

_LEAST_STEP = 0.01
"""Least distance of two knots, in logarithms of deviations: smaller ones are rounding errors."""

_LEAST_SCORE = 1e-3
"""Lower bound of scores, relative to their mean, so that predictions without error have a width."""

_LEAST_DISAGREEMENT = 1e-4
"""Number added to the disagreement of the laws, relative to the variance, before its logarithm."""

_SIZES, _N_TREES = TreeSizes(rate=0.05, depth=3, share=1.0, penalty=10.0), 80
"""Sizes and number of small trees; ten more scores of the mean are added to those of each leaf.
With depth two, a width that depends on a level and a number together has four times the error."""


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Means and variances (n, *t) of targets of weight one, and the variance between the laws."""

    mean: Array
    variance: Array
    disagreement: Array

    def targets(self) -> list["Moments"]:
        """Return separate moments (n,) for each target."""
        parts = self.mean, self.variance, self.disagreement
        columns = (part.reshape(len(part), -1).T for part in parts)
        return [Moments(*target) for target in zip(*columns, strict=True)]

    def part(self, rows: Chosen) -> "Moments":
        """Return the moments of some of the observations."""
        return Moments(self.mean[rows], self.variance[rows], self.disagreement[rows])

    def inputs(self) -> Array:
        """Return the inputs (n, 3) of the curves: mean, log deviation and log disagreement."""
        variance = np.maximum(self.variance, np.finfo(np.float64).tiny)
        share = self.disagreement / variance + _LEAST_DISAGREEMENT
        return np.column_stack((self.mean, 0.5 * np.log(variance), 0.5 * np.log(share)))

    def in_means(self) -> Array:
        """Return :meth:`inputs` (n, 3) in the unit of means; NaN for the unitless log deviation."""
        unknown = np.full(len(self.mean), np.nan)
        return np.column_stack((self.mean, unknown, np.sqrt(self.disagreement)))


_Terms = tuple[BinaryColumns, Chosen]
"""Binary columns with terms, and numeric columns with curves."""


@register
@dataclass(frozen=True, slots=True, eq=False)
class Widths:
    """Factors of the standard deviations of a target; constant one without curves."""

    curves: tuple[Curve, ...] = ()  # Of `Moments.inputs`, then of encoded columns
    numbers: Chosen = field(default_factory=none)  # (c,): Columns of the latter curves
    terms: BinaryTerms | None = None  # Indicator terms, added to the curves
    columns: TreeInputs | None = None  # Inputs of the trees
    trees: Trees | None = None  # Added to the curves

    def __call__(self, moments: Moments, X: Array) -> Array:
        """Return the factors (n,) at encoded rows (n, d)."""
        if not self.curves:
            return np.ones(len(X))
        inputs = np.hstack((moments.inputs(), X[:, self.numbers]))
        values = [curve(column) for curve, column in zip(self.curves, inputs.T, strict=True)]
        if self.terms is not None:
            values.append(self.terms(X))
        if self.trees is not None and self.columns is not None:
            values.append(self.trees(self.columns(X))[:, 0])
        return as_array(np.exp(np.sum(values, axis=0)))


def fitted_widths(
    moments: Moments,
    scores: Array,
    X: Array,
    columns: TreeInputs | None,
    groups: Chosen | None,
    *,
    are_stretches: bool = False,
) -> tuple[Widths, Array]:
    """Return widths fitted to absolute scores (s,), and their out-of-fold factors (s,)."""
    n = len(scores)
    # Returned if neither curves nor trees increase the likelihood.
    unchanged = Widths(), np.ones(n)
    level = float(np.mean(scores))
    if n < FEWEST_FOR_WIDTHS or not level > 0.0:
        return unchanged
    # The error distribution fits the mean score: factors describe departures from it.
    data = _Scores(moments, np.maximum(scores / level, _LEAST_SCORE), level, X, columns)
    data = replace(data, stretches=groups if are_stretches else None)
    folds, everything, chosen = fold_numbers(groups, n, _FOLDS), np.arange(n), None
    best = np.empty(n)
    for rows, outside in _parts(folds):
        best[rows] = np.mean(data.scores[outside])
    # Each richer sum must predict left-out scores better than the best simpler one.
    for terms in data.choices():
        factors = _left_out(data.sum_of, terms, data, folds)
        if _is_better(factors, best, data.scores, groups):
            chosen, best = terms, factors
    if chosen is None:
        return unchanged
    if columns is not None and n >= _FEWEST_FOR_TREES:
        factors = _left_out(data.with_trees, chosen, data, folds % _TREE_FOLDS)
        if _is_better(factors, best, data.scores, groups):
            return data.with_trees(everything, *chosen), factors
    return data.sum_of(everything, *chosen), best


@dataclass(frozen=True, slots=True, eq=False)
class _Scores:
    """Scores to which widths are fitted, with the inputs of the widths."""

    moments: Moments
    scores: Array  # (s,): Absolute scores over their mean
    level: float  # Mean absolute score
    X: Array  # (s, d): Encoded rows
    columns: TreeInputs | None
    stretches: Chosen | None = None  # (s,): Labels of stretches of time

    def choices(self) -> Iterator[_Terms]:
        """Yield columns of the terms added to curves of the moments: none, binary ones and all."""
        yield BinaryColumns.of(self.X, None), none()
        binary, numbers = BinaryColumns.of(self.X, self.columns), _numbers(self.X, self.columns)
        if len(binary.columns):
            yield binary, none()
        if len(numbers):
            yield binary, numbers

    def sum_of(
        self, rows: Chosen, binary: BinaryColumns, numbers: Chosen, offset: Array | None = None
    ) -> Widths:
        """Return curves and terms fitted to some of the scores."""
        moments, X = self.moments.part(rows), self.X[rows]
        inputs, deviation = moments.inputs(), np.sqrt(moments.variance)
        residual = float(np.mean(self.level * self.scores[rows] * deviation))
        knots = _knots(inputs, moments.in_means(), residual)
        ranks = np.linspace(0.02, 0.98, _NUMBER_KNOTS)
        quantiles = np.quantile(self.X[:, numbers], ranks, axis=0, method="nearest")
        knots += [np.unique(of_column) for of_column in quantiles.T]
        inputs = np.hstack((inputs, X[:, numbers]))
        terms = WidthTerms(knots, binary)
        stretches = None if self.stretches is None else self.stretches[rows]
        curves, binary_terms = terms.fitted(inputs, X, self.scores[rows], offset, stretches)
        return Widths(curves, numbers, binary_terms)

    def with_trees(self, rows: Chosen, binary: BinaryColumns, numbers: Chosen) -> Widths:
        """Return curves, terms and trees fitted to some of the scores."""
        assert self.columns is not None
        smooth, wide = self.sum_of(rows, binary, numbers), self.columns(self.X[rows])
        ratios = self.scores[rows] / smooth(self.moments.part(rows), self.X[rows])
        trees = _trees(wide, ratios, self.columns)
        # The curves and terms describe what the trees leave.
        smooth = self.sum_of(rows, binary, numbers, trees(wide)[:, 0])
        return replace(smooth, columns=self.columns, trees=trees)


def _left_out(fitted: Callable[..., Widths], terms: _Terms, data: _Scores, folds: Chosen) -> Array:
    """Return factors (s,) of widths that were fitted to the scores of other folds."""
    factors = np.empty(len(folds))
    for rows, outside in _parts(folds):
        factors[rows] = fitted(outside, *terms)(data.moments.part(rows), data.X[rows])
    return factors


def _numbers(X: Array, columns: TreeInputs | None) -> Chosen:
    """Return the numeric columns of encoded rows (n, d); none if they are too many for curves."""
    if columns is None:
        return none()
    numbers = columns.columns
    is_number = [len(np.unique(X[:, number])) >= _FEWEST_VALUES for number in numbers]
    chosen = numbers[np.array(is_number, dtype=bool)]
    return chosen if len(chosen) <= _MOST_NUMBERS else none()


def _parts(folds: Chosen) -> Iterator[tuple[Chosen, Chosen]]:
    """Yield the indices of the rows in each fold, and of the rows in all other folds."""
    for fold in np.unique(folds):
        yield np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)


def _trees(inputs: Array, scores: Array, columns: TreeInputs) -> Trees:
    """Return trees of the logarithms of means of ``scores``."""
    baseline = np.log(np.mean(scores, keepdims=True))
    outputs, ones = np.tile(baseline, (len(scores), 1)), np.ones(len(scores))
    arguments = gamma, scores[:, None], ones, baseline, outputs, _SIZES, _N_TREES, 0
    return boosted(inputs, len(columns.starts), *arguments)


def _is_better(factors: Array, baseline: Array, scores: Array, groups: Chosen | None) -> bool:
    """Return whether ``factors`` raise the log likelihood by more than two standard errors."""
    # Differences of two Laplace log likelihoods, per score.
    gains = np.log(baseline) + scores / baseline - np.log(factors) - scores / factors
    away = gains - np.mean(gains)
    if groups is not None and np.ptp(groups):
        away = np.bincount(np.unique(groups, return_inverse=True)[1], away)
    return bool(np.sum(gains) > 2.0 * np.sqrt(np.sum(away**2)))


def _knots(inputs: Array, in_means: Array, residual: float) -> list[Array]:
    """Return knots at quantiles of inputs (n, c), farther apart than leave-one-out differences."""
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

"""Boosted trees and linear regressions as laws of a table, with out-of-fold predictions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression

from bochner._base.arrays import Array, as_array, rounded, steps
from bochner._base.registry import register
from bochner.tables.estimator_laws import ResidualLaw, n_fits, with_left_out
from bochner.tables.kernel_laws import LeaveOneOutPredictions
from bochner.tables.observations import Chosen, Observations, Scored
from bochner.tables.tree_growth import TreeSizes, boosted, logistic, softmax, squared
from bochner.tables.trees import TreeInputs, Trees

FEWEST_FOR_TREES = 400
"""Fewest observations for trees: with fewer they hardly lower the error of kernels."""

_LINE_ROWS = 100_000
"""Observations of a line: slopes have standard errors below a hundredth of the residuals."""

_ROWS_OF_A_BLOCK = 2**16
"""Rows whose inputs are computed together: their encoded columns take some tens of megabytes."""

_SIZES = TreeSizes(rate=0.08, depth=5)
"""Sizes of trees: with depths 3 and 6, errors of the sum of laws were half a per cent greater."""

_MOST_TREES, _MANY, _OF_ROWS, _AT_MOST = 200, 1200, 0.7, 1500
"""Most trees up to 1,200 observations, the power of more observations by which they grow, and their
limit: with half as many, errors of 4,000 to 6,000 rows are up to six per cent greater."""

_STAGES = 30
"""Numbers of trees that are compared by left-out errors, seven trees apart with few rows."""


def most_trees(n_samples: int) -> int:
    """Return the largest number of trees for ``n_samples`` observations."""
    return min(int(_MOST_TREES * max(1.0, n_samples / _MANY) ** _OF_ROWS), _AT_MOST)


_STRENGTHS = np.logspace(-1.0, 5.0, 7)
"""Ridge penalties of columns of variance about one, up to a line without slopes."""

_INVERSE_STRENGTH, _STEPS = 0.1, 100
"""Inverse penalty of a logistic regression of such columns, and its most steps."""


@register(shapes={"columns": "c", "coef": "ct", "intercept": "t"})
@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A linear function of some encoded columns."""

    columns: Chosen  # (c,)
    coef: Array  # (c, t)
    intercept: Array  # (t,)

    @classmethod
    def of(
        cls, columns: Chosen, X: Array, Y: Array, weights: Array, labels: Chosen | None = None
    ) -> "Line":
        """Return the best ridge regression, or log odds of classes by a logistic regression."""
        if labels is None:
            coef, intercept = _ridge(X[:, columns], Y, weights)
        else:
            model = LogisticRegression(C=_INVERSE_STRENGTH, max_iter=_STEPS)
            model.fit(X[:, columns], labels, weights)
            coef, intercept = model.coef_.T, model.intercept_
        return cls(columns, rounded(coef), rounded(intercept))

    def __call__(self, X: Array) -> Array:
        """Return the values (n, t) at encoded rows (n, d)."""
        return as_array(X[:, self.columns] @ self.coef + self.intercept)


def _ridge(X: Array, Y: Array, weights: Array) -> tuple[Array, Array]:
    """Return coefficients (d, t) and intercepts (t,) with the penalties of least left-out error."""
    centre, means = (np.average(each, axis=0, weights=weights) for each in (X, Y))
    roots = np.sqrt(weights)[:, None]
    scaled, residuals = roots * (X - centre), roots * (Y - means)
    if len(X) < X.shape[1]:
        turned = np.linalg.svd(scaled, full_matrices=False)[2].T
    else:
        turned = np.linalg.eigh(scaled.T @ scaled)[1]
    scaled = scaled @ turned  # Its columns are orthogonal
    squares, products = np.sum(scaled**2, axis=0), scaled.T @ residuals
    factors = 1.0 / np.add.outer(squares, _STRENGTHS)  # (r, a)
    # The residual of a left-out row is that of the fit, divided by one minus the leverage.
    rest = 1.0 - (weights / weights.sum())[:, None] - scaled**2 @ factors
    rest = np.maximum(rest, np.finfo(np.float64).eps)
    errors = [
        np.sum(((residuals - scaled @ (factor[:, None] * products)) / part[:, None]) ** 2, axis=0)
        for factor, part in zip(factors.T, rest.T, strict=True)
    ]
    coef = turned @ (factors[:, np.argmin(errors, axis=0)] * products)
    return coef, means - centre @ coef


@register(shapes={"signal": "t"})
@dataclass(frozen=True, slots=True, eq=False)
class TreeLaw(ResidualLaw):
    """Boosted trees, a linear function, or the sum of both as a law of a table."""

    inputs: TreeInputs
    trees: Trees
    line: Line | None = None  # Linear part, added to the trees

    def __post_init__(self) -> None:
        if self.trees.feature.max(initial=-1) >= len(self.inputs):
            raise ValueError(f"trees have inputs beyond the {len(self.inputs)} of the table")

    @property
    def kind(self) -> str:
        """Name of the kind of base model."""
        return "boosted trees" if len(self.trees.feature) else "logistic regression"

    @property
    def columns(self) -> Chosen:
        """The encoded columns (d',) that the trees and the line use."""
        return (
            self.inputs.used
            if self.line is None
            else np.union1d(self.inputs.used, self.line.columns)
        )

    def mean(self, X: Array, rows: Array) -> Array:
        """Return means (n', t) of encoded rows (n', d)."""
        values = self.trees(self.inputs(X))
        return values if self.line is None else values + self.line(X)


@dataclass(frozen=True, slots=True, eq=False)
class TreeLearner:
    """Fits trees to numeric targets or to class labels."""

    inputs: TreeInputs
    labels: NDArray[np.int64] | None  # (n,): Indices of classes; None for a regression
    seed: int
    line: Chosen | None = None  # Columns of a line, to which trees are added
    most_trees: int = _MOST_TREES
    end: float = np.inf  # Of the time limit, by the performance counter

    def trees(
        self, data: Observations, rows: Chosen, until: float = np.inf
    ) -> tuple[Line | None, Trees]:
        """Fit trees to some observations, after a line if the learner has one; return both."""
        weights, Y, n_outputs = data.weights[rows], data.Y[rows], data.Y.shape[1]
        loss, line, baseline = squared, None, np.zeros(n_outputs)
        if self.labels is not None:
            loss = logistic if n_outputs == 1 else softmax
            # Indicators of the classes, or of the second one.
            columns = np.arange(max(n_outputs, 2))[-n_outputs:]
            Y = np.equal.outer(self.labels[rows], columns).astype(np.float64)
        if self.line is None:
            baseline = np.average(Y, axis=0, weights=weights)
            if self.labels is not None:
                logs = np.log(baseline)
                baseline = logs - (np.log1p(-baseline) if n_outputs == 1 else logs.mean())
            outputs = np.tile(baseline, (len(rows), 1))
        else:
            # Evenly spaced rows, because rows are sorted by their position in the table.
            some = slice(None, None, max(1, len(rows) // _LINE_ROWS))
            labels = None if self.labels is None else self.labels[rows[some]]
            line = Line.of(self.line, data.X[rows[some]], Y[some], weights[some], labels)
            outputs = _of_rows(line, data, rows)
        inputs, n_blocks = _of_rows(self.inputs, data, rows), len(self.inputs.starts)
        arguments = loss, Y, weights, baseline, outputs, _SIZES, self.most_trees, self.seed
        return line, boosted(inputs, n_blocks, *arguments, until)

    def fit(
        self,
        data: Observations,
        order: Chosen,
        scored: Scored,
        n_threads: int = 1,
        *,
        is_final: bool = True,
    ) -> tuple[TreeLaw, LeaveOneOutPredictions] | None:
        """Fit trees to all observations, with left-out predictions; ``None`` without time."""
        total, counts = n_fits(len(scored.units), len(order)), list[int]()

        def fitted(rows: Chosen) -> TreeLaw:
            # Each fit has an equal share of the rest of the time, and no more trees than others.
            rounds, now = -(-(total - len(counts)) // n_threads), perf_counter()
            until = now + (self.end - now) / max(rounds, 1)
            learner = replace(self, most_trees=min(counts, default=self.most_trees))
            line, trees = learner.trees(data, rows, until)
            counts.append(len(trees.feature))
            ones, name = np.ones(len(trees.baseline)), "trees on a line" if line else "trees"
            return TreeLaw(name, ones, 0.0, 1.0, self.inputs, trees, line)

        def shortened(laws: list[TreeLaw], of_folds: list[tuple[TreeLaw, Chosen]]) -> list[TreeLaw]:
            """Return the laws with the number of trees of least left-out error."""
            stages = np.unique(np.linspace(0, min(counts), _STAGES + 1).astype(int))
            errors = sum(self._errors(law, data, rows, stages) for law, rows in of_folds)
            best = stages[np.argmin(errors)]
            return [replace(law, trees=law.trees.part(0, best)) for law in laws]

        arguments = data, order, scored, self.labels, n_threads, shortened
        law = with_left_out(fitted, *arguments, is_final=is_final)
        return law if self.line is not None or min(counts, default=0) else None

    def _errors(self, law: TreeLaw, data: Observations, rows: Chosen, stages: Chosen) -> Array:
        """Return the total loss of rows (n,) after each of some numbers of trees."""
        X, weights = data.X[rows], data.weights[rows]
        inputs, errors = law.inputs(X), list[float]()
        outputs = replace(law, trees=law.trees.part(0, 0)).mean(X, X)
        for pair in pairwise([0, *stages]):
            outputs = outputs + law.trees.part(*pair)(inputs) - law.trees.baseline
            if self.labels is None:
                losses = np.sum((outputs - data.Y[rows]) ** 2, axis=1)
            else:
                logs = outputs if outputs.shape[1] > 1 else np.pad(outputs, ((0, 0), (1, 0)))
                losses = logsumexp(logs, axis=1) - logs[np.arange(len(rows)), self.labels[rows]]
            errors.append(float(weights @ losses))
        return np.array(errors)


def _of_rows(function: Callable[[Array], Array], data: Observations, rows: Chosen) -> Array:
    """Return values of a function of encoded rows, without a copy of all rows."""
    return np.concatenate(
        [function(data.X[rows[part]]) for part in steps(len(rows), _ROWS_OF_A_BLOCK)]
    )

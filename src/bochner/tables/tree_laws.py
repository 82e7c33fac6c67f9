"""Gradient-boosted trees, also of a ridge regression's residuals, with out-of-fold predictions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV

from bochner._base.arrays import Array, as_array, rounded, steps
from bochner._base.registry import register
from bochner.tables.estimator_laws import ResidualLaw, with_left_out
from bochner.tables.kernel_laws import LeaveOneOutPredictions
from bochner.tables.observations import Chosen, Observations, Scored
from bochner.tables.trees import TreeInputs, Trees

FEWEST_FOR_TREES = 400
"""Fewest observations for trees: with fewer, leaves of twenty rows separate little."""

_LINE_ROWS = 100_000
"""Observations of a line: slopes have standard errors below a hundredth of the residuals."""

_ROWS_OF_A_BLOCK = 2**16
"""Rows whose inputs are computed together: their encoded columns take some tens of megabytes."""

_MANY = 2000
"""Number of observations above which boosting stops early, by the errors of a tenth of them."""


_FEWEST_STOPPED = 100
"""Fewest iterations of boosting that stops early; with fewer its weight would be almost zero."""

_MOST_OF_SEVERAL = 500
"""Most iterations for three or more outputs, each of which needs a tree in every iteration."""


@dataclass(frozen=True, slots=True)
class Boosting:
    """Inputs and scikit-learn options of boosted trees, for few and for many observations."""

    name: str
    few: dict[str, Any]
    many: dict[str, Any]
    has_waves: bool = False  # Whether waves of cycles are inputs next to their phases
    has_line: bool = False  # Whether trees are fitted to the residuals of a ridge regression

    def options(self, n_samples: int) -> dict[str, Any]:
        """Return the options for ``n_samples`` observations."""
        return self.many if n_samples > _MANY else self.few

    def most_iterations(self, n_samples: int, n_outputs: int) -> int:
        """Return the largest number of iterations for classes or targets as outputs."""
        most = int(self.options(n_samples)["max_iter"])
        return most if n_outputs <= 2 else min(most, _MOST_OF_SEVERAL)

    def fewest_iterations(self, n_samples: int) -> int:
        """Return the smallest limit of iterations with which boosting is worth its time."""
        options = self.options(n_samples)
        return _FEWEST_STOPPED if options["early_stopping"] else int(options["max_iter"])


_LEAVES_OF_TWENTY: dict[str, Any] = {"min_samples_leaf": 20, "l2_regularization": 1.0}
_LEAVES_OF_TWO: dict[str, Any] = {
    "min_samples_leaf": 2,
    "max_leaf_nodes": 15,
    "l2_regularization": 1.0,
    "max_features": 0.5,
    "early_stopping": False,
}

BOOSTINGS = (
    Boosting(
        "large trees",
        {**_LEAVES_OF_TWENTY, "learning_rate": 0.1, "max_iter": 100, "early_stopping": False},
        {
            **_LEAVES_OF_TWENTY,
            "learning_rate": 0.1,
            "max_iter": 1000,
            "max_features": 0.5,
            "early_stopping": True,
            "n_iter_no_change": 15,
        },
        has_line=True,
    ),
    Boosting(
        "small trees",
        {**_LEAVES_OF_TWO, "learning_rate": 0.03, "max_iter": 150},
        {**_LEAVES_OF_TWO, "learning_rate": 0.05, "max_iter": 300},
        has_waves=True,
    ),
)
"""Large trees have scikit-learn's defaults; for many observations, a random half of the columns and
early stopping. Small trees have the waves of cycles as inputs: a single split separates the night
from other times. Either has errors up to a fifth below those of the other."""

_STRENGTHS = np.logspace(-1.0, 5.0, 7)
"""Ridge penalties of columns of variance about one, up to a line without slopes."""


@register(shapes={"columns": "c", "coef": "ct", "intercept": "t"})
@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A linear function of some encoded columns."""

    columns: Chosen  # (c,)
    coef: Array  # (c, t)
    intercept: Array  # (t,)

    @classmethod
    def of(cls, columns: Chosen, X: Array, Y: Array, weights: Array) -> "Line":
        """Return the ridge regression of least generalised cross-validation error."""
        model = RidgeCV(_STRENGTHS, alpha_per_target=True).fit(X[:, columns], Y, weights)
        coef = np.reshape(model.coef_, (Y.shape[1], len(columns)))  # (c,) for a single target
        return cls(columns, rounded(coef.T), rounded(np.ravel(model.intercept_)))

    def __call__(self, X: Array) -> Array:
        """Return the values (n, t) at encoded rows (n, d)."""
        return as_array(X[:, self.columns] @ self.coef + self.intercept)


@register(shapes={"signal": "t"})
@dataclass(frozen=True, slots=True, eq=False)
class TreeLaw(ResidualLaw):
    """Boosted trees as a law of a table."""

    inputs: TreeInputs
    trees: Trees
    line: Line | None = None  # Linear part, added to the trees

    def __post_init__(self) -> None:
        if self.trees.feature.max(initial=-1) >= len(self.inputs):
            raise ValueError(f"trees have inputs beyond the {len(self.inputs)} of the table")

    @property
    def kind(self) -> str:
        """Name of the kind of base model."""
        return "boosted trees"

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

    boosting: Boosting
    inputs: TreeInputs
    labels: NDArray[np.int64] | None  # (n,): Indices of classes; None for a regression
    seed: int
    line: Chosen | None = None  # Columns of a line, which is subtracted from numeric targets
    most_iterations: int | None = None  # None: the limit of the boosting

    def trees(self, data: Observations, rows: Chosen) -> tuple[Line | None, Trees]:
        """Fit trees to some observations, after a line if the learner has one; return both."""
        inputs, weights = self._of_rows(self.inputs, data, rows), data.weights[rows]
        line, Y = None, data.Y[rows]
        # No line for classes: residuals of class indicators are no labels for a classifier.
        if self.line is not None and self.labels is None:
            # Evenly spaced rows, because rows are sorted by their position in the table.
            some = rows[:: max(1, len(rows) // _LINE_ROWS)]
            line = Line.of(self.line, data.X[some], data.Y[some], data.weights[some])
            Y = rounded(Y - self._of_rows(line, data, rows))
        most = self.boosting.most_iterations(len(rows), data.Y.shape[1])
        if self.most_iterations is not None:
            most = min(most, self.most_iterations)
        options = self.boosting.options(len(rows)) | {"max_iter": most, "random_state": self.seed}
        if self.labels is None:
            pairs = [(HistGradientBoostingRegressor(**options), y) for y in Y.T]
        else:
            pairs = [(HistGradientBoostingClassifier(**options), self.labels[rows])]
        return line, Trees.fitted(pairs, inputs, len(self.inputs.starts), weights)

    @staticmethod
    def _of_rows(function: Callable[[Array], Array], data: Observations, rows: Chosen) -> Array:
        """Return values of a function of encoded rows, without a copy of all rows."""
        blocks = steps(len(rows), _ROWS_OF_A_BLOCK)
        return np.concatenate([function(data.X[rows[part]]) for part in blocks])

    def fit(
        self,
        data: Observations,
        order: Chosen,
        scored: Scored,
        n_threads: int = 1,
        *,
        is_final: bool = True,
    ) -> tuple[TreeLaw, LeaveOneOutPredictions] | None:
        """Fit trees to all observations; return them with left-out predictions."""

        def fitted(rows: Chosen) -> TreeLaw:
            line, trees = self.trees(data, rows)
            ones = np.ones(len(trees.baseline))
            return TreeLaw(self.boosting.name, ones, 0.0, 1.0, self.inputs, trees, line)

        return with_left_out(fitted, data, order, scored, self.labels, n_threads, is_final=is_final)

"""The two regressions behind :class:`bochner.AsymmetricKernelRidge`: on rows and on pairs."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array
from bochner.estimators.predictions import predictions
from bochner.features.stats import feature_sums
from bochner.frequencies import Frequencies
from bochner.learning.asymmetric_ridge import fit_composed, right_gram
from bochner.learning.pair_ridge import PairFeatures, PairSolution, best_pair_alpha, fit_pairs
from bochner.learning.ridge import RidgePosterior


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """Rows ``X`` (n, d), right rows ``Y`` of pairs or ``None``, targets (n, t) and weights (n,)."""

    X: Any
    Y: Any
    targets: Array
    weight: Array | None


class AsymmetricForm(ABC):
    """A regression on rows or on pairs of rows, with features of given frequencies."""

    @abstractmethod
    def fit(
        self,
        frequencies: Frequencies,
        rows: TrainingRows,
        alpha: float | None,
        rng: np.random.Generator,
        *,
        fit_intercept: bool,
    ) -> RidgePosterior | PairSolution:
        """Return the solution; ``alpha=None`` maximises the evidence."""

    @abstractmethod
    def predict(
        self, frequencies: Frequencies, solution: Any, X: Any, Y: Any, *, with_std: bool
    ) -> tuple[Array, Array | None]:
        """Return means and, if asked for, standard deviations, both of shape (n, t)."""


class RowForm(AsymmetricForm):
    """Ridge regression with the composed kernel, a function of the left argument."""

    def fit(
        self,
        frequencies: Frequencies,
        rows: TrainingRows,
        alpha: float | None,
        rng: np.random.Generator,
        *,
        fit_intercept: bool,
    ) -> RidgePosterior:
        sums = feature_sums(frequencies, rows.X, rows.targets, rows.weight)
        symmetric = frequencies.is_symmetric
        gram = sums.gram if symmetric else right_gram(frequencies, rows.X, rows.weight)
        return fit_composed(sums, gram, frequencies.signature, alpha, fit_intercept=fit_intercept)

    def predict(
        self, frequencies: Frequencies, solution: RidgePosterior, X: Any, Y: Any, *, with_std: bool
    ) -> tuple[Array, Array | None]:
        if Y is not None:
            raise ValueError("This model was fitted to rows: predict takes no right rows.")
        return predictions(frequencies, solution, X, with_std=with_std)


class PairForm(AsymmetricForm):
    """Ridge regression on products of left and right features, a function of both arguments."""

    def fit(
        self,
        frequencies: Frequencies,
        rows: TrainingRows,
        alpha: float | None,
        rng: np.random.Generator,
        *,
        fit_intercept: bool,
    ) -> PairSolution:
        features, targets = PairFeatures.of(frequencies, rows.X, rows.Y), rows.targets[:, 0]
        options: dict[str, Any] = {"weight": rows.weight, "fit_intercept": fit_intercept}
        if alpha is None:
            alpha = best_pair_alpha(features, targets, rng, **options)
        return fit_pairs(features, targets, alpha, **options)

    def predict(
        self, frequencies: Frequencies, solution: PairSolution, X: Any, Y: Any, *, with_std: bool
    ) -> tuple[Array, Array | None]:
        if Y is None:
            raise ValueError(
                "This model was fitted to pairs: pass their right rows, predict(X, right=Y)."
            )
        if with_std:
            raise ValueError("Predictions on pairs have no standard deviation.")
        mean = np.empty((X.shape[0], 1))
        for rows, Z, Z_right in PairFeatures(frequencies, X, Y).blocks():
            mean[rows, 0] = solution.mean(Z, Z_right)
        return mean, None


FORMS: dict[bool, AsymmetricForm] = {False: RowForm(), True: PairForm()}
"""The two regressions, by whether rows come in pairs."""

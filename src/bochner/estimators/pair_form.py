"""Asymmetric kernel ridge regression on pairs of rows: a bilinear function of both arguments."""

from typing import Any

import numpy as np

from bochner._numerics.arrays import Array
from bochner.estimators.asymmetric_forms import AsymmetricForm, TrainingRows
from bochner.frequencies import Frequencies
from bochner.learning.pair_ridge import PairSolution, best_pair_alpha, fit_pairs
from bochner.learning.pair_system import PairFeatures


class PairForm(AsymmetricForm):
    """Ridge regression on the products of left and right features."""

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


def check_pairs(X: Any, Y: Any) -> None:
    """Raise ``ValueError`` unless there are as many left rows as right rows."""
    if Y.shape[0] != X.shape[0]:
        raise ValueError(
            f"X has {X.shape[0]} rows and right has {Y.shape[0]}: a pair is one row of each."
        )

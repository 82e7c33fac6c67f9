"""Asymmetric kernel ridge regression on rows: a function of the left argument."""

from typing import Any

import numpy as np

from bochner._numerics.arrays import Array
from bochner.estimators.asymmetric_forms import AsymmetricForm, TrainingRows
from bochner.estimators.predictions import predictions
from bochner.features.stats import feature_sums
from bochner.frequencies import Frequencies
from bochner.learning.asymmetric_ridge import fit_composed, right_gram
from bochner.learning.ridge import RidgePosterior


class RowForm(AsymmetricForm):
    """Ridge regression with the composed kernel."""

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

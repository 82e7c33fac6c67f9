"""Seconds of a sweep and errors, against the numbers of rows and of frequencies."""

from pathlib import Path

import numpy as np

from benchmarks.folds import fold_of
from bochner.estimators.bank_classifier import BaNKClassifier
from bochner.estimators.bank_regressor import BaNKRegressor


def scaling_metrics(
    name: str,
    n_rows: int,
    n_frequencies: int,
    n_iterations: int,
    fold: int,
    folder: Path | None,
) -> dict[str, float]:
    """Return the median seconds of a sweep over all frequencies, and the test error.

    Parameters
    ----------
    name : str
    n_rows : int
        Of the training fold, chosen at random.
    n_frequencies : int
    n_iterations : int
        Of burn-in, and as many of sampling, a sweep each.
    fold : int
    folder : Path or None
    """
    data = fold_of(name, fold, folder)
    order = np.random.default_rng(fold).permutation(len(data.y))
    data = data.part(np.sort(order[:n_rows]))
    kind = BaNKRegressor if data.is_regression else BaNKClassifier
    model = kind(
        n_frequencies,
        structure="sparse",
        n_burn_in=n_iterations,
        n_samples=n_iterations,
        thin=1,
        random_state=fold,
    ).fit(data.X, data.y)
    seconds = float(np.median(model.trace_.kept("seconds")))
    found = {"sweep_seconds": seconds}
    prediction = model.predict(data.X_test)
    if data.is_regression:
        return {"mse": float(np.mean((prediction - data.y_test) ** 2)), **found}
    return {"error": float(np.mean(prediction != data.y_test)), **found}

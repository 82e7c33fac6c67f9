"""Measures of a method on test rows: errors, intervals, densities, seconds and megabytes."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.predictions import log_density
from benchmarks.real import design
from benchmarks.real.methods import Method
from benchmarks.real.reading import Rows
from bochner._base.arrays import Array

THIRDS = ("low", "middle", "high")
_LEAST_PROBABILITY = 1e-15  # What a log loss takes for a class that is said to be impossible


def measured(method: Method, rows: Rows) -> Mapping[str, float]:
    """Return the metrics of a method that is fitted to the training rows.

    ``load`` is the mean number of busy processes in the minute before the fit.
    """
    load, threads = os.getloadavg()[0], design.threads()
    with threadpool_limits(threads):
        start = perf_counter()
        method.fit(rows.X, rows.y)
        seconds = perf_counter() - start
        predicted = method.predict(rows.X_test)
        # The first prediction may compile and load what later ones use.
        start = perf_counter()
        method.predict(rows.X_test)
        each = 1e6 * (perf_counter() - start) / len(rows.y_test)
        metrics = errors(predicted, rows.y_test, is_regression=rows.is_regression)
        if method.laws is not None:
            metrics |= intervals(method.laws, predicted, rows)
    return metrics | {
        "fit_seconds": seconds,
        "predict_microseconds": each,
        "megabytes": megabytes(method),
        "threads": float(threads),
        "load": load,
    }


def errors(predicted: Array, y: NDArray[Any], *, is_regression: bool) -> dict[str, float]:
    """Return RMSE and mean absolute error, or log loss and the share of wrong classes."""
    if is_regression:
        residual = y - predicted
        rmse, mae = np.sqrt(np.mean(residual**2)), np.mean(np.abs(residual))
        return {"rmse": float(rmse), "mae": float(mae)}
    true_probability = predicted[np.arange(len(y)), y]
    return {
        "log_loss": -float(np.mean(np.log(np.maximum(true_probability, _LEAST_PROBABILITY)))),
        "error_rate": float(np.mean(np.argmax(predicted, axis=1) != y)),
    }


def intervals(model: Any, predicted: Array, rows: Rows) -> dict[str, float]:
    """Return negative log density, coverage, and the absolute error of medians.

    The density is that of the model if it has one, else that of a normal distribution with its
    mean and standard deviation.
    """
    X, y = rows.X_test, rows.y_test
    if hasattr(model, "log_predictive_density"):
        density = model.log_predictive_density(X, y)
    else:
        mean, std = model.predict(X, return_std=True)
        density = log_density(y - mean, std)
    lower, upper = model.predict_interval(X, level=design.INTERVAL)
    median = np.ravel(model.predict_quantiles(X, (0.5,)))
    return {
        "nlpd": -float(np.mean(density)),
        "median_mae": float(np.mean(np.abs(y - median))),
        **coverage((lower <= y) & (y <= upper), predicted),
    }


def coverage(is_inside: NDArray[np.bool_], predicted: Array) -> dict[str, float]:
    """Return the share of rows inside their intervals, in all and by thirds of the prediction."""
    thirds = np.array_split(np.argsort(predicted, kind="stable"), len(THIRDS))
    parts = {
        f"coverage_{name}": float(np.mean(is_inside[part]))
        for name, part in zip(THIRDS, thirds, strict=True)
    }
    return {"coverage": float(np.mean(is_inside)), **parts}


def megabytes(method: Method) -> float:
    """Return the size of the files of a model."""
    with tempfile.TemporaryDirectory() as folder:
        method.save(Path(folder))
        files = (path for path in Path(folder).rglob("*") if path.is_file())
        return sum(path.stat().st_size for path in files) / 1e6

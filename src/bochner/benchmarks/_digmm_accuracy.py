"""Errors, accuracies and courses of ascents, for the benchmark of learned mixtures."""

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.benchmarks import _digmm_design as design
from bochner.benchmarks._digmm_best import best_map
from bochner.benchmarks._digmm_rows import rows_of
from bochner.benchmarks._rows import Rows
from bochner.benchmarks._squared_hinge import (
    accuracies,
    labels_of,
    minimised,
    targets_of,
    with_ones,
)
from bochner.estimators.digmm_features import DIGMMFeatures

_FOLDS = 5
_BLOCK = 4_000
_COURSE = 50

Metrics = Mapping[str, float]


def error_metrics(features: Any, kernel: Any, rows: Rows) -> Metrics:
    """Return the root mean square error over pairs of test rows, each with another one."""
    start = perf_counter()
    features.fit(rows.train)
    seconds = perf_counter() - start
    exact = kernel(rows.error)
    difference = features.gram(rows.error) - exact
    pairs = ~np.eye(len(exact), dtype=np.bool_)
    rmse = float(np.sqrt(np.mean(difference[pairs] ** 2)))
    size = float(np.sqrt(np.mean(exact[pairs] ** 2)))
    return {"rmse": rmse, "relative_rmse": rmse / size, "fit_seconds": seconds}


def accuracy_metrics(features: Any | None, rows: Rows, seed: int) -> Metrics:
    """Return the test accuracy of a linear classifier on features, or on the columns."""
    start = perf_counter()
    if features is not None:
        features.fit(rows.train)
    fit_seconds = perf_counter() - start
    return {**learned_metrics(features, rows, seed), "fit_seconds": fit_seconds}


def best_metrics(rows: Rows, n_components: int, seed: int) -> Metrics:
    """Return the accuracy of the library's best, chosen on training rows, and what it is."""
    start = perf_counter()
    features, name = best_map(rows.train, rows.y, n_components, seed)
    fit_seconds = perf_counter() - start
    learned = learned_metrics(features, rows, seed)
    return {**learned, "fit_seconds": fit_seconds, f"{design.CHOSEN}{name}": 1.0}


def learned_metrics(features: Any | None, rows: Rows, seed: int) -> Metrics:
    """Return the test accuracy, and the C that was chosen on training rows."""
    chosen = np.random.default_rng(seed).permutation(len(rows.y))[: rows.choice.stop]
    start = perf_counter()
    Z = _mapped(features, rows.train)
    by_C = accuracies(Z[chosen], rows.y[chosen], design.CS, _FOLDS, seed)
    C = design.CS[int(np.argmax(by_C))]
    targets, classes = targets_of(rows.y)
    weight = minimised(Z, targets, C).weight
    learn_seconds = perf_counter() - start
    del Z
    right = [
        labels_of(_mapped(features, rows.test[i : i + _BLOCK]) @ weight, classes)
        == rows.y_test[i : i + _BLOCK]
        for i in range(0, len(rows.test), _BLOCK)
    ]
    accuracy = float(np.mean(np.concatenate(right)))
    return {"accuracy": 100.0 * accuracy, "C": C, "learn_seconds": learn_seconds}


def course_metrics(features: DIGMMFeatures, X: Array) -> Metrics:
    """Return the change of labels and the bound in every iteration."""
    start = perf_counter()
    features.fit(X)
    seconds = perf_counter() - start
    found = {"n_iter": float(features.n_iter_), "fit_seconds": seconds}
    for what, values in (("change", features.changes_), ("bound", features.elbo_)):
        for index, value in enumerate(values[:_COURSE]):
            found[course_name(what, index + 1)] = float(value)
    return found


def course_name(what: str, iteration: int) -> str:
    """Return the name of the metric of one iteration."""
    return f"{what}({iteration})"


def cell_rows(name: str, kernel: str, seed: int, folder: Path | None, *, every: bool) -> Rows:
    """Return the rows of a cell, on the sphere where the kernel wants them there."""
    on_sphere = kernel in design.STUDIES and design.STUDIES[kernel].on_sphere
    return rows_of(name, seed, folder, on_sphere=on_sphere, every=every)


def _mapped(features: Any | None, X: Array) -> NDArray[np.float32]:
    """Return the features of rows, or the rows, and a column of ones."""
    X = np.asarray(X, dtype=np.float32)
    Z = X if features is None else np.asarray(features.transform(X), dtype=np.float32)
    return with_ones(Z)

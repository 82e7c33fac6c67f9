"""Accuracies of a linear classifier on features of asymmetric kernels."""

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from benchmarks.asymmetric.design import (
    ASY_JORDAN,
    ASY_POLAR,
    BY_GAUSSIAN,
    BY_KERNEL,
    CS,
    KERNELS,
    LINEAR,
    RBF,
    RBF_TWICE,
    SYM,
    TRIALS,
)
from benchmarks.rows import Rows
from bochner._numerics.arrays import Array
from bochner.features.transformer import FourierFeatures
from bochner.kernels import Kernel

_FOLDS = 5
_TOLERANCE = 0.01
_ITERATIONS = 1_000
_BLOCK = 2_000
_EVERY = (LINEAR, *BY_KERNEL, *BY_GAUSSIAN)


class _Twice(FourierFeatures):
    """Features side by side with themselves."""

    def transform(self, X: Any) -> NDArray[Any]:
        Z = super().transform(X)
        return np.concatenate((Z, Z), axis=1)


def accuracy_metrics(rows: Rows, label: str, method: str, size: int, seed: int) -> dict[str, float]:
    """Return the test accuracy of liblinear, its ``C`` chosen on some rows, and seconds.

    Parameters
    ----------
    rows : Rows
    label, method : str
        A kernel and a method of the design.
    size : int
        The paper's M over the number of inputs; features have M or 3 M frequencies.
    seed : int
    """
    if method == LINEAR:
        return _learned(rows, None)
    dim = rows.train.shape[1]
    features = _features(KERNELS[label](dim), method, size * dim, seed)
    start = perf_counter()
    features.fit(rows.train)
    drawn = perf_counter()
    width = features.transform(rows.train).shape[1]
    transformed = perf_counter()
    return {
        "n_features": float(width),
        "draw_seconds": drawn - start,
        "feature_seconds": transformed - start,
        **_learned(rows, features),
    }


def _features(kernel: Kernel, method: str, M: int, seed: int) -> FourierFeatures:
    m = M if method in (SYM, RBF) else 3 * M
    random_state = seed + TRIALS * (1 + _EVERY.index(method))
    options: dict[str, Any] = {"n_components": 2 * m, "random_state": random_state}
    if method == ASY_POLAR:
        return FourierFeatures(kernel, decomposition="polar", output="concatenated", **options)
    if method == RBF_TWICE:
        return _Twice(kernel, **options)
    options |= {"scheme": "iid", "decomposition": "jordan"}
    if method == ASY_JORDAN:
        return FourierFeatures(kernel, output="concatenated", **options)
    return FourierFeatures(kernel.symmetrised, **options)


def _learned(rows: Rows, features: FourierFeatures | None) -> dict[str, float]:
    def transformed(X: Array) -> NDArray[Any]:
        return X if features is None else features.transform(X)

    Z = transformed(rows.train)
    # Liblinear's own tolerance; scikit-learn's is a hundred times smaller.
    model = LinearSVC(dual=False, tol=_TOLERANCE, max_iter=_ITERATIONS)
    search = GridSearchCV(model, {"C": CS}, cv=_FOLDS, refit=False)
    search.fit(Z[rows.choice], rows.y[rows.choice])
    model.set_params(**search.best_params_).fit(Z, rows.y)
    right = [
        model.predict(transformed(rows.test[i : i + _BLOCK])) == rows.y_test[i : i + _BLOCK]
        for i in range(0, len(rows.test), _BLOCK)
    ]
    return {
        "accuracy": float(np.mean(np.concatenate(right))),
        "C": float(search.best_params_["C"]),
    }

"""The time of a ridge regression on random features, beside scikit-learn's."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import blas
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from benchmarks.results import Row
from benchmarks.speed.part import Place, by_method, speed_part
from bochner._numerics.arrays import Array
from bochner.estimators.krein_ridge import KreinRidge
from bochner.kernels import Gaussian

OURS, SKLEARN, PRODUCTS = "bochner", "RBFSampler + Ridge", "float32 products alone"

_TEST_ROWS, _ALPHA, _NOISE, _WAVES = 10_000, 1.0, 0.3, 400
_BLOCK_ROWS = 4_096


def ridge_metrics(
    method: str, n: int, d: int, p: int, dtype: str, seed: int
) -> Mapping[str, float]:
    """Return ``fit_seconds`` and, of a method that predicts, the ``mse`` on fresh rows."""
    X, y, X_test, y_test = ridge_rows(n, d)
    if method == PRODUCTS:
        return {"fit_seconds": _products(n, p)}
    model = _models(d, p, seed)[method]()
    start = perf_counter()
    model.fit(X, y)
    seconds = perf_counter() - start
    error = float(np.mean((model.predict(X_test) - y_test) ** 2))
    return {"fit_seconds": seconds, "mse": error}


@lru_cache(maxsize=1)
def ridge_rows(n: int, d: int) -> tuple[Array, Array, Array, Array]:
    """Return rows and noisy values of a function with the spectrum of the kernel."""
    rng = np.random.default_rng(0)
    omega = rng.normal(size=(_WAVES, d)) / _length_scale(d)
    phase = rng.uniform(0.0, 2.0 * np.pi, size=_WAVES)

    def draw(count: int) -> tuple[Array, Array]:
        X = rng.normal(size=(count, d))
        y = np.empty(count)
        for start in range(0, count, _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            y[rows] = np.cos(X[rows] @ omega.T + phase).sum(axis=1) * np.sqrt(2.0 / _WAVES)
        return X, y + _NOISE * rng.normal(size=count)

    return *draw(n), *draw(_TEST_ROWS)


def ridge_model(d: int, p: int, seed: int) -> KreinRidge:
    """Return our ridge regression, with the kernel whose spectrum the function has."""
    kernel = Gaussian(_length_scale(d))
    return KreinRidge(kernel, p, _ALPHA, fit_intercept=True, random_state=seed)


def _length_scale(d: int) -> float:
    return 1.5 * float(np.sqrt(d))


def _models(d: int, p: int, seed: int) -> Mapping[str, Callable[[], Any]]:
    scale = _length_scale(d)
    return {
        OURS: lambda: ridge_model(d, p, seed),
        SKLEARN: lambda: make_pipeline(
            RBFSampler(gamma=0.5 / scale**2, n_components=p, random_state=seed),
            Ridge(_ALPHA, solver="cholesky"),
        ),
    }


def _products(n: int, p: int) -> float:
    """Return the seconds of the products of blocks of float32 features with themselves."""
    Z = np.random.default_rng(0).normal(size=(min(n, _BLOCK_ROWS), p)).astype(np.float32)
    gram = np.zeros((p, p), np.float32, order="F")
    start = perf_counter()
    for first in range(0, n, _BLOCK_ROWS):
        part = Z[: min(_BLOCK_ROWS, n - first)]
        blas.ssyrk(1.0, part.T, beta=1.0, c=gram, lower=1, overwrite_c=1)
    return perf_counter() - start


def _places(quick: bool) -> Sequence[Place]:
    n, d, p = (2_000, 5, 64) if quick else (200_000, 20, 2_048)
    places = [Place(method, n, d, p) for method in (OURS, SKLEARN, PRODUCTS)]
    if not quick:
        places += [Place(method, 100_000, 20, 8_192, repetitions=3) for method in (OURS, SKLEARN)]
    return places


def _page(rows: Sequence[Row]) -> Sequence[str]:
    return (
        "**Ridge regression on random features** of float64 rows, and the float32 products of "
        "such features with themselves alone.",
        by_method(rows, "fit_seconds", OURS),
        "Mean square errors on fresh rows:",
        by_method(rows, "mse"),
    )


RIDGE = speed_part("ridge", _places, ridge_metrics, _page)

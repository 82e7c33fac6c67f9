"""The time and memory of ridge regressions on random features, next to scikit-learn's."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import blas
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from benchmarks.results import Row, medians
from benchmarks.speed.part import Place, by_method, seconds_and_peak, speed_part
from bochner._base.arrays import Array
from bochner.kernels import Gaussian
from bochner.linear.krein_ridge import KreinRidge

OURS, SKLEARN, PRODUCTS = "bochner", "RBFSampler + Ridge", "float32 products alone"

# Fresh rows, the penalty, the noise's deviation, and waves of a function of variance one.
_TEST_ROWS, _ALPHA, _NOISE, _WAVES = 10_000, 1.0, 0.3, 400
_BLOCK_ROWS = 4_096  # Rows made at once: 13 MB of float64 waves, 34 MB of 2,048 float32 features


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


ARRAYS, STREAM = "rows in memory", "rows made on the fly"

_CHUNK_ROWS = 100_000  # 16 MB of 20 float64 inputs


def large_metrics(
    method: str, n: int, d: int, p: int, dtype: str, seed: int
) -> Mapping[str, float]:
    """Return ``large_seconds`` and ``peak_megabytes`` of one fit in a separate process."""
    prepare = _in_memory if method == ARRAYS else _on_the_fly
    seconds, peak = seconds_and_peak(prepare, _fit_large, n, d, p, seed)
    return {"large_seconds": seconds, "peak_megabytes": peak}


@dataclass(frozen=True, slots=True)
class MadeRows:
    """Chunks of ``n`` seeded normal rows of ``d`` inputs, a sine of one direction and noise."""

    n: int
    d: int

    def __iter__(self) -> Iterator[tuple[Array, Array]]:
        """Yield chunks of 100,000 rows."""
        direction = np.random.default_rng(0).normal(size=self.d) / np.sqrt(self.d)
        for start in range(0, self.n, _CHUNK_ROWS):
            rng = np.random.default_rng((1, start))
            X = rng.normal(size=(min(_CHUNK_ROWS, self.n - start), self.d))
            yield X, np.sin(3.0 * X @ direction) + 0.1 * rng.normal(size=len(X))


Fit = tuple[KreinRidge, tuple[Array, Array] | tuple[MadeRows]]


def _in_memory(n: int, d: int, p: int, seed: int) -> Fit:
    X, y, *_ = ridge_rows(n, d)
    _warm_up(X[:1000], y[:1000])
    return ridge_model(d, p, seed), (X, y)


def _on_the_fly(n: int, d: int, p: int, seed: int) -> Fit:
    rows = MadeRows(n, d)
    _warm_up(*next(iter(MadeRows(1000, d))))
    return ridge_model(d, p, seed), (rows,)


def _warm_up(X: Array, y: Array) -> None:
    # What is loaded and compiled once is no part of a fit.
    ridge_model(X.shape[1], 64, 0).fit(X, y)


def _fit_large(prepared: Fit) -> None:
    model, rows = prepared
    model.fit(*rows)


def _large_places(quick: bool) -> Sequence[Place]:
    if quick:
        return [Place(method, n, 3, 32) for method in (ARRAYS, STREAM) for n in (1_000, 3_000)]
    made = [
        Place(STREAM, n, 20, 512, repetitions=3)
        for n in (1_000_000, 2_000_000, 5_000_000, 10_000_000)
    ]
    sizes = ((200_000, 2_048), (1_000_000, 2_048), (100_000, 8_192))
    return made + [Place(ARRAYS, n, 20, p, repetitions=1) for n, p in sizes]


def _large_page(rows: Sequence[Row]) -> Sequence[str]:
    made = [row for row in rows if row["method"] == STREAM]
    seconds = medians(made, by=("n",), metric="large_seconds")
    n = np.array([key[0] for key in seconds], dtype=np.float64)
    explained = np.corrcoef(n, np.array(list(seconds.values())))[0, 1] ** 2
    return (
        "**Ridge regression on many rows**, every fit in a process of its own: seconds (with those "
        "of making the rows), and megabytes at the peak, above the rows where they are in memory.",
        by_method(rows, "large_seconds"),
        by_method(rows, "peak_megabytes"),
        f"A line in the number of rows made on the fly explains {explained:.2%} of the variance "
        "of the seconds.",
    )


LARGE = speed_part("large", _large_places, large_metrics, _large_page)

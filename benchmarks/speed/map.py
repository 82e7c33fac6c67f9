"""The time of the feature map, next to other maps and what the machine itself needs."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_approximation import RBFSampler

from benchmarks.results import Row, medians
from benchmarks.speed.part import DOUBLE, SINGLE, Place, by_method, speed_part, touch_memory
from bochner._base.arrays import Array
from bochner.features.transformer import FourierFeatures
from bochner.kernels import Gaussian
from bochner.spectral.decompositions import spectral_measure
from bochner.spectral.frequencies import Frequencies

OURS, RBF_SAMPLER, NUMPY, TORCH = "bochner", "RBFSampler", "NumPy", "torch"
PRODUCT, WRITING = "the product alone", "writing alone"

_CHECKED_ROWS = 500  # Rows of the run before the timed one, and in extended precision


def map_methods() -> Iterator[str]:
    """Yield the methods, torch where it is installed."""
    yield from (OURS, RBF_SAMPLER, NUMPY)
    if find_spec("torch") is not None:
        yield TORCH
    yield from (PRODUCT, WRITING)


def map_metrics(method: str, n: int, d: int, p: int, dtype: str, seed: int) -> Mapping[str, float]:
    """Return ``map_seconds`` of one run after one on few rows, and our ``max_error``."""
    X, features = _place(n, d, p, dtype)
    transform = _maps(features, p)[method]
    transform(X[:_CHECKED_ROWS])
    touch_memory(n, p, dtype)
    start = perf_counter()
    Z = transform(X)
    metrics = {"map_seconds": perf_counter() - start}
    if method == OURS:
        metrics["max_error"] = _max_error(features, X[:_CHECKED_ROWS], Z[:_CHECKED_ROWS])
    return metrics


@lru_cache(maxsize=1)
def _place(n: int, d: int, p: int, dtype: str) -> tuple[NDArray[Any], FourierFeatures]:
    X = np.random.default_rng(0).normal(size=(n, d)).astype(dtype)
    # Angles are within twenty radians or so.
    kernel = Gaussian(float(np.sqrt(d)) / 4.0)
    features = FourierFeatures(kernel, p, scheme="iid", random_state=0).fit(X[:_CHECKED_ROWS])
    return X, features


def _maps(features: FourierFeatures, p: int) -> Mapping[str, Callable[[NDArray[Any]], Any]]:
    omega = features.frequencies_.omega
    m, d = omega.shape
    scale = float(np.sqrt(1.0 / m))

    def numpy_map(X: NDArray[Any]) -> NDArray[Any]:
        angle = X @ omega.T.astype(X.dtype)
        Z = np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
        Z *= X.dtype.type(scale)
        return Z

    def torch_map(X: NDArray[Any]) -> Any:
        torch = import_module("torch")
        angle = torch.from_numpy(X) @ torch.from_numpy(omega.T.astype(X.dtype))
        return torch.cat([angle.cos(), angle.sin()], dim=1).mul_(scale)

    def product(X: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(X @ omega.T.astype(X.dtype))

    def writing(X: NDArray[Any]) -> NDArray[Any]:
        Z = np.empty((len(X), p), dtype=X.dtype)
        Z.fill(1.0)
        return Z

    def rbf_sampler(X: NDArray[Any]) -> NDArray[Any]:
        gamma = 0.5 / float(np.sqrt(d) / 4.0) ** 2
        sampler = RBFSampler(gamma=gamma, n_components=p, random_state=0).fit(X[:2])
        return np.asarray(sampler.transform(X))

    return {
        OURS: features.transform,
        RBF_SAMPLER: rbf_sampler,
        NUMPY: numpy_map,
        TORCH: torch_map,
        PRODUCT: product,
        WRITING: writing,
    }


def _max_error(features: FourierFeatures, X: NDArray[Any], Z: NDArray[Any]) -> float:
    """Return the greatest error of cosines and sines against extended precision."""
    omega = features.frequencies_.omega.astype(np.longdouble)
    angle = X.astype(np.longdouble) @ omega.T
    exact = np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
    return float(np.abs(Z * np.sqrt(np.longdouble(len(omega))) - exact).max())


def _places(quick: bool) -> Sequence[Place]:
    n, d, p = (2_000, 5, 64) if quick else (200_000, 22, 1_024)
    return [Place(method, n, d, p, dtype) for dtype in (DOUBLE, SINGLE) for method in map_methods()]


def _page(rows: Sequence[Row]) -> Sequence[str]:
    errors = [row for row in rows if row["metric"] == "max_error"]
    listed = medians(errors, by=("dtype",), metric="max_error").items()
    return (
        "**The feature map**: rows to features, and what the product with the frequencies and "
        "writing an array of that size take alone, all in memory that the machine has used before.",
        by_method(rows, "map_seconds", OURS),
        "Greatest error of our cosines and sines against extended precision: "
        + ", ".join(f"{value:.1e} ({key[0]})" for key, value in listed)
        + ".",
    )


MAP = speed_part("map", _places, map_metrics, _page)


INSTALLED, LATER = "right after installation", "later"

_CALL = """
from time import perf_counter
import numpy as np
from bochner import FourierFeatures
X = np.ones(({n}, {d}), "{dtype}")
features = FourierFeatures("gaussian", {p}, length_scale=1.0, random_state=0).fit(X)
start = perf_counter()
features.transform(X)
print(perf_counter() - start)
"""


def first_metrics(
    method: str, n: int, d: int, p: int, dtype: str, seed: int
) -> Mapping[str, float]:
    """Return ``first_seconds`` of the first call of ``transform`` in a new process."""
    code = _CALL.format(n=n, d=d, p=p, dtype=dtype)
    with TemporaryDirectory() as folder:
        # An empty folder of compiled loops is what an installation begins with.
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        for _ in range(1 if method == INSTALLED else 2):
            ended = subprocess.run(
                [sys.executable, "-c", code],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
    return {"first_seconds": float(ended.stdout)}


def _first_places(quick: bool) -> Sequence[Place]:
    n, d, p = (100, 3, 64) if quick else (1_000, 20, 1_024)
    dtypes = (DOUBLE,) if quick else (DOUBLE, SINGLE)
    return [
        Place(method, n, d, p, dtype, repetitions=1 if quick else 5)
        for dtype in dtypes
        for method in (INSTALLED, LATER)
    ]


def _first_page(rows: Sequence[Row]) -> Sequence[str]:
    return (
        "**The first call of a process**, which compiles the loops right after "
        "installation, and loads them later.",
        by_method(rows, "first_seconds"),
    )


FIRST = speed_part("first", _first_places, first_metrics, _first_page)


STRUCTURED, DENSE, ORTHOGONAL = "structured", "structured, as an array", "orthogonal"

_ERROR_ROWS, _WARM_ROWS = 400, 20  # Rows of the Gram matrix, and of the run before the timed one


def structured_metrics(
    method: str, n: int, d: int, p: int, dtype: str, seed: int
) -> Mapping[str, float]:
    """Return ``held_seconds`` of a map, or ``gram_error`` of its frequencies, or both."""
    X, kernel = _rows(n, d).astype(dtype), Gaussian(float(np.sqrt(d)))
    scheme = ORTHOGONAL if method == ORTHOGONAL else STRUCTURED
    frequencies = spectral_measure(kernel, d).sample(p // 2, seed, scheme)
    metrics = {}
    if method != ORTHOGONAL:
        if method == DENSE:
            frequencies = Frequencies(frequencies.omega, frequencies.weight)
        frequencies.features(X[:_WARM_ROWS])
        touch_memory(n, p, dtype)
        start = perf_counter()
        frequencies.features(X)
        metrics["held_seconds"] = perf_counter() - start
    if method != DENSE:
        metrics["gram_error"] = _error(frequencies, kernel, X[:_ERROR_ROWS])
    return metrics


@lru_cache(maxsize=1)
def _rows(n: int, d: int) -> Array:
    return np.random.default_rng(0).normal(size=(n, d))


def _error(frequencies: Frequencies, kernel: Gaussian, X: NDArray[np.floating]) -> float:
    """Return the root mean square error over pairs of rows, relative to that of the kernel."""
    pairs = ~np.eye(len(X), dtype=bool)
    exact = kernel(X)
    return float(
        np.linalg.norm((frequencies.gram(X) - exact)[pairs]) / np.linalg.norm(exact[pairs])
    )


def _structured_places(quick: bool) -> Sequence[Place]:
    n, d, p = (200, 64, 256) if quick else (2_000, 1_024, 16_384)
    many = (50, 64, 512) if quick else (1_000, 1_024, 65_536)
    places = []
    for dtype in (DOUBLE, SINGLE):
        places += [Place(method, n, d, p, dtype) for method in (STRUCTURED, DENSE, ORTHOGONAL)]
        places.append(Place(STRUCTURED, *many, dtype))
    return places


def _structured_page(rows: Sequence[Row]) -> Sequence[str]:
    return (
        "**The feature map of structured frequencies**, held by Hadamard blocks and as an array.",
        by_method(rows, "held_seconds", STRUCTURED),
        "Root mean square errors of the Gram matrix, relative to it, with structured and with "
        "orthogonal frequencies:",
        by_method(rows, "gram_error", STRUCTURED),
    )


STRUCTURED_MAP = speed_part("structured", _structured_places, structured_metrics, _structured_page)

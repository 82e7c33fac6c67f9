"""The time and the error of the feature map with frequencies held by Hadamard blocks."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benchmarks.results import Row
from benchmarks.speed.part import DOUBLE, SINGLE, Place, by_method, speed_part, touch_memory
from bochner._numerics.arrays import Array
from bochner.frequencies import Frequencies
from bochner.kernels import Gaussian
from bochner.spectral import spectral_measure

STRUCTURED, DENSE, ORTHOGONAL = "structured", "structured, as an array", "orthogonal"

_ERROR_ROWS, _WARM_ROWS = 400, 20


def structured_metrics(
    method: str, n: int, d: int, p: int, dtype: str, seed: int
) -> Mapping[str, float]:
    """Return ``held_seconds`` of a map, or ``gram_error`` of its frequencies, or both."""
    X, kernel = _rows(n, d).astype(dtype), Gaussian(float(np.sqrt(d)))
    scheme = ORTHOGONAL if method == ORTHOGONAL else STRUCTURED
    frequencies = spectral_measure(kernel, d).sample(p // 2, seed, scheme)
    found = {}
    if method != ORTHOGONAL:
        if method == DENSE:
            frequencies = Frequencies(frequencies.omega, frequencies.weight)
        frequencies.features(X[:_WARM_ROWS])
        touch_memory(n, p, dtype)
        start = perf_counter()
        frequencies.features(X)
        found["held_seconds"] = perf_counter() - start
    if method != DENSE:
        found["gram_error"] = _error(frequencies, kernel, X[:_ERROR_ROWS])
    return found


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


def _places(quick: bool) -> Sequence[Place]:
    n, d, p = (200, 64, 256) if quick else (2_000, 1_024, 16_384)
    many = (50, 64, 512) if quick else (1_000, 1_024, 65_536)
    places = []
    for dtype in (DOUBLE, SINGLE):
        places += [Place(method, n, d, p, dtype) for method in (STRUCTURED, DENSE, ORTHOGONAL)]
        places.append(Place(STRUCTURED, *many, dtype))
    return places


def _page(rows: Sequence[Row]) -> Sequence[str]:
    return (
        "**The feature map of structured frequencies**, held by Hadamard blocks and as an array.",
        by_method(rows, "held_seconds", STRUCTURED),
        "Root mean square errors of the Gram matrix, relative to it, with structured and with "
        "orthogonal frequencies:",
        by_method(rows, "gram_error", STRUCTURED),
    )


STRUCTURED_MAP = speed_part("structured", _places, structured_metrics, _page)

"""The design of the benchmark of learned mixtures: kernels, data sets, methods, seeds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from bochner import baselines, kernels
from bochner._numerics.arrays import Array
from bochner.benchmarks._digmm_paper import (
    COVTYPE,
    EEG,
    HELLINGER,
    IJCNN1,
    LINEAR,
    MACLAURIN,
    MNIST,
    POLYNOMIAL,
    SIZES,
    SKIN,
    SPAMBASE,
    SPHERICAL,
    TANH,
    TL1,
)
from bochner.benchmarks._indefinite_design import FeatureMap
from bochner.estimators.digmm_features import DIGMMFeatures
from bochner.features.transformer import FourierFeatures
from bochner.kernels import Kernel, Metric, Profiled, SphericalPolynomial

ERROR, ACCURACY = "error", "accuracy"
TRUNCATION, SHIFT, SKETCH, CONVERGENCE = "truncation", "shift", "sketch", "convergence"
PARTS = (ERROR, ACCURACY, TRUNCATION, SHIFT, SKETCH, CONVERGENCE)
NO_KERNEL = "none"

EXACT, EXACT_LARGE, TAYLOR = "DIGMM, exact", "DIGMM, exact, 200 rows", "DIGMM, Taylor"
DESIGNED, LEAST_SQUARES = "designed", "designed, least squares"
BEST = "best of the library"
CHOSEN = "chosen: "
"""Begins the metric that names what the best is."""

LARGE_SKETCH = 200

CS = (2.0**-5, 2.0**-3, 2.0**-1, 2.0, 2.0**3, 2.0**5)
DATASETS = (SKIN, EEG, SPAMBASE, IJCNN1, COVTYPE)
TRUNCATIONS = (1, 5, 10)
SHIFTS = (1.1, 2.0, 5.0, 10.0, 20.0)
SKETCHES = (2, 5, 10, 50, 100)
SEEDS = 10
FIT_SIZE = 32
BUNDLED = "breast_cancer"
_DIRECTIONS = 2_000


@dataclass(frozen=True, slots=True)
class Study:
    """A kernel of the paper's, and where its rows lie.

    Parameters
    ----------
    kernel : callable
        From the number of inputs to the kernel.
    on_sphere : bool
        Whether rows have norm one; otherwise they are in the unit cube.
    """

    kernel: Callable[[int], Kernel]
    on_sphere: bool


STUDIES: Mapping[str, Study] = MappingProxyType(
    {
        POLYNOMIAL: Study(lambda d: SphericalPolynomial(10), on_sphere=True),
        HELLINGER: Study(lambda d: kernels.Hellinger(), on_sphere=True),
        TL1: Study(lambda d: kernels.TL1(0.7 * d), on_sphere=False),
        TANH: Study(lambda d: kernels.Tanh(1.0 / d, 1.0), on_sphere=True),
    }
)

Make = Callable[[Kernel, int, int, int], FeatureMap]
"""From a kernel, the numbers of features and inputs and a seed to a map that is to be fitted."""


def _digmm(**options: Any) -> Make:
    return lambda kernel, p, dim, seed: DIGMMFeatures(kernel, p, random_state=seed, **options)


def _fourier(**options: Any) -> Make:
    return lambda kernel, p, dim, seed: FourierFeatures(kernel, p, random_state=seed, **options)


def _spherical(kernel: Kernel, p: int, dim: int, seed: int) -> FeatureMap:
    """Return features of the kernel as a function of the Euclidean distance.

    On the unit sphere it is one; of the truncated city-block distance in the unit cube it is the
    mean over all directions.
    """
    assert isinstance(kernel, Profiled)
    on_cube = isinstance(kernel, kernels.TL1)
    function = _mean_over_directions(kernel, dim) if on_cube else partial(_on_sphere, kernel)
    radius = 0.5 * np.sqrt(dim) if on_cube else 1.0
    return baselines.SphericalRandomFeatures(function, p, radius=radius, random_state=seed)


def _on_sphere(kernel: Profiled, distance: Array) -> Array:
    if kernel.metric is Metric.INNER_PRODUCT:
        return kernel.profile(1.0 - 0.5 * distance**2)
    return kernel.profile(distance)


def _mean_over_directions(kernel: Profiled, dim: int) -> Callable[[Array], Array]:
    directions = np.random.default_rng(0).standard_normal((_DIRECTIONS, dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    lengths = np.abs(directions).sum(axis=1)

    def function(distance: Array) -> Array:
        mean: Array = kernel.profile(np.multiply.outer(distance, lengths)).mean(axis=1)
        return mean

    return function


def _maclaurin(kernel: Kernel, p: int, dim: int, seed: int) -> FeatureMap:
    return baselines.RandomMaclaurin(kernel, p, random_state=seed)


METHODS: Mapping[str, Make] = MappingProxyType(
    {
        SPHERICAL: _spherical,
        MACLAURIN: _maclaurin,
        TAYLOR: _digmm(expectation="taylor"),
        EXACT: _digmm(),
        EXACT_LARGE: _digmm(n_sketch=LARGE_SKETCH),
        DESIGNED: _fourier(),
        LEAST_SQUARES: _fourier(weights="least_squares"),
    }
)
ORDER = (LINEAR, *METHODS, BEST)


def made(part: str, kernel: str, method: str, value: float, p: int, dim: int, seed: int) -> Any:
    """Return the map of a cell, to be fitted."""
    varied: Mapping[str, dict[str, Any]] = {
        TRUNCATION: {"truncation": int(value)},
        SHIFT: {"shift": value},
        SKETCH: {"n_sketch": int(value)},
    }
    options = varied.get(part, {})
    make = METHODS[method]
    if options:
        make = _digmm(expectation="taylor" if method == TAYLOR else "exact", **options)
    return make(STUDIES[kernel].kernel(dim), p, dim, seed)


def applies(method: str, kernel: str) -> bool:
    """Whether a method is for a kernel: random Maclaurin features are for polynomials."""
    return method != MACLAURIN or kernel == POLYNOMIAL


def n_seeds(name: str, size: int) -> int:
    """Return how many runs a cell of accuracies has: fewer, the longer they take."""
    if name == MNIST:
        return 1
    return {SKIN: (6, 6, 6, 4), EEG: (6, 6, 3, 2), SPAMBASE: (6, 3, 2, 1)}.get(name, (3, 2, 1, 1))[
        SIZES.index(size)
    ]

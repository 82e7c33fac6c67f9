"""Errors, masses, seconds and accuracies of features of asymmetric kernels."""

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.asymmetric import design
from benchmarks.rows import Rows, liblinear_accuracy
from bochner._base.arrays import Array
from bochner.features.transformer import FourierFeatures
from bochner.kernels import Kernel
from bochner.spectral.decompositions import spectral_measure

_SUBSET = 10  # Points to which masses are fitted, the paper's N_s
# Nodes for each quarter of a period: the masses of a series differ by 4e-16 at most.
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)
_REACH = 12.0  # Deviations of the normal density, of which 4e-33 lies beyond
_CLASSIFIED = (design.LINEAR, *design.BY_KERNEL, *design.BY_GAUSSIAN)


def error_metrics(rows: Rows, label: str, method: str, size: int, seed: int) -> dict[str, float]:
    """Return the relative error of the Gram matrix of at most 1,000 test rows."""
    dim = rows.train.shape[1]
    kernel = design.KERNELS[label](dim)
    random_state = seed + design.TRIALS * (1 + list(design.METHODS).index(method))
    features = design.METHODS[method].make(kernel, size * dim, random_state)
    start = perf_counter()
    features.fit(rows.fit)
    seconds = perf_counter() - start
    exact = kernel(rows.error)
    error = np.linalg.norm(features.gram(rows.error) - exact) / np.linalg.norm(exact)
    return {"relative_error": float(error), "fit_seconds": seconds}


def mass_metrics(label: str, method: str, size: int, seed: int) -> dict[str, float]:
    """Return the masses of the Jordan parts in one dimension."""
    if method == design.FITTED:
        values = _fitted_masses(label, 3 * size, seed)
    elif method == design.QUADRATURE:
        values = _quadrature_masses(label)
    else:
        values = _series_masses(label)
    return dict(zip(design.MASS_NAMES, values, strict=True))


def speed_metrics(label: str, method: str, size: int, seed: int, n_rows: int) -> dict[str, float]:
    """Return the seconds to draw frequencies and to transform rows, on either side or both."""
    X = np.random.default_rng(seed).random((n_rows, design.SPEED_DIM))
    is_jordan = method == design.JORDAN_IID
    options: dict[str, Any] = {"scheme": "orthogonal"}
    if is_jordan:
        options = {"decomposition": "jordan", "scheme": "iid"}
    features = FourierFeatures(
        design.KERNELS[label](design.SPEED_DIM),
        2 * size * design.SPEED_DIM,
        random_state=seed,
        **options,
    )
    features.fit(X).transform(X[:1])  # tables of laws are made once
    start = perf_counter()
    features.fit(X)
    drawn = perf_counter()
    features.transform(X)
    left = perf_counter()
    if label != design.GAUSSIAN:
        features.transform_right(X)
    both_sides = perf_counter()
    return {
        "draw_seconds": drawn - start,
        "left_seconds": left - start,
        "both_seconds": both_sides - start,
    }


def _fitted_masses(label: str, m: int, seed: int) -> list[float]:
    X = np.random.default_rng(seed).standard_normal((_SUBSET, 1))
    features = FourierFeatures(
        design.KERNELS[label](1),
        2 * m,
        decomposition="jordan",
        scheme="iid",
        masses="least_squares",
        random_state=seed,
    ).fit(X)
    frequencies = features.frequencies_
    imaginary = frequencies.phase != 0.0
    parts = (
        ~imaginary & (frequencies.weight > 0.0),
        ~imaginary & (frequencies.weight < 0.0),
        imaginary,
    )
    masses = [float(np.abs(frequencies.weight[part]).sum()) for part in parts]
    return [*masses[:2], 0.5 * masses[2]]


def _series_masses(label: str) -> list[float]:
    measure = spectral_measure(design.KERNELS[label](1), 1, decomposition="jordan")
    masses = dict.fromkeys(design.MASS_NAMES, 0.0)
    for part in measure.parts:
        component = part.law.component.value  # type: ignore[attr-defined]
        name = component if component == "imaginary" else f"real {component}"
        masses[name] = abs(part.mass) * (0.5 if component == "imaginary" else 1.0)
    return [masses[name] for name in design.MASS_NAMES]


def _quadrature_masses(label: str) -> list[float]:
    """Integrate the parts of the density itself, between the zeros of its sine and cosine."""
    slope, factor = _oscillation(label)
    step = 0.5 * np.pi / slope
    edges = np.arange(-np.ceil(_REACH / step), np.ceil(_REACH / step) + 1.0) * step
    half = 0.5 * step
    w = (edges[:-1, None] + half * (1.0 + _NODES)).ravel()
    normal = np.exp(-0.5 * w * w) / np.sqrt(2.0 * np.pi)
    weight = np.tile(half * _NODE_WEIGHTS, len(edges) - 1) * normal
    real: Array = np.ones_like(w)
    if label in (design.SHIFT, design.COSH):
        real = factor * np.cos(slope * w)
    imaginary: Array = factor * np.sin(slope * w)
    parts = (np.maximum(real, 0.0), np.maximum(-real, 0.0), np.maximum(imaginary, 0.0))
    return [float(weight @ part) for part in parts]


def _oscillation(label: str) -> tuple[float, float]:
    """Return the slope of the phase in standardised frequencies, and the factor of the sine."""
    if label == design.SHIFT:
        return 2.0 / design.SIGMA, 1.0
    slope = design.SIGMA * 0.5 * np.pi
    return slope, float(np.exp(0.5 * slope**2))


class _Twice(FourierFeatures):
    """Features side by side with themselves."""

    def transform(self, X: Any) -> NDArray[Any]:
        Z = super().transform(X)
        return np.concatenate((Z, Z), axis=1)


def accuracy_metrics(rows: Rows, label: str, method: str, size: int, seed: int) -> dict[str, float]:
    """Return the test accuracy of liblinear, its ``C`` chosen on some rows, and seconds."""
    if method == design.LINEAR:
        return liblinear_accuracy(lambda X: X, rows, design.CS)
    dim = rows.train.shape[1]
    features = _features(design.KERNELS[label](dim), method, size * dim, seed)
    start = perf_counter()
    features.fit(rows.train)
    drawn = perf_counter()
    width = features.transform(rows.train).shape[1]
    transformed = perf_counter()
    return {
        "n_features": float(width),
        "draw_seconds": drawn - start,
        "feature_seconds": transformed - start,
        **liblinear_accuracy(features.transform, rows, design.CS),
    }


def _features(kernel: Kernel, method: str, M: int, seed: int) -> FourierFeatures:
    m = M if method in (design.SYM, design.RBF) else 3 * M
    random_state = seed + design.TRIALS * (1 + _CLASSIFIED.index(method))
    options: dict[str, Any] = {"n_components": 2 * m, "random_state": random_state}
    options["scheme"] = "orthogonal"
    if method == design.ASY_POLAR:
        return FourierFeatures(kernel, decomposition="polar", output="concatenated", **options)
    if method == design.RBF_TWICE:
        return _Twice(kernel, **options)
    options |= {"scheme": "iid", "decomposition": "jordan"}
    if method == design.ASY_JORDAN:
        return FourierFeatures(kernel, output="concatenated", **options)
    return FourierFeatures(kernel.symmetrised, **options)

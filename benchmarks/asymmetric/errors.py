"""Errors, masses and seconds of features of asymmetric kernels."""

from time import perf_counter

import numpy as np

from benchmarks.asymmetric.design import (
    COSH,
    FITTED,
    GAUSSIAN,
    JORDAN_IID,
    KERNELS,
    MASS_NAMES,
    METHODS,
    QUADRATURE,
    SHIFT,
    SIGMA,
    SPEED_DIM,
    TRIALS,
)
from benchmarks.rows import Rows
from bochner._numerics.arrays import Array
from bochner.features.transformer import FourierFeatures
from bochner.spectral import spectral_measure

_POINTS, _SUBSET = 2_000, 10
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)
_REACH = 12.0


def error_metrics(rows: Rows, label: str, method: str, size: int, seed: int) -> dict[str, float]:
    """Return the relative error of the Gram matrix of at most 1,000 test rows.

    Parameters
    ----------
    rows : Rows
    label, method : str
        A kernel and a method of the design.
    size : int
        Number of frequencies, as a multiple of that of inputs.
    seed : int
    """
    dim = rows.train.shape[1]
    kernel = KERNELS[label](dim)
    random_state = seed + TRIALS * (1 + list(METHODS).index(method))
    features = METHODS[method].make(kernel, size * dim, random_state)
    start = perf_counter()
    features.fit(rows.fit)
    seconds = perf_counter() - start
    exact = kernel(rows.error)
    error = np.linalg.norm(features.gram(rows.error) - exact) / np.linalg.norm(exact)
    return {"relative_error": float(error), "fit_seconds": seconds}


def mass_metrics(label: str, method: str, size: int, seed: int) -> dict[str, float]:
    """Return the masses of the Jordan parts in one dimension.

    Parameters
    ----------
    label : str
        A kernel of the design.
    method : str
        Fitted on ten of 2,000 normal points, exact by series, or exact by quadrature.
    size : int
        Three times as many frequencies are drawn for a fit.
    seed : int
    """
    if method == FITTED:
        values = _fitted_masses(label, 3 * size, seed)
    elif method == QUADRATURE:
        values = _quadrature_masses(label)
    else:
        values = _series_masses(label)
    return dict(zip(MASS_NAMES, values, strict=True))


def speed_metrics(label: str, method: str, size: int, n_rows: int, seed: int) -> dict[str, float]:
    """Return the seconds to draw frequencies and to transform rows, on either side or both.

    Parameters
    ----------
    label : str
        A kernel of the design.
    method : str
        Polar, which is the closed form for a Gaussian, or Jordan.
    size : int
        Number of frequencies, as a multiple of that of inputs.
    n_rows, seed : int
    """
    X = np.random.default_rng(seed).random((n_rows, SPEED_DIM))
    options = {"decomposition": "jordan", "scheme": "iid"} if method == JORDAN_IID else {}
    features = FourierFeatures(
        KERNELS[label](SPEED_DIM), 2 * size * SPEED_DIM, random_state=seed, **options
    )
    features.fit(X).transform(X[:1])  # tables of laws are made once
    start = perf_counter()
    features.fit(X)
    drawn = perf_counter()
    features.transform(X)
    left = perf_counter()
    if label != GAUSSIAN:
        features.transform_right(X)
    both = perf_counter()
    return {
        "draw_seconds": drawn - start,
        "left_seconds": left - start,
        "both_seconds": both - start,
    }


def _fitted_masses(label: str, m: int, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((_POINTS, 1))
    features = FourierFeatures(
        KERNELS[label](1),
        2 * m,
        decomposition="jordan",
        scheme="iid",
        masses="least_squares",
        random_state=seed,
    ).fit(X[:_SUBSET])
    found = features.frequencies_
    imaginary = found.phase != 0.0
    parts = (~imaginary & (found.weight > 0.0), ~imaginary & (found.weight < 0.0), imaginary)
    masses = [float(np.abs(found.weight[part]).sum()) for part in parts]
    return [*masses[:2], 0.5 * masses[2]]


def _series_masses(label: str) -> list[float]:
    measure = spectral_measure(KERNELS[label](1), 1, decomposition="jordan")
    masses = dict.fromkeys(MASS_NAMES, 0.0)
    for part in measure.parts:
        component = part.law.component.value  # type: ignore[attr-defined]
        name = component if component == "imaginary" else f"real {component}"
        masses[name] = abs(part.mass) * (0.5 if component == "imaginary" else 1.0)
    return [masses[name] for name in MASS_NAMES]


def _quadrature_masses(label: str) -> list[float]:
    """Integrate the parts of the density itself, between the zeros of its sine and cosine."""
    slope, factor = _oscillation(label)
    step = 0.5 * np.pi / slope
    edges = np.arange(-np.ceil(_REACH / step), np.ceil(_REACH / step) + 1.0) * step
    half = 0.5 * step
    w = (edges[:-1, None] + half * (1.0 + _NODES)).ravel()
    normal = np.exp(-0.5 * w * w) / np.sqrt(2.0 * np.pi)
    weight = np.tile(half * _NODE_WEIGHTS, len(edges) - 1) * normal
    real: Array = factor * np.cos(slope * w) if label in (SHIFT, COSH) else np.ones_like(w)
    imaginary: Array = factor * np.sin(slope * w)
    parts = (np.maximum(real, 0.0), np.maximum(-real, 0.0), np.maximum(imaginary, 0.0))
    return [float(weight @ part) for part in parts]


def _oscillation(label: str) -> tuple[float, float]:
    """Return the slope of the phase in standardised frequencies, and the factor of the sine."""
    if label == SHIFT:
        return 2.0 / SIGMA, 1.0
    slope = SIGMA * 0.5 * np.pi
    return slope, float(np.exp(0.5 * slope**2))

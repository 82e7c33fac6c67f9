"""Errors and accuracies of features of indefinite kernels, next to other methods."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Benchmark, Cell, Options, Part
from benchmarks.indefinite import design, page
from benchmarks.pictures import LINEAR, LOG, SEMILOG, Picture
from benchmarks.results import Scalar
from benchmarks.rows import liblinear_accuracy, loaded
from bochner._base.arrays import Array
from bochner.features.transformer import FourierFeatures
from bochner.kernels import Kernel

_BUNDLED = "breast_cancer"
_QUICK_SIZES = (1, 2)  # s / d of a quick run; kernels that are not in MAIN have the first alone
_QUICK_METHODS = tuple(name for name in design.METHODS if name != design.DESIGNED_IID)

# Distances at which a kernel is drawn: from one point of the unit sphere to its antipode.
_DISTANCES = np.linspace(0.0, 2.0, 41)


def _cells(options: Options) -> Iterator[Cell]:
    bundled = {_BUNDLED: 1 if options.quick else design.SEEDS}
    designs = {
        label: study.datasets if options.from_folder else bundled
        for label, study in design.STUDIES.items()
    }
    for name in dict.fromkeys(name for datasets in designs.values() for name in datasets):
        for label, datasets in designs.items():
            for size in _sizes(label, options):
                for seed in range(datasets.get(name, 0)):
                    yield from _cells_of(name, label, size, seed, options)


def _sizes(label: str, options: Options) -> tuple[int, ...]:
    if not options.quick:
        return design.SIZES
    return _QUICK_SIZES if label in design.MAIN else _QUICK_SIZES[:1]


def _cells_of(name: str, label: str, size: int, seed: int, options: Options) -> Iterator[Cell]:
    study = design.STUDIES[label]
    settings: Mapping[str, Scalar] = {"kernel": label, "size": size}
    p = study.features * size * loaded(name, options.data).X.shape[1]
    if _is_drawn(name, label, size, seed, options):
        yield Cell(name, design.EXACT, seed, settings)
    short = options.quick and label not in design.MAIN
    for method in _QUICK_METHODS if short else design.METHODS:
        if seed < design.n_seeds(study, design.METHODS[method], p):
            yield Cell(name, method, seed, settings)


def _is_drawn(name: str, label: str, size: int, seed: int, options: Options) -> bool:
    """Whether values of the kernel itself are measured, for a picture."""
    drawn = (_QUICK_SIZES[-1] if options.quick else design.PROFILE_SIZE, 0)
    named = name in (design.PROFILE_SET, _BUNDLED)
    return label in design.MAIN and named and (size, seed) == drawn


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    label, size = str(cell.settings["kernel"]), int(cell.settings["size"])
    study = design.STUDIES[label]
    rows = design.rows_of(cell.dataset, cell.seed, options.data, on_sphere=study.on_sphere)
    dim = rows.train.shape[1]
    kernel = study.kernel(dim)
    if cell.method == design.EXACT:
        return _profile(kernel, dim)
    p = study.features * size * dim
    method = design.METHODS[cell.method]
    # Each method gets other rows where there are more than 1,000, so that no design is cached.
    random_state = cell.seed + design.SEEDS * (1 + list(design.METHODS).index(cell.method))
    features = method.make(kernel, p, random_state)
    metrics = {**_timed(features, rows.fit), **_errors(features, kernel, rows.error)}
    if design.learns(study, method, p, cell.seed):
        metrics |= liblinear_accuracy(features.transform, rows, design.CS)
    drawn = _is_drawn(cell.dataset, label, size, cell.seed, options)
    if drawn and cell.method in design.PROFILED:
        metrics |= _profile(features.gram, dim)
    return metrics


def _timed(features: design.FeatureMap, X: Array) -> dict[str, float]:
    """Fit and transform rows; return the seconds that both took."""
    start = perf_counter()
    features.fit(X)
    Z = features.transform(X)
    seconds = perf_counter() - start
    return {"feature_seconds": seconds, "n_features": float(Z.shape[1])}


def _errors(features: design.FeatureMap, kernel: Kernel, X: Array) -> dict[str, float]:
    """Return the relative error on rows, and the errors that our features predict."""
    exact = kernel(X)
    error = np.linalg.norm(features.gram(X) - exact) / np.linalg.norm(exact)
    # ``fit_error_`` of spherical random features is another quantity.
    names = ("predicted_error", "fit_error") if isinstance(features, FourierFeatures) else ()
    values = {name: getattr(features, f"{name}_") for name in names}
    predicted_errors = {name: float(value) for name, value in values.items() if value is not None}
    return {"relative_error": float(error), **predicted_errors}


def _profile(gram: Any, dim: int) -> dict[str, float]:
    """Return kernel values along a great circle, by their distances."""
    circle = np.linalg.qr(np.random.default_rng(0).standard_normal((dim, 2)))[0].T
    angle = 2.0 * np.arcsin(0.5 * _DISTANCES)
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1) @ circle
    values: NDArray[np.float64] = np.asarray(gram(points[:1], points))[0]
    return {f"k({z:.2f})": float(value) for z, value in zip(_DISTANCES, values, strict=True)}


_BELOW = "Curves below 1e-6 leave the picture."

_SHOWN = (
    design.DESIGNED,
    design.LEAST_SQUARES,
    design.JORDAN,
    design.SPHERICAL,
    design.SKETCH,
    design.NYSTROM,
)
_SIX = "of six of the methods; the tables have all of them"


def _picture(
    name: str,
    caption: str,
    metric: str,
    kernels: Sequence[str],
    methods: Sequence[str] = _SHOWN,
    lowest: float | None = None,
) -> Picture:
    xlabel, ylabel, scales = {
        "k": ("distance", "kernel", LINEAR),
        "relative_error": ("size, s / d", "relative error", LOG),
        "accuracy": ("size, s / d", "test accuracy", SEMILOG),
    }[metric]
    values = partial(page.curves, metric=metric, kernels=kernels, methods=methods)
    return Picture(name, caption, xlabel, ylabel, values, scales, lowest)


INDEFINITE = Benchmark(
    name="indefinite",
    settings=("kernel", "size"),
    introduction="Features of indefinite kernels, their size s a multiple of the number of inputs "
    "d: p = 4 s real features for the Delta-Gaussian kernel and the spherical polynomials, p = 2 s "
    "for the other kernels. Every method has the same p, and Nyström no more. Columns are scaled "
    "to [0, 1] by the training part, and rows then to norm one, except for TL1 and "
    "Radial(trapezoid).",
    parts=(
        Part(
            "features",
            _cells,
            _run,
            page.features_page,
            (
                _picture(
                    "kernel",
                    "The kernels and one draw of features of each, along a great circle. No data "
                    "lie beyond the distances that measures are designed for, where only a bound "
                    "holds.",
                    "k",
                    design.MAIN,
                    design.PROFILED,
                ),
                _picture(
                    "error",
                    f"Relative error of the Gram matrix against the size, {_SIX}. {_BELOW}",
                    "relative_error",
                    design.MAIN,
                    lowest=1e-6,
                ),
                _picture(
                    "accuracy",
                    f"Test accuracy of liblinear on the features, against the size, {_SIX}.",
                    "accuracy",
                    design.MAIN,
                ),
                _picture(
                    "schemes",
                    "Relative error by sampling scheme: independent and orthogonal frequencies, of "
                    "the Jordan parts and of designed measures.",
                    "relative_error",
                    design.MAIN,
                    (design.JORDAN_IID, design.JORDAN, design.DESIGNED_IID, design.DESIGNED),
                ),
                _picture(
                    "orders",
                    f"Relative error by the degree of the spherical polynomial, {_SIX}. {_BELOW}",
                    "relative_error",
                    design.POLYNOMIALS,
                    lowest=1e-6,
                ),
                _picture(
                    "others",
                    f"Relative error for other kernels. {_BELOW}",
                    "relative_error",
                    design.OTHERS,
                    (design.DESIGNED, design.LEAST_SQUARES, design.SPHERICAL, *design.NYSTROMS),
                    lowest=1e-6,
                ),
            ),
        ),
    ),
)

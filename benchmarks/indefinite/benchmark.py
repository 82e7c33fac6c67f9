"""Errors and accuracies of features of indefinite kernels, beside other methods."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from benchmarks.harness import Benchmark, Cell, Options
from benchmarks.indefinite.design import (
    CS,
    DESIGNED_IID,
    EXACT,
    MAIN,
    METHODS,
    PROFILE_SET,
    PROFILE_SIZE,
    PROFILED,
    SEEDS,
    SIZES,
    STUDIES,
    FeatureMap,
    learns,
    n_seeds,
)
from benchmarks.indefinite.rows import rows_of
from benchmarks.indefinite.summary import summarise
from benchmarks.indefinite.views import VIEWS, View
from benchmarks.results import Scalar
from benchmarks.rows import Rows, loaded
from bochner._numerics.arrays import Array
from bochner.features.transformer import FourierFeatures
from bochner.kernels import Kernel

__all__ = ["INDEFINITE", "VIEWS", "View"]

_BUNDLED = "breast_cancer"
_QUICK_SIZES = (1, 2)
_QUICK_METHODS = tuple(name for name in METHODS if name != DESIGNED_IID)
_FOLDS = 5
_TOLERANCE = 0.01
_ITERATIONS = 1_000
_BLOCK = 2_000
_DISTANCES = np.linspace(0.0, 2.0, 41)


def _cells(options: Options) -> Iterable[Cell]:
    from_folder = options.data is not None and not options.quick
    designs = {
        label: study.datasets if from_folder else {_BUNDLED: 1 if options.quick else SEEDS}
        for label, study in STUDIES.items()
    }
    names = dict.fromkeys(name for datasets in designs.values() for name in datasets)
    # By data set and seed first, so that rows are prepared once.
    return [
        cell
        for name in names
        for seed in range(SEEDS)
        for label, datasets in designs.items()
        if seed < datasets.get(name, 0)
        for size in _sizes(label, options)
        for cell in _cells_of(name, label, size, seed, options)
    ]


def _sizes(label: str, options: Options) -> tuple[int, ...]:
    if not options.quick:
        return SIZES
    return _QUICK_SIZES if label in MAIN else _QUICK_SIZES[:1]


def _cells_of(name: str, label: str, size: int, seed: int, options: Options) -> Iterator[Cell]:
    study = STUDIES[label]
    settings: Mapping[str, Scalar] = {"kernel": label, "size": size}
    p = study.features * size * loaded(name, options.data).X.shape[1]
    if _is_drawn(name, label, size, seed, options):
        yield Cell(name, EXACT, seed, settings)
    short = options.quick and label not in MAIN
    for method in _QUICK_METHODS if short else METHODS:
        if seed < n_seeds(study, METHODS[method], p):
            yield Cell(name, method, seed, settings)


def _is_drawn(name: str, label: str, size: int, seed: int, options: Options) -> bool:
    """Whether values of the kernel itself are measured, for a picture."""
    profile_size = _QUICK_SIZES[-1] if options.quick else PROFILE_SIZE
    return label in MAIN and name in (PROFILE_SET, _BUNDLED) and (size, seed) == (profile_size, 0)


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    label, size = str(cell.settings["kernel"]), int(cell.settings["size"])
    study = STUDIES[label]
    rows = rows_of(cell.dataset, cell.seed, options.data, on_sphere=study.on_sphere)
    dim = rows.train.shape[1]
    kernel = study.kernel(dim)
    if cell.method == EXACT:
        return _profile(kernel, dim)
    p = study.features * size * dim
    method = METHODS[cell.method]
    # Of more than 1,000 rows every method then sees others, and finds no design in the cache.
    random_state = cell.seed + SEEDS * (1 + list(METHODS).index(cell.method))
    with _quiet():
        features = method.make(kernel, p, random_state)
        metrics = {**_timed(features, rows.fit), **_errors(features, kernel, rows.error)}
        if learns(study, method, p, cell.seed):
            metrics |= _accuracy(features, rows)
        drawn = _is_drawn(cell.dataset, label, size, cell.seed, options)
        if drawn and cell.method in PROFILED:
            metrics |= _profile(features.gram, dim)
    return metrics


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the warnings of what is measured here: infinite masses, far rows, fits no better."""
    with warnings.catch_warnings():
        for category in (UserWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", category)
        yield


def _timed(features: FeatureMap, X: Array) -> dict[str, float]:
    """Fit and transform rows; return the seconds that both took."""
    start = perf_counter()
    features.fit(X)
    Z = features.transform(X)
    seconds = perf_counter() - start
    return {"feature_seconds": seconds, "n_features": float(Z.shape[1])}


def _errors(features: FeatureMap, kernel: Kernel, X: Array) -> dict[str, float]:
    """Return the relative error on rows, and what the features themselves say of it."""
    exact = kernel(X)
    error = np.linalg.norm(features.gram(X) - exact) / np.linalg.norm(exact)
    # The baselines say nothing of it: the fit error of spherical random features is another thing.
    said = ("predicted_error", "fit_error") if isinstance(features, FourierFeatures) else ()
    values = {name: getattr(features, f"{name}_") for name in said}
    known = {name: float(value) for name, value in values.items() if value is not None}
    return {"relative_error": float(error), **known}


def _accuracy(features: FeatureMap, rows: Rows) -> dict[str, float]:
    """Return the test accuracy of liblinear on the features, its C chosen on some rows."""
    Z = features.transform(rows.train)
    # Liblinear's own tolerance; scikit-learn's is a hundred times smaller.
    model = LinearSVC(dual=False, tol=_TOLERANCE, max_iter=_ITERATIONS)
    search = GridSearchCV(model, {"C": CS}, cv=_FOLDS, refit=False)
    search.fit(Z[rows.choice], rows.y[rows.choice])
    model.set_params(**search.best_params_).fit(Z, rows.y)
    del Z
    right = [
        model.predict(features.transform(rows.test[i : i + _BLOCK])) == rows.y_test[i : i + _BLOCK]
        for i in range(0, len(rows.test), _BLOCK)
    ]
    return {"accuracy": float(np.mean(np.concatenate(right))), "C": search.best_params_["C"]}


def _profile(gram: Any, dim: int) -> dict[str, float]:
    """Return kernel values along a great circle, by their distances."""
    circle = np.linalg.qr(np.random.default_rng(0).standard_normal((dim, 2)))[0].T
    angle = 2.0 * np.arcsin(0.5 * _DISTANCES)
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1) @ circle
    values: NDArray[np.float64] = np.asarray(gram(points[:1], points))[0]
    return {f"k({z:.2f})": float(value) for z, value in zip(_DISTANCES, values, strict=True)}


INDEFINITE = Benchmark(
    name="indefinite",
    description="Errors and accuracies of features of indefinite kernels, beside other methods.",
    settings=("kernel", "size"),
    cells=_cells,
    run=_run,
    summarise=summarise,
)

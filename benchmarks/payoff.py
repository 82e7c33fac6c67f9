"""Errors of ridge regression at equal seconds, by scheme of frequencies and with landmarks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from benchmarks import datasets
from benchmarks.harness import Benchmark, Cell, Options, Part
from benchmarks.pictures import Picture
from benchmarks.results import Row, Scalar, markdown_table, median_table, medians
from bochner import FourierFeatures, KreinRidge, kernels, spectral_measure
from bochner.spectral.energy import spread_directions
from bochner.spectral.schemes import generating_vector

GENERATED = "generated"
GAUSSIAN, ROUGH, ADDITIVE = "Gaussian", "Matérn 3/2", "additive"
FIXED, LEARNED = "fixed", "learned"

ORTHOGONAL, STRUCTURED, ENERGY, LATTICE = "orthogonal", "structured", "energy", "lattice"
LANDMARKS, RESIDUAL = "landmarks", "landmarks and residual"
METHODS = (ORTHOGONAL, STRUCTURED, ENERGY, LATTICE, LANDMARKS, RESIDUAL)

SCALES: Mapping[int, float] = {2: 0.1, 3: 0.17, 5: 0.33, 8: 0.5, 50: 1.0, 500: 1.0}
"""Length scales of the generated functions by the number of inputs, in units of the root mean
square distance of rows. A longer scale in two inputs makes all methods exact, a shorter one in
fifty cannot be learned from any number of rows."""

_WAVES = 2048  # Independent frequencies of a generated function, two for each feature of a model
_LINE = 0.5  # Length scale of each input of additive functions, in deviations of the input
_NOISE = 0.1  # Standard deviation of the noise, that of functions being one
_TEST_ROWS = 2000  # An error of a tenth has a chance error of 2 %
_BLOCK = 10_000  # Rows whose waves are in memory at a time: 330 MB

FEATURES = (64, 128, 256, 512, 1024)
"""Numbers of features, from an eighth of the default to twice as many."""

_MORE = {(10_000, dim): (2048,) for dim in (2, 8, 50)}
"""More features by rows and inputs, where they take half a minute for each function."""

_ROWS = {1_000: 3, 10_000: 1, 100_000: 1}  # Rows, and repetitions that take some minutes
_KERNELS = {GAUSSIAN: (2, 8, 50, 500), ROUGH: (2, 8, 50, 500), ADDITIVE: (8, 50)}
_FEWER = {(100_000, ADDITIVE): (), (100_000, ROUGH): (2, 8)}  # A minute or two for each
_LARGE = 1_000_000  # Rows of one function with at most _MOST_OF_LARGE features
_MOST_OF_LARGE = 256  # Twice as many take four times as long, minutes for landmarks

_SHORT, _LONG = "short scales", "long scales"
_FEW_INPUTS, _FEW_ROWS, _FEW_SEEDS = (2, 3, 5), 4000, 3  # A minute in all
_FEW_METHODS, _FEW_FEATURES = (ORTHOGONAL, ENERGY, LATTICE), (128, 512)  # The default is 512
_LONGER = {_SHORT: 1.0, _LONG: 3.0}  # Three times as long: functions of ten waves, not a hundred

_TABLES = {"california_housing": 3, "mnist": 1, "covtype_93k": 1}
_MOST_TRAINED = {"mnist": 10_000}  # Rows are the sixth part: kernel values of 784 inputs are slow
_MOST_LEARNED = 50  # Inputs whose length scales are learned in less than a minute
_HELD_OUT = 0.2  # Share of the rows
_SEARCHED = 512  # Features of the search for length scales, the default

_SHARES, _FRACTIONS = (1, 4), {4: "quarter"}
"""All methods are given the seconds of the most orthogonal features, over these numbers."""

_LEAST_STRUCTURED = 64
"""Inputs from which on structured blocks differ from orthogonal ones."""

_QUICK_ROWS, _QUICK_FEATURES = 300, (16, 64)  # Some seconds
_WARM_ROWS = 50  # Rows of a fit before the measured one, in which loops are loaded or compiled

Data = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], kernels.Kernel]
"""Training rows and targets, test rows and targets, and the kernel of all methods."""


def kernel_of(name: str, dim: int, longer: float = 1.0) -> kernels.Kernel:
    """Return the kernel of a generated function of normal inputs, of variance one."""
    if name == ADDITIVE:
        parts = [(1.0 / dim) * kernels.Gaussian(_LINE).on(j) for j in range(dim)]
        return kernels.Sum(tuple(parts))
    scale = longer * SCALES[dim] * float(np.sqrt(2.0 * dim))
    return kernels.Gaussian(scale) if name == GAUSSIAN else kernels.Matern(scale, nu=1.5)


def generated(name: str, n_rows: int, dim: int, seed: int, longer: float = 1.0) -> Data:
    """Return rows, a function of the kernel with noise, and the function without at new rows."""
    rng = np.random.default_rng(seed)
    kernel = kernel_of(name, dim, longer)
    waves = spectral_measure(kernel, dim).sample(_WAVES, rng, scheme="iid")
    weights = rng.standard_normal(waves.n_features)
    X = rng.standard_normal((n_rows + _TEST_ROWS, dim))
    values = [
        waves.features(X[start : start + _BLOCK]) @ weights for start in range(0, len(X), _BLOCK)
    ]
    f = np.concatenate(values)
    y = f[:n_rows] + _NOISE * rng.standard_normal(n_rows)
    return X[:n_rows], y, X[n_rows:], f[n_rows:], kernel


def table(name: str, how: str, seed: int, data: Path | None) -> Data:
    """Return standardised rows of a table, a column for each target or class, and a kernel."""
    read = datasets.load(name, folder=data)
    order = np.random.default_rng(seed).permutation(len(read.y))
    n_test = int(_HELD_OUT * len(order))
    test, train = order[:n_test], order[n_test:][: _MOST_TRAINED.get(name)]
    scaler = StandardScaler().fit(read.X[train])
    X, X_test = (scaler.transform(read.X[rows]) for rows in (train, test))
    if np.issubdtype(read.y.dtype, np.floating):
        y = (read.y - read.y[train].mean()) / read.y[train].std()
    else:
        y = (read.y[:, None] == np.unique(read.y)) - 0.5
    length_scale = "evidence" if how == LEARNED else "auto"
    options: dict[str, Any] = {"alpha": "evidence", "random_state": seed}
    model = KreinRidge("matern32", _SEARCHED, length_scale=length_scale, **options)
    kernel = model.fit(X, y[train]).kernel_
    assert isinstance(kernel, kernels.Kernel)
    return X, y[train], X_test, y[test], kernel


@lru_cache(maxsize=1)
def _data(dataset: str, kernel: str, n: int, inputs: int, seed: int, folder: Path | None) -> Data:
    if n:
        return generated(kernel, n, inputs, seed, _LONGER.get(dataset, 1.0))
    return table(dataset, kernel, seed, folder)


def model_of(method: str, kernel: kernels.Kernel, n_features: int, seed: int) -> KreinRidge:
    """Return a model with a number of features of all kinds together."""
    n_landmarks = {LANDMARKS: n_features - 2, RESIDUAL: n_features // 2}.get(method, 0)
    return KreinRidge(
        alpha="evidence",
        features=FourierFeatures(
            kernel,
            n_features - n_landmarks,
            scheme="auto" if n_landmarks else method,
            length_scale="auto",
        ),
        residual=n_landmarks or None,
        random_state=seed,
    )


def _measure(cell: Cell, options: Options) -> Mapping[str, float]:
    names = ("kernel", "n", "inputs")
    kernel_name, n, inputs = (cell.settings[name] for name in names)
    X, y, X_test, y_test, kernel = _data(
        cell.dataset, str(kernel_name), int(n), int(inputs), cell.seed, options.data
    )
    p = int(cell.settings["features"])
    model_of(cell.method, kernel, p, cell.seed).fit(X[:_WARM_ROWS], y[:_WARM_ROWS])
    # Each fit pays for its directions, as the first one of a process does.
    spread_directions.cache_clear()
    generating_vector.cache_clear()
    model, began = model_of(cell.method, kernel, p, cell.seed), process_time()
    model.fit(X, y)
    fitted = process_time()
    predictions = model.predict(X_test)
    seconds = process_time() - fitted
    if y_test.ndim > 1:
        error = float(np.mean(predictions.argmax(axis=1) != y_test.argmax(axis=1)))
    else:
        error = float(np.sqrt(np.mean((predictions - y_test) ** 2)))
    return {
        "error": error,
        "fit_cpu": fitted - began,
        "predict_cpu": seconds * 10_000 / len(y_test),
    }


def _cells(options: Options) -> list[Cell]:
    if options.quick:
        sizes = (2, 8)  # A picture has two numbers of inputs at least
        return [c for d in sizes for c in _of(GENERATED, ROUGH, _QUICK_ROWS, d, 1, _QUICK_FEATURES)]
    cells = [
        cell
        for n, seeds in _ROWS.items()
        for name, dims in _KERNELS.items()
        for dim in _FEWER.get((n, name), dims)
        for cell in _of(GENERATED, name, n, dim, seeds, (*FEATURES, *_MORE.get((n, dim), ())))
    ]
    if options.from_folder:
        for name, seeds in _TABLES.items():
            inputs = datasets.load(name, folder=options.data).X.shape[1]
            for how in (FIXED, LEARNED) if inputs <= _MOST_LEARNED else (FIXED,):
                cells += _of(name, how, 0, inputs, seeds, FEATURES)
    few = [p for p in FEATURES if p <= _MOST_OF_LARGE]
    return cells + _of(GENERATED, GAUSSIAN, _LARGE, 8, 1, few)


def _few_cells(options: Options) -> list[Cell]:
    if options.quick:
        few = _of(next(iter(_LONGER)), ROUGH, _QUICK_ROWS, 2, 1, _QUICK_FEATURES[:1])
    else:
        few = [
            cell
            for name in _LONGER
            for kernel in (GAUSSIAN, ROUGH)
            for dim in _FEW_INPUTS
            for cell in _of(name, kernel, _FEW_ROWS, dim, _FEW_SEEDS, _FEW_FEATURES)
        ]
    return [
        replace(cell, settings={**cell.settings, "part": "few inputs"})
        for cell in few
        if cell.method in _FEW_METHODS
    ]


def _few_tables(rows: Sequence[Row]) -> Iterator[str]:
    yield (
        "**Schemes in few inputs, with as many features.** Errors, and their ratios to those of "
        "orthogonal features. Length scales are those of the other generated functions of as many "
        "inputs, or three times as long; 4,000 rows."
    )
    index = ["dataset", "kernel", "inputs", "features"]
    yield median_table(rows, index=index, metric="error", ratio_to=ORTHOGONAL)


def _of(
    dataset: str, kernel: str, n: int, inputs: int, seeds: int, features: Sequence[int]
) -> list[Cell]:
    settings: dict[str, Scalar] = {"part": "fits", "kernel": kernel, "n": n, "inputs": inputs}
    return [
        Cell(dataset, method, seed, settings | {"features": p})
        for seed in range(seeds)
        for p in features
        for method in METHODS
        # Structured blocks are orthogonal ones below 64 inputs.
        if method != STRUCTURED or inputs >= _LEAST_STRUCTURED
    ]


Problem = tuple[str, str, int, int]
"""Data set, kernel, rows and inputs."""


def at_equal_seconds(rows: Sequence[Row], share: int = 1) -> dict[Problem, dict[str, float]]:
    """Return the error of each method in the seconds that orthogonal features take.

    These are the most orthogonal features of a problem, over ``share``.

    Between numbers of features, the logarithm of the error is interpolated in the logarithm of the
    seconds. A method that takes fewer seconds for its most features has the error of these; one
    that takes longer for its fewest features is left out. The keys ``"features"`` and
    ``"seconds"`` have the number of orthogonal features and their seconds.
    """
    by = ("dataset", "kernel", "n", "inputs", "method", "features")
    errors, seconds = (medians(rows, by=by, metric=name) for name in ("error", "fit_cpu"))
    points: dict[Problem, dict[str, dict[int, tuple[float, float]]]] = {}
    for key, error in errors.items():
        dataset, kernel, n, inputs, method, p = key
        problem = (str(dataset), str(kernel), int(n), int(inputs))
        curve = points.setdefault(problem, {}).setdefault(str(method), {})
        curve[int(p)] = (seconds[key], error)
    found: dict[Problem, dict[str, float]] = {}
    for problem, curves in points.items():
        orthogonal = curves.get(ORTHOGONAL, {})
        count = max(orthogonal, default=0) // share
        if count in orthogonal:
            limit = orthogonal[count][0]
            found[problem] = {"features": count, "seconds": limit}
            for method, curve in curves.items():
                ordered = np.array([curve[p] for p in sorted(curve)])
                times = np.maximum.accumulate(ordered[:, 0])
                if times[0] <= limit:
                    at = np.interp(np.log(limit), np.log(times), np.log(ordered[:, 1]))
                    found[problem][method] = float(np.exp(at))
            # Fewer features may have taken longer in times of some milliseconds.
            found[problem].setdefault(ORTHOGONAL, orthogonal[count][1])
    return found


def _relative(errors: Mapping[str, float]) -> dict[str, float]:
    """Return errors over the least one."""
    values = {method: errors[method] for method in METHODS if method in errors}
    least = min(values.values())
    return {method: value / least for method, value in values.items()}


def _tables(rows: Sequence[Row]) -> Iterator[str]:
    for share in _SHARES:
        if lines := at_equal_seconds(rows, share):
            which = "the most" if share == 1 else f"a {_FRACTIONS[share]} of the most"
            yield (
                f"**In the seconds of {which} orthogonal features.** Errors relative to the least "
                "one; the number of orthogonal features, their seconds and their error. A dash: "
                "the fewest features take longer, or structured blocks are orthogonal ones."
            )
            yield _table_of(lines)


def _table_of(lines: Mapping[Problem, Mapping[str, float]]) -> str:
    body = []
    for (dataset, kernel, n, inputs), errors in lines.items():
        ratios = _relative(errors)
        size = f"{n:,}" if n else ""
        texts = [f"{ratios[m]:.2f}" if m in ratios else "–" for m in METHODS]
        scale = [f"{errors['features']:g}", f"{errors['seconds']:.2g}", f"{errors[ORTHOGONAL]:.4g}"]
        body.append([dataset, kernel, size, str(inputs), *texts, *scale])
    header = ("data", "kernel", "rows", "inputs", *METHODS, "features", "CPU s", "error")
    return markdown_table(header, body)


def _drawn(rows: Sequence[Row]) -> Mapping[tuple[str, str, float], float]:
    """Return geometric means over kernels of relative errors, by rows, method and inputs.

    Numbers of rows with one number of inputs are in the tables only.
    """
    ratios: dict[tuple[str, str, float], list[float]] = {}
    for (dataset, _, n, inputs), errors in at_equal_seconds(rows).items():
        if dataset == GENERATED:
            for method, ratio in _relative(errors).items():
                ratios.setdefault((f"{n:,} rows", method, float(inputs)), []).append(ratio)
    places = {panel: {key[2] for key in ratios if key[0] == panel} for panel, _, _ in ratios}
    return {
        key: float(np.exp(np.mean(np.log(values))))
        for key, values in ratios.items()
        if len(places[key[0]]) > 1
    }


PAYOFF = Benchmark(
    name="payoff",
    settings=("part", "kernel", "n", "inputs", "features"),
    introduction=(
        "Ridge regression with a given kernel and `alpha` by the evidence, on 64 to 2,048 features "
        "of each kind. Seconds are CPU seconds of a fit with one thread."
    ),
    parts=(
        Part("few inputs", _few_cells, _measure, _few_tables),
        Part(
            "fits",
            _cells,
            _measure,
            _tables,
            (
                Picture(
                    "error",
                    "Test error relative to the best method in equal seconds, by the number of "
                    "inputs: geometric mean over kernels.",
                    "inputs",
                    "error over the least",
                    _drawn,
                ),
            ),
        ),
    ),
    order=("fits", "few inputs"),
)

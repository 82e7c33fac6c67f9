"""Errors of kernels, of regressions on features, and seconds, by sampling scheme."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import perf_counter

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks import datasets
from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.pictures import Picture
from benchmarks.results import Row, Scalar, grouped, median_groups, median_table
from benchmarks.schemes.candidates import CANDIDATES_PART
from bochner import FourierFeatures, KreinRidge, kernels
from bochner.features.parameters import median_distance
from bochner.spectral.energy import spread_directions

ORTHOGONAL, ENERGY = "orthogonal", "energy"
METHODS = ("iid", ORTHOGONAL, "structured", ENERGY)

_INPUTS = (1, 2, 5, 10, 20, 50, 100, 500)  # From a line to where blocks are structured
_FEATURES = (64, 256, 1_024, 4_096)  # From an eighth of the default to eight times as many
_SEEDS = 20  # Draws of each, with other rows; 90 % bands leave out one on either side
_ROWS = 600  # Rows of a Gram matrix of 3 MB

_TABLES = ("airfoil", "concrete", "boston", "california_housing")  # 5, 8, 13 and 8 inputs
_TABLE_FEATURES = (64, 256, 1_024)  # With more, errors are those of the kernel
_TEST_SHARE = 0.1  # As in the published splits

# A smooth kernel, and one whose frequencies have heavy tails.
_KERNELS: Mapping[str, kernels.Kernel] = {
    "Gaussian": kernels.Gaussian(1.0),
    "Matérn 3/2": kernels.Matern(1.0, nu=1.5),
}
_BAND = ("least of 90 % of draws", "greatest of 90 % of draws")
_DRAWN = (2, 10, 20, 50)  # Inputs with a panel of the picture


def _gram_cells(options: Options) -> Iterable[Cell]:
    inputs, features, seeds = (
        ((2, 20), _FEATURES[:2], 3) if options.quick else (_INPUTS, _FEATURES, _SEEDS)
    )
    return grid(_KERNELS, METHODS, seeds, inputs=inputs, features=features)


def _gram(cell: Cell, options: Options) -> Mapping[str, float]:
    rng = np.random.default_rng(cell.seed)
    X = rng.standard_normal((_ROWS, int(cell.settings["inputs"])))
    X /= median_distance(X, rng)
    kernel, exact = _KERNELS[cell.dataset], _KERNELS[cell.dataset](X)
    spread_directions.cache_clear()  # Every draw pays for its directions
    start = perf_counter()
    features = _features(kernel, cell).fit(X)
    seconds = perf_counter() - start
    error = np.linalg.norm(features.gram(X) - exact) / np.linalg.norm(exact)
    return {"relative_error": float(error), "seconds": seconds}


def _features(kernel: kernels.Kernel, cell: Cell) -> FourierFeatures:
    count = int(cell.settings["features"])
    return FourierFeatures(kernel, count, scheme=cell.method, random_state=cell.seed)


def _table_cells(options: Options) -> Iterable[Cell]:
    if options.from_folder:
        return grid(_TABLES, METHODS, _SEEDS, inputs=(0,), features=_TABLE_FEATURES)
    return grid(("diabetes",), METHODS, 2, inputs=(0,), features=_TABLE_FEATURES[:1])


def _table(cell: Cell, options: Options) -> Mapping[str, float]:
    data = datasets.load(cell.dataset, folder=options.data)
    is_test = np.random.default_rng(cell.seed).random(len(data.y)) < _TEST_SHARE
    scaler = StandardScaler().fit(data.X[~is_test])
    y, mean = np.asarray(data.y, dtype=np.float64), np.mean(data.y[~is_test])
    p = int(cell.settings["features"])
    model = KreinRidge(
        alpha="evidence",
        features=FourierFeatures("matern32", p, scheme=cell.method, length_scale="median"),
        random_state=cell.seed,
    )
    model.fit(scaler.transform(data.X[~is_test]), y[~is_test] - mean)
    errors = mean + model.predict(scaler.transform(data.X[is_test])) - y[is_test]
    return {"rmse": float(np.sqrt(np.mean(errors**2)))}


def _gram_tables(rows: Sequence[Row]) -> Iterator[str]:
    yield (
        "**Gram matrices.** Relative error ‖K̂ − K‖_F / ‖K‖_F on 600 normal rows, the length scale "
        "their median distance: median over seeds, and its ratio to that of orthogonal blocks."
    )
    for name in dict.fromkeys(row["dataset"] for row in rows):
        yield f"{name} kernel:"
        yield median_table(
            [row for row in rows if row["dataset"] == name],
            index=["inputs", "features"],
            metric="relative_error",
            ratio_to=ORTHOGONAL,
        )
    yield "**Seconds** of a fit, which draws the frequencies: median over seeds and kernels."
    yield _medians_over_kernels(rows)


def _medians_over_kernels(rows: Sequence[Row]) -> str:
    some = [{**row, "dataset": "all"} for row in rows]
    return median_table(some, index=["inputs", "features"], metric="seconds", digits=2)


def _table_tables(rows: Sequence[Row]) -> Iterator[str]:
    yield (
        "**Regressions.** Root mean square error on a tenth of the rows, Matérn 3/2 kernel, "
        "length scale by the median distance, ridge penalty by evidence: median over splits, and "
        "its ratio to that of orthogonal blocks."
    )
    yield median_table(rows, index=["dataset", "features"], metric="rmse", ratio_to=ORTHOGONAL)


def _curves(rows: Sequence[Row]) -> Mapping[tuple[str, str, Scalar], float]:
    """Return median errors of the Gaussian kernel by panel, method and features, and the band."""
    name = next(iter(_KERNELS))
    errors = grouped(rows, "relative_error", index=("inputs", "features"), dataset=name)
    shown = {key: line for key, line in errors.items() if key[0] in _DRAWN}
    curves = {
        (f"{inputs} inputs", method, features): value
        for (inputs, features), line in median_groups(shown).items()
        for method, value in line.items()
    }
    for (inputs, features), line in shown.items():
        ends = np.quantile(line[ENERGY], (0.05, 0.95))
        for end, value in zip(_BAND, ends, strict=True):
            curves[f"{inputs} inputs", end, features] = float(value)
    return curves


SCHEMES_BENCHMARK = Benchmark(
    name="schemes",
    settings=("part", "inputs", "features"),
    introduction="Features of frequencies that depend on one another in different ways.",
    parts=(
        Part(
            "gram",
            _gram_cells,
            _gram,
            _gram_tables,
            (
                Picture(
                    "error",
                    "Relative error of the Gram matrix of a Gaussian kernel by the number of "
                    "features.",
                    "features",
                    "relative error",
                    _curves,
                    bands={("90 % of draws", ENERGY): _BAND},
                ),
            ),
        ),
        Part("regressions", _table_cells, _table, _table_tables),
        CANDIDATES_PART,
    ),
)

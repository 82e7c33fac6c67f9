"""Error of the approximate Gram matrix of a Gaussian kernel, by sampling scheme."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import StandardScaler

from benchmarks import datasets
from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.pictures import Picture
from benchmarks.results import Row, median_table, medians
from bochner import kernels
from bochner._base.arrays import Array, Floats
from bochner.features.parameters import median_distance
from bochner.features.transformer import FourierFeatures

RBF_SAMPLER = "RBFSampler"
_FOLDER_SETS = ("letter", "ijcnn1", "cod_rna")
_BUNDLED_SETS = ("wine", "breast_cancer")
_MULTIPLES = (2, 8, 32)  # Features per input, p / d, as in the benchmark of indefinite kernels
_ROWS = 800  # Rows of a Gram matrix of 5 MB; each seed has others
_SCHEMES = ("iid", "orthogonal", "structured", "energy")


def _cells(options: Options) -> Iterable[Cell]:
    names = _FOLDER_SETS if options.from_folder else _BUNDLED_SETS
    multiples = _MULTIPLES[:2] if options.quick else _MULTIPLES
    seeds = 3 if options.quick else 20
    return grid(names, (RBF_SAMPLER, *_SCHEMES), seeds, features_per_input=multiples)


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    X = datasets.load(cell.dataset, folder=options.data).X
    rng = np.random.default_rng(cell.seed)
    rows = rng.choice(len(X), min(_ROWS, len(X)), replace=False)
    X = StandardScaler().fit(X).transform(X[rows])
    length_scale = median_distance(X, rng)
    exact = kernels.Gaussian(length_scale)(X)
    n_components = int(cell.settings["features_per_input"]) * X.shape[1]
    approximate = _gram(cell.method, X, length_scale, n_components, cell.seed)
    error = np.linalg.norm(approximate - exact) / np.linalg.norm(exact)
    return {"relative_error": float(error)}


def _gram(method: str, X: Array, length_scale: float, n_components: int, seed: int) -> Floats:
    if method == RBF_SAMPLER:
        gamma = 0.5 / length_scale**2
        sampler = RBFSampler(gamma=gamma, n_components=n_components, random_state=seed)
        Z: Array = sampler.fit_transform(X)
        return Z @ Z.T
    kernel = kernels.Gaussian(length_scale)
    features = FourierFeatures(kernel, n_components, scheme=method, random_state=seed)
    return features.fit(X).gram(X)


def _tables(rows: Sequence[Row]) -> Iterable[str]:
    for multiple in dict.fromkeys(row["features_per_input"] for row in rows):
        chosen = [row for row in rows if row["features_per_input"] == multiple]
        yield f"p = {multiple} d"
        yield median_table(
            chosen,
            index=["dataset"],
            columns="method",
            metric="relative_error",
            ratio_to=RBF_SAMPLER,
        )


GAUSSIAN = Benchmark(
    name="gaussian",
    settings=("features_per_input",),
    introduction="Relative error of the Gram matrix of a Gaussian kernel, ‖K̂ − K‖_F / ‖K‖_F, on "
    "800 standardised rows, the length scale their median distance, at p features for d inputs: "
    f"median over seeds, and its ratio to {RBF_SAMPLER}'s.",
    parts=(
        Part(
            "error",
            _cells,
            _run,
            _tables,
            (
                Picture(
                    "error",
                    "Relative error of the Gram matrix against the number of features.",
                    "features per input, p / d",
                    "relative error",
                    partial(
                        medians,
                        by=("dataset", "method", "features_per_input"),
                        metric="relative_error",
                    ),
                ),
            ),
        ),
    ),
)

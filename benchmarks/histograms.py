"""Error of features of histograms and sets, on rows that the features were not fitted to."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import sklearn.datasets
from sklearn.kernel_approximation import AdditiveChi2Sampler

from benchmarks.attention import FITTED, SAMPLED, passages
from benchmarks.harness import Benchmark, Cell, Options, Part
from benchmarks.pictures import Picture
from benchmarks.results import Row, median_table, medians
from bochner import FourierFeatures
from bochner._numerics.arrays import Array, Floats
from bochner.experimental import ChiSquared, Intersection, JensenShannon, Tanimoto
from bochner.features import KreinNystroem
from bochner.kernels import Kernel

SAMPLER, LANDMARKS = "AdditiveChi2Sampler", "Nyström, uniform"
METHODS = (SAMPLED, FITTED, LANDMARKS)
_KERNELS: Mapping[str, Kernel] = {
    "chi_squared": ChiSquared(),
    "intersection": Intersection(),
    "jensen_shannon": JensenShannon(),
    "tanimoto": Tanimoto(),
}
KERNELS = tuple(_KERNELS)

_COUNTS = (64, 192, 320, 1024, 2048)  # Features; the first three are those of the sampler on digits
_ROWS = 600  # Rows to fit to, and as many new ones; words have about 400 of each
_STEPS = (1, 2, 3)  # What the sampler has defaults for: 2 s - 1 features a column
_DIGITS, _WORDS = "digits", "word counts"
_NAMES = (_DIGITS, _WORDS)


def split(name: str, seed: int) -> tuple[Array, Array]:
    """Return rows to fit to and new ones: ink of digits, or counts of the words of passages."""
    if name == _DIGITS:
        X = sklearn.datasets.load_digits().data / 16.0
    else:
        X = passages().toarray().astype(np.float64)
    X = X[X.sum(axis=1) > 0.0]
    rows = np.random.default_rng(seed).permutation(X)
    half = min(len(rows) // 2, _ROWS)
    return rows[:half], rows[half : 2 * half]


def _cells(options: Options) -> Iterable[Cell]:
    names, kernels = (_NAMES[:1], KERNELS[:1]) if options.quick else (_NAMES, KERNELS)
    for seed in range(1 if options.quick else 3):
        for name in names:
            for kernel in kernels:
                for m in _COUNTS[:1] if options.quick else _COUNTS:
                    for method in METHODS:
                        yield Cell(name, method, seed, {"kernel": kernel, "features": m})
            if seed == 0:  # It draws nothing
                width = split(name, seed)[0].shape[1]
                for steps in _STEPS:
                    settings = {"kernel": "chi_squared", "features": width * (2 * steps - 1)}
                    yield Cell(name, SAMPLER, seed, settings)


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    X, new = split(cell.dataset, cell.seed)
    kernel = _KERNELS[str(cell.settings["kernel"])]
    exact = kernel(new)
    gram = _gram(cell, kernel, X, new)
    return {"error": float(np.linalg.norm(gram - exact) / np.linalg.norm(exact))}


def _gram(cell: Cell, kernel: Kernel, X: Array, new: Array) -> Floats:
    m = int(cell.settings["features"])
    if cell.method == SAMPLER:
        steps = (m // X.shape[1] + 1) // 2
        Z: Array = AdditiveChi2Sampler(sample_steps=steps).fit(X).transform(new)
        return Z @ Z.T
    if cell.method == LANDMARKS:
        landmarks = min(m, len(X))
        return KreinNystroem(kernel, landmarks, random_state=cell.seed).fit(X).gram(new)
    weights = "sampled" if cell.method == SAMPLED else "least_squares"
    return FourierFeatures(kernel, m, weights=weights, random_state=cell.seed).fit(X).gram(new)


def _tables(rows: Sequence[Row]) -> Iterable[str]:
    yield "Relative error of the Gram matrix of new rows in the Frobenius norm: medians over seeds."
    yield median_table(
        rows, index=["dataset", "kernel", "features"], columns="method", metric="error"
    )


def _curves(rows: Sequence[Row]) -> Mapping[tuple[str, str, float], float]:
    """Return errors by data set and kernel, method and number of features."""
    shown = [row for row in rows if row["kernel"] in ("chi_squared", "tanimoto")]
    errors = medians(shown, by=("dataset", "kernel", "method", "features"), metric="error")
    return {
        (f"{name}, {kernel}", str(method), float(m)): value
        for (name, kernel, method, m), value in errors.items()
    }


HISTOGRAMS = Benchmark(
    name="histograms",
    settings=("kernel", "features"),
    introduction="Kernels of histograms and sets, approximated by features of new rows.",
    parts=(
        Part(
            "error",
            _cells,
            _run,
            _tables,
            (
                Picture(
                    "error",
                    "Relative error of the Gram matrix by the number of features.",
                    "features",
                    "relative error",
                    _curves,
                ),
            ),
        ),
    ),
)

"""Features of sequences: their error against exact kernels, and classification with them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import sklearn.datasets
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from benchmarks.attention import documents
from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.pictures import SEMILOG, Picture
from benchmarks.results import Row, median_table, medians
from bochner import FourierFeatures
from bochner._numerics.arrays import Array
from bochner.experimental import SequenceFeatures
from bochner.experimental.sequence_maps import SignatureLevels
from bochner.kernels import Kernel

WINDOWS, PAIRS, TRIPLES = "windows", "signature, depth 2", "signature, depth 3"
STEPS, LETTERS, GRAMS = "equal steps", "counts of letters", "counts of triples"
STEADY, UNEVEN, PASSAGES = "digits, steady", "digits, uneven", "passages"

# Windows as long as the tuples of the deepest signature.
_OF_SEQUENCES: Mapping[str, Mapping[str, Any]] = {
    WINDOWS: {"method": "windows", "window": 3},
    PAIRS: {"method": "signature", "depth": 2},
    TRIPLES: {"method": "signature", "depth": 3},
}
_INDEPENDENT = ", iid"
_COUNTS = (64, 256, 1024, 4096)  # Features; depth 3 has 14 a frequency
_LEARNED = (128, 512, 2048)  # Features of a classifier: up to twice as many as rows to learn from
_FEW = 40  # Sequences of the Gram matrices: exact ones are of all pairs of points, some ten million
_SEEDS = 5  # Splits, uneven steps and draws: shares have standard errors of some 0.005 to 0.02
_MISMATCH = 0.8  # Length scale of letters: a mismatch in a window costs the factor exp(-1 / 0.64)
_STEPS = 9  # As many as the images have rows, with the row of zeros


def sequences(name: str, seed: int) -> tuple[Any, NDArray[Any]]:
    """Return series or strings, in random order, and their labels."""
    rng = np.random.default_rng(seed)
    if name == PASSAGES:
        passages, sources = documents()
        order = rng.permutation(len(passages))
        return [f" {passages[i]} " for i in order], np.array(sources)[order]
    digits = sklearn.datasets.load_digits()
    order = rng.permutation(len(digits.target))
    images = np.pad(digits.images[order] / 16.0, ((0, 0), (1, 0), (0, 0)))
    lasting = rng.integers(1, 9, images.shape[:2]) if name == UNEVEN else np.ones((1, 9), int)
    lasting = np.broadcast_to(lasting, images.shape[:2])
    series = [np.repeat(image, n, axis=0) for image, n in zip(images, lasting, strict=True)]
    return series, digits.target[order]


def _map(cell: Cell) -> SequenceFeatures:
    method = cell.method.removesuffix(_INDEPENDENT)
    is_windows_of_letters = cell.dataset == PASSAGES and method == WINDOWS
    return SequenceFeatures(
        n_components=int(cell.settings["features"]),
        scheme="iid" if cell.method.endswith(_INDEPENDENT) else "auto",
        length_scale=_MISMATCH if is_windows_of_letters else "median",
        random_state=cell.seed,
        **_OF_SEQUENCES[method],
    )


def _error_cells(options: Options) -> Iterable[Cell]:
    names = (UNEVEN,) if options.quick else (UNEVEN, PASSAGES)
    methods = [method + scheme for method in _OF_SEQUENCES for scheme in ("", _INDEPENDENT)]
    counts, seeds = (_COUNTS[:2], 1) if options.quick else (_COUNTS, _SEEDS)
    return grid(names, methods, seeds, features=counts)


def _run_error(cell: Cell, options: Options) -> Mapping[str, float]:
    X = sequences(cell.dataset, cell.seed)[0][:_FEW]
    model = _map(cell).fit(X)
    if isinstance(model.map_, SignatureLevels):
        depth = len(model.map_.frequencies)
        levels = _levels(cell.dataset, cell.seed, model.kernel_, depth)
        exact = np.tensordot(model.map_.weights, levels, 1)
    else:
        exact = _of_windows(cell.dataset, cell.seed, model.kernel_, model.map_.window)
    return {"error": float(np.linalg.norm(model.gram(X) - exact) / np.linalg.norm(exact))}


def points(name: str, seed: int) -> list[Array]:
    """Return the first sequences as points (T, d), letters one-hot with a column for others."""
    X = sequences(name, seed)[0][:_FEW]
    if name != PASSAGES:
        return list(X)
    alphabet = sorted(set("".join(X)))
    columns = np.eye(len(alphabet), len(alphabet) + 1)
    return [columns[[alphabet.index(letter) for letter in text]] for text in X]


@lru_cache(maxsize=4)
def _of_windows(name: str, seed: int, kernel: Kernel, window: int) -> Array:
    return windows_gram(points(name, seed), kernel, window)


@lru_cache(maxsize=4)
def _levels(name: str, seed: int, kernel: Kernel, depth: int) -> Array:
    return signature_levels(points(name, seed), kernel, depth)


def windows_gram(each: Sequence[Array], kernel: Kernel, window: int) -> Array:
    """Return means (n, n) of the kernel over all pairs of windows of sequences (T, d)."""
    views = (
        np.lib.stride_tricks.sliding_window_view(sequence, window, axis=0) for sequence in each
    )
    flat = [view.swapaxes(1, 2).reshape(len(view), -1) for view in views]
    sizes = np.array([len(windows) for windows in flat])
    starts, rows = np.cumsum(sizes) - sizes, np.concatenate(flat)
    sums = np.add.reduceat(np.add.reduceat(kernel(rows), starts, axis=0), starts, axis=1)
    means: Array = sums / np.outer(sizes, sizes)
    return means


def signature_levels(each: Sequence[Array], kernel: Kernel, depth: int) -> Array:
    """Return the exact levels of the signature kernel, of shape (depth + 1, n, n)."""
    longest = max(map(len, each))
    # The last point is repeated, which adds increments of zero.
    padded = np.stack([np.pad(x, ((0, longest - len(x)), (0, 0)), mode="edge") for x in each])
    gram = kernel(padded.reshape(-1, padded.shape[2]))
    gram = gram.reshape(len(each), longest, len(each), longest)
    increments = np.diff(np.diff(gram, axis=1), axis=3)
    levels, terms = [np.ones((len(each), len(each)))], increments
    for _ in range(depth):
        levels.append(terms.sum(axis=(1, 3)))
        before = np.zeros_like(terms)
        before[:, 1:, :, 1:] = terms.cumsum(axis=1).cumsum(axis=3)[:, :-1, :, :-1]
        terms = increments * before
    return np.array(levels)


def _accuracy_cells(options: Options) -> Iterable[Cell]:
    if options.quick:
        return grid((UNEVEN,), (STEPS, WINDOWS, PAIRS), 1, features=_LEARNED[:1])
    series = grid((STEADY, UNEVEN), (STEPS, *_OF_SEQUENCES), _SEEDS, features=_LEARNED)
    strings = grid((PASSAGES,), _OF_SEQUENCES, _SEEDS, features=_LEARNED)
    # All letters, or triples, that occur: none of the numbers above.
    return [*series, *strings, *grid((PASSAGES,), (LETTERS, GRAMS), _SEEDS, features=(0,))]


def _run_accuracy(cell: Cell, options: Options) -> Mapping[str, float]:
    X, y = sequences(cell.dataset, cell.seed)
    if options.quick:
        X, y = X[:300], y[:300]
    train, test = train_test_split(np.arange(len(y)), random_state=cell.seed, stratify=y)
    model = _classifier(cell).fit([X[i] for i in train], y[train])
    return {"accuracy": float(model.score([X[i] for i in test], y[test]))}


def _classifier(cell: Cell) -> Pipeline:
    if cell.method in (LETTERS, GRAMS):
        n = 1 if cell.method == LETTERS else 3
        counts = CountVectorizer(analyzer="char", ngram_range=(n, n))
        return make_pipeline(counts, LogisticRegression(C=10.0, max_iter=5000))
    linear = StandardScaler(), RidgeClassifierCV(np.logspace(-1, 5, 13))
    if cell.method != STEPS:
        return make_pipeline(_map(cell), *linear)
    m = int(cell.settings["features"])
    features = FourierFeatures(n_components=m, random_state=cell.seed)
    return make_pipeline(FunctionTransformer(equal_steps), features, *linear)


def equal_steps(series: Sequence[Array]) -> Array:
    """Return the values at nine equidistant times, side by side, by linear interpolation."""
    values = []
    for values_of_series in series:
        times = np.linspace(0.0, len(values_of_series) - 1.0, _STEPS)
        columns = [
            np.interp(times, np.arange(len(values_of_series)), column)
            for column in values_of_series.T
        ]
        values.append(np.concatenate(columns))
    return np.array(values)


def _error_tables(rows: Sequence[Row]) -> Iterable[str]:
    yield (
        "Relative error of the Gram matrix of 40 sequences in the Frobenius norm: medians over "
        "seeds."
    )
    yield median_table(rows, index=["dataset", "features"], metric="error")


def _accuracy_tables(rows: Sequence[Row]) -> Iterable[str]:
    yield (
        "Share of new sequences whose class is predicted correctly: medians over seeds. Counts "
        "have a feature for every letter or triple that occurs, and the number 0 here."
    )
    yield median_table(rows, index=["dataset", "features"], metric="accuracy")


def _curves(metric: str, *datasets: str) -> Any:
    def values(rows: Sequence[Row]) -> Mapping[tuple[str, str, float], float]:
        """Return medians by data set, method and number of features."""
        shown = [row for row in rows if row["dataset"] in datasets]
        errors = medians(shown, by=("dataset", "method", "features"), metric=metric)
        axis = sorted({float(m) for _, _, m in errors if float(m) > 0})
        return {
            (str(name), str(method), x): value
            for (name, method, m), value in errors.items()
            for x in ([float(m)] if float(m) > 0 else axis)
        }

    return values


SEQUENCES = Benchmark(
    name="sequences",
    settings=("part", "features"),
    introduction="Features of series of different lengths and of strings.",
    parts=(
        Part(
            "error",
            _error_cells,
            _run_error,
            _error_tables,
            (
                Picture(
                    "error",
                    "Relative error of the Gram matrix by the number of features.",
                    "features",
                    "relative error",
                    _curves("error", UNEVEN, PASSAGES),
                ),
            ),
        ),
        Part(
            "accuracy",
            _accuracy_cells,
            _run_accuracy,
            _accuracy_tables,
            (
                Picture(
                    "accuracy",
                    "Share of correct classes by the number of features.",
                    "features",
                    "share correct",
                    _curves("accuracy", STEADY, UNEVEN, PASSAGES),
                    SEMILOG,
                ),
            ),
        ),
    ),
)

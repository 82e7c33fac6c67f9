"""Error of attention by positive features, on embeddings that the features were not fitted to."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets
from scipy.special import logsumexp
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.harness import Benchmark, Cell, Options, Part
from benchmarks.pictures import Picture
from benchmarks.results import Row, median_table, medians
from bochner import PositiveFeatures
from bochner._base.arrays import Array
from bochner.spectral import Iid, Orthogonal
from bochner.spectral.positive_measure import PositiveFrequencies

FAVOR, SAMPLED, FITTED = "FAVOR+", "sampled", "fitted"
TRIGONOMETRIC, UNIFORM = "trigonometric", "uniform"
METHODS = (FAVOR, SAMPLED, FITTED, TRIGONOMETRIC, UNIFORM)

_TEMPERATURES = (4.0, 2.0, 1.0, 0.5)  # Logits have standard deviation 1 / temperature
_COUNTS = (64, 256)  # Features: few, and as many as FAVOR+ has in its authors' models
_ROWS = 600  # Queries, and keys, of generated data to fit to, and as many new ones
_NORMAL_WIDTHS = {"normal, 16 inputs": 16, "normal, 64 inputs": 64}  # Inputs by data set
_UNEQUAL, _DIGITS, _WORDS = "unequal, 32 inputs", "digits", "word counts"
_NAMES = (*_NORMAL_WIDTHS, _UNEQUAL, _DIGITS, _WORDS)
_WINDOW, _COMPONENTS = 12, 8  # Words of a document, and principal components of the counts

Split = tuple[Array, Array, Array, Array]
"""Queries and keys to fit to, and new ones."""


def _unequal(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return queries and keys with decreasing scales, different centres, and a linear map."""
    d, size = 32, (2 * _ROWS, 32)
    scale = np.arange(1, d + 1) ** -0.5
    mixing = rng.standard_normal((d, d)) / np.sqrt(d)
    first, second = 0.5 * rng.standard_normal((2, d))
    queries = rng.standard_normal(size) * scale + first
    return queries, (rng.standard_normal(size) * scale) @ mixing + second


def documents() -> tuple[list[str], list[str]]:
    """Return passages of twelve words of scikit-learn's descriptions of data sets, and of which."""
    folder = Path(sklearn.datasets.__file__).parent / "descr"
    passages, sources = list[str](), list[str]()
    for path in sorted(folder.glob("*.rst")):
        words = re.findall(r"[a-z]{2,}", path.read_text(encoding="utf-8").lower())
        starts = range(0, len(words) - _WINDOW + 1, _WINDOW)
        passages += [" ".join(words[k : k + _WINDOW]) for k in starts]
        sources += [path.stem] * len(starts)
    return passages, sources


@lru_cache(maxsize=1)
def passages() -> Any:
    """Return counts (n, d) of the words of passages of scikit-learn's descriptions, sparse."""
    return CountVectorizer(min_df=2).fit_transform(documents()[0])


@lru_cache(maxsize=1)
def _counts() -> Array:
    """Return principal components of roots of word counts."""
    root = np.sqrt(passages().toarray())
    U, s, _ = np.linalg.svd(root - root.mean(axis=0), full_matrices=False)
    components: Array = U[:, :_COMPONENTS] * s[:_COMPONENTS]
    return components


def _embeddings(name: str, rng: np.random.Generator) -> tuple[Array, Array]:
    if name in _NORMAL_WIDTHS:
        first, second = rng.standard_normal((2, 2 * _ROWS, _NORMAL_WIDTHS[name]))
        return first, second
    if name == _UNEQUAL:
        return _unequal(rng)
    X = sklearn.datasets.load_digits().data if name == _DIGITS else _counts()
    X = rng.permutation(X - X.mean(axis=0))
    half = len(X) // 2
    return X[:half], X[half : 2 * half]


def split(name: str, seed: int) -> tuple[Split, float]:
    """Return embeddings, halved, and the standard deviation of their inner products."""
    queries, keys = _embeddings(name, np.random.default_rng(seed))
    half = len(queries) // 2
    parts = queries[:half], keys[:half], queries[half:], keys[half:]
    return parts, float((queries @ keys.T).std())


def favor(dim: int, m: int, temperature: float, seed: int) -> PositiveFrequencies:
    """Return the frequencies of FAVOR+: orthogonal directions, independent norms, equal weights."""
    rng = np.random.default_rng(seed)
    omega = Orthogonal().directions(m, dim, rng) * np.sqrt(rng.chisquare(dim, size=(m, 1)))
    unit, origin = np.eye(dim) / np.sqrt(temperature), np.zeros(dim)
    return PositiveFrequencies(omega, np.full(m, -np.log(m)), unit, unit, origin, origin)


def trigonometric(X: Array, Y: Array, m: int, temperature: float, seed: int) -> Array:
    """Return attention by m cosines and sines of a Gaussian kernel, times the rows' factors."""
    rng, dim = np.random.default_rng(seed), X.shape[1]
    radius = np.sqrt(rng.chisquare(dim, size=(m // 2, 1)))
    omega = Iid().directions(m // 2, dim, rng) * radius
    X, Y = X / np.sqrt(temperature), Y / np.sqrt(temperature)
    left, right = (np.hstack((np.cos(Z @ omega.T), np.sin(Z @ omega.T))) for Z in (X, Y))
    norms = 0.5 * (Y**2).sum(axis=1)
    gram = (left @ right.T) * np.exp(norms - norms.max())
    weights: Array = gram / gram.sum(axis=1, keepdims=True)
    return weights


def _cells(options: Options) -> Iterable[Cell]:
    counts = _COUNTS[:1] if options.quick else _COUNTS
    names = _NAMES[:1] if options.quick else _NAMES
    for seed in range(1 if options.quick else 3):
        for name in names:
            for temperature in _TEMPERATURES:
                for m in counts:
                    for method in METHODS:
                        settings = {"temperature": temperature, "features": m}
                        yield Cell(name, method, seed, settings)


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    (queries, keys, new_queries, new_keys), size = split(cell.dataset, cell.seed)
    temperature = size * float(cell.settings["temperature"])
    logits = new_queries @ new_keys.T / temperature
    exact = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
    m = int(cell.settings["features"])
    weights = _attention(cell, (queries, keys, new_queries, new_keys), temperature, m)
    outputs, true = weights @ new_keys, exact @ new_keys
    return {
        "attention_error": float(np.linalg.norm(weights - exact) / np.linalg.norm(exact)),
        "output_error": float(np.linalg.norm(outputs - true) / np.linalg.norm(true)),
    }


def _attention(cell: Cell, rows: Split, temperature: float, m: int) -> Array:
    queries, keys, new_queries, new_keys = rows
    unit = np.eye(len(new_keys))
    if cell.method == UNIFORM:
        return np.full((len(new_queries), len(new_keys)), 1.0 / len(new_keys))
    if cell.method == TRIGONOMETRIC:
        return trigonometric(new_queries, new_keys, m, temperature, cell.seed)
    if cell.method == FAVOR:
        frequencies = favor(queries.shape[1], m, temperature, cell.seed)
        return frequencies.attention(new_queries, new_keys, unit)
    weights = "sampled" if cell.method == SAMPLED else "least_squares"
    features = PositiveFeatures(
        m, temperature=temperature, weights=weights, random_state=cell.seed
    ).fit(queries, right=keys)
    return features.attention(new_queries, new_keys, unit)


def ratios(rows: Sequence[Row], metric: str) -> dict[tuple[str, int, str], float]:
    """Return medians over temperatures of errors over FAVOR+'s, by data set, count and method."""
    by = ("dataset", "features", "method", "temperature")
    error = medians(rows, by=by, metric=metric)
    groups: dict[tuple[str, int, str], list[float]] = {}
    for (name, m, method, temperature), value in error.items():
        ratio = value / error[name, m, FAVOR, temperature]
        groups.setdefault((str(name), int(m), str(method)), []).append(ratio)
    return {key: float(np.median(values)) for key, values in groups.items()}


def _tables(rows: Sequence[Row]) -> Iterable[str]:
    texts = {
        "attention_error": "Relative error of attention weights in the Frobenius norm",
        "output_error": "Relative error of the averages of keys",
    }
    for metric, text in texts.items():
        yield f"{text}: median over four temperatures of its ratio to FAVOR+'s."
        ratio_rows: list[Row] = [
            {"dataset": name, "features": m, "method": method, "metric": "ratio", "value": value}
            for (name, m, method), value in ratios(rows, metric).items()
        ]
        yield median_table(
            ratio_rows, index=["dataset", "features"], columns="method", metric="ratio"
        )
    for metric, text in texts.items():
        yield f"{text}: medians over seeds."
        yield median_table(
            rows, index=["dataset", "features", "temperature"], columns="method", metric=metric
        )
    yield "Seconds to fit features and form all weights, at temperature 1: medians over seeds."
    rows = [row for row in rows if row["temperature"] == 1.0]
    yield median_table(rows, index=["dataset", "features"], columns="method", metric="seconds")


def _curves(rows: Sequence[Row]) -> Mapping[tuple[str, str, float], float]:
    """Return errors by data set, method and temperature, with the greatest number of features."""
    most = max(int(row["features"]) for row in rows)
    errors = medians(
        [row for row in rows if row["features"] == most and row["method"] != TRIGONOMETRIC],
        by=("dataset", "method", "temperature"),
        metric="attention_error",
    )
    return {
        (str(name), str(method), float(t)): value for (name, method, t), value in errors.items()
    }


ATTENTION = Benchmark(
    name="attention",
    settings=("temperature", "features"),
    introduction="Attention weights, exp(⟨q, k⟩ / T) divided by their sums over keys, approximated "
    "by features. T is in units of the standard deviation of the inner products.",
    parts=(
        Part(
            "error",
            _cells,
            _run,
            _tables,
            (
                Picture(
                    "error",
                    "Relative error of attention weights by the temperature, 256 features (64 in "
                    "the small design).",
                    "temperature",
                    "relative error",
                    _curves,
                ),
            ),
        ),
    ),
)

"""Components of the parts of free text, and the columns whose components predict targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from bochner._base.arrays import Array, as_array
from bochner._base.registry import register
from bochner.files.columns import Column
from bochner.tables.observations import Chosen
from bochner.tables.tree_growth import TreeSizes, boosted, squared
from bochner.tables.tree_laws import Line
from bochner.tables.trees import TreeInputs, Trees

_SIZES = (3, 4)
"""Numbers of characters of the parts, as in skrub: shorter are in most texts, longer in few."""

_N_PLACES = 2**20
"""Places of hashed parts: two of 4,096 stored parts share one in less than half a per cent."""

_MOST_PARTS = 4096
"""Most parts that are stored, the most frequent: half a megabyte of components in a model file."""

_N_COMPONENTS = 30
"""Components of a column, as many as the package skrub has."""

_MOST_TEXTS = 10_000
"""Texts from which components are learned, in a second."""

_LONGEST = 20_000
"""Characters of a text, its first ones, that are split into parts: a million take 1.5 seconds."""

MANY_LEVELS = 40
"""Levels above which the parts of text may be used: fewer levels have enough rows of their own."""

_MOST_ROWS, _FEWEST_ROWS = 3000, 50
"""Rows that choose columns: the most show a gain of one per cent, the fewest none."""

_N_FOLDS = 5
"""Folds of the rows that choose columns, the usual number."""

_TREE_SIZES, _N_TREES = TreeSizes(rate=0.1, depth=5), 60
"""Sizes and number of the trees of other features: they need not be the best."""

_FEWEST_OF_LEVEL = 20
"""Rows of a level with a score in these trees: with scores of five rows, three choices differ."""

_CERTAIN = 2.0
"""Standard errors by which parts must reduce the squared error: random text does in one of 44."""

_LEAST_GAIN = 0.02
"""Least reduction of the squared error: one per cent makes the final model worse."""

_MOST_TARGETS = 5
"""Targets, or classes, with which columns are chosen: those of greatest variance."""


@register(shapes={"places": "p", "idf": "p", "components": "pk", "centre": "k"})
@dataclass(frozen=True, slots=True, eq=False)
class TextParts:
    """Parts of three and four characters within words, hashed, and their principal components."""

    places: NDArray[np.int64]  # (p,): Hashes of the parts, ascending
    idf: NDArray[np.float32]  # (p,): Logarithms of inverse shares of texts with the part
    components: NDArray[np.float32]  # (p, k)
    centre: Array  # (k,): Mean scores of the texts of the fit

    @classmethod
    def of(cls, column: Column) -> TextParts | None:
        """Return the parts that two texts of a column have; ``None`` if there are hardly any."""
        some = np.random.default_rng(0).permutation(np.flatnonzero(column.present))[:_MOST_TEXTS]
        is_all = len(column.raw) <= _MOST_TEXTS
        counts, index = _counts(column if is_all else column.at_rows(some))
        counts = counts[index[some] if is_all else index]
        frequency = np.bincount(counts.indices, minlength=_N_PLACES)
        repeated = np.flatnonzero(frequency > 1)
        if len(some) < _FEWEST_ROWS or len(repeated) <= _N_COMPONENTS:
            return None
        places = repeated[np.argsort(-frequency[repeated], kind="stable")[:_MOST_PARTS]]
        places.sort()
        idf = (np.log((1.0 + len(some)) / (1.0 + frequency[places])) + 1.0).astype(np.float32)
        weighted = _weighted(counts, places, idf)
        _, _, rows = randomized_svd(weighted, min(_N_COMPONENTS, len(some) - 1), random_state=0)
        scores = as_array(weighted @ rows.T)
        # Like the levels of a category, two texts have a squared distance of two on average.
        scale = np.sqrt(scores.var(axis=0).sum())
        components = (rows.T / scale).astype(np.float32)
        return cls(places, idf, components, scores.mean(axis=0) / scale)

    def __call__(self, column: Column) -> tuple[Array, NDArray[np.bool_]]:
        """Return the scores (n, k) of texts, zero for texts without a part, and which have one."""
        counts, index = _counts(column)
        weighted = _weighted(counts, self.places, self.idf)
        is_known = np.diff(weighted.indptr) > 0
        scores = as_array(weighted @ self.components) - self.centre
        return np.where(is_known[:, None], scores, 0.0)[index], is_known[index]


def _counts(column: Column) -> tuple[csr_array, NDArray[np.intp]]:
    """Return how often parts occur in distinct texts (u, places), and the index of texts (n,)."""
    if "parts" not in column.memo:  # Encoders of a table share its columns
        texts = column.texts().copy()
        texts[~column.present] = ""
        distinct, index = np.unique(texts, return_inverse=True)
        hashing = HashingVectorizer(
            analyzer="char_wb",
            ngram_range=_SIZES,
            n_features=_N_PLACES,
            alternate_sign=False,
            norm=None,
            dtype=np.float32,
        )
        first = [text[:_LONGEST] for text in distinct.tolist()]
        column.memo["parts"] = csr_array(hashing.transform(first)), index
    counts, index = column.memo["parts"]
    return counts, index


def _weighted(counts: csr_array, places: NDArray[np.int64], idf: NDArray[np.float32]) -> csr_array:
    """Return the counts (n, p) of some parts, times their weights, as rows of length one."""
    return csr_array(normalize(counts[:, places] @ diags_array(idf), copy=False))


def some_rows(n: int) -> NDArray[np.intp]:
    """Return a random sample of the indices of ``n`` rows, which chooses columns."""
    return np.sort(np.random.default_rng(0).permutation(n)[:_MOST_ROWS])


def telling(
    scores: Mapping[int, Array],
    base: tuple[TreeInputs, Array],
    targets: Array,
    groups: NDArray[np.int64],
) -> set[int]:
    """Return the columns whose scores predict left-out targets (n, t) beyond other features."""
    numbers = np.unique(groups, return_inverse=True)[1]
    fold = np.random.default_rng(0).permutation(numbers.max() + 1)[numbers] % _N_FOLDS
    chosen: set[int] = set()
    if len(targets) < _FEWEST_ROWS or len(np.unique(fold)) < 2:
        return chosen
    order = np.argsort(-targets.var(axis=0), kind="stable")[:_MOST_TARGETS]
    residuals = targets[:, order] - targets[:, order].mean(axis=0)
    inputs, encoded = base
    if len(inputs):
        features, n_blocks = inputs(encoded), len(inputs.starts)
        for levels in features.T[:n_blocks]:  # Rare levels are one level
            codes = levels.astype(np.intp)
            counts = np.bincount(codes)
            levels[counts[codes] < _FEWEST_OF_LEVEL] = len(counts)
        trees = partial(_trees, n_blocks=n_blocks)
        residuals = residuals - _out_of_fold(trees, features, residuals, fold)
    for number, of_column in scores.items():
        line = partial(Line.of, np.arange(of_column.shape[1]))
        others = residuals - _out_of_fold(line, of_column, residuals, fold)
        squares = np.sum(residuals**2, axis=1)
        gain = squares - np.sum(others**2, axis=1)
        error = gain.std() / np.sqrt(len(gain))
        if gain.mean() > max(_CERTAIN * error, _LEAST_GAIN * squares.mean()):
            chosen.add(number)
            residuals = others
    return chosen


def _trees(X: Array, Y: Array, weights: Array, n_blocks: int) -> Trees:
    outputs = np.tile(mean := Y.mean(axis=0), (len(Y), 1))
    return boosted(X, n_blocks, squared, Y, weights, mean, outputs, _TREE_SIZES, _N_TREES, seed=0)


def _out_of_fold(fitted: Callable[..., Any], X: Array, Y: Array, fold: Chosen) -> Array:
    """Return predictions (n, t) of each fold by a fit to the rows of the others."""
    values, ones = np.empty_like(Y), np.ones(len(Y))
    for out in (fold == number for number in np.unique(fold)):
        values[out] = fitted(X[~out], Y[~out], ones[~out])(X[out])
    return values

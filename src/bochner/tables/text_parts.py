"""Components of the parts of free text, and the columns whose components predict targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from bochner._base.arrays import Array, as_array
from bochner._base.registry import register
from bochner._base.threads import threads_of_trees
from bochner.files.columns import Column

_SIZES = (3, 4)
"""Numbers of characters of the parts, as in skrub: shorter ones are in most texts, longer in
few."""

_N_PLACES = 2**20
"""Places of hashed parts: two of 4,096 stored parts share one in less than half a per cent."""

_MOST_PARTS = 4096
"""Most parts that are stored, the most frequent: half a megabyte of components in a model file."""

_N_COMPONENTS = 30
"""Components of a column, as many as the package skrub has."""

_MOST_TEXTS = 10_000
"""Texts from which components are learned, in a second."""

MANY_LEVELS = 40
"""Levels above which the parts of text may be used: fewer levels have enough rows of their own."""

_MOST_ROWS, _FEWEST_ROWS = 3000, 50
"""Rows that choose columns: the most show a gain of one per cent, the fewest none."""

_N_FOLDS = 5
"""Folds of the rows that choose columns, the usual number."""

_N_ITERATIONS, _N_LEAVES = 60, 15
"""Iterations and leaves of the trees of other features, in a second: they need not be the best."""

_ALPHAS = np.logspace(-2.0, 4.0, 13)
"""Candidate penalties of scores of variance one, two per decade, for 3,000 rows at most."""

_CERTAIN = 2.0
"""Standard errors by which parts must reduce the squared error: random text does in one of 44."""

_LEAST_GAIN = 0.02
"""Least reduction of the squared error: with one per cent, errors of the final model are
greater."""

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
        texts = _texts(column)
        some = np.random.default_rng(0).permutation(texts[column.present])[:_MOST_TEXTS]
        counts = _counts(some.tolist())
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
        if "parts" not in column.memo:  # Encoders of a table share its columns
            distinct, index = np.unique(_texts(column), return_inverse=True)
            column.memo["parts"] = _counts(distinct.tolist()), index
        counts, index = column.memo["parts"]
        weighted = _weighted(counts, self.places, self.idf)
        is_known = np.diff(weighted.indptr) > 0
        scores = as_array(weighted @ self.components) - self.centre
        return np.where(is_known[:, None], scores, 0.0)[index], is_known[index]


def _texts(column: Column) -> NDArray[np.object_]:
    """Return the entries (n,) of a column as text, empty where missing."""
    texts = column.texts().copy()
    texts[~column.present] = ""
    return texts


def _counts(texts: Sequence[str]) -> csr_array:
    """Return the number of times that each part occurs in each text, (n, places)."""
    hashing = HashingVectorizer(
        analyzer="char_wb",
        ngram_range=_SIZES,
        n_features=_N_PLACES,
        alternate_sign=False,
        norm=None,
        dtype=np.float32,
    )
    return csr_array(hashing.transform(texts))


def _weighted(counts: csr_array, places: NDArray[np.int64], idf: NDArray[np.float32]) -> csr_array:
    """Return the counts (n, p) of some parts, times their weights, as rows of length one."""
    return csr_array(normalize(counts[:, places] @ diags_array(idf), copy=False))


def some_rows(n: int) -> NDArray[np.intp]:
    """Return a random sample of the indices of ``n`` rows, which chooses columns."""
    return np.sort(np.random.default_rng(0).permutation(n)[:_MOST_ROWS])


def telling(
    scores: Mapping[int, Array], base: Array, targets: Array, groups: NDArray[np.int64]
) -> set[int]:
    """Return the columns whose scores predict left-out targets (n, t) beyond other features."""
    numbers = np.unique(groups, return_inverse=True)[1]
    fold = np.random.default_rng(0).permutation(numbers.max() + 1)[numbers] % _N_FOLDS
    folds = PredefinedSplit(fold)
    chosen: set[int] = set()
    if len(targets) < _FEWEST_ROWS or folds.get_n_splits() < 2:
        return chosen
    spread = targets.var(axis=0)
    order = np.argsort(-spread, kind="stable")[:_MOST_TARGETS]
    residuals = targets[:, order] - targets[:, order].mean(axis=0)
    if base.shape[1]:
        trees = HistGradientBoostingRegressor(max_iter=_N_ITERATIONS, max_leaf_nodes=_N_LEAVES)
        with threads_of_trees():
            predicted = [cross_val_predict(trees, base, y, cv=folds) for y in residuals.T]
        residuals = residuals - np.column_stack(predicted)
    for number, of_column in scores.items():
        predicted = cross_val_predict(RidgeCV(_ALPHAS), of_column, residuals, cv=folds)
        others = residuals - predicted.reshape(residuals.shape)
        squares = np.sum(residuals**2, axis=1)
        gain = squares - np.sum(others**2, axis=1)
        error = gain.std() / np.sqrt(len(gain))
        if gain.mean() > max(_CERTAIN * error, _LEAST_GAIN * squares.mean()):
            chosen.add(number)
            residuals = others
    return chosen

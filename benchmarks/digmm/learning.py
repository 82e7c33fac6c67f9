"""Linear classifiers on features, and the best of the library that training rows choose."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from benchmarks.digmm.data import Split, split_of
from benchmarks.digmm.design import CS, MNIST
from benchmarks.digmm.scales import GAUSSIAN, MATERN, Family, LeaveOneOut, minimise
from benchmarks.indefinite.design import FeatureMap
from benchmarks.rows import FOLDS, linear_classifier
from bochner._base.arrays import Array, row_blocks
from bochner.features.parameters import median_distance
from bochner.features.transformer import FourierFeatures
from bochner.kernels import Gaussian, Kernel, Laplacian

# Training rows that choose a penalty: fewer where there are more features than the first number,
# or more than two classes, since a choice takes 30 fits.
_MANY_FEATURES, _CHOICE, _FEW_CHOICE, _CHOICE_OF_MANY_CLASSES = 2_000, 4_000, 2_000, 1_000

# Bytes of an entry, with the copies that a transform makes, and of a block of rows.
_BYTES_AN_ENTRY, _BLOCK_BYTES = 12, 2**26


def features_of(features: FeatureMap, X: Array) -> NDArray[np.float32]:
    """Return features in single precision."""
    Z = np.empty((len(X), len(features.signature_)), np.float32)
    for rows in _blocks(len(X), Z.shape[1]):
        Z[rows] = features.transform(X[rows].astype(np.float32))
    return Z


def n_choice(n_features: int, y: NDArray[Any]) -> int:
    """Return how many training rows choose a penalty."""
    if len(np.unique(y)) > 2:
        return _CHOICE_OF_MANY_CLASSES
    return _CHOICE if n_features <= _MANY_FEATURES else _FEW_CHOICE


def folds(y: NDArray[Any], n_folds: int, seed: int) -> list[NDArray[np.intp]]:
    """Return the rows of stratified and shuffled folds."""
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return [part for _, part in splitter.split(y, y)]


def accuracies(
    Z: NDArray[Any], y: NDArray[Any], Cs: Sequence[float], parts: Sequence[NDArray[np.intp]]
) -> Array:
    """Return the accuracy on all parts, each left out in its turn, for each ``C``, (len(Cs),)."""
    right = np.zeros(len(Cs))
    for part in parts:
        training = np.setdiff1d(np.arange(len(y)), part)
        for place, C in enumerate(Cs):
            model = linear_classifier(C).fit(Z[training], y[training])
            right[place] += np.sum(model.predict(Z[part]) == y[part])
    return right / sum(map(len, parts))


def choice_accuracies(Z: NDArray[Any], y: NDArray[Any], seed: int) -> Array:
    """Return accuracies over folds of some training rows, for each C of the grid."""
    rows = slice(0, n_choice(Z.shape[1], y))
    return accuracies(Z[rows], y[rows], CS, folds(y[rows], FOLDS, seed))


def learned_accuracy(
    features: FeatureMap, split: Split, seed: int, Z: NDArray[Any], C: float | None = None
) -> dict[str, float]:
    """Return the test accuracy of a linear classifier on fitted features, and its C.

    ``Z`` holds the features of the training rows. Without ``C``, the best over five folds of some
    of these rows is taken.
    """
    if C is None:
        C = CS[int(np.argmax(choice_accuracies(Z, split.y, seed)))]
    model = linear_classifier(C).fit(Z, split.y)
    right = [
        model.predict(features_of(features, split.test[rows])) == split.y_test[rows]
        for rows in _blocks(len(split.test), Z.shape[1])
    ]
    return {"accuracy": float(np.mean(np.concatenate(right))), "C": C}


def _blocks(n_rows: int, width: int) -> Iterator[slice]:
    return row_blocks(n_rows, _BYTES_AN_ENTRY * width, block_bytes=_BLOCK_BYTES)


# Length scales of candidates: of a Gaussian over the median distance, of a Laplacian over the
# median city-block distance, and over the scales by input of least error.
_ISOTROPIC, _CITY_BLOCK, _PER_INPUT = (0.25, 0.5, 1.0), 0.5, (1.0, 1.4, 2.0, 2.8, 4.0)
# Rows and steps of the search for scales by input: many steps on few rows, then fewer on more.
_SCALE_ROWS, _SCALE_STEPS = (1_000, 2_500), (40, 20)
# The first round: how many times the rows that choose a penalty, folds, and most features.
_TIMES_CHOICE, _FIRST_FOLDS, _FIRST_FEATURES = 2, 3, 2_000
# The last round: candidates, folds, and the rows beyond which one fold alone decides.
_N_FINALISTS, _LAST_FOLDS, _MANY_ROWS = 4, 4, 10_000
_MORE_CS = (*CS, 128.0)  # Where all training rows choose

Candidate = tuple[Kernel, bool]
"""A kernel, and whether rows have norm one."""


def best_metrics(name: str, p: int, seed: int, folder: Path | None) -> dict[str, float]:
    """Return the test accuracy of the candidate that training rows prefer.

    The four best of three folds of at most 8,000 rows and 2,000 features are compared on all
    training rows, of which a quarter is held out: each quarter in its turn, but one alone of more
    than 10,000 rows or two classes. Where the source has rows for validation these are held out
    instead. ``candidate`` is the place of the best, ``choice_seconds`` what it took to choose.
    """
    start = perf_counter()
    kernels = list(candidates(name, seed, folder).values())
    trials = [Trial(candidate, name, seed, folder) for candidate in kernels]
    first = np.array([trial.first(p) for trial in trials])
    finalists = np.argsort(-first, kind="stable")[:_N_FINALISTS]
    last = {int(place): trials[place].last(p) for place in finalists}
    place = max(last, key=lambda place: last[place].max())
    C = _MORE_CS[int(np.argmax(last[place]))]
    seconds = perf_counter() - start
    features, Z, split = trials[place].on_all_rows(p)
    metrics = learned_accuracy(features, split, seed, Z, C)
    return {**metrics, "candidate": float(place), "choice_seconds": seconds}


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate on a data set's training rows."""

    candidate: Candidate
    name: str
    seed: int
    folder: Path | None

    def first(self, p: int) -> float:
        """Return the accuracy with the best C over folds of some rows, of ``p`` features or few."""
        split = split_of(self.name, self.seed, self.folder, on_sphere=self.candidate[1])
        rows = slice(0, _TIMES_CHOICE * n_choice(_FIRST_FEATURES, split.y))
        Z = features_of(self._fitted(split, min(p, _FIRST_FEATURES)), split.train[rows])
        parts = self._parts(split, rows, _FIRST_FOLDS)
        return float(accuracies(Z, split.y[rows], CS, parts).max())

    def last(self, p: int) -> Array:
        """Return accuracies by C over quarters of all training rows, or on one quarter."""
        _, Z, split = self.on_all_rows(p)
        parts = self._parts(split, slice(None), _LAST_FOLDS)
        n_classes = len(np.unique(split.y))
        if len(Z) > _MANY_ROWS or n_classes > 2:
            parts = parts[:1]
        return accuracies(Z, split.y, _MORE_CS, parts)

    def on_all_rows(self, p: int) -> tuple[FourierFeatures, NDArray[Any], Split]:
        """Return the fitted map, the features of all training rows, and the split."""
        split = split_of(self.name, self.seed, self.folder, on_sphere=self.candidate[1], every=True)
        features = self._fitted(split, p)
        return features, features_of(features, split.train), split

    def _parts(self, split: Split, rows: slice, n_folds: int) -> list[NDArray[np.intp]]:
        """Return the held-out rows of each fold."""
        if split.validation.any():
            return [np.flatnonzero(split.validation[rows])]
        return folds(split.y[rows], n_folds, self.seed)

    def _fitted(self, split: Split, p: int) -> FourierFeatures:
        features = FourierFeatures(
            self.candidate[0], p, scheme="orthogonal", random_state=self.seed
        )
        return features.fit(split.fit)


@lru_cache(maxsize=2)
def candidates(name: str, seed: int, folder: Path | None) -> Mapping[str, Candidate]:
    """Return candidate kernels by name, for the training rows of a data set.

    Gaussian kernels of some length scales, on the cube and on the sphere; and for all data sets but
    the digits a Laplacian kernel, and Gaussian and Matérn kernels with a length scale for every
    input, of least leave-one-out error on 2,500 rows.
    """
    kernels: dict[str, Candidate] = {}
    for on_sphere in (False, True):
        split = split_of(name, seed, folder, on_sphere=on_sphere)
        median = median_distance(split.train, np.random.default_rng(seed))
        where = "sphere" if on_sphere else "cube"
        for share in _ISOTROPIC:
            label = f"Gaussian, {share:g} of the median, {where}"
            kernels[label] = Gaussian(share * median), on_sphere
    if name == MNIST:
        return kernels
    split = split_of(name, seed, folder, on_sphere=False)
    kernels["Laplacian"] = (Laplacian(_CITY_BLOCK * _city_block(split.fit, seed)), False)
    for family in (GAUSSIAN, MATERN):
        scales = per_input_scales(split, family)
        for factor in _PER_INPUT:
            kernel = family.kernel(np.log(factor * scales))
            kernels[f"{family}, scales by input times {factor:g}"] = kernel, False
    return kernels


def per_input_scales(split: Split, family: Family) -> Array:
    """Return length scales of least leave-one-out error on at most 2,500 training rows."""
    deviation = split.train.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    theta = None
    for n_rows, steps in zip(_SCALE_ROWS, _SCALE_STEPS, strict=True):
        targets = np.where(split.y[:n_rows], 1.0, -1.0)[:, None]
        criterion = LeaveOneOut.of(split.train[:n_rows] / deviation, targets)
        theta = minimise(criterion, family, steps, start=theta)
    assert theta is not None
    return np.asarray(np.exp(theta[:-1]) * deviation)


def _city_block(X: Array, seed: int) -> float:
    """Return the median city-block distance of pairs of rows."""
    first, second = np.random.default_rng(seed).integers(len(X), size=(2, 10_000))
    return float(np.median(np.abs(X[first] - X[second]).sum(axis=1))) or 1.0

"""Rows of data sets of two classes, as benchmarks of features use them: split, scaled, thinned."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import MinMaxScaler, normalize
from sklearn.svm import LinearSVC

from benchmarks import datasets
from benchmarks.datasets import Dataset
from bochner._base.arrays import Array

# Most rows that features are fitted to, whose Gram matrix is approximated (as many as in the
# papers), that choose a penalty, and that are tested.
FIT_ROWS, ERROR_ROWS, _CHOICE, _TEST = 5_000, 1_000, 2_000, 20_000

# Tolerance of liblinear itself (scikit-learn's is a hundred times smaller), and its steps.
_TOLERANCE, _ITERATIONS = 0.01, 1_000

FOLDS = 5  # Folds of cross-validation, as in all of the papers that name a number
# C in the papers of ``asymmetric`` and ``digmm``
POWERS_OF_TWO = tuple(2.0**j for j in range(-5, 6))
_BLOCK = 2_000  # Test rows that are transformed at once

Labelled = tuple[Array, NDArray[Any], Array, NDArray[Any]]
"""Training rows and their labels, test rows and theirs."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Scaled rows of a data set in random order, and two classes."""

    train: Array  # (n, d)
    y: NDArray[np.bool_]  # (n,): booleans
    test: Array  # (n2, d)
    y_test: NDArray[np.bool_]  # (n2,)

    @property
    def fit(self) -> Array:
        """At most 5,000 training rows, to which features are fitted."""
        return self.train[:FIT_ROWS]

    @property
    def error(self) -> Array:
        """At most 1,000 test rows, whose Gram matrix is approximated."""
        return self.test[:ERROR_ROWS]

    @property
    def choice(self) -> slice:
        """Which training rows, at most 2,000, choose the regularisation."""
        return slice(0, _CHOICE)


POSITIVE: Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "letter": lambda y: y < 13,
    "covtype_93k": lambda y: y == 2,
    "skin": lambda y: y == 1,
    "mnist": lambda y: y,
}
"""Which rows are positive: A to M, lodgepole pine, and skin; digits stay ten classes.

The other data sets have labels of which one alone is above zero.
"""


def classes_of(name: str, y: NDArray[Any]) -> NDArray[Any]:
    """Return which rows of a data set are positive."""
    return POSITIVE[name](y) if name in POSITIVE else y > 0


@lru_cache(maxsize=4)
def rows_of(
    name: str,
    seed: int,
    folder: Path | None,
    *,
    n_train: int,
    sizes: tuple[tuple[str, tuple[int, int]], ...] = (),
    on_sphere: bool = False,
) -> Rows:
    """Return training rows and at most 20,000 test rows of a data set, in the unit cube."""
    train, y, test, y_test = scaled(loaded(name, folder), seed, dict(sizes), n_train)
    if on_sphere:
        train, test = normalize(train), normalize(test)
    return Rows(train, classes_of(name, y), test, classes_of(name, y_test))


def linear_classifier(C: float = 1.0) -> LinearSVC:
    """Return liblinear's classifier with an L2 penalty and squared hinges."""
    return LinearSVC(C=C, dual=False, tol=_TOLERANCE, max_iter=_ITERATIONS)


def liblinear_accuracy(
    transform: Callable[[Array], NDArray[Any]], rows: Rows, Cs: Sequence[float]
) -> dict[str, float]:
    """Return the test accuracy of liblinear on features, its ``C`` chosen by folds of some rows."""
    Z = transform(rows.train)
    model = linear_classifier()
    search = GridSearchCV(model, {"C": Cs}, cv=FOLDS, refit=False)
    search.fit(Z[rows.choice], rows.y[rows.choice])
    model.set_params(**search.best_params_).fit(Z, rows.y)
    del Z
    right = [
        model.predict(transform(rows.test[i : i + _BLOCK])) == rows.y_test[i : i + _BLOCK]
        for i in range(0, len(rows.test), _BLOCK)
    ]
    C = float(search.best_params_["C"])
    return {"accuracy": float(np.mean(np.concatenate(right))), "C": C}


@lru_cache(maxsize=8)
def loaded(name: str, folder: Path | None) -> Dataset:
    """Return a data set, from memory if it was read before."""
    return datasets.load(name, folder=folder)


def scaled(
    dataset: Dataset, seed: int, sizes: Mapping[str, tuple[int, int]], n_train: int
) -> Labelled:
    """Return training rows and at most 20,000 test rows, in random order.

    Columns are scaled to [0, 1] by the least and greatest values of the training part, test rows
    beyond being clipped.
    """
    every, chosen, chosen_test = _order(dataset, seed, sizes, n_train)
    X, y, X_test, y_test = dataset.X, dataset.y, dataset.X_test, dataset.y_test
    if X_test is None or y_test is None:
        X_test, y_test = X, y
    scaler = MinMaxScaler(clip=True).fit(X[every])
    train: Array = scaler.transform(X[chosen])
    test: Array = scaler.transform(X_test[chosen_test])
    return train, y[chosen], test, y_test[chosen_test]


def training_rows(
    dataset: Dataset, seed: int, sizes: Mapping[str, tuple[int, int]], n_train: int
) -> NDArray[np.intp]:
    """Return which rows of the source are the training rows of :func:`scaled`, in their order."""
    return _order(dataset, seed, sizes, n_train)[1]


def _order(
    dataset: Dataset, seed: int, sizes: Mapping[str, tuple[int, int]], n_train: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return all rows of the training part, and the chosen rows of both parts.

    The parts are the source's, or random.
    """
    rng = np.random.default_rng(seed)
    if dataset.X_test is not None and dataset.y_test is not None:
        train, test = np.arange(len(dataset.X)), np.arange(len(dataset.X_test))
    else:
        half = len(dataset.X) // 2
        n_first, n_second = sizes.get(dataset.name, (half, len(dataset.X) - half))
        order = rng.permutation(len(dataset.X))
        train, test = order[:n_first], order[n_first : n_first + n_second]
    chosen = train[rng.permutation(len(train))[:n_train]]
    return train, chosen, test[rng.permutation(len(test))[:_TEST]]

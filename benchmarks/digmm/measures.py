"""Measurements of the benchmark of double mixtures."""

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from benchmarks.digmm import design
from benchmarks.digmm.data import Split, split_of
from benchmarks.digmm.learning import best_metrics, features_of, learned_accuracy
from benchmarks.digmm.methods import METHODS, mixture
from benchmarks.indefinite.design import FeatureMap
from bochner import papers
from bochner._base.arrays import Array
from bochner.kernels import Kernel
from bochner.learned.similarity_features import SimilarityFeatures


@dataclass(frozen=True, slots=True)
class Task:
    """A similarity, a data set and a number of features to measure."""

    name: str  # A data set of the design
    kernel: str  # A similarity
    method: str
    multiple: int  # Frequencies of each part over the number of inputs
    seed: int
    size: design.Size
    folder: Path | None  # The folder of data sets

    def split(self) -> Split:
        """Return the rows, where the similarity has them."""
        similarity = design.SIMILARITIES.get(self.kernel)
        on_sphere = similarity is not None and similarity.on_sphere
        return split_of(self.name, self.seed, self.folder, on_sphere=on_sphere)

    def n_features(self, split: Split) -> int:
        """Return the number of real features."""
        return design.FEATURES_PER_SIZE * self.multiple * int(split.train.shape[1])

    def features(self, exact: Kernel, split: Split) -> FeatureMap:
        """Return the method's feature map, to be fitted."""
        dim, p = split.train.shape[1], self.n_features(split)
        return METHODS[self.method](exact, dim, p, self.seed, self.size)

    def mixture(self, exact: Kernel, split: Split, **options: Any) -> SimilarityFeatures:
        """Return a double mixture with the given parameters, to be fitted."""
        of_paper = {"shift": options.pop("shift")} if "shift" in options else {}
        is_paper = self.method == design.TAYLOR
        inference = papers.digmm.Taylor(**of_paper) if is_paper else None
        p = self.n_features(split)
        return mixture(exact, p, self.seed, self.size, inference, **options)


class Columns:
    """The columns themselves as features."""

    def __init__(self, n_inputs: int) -> None:
        self.signature_ = np.ones(n_inputs)

    def fit(self, X: Array) -> Self:
        return self

    def transform(self, X: Array) -> NDArray[Any]:
        return X

    def gram(self, X: Array, Y: Array | None = None) -> NDArray[Any]:
        return np.asarray(X @ (X if Y is None else Y).T)


def accuracy_metrics(task: Task) -> dict[str, float]:
    """Return the test accuracy of a linear classifier on a method's features."""
    split = task.split()
    if task.method == design.BEST:
        return best_metrics(task.name, task.n_features(split), task.seed, task.folder)
    if task.method == design.LINEAR:
        return _learned(Columns(split.train.shape[1]), split, task.seed)
    return _learned(task.features(_exact(task, split), split), split, task.seed)


def error_metrics(task: Task) -> dict[str, float]:
    """Return the root mean square error of a method's Gram matrix, as in Figure 2.

    Over rows that the method was fitted to, as in the paper, and over test rows.
    """
    split = task.split()
    exact = _exact(task, split)
    features = task.features(exact, split)
    metrics = _fitted(features, split) | _error(features, exact, split.error)
    return metrics | {"test_rmse": _error(features, exact, split.unseen)["rmse"]}


def setting_metrics(task: Task, **options: Any) -> dict[str, float]:
    """Return error and accuracy of a double mixture whose parameters are not all the paper's."""
    split = task.split()
    exact = _exact(task, split)
    features = task.mixture(exact, split, **options)
    metrics = _learned(features, split, task.seed)
    return {**metrics, **_error(features, exact, split.error)}


def ascent_metrics(task: Task) -> dict[str, float]:
    """Return the change and the bound of every iteration: ``change(1)``, ``bound(1)`` and so on."""
    split = task.split()
    features = task.mixture(_exact(task, split), split)
    metrics = _fitted(features, split)
    metrics["n_iter"] = float(features.n_iter_)
    for quantity, values in (("change", features.changes_), ("bound", features.elbo_)):
        metrics |= {
            f"{quantity}({place})": float(value) for place, value in enumerate(values, start=1)
        }
    return metrics


def speed_metrics(task: Task) -> dict[str, float]:
    """Return the seconds of a fit."""
    split = task.split()
    return _fitted(task.mixture(_exact(task, split), split), split)


def _exact(task: Task, split: Split) -> Kernel:
    return design.SIMILARITIES[task.kernel].kernel(split.train.shape[1])


def _fitted(features: FeatureMap, split: Split) -> dict[str, float]:
    start = perf_counter()
    features.fit(split.fit)
    return {"fit_seconds": perf_counter() - start}


def _learned(features: FeatureMap, split: Split, seed: int) -> dict[str, float]:
    metrics = _fitted(features, split)
    start = perf_counter()
    Z = features_of(features, split.train)
    metrics["transform_seconds"] = perf_counter() - start
    return metrics | learned_accuracy(features, split, seed, Z)


def _error(features: FeatureMap, kernel: Kernel, X: Array) -> dict[str, float]:
    """Return the root mean square error over pairs of different rows, and over their values'."""
    pairs = ~np.eye(len(X), dtype=bool)
    exact = kernel(X)[pairs]
    error = float(np.sqrt(np.mean((features.gram(X)[pairs] - exact) ** 2)))
    return {"rmse": error, "relative_error": error / float(np.sqrt(np.mean(exact**2)))}

"""Tasks of models that learn their kernel: numbers, two classes, several classes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.features.targets import Indicators
from bochner.learning.inference.preparation import distinct_rows

_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
"""Standard deviation, as a share of the mean, that rounding leaves of constant targets."""


class Task(ABC):
    """What targets mean: from targets to the columns that chains learn, and back."""

    __slots__ = ()

    def __call__(self, y: NDArray[Any]) -> Array:
        """Return the columns (n, t) of targets ``y`` (n,)."""
        return self.columns(self.codes(y))

    @abstractmethod
    def codes(self, y: NDArray[Any]) -> Array:
        """Return numbers that stand for targets, of shape (n,)."""

    @abstractmethod
    def columns(self, codes: Array) -> Array:
        """Return a column for every chain to learn, of shape (n, t)."""


@dataclass(frozen=True, slots=True)
class Numbers(Task):
    """A regression: targets less their mean and over their scale."""

    mean: float
    scale: float
    # Whether nothing but rounding is left without the mean; the column is zero then
    is_constant: bool = False

    @classmethod
    def of(cls, y: Array, weight: Array | None) -> "Numbers":
        """Return the task of weighted targets."""
        mean = float(np.average(y, weights=weight))
        scale = float(np.sqrt(np.average((y - mean) ** 2, weights=weight)))
        is_constant = scale <= _ROUNDING * abs(mean)
        return cls(mean, 1.0 if is_constant else scale, is_constant)

    def codes(self, y: NDArray[Any]) -> Array:
        return y.astype(np.float64)

    def columns(self, codes: Array) -> Array:
        centred = codes[:, None] - self.mean
        return np.zeros_like(centred) if self.is_constant else centred / self.scale


@dataclass(frozen=True, slots=True, eq=False)
class Classes(Task):
    """A classification, with a column of plus and minus one for each chain."""

    classes: NDArray[Any]  # All labels, in ascending order

    @classmethod
    def of(cls, labels: NDArray[Any], name: str) -> "Classes":
        """Return the task of all different labels; one label only raises ``ValueError``."""
        if len(labels) < 2:
            raise ValueError(f"{name} needs at least two classes, got 1 class: {labels[0]}.")
        return cls(labels)

    def codes(self, y: NDArray[Any]) -> Array:
        return np.searchsorted(self.classes, y).astype(np.float64)

    def columns(self, codes: Array) -> Array:
        return Indicators(np.arange(len(self.classes)))(codes)

    def probabilities(self, positive: Array) -> Array:
        """Return probabilities of the classes, given those of a plus one in each column (n, t).

        Two classes have one column, plus one for the second; others have one each, against the
        rest.
        """
        if len(self.classes) == 2:
            return np.concatenate([1.0 - positive, positive], axis=1)
        positive = np.maximum(positive, np.finfo(np.float64).tiny)
        probability: Array = positive / positive.sum(axis=1, keepdims=True)
        return probability


Kind = TypeVar("Kind", bound=Task, covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Problems(Generic[Kind]):
    """Distinct rows to learn from, and the task that makes columns of their targets."""

    X: Array  # (n, d)
    codes: Array  # (n,): Numbers that stand for the given targets
    weight: Array | None  # (n,) or None
    task: Kind
    unit: float = 1.0  # Number by which the given weights were divided

    @staticmethod
    def of_numbers(X: Array, y: Array, weight: Array | None) -> "Problems[Numbers]":
        """Return the problem of a regression; weights of a mean below one are scaled up to it."""
        X, y, weight = distinct_rows(*positive_rows(X, y.astype(np.float64), weight))
        unit = 1.0 if weight is None else min(1.0, float(weight.mean()))
        weight = None if weight is None else weight / unit
        return Problems(X, y, weight, Numbers.of(y, weight), unit)

    @staticmethod
    def of_labels(
        X: Array, y: Any, weight: Array | None, labels: Any, name: str
    ) -> "Problems[Classes]":
        """Return the problems of a classification; ``labels`` are all, if ``y`` may lack some."""
        X, y, weight = positive_rows(X, y, weight)
        task = Classes.of(np.unique(y) if labels is None else labels, name)
        return Problems(*distinct_rows(X, task.codes(y), weight), task)


def positive_rows(X: Array, y: Any, weight: Array | None) -> tuple[Array, Any, Array | None]:
    """Return the rows that have weight."""
    if weight is None:
        return X, y, None
    kept = weight > 0
    return X[kept], y[kept], weight[kept]

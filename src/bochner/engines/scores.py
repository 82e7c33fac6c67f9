"""Scores of fitted models on Dask collections: sums over their partitions."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray

from bochner._base.arrays import Array, Floats
from bochner._base.checks import labels, numbers
from bochner.engines.partition_rows import refusal
from bochner.engines.partitions import partitions_of
from bochner.engines.passes import lazy_sum, mapped


@dataclass(frozen=True, slots=True, eq=False)
class Determination:
    """Sums of a coefficient of determination, about the means so that large ones do no harm."""

    weight: float
    mean: Array  # (t,): Of the targets
    squares: Array  # (t,): Sums of squared deviations from the mean
    errors: Array  # (t,): Sums of squared errors

    @classmethod
    def of(cls, y: Floats, predicted: Floats, weight: Array) -> "Determination":
        """Return the sums of targets and predictions (n,) or (n, t)."""
        targets = np.asarray(numbers(y), dtype=np.float64).reshape(len(weight), -1)
        mean = np.average(targets, axis=0, weights=weight)
        errors = weight @ (targets - predicted.reshape(targets.shape)) ** 2
        return cls(float(weight.sum()), mean, weight @ (targets - mean) ** 2, errors)

    def __add__(self, other: "Determination") -> "Determination":
        """Return the sums over both sets of rows."""
        weight = self.weight + other.weight
        step = other.mean - self.mean
        between = self.weight * other.weight / weight * step**2
        return Determination(
            weight,
            self.mean + other.weight / weight * step,
            self.squares + other.squares + between,
            self.errors + other.errors,
        )

    def value(self) -> float:
        """Return the coefficient, on average over the targets.

        As in scikit-learn, constant targets have one if they are predicted exactly, else zero.
        """
        nonzero_squares = np.where(self.squares > 0.0, self.squares, 1.0)
        exact = np.where(self.errors > 0.0, 0.0, 1.0)
        return float(
            np.mean(np.where(self.squares > 0.0, 1.0 - self.errors / nonzero_squares, exact))
        )


@dataclass(frozen=True, slots=True, eq=False)
class Accuracy:
    """Sums of a share of correct labels."""

    weight: float
    correct: float

    @classmethod
    def of(
        cls, y: NDArray[np.generic], predicted: NDArray[np.generic], weight: Array
    ) -> "Accuracy":
        """Return the sums of labels (n,)."""
        is_correct = np.asarray(labels(y)).reshape(len(weight)) == predicted
        return cls(float(weight.sum()), float(weight @ is_correct))

    def __add__(self, other: "Accuracy") -> "Accuracy":
        """Return the sums over both sets of rows."""
        return Accuracy(self.weight + other.weight, self.correct + other.correct)

    def value(self) -> float:
        """Return the share."""
        return self.correct / self.weight


Scores = type[Determination] | type[Accuracy]


def lazy_score(
    predict: Callable[[Any], Any], scores: Scores, X: Any, y: Any, sample_weight: Any
) -> Any:
    """Return the score of predictions for Dask collections, a Dask array without dimensions."""
    parts = partitions_of(X, y, sample_weight)
    terms = mapped(partial(_scored, predict, scores), range(len(parts)), parts)
    return da.from_delayed(delayed(_value)(lazy_sum(terms, _both)), (), np.float64)


def _scored(predict: Callable[[Any], Any], scores: Scores, index: int, part: Any) -> Any:
    """Return the sums of a partition, ``None`` without rows of weight."""
    X, y, weight = part
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    if not weight.any():
        return None
    try:
        return scores.of(np.asarray(y), np.asarray(predict(X)), weight)
    except (TypeError, ValueError) as error:
        raise refusal(index, error) from error


def _both(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return first + second


def _value(total: Any) -> Array:
    if total is None:
        raise ValueError("There are no rows to score, or none that has weight.")
    return np.asarray(total.value())

"""Tasks of models that learn their kernel: numbers, two classes, several classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array, as_array
from bochner.estimators.inputs import checked_weight
from bochner.features.targets import Indicators

_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
"""Standard deviation, as a share of the mean, that rounding leaves of constant targets."""


@dataclass(frozen=True, slots=True)
class Numbers:
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
        """Return numbers that stand for targets, of shape (n,)."""
        return y.astype(np.float64)

    def columns(self, codes: Array) -> Array:
        """Return the column that a chain learns, of shape (n, 1)."""
        centred = codes[:, None] - self.mean
        return np.zeros_like(centred) if self.is_constant else centred / self.scale


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """A classification, with a column of plus and minus one for each chain."""

    classes: NDArray[Any]  # All labels, in ascending order

    def codes(self, y: NDArray[Any]) -> Array:
        """Return the indices of labels, of shape (n,)."""
        return np.searchsorted(self.classes, y).astype(np.float64)

    def columns(self, codes: Array) -> Array:
        """Return a column for every chain to learn, of shape (n, t)."""
        return Indicators(np.arange(len(self.classes)))(codes)

    def probabilities(self, positive: Array) -> Array:
        """Return probabilities of the classes, given those of a plus one in each column (n, t).

        Two classes have one column, plus one for the second; others have one each, against the
        rest.
        """
        if len(self.classes) == 2:
            return np.concatenate([1.0 - positive, positive], axis=1)
        positive = np.maximum(positive, np.finfo(np.float64).tiny)
        return as_array(positive / positive.sum(axis=1, keepdims=True))


@dataclass(frozen=True, slots=True, eq=False)
class Problems:
    """Distinct rows to learn from, and the task that makes columns of their targets."""

    X: Array  # (n, d)
    codes: Array  # (n,): Numbers that stand for the given targets
    weight: Array | None  # (n,) or None
    task: Numbers | Classes
    unit: float = 1.0  # Number by which the given weights were divided


def positive_rows(X: Array, y: Any, sample_weight: Any) -> tuple[Array, Any, Array | None]:
    """Return the rows that have weight, and their checked weights."""
    weight = checked_weight(sample_weight, X)
    if weight is None:
        return X, y, None
    kept = weight > 0
    return X[kept], y[kept], weight[kept]

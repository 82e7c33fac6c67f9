"""The interface of the two regressions behind :class:`bochner.AsymmetricKernelRidge`."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array
from bochner.frequencies import Frequencies
from bochner.learning.pair_ridge import PairSolution
from bochner.learning.ridge import RidgePosterior


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """Rows ``X`` (n, d), right rows ``Y`` of pairs or ``None``, targets (n, t) and weights (n,)."""

    X: Any
    Y: Any
    targets: Array
    weight: Array | None


class AsymmetricForm(ABC):
    """A regression on rows or on pairs of rows, with features of given frequencies."""

    @abstractmethod
    def fit(
        self,
        frequencies: Frequencies,
        rows: TrainingRows,
        alpha: float | None,
        rng: np.random.Generator,
        *,
        fit_intercept: bool,
    ) -> RidgePosterior | PairSolution:
        """Return the solution; ``alpha=None`` maximises the evidence."""

    @abstractmethod
    def predict(
        self, frequencies: Frequencies, solution: Any, X: Any, Y: Any, *, with_std: bool
    ) -> tuple[Array, Array | None]:
        """Return means and, if asked for, standard deviations, both of shape (n, t)."""

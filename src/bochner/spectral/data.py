"""What is known of the data when a measure is made."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse

from bochner._numerics.arrays import Array, stacked_rows
from bochner.kernels import Metric
from bochner.spectral.pairs import Pairs


class Data(ABC):
    """What measures may ask of the data that they are wanted for."""

    __slots__ = ()

    @abstractmethod
    def pairs(self, metric: Metric) -> Pairs | None:
        """Return a sample of pairs of rows, or ``None`` where the data are not known."""

    @abstractmethod
    def reach(self, dim: int) -> Array | None:
        """Return the greatest lag in each of ``dim`` inputs, or ``None`` where not known."""

    @abstractmethod
    def mapped(self, left: Array, right: Array) -> "Data":
        """Return what is known of the products of left and right arguments with two matrices."""


@dataclass(frozen=True, slots=True, eq=False)
class Distances(Data):
    """Distances between rows in the metric of the kernel, of any shape, or ``None``."""

    distances: Array | None = None

    def pairs(self, metric: Metric) -> Pairs | None:
        return None if self.distances is None else Pairs.of_distances(self.distances, metric)

    def reach(self, dim: int) -> Array | None:
        if self.distances is None or not self.distances.size:
            return None
        return np.full(dim, float(np.max(self.distances)))

    def mapped(self, left: Array, right: Array) -> "Data":
        return self


@dataclass(frozen=True, slots=True, eq=False)
class KernelData(Data):
    """Rows (n, d) of the left argument and (n2, d2) of the right one, dense or sparse.

    ``right=None`` means the same rows. Pairs are sampled once for each metric, with ``seed``.
    """

    left: Any
    right: Any
    seed: int
    _pairs: dict[Metric, Pairs] = field(default_factory=dict, init=False, repr=False)

    def pairs(self, metric: Metric) -> Pairs:
        if metric not in self._pairs:
            rows = self.left if self.right is None else stacked_rows(self.left, self.right)
            rng = np.random.default_rng(self.seed)
            self._pairs[metric] = Pairs.of_rows(rows, metric, rng)
        return self._pairs[metric]

    def reach(self, dim: int) -> Array:
        (low, high), (least, most) = (
            _extremes(rows) for rows in (self.left, self.left if self.right is None else self.right)
        )
        reach: Array = np.maximum(high - least, most - low)
        return reach

    def mapped(self, left: Array, right: Array) -> "Data":
        other = self.left if self.right is None else self.right
        return KernelData(self.left @ left, other @ right, self.seed)


def _extremes(rows: Any) -> tuple[Array, Array]:
    low, high = rows.min(axis=0), rows.max(axis=0)
    if issparse(rows):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)

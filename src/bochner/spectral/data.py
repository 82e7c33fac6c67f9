"""Information about the data that is available when a spectral measure is made."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist

from bochner._base.arrays import (
    Array,
    InputRows,
    as_array,
    column_extremes,
    dense_rows,
    squared_norms,
    stacked_rows,
)
from bochner.kernels import Metric

_ROWS = 1000  # their half a million pairs take 4 MB; quantiles of fewer rows are rougher
_PAIRS = 400  # quantiles of the distances; the time of a design grows linearly with them
_OWN = 20  # quantiles of the norms, for the diagonal of a Gram matrix
_EQUAL_NORMS = 1e-5  # relative difference of norms on one sphere, as for kernels.UnitSphere


@dataclass(frozen=True, slots=True)
class Pairs:
    """A sample of pairs of rows, thinned to quantiles; hashable, so that designs are cached.

    Every row also forms a pair with itself, as on the diagonal of a Gram matrix. ``distance`` is
    ascending, in the metric of the kernel; for inner products it is Euclidean and in the order of
    ``inner``, the inner products of the same pairs, descending, empty for kernels of a distance.
    ``reach`` and ``least_inner`` are the greatest distance and the least inner product of all pairs
    of the sample. ``squared_norms`` are those of some rows, ascending, and ``n_rows`` is the
    number of rows. ``norm`` is the greatest Euclidean norm of all rows; ``spherical`` is true if
    all rows have this norm. Fields of inner products are empty or zero for kernels of a distance.
    """

    distance: tuple[float, ...]
    inner: tuple[float, ...]
    reach: float
    least_inner: float
    squared_norms: tuple[float, ...]
    n_rows: int
    norm: float
    spherical: bool

    @classmethod
    def of_rows(cls, X: InputRows, metric: Metric, rng: np.random.Generator) -> "Pairs":
        """Return the pairs of at most 1000 rows of ``X`` (n, d), dense or sparse."""
        norms = np.sqrt(squared_norms(X))
        rows = np.arange(X.shape[0])
        if len(rows) > _ROWS:
            rows = np.sort(rng.choice(rows, _ROWS, replace=False))
        sample = dense_rows(X, rows)
        if metric is Metric.EUCLIDEAN:
            return cls.of_distances(pdist(sample, "euclidean"), metric)
        if metric is Metric.CITY_BLOCK:
            return cls.of_distances(pdist(sample, "cityblock"), metric)
        spherical = bool(norms.min() >= (1.0 - _EQUAL_NORMS) * norms.max())
        i, j = np.triu_indices(len(sample), k=1)
        inner = (sample @ sample.T)[i, j]
        distance = np.sqrt(np.maximum(norms[rows[i]] ** 2 + norms[rows[j]] ** 2 - 2 * inner, 0.0))
        return cls._thinned(distance, inner, norms[rows] ** 2, float(norms.max()), spherical)

    @classmethod
    def of_distances(cls, distances: ArrayLike, metric: Metric) -> "Pairs":
        """Return the pairs with these distances, of any shape, finite and not negative.

        Inner products are computed for rows on the unit sphere at these Euclidean distances.
        """
        flat = np.asarray(distances, dtype=np.float64).ravel()
        if not (np.isfinite(flat).all() and (flat >= 0.0).all()):
            raise ValueError("distances must be finite and not negative.")
        if metric is Metric.INNER_PRODUCT:
            return cls._thinned(flat, 1.0 - 0.5 * flat**2, np.ones(1), 1.0, True)
        return cls._thinned(flat, None, np.empty(0), 0.0, False)

    @classmethod
    def of_sphere(cls) -> "Pairs":
        """Return pairs at all possible distances on the unit sphere."""
        return cls.of_distances(np.linspace(0.0, 2.0, _PAIRS), Metric.INNER_PRODUCT)

    @classmethod
    def _thinned(
        cls,
        distance: Array,
        inner: Array | None,
        squared_norms: Array,
        norm: float,
        spherical: bool,
    ) -> "Pairs":
        if not distance.size:
            distance, inner = np.zeros(1), None if inner is None else np.full(1, norm**2)
        order = np.argsort(distance if inner is None else -inner, kind="stable")
        places = order[_quantiles(len(order), _PAIRS)]
        squared_norms = np.sort(squared_norms)[_quantiles(len(squared_norms), _OWN)]
        return cls(
            distance=tuple(distance[places].tolist()),
            inner=() if inner is None else tuple(inner[places].tolist()),
            reach=float(distance.max()),
            least_inner=0.0 if inner is None else float(inner.min()),
            squared_norms=tuple(squared_norms.tolist()),
            n_rows=round(0.5 + np.sqrt(0.25 + 2.0 * len(distance))),
            norm=norm,
            spherical=spherical,
        )


def _quantiles(n: int, most: int) -> NDArray[np.intp]:
    """Return the indices of at most ``most`` evenly spaced quantiles of ``n`` sorted values."""
    count = min(most, n)
    return ((np.arange(count) + 0.5) / max(count, 1) * n).astype(np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """Distances between rows in the metric of the kernel, of any shape, or ``None``."""

    distances: Array | None = None

    def pairs(self, metric: Metric) -> Pairs | None:
        """Return a sample of pairs of rows, or ``None`` if the data are unknown."""
        return None if self.distances is None else Pairs.of_distances(self.distances, metric)

    def reach(self, dim: int) -> Array | None:
        """Return the greatest lag in each of ``dim`` inputs, or ``None`` if it is unknown."""
        if self.distances is None or not self.distances.size:
            return None
        return np.full(dim, float(np.max(self.distances)))

    def mapped(self, left: Array, right: Array) -> "Distances":
        """Return the distances after left and right arguments are multiplied by matrices."""
        return self


@dataclass(frozen=True, slots=True, eq=False)
class KernelData:
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
            column_extremes(rows)
            for rows in (self.left, self.left if self.right is None else self.right)
        )
        return as_array(np.maximum(high - least, most - low))

    def mapped(self, left: Array, right: Array) -> "KernelData":
        other = self.left if self.right is None else self.right
        return KernelData(self.left @ left, other @ right, self.seed)


Data = Distances | KernelData
"""Types of data for which spectral measures are made."""

"""Rows of a latent function: features, targets, and the variance that features leave out."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bochner._base import limits
from bochner._base.arrays import Array, Index, InputRows, as_array, row_blocks
from bochner.features.chunks import Chunk
from bochner.features.landmarks import LandmarkFeatures, LatentFeatures, residual_variance
from bochner.gaussian_process.likelihood import Likelihood, shaped


@dataclass(frozen=True, slots=True, eq=False)
class LatentRows:
    """Targets, and features of ``g`` rows followed by a constant, block by block.

    Targets of equal rows share a residual: ``row`` (n,) is the row of each target. Latent values
    (g, L) of the methods are differences from ``centre`` plus ``offset`` (n,), the log exposures.
    """

    X: Any  # (g, d)
    y: Array  # (n,)
    weight: Array  # (n,)
    offset: Array  # (n,)
    centre: float
    features: LatentFeatures
    has_constant: bool
    row: Index | None  # (n,); None if each target has a row
    residual: Array  # (g,): Variance that features leave out, for weights of unit variance
    _kept: list[tuple[slice, Array]]

    @classmethod
    def of(
        cls, rows: Chunk, offset: Array, centre: float, features: LatentFeatures, has_constant: bool
    ) -> "LatentRows":
        """Return the rows of a chunk with numeric targets."""
        X, row = rows.X, None
        if isinstance(features, LandmarkFeatures):
            first, row = distinct_rows(X)
            X = X[first]
        residual = np.zeros(X.shape[0])
        y, weight = rows.y, rows.weights
        made = cls(X, y, weight, offset, centre, features, has_constant, row, residual, [])
        if 8 * len(residual) * made.width <= limits.CACHED_FEATURES_BYTES:
            made._kept.extend(made._computed())
        if row is not None:
            for part, Z in made.blocks():
                residual[part] = residual_variance(features, X[part], Z[:, : features.n_features])
        return made

    @property
    def origin(self) -> Array:
        """Latent values (n, 1) of the targets for weights of zero."""
        return as_array(self.centre + self.offset)[:, None]

    @property
    def width(self) -> int:
        """Number of features, the constant included."""
        return self.features.n_features + self.has_constant

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield slices of rows and their features in float64."""
        return iter(self._kept) if self._kept else self._computed()

    def product(self, weights: Array) -> Array:
        """Return features times weights (P, L), of shape (g, L)."""
        if not self._kept and isinstance(self.features, LandmarkFeatures):
            q = self.features.n_features
            return as_array(self.features.products(self.X, weights[:q]) + weights[q:].sum(axis=0))
        products = np.empty((len(self.residual), weights.shape[1]))
        for part, Z in self.blocks():
            products[part] = Z @ weights
        return products

    def transposed(self, columns: Array) -> Array:
        """Return the sums over rows of features times columns (g, L), of shape (P, L)."""
        total = np.zeros((self.width, columns.shape[1]))
        for part, Z in self.blocks():
            total += Z.T @ columns[part]
        return total

    def log_densities(self, likelihood: Likelihood, latent: Array) -> Array:
        """Return weighted log densities (n,) of the targets for latent values (g, L)."""
        values = likelihood.log_density(self.y, self._argument(latent))
        return as_array(self.weight * shaped(likelihood, "log_density", values, self.y.shape))

    def slopes(self, likelihood: Likelihood, latent: Array) -> Array:
        """Return weighted slopes (g, L) of the log density, summed over the targets of each row."""
        f = self._argument(latent)
        slope = shaped(likelihood, "slope", likelihood.slope(self.y, f), f.shape)
        return self._totals(slope.reshape(len(f), -1)).reshape(latent.shape)

    def curvatures(self, likelihood: Likelihood, latent: Array) -> Array:
        """Return weighted curvatures (g, L, L) of the log density, summed over targets of a row."""
        f, n_latent = self._argument(latent), latent.shape[1]
        shape = (*f.shape, *f.shape[1:])
        curvature = shaped(likelihood, "curvature", likelihood.curvature(self.y, f), shape)
        return self._totals(curvature.reshape(len(f), -1)).reshape(-1, n_latent, n_latent)

    def curvature_slope(self, likelihood: Likelihood, latent: Array, spread: Array) -> Array | None:
        """Return derivatives (g, L) of traces of curvatures times ``spread``; None if unknown."""
        of_targets = spread if self.row is None else spread[self.row]
        f = self._at_targets(latent)
        exact = likelihood.curvature_slope(f, of_targets)
        return None if exact is None else self._totals(exact.reshape(f.shape))

    def _at_targets(self, latent: Array) -> Array:
        return as_array((latent if self.row is None else latent[self.row]) + self.origin)

    def _argument(self, latent: Array) -> Array:
        """Return latent values at the targets, without the axis of a single latent function."""
        values = self._at_targets(latent)
        return values[:, 0] if values.shape[1] == 1 else values

    def _totals(self, values: Array) -> Array:
        """Return weighted sums (g, k) over the targets of each row."""
        weighted = self.weight[:, None] * values
        if self.row is None:
            return as_array(weighted)
        size = len(self.residual)
        return np.column_stack([np.bincount(self.row, column, size) for column in weighted.T])

    def _computed(self) -> Iterator[tuple[slice, Array]]:
        step = 8 * self.width
        for part in row_blocks(len(self.residual), step, block_bytes=limits.SUMS_BLOCK_BYTES):
            yield part, latent_features(self.features, self.X[part], self.has_constant)


def latent_features(features: LatentFeatures, X: InputRows, has_constant: bool) -> Array:
    """Return the features of rows in float64, followed by a constant if there is one."""
    Z = as_array(features.features(X, np.float64))
    return np.hstack((Z, np.ones((len(Z), 1)))) if has_constant else Z


def distinct_rows(X: Any) -> tuple[Index, Index]:
    """Return an index of each distinct row, dense or CSR, and the distinct row (n,) of each row."""
    if isinstance(X, np.ndarray):
        _, first, row = np.unique(X, axis=0, return_index=True, return_inverse=True)
        return first, row.ravel()
    X.sort_indices()
    keys = [
        X.indices[start:end].tobytes() + X.data[start:end].tobytes()
        for start, end in pairwise(X.indptr)
    ]
    _, first, row = np.unique(np.array(keys, dtype=object), return_index=True, return_inverse=True)
    return first, row.ravel()

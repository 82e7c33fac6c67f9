"""The monoid of sums: all that linear heads need of the data."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array, row_blocks
from bochner.frequencies import Frequencies


@dataclass(frozen=True, slots=True, eq=False)
class FeatureSums:
    r"""Weighted sums over rows of features ``z`` (p of them) and targets ``y`` (t of them).

    Sums of disjoint sets of rows add, so chunks, batches and workers can be merged in any
    order and give the sums of all rows. A row of weight ``w`` counts as ``w`` rows.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        :math:`\sum w z z^\top`.
    cross : ndarray of shape (p, t)
        :math:`\sum w z y^\top`.
    square : ndarray of shape (t,)
        :math:`\sum w y^2`.
    features : ndarray of shape (p,)
        :math:`\sum w z`.
    targets : ndarray of shape (t,)
        :math:`\sum w y`.
    weight : float
        :math:`\sum w`.
    n_samples : int
        Number of rows of positive weight.
    """

    gram: Array
    cross: Array
    square: Array
    features: Array
    targets: Array
    weight: float
    n_samples: int

    @classmethod
    def from_rows(cls, Z: Array, Y: Array, weight: Array | None = None) -> "FeatureSums":
        """Return the sums over the rows of ``Z`` (n, p) and ``Y`` (n, t), in float64."""
        Z = Z.astype(np.float64, copy=False)
        weight = np.ones(len(Z)) if weight is None else weight
        root = np.sqrt(weight)[:, None]
        weighted = root * Z
        targets = root * Y
        return cls(
            gram=weighted.T @ weighted,
            cross=weighted.T @ targets,
            square=np.sum(targets**2, axis=0),
            features=weight @ Z,
            targets=weight @ Y,
            weight=float(weight.sum()),
            n_samples=int(np.count_nonzero(weight)),
        )

    def __add__(self, other: "FeatureSums") -> "FeatureSums":
        if not isinstance(other, FeatureSums):
            return NotImplemented
        if self.cross.shape != other.cross.shape:
            raise ValueError(
                f"Sums over {self.cross.shape} features and targets cannot be added to sums over "
                f"{other.cross.shape}."
            )
        return FeatureSums(
            *(getattr(self, name) + getattr(other, name) for name in FeatureSums.__slots__)
        )

    def centred(self) -> "FeatureSums":
        """Return the sums about the weighted means of features and targets."""
        mean_z, mean_y = self.features / self.weight, self.targets / self.weight
        return FeatureSums(
            gram=self.gram - self.weight * np.outer(mean_z, mean_z),
            cross=self.cross - self.weight * np.outer(mean_z, mean_y),
            square=np.maximum(self.square - self.weight * mean_y**2, 0.0),
            features=np.zeros_like(self.features),
            targets=np.zeros_like(self.targets),
            weight=self.weight,
            n_samples=self.n_samples,
        )


def feature_sums(
    frequencies: Frequencies, X: Any, Y: Array, weight: Array | None = None
) -> FeatureSums:
    """Return the sums over all rows of ``X`` (n, d) and ``Y`` (n, t), in blocks of rows.

    No more than one block of features exists at a time, and ``p`` by ``p`` sums.
    """
    total: FeatureSums | None = None
    for rows in row_blocks(X.shape[0], 16 * frequencies.n_frequencies):
        part = FeatureSums.from_rows(
            frequencies.features(X[rows]), Y[rows], None if weight is None else weight[rows]
        )
        total = part if total is None else total + part
    if total is None:
        raise ValueError("There are no rows to sum over.")
    return total

"""The monoid of sums: all that linear heads need of the data."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

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

    Beside the ``p`` by ``p`` sums, no more than a block of features exists at a time.
    """
    p = 2 * frequencies.n_frequencies
    total = RunningSums(p, Y.shape[1])
    # A block must be worth a pass over p by p sums.
    for rows in row_blocks(X.shape[0], 8 * p, least=p // 8):
        Z = frequencies.features(X[rows])
        total.add(Z, Y[rows], None if weight is None else weight[rows])
    return total.sums()


class RunningSums:
    """Sums to which blocks of rows are added in place.

    Parameters
    ----------
    p, t : int
        Numbers of features and targets.
    """

    def __init__(self, p: int, t: int) -> None:
        # Of the Gram matrix the lower triangle only, in the order of LAPACK.
        self._gram = np.zeros((p, p), order="F")
        self._cross = np.zeros((p, t))
        self._square = np.zeros(t)
        self._features = np.zeros(p)
        self._targets = np.zeros(t)
        self._weight = 0.0
        self._n_samples = 0

    def add(self, Z: NDArray[Any], Y: Array, weight: Array | None = None) -> None:
        """Add rows of features (n, p), which are overwritten, and of targets (n, t)."""
        # Products of float32 would leave the Gram matrix indefinite where its spectrum decays.
        Z, Y = Z.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)
        self._weight += float(len(Z) if weight is None else weight.sum())
        self._n_samples += len(Z) if weight is None else int(np.count_nonzero(weight))
        if weight is None:
            self._features += Z.sum(axis=0)
            self._targets += Y.sum(axis=0)
        else:
            root = np.sqrt(weight)[:, None]
            Z *= root
            self._features += root[:, 0] @ Z
            self._targets += weight @ Y
            Y = root * Y
        self._square += np.sum(Y**2, axis=0)
        self._cross += Z.T @ Y
        blas.dsyrk(1.0, Z.T, beta=1.0, c=self._gram, lower=1, overwrite_c=1)

    def sums(self) -> FeatureSums:
        """Return the sums so far; no rows can be added any more.

        Raises
        ------
        ValueError
            If there were no rows.
        """
        if not self._n_samples:
            raise ValueError("There are no rows to sum over.")
        gram = self._gram
        for part in row_blocks(len(gram), 8 * len(gram)):
            corner = gram[part, part]
            gram[part, part] = np.tril(corner) + np.tril(corner, -1).T
            gram[part, part.stop :] = gram[part.stop :, part].T
        return FeatureSums(
            gram.T,
            self._cross,
            self._square,
            self._features,
            self._targets,
            self._weight,
            self._n_samples,
        )

r"""Features of a kernel at landmarks, with the variance that they leave out.

With landmarks :math:`L` and :math:`R R^\top = k(L, L)` the features are
:math:`\phi(x) = R^{-1} k(L, x)`. Their kernel :math:`\phi(x) \cdot \phi(y)` is :math:`k` between a
landmark and any row, and the variance :math:`k(x, x) - |\phi(x)|^2` is left out at other rows. With
independent residuals of that variance the features have the variance of the kernel everywhere
(Snelson and Ghahramani, "Sparse Gaussian processes using pseudo-inputs", 2006).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import solve_triangular

from bochner._base.arrays import Array, InputRows, row_blocks
from bochner._base.linalg import jittered_cholesky
from bochner._base.registry import register
from bochner.features.landmarks import (
    NEGLIGIBLE_SHARE,
    candidate_rows,
    greatest_pivots,
    landmark_features,
)
from bochner.kernels import Kernel
from bochner.spectral.frequencies import Frequencies


@register(shapes={"landmarks": "qd", "lower": "qq"})
@dataclass(frozen=True, slots=True, eq=False)
class LandmarkFeatures:
    """The features of a positive definite kernel at ``q`` landmarks; ``lower`` is ``R``."""

    kernel: Kernel
    landmarks: Array  # (q, d)
    lower: Array  # (q, q)

    is_symmetric: ClassVar[bool] = True

    @classmethod
    def of(
        cls, kernel: Kernel, X: InputRows, n_landmarks: int, rng: Generator
    ) -> "LandmarkFeatures":
        """Return features at no more than ``n_landmarks`` of the rows ``X`` (n, d), dense or CSR.

        Landmarks are pivots as in :class:`~bochner.features.residual.ResidualFeatures`. Raises
        ValueError if the kernel is not positive definite on the rows.
        """
        return cls(
            kernel, *greatest_pivots(kernel, candidate_rows(X, n_landmarks, rng), n_landmarks)
        )

    @classmethod
    def at(cls, kernel: Kernel, landmarks: Array) -> "LandmarkFeatures":
        """Return features at given landmarks (q, d), with the least variance of residuals there."""
        values = kernel(landmarks)
        jitter = NEGLIGIBLE_SHARE * float(np.diagonal(values).max())
        return cls(kernel, landmarks, jittered_cholesky(values, jitter))

    @property
    def n_features(self) -> int:
        """Number of features, ``q``."""
        return len(self.landmarks)

    def features(self, X: Any, dtype: DTypeLike | None = None) -> NDArray[Any]:
        """Return the features of rows (n, d), dense or CSR, of shape (n, q)."""
        values = np.empty((X.shape[0], self.n_features), dtype=dtype or X.dtype)
        for rows, block in self._blocks(X):
            values[rows] = landmark_features(self.kernel, self.landmarks, self.lower, block).T
        return values

    def products(self, X: Any, weights: Array) -> Array:
        """Return the products (n, s) of features with weights (q, s), without the features.

        They are kernel values times solutions, which takes a sixth of the time.
        """
        solved = solve_triangular(self.lower, weights, lower=True, trans=1)
        products = np.empty((X.shape[0], weights.shape[1]))
        for rows, block in self._blocks(X):
            products[rows] = self.kernel(block, self.landmarks) @ solved
        return products

    def _blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield slices of rows and dense rows, whose kernel values are few."""
        for rows in row_blocks(X.shape[0], 8 * (X.shape[1] + 2 * self.n_features)):
            yield rows, X[rows] if isinstance(X, np.ndarray) else X[rows].toarray()


LatentFeatures = Frequencies | LandmarkFeatures
"""Types of feature maps of latent functions."""


def residual_variance(features: LatentFeatures, X: Any, Z: Array) -> Array:
    """Return the variances (n,) that features ``Z`` of rows leave out: zero for random features.

    They are at least the share of the variance that landmarks may leave everywhere, so that rows
    are not many orders of magnitude more certain at landmarks than elsewhere.
    """
    if isinstance(features, Frequencies):
        return np.zeros(X.shape[0])
    variance = np.empty(X.shape[0])
    for rows in row_blocks(X.shape[0], 8 * X.shape[1]):
        block = X[rows] if isinstance(X, np.ndarray) else X[rows].toarray()
        prior = features.kernel.diag(block)
        left = prior - np.sum(Z[rows] ** 2, axis=1)
        variance[rows] = np.maximum(left, NEGLIGIBLE_SHARE * prior)
    return variance

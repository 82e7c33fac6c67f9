r"""Random features with a residual correction at landmarks: an exact kernel near the data.

Random features :math:`z` carry a Gaussian process of covariance :math:`z(x) \cdot z(y)`. With
values :math:`u` at landmarks :math:`L` from the exact prior :math:`N(0, k(L, L))`, Matheron's rule
turns a draw :math:`z(x) \cdot w` into one that has them:

.. math:: f(x) = z(x) \cdot w + k(x, L)\, k(L, L)^{-1} (u - z(L)\, w).

This function is again linear in independent normal variables, with the features

.. math:: \tilde z(x) = z(x) - z(L)^\top k(L, L)^{-1} k(L, x), \qquad
          \phi(x) = R^{-1} k(L, x), \quad R R^\top = k(L, L),

so the approximate kernel is always positive definite. Between a landmark and any row it equals
:math:`k` for every draw of features. Elsewhere its mean over draws of features is :math:`k`, and
its variance falls with the number of features and with the residual variance given the landmarks.
The posterior of
rows that are all landmarks has the exact mean. Far from landmarks :math:`\phi` vanishes, and the
weights of :math:`\tilde z`, which is small on the rows, keep their prior variance.

Sources: Wilson, Borovitskiy, Terenin, Mostowsky and Deisenroth, "Efficiently sampling functions
from Gaussian process posteriors", 2020, where :math:`u` has a separate posterior and :math:`w`
keeps its prior; here both are learned together. Harbrecht, Peters and Schneider, "On the low-rank
approximation by the pivoted Cholesky decomposition", 2012, for the landmarks.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import solve_triangular

from bochner._base.arrays import Array, InputRows, as_array
from bochner._base.registry import register
from bochner.features.landmarks import candidate_rows, greatest_pivots, landmark_features
from bochner.features.parameters import AnyKernel, kernel_name
from bochner.kernels import Kernel
from bochner.spectral.frequencies import Frequencies


@register(shapes={"landmarks": "qd", "lower": "qq", "projected": "qp"})
@dataclass(frozen=True, slots=True, eq=False)
class ResidualFeatures:
    r"""The features :math:`[\tilde z, \phi]` of a kernel, ``p`` random ones and ``q`` of landmarks.

    ``lower`` is the factor :math:`R`, and ``projected`` is :math:`R^{-1} z(L)`.
    """

    frequencies: Frequencies
    kernel: Kernel
    landmarks: Array  # (q, d)
    lower: Array  # (q, q)
    projected: Array  # (q, p)

    is_symmetric: ClassVar[bool] = True

    @classmethod
    def of(
        cls,
        frequencies: Frequencies,
        kernel: AnyKernel,
        X: InputRows,
        n_landmarks: int,
        rng: Generator,
        limit: int | None = None,
    ) -> "ResidualFeatures":
        """Return features with at most ``n_landmarks`` of the rows ``X`` (n, d), dense or CSR."""
        name = kernel_name(kernel)
        if not isinstance(kernel, Kernel) or not kernel.is_symmetric or _is_signed(frequencies):
            raise ValueError(
                f"residual needs a positive definite kernel of bochner.kernels, got {name}. Leave "
                f"residual=None, or use a positive definite kernel."
            )
        candidates = candidate_rows(X, n_landmarks, rng, limit)
        # Pivots keep the factor well conditioned, and cover the rows (docs/adr/0034).
        landmarks, lower = greatest_pivots(kernel, candidates, n_landmarks)
        projected = solve_triangular(lower, frequencies.features(landmarks), lower=True)
        return cls(frequencies, kernel, landmarks, lower, projected)

    @property
    def n_features(self) -> int:
        """Number of features, ``p + q``."""
        return sum(self.projected.shape)

    @property
    def signature(self) -> Array:
        """Signs of the features: all positive."""
        return np.ones(self.n_features)

    @property
    def weight(self) -> Array:
        """Weights of the frequencies, which sum to the kernel's variance, of shape (m,)."""
        return self.frequencies.weight

    def features(
        self, X: Any, dtype: DTypeLike | None = None, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Return the features of rows (n, d), dense or CSR, of shape (n, p + q)."""
        feature_dtype = np.dtype(dtype or X.dtype)
        p = self.projected.shape[1]
        if out is None:
            out = np.empty((X.shape[0], self.n_features), dtype=feature_dtype)
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        near = landmark_features(self.kernel, self.landmarks, self.lower, dense)
        # The random features keep the part that landmarks do not determine, so that the kernel
        # between a landmark and any row is exact.
        out[:, :p] = self.frequencies.features(dense, np.float64) - near.T @ self.projected
        out[:, p:] = near.T
        return out

    def with_frequencies(self, frequencies: Frequencies) -> "ResidualFeatures":
        """Return the features of other frequencies and the same landmarks."""
        waves = frequencies.features(self.landmarks)
        projected = solve_triangular(self.lower, waves, lower=True)
        return replace(self, frequencies=frequencies, projected=projected)

    def split(self, coef: Array) -> tuple[Array, Array]:
        r"""Return weights of waves (p, s) and of kernel values at landmarks (q, s).

        The functions :math:`[\tilde z(x), \phi(x)] \cdot c` with weights ``coef`` (p + q, s) are
        :math:`z(x) \cdot w + k(x, L)\, b`.
        """
        waves, near = np.split(coef, [self.projected.shape[1]])
        b = solve_triangular(self.lower, near - self.projected @ waves, lower=True, trans=1)
        return waves, as_array(b)


FeatureMap = Frequencies | ResidualFeatures
"""Types of feature maps for linear heads."""


def _is_signed(frequencies: Frequencies) -> bool:
    return not frequencies.is_symmetric or bool((frequencies.weight < 0.0).any())

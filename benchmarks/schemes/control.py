r"""The second term of Taylor's series as a control variate.

With the moments of a law known, the mean of :math:`(\omega \cdot \Delta)^2 / 2` over frequencies
has a known expectation, :math:`\Delta^\top \Sigma \Delta / 2`. A multiple of the difference is
added to the mean of cosines. The result is a kernel of features of either sign, those of the
frequencies and :math:`d + 2` others, and has no bound at large lags.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from bochner._base.arrays import Array
from bochner.kernels import Kernel
from bochner.spectral.decompositions import spectral_measure
from bochner.spectral.frequencies import Frequencies

_PILOT = 4_096
"""Draws for the coefficient, which are not used again."""

_LAGS = 300
"""Pairs of rows over whose lags the variance is least."""


@dataclass(frozen=True, slots=True, eq=False)
class Controlled:
    """An estimate with the control variate: frequencies, coefficient, and the matrix of moments."""

    frequencies: Frequencies
    coefficient: float
    moments: Array

    def gram(self, X: Array, Y: Array) -> Array:
        """Return kernel values (n, n2)."""
        omega, weight = np.asarray(self.frequencies.omega), self.frequencies.weight
        squares = 0.5 * (_squares(X @ omega.T, Y @ omega.T, weight) - self._expected(X, Y))
        return self.frequencies.gram(X, Y) + self.coefficient * squares

    def _expected(self, X: Array, Y: Array) -> Array:
        root = np.linalg.cholesky(self.moments)
        return cdist(X @ root, Y @ root, "sqeuclidean")


def _squares(left: Array, right: Array, weight: Array) -> Array:
    """Return the weighted sums of squared differences, (n, n2)."""
    scaled = np.sqrt(weight)
    squares: Array = cdist(left * scaled, right * scaled, "sqeuclidean")
    return squares


def controlled(
    kernel: Kernel, moments: Array, X: Array, frequencies: Frequencies, rng: np.random.Generator
) -> Controlled:
    """Return the estimate with the coefficient that is best for independent draws.

    Over lags of the rows, it has the least mean variance; it comes from other draws, so the
    estimate stays unbiased.
    """
    left, right = rng.integers(len(X), size=(2, _LAGS))
    pilot = spectral_measure(kernel, X.shape[1]).sample(_PILOT, rng, "iid")
    angles = (X[left] - X[right]) @ np.asarray(pilot.omega).T
    cosines, squares = np.cos(angles), 0.5 * angles**2
    squares -= squares.mean(axis=1, keepdims=True)
    coefficient = -float(np.sum(cosines * squares) / np.sum(squares**2))
    return Controlled(frequencies, coefficient, moments)

r"""A Gaussian process on features, with a given noise variance.

With features :math:`Z` of the training rows and noise of variance :math:`s`, targets are
:math:`N(0, Z Z^\top + s I)`, and weights of the features have the posterior of ridge regression
with :math:`\alpha = s`: mean :math:`A^{-1} Z^\top y` and covariance :math:`s A^{-1}`, with
:math:`A = Z^\top Z + s I`.
"""

from dataclasses import dataclass

import numpy as np

from bochner._numerics.arrays import Array, InputRows, as_array, row_blocks
from bochner.features.approximation import Recipe, approximate
from bochner.features.chunks import ArrayChunks, Chunk
from bochner.features.parameters import count_frequencies, generators
from bochner.features.residual import FeatureMap, ResidualFeatures
from bochner.features.stats import chunk_sums
from bochner.features.targets import Numbers
from bochner.kernels import Kernel
from bochner.learning.ridge.posterior import fit_ridge
from bochner.registry import register


@register(shapes={"coef": "pt", "whitener": "pp"})
@dataclass(frozen=True, slots=True, eq=False)
class FeatureProcess:
    """The posterior of a Gaussian process on ``p`` features, for ``t`` targets."""

    features: FeatureMap
    coef: Array  # (p, t)
    whitener: Array  # (p, p): W with W W' = A^{-1}
    noise: float  # Variance of the noise in the training targets
    log_likelihood: float  # Log marginal likelihood, summed over targets

    @classmethod
    def of(cls, features: FeatureMap, rows: Chunk, noise: float) -> "FeatureProcess":
        """Return the posterior given rows with numeric targets, and the variance of their noise."""
        n_targets = rows.y.reshape(len(rows), -1).shape[1]
        targets = Numbers(np.zeros(n_targets))
        sums = ArrayChunks(rows).total(chunk_sums, features, targets)
        ridge = fit_ridge(sums, noise)
        # det(Z Z' + s I) = s^(n - p) det A, and W is triangular.
        log_determinant = (len(rows) - len(ridge.coef)) * np.log(noise)
        log_determinant -= 2.0 * float(np.sum(np.log(np.abs(np.diagonal(ridge.whitener)))))
        explained = np.sum(sums.cross * ridge.coef, axis=0)
        misfit = float(np.maximum(sums.square - explained, 0.0).sum()) / noise
        constant = n_targets * (len(rows) * np.log(2.0 * np.pi) + log_determinant)
        log_likelihood = -0.5 * (misfit + float(constant))
        return cls(features, ridge.coef, ridge.whitener, float(noise), log_likelihood)

    def mean(self, X: Array) -> Array:
        """Return the posterior means (n, t) of the functions at rows (n, d)."""
        mean = np.empty((len(X), self.coef.shape[1]))
        for rows in row_blocks(len(X), 8 * len(self.coef)):
            mean[rows] = self.features.features(X[rows], np.float64) @ self.coef
        return mean

    def variance(self, X: Array) -> Array:
        """Return the posterior variances (n,) of a function at rows (n, d), without noise."""
        variance = np.empty(len(X))
        for rows in row_blocks(len(X), 8 * len(self.coef)):
            half = self.features.features(X[rows], np.float64) @ self.whitener
            variance[rows] = self.noise * np.einsum("ij,ij->i", half, half)
        return variance

    def covariance(self, X: Array) -> Array:
        """Return the posterior covariance (n, n) of a function at rows (n, d), without noise."""
        half = self.features.features(X, np.float64) @ self.whitener
        return as_array(self.noise * (half @ half.T))


def process_features(
    kernel: Kernel, X: InputRows, n_components: int, n_landmarks: int, seed: int
) -> FeatureMap:
    """Return random features of a kernel without noise, and its values at landmarks among rows.

    Raises ``ValueError`` if the kernel is not positive definite or has no measure.
    """
    draw_rng, data_rng, landmark_rng = generators(seed, 3)
    recipe = Recipe(count_frequencies(n_components))
    frequencies = approximate(kernel, X, recipe, draw_rng, data_rng).frequencies
    if not frequencies.is_symmetric or (frequencies.weight < 0.0).any():
        raise ValueError(
            f"{kernel!r} is not the covariance of a Gaussian process: use a positive definite "
            f"kernel, or bochner.KreinRidge."
        )
    if not n_landmarks:
        return frequencies
    return ResidualFeatures.of(frequencies, kernel, X, n_landmarks, landmark_rng)

"""The evidence of ridge regression as a loss of a kernel's parameters and of alpha."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, lapack

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.linalg import jittered_cholesky
from bochner.features.chunks import ArrayChunks, Chunk
from bochner.features.stats import FeatureSums
from bochner.features.targets import Numbers, Targets
from bochner.learning.evidence.feature_evidence import evidence_gradient, ordered_sums
from bochner.learning.evidence.reparameterised import ParameterisedKernel
from bochner.learning.evidence.search import EvidenceSearch
from bochner.learning.ridge.posterior import (
    LOG_ALPHA,
    best_alpha,
    degrees_of,
    fit_ridge,
    log_evidence,
    noise_variance,
)

_STEP = 1e-6
"""Change of a parameter for the slopes of values of a kernel: their errors are of the same order,
from curvature, and a search ends at 1e-5."""


@dataclass(frozen=True, slots=True, eq=False)
class RidgeSearch(EvidenceSearch):
    """Evidence of fixed rows; a point holds kernel parameters and the log of alpha."""

    family: ParameterisedKernel[Any]
    rows: Chunk  # Targets are numbers (n, t)
    alpha: float | None  # None: learned
    fit_intercept: bool

    @property
    def _size(self) -> float:
        return float(self.rows.y.shape[1] * self.rows.units.n_observations)

    @abstractmethod
    def _scale(self, theta: Array) -> float:
        """Return the mean over observations of the kernel times the row's weight."""

    def bounds_of_others(self, start: Array) -> tuple[Array, Array]:
        if self.alpha is not None:
            return start[-1:], start[-1:]
        low, high = np.log(self._scale(start[:-1])) + LOG_ALPHA
        return np.array([low]), np.array([high])


@dataclass(frozen=True, slots=True, eq=False)
class FeatureSearch(RidgeSearch):
    """The evidence of features, whose base draws stay fixed."""

    draws: Any

    @property
    def targets(self) -> Targets:
        """The map of targets without centring."""
        return Numbers(np.zeros(self.rows.y.shape[1]))

    def started(self, theta: Array) -> Array:
        """Return the point of parameters (q,), with the best alpha there."""
        if self.alpha is not None:
            return np.append(theta, np.log(self.alpha))
        best, _ = best_alpha(self._sums(theta), fit_intercept=self.fit_intercept)
        return np.append(theta, np.log(best))

    def value(self, point: Array) -> float:
        theta, alpha = point[:-1], float(np.exp(point[-1]))
        found = fit_ridge(self._sums(theta), alpha, fit_intercept=self.fit_intercept)
        return (self.penalty(theta)[0] - found.log_evidence) / self._size

    def _sums(self, theta: Array) -> FeatureSums:
        frequencies = self.family.frequencies(self.draws, theta)
        return ordered_sums(ArrayChunks(self.rows), frequencies, self.targets)

    def _scale(self, theta: Array) -> float:
        Z = self.family.frequencies(self.draws, theta).features(self.rows.X)
        squares = np.einsum("ij,ij->i", Z, Z)
        return float(self.rows.weights @ squares) / self.rows.units.n_observations

    def loss(self, point: Array) -> tuple[float, Array]:
        theta = point[:-1]
        found = evidence_gradient(
            ArrayChunks(self.rows),
            self.family.frequencies(self.draws, theta),
            self.targets,
            float(np.exp(point[-1])),
            fit_intercept=self.fit_intercept,
        )
        penalty, by_theta = self.penalty(theta)
        by_theta -= self.family.pulled_back(self.draws, theta, found.slopes)
        by_alpha = -found.log_alpha if self.alpha is None else 0.0
        value = penalty - found.log_evidence
        return value / self._size, np.append(by_theta, by_alpha) / self._size


@dataclass(frozen=True, slots=True, eq=False)
class GramSearch(RidgeSearch):
    r"""The evidence of the kernel itself, from its values between all pairs of a few dense rows.

    With the Gram matrix :math:`B` and targets :math:`y` times the roots of weights, centred if an
    intercept is fitted, it is for each target

    .. math:: -\tfrac12 \big[\nu (\log 2 \pi s^2 + 1) + \log |I + B / \alpha|\big],
              \qquad \nu s^2 = \alpha\, y^\top (B + \alpha I)^{-1} y,

    with as many degrees of freedom :math:`\nu` as observations, less one with an intercept, and
    half the sum of logarithms of their precisions added: the evidence of features without end
    (Rasmussen and Williams, "Gaussian processes for machine learning", 2006, equation 5.8, where
    the noise is the best one).
    """

    def value(self, point: Array) -> float:
        return self._solved(point, self._gram(point[:-1]))[0]

    def loss(self, point: Array) -> tuple[float, Array]:
        theta, alpha = point[:-1], float(np.exp(point[-1]))
        gram = self._gram(theta)
        value, lower, U, noise = self._solved(point, gram)
        inverse, _ = lapack.dpotri(lower, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        V = U * (np.sqrt(alpha) / np.sqrt(noise))  # The noise of equal targets is the least number
        by_gram = 0.5 * (V @ V.T - U.shape[1] * inverse)
        by_theta = self.penalty(theta)[1]
        slopes = self.family.gram_slopes(theta, self.rows.X, self._by_values(by_gram))
        if slopes is None:
            moved = (np.sum(by_gram * (other - gram)) / _STEP for other in self._moved(theta))
            slopes = np.fromiter(moved, dtype=np.float64)
        by_theta -= slopes
        by_alpha = 0.0
        if self.alpha is None:  # B / alpha is what counts: less alpha is more of every value
            by_alpha = float(np.sum(by_gram * gram))
        return value, np.append(by_theta, by_alpha) / self._size

    def _solved(self, point: Array, gram: Array) -> tuple[float, Array, Array, Array]:
        """Return the loss, the factor of B + alpha I, its solutions (n, t) and the noise (t,)."""
        theta, alpha = point[:-1], float(np.exp(point[-1]))
        lower = jittered_cholesky(gram, alpha)
        targets, units = self._rooted(self.rows.y), self.rows.units
        degrees = degrees_of(units.n_observations, self.fit_intercept)
        U = cho_solve((lower, True), targets)
        square, misfit = np.sum(targets**2, axis=0), alpha * np.sum(targets * U, axis=0)
        noise = noise_variance(square, square - misfit, degrees)
        determinant = 2.0 * float(np.sum(np.log(np.diagonal(lower)))) - len(lower) * point[-1]
        determinant -= float(units.counts @ np.log(units.weights))
        value = self.penalty(theta)[0] - log_evidence(noise, determinant, degrees)
        return value / self._size, lower, U, noise

    def _gram(self, theta: Array) -> Array:
        return self._rooted(self._rooted(self.family.kernel(theta)(self.rows.X)).T)

    def _moved(self, theta: Array) -> Iterator[Array]:
        """Yield the Gram matrix with each of the parameters a step further."""
        for step in _STEP * np.eye(len(theta)):
            yield self._gram(theta + step)

    def started(self, theta: Array) -> Array:
        """Return the point of parameters (q,), with a tenth of the kernel's variance as noise."""
        alpha = 0.1 * self._scale(theta) if self.alpha is None else self.alpha
        return np.append(theta, np.log(alpha))

    def _by_values(self, by_gram: Array) -> Array:
        """Return derivatives by kernel values from derivatives by the Gram matrix."""
        for _ in range(2):
            by_gram = (np.sqrt(self.rows.weights)[:, None] * by_gram).T
            if self.fit_intercept:
                share = self.rows.weights / self.rows.weights.sum()
                by_gram = by_gram - np.outer(by_gram.sum(axis=1), share)
        return by_gram

    def _rooted(self, values: Array) -> Array:
        """Return values (n, t) times the roots of weights, centred with an intercept."""
        weights = self.rows.weights
        if self.fit_intercept:
            values = values - np.average(values, axis=0, weights=weights)
        return as_array(np.sqrt(weights)[:, None] * values)

    def _scale(self, theta: Array) -> float:
        diagonal = self.family.kernel(theta).diag(self.rows.X)
        return float(self.rows.weights @ diagonal) / self.rows.units.n_observations

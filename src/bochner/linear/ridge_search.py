"""Searches for the parameters of kernels by the evidence of ridge regression and its gradient."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, lapack
from scipy.optimize import Bounds

from bochner._base.arrays import Array, as_array, jittered_cholesky
from bochner._base.descent import minimised
from bochner.features.chunks import ArrayChunks, Chunk, Numbers, Targets
from bochner.features.row_sums import FeatureSums
from bochner.linear.feature_evidence import evidence_gradient, ordered_sums
from bochner.linear.reparameterised import ParameterisedKernel
from bochner.linear.ridge_posterior import (
    LOG_ALPHA,
    best_alpha,
    degrees_of,
    fit_ridge,
    log_evidence,
    noise_variance,
)

_ROUNDS = 3
"""Largest number of searches in a stage: after each, shorter scales of single inputs are tried."""

_DEVIATION = np.log(10.0)
"""Prior standard deviation of every parameter. Scales of two inputs may differ by a factor of ten
before the prior matters. It keeps scales of irrelevant inputs finite, which the evidence does not
determine."""

_REACH = 3.0 * _DEVIATION
"""Largest change of a parameter, three prior standard deviations: a factor of a thousand."""

_TOLERANCE = 1e-5
"""Decrease of the loss per row at which a search ends: 0.01 nats for 1000 rows."""


class EvidenceSearch(ABC):
    """Base of searches: the loss of a point, the vector of kernel parameters (q,) and log alpha."""

    __slots__ = ()

    family: ParameterisedKernel[Any]

    @abstractmethod
    def value(self, point: Array) -> float:
        """Return the loss of a point."""

    @abstractmethod
    def loss(self, point: Array) -> tuple[float, Array]:
        """Return the loss of a point and its gradient."""

    @abstractmethod
    def bounds_of_others(self, start: Array) -> tuple[Array, Array]:
        """Return lower and upper bounds of the coordinates after the kernel parameters."""

    def split(self, point: Array) -> tuple[Array, Array]:
        """Split a point into the kernel parameters and the remaining coordinates."""
        n = self.family.origin.size
        return point[:n], point[n:]

    def penalty(self, theta: Array) -> tuple[float, Array]:
        """Return the negative log prior of parameters (q,), and its gradient."""
        away = (theta - self.family.origin) / _DEVIATION
        return 0.5 * float(away @ away), away / _DEVIATION

    def climbed(self, start: Array, n_steps: int) -> tuple[Array, float]:
        """Minimise the loss by L-BFGS from ``start``; return the final point and its loss."""
        theta, _ = self.split(start)
        origin, other_bounds = self.family.origin, self.bounds_of_others(start)
        low = np.append(np.minimum(origin - _REACH, theta), other_bounds[0])
        high = np.append(np.maximum(origin + _REACH, theta), other_bounds[1])
        end = minimised(
            self.loss, start, n_steps=n_steps, bounds=Bounds(low, high), decrease=_TOLERANCE
        )
        return end.point, end.loss

    def explored(self, point: Array, n_steps: int) -> Array:
        """Minimise the loss from a point and from its neighbours; return the best final point."""
        for _ in range(_ROUNDS):
            point, _ = self.climbed(point, n_steps)
            theta, other_parameters = self.split(point)
            near = [
                np.append(neighbour, other_parameters)
                for neighbour in self.family.neighbours(theta)
            ]
            best = min([point, *near], key=self.value)
            if best is point:
                break
            point = best
        return point


_STEP = 1e-6  # Change of a parameter in finite differences of kernel values


@dataclass(frozen=True, slots=True, eq=False)
class RidgeSearch(EvidenceSearch):
    """The evidence of fixed rows as a function of kernel parameters and log alpha."""

    family: ParameterisedKernel[Any]
    rows: Chunk  # With numeric targets (n, t)
    alpha: float | None  # None: alpha is learned
    fit_intercept: bool

    @property
    def _size(self) -> float:
        return float(self.rows.y.shape[1] * self.rows.units.n_observations)

    @abstractmethod
    def _scale(self, theta: Array) -> float:
        """Return the mean of ``k(x, x)`` over observations."""

    def bounds_of_others(self, start: Array) -> tuple[Array, Array]:
        if self.alpha is not None:
            return start[-1:], start[-1:]
        low, high = np.log(self._scale(start[:-1])) + LOG_ALPHA
        return np.array([low]), np.array([high])


@dataclass(frozen=True, slots=True, eq=False)
class FeatureSearch(RidgeSearch):
    """The evidence of random features with fixed base draws."""

    draws: Any

    @property
    def targets(self) -> Targets:
        """The map from rows to targets, which does not centre them."""
        return Numbers(np.zeros(self.rows.y.shape[1]))

    def started(self, theta: Array) -> Array:
        """Return the point of kernel parameters (q,) and alpha: given, or of greatest evidence."""
        if self.alpha is not None:
            return np.append(theta, np.log(self.alpha))
        best, _ = best_alpha(self._sums(theta), fit_intercept=self.fit_intercept)
        return np.append(theta, np.log(best))

    def value(self, point: Array) -> float:
        theta, alpha = point[:-1], float(np.exp(point[-1]))
        posterior = fit_ridge(self._sums(theta), alpha, fit_intercept=self.fit_intercept)
        return (self.penalty(theta)[0] - posterior.log_evidence) / self._size

    def _sums(self, theta: Array) -> FeatureSums:
        frequencies = self.family.frequencies(self.draws, theta)
        return ordered_sums(ArrayChunks(self.rows), frequencies, self.targets)

    def _scale(self, theta: Array) -> float:
        Z = self.family.frequencies(self.draws, theta).features(self.rows.X)
        squares = np.einsum("ij,ij->i", Z, Z)
        return float(self.rows.weights @ squares) / self.rows.units.n_observations

    def loss(self, point: Array) -> tuple[float, Array]:
        theta = point[:-1]
        gradient = evidence_gradient(
            ArrayChunks(self.rows),
            self.family.frequencies(self.draws, theta),
            self.targets,
            float(np.exp(point[-1])),
            fit_intercept=self.fit_intercept,
        )
        penalty, by_theta = self.penalty(theta)
        by_theta -= self.family.pulled_back(self.draws, theta, gradient.slopes)
        by_alpha = -gradient.log_alpha if self.alpha is None else 0.0
        value = penalty - gradient.log_evidence
        return value / self._size, np.append(by_theta, by_alpha) / self._size


@dataclass(frozen=True, slots=True, eq=False)
class GramSearch(RidgeSearch):
    r"""The evidence of the exact kernel, from its values between all pairs of a few dense rows.

    The Gram matrix :math:`B` and the targets :math:`y` are multiplied by square roots of weights,
    and centred if an intercept is fitted. The evidence of each target is

    .. math:: -\tfrac12 \big[\nu (\log 2 \pi s^2 + 1) + \log |I + B / \alpha|\big],
              \qquad \nu s^2 = \alpha\, y^\top (B + \alpha I)^{-1} y,

    plus half the sum of logarithms of precisions, with :math:`\nu` observations, less one with an
    intercept (Rasmussen and Williams, 2006, equation 5.8, maximised over the noise).
    """

    def value(self, point: Array) -> float:
        return self._solved(point, self._gram(point[:-1]))[0]

    def loss(self, point: Array) -> tuple[float, Array]:
        theta, alpha = point[:-1], float(np.exp(point[-1]))
        # The Gram matrix is computed once for the value and the derivatives.
        gram = self._gram(theta)
        value, lower, U, noise = self._solved(point, gram)
        inverse, _ = lapack.dpotri(lower, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        # Roots are taken separately, because a quotient by a tiny noise variance could overflow.
        V = U * (np.sqrt(alpha) / np.sqrt(noise))
        by_gram = 0.5 * (V @ V.T - U.shape[1] * inverse)
        by_theta = self.penalty(theta)[1]
        slopes = self.family.gram_slopes(theta, self.rows.X, self._by_values(by_gram))
        if slopes is None:
            changes = (
                np.sum(by_gram * (moved_gram - gram)) / _STEP for moved_gram in self._moved(theta)
            )
            slopes = np.fromiter(changes, dtype=np.float64)
        by_theta -= slopes
        by_alpha = 0.0
        # The evidence depends on B / alpha: the derivative by log alpha is minus that by log B.
        if self.alpha is None:
            by_alpha = float(np.sum(by_gram * gram))
        return value, np.append(by_theta, by_alpha) / self._size

    def _solved(self, point: Array, gram: Array) -> tuple[float, Array, Array, Array]:
        """Return the loss, the factor of B + alpha I, its solutions (n, t) and noise variances."""
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
        """Yield, for each parameter, the Gram matrix with this parameter increased by a step."""
        for step in _STEP * np.eye(len(theta)):
            yield self._gram(theta + step)

    def started(self, theta: Array) -> Array:
        """Return the point of kernel parameters (q,) and alpha, given or a tenth of ``k(x, x)``."""
        alpha = 0.1 * self._scale(theta) if self.alpha is None else self.alpha
        return np.append(theta, np.log(alpha))

    def _by_values(self, by_gram: Array) -> Array:
        """Return derivatives by kernel values, from those by the weighted, centred Gram matrix."""
        for _ in range(2):
            by_gram = (np.sqrt(self.rows.weights)[:, None] * by_gram).T
            if self.fit_intercept:
                share = self.rows.weights / self.rows.weights.sum()
                by_gram = by_gram - np.outer(by_gram.sum(axis=1), share)
        return by_gram

    def _rooted(self, values: Array) -> Array:
        """Multiply values (n, t), centred for an intercept, by square roots of weights."""
        weights = self.rows.weights
        if self.fit_intercept:
            values = values - np.average(values, axis=0, weights=weights)
        return as_array(np.sqrt(weights)[:, None] * values)

    def _scale(self, theta: Array) -> float:
        diagonal = self.family.kernel(theta).diag(self.rows.X)
        return float(self.rows.weights @ diagonal) / self.rows.units.n_observations

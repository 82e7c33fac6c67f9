r"""The evidence lower bound of two mixtures, and its gradient.

The model is the paper's with the frequencies of both signs together: with
:math:`c_\pm` the masses, ``M`` frequencies of each sign, and two Dirichlet-process mixtures,

.. math:: k_{ij} = \frac{c_+}{M} \sum_m \cos \omega_m \cdot \Delta_{ij}
                 - \frac{c_-}{M} \sum_m \cos \omega'_m \cdot \Delta_{ij} + \varepsilon_{ij},
          \qquad \varepsilon_{ij} \sim N(0, \sigma^2).

Frequencies are exchangeable, so all have one factor :math:`q(\omega, z)`: a component with
probability :math:`r_t`, and given it :math:`N(a_t, V_t)`. No expansion is needed then. Under a
Gaussian :math:`E \cos \omega \cdot \Delta = e^{-\Delta^\top V \Delta / 2} \cos a \cdot \Delta`, so
the expected sum is a spectral mixture :math:`\hat k(\Delta)`, and its variance is that of random
features, :math:`(\frac{1}{2} (1 + \hat k(2 \Delta)) - \hat k(\Delta)^2) / M`. Sticks and components
are integrated out given the moments of the frequencies; masses and, unless it is given, the
noise have their best values, so the bound is a function of :math:`r, a, V` and the scales of the
components' laws alone.

References
----------
F. Liu, X. Huang, L. Shi, J. Yang and J. A. K. Suykens, "A double-variational Bayesian framework
in random Fourier features for indefinite kernels", 2020, section III.
"""

from dataclasses import dataclass

import numpy as np

from bochner._numerics.arrays import Array
from bochner.learning.double_mixture import sticks
from bochner.learning.double_mixture.evidence import (
    ComponentPrior,
    component_evidence,
    log_scale_prior,
)
from bochner.learning.double_mixture.observed import Observed

N_LATENT = 10_000
"""Frequencies of the model: so many that their own variance is below one hundredth."""

LEAST_NOISE = 1e-4
_FLOOR = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    r"""The law of the frequencies of one sign.

    Parameters
    ----------
    weights : ndarray of shape (T,)
        :math:`r`, which sum to one.
    means : ndarray of shape (T, q)
        :math:`a`.
    roots : ndarray of shape (T, q, q)
        Lower triangular; the covariance is :math:`V = B B^\top + 10^{-6} I`.
    log_scales : ndarray of shape (T,)
    """

    weights: Array
    means: Array
    roots: Array
    log_scales: Array

    @property
    def covariances(self) -> Array:
        """Return ``V``, of shape (T, q, q)."""
        square: Array = self.roots @ self.roots.swapaxes(1, 2)
        return square + _FLOOR * np.eye(self.means.shape[1])

    def ordered(self) -> "Factor":
        """Return the same law, components of large weight first."""
        order = np.argsort(-self.weights, kind="stable")
        return Factor(
            self.weights[order], self.means[order], self.roots[order], self.log_scales[order]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """The bound, its gradient by the factors' parts, and what it was maximised over.

    Attributes
    ----------
    value : float
    gradients : tuple of Factor
        By weights, means, roots and log scales.
    masses : ndarray of shape (S,)
    noise : float
        Standard deviation.
    """

    value: float
    gradients: tuple[Factor, ...]
    masses: Array
    noise: float


class Waves:
    """Terms of a factor's kernel at ``P`` differences, (P, T)."""

    def __init__(self, factor: Factor, deltas: Array) -> None:
        self.factor, self.deltas = factor, deltas
        phase = deltas @ factor.means.T
        square = np.einsum("pi,pi->p", deltas, deltas)[:, None] * _FLOOR
        quadratic = np.stack([np.square(deltas @ B).sum(axis=1) for B in factor.roots], axis=1)
        decay = np.exp(-0.5 * (quadratic + square))
        cosine, sine = np.cos(phase), np.sin(phase)
        self.cosine, self.sine = decay * cosine, decay * sine
        doubled = decay**4
        self.doubled_cosine = doubled * (2.0 * cosine**2 - 1.0)
        self.doubled_sine = doubled * (2.0 * sine * cosine)
        self.kernel: Array = self.cosine @ factor.weights
        spread = 0.5 * (1.0 + self.doubled_cosine @ factor.weights) - self.kernel**2
        self.variance: Array = np.maximum(spread, 0.0) / N_LATENT  # zero but for rounding at zero

    def pulled(self, by_kernel: Array, by_doubled: Array) -> tuple[Array, Array, Array]:
        """Return gradients by weights, means and covariances from those by the kernel (P,).

        ``by_doubled`` is that by the kernel at twice the differences.
        """
        by_kernel, by_doubled = by_kernel[:, None], by_doubled[:, None]
        r, deltas = self.factor.weights, self.deltas
        by_cosine, by_doubled_cosine = by_kernel * self.cosine, by_doubled * self.doubled_cosine
        by_weights = np.sum(by_cosine + by_doubled_cosine, axis=0)
        by_phase = -r * (by_kernel * self.sine + 2.0 * by_doubled * self.doubled_sine)
        by_quadratic = -0.5 * r * (by_cosine + 4.0 * by_doubled_cosine)
        by_covariance = np.stack([(deltas.T * column) @ deltas for column in by_quadratic.T])
        return by_weights, by_phase.T @ deltas, by_covariance


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """What the bound depends on besides the factors.

    Parameters
    ----------
    observed : Observed
    signs : ndarray of shape (S,)
        Of the factors.
    prior : ComponentPrior
    concentration : float
        Of both Dirichlet processes.
    noise : float or None
        Standard deviation, in the units of ``observed``; ``None`` means the best one.
    """

    observed: Observed
    signs: Array
    prior: ComponentPrior
    concentration: float
    noise: float | None

    def bound(self, factors: tuple[Factor, ...]) -> Bound:
        """Return the bound at these factors, one for each sign."""
        data = self.observed
        waves = [Waves(factor, data.deltas) for factor in factors]
        kernels = self.signs * np.column_stack([part.kernel for part in waves])
        variances = np.column_stack([part.variance for part in waves])
        masses = _best_masses(kernels, variances, data)
        residual = data.values - kernels @ masses
        squares = data.counts @ (residual**2 + variances @ masses**2) + data.spread
        noise = self.noise
        if noise is None:
            noise = max(float(np.sqrt(squares / data.total)), LEAST_NOISE)
        value = -0.5 * (
            data.total * float(np.log(2.0 * np.pi * noise**2)) + float(squares) / noise**2
        )
        gradients = []
        for sign, mass, part in zip(self.signs, masses, waves, strict=True):
            scale = data.counts * mass / noise**2
            by_kernel = scale * (sign * residual + mass * part.kernel / N_LATENT)
            by_doubled = -scale * (0.25 * mass / N_LATENT)
            prior_value, gradient = self._with_prior(
                part.factor, *part.pulled(by_kernel, by_doubled)
            )
            value += prior_value
            gradients.append(gradient)
        return Bound(value, tuple(gradients), masses, noise)

    def _with_prior(
        self, factor: Factor, by_weights: Array, by_means: Array, by_covariances: Array
    ) -> tuple[float, Factor]:
        """Return the bound's other terms of a factor, and the gradient of all."""
        r, covariances = factor.weights, factor.covariances
        counts = N_LATENT * r
        scales = np.exp(factor.log_scales)
        found = component_evidence(self.prior, counts, factor.means, covariances, scales)
        spread, by_spread = log_scale_prior(factor.log_scales)
        beta = sticks.posterior(counts, self.concentration)
        log_r = np.log(np.maximum(r, np.finfo(float).tiny))
        entropy = 0.5 * (
            np.linalg.slogdet(covariances)[1] + self.prior.dim * (1.0 + np.log(2.0 * np.pi))
        )
        value = (
            sticks.log_evidence(counts, self.concentration)
            + float(np.sum(found.value) + counts @ (entropy - log_r))
            + spread
        )
        by_counts = found.counts + sticks.expected_log_weights(beta) + entropy - log_r - 1.0
        by_entropy = 0.5 * counts[:, None, None] * np.linalg.inv(covariances)
        by_roots = np.tril((by_covariances + found.covariances + by_entropy) @ factor.roots)
        return value, Factor(
            by_weights + N_LATENT * by_counts,
            by_means + found.means,
            np.asarray(2.0 * by_roots, dtype=np.float64),
            found.log_scales + by_spread,
        )


def _best_masses(kernels: Array, variances: Array, data: Observed) -> Array:
    """Return the masses, not negative, that the bound is greatest at."""
    matrix = (kernels.T * data.counts) @ kernels + np.diag(data.counts @ variances)
    vector = kernels.T @ (data.counts * data.values)
    alone = np.maximum(vector / np.diagonal(matrix), 0.0)
    if len(vector) == 1:
        return alone
    determinant = float(matrix[0, 0] * matrix[1, 1] - matrix[0, 1] ** 2)
    if determinant > 1e-14 * float(matrix[0, 0] * matrix[1, 1]):
        both = np.linalg.solve(matrix, vector)
        if (both >= 0.0).all():
            return np.asarray(both, dtype=np.float64)
    gains = alone * vector
    return np.where(np.arange(2) == int(np.argmax(gains)), alone, 0.0)

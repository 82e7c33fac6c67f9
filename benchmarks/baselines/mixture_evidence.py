"""The evidence of a spectral mixture, and its gradient, from sums over blocks of rows."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from benchmarks.baselines.mixture_frequencies import (
    MixtureFrequencies,
    angle_gradient,
    descend,
    wave_passes,
)
from bochner._base.arrays import Array, jittered_cholesky

# Log noise variance at the start, for targets of variance one: a signal-to-noise ratio of ten.
_FIRST_LOG_NOISE = float(np.log(0.1))

# Bounds of the log noise variance. At zero noise a perfect fit has infinite likelihood.
_LOG_NOISE_BOUNDS = (float(np.log(1e-8)), float(np.log(1e2)))

# Rows and iterations that several starts are compared on. A start costs in proportion to either:
# for 10,000 rows and 100 iterations, each adds 2 % to the cost of the optimisation.
_TRIAL_ROWS = 1000

# Iterations of a start before it is compared, a fifth of these 100.
_TRIAL_STEPS = 20

# Log base 2 of the largest factor by which starts after the first stretch frequencies.
_LOG2_STRETCH = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class MixtureEvidence:
    r"""The log marginal likelihood as a function of the mixture's parameters.

    The argument ``theta`` consists of :math:`\nu`, the logarithm of the noise variance, and the
    mixture's factors and means. ``X`` has shape (n, d) and ``y`` (n,).
    """

    mixture: MixtureFrequencies
    X: Array
    y: Array

    def start(self, rng: np.random.Generator, n_starts: int) -> Array:
        """Return the best of several first arguments, of equal weights, after some iterations."""
        q = len(self.mixture.counts)
        first = np.append(np.full(q, 1.0 / np.sqrt(q)), _FIRST_LOG_NOISE)
        stretches = np.exp2(rng.uniform(-_LOG2_STRETCH, _LOG2_STRETCH, n_starts - 1))
        drawn = [np.append(first, self.mixture.start(rng, s)) for s in (1.0, *stretches.tolist())]
        if n_starts == 1:
            return drawn[0]
        rows = rng.permutation(len(self.y))[:_TRIAL_ROWS]
        part = MixtureEvidence(self.mixture, self.X[rows], self.y[rows])
        tried = [
            descend(part, -len(rows), theta, _TRIAL_STEPS, 0.0, self.bounds()) for theta in drawn
        ]
        return min(tried, key=lambda result: result[1])[0]

    def bounds(self) -> list[tuple[float | None, float | None]]:
        """Return bounds of the argument; only the noise is bounded."""
        free = [(None, None)]
        q = len(self.mixture.counts)
        return [*(free * q), _LOG_NOISE_BOUNDS, *(free * self.mixture.n_parameters)]

    def unpacked(self, theta: Array) -> tuple[Array, float, Array]:
        r"""Return :math:`\nu^2`, of shape (Q,), :math:`\sigma^2`, and the mixture's parameters."""
        q = len(self.mixture.counts)
        return theta[:q] ** 2, float(np.exp(theta[q])), theta[q + 1 :]

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Return the log marginal likelihood and its gradient."""
        q = len(self.mixture.counts)
        component = np.tile(self.mixture.component, 2)
        amplitude = (theta[:q] / np.sqrt(self.mixture.counts))[component]
        noise = float(np.exp(theta[q]))
        passes = wave_passes(self.X, self.mixture.omega(theta[q + 1 :]))
        p = len(component)
        gram, cross = np.zeros((p, p)), np.zeros(p)
        for rows, waves in passes():
            gram += waves.T @ waves
            cross += waves.T @ self.y[rows]
        gram *= np.outer(amplitude, amplitude)
        cross *= amplitude
        posterior = WeightPosterior(gram, cross, float(self.y @ self.y), len(self.y), noise)
        inverse: Array = posterior.whitener @ posterior.whitener.T
        slope = np.zeros_like(self.mixture.base)
        for rows, waves in passes():
            slope += self._slope(waves, rows, amplitude, posterior, inverse)
        # Column sums of the features times the gradient by the features.
        columns = posterior.coef**2 - 1.0 + noise * np.diagonal(inverse)
        # The likelihood is even in nu, so its slope at zero is zero.
        nu = np.where(theta[:q] == 0.0, np.inf, theta[:q])
        gradient = [
            np.bincount(component, weights=columns, minlength=q) / nu,
            np.array([noise * posterior.noise_slope(inverse)]),
            self.mixture.pullback(slope),
        ]
        return posterior.log_evidence, np.concatenate(gradient)

    def _slope(
        self,
        waves: Array,
        rows: slice,
        amplitude: Array,
        posterior: "WeightPosterior",
        inverse: Array,
    ) -> Array:
        """Return a block's gradient in the frequencies, of shape (m, d)."""
        m = len(amplitude) // 2
        X, coef = self.X[rows], amplitude * posterior.coef
        residual: Array = (self.y[rows] - waves @ coef) / posterior.noise
        by_waves = waves @ (np.outer(-amplitude, amplitude) * inverse)
        spread: Array = angle_gradient(by_waves, waves).T @ X
        # The residual's part has rank one and needs no matrix of n by 2m.
        fit: Array = coef[:, None] * np.roll(waves.T @ (residual[:, None] * X), m, axis=0)
        return spread + fit[m:] - fit[:m]


class WeightPosterior:
    r"""The posterior of weights with unit normal priors, and the evidence, from sums over rows.

    With the noise variance :math:`\sigma^2` the precision is :math:`A = Z^\top Z + \sigma^2 I`;
    ``whitener`` (p, p) is W with :math:`W W^\top = A^{-1}`, and ``coef`` (p,) is
    :math:`u = A^{-1} Z^\top y`.
    """

    def __init__(self, gram: Array, cross: Array, square: float, n: int, noise: float) -> None:
        p = len(cross)
        lower = jittered_cholesky(gram + noise * np.eye(p))
        self.n, self.noise = n, noise
        self.whitener: Array = solve_triangular(lower, np.eye(p), lower=True).T
        self.coef: Array = self.whitener @ (self.whitener.T @ cross)
        self.residual = square - float(cross @ self.coef)  # y^T y - y^T Z u
        determinant = (n - p) * np.log(noise) + 2.0 * float(np.sum(np.log(np.diagonal(lower))))
        evidence = determinant + self.residual / noise + n * np.log(2.0 * np.pi)
        self.log_evidence = -0.5 * float(evidence)

    def noise_slope(self, inverse: Array) -> float:
        r"""Return the derivative of the log evidence in the noise variance, given ``A^{-1}``."""
        degrees = self.n - len(self.coef) - self.residual / self.noise
        shrinkage = float(np.trace(inverse)) + float(self.coef @ self.coef) / self.noise
        return -0.5 * (degrees / self.noise + shrinkage)

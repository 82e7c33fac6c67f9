"""Fit of a sum of Gaussians, as a kernel of the distance, to a given function."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares, nnls
from scipy.special import gammaln

from bochner._base.arrays import Array
from bochner.spectral.atoms import sphere_mean

# Range of rates of exp(-rate z^2) for distances up to 2: from a function that falls by 4 % over
# the sphere's diameter to one whose width is a twentieth of it.
_RATES = (1e-2, 1e2)

# Points of the trapezoidal rule on [0, 2]. Its step of 1/128 is a tenth of the narrowest width.
_N_DISTANCES = 257

# Lengths of frequencies, a geometric sequence with steps of about 1 %.
_N_RADII = 1000

# Largest number of evaluations of each least-squares fit, whose time is proportional to it.
_EVALUATIONS = 100

# Rates of the positive sum that the first start is taken from, in steps of 10 %.
_N_START_RATES = 100

# Least amplitude of a start: a Gaussian of amplitude zero would have no gradient in its rate.
_LEAST_AMPLITUDE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class GaussianSum:
    r"""A positive radial measure from the spectral density of a signed sum of Gaussians.

    The spectral density of :math:`\sum_i c_i e^{-\gamma_i z^2}` is a sum of normal densities with
    covariances :math:`2 \gamma_i I`, whose positive part is the measure.
    """

    amplitude: Array  # (n_gaussians,): c, scaled to the mass of the fitted function
    rate: Array  # (n_gaussians,): gamma
    radius: Array  # (n_radii,)
    mass: Array  # (n_radii,): of the measure
    dim: int

    def __call__(self, distance: Array) -> Array:
        """Return the kernel of the measure at distances of shape (n,)."""
        return np.asarray(sphere_mean(np.outer(distance, self.radius), self.dim) @ self.mass)

    def sample_radii(self, m: int, rng: np.random.Generator) -> Array:
        """Return ``m`` independent lengths of frequencies, of shape (m,)."""
        total = self.mass.sum()
        # Without mass, frequencies have weight zero and may have any length.
        return rng.choice(self.radius, size=m, p=self.mass / total if total > 0.0 else None)

    def rescaled(self, length: float) -> "GaussianSum":
        """Return the sum as a function of the distance times ``length``."""
        rate, radius = self.rate / length**2, self.radius / length
        return GaussianSum(self.amplitude, rate, radius, self.mass, self.dim)


def fit_gaussian_sum(
    function: Callable[[Array], Array],
    dim: int,
    n_gaussians: int,
    lowest: float,
    n_starts: int,
    rng: np.random.Generator,
) -> tuple[GaussianSum, float]:
    """Return the sum whose kernel is closest to a function on [0, 2], and their distance.

    The distance is the root mean square, among sums whose mass is the function's value at zero; if
    that is not positive, the sum is zero. The best result of Gauss-Newton steps from ``n_starts``
    starts is kept. Amplitudes are at least ``lowest``.
    """
    problem = _GaussianSumFit(function, dim)
    if problem.target[0] <= 0.0:
        error = float(np.linalg.norm(problem.root_weight * problem.target))
        nothing = np.zeros(n_gaussians), np.ones(n_gaussians)
        return GaussianSum(*nothing, problem.radius, np.zeros(_N_RADII), dim), error
    lower = np.repeat([lowest, np.log(_RATES[0])], n_gaussians)
    upper = np.repeat([np.inf, np.log(_RATES[1])], n_gaussians)
    solutions = [
        least_squares(
            problem.residuals,
            start,
            problem.jacobian,
            bounds=(lower, upper),
            x_scale="jac",
            max_nfev=_EVALUATIONS,
        )
        for start in problem.starts(n_gaussians, n_starts, lowest, rng)
    ]
    best = min(solutions, key=lambda solution: float(solution.cost))
    return problem.solution(best.x), float(np.sqrt(2.0 * best.cost))


class _GaussianSumFit:
    """Least squares in ``theta``, the amplitudes and then the logarithms of the rates."""

    def __init__(self, function: Callable[[Array], Array], dim: int) -> None:
        self.dim = dim
        self.distance = np.linspace(0.0, 2.0, _N_DISTANCES)
        self.target = function(self.distance)
        weight = np.full(_N_DISTANCES, 1.0 / (_N_DISTANCES - 1))
        weight[[0, -1]] *= 0.5
        self.root_weight = np.sqrt(weight)
        # Nearly all of the mass of every Gaussian that the bounds on the rates allow.
        least, most = np.sqrt(2.0 * np.array(_RATES)) * (0.01, np.sqrt(dim) + 5.0)
        self.radius: Array = np.geomspace(least, most, _N_RADII)
        # The kernel of a unit mass at each radius, of shape (n_radii, n_distances).
        self.transform = sphere_mean(np.outer(self.radius, self.distance), dim)

    def residuals(self, theta: Array) -> Array:
        amplitude = theta[: len(theta) // 2]
        values = np.maximum(amplitude @ self._spectra(theta), 0.0) @ self.transform
        fitted = self.target[0] * values / _positive(values[0])
        return np.asarray(self.root_weight * (fitted - self.target))

    def jacobian(self, theta: Array) -> Array:
        amplitude, log_rate = np.split(theta, 2)
        spectra = self._spectra(theta)
        spectra *= amplitude @ spectra > 0.0
        slope = 0.25 * self.radius**2 * np.exp(-log_rate)[:, None] - 0.5 * self.dim
        gradient = np.concatenate([spectra, amplitude[:, None] * spectra * slope]) @ self.transform
        values = amplitude @ spectra @ self.transform
        mass = _positive(values[0])
        normalised = gradient / mass - np.outer(gradient[:, 0] / mass, values / mass)
        return np.asarray((self.root_weight * self.target[0] * normalised).T)

    def starts(
        self, n_gaussians: int, n_starts: int, lowest: float, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Yield the best positive sum on a grid of rates, and then random sums."""
        rates = np.geomspace(*_RATES, _N_START_RATES)
        gaussians = np.exp(-np.outer(self.distance**2, rates)) * self.root_weight[:, None]
        weights, _ = nnls(gaussians, self.target * self.root_weight)
        largest = np.argsort(-weights, kind="stable")[:n_gaussians]
        amplitude = np.full(n_gaussians, _LEAST_AMPLITUDE)
        amplitude[: len(largest)] = np.maximum(weights[largest], _LEAST_AMPLITUDE)
        log_rate = np.zeros(n_gaussians)
        log_rate[: len(largest)] = np.clip(np.log(rates[largest]), *np.log(_RATES))
        yield np.concatenate([amplitude, log_rate])
        for _ in range(n_starts - 1):
            amplitude = rng.uniform(max(lowest, -1.0), 1.0, size=n_gaussians)
            yield np.concatenate([amplitude, rng.uniform(-3.0, 3.0, size=n_gaussians)])

    def solution(self, theta: Array) -> GaussianSum:
        amplitude, log_rate = np.split(theta, 2)
        mass = np.maximum(amplitude @ self._spectra(theta), 0.0)
        scale = self.target[0] / _positive(mass.sum())
        return GaussianSum(scale * amplitude, np.exp(log_rate), self.radius, scale * mass, self.dim)

    def _spectra(self, theta: Array) -> Array:
        """Return the mass of each Gaussian at each radius, (n_gaussians, n_radii)."""
        log_variance = theta[len(theta) // 2 :, None] + np.log(2.0)
        half = 0.5 * self.dim
        # The radius has a scaled chi distribution, and the radii are a geometric sequence.
        exponent = self.dim * (np.log(self.radius) - 0.5 * log_variance)
        exponent -= 0.5 * self.radius**2 * np.exp(-log_variance)
        exponent += (1.0 - half) * np.log(2.0) - gammaln(half)
        return np.asarray(np.exp(exponent) * np.log(self.radius[1] / self.radius[0]))


def _positive(mass: float) -> float:
    """Return a divisor: a density that is positive nowhere has no mass."""
    return max(float(mass), float(np.finfo(np.float64).tiny))

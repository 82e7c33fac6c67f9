r"""A Dirichlet-process mixture of Gaussians over frequencies: conjugate priors, Gibbs sampler.

.. math:: \pi \sim \mathrm{GEM}(\alpha), \quad (\mu_k, \Sigma_k) \sim \mathrm{NIW}, \quad
          z_j \sim \pi, \quad \omega_j \sim N(\mu_{z_j}, \Sigma_{z_j}), \quad j = 1, \dots, m.

The weights are integrated out, so that labels follow a Chinese restaurant process. Only the
parameters of components with frequencies are stored (Neal's algorithm 2). A component's mean and
covariance have the normal inverse Wishart prior,

.. math:: \Sigma \sim IW(\Psi, \nu), \qquad \mu \mid \Sigma \sim N(m, \Sigma / \kappa),

with the inverse Wishart density proportional to
:math:`|\Sigma|^{-(\nu + d + 1)/2} \exp(-\mathrm{tr}(\Psi \Sigma^{-1}) / 2)`, whose mean is
:math:`\Psi / (\nu - d - 1)` where :math:`\nu > d + 1`.

Sources: Oliva et al. (2016; see :class:`bochner.LearnedKernelRegressor`), sections 2.2, 3.1 and
3.2. Neal, "Markov chain sampling methods for Dirichlet process mixture models", 2000. Gelman,
Carlin, Stern and Rubin, "Bayesian data analysis", 2004, section 3.6. Escobar and West, "Bayesian
density estimation and inference using mixtures", 1995. Smith and Hocking, "Wishart variate
generator", 1972.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from math import exp, inf

import numpy as np
from numpy.linalg import LinAlgError
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import blas
from scipy.special import gammaln

from bochner._base.arrays import Array, jittered_cholesky
from bochner._base.limits import FUNCTION_ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class NormalInverseWishart:
    r"""Prior or posterior of a Gaussian component's mean and covariance in ``d`` dimensions.

    ``mean`` (d,) is in radians per unit of the inputs. ``strength`` :math:`\kappa`, positive, is
    the weight of the prior mean in frequencies. ``scale`` :math:`\Psi` (d, d), in squared radians
    per squared unit, is symmetric and positive definite. ``dof`` :math:`\nu` is above ``d - 1``.
    """

    mean: Array
    strength: float
    scale: Array
    dof: float
    _factor: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_factor", covariance_factor("scale", self.scale))

    @property
    def dim(self) -> int:
        """Number of coordinates, ``d``."""
        return len(self.mean)

    def log_marginal(self, omega: Array) -> Array:
        r"""Return the log density (m,) of frequencies (m, d), each alone in a new component.

        The component is integrated out: a multivariate t of :math:`\nu - d + 1` degrees of
        freedom, location ``mean`` and scale :math:`\Psi (\kappa + 1) / (\kappa (\nu - d + 1))`.
        """
        dim, last = self.dim, self.dof + 1.0
        spread = (self.strength + 1.0) / self.strength
        whitened = _solve(self._factor, (omega - self.mean).T)
        square = np.sum(whitened**2, axis=0) / spread
        log_density: Array = (
            gammaln(0.5 * last)
            - gammaln(0.5 * (last - dim))
            - 0.5 * dim * np.log(np.pi * spread)
            - np.sum(np.log(np.diagonal(self._factor)))
            - 0.5 * last * np.log1p(square)
        )
        return log_density

    def posterior(self, omega: Array) -> "NormalInverseWishart":
        r"""Return the posterior given a component's frequencies (n, d), of mean :math:`\bar\omega`.

        The strength and the degrees of freedom grow by ``n``, the mean is
        :math:`(\kappa m + n \bar\omega) / (\kappa + n)`, and the scale

        .. math:: \Psi + \sum_j (\omega_j - \bar\omega)(\omega_j - \bar\omega)^\top
                  + \frac{\kappa n}{\kappa + n} (\bar\omega - m)(\bar\omega - m)^\top.
        """
        n = len(omega)
        if n == 0:
            return self
        strength = self.strength + n
        centre = omega.mean(axis=0)
        centred, shift = omega - centre, centre - self.mean
        # Moments about the mean of the frequencies lose fewer digits than moments about zero.
        scatter: Array = centred.T @ centred
        # The distance of the mean from the prior mean adds to the scatter.
        between: Array = self.strength * n / strength * np.outer(shift, shift)
        return NormalInverseWishart(
            mean=(self.strength * self.mean + n * centre) / strength,
            strength=strength,
            scale=self.scale + scatter + between,
            dof=self.dof + n,
        )

    def sample(self, rng: Generator) -> tuple[Array, Array]:
        r"""Return one draw of the mean (d,) and the covariance (d, d).

        With :math:`\Psi = C C^\top` the covariance is :math:`(C R^{-1})(C R^{-1})^\top` for a
        random lower triangular :math:`R` with :math:`R^\top R \sim W(I, \nu)`: Bartlett's
        decomposition with the coordinates in reverse order.
        """
        dim = self.dim
        root: Array = np.tril(rng.standard_normal((dim, dim)), -1)
        # Degrees of freedom ascend, because coordinates are in reverse order.
        root[np.diag_indices(dim)] = np.sqrt(rng.chisquare(self.dof - dim + 1 + np.arange(dim)))
        factor: Array = _solve(root, self._factor.T, transposed=True).T
        covariance: Array = factor @ factor.T
        step = factor @ rng.standard_normal(dim) / np.sqrt(self.strength)
        return self.mean + step, covariance


@dataclass(frozen=True, slots=True, eq=False)
class GaussianComponent:
    """A Gaussian component: mean (d,) and the lower Cholesky factor (d, d) of its covariance."""

    mean: Array
    factor: Array

    def whiten(self, omega: Array) -> Array:
        """Return rows (m, d) in coordinates in which this component is standard normal."""
        return _solve(self.factor, (omega - self.mean).T).T

    def colour(self, xi: Array) -> Array:
        """Return the rows (m, d) whose coordinates are ``xi`` (m, d); inverts :meth:`whiten`."""
        return self.mean + xi @ self.factor.T

    def colour_gradient(self, gradient: Array) -> Array:
        """Return gradients (m, d) by coordinates of :meth:`whiten`, given those by frequencies."""
        return gradient @ self.factor

    def log_density(self, omega: Array) -> Array:
        """Return this component's log density (m,) at rows (m, d)."""
        log_root = np.sum(np.log(np.diagonal(self.factor)))
        constant = log_root + 0.5 * len(self.mean) * np.log(2.0 * np.pi)
        whitened = self.whiten(omega)
        log_density: Array = -0.5 * np.einsum("ji,ji->j", whitened, whitened) - constant
        return log_density


@dataclass(frozen=True, slots=True)
class GammaPrior:
    """Gamma prior, of mean ``shape / rate``, of a Dirichlet process's concentration."""

    shape: float
    rate: float

    def sample(self, rng: Generator) -> float:
        """Return one draw of the concentration, at least the smallest positive float."""
        return max(float(rng.gamma(self.shape, 1.0 / self.rate)), float(np.finfo(float).tiny))

    def sample_given(self, rng: Generator, last: float, n_components: int, m: int) -> float:
        """Return a posterior draw, given the last one, and ``n_components`` of ``m`` frequencies.

        Given an auxiliary Beta variable, the draw is from a mixture of two Gammas: Escobar and
        West, section 6.
        """
        rate = self.rate - float(np.log(rng.beta(last + 1.0, m)))
        shape = self.shape + n_components - 1.0
        odds = shape / (m * rate)
        return GammaPrior(shape + (rng.random() * (1.0 + odds) < odds), rate).sample(rng)


def covariance_factor(name: str, covariance: Array) -> Array:
    """Return the lower Cholesky factor of a covariance (d, d), as a read-only array.

    Raises ValueError if the covariance is not symmetric, or not positive definite up to a jitter
    of 1e-6.
    """
    # Asymmetry up to rounding is accepted.
    gap = float(np.max(np.abs(covariance - covariance.T)))
    if gap > FUNCTION_ROUNDING * float(np.max(np.abs(covariance))):
        raise ValueError(f"{name} must be symmetric, got entries that differ by {gap:.3g}.")
    try:
        factor = jittered_cholesky(covariance)
    except LinAlgError as error:
        raise ValueError(
            f"{name} must be positive definite; its least eigenvalue is "
            f"{np.linalg.eigvalsh(covariance)[0]:.3g}."
        ) from error
    factor.flags.writeable = False
    return factor


def _solve(lower: Array, columns: Array, transposed: bool = False) -> Array:
    # LAPACK's trtrs starts all threads even for the smallest system; BLAS decides by size.
    return blas.dtrsm(1.0, lower, columns, lower=1, trans_a=int(transposed))


Labels = NDArray[np.intp]
Rows = NDArray[np.intp] | slice | None
Method = Callable[[GaussianComponent, Array], Array]


@dataclass(frozen=True, slots=True, eq=False)
class MixturePrior:
    r"""Prior of a mixture: ``base`` for its components, ``concentration`` for :math:`\alpha`.

    ``m`` frequencies have about :math:`\alpha \log(1 + m / \alpha)` components.
    """

    base: NormalInverseWishart
    concentration: GammaPrior


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    r"""A mixture of ``K`` Gaussians, with ``labels`` (m,) of the components of ``m`` frequencies.

    Labels are in ``0 .. K - 1`` and no component is empty; means (K, d) are in radians per unit of
    the inputs. Methods take one row per frequency, or one per frequency selected by ``rows``
    (indices or a slice). Raises ValueError if a matrix is not a covariance.
    """

    labels: Labels
    means: Array
    covariances: Array
    concentration: float
    _components: tuple[GaussianComponent, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        components = tuple(
            GaussianComponent(mean, covariance_factor(f"covariances[{k}]", self.covariances[k]))
            for k, mean in enumerate(self.means)
        )
        object.__setattr__(self, "_components", components)

    @property
    def n_components(self) -> int:
        """Number of components, all of which have frequencies."""
        return len(self.means)

    @property
    def weights(self) -> Array:
        """Share of the frequencies in each component, of shape (K,)."""
        return np.asarray(np.bincount(self.labels) / len(self.labels))

    def whiten(self, omega: Array, rows: Rows = None) -> Array:
        r"""Return frequencies (m, d) whitened by their components, :math:`L^{-1}(\omega - \mu)`."""
        return self._by_component(GaussianComponent.whiten, omega, rows)

    def colour(self, xi: Array, rows: Rows = None) -> Array:
        r"""Return the frequencies :math:`\mu + L \xi`, (m, d), the inverse of :meth:`whiten`."""
        return self._by_component(GaussianComponent.colour, xi, rows)

    def colour_gradient(self, gradient: Array, rows: Rows = None) -> Array:
        r"""Return the gradient :math:`L^\top g` (m, d) with respect to whitened frequencies."""
        return self._by_component(GaussianComponent.colour_gradient, gradient, rows)

    def log_table(self, omega: Array) -> Array:
        """Return the log density of each frequency (m, d) in each component, (m, K)."""
        return np.stack([component.log_density(omega) for component in self._components], axis=1)

    def _by_component(self, method: Method, values: Array, rows: Rows) -> Array:
        result = np.empty_like(values)
        labels = self.labels if rows is None else self.labels[rows]
        for k, component in enumerate(self._components):
            chosen = np.flatnonzero(labels == k)
            if len(chosen):
                result[chosen] = method(component, values[chosen])
        return result


def sample_prior(rng: Generator, prior: MixturePrior, n_frequencies: int) -> tuple[Mixture, Array]:
    """Return a mixture drawn from its prior, and frequencies (m, d) drawn from the mixture."""
    concentration = prior.concentration.sample(rng)
    counts, seats = [concentration], []
    for uniform in rng.random(n_frequencies).tolist():
        seats.append(_join(counts, _pick(counts, [0.0] * len(counts), uniform)))
    means, covariances = zip(*(prior.base.sample(rng) for _ in counts[1:]), strict=True)
    mixture = Mixture(np.array(seats) - 1, np.array(means), np.array(covariances), concentration)
    return mixture, mixture.colour(rng.standard_normal((n_frequencies, prior.base.dim)))


def init(rng: Generator, omega: Array, prior: MixturePrior) -> Mixture:
    """Return an initial mixture for frequencies (m, d), which join components one by one.

    The probability of a component is its count times the density of the frequency given the
    frequencies that have joined it. The concentration starts at its prior mean.
    """
    concentration = prior.concentration.shape / prior.concentration.rate
    laws, counts, seats = [prior.base], [concentration], []
    for row, uniform in zip(omega[:, None], rng.random(len(omega)).tolist(), strict=True):
        logs = [float(law.log_marginal(row)[0]) for law in laws]
        seat = _join(counts, _pick(counts, logs, uniform))
        if seat == len(laws):
            laws.append(prior.base)
        laws[seat] = laws[seat].posterior(row)
        seats.append(seat)
    return _with_parameters(rng, np.array(seats) - 1, omega, prior.base, concentration)


def step(rng: Generator, mixture: Mixture, omega: Array, prior: MixturePrior) -> Mixture:
    """Return the mixture after one Gibbs sweep at fixed frequencies (m, d).

    The labels are redrawn in turn, then the concentration and the parameters of every component.
    """
    labels = sample_labels(rng, mixture, omega, prior.base)
    used, last = int(labels.max()) + 1, mixture.concentration
    concentration = prior.concentration.sample_given(rng, last, used, len(labels))
    return _with_parameters(rng, labels, omega, prior.base, concentration)


def sample_labels(
    rng: Generator, mixture: Mixture, omega: Array, base: NormalInverseWishart
) -> Labels:
    """Return labels (m,) redrawn in turn, renumbered so that no component is empty.

    Oliva et al. (2016), equation (8). A frequency that starts a component draws its parameters
    from their posterior; later frequencies may join that component.
    """
    # Seat 0 is a new component, whose count is the concentration.
    table = np.column_stack((base.log_marginal(omega), mixture.log_table(omega))).tolist()
    counts = [mixture.concentration, *np.bincount(mixture.labels).tolist()]
    # Lists, because small NumPy arrays are slower in a Python loop.
    seats = (mixture.labels + 1).tolist()
    for j, uniform in enumerate(rng.random(len(seats)).tolist()):
        # Without the frequency itself, as the Chinese restaurant process requires.
        choice = _pick(_without(counts, seats[j]), table[j], uniform)
        if choice == 0:
            mean, covariance = base.posterior(omega[j : j + 1]).sample(rng)
            component = GaussianComponent(mean, covariance_factor("covariance", covariance))
            # Only later frequencies may join the new component in this sweep.
            column = component.log_density(omega[j + 1 :])
            for row, value in zip(table[j + 1 :], column.tolist(), strict=True):
                row.append(value)
        counts[seats[j]] -= 1
        seats[j] = _join(counts, choice)
    return np.asarray(np.unique(seats, return_inverse=True)[1])


def _with_parameters(
    rng: Generator, labels: Labels, omega: Array, base: NormalInverseWishart, concentration: float
) -> Mixture:
    """Draw the parameters of every component given its frequencies."""
    laws = (base.posterior(omega[labels == k]) for k in range(int(labels.max()) + 1))
    means, covariances = zip(*(law.sample(rng) for law in laws), strict=True)
    return Mixture(labels, np.array(means), np.array(covariances), concentration)


def _without(counts: list[float], seat: int) -> list[float]:
    """Return the counts after removing one frequency from component ``seat``."""
    return [count - (k == seat) for k, count in enumerate(counts)]


def _pick(counts: list[float], logs: list[float], uniform: float) -> int:
    """Return an index with probability in proportion to its count times exp(log)."""
    cumulative = _cumulative(counts, logs)
    # The greatest log contributes its count, which is at least 1 unless its component is empty. In
    # that case all other terms may underflow, and logs are taken relative to the greatest of them.
    if cumulative[-1] < 1e-200:
        logs = [log if count else -inf for count, log in zip(counts, logs, strict=True)]
        cumulative = _cumulative(counts, logs)
    return bisect_right(cumulative, uniform * cumulative[-1])


def _cumulative(counts: list[float], logs: list[float]) -> list[float]:
    top = max(logs)
    return list(accumulate([c * exp(log - top) for c, log in zip(counts, logs, strict=True)]))


def _join(counts: list[float], seat: int) -> int:
    """Count a frequency in component ``seat``, in a new one if ``seat`` is 0; return its index."""
    if seat == 0:
        counts.append(0)
        seat = len(counts) - 1
    counts[seat] += 1
    return seat

r"""The conjugate laws of a mixture's components and of its concentration.

A component's mean and covariance have the normal inverse Wishart law,

.. math:: \Sigma \sim IW(\Psi, \nu), \qquad \mu \mid \Sigma \sim N(m, \Sigma / \kappa),

with the inverse Wishart density proportional to
:math:`|\Sigma|^{-(\nu + d + 1)/2} \exp(-\mathrm{tr}(\Psi \Sigma^{-1}) / 2)`, whose mean is
:math:`\Psi / (\nu - d - 1)` where :math:`\nu > d + 1`.

Sources: Gelman, Carlin, Stern and Rubin, "Bayesian data analysis", 2004, section 3.6. Oliva et al.
(2016; see :class:`bochner.LearnedKernelRegressor`), sections 2.2 and 3.2. Escobar and West,
"Bayesian density estimation and inference using mixtures", 1995. Smith and Hocking, "Wishart
variate generator", 1972.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.linalg import LinAlgError
from numpy.random import Generator
from scipy.linalg import blas
from scipy.special import gammaln

from bochner._base.arrays import Array, jittered_cholesky
from bochner._base.limits import FUNCTION_ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class NormalInverseWishart:
    r"""The law of a Gaussian component's mean and covariance, over ``d`` coordinates.

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
        r"""Return the log density (m,) of frequencies (m, d), each in a separate component.

        With the component integrated out, it is the multivariate t of :math:`\nu - d + 1` degrees
        of freedom, location ``mean`` and scale :math:`\Psi (\kappa + 1) / (\kappa (\nu - d + 1))`.
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
        r"""Return the law given the component's frequencies (n, d), of mean :math:`\bar\omega`.

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
        # About the mean of the frequencies, which cancels fewer digits than moments about zero.
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
    """One component: its mean (d,) and the lower Cholesky factor (d, d) of its covariance."""

    mean: Array
    factor: Array

    def whiten(self, omega: Array) -> Array:
        """Return the standard normal coordinates of rows (m, d)."""
        return _solve(self.factor, (omega - self.mean).T).T

    def colour(self, xi: Array) -> Array:
        """Return the rows (m, d) with standard normal coordinates ``xi``, the inverse of whiten."""
        return self.mean + xi @ self.factor.T

    def colour_gradient(self, gradient: Array) -> Array:
        """Return gradients (m, d) by standard normal coordinates from gradients by frequencies."""
        return gradient @ self.factor

    def log_density(self, omega: Array) -> Array:
        """Return the log density of rows (m, d), of shape (m,)."""
        log_root = np.sum(np.log(np.diagonal(self.factor)))
        constant = log_root + 0.5 * len(self.mean) * np.log(2.0 * np.pi)
        whitened = self.whiten(omega)
        log_density: Array = -0.5 * np.einsum("ji,ji->j", whitened, whitened) - constant
        return log_density


@dataclass(frozen=True, slots=True)
class GammaPrior:
    """A Gamma law for the concentration, of mean ``shape / rate``; both are positive."""

    shape: float
    rate: float

    def sample(self, rng: Generator) -> float:
        """Return one draw, at least the smallest positive number."""
        return max(float(rng.gamma(self.shape, 1.0 / self.rate)), float(np.finfo(float).tiny))

    def sample_given(self, rng: Generator, last: float, n_components: int, m: int) -> float:
        """Return a concentration given the last one and the number of components of ``m`` rows.

        Given an auxiliary Beta variable it has a mixture of two Gamma laws: Escobar and West,
        section 6.
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

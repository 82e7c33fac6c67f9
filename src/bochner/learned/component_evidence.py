r"""The evidence of components given the moments of their frequencies.

A component's mean and covariance have the normal inverse Wishart law of
:class:`~bochner.learned.wishart.NormalInverseWishart`, here with mean zero and an
isotropic scale, :math:`E \Sigma = s I`. If its ``N`` frequencies are :math:`N(a, V)` then

.. math:: \log \int p(\mu, \Sigma)
          \exp\bigl(N \, E \log N(\omega \mid \mu, \Sigma)\bigr) d\mu \, d\Sigma

is the log ratio of the normalisers of posterior and prior, in closed form for any real ``N``.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln

from bochner._base.arrays import Array

# Degrees of freedom beyond d + 1: a covariance varies by about sqrt(2 / 100) = 14 % around a
# multiple of the identity. Smaller values let it vary more between directions, and a sketch of
# few rows has no information about most directions.
STIFFNESS = 100.0
# Strength of the prior mean (zero), in frequencies: the standard deviation of component means is
# 1 / sqrt(0.01), ten times the component's standard deviation.
_STRENGTH = 0.01
# Standard deviation of the log prior variance: one standard deviation is a factor exp(2) = 7.4.
_SPREAD = 2.0


@dataclass(frozen=True, slots=True)
class ComponentPrior:
    """The prior of the components of a mixture in ``dim`` coordinates, except for their scales.

    The degrees of freedom couple directions: the widths in the directions of the sketch determine
    the widths in other directions. Coordinates in a subspace have the same prior with the same
    ``stiffness``.
    """

    dim: int
    stiffness: float = STIFFNESS  # Degrees of freedom beyond dim + 1
    strength: float = _STRENGTH  # Strength of the prior mean, in frequencies

    @property
    def dof(self) -> float:
        """Degrees of freedom of the inverse Wishart law."""
        return self.dim + 1.0 + self.stiffness


@dataclass(frozen=True, slots=True, eq=False)
class ComponentEvidence:
    """Log evidence (T,) of components, and gradients in the shapes of the arguments."""

    value: Array
    counts: Array
    means: Array
    covariances: Array
    log_scales: Array


def component_evidence(
    prior: ComponentPrior, counts: Array, means: Array, covariances: Array, scales: Array
) -> ComponentEvidence:
    """Return the log evidence of ``T`` components, and its gradient.

    Arguments are the expected numbers ``counts`` (T,) of frequencies, zero or more, their ``means``
    (T, d) and ``covariances`` (T, d, d), and the prior variances ``scales`` (T,).
    """
    dim, before = prior.dim, prior.dof
    after, strength = before + counts, prior.strength + counts
    shrinkage = prior.strength / strength
    outer = means[:, :, None] * means[:, None, :]
    level = prior.stiffness * scales
    scatter = covariances + shrinkage[:, None, None] * outer
    matrix = level[:, None, None] * np.eye(dim) + counts[:, None, None] * scatter
    inverse = np.linalg.inv(matrix)
    inverse = 0.5 * (inverse + inverse.swapaxes(1, 2))
    log_determinant = np.linalg.slogdet(matrix)[1]
    steps = np.arange(dim)
    value = (
        np.sum(gammaln(0.5 * (after[:, None] - steps)) - gammaln(0.5 * (before - steps)), axis=1)
        + 0.5 * before * dim * np.log(level)
        - 0.5 * after * log_determinant
        + 0.5 * dim * (np.log(shrinkage) - counts * np.log(np.pi))
    )
    by_matrix = -0.5 * after[:, None, None] * inverse
    by_counts = 0.5 * (
        np.sum(digamma(0.5 * (after[:, None] - steps)), axis=1)
        - log_determinant
        - dim * (np.log(np.pi) + 1.0 / strength)
    ) + np.sum(by_matrix * (covariances + shrinkage[:, None, None] ** 2 * outer), axis=(1, 2))
    by_means = 2.0 * (counts * shrinkage)[:, None] * np.einsum("kij,kj->ki", by_matrix, means)
    by_scales = 0.5 * before * dim + level * np.trace(by_matrix, axis1=1, axis2=2)
    return ComponentEvidence(
        value, by_counts, by_means, counts[:, None, None] * by_matrix, by_scales
    )


def log_scale_prior(log_scales: Array) -> tuple[float, Array]:
    """Return the normal log density of log prior variances, up to a constant, and its gradient.

    Variances are in inverse squared typical distances, and the density's mean is zero.
    """
    return -0.5 * float(np.sum(np.square(log_scales / _SPREAD))), -log_scales / _SPREAD**2

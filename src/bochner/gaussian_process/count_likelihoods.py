"""Likelihoods of counts; the latent value is the logarithm of the mean."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import betainc, betaln, expit, gammaincc, gammaln, logsumexp

from bochner._base.arrays import Array, as_array
from bochner._base.limits import LARGEST_TARGET
from bochner._base.registry import register
from bochner.gaussian_process.likelihood import (
    NODE_WEIGHTS,
    NumberLikelihood,
    known,
    nodes,
    optional_scale,
)

_N_HERMITE = 20
"""Number of nodes of the Gauss-Hermite rule around the mode of the latent value given a count."""
_ABSCISSAE, _WEIGHTS = np.polynomial.hermite.hermgauss(_N_HERMITE)

_NEWTON_STEPS = 60  # Largest number of Newton steps to the mode of the latent value
_LONGEST_STEP = 2.0  # Longest step to the mode, a factor e^2 of the mean: longer steps may overflow
_LARGEST_LOG = np.log(LARGEST_TARGET)  # Logarithm of the largest mean of a count
_LARGEST_RATE = 1e18  # Largest mean of a drawn count, which is a 64-bit integer
_DISPERSION_GUESS = 0.1
"""Smallest initial dispersion: at zero the derivative of the evidence by its logarithm is zero."""


class CountLikelihood(NumberLikelihood):
    r"""Base of likelihoods of counts with mean :math:`e^f`; ``f`` includes the log exposure."""

    __slots__ = ()

    takes_exposure = True
    is_discrete = True

    def checked(self, y: Array) -> Array:
        counts = as_array(y)
        wrong = counts[(counts < 0.0) | (counts != np.floor(counts))]
        if wrong.size:
            raise ValueError(
                f"y must hold counts, whole numbers from zero, got {wrong[0]:g}. For rates, pass "
                f"the counts and exposure=, the time, area or population of each row."
            )
        return counts

    def origin(self, y: Array, exposure: Array, weight: Array) -> float:
        # Half a count is added, which keeps the logarithm finite if all counts are zero.
        return float(np.log((weight @ y + 0.5) / (weight @ exposure)))

    @property
    @abstractmethod
    def overdispersion(self) -> float:
        r"""The number ``a`` in the variance :math:`\mu + a \mu^2` of a count with mean ``mu``."""

    @abstractmethod
    def at_most(self, y: Array, f: Array) -> Array:
        """Return the probabilities that counts are at most ``y``, given latent values."""

    def moments(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        first = np.exp(np.minimum(mean + 0.5 * variance, _LARGEST_LOG))
        # Mean of the squared mean
        square = np.exp(np.minimum(2.0 * (mean + variance), 2.0 * _LARGEST_LOG))
        spread = np.maximum(square - first**2, 0.0)  # Variance of the mean
        return first, first + self.overdispersion * square + spread

    def distribution(self, y: Array, mean: Array, variance: Array) -> Array:
        counts = np.maximum(np.floor(y), 0.0)[:, None]
        probability = self.at_most(counts, nodes(mean, variance)) @ NODE_WEIGHTS
        return np.where(y < 0.0, 0.0, probability)

    def log_predictive(self, y: Array, mean: Array, variance: Array) -> Array:
        """Return log probabilities (n,) of counts, by a Gauss-Hermite rule around latent modes."""
        variance = np.maximum(variance, np.finfo(np.float64).tiny)
        mode = mean.copy()
        for _ in range(_NEWTON_STEPS):
            curved = 1.0 + variance * self.curvature(y, mode)
            step = (variance * self.slope(y, mode) - (mode - mean)) / curved
            mode += np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
            if np.abs(step).max(initial=0.0) < np.sqrt(np.finfo(np.float64).eps):
                break
        spread = np.sqrt(2.0 * variance / (1.0 + variance * self.curvature(y, mode)))
        f = mode[:, None] + spread[:, None] * _ABSCISSAE
        log_normal = -0.5 * ((f - mean[:, None]) ** 2 / variance[:, None])
        terms = self.log_density(y[:, None], f) + log_normal + _ABSCISSAE**2
        scale = np.log(spread) - 0.5 * np.log(2.0 * np.pi * variance)
        return as_array(logsumexp(terms, axis=1, b=_WEIGHTS) + scale)


@register
@dataclass(frozen=True, slots=True)
class PoissonLikelihood(CountLikelihood):
    r"""Poisson counts, :math:`y \mid f \sim \mathrm{Poisson}(e^f)`, with equal mean and variance.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.gaussian_process import PoissonLikelihood
    >>> np.exp(PoissonLikelihood().log_density(np.array([0.0, 1.0]), np.log(2.0))).round(3)
    array([0.135, 0.271])
    """

    @property
    def overdispersion(self) -> float:
        return 0.0

    def log_density(self, y: Array, f: Array) -> Array:
        return as_array(y * f - _mean(f) - gammaln(y + 1.0))

    def slope(self, y: Array, f: Array) -> Array:
        return as_array(y - _mean(f))

    def curvature(self, y: Array, f: Array) -> Array:
        return np.broadcast_to(_mean(f), np.broadcast(y, f).shape)

    def sample(self, rng: np.random.Generator, f: Array) -> Array:
        return as_array(rng.poisson(_rate(f)))

    def at_most(self, y: Array, f: Array) -> Array:
        return as_array(gammaincc(y + 1.0, _mean(f)))


@register
@dataclass(frozen=True, slots=True)
class NegativeBinomialLikelihood(CountLikelihood):
    r"""Negative binomial counts with mean :math:`\mu = e^f` and variance :math:`\mu + a \mu^2`.

    A Poisson count whose rate has a gamma distribution with mean ``mu`` and shape ``1 / a``. As
    ``a`` tends to zero, the distribution tends to the Poisson distribution.

    Parameters
    ----------
    dispersion : float, default=None
        The number ``a``; learned if ``None``.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.gaussian_process import NegativeBinomialLikelihood
    >>> law = NegativeBinomialLikelihood(dispersion=0.5)
    >>> mean, variance = law.moments(np.log(np.array([4.0])), np.zeros(1))
    >>> mean.round(6), variance.round(6)
    (array([4.]), array([12.]))
    """

    dispersion: float | None = None

    learnable = ("dispersion",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dispersion", optional_scale("dispersion", self.dispersion))

    @property
    def overdispersion(self) -> float:
        return known("dispersion", self.dispersion)

    def started(self, y: Array, exposure: Array, weight: Array) -> Self:
        if self.dispersion is not None:
            return self
        expected = exposure * np.exp(self.origin(y, exposure, weight))
        excess = weight @ ((y - expected) ** 2 - expected) / (weight @ expected**2)
        return replace(self, dispersion=float(max(excess, _DISPERSION_GUESS)))

    def _shape_and_logit(self, f: Array) -> tuple[float, Array]:
        """Return the shape ``r = 1 / a``, and the log odds ``f - log r`` of one more count."""
        return 1.0 / self.overdispersion, f + np.log(self.overdispersion)

    def log_density(self, y: Array, f: Array) -> Array:
        r, logit = self._shape_and_logit(f)
        choices = -np.log(y + r) - betaln(r, y + 1.0)
        return as_array(choices + y * logit - (y + r) * np.logaddexp(0.0, logit))

    def slope(self, y: Array, f: Array) -> Array:
        r, logit = self._shape_and_logit(f)
        return as_array(y - (y + r) * expit(logit))

    def curvature(self, y: Array, f: Array) -> Array:
        r, logit = self._shape_and_logit(f)
        return as_array((y + r) * expit(logit) * expit(-logit))

    def sample(self, rng: np.random.Generator, f: Array) -> Array:
        r, _ = self._shape_and_logit(f)
        rate = _rate(f) * rng.gamma(r, 1.0 / r, size=np.shape(f))
        return as_array(rng.poisson(np.minimum(rate, _LARGEST_RATE)))

    def at_most(self, y: Array, f: Array) -> Array:
        r, logit = self._shape_and_logit(f)
        return as_array(betainc(r, y + 1.0, expit(-logit)))


def _mean(f: Array) -> Array:
    """Return means of counts, limited to finite floats."""
    return as_array(np.exp(np.minimum(f, _LARGEST_LOG)))


def _rate(f: Array) -> Array:
    """Return means of counts for sampling, limited to 64-bit integers."""
    return as_array(np.exp(np.minimum(f, np.log(_LARGEST_RATE))))

"""Predictive distributions: mixtures of likelihoods over normal latent values."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from bochner._base.arrays import Array, as_array
from bochner.gaussian_process.likelihood import NumberLikelihood
from bochner.gaussian_process.likelihood_quantiles import quantiles, whole_quantiles

_MOST_LAWS = 64
"""Largest number of likelihoods for quantiles, whose cost is proportional to it. Successive draws
of a chain are correlated: quantiles from 32 of 80 draws are within 0.07 standard deviations of the
noise of those from all draws."""

_MOST_COUNTS = 32
"""Largest number of likelihoods for quantiles of counts, which take 101 terms per row, likelihood
and evaluation. The quantiles of 80 draws differ by at most one count."""


@dataclass(frozen=True, slots=True, eq=False)
class LikelihoodMixture:
    """Predictive distribution of new targets: a mixture of ``S`` likelihoods with equal weights.

    The latent value of row ``i`` in likelihood ``s`` is normal. Deviations of targets from the mean
    latent value are multiplied by ``factor``, which is one for counts.
    """

    laws: tuple[NumberLikelihood, ...]
    mean: Array  # (S, n): Of the latent values
    variance: Array  # (S, n)
    factor: float = 1.0

    def moments(self) -> tuple[Array, Array]:
        """Return mean and variance (n,) of new targets."""
        parts = [law.moments(*latent) for law, *latent in self._each()]
        means, variances = (np.array(part) for part in zip(*parts, strict=True))
        variance = variances.mean(axis=0) + means.var(axis=0)
        return means.mean(axis=0), as_array(self.factor**2 * variance)

    def distribution(self, y: Array) -> Array:
        """Return the probabilities (n,) that new targets are at most ``y`` (n,)."""
        y = self._unscaled(y)
        total = np.zeros(self.mean.shape[1])
        for law, mean, variance in self._each():
            total += law.distribution(y, mean, variance)
        return total / len(self.laws)

    def log_density(self, y: Array) -> Array:
        """Return log densities (n,) of targets ``y`` (n,), log probabilities of counts."""
        y = self._unscaled(y)
        terms = [law.log_predictive(y, *latent) for law, *latent in self._each()]
        return as_array(logsumexp(terms, axis=0) - np.log(len(self.laws) * self.factor))

    def quantiles(self, level: float) -> Array:
        """Return the quantiles (n,) of new targets: the least ``q`` with ``P(y <= q) >= level``.

        They are computed from at most 64 of the likelihoods, and from at most 32 for counts.
        """
        is_discrete = self.laws[0].is_discrete
        most = _MOST_COUNTS if is_discrete else _MOST_LAWS
        if len(self.laws) > most:
            return self._some(most).quantiles(level)
        centre = self.mean.mean(axis=0)
        if is_discrete:
            return whole_quantiles(self.distribution, level, centre)
        spread = np.sqrt(self.variance.mean(axis=0) + self.mean.var(axis=0))
        unit = float(np.mean([law.unit for law in self.laws]))
        return quantiles(self.distribution, level, centre, self.factor * (spread + unit))

    def _unscaled(self, y: Array) -> Array:
        """Return targets (n,) on the scale of the unscaled mixture; ``y`` if the factor is one."""
        return as_array(y + (1.0 / self.factor - 1.0) * (y - self.mean.mean(axis=0)))

    def _some(self, count: int) -> "LikelihoodMixture":
        """Return the mixture of some of the likelihoods, evenly spaced."""
        index = np.linspace(0, len(self.laws) - 1, count).astype(np.intp)
        laws = tuple(self.laws[i] for i in index)
        return replace(self, laws=laws, mean=self.mean[index], variance=self.variance[index])

    def _each(self) -> list[tuple[NumberLikelihood, Array, Array]]:
        return list(zip(self.laws, self.mean, self.variance, strict=True))

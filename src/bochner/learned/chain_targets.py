"""Targets of any likelihood in the units of chains."""

from dataclasses import dataclass, replace

import numpy as np

from bochner._base.arrays import Array, Index
from bochner.gaussian_process.likelihood import Likelihood, prior_centre
from bochner.gaussian_process.number_likelihoods import LocationLikelihood
from bochner.learned.chain_evidence import KnownNoise, Noise
from bochner.learned.chain_models import BANK
from bochner.learned.likelihood import ConditionallyGaussian
from bochner.learned.moves.augmentation import Augmentation
from bochner.learned.moves.augmentations import augmented

_QUARTILES = 1.349
"""Distance of the quartiles of a normal law, in standard deviations."""

_FARTHEST = 5.0
"""Clipping limit of the numbers from which chains start, in units from the centre: outliers must
not mislead the search for frequencies."""

_ONE: Noise = KnownNoise()
# Latent variables of counts and classes are precisions, so that the noise has variance one.

_PART = 0.5
"""Number that is added to a count before its logarithm, so that zero has a logarithm."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Targets in the unit of a chain, and their likelihood."""

    stand_in: Array  # (n,): Numbers near the function's values, of unit variance, for starts
    observed: Array  # (2, n): Targets in the unit of the chain, and offsets of the function
    centre: float  # Median of the targets
    unit: float  # Standard deviation of the targets, estimated from the quartiles
    likelihood: ConditionallyGaussian

    @property
    def takes_weights(self) -> bool:
        """Whether the likelihood supports weights of rows."""
        return not isinstance(self.likelihood, Augmentation) or self.likelihood.takes_weights

    def rows(self, index: Index) -> "Outcomes":
        """Return the outcomes of the rows ``index``."""
        stand_in, observed = self.stand_in[index], self.observed[:, index]
        return replace(self, stand_in=stand_in, observed=observed)


def outcomes_of(
    law: Likelihood, y: Array, exposure: Array | None, weight: Array | None
) -> Outcomes:
    """Return the outcomes of valid targets ``y`` (n,), with weights and exposures (n,) or ``None``.

    Raises ``ValueError`` for a law that chains cannot sample.
    """
    ones = np.ones(len(y))
    times, rows = ones if exposure is None else exposure, ones if weight is None else weight
    centre, unit, observed, noise = 0.0, 1.0, y, _ONE
    if isinstance(law, LocationLikelihood):
        centre, unit = _location(y)
        observed, law = (y - centre) / unit, law.in_units(centre, unit)
        noise = BANK.likelihood().noise if law.scale is None else KnownNoise(law.scale**2)
    # Rates on the scale of the function, whose exponential is the mean.
    values = np.log((y + _PART) / times) if law.takes_exposure else observed
    stand_in = _clipped(values)
    near = stand_in if isinstance(law, LocationLikelihood) else y
    guess = law.started(near, times, rows)
    likelihood = augmented(law, guess, prior_centre(guess, near, times, rows), noise)
    if isinstance(likelihood, Augmentation):
        likelihood.check(observed)
    both = np.stack([observed, np.log(times)])
    return Outcomes(stand_in, both, centre, unit, likelihood)


def _clipped(values: Array) -> Array:
    """Return values (n,) of unit variance, without outliers."""
    centre, unit = _location(values)
    return np.clip((values - centre) / unit, -_FARTHEST, _FARTHEST)


def _location(y: Array) -> tuple[float, float]:
    """Return a robust centre and unit: the median, and the deviation from the quartiles."""
    low, centre, high = np.quantile(y, (0.25, 0.5, 0.75))
    for unit in ((high - low) / _QUARTILES, y.std()):
        if unit > np.spacing(np.abs(y).max()):
            return float(centre), float(unit)
    return float(centre), 1.0

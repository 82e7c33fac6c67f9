"""Targets with outliers: Student-t noise as normal noise whose precision differs by row."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array
from bochner.gaussian_process.number_likelihoods import StudentTLikelihood
from bochner.learned.moves.augmentation import Augmentation, observed
from bochner.learned.training_data import TrainingData
from bochner.learned.wishart import GammaPrior


@dataclass(frozen=True, slots=True)
class StudentTNoise(Augmentation):
    r"""Student-t noise, :math:`y_i \mid \lambda_i \sim N(f_i, \sigma^2 / (w_i \lambda_i))`.

    The prior of :math:`\lambda_i` is :math:`\mathrm{Gamma}(\nu/2, \nu/2)`. Given the residual
    :math:`r_i` of ``n`` equal observations of precision :math:`w_i`, the sum of their ``n``
    variables is :math:`\mathrm{Gamma}(n (\nu + 1)/2, \nu/2 + w_i r_i^2 / 2 \sigma^2)`. Unknown
    degrees of freedom :math:`\nu` have a Gamma(2, 0.1) prior, and move with all :math:`\lambda`
    integrated out.

    References
    ----------
    Geweke, "Bayesian treatment of the independent Student-t linear model", 1993. Juárez and Steel,
    "Model-based clustering of non-Gaussian panel data based on skew-t distributions", 2010, for the
    prior.
    """

    prior: ClassVar[GammaPrior] = GammaPrior(2.0, 0.1)

    def variables(
        self, law: StudentTLikelihood, part: TrainingData, activation: Array, rng: Generator
    ) -> Array:
        y, _ = observed(part)
        df, z = law.degrees_of_freedom, (y - activation) / law.unit
        if part.precisions is not None:
            z = np.sqrt(part.precisions) * z
        counts = 1.0 if part.counts is None else part.counts
        shape = 0.5 * (df + 1.0) * np.broadcast_to(counts, z.shape)
        drawn = rng.standard_gamma(shape) / (0.5 * (df + z**2))
        return np.maximum(drawn, np.finfo(np.float64).tiny)

    def pseudo(
        self, law: StudentTLikelihood, part: TrainingData, values: Array
    ) -> tuple[Array, Array]:
        if part.precisions is not None:
            values = part.precisions * values
        return values, values * observed(part)[0]

"""Negative binomial counts, made Gaussian by Polya-Gamma variables."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array
from bochner.gaussian_process.count_likelihoods import NegativeBinomialLikelihood
from bochner.learned.moves.augmentation import Augmentation, observed
from bochner.learned.moves.polya_gamma import count_of, polya_gamma
from bochner.learned.training_data import TrainingData
from bochner.learned.wishart import GammaPrior


@dataclass(frozen=True, slots=True)
class NegativeBinomialCounts(Augmentation):
    r"""Counts of mean :math:`e^{f + o}` and dispersion ``a``, with offsets ``o`` of rows.

    With :math:`r = 1/a` and log odds :math:`\psi = f + o + \log a` the likelihood is in proportion
    to :math:`e^{y \psi} / (1 + e^\psi)^{y + r}`. Given :math:`w_i \sim PG(y_i + r, \psi_i)` it is
    Gaussian in :math:`\psi` with precisions ``w`` and pseudo-targets
    :math:`(y_i - r) / 2 w_i`. The dispersion, if not given, has an exponential prior of mean one,
    and moves with all ``w`` integrated out.

    References
    ----------
    Polson, Scott and Windle, "Bayesian inference for logistic models using Polya-Gamma latent
    variables", 2013. Pillow and Scott, "Fully Bayesian inference for neural models with
    negative-binomial spiking", 2012.
    """

    prior: ClassVar[GammaPrior] = GammaPrior(1.0, 1.0)

    def check(self, y: Array) -> None:
        if not y.any():
            raise ValueError(
                "All counts are zero, so that arbitrarily small means are equally likely: use "
                "KernelGLMRegressor, whose constant has a normal prior."
            )

    def variables(
        self, law: NegativeBinomialLikelihood, part: TrainingData, activation: Array, rng: Generator
    ) -> Array:
        y, offset = observed(part)
        log_odds = activation + offset + np.log(law.overdispersion)
        return polya_gamma(count_of(part) * (y + 1.0 / law.overdispersion), log_odds, rng)

    def pseudo(
        self, law: NegativeBinomialLikelihood, part: TrainingData, values: Array
    ) -> tuple[Array, Array]:
        y, offset = observed(part)
        slope = 0.5 * count_of(part) * (y - 1.0 / law.overdispersion)
        return values, slope - values * (offset + np.log(law.overdispersion))

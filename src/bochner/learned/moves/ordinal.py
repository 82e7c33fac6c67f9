"""Classes in order, made Gaussian by two Polya-Gamma variables of each row."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array
from bochner.gaussian_process.label_likelihoods import OrdinalLikelihood
from bochner.learned.moves.augmentation import Augmentation, observed
from bochner.learned.moves.polya_gamma import count_of, polya_gamma
from bochner.learned.training_data import TrainingData
from bochner.learned.wishart import GammaPrior


@dataclass(frozen=True, slots=True)
class OrdinalLabels(Augmentation):
    r"""Proportional odds, with cutpoints :math:`b_0 < b_1 < \dots`.

    As a function of ``f``, the probability of a class between the cutpoints ``l`` and ``u`` is
    proportional to :math:`\frac{1}{1 + e^{f - u}} \cdot \frac{1}{1 + e^{l - f}}`: two logistic
    likelihoods of opposite labels, each with its Pólya-Gamma variable. The first cutpoint is fixed,
    because the constant of the function has the same effect. Distances of successive cutpoints have
    an exponential prior of mean two.

    References
    ----------
    Polson, Scott and Windle, "Bayesian inference for logistic models using Polya-Gamma latent
    variables", 2013, for one logistic likelihood.
    """

    prior: ClassVar[GammaPrior] = GammaPrior(1.0, 0.5)
    n_held: ClassVar[int] = 1

    def variables(
        self, law: OrdinalLikelihood, part: TrainingData, activation: Array, rng: Generator
    ) -> Array:
        y, _ = observed(part)
        weight = np.broadcast_to(count_of(part), y.shape)
        values = np.zeros((2, len(y)))
        for side, cut in zip(values, law.ends(y), strict=True):
            has = np.isfinite(cut)
            side[has] = polya_gamma(weight[has], (activation - cut)[has], rng)
        return values

    def pseudo(
        self, law: OrdinalLikelihood, part: TrainingData, values: Array
    ) -> tuple[Array, Array]:
        y, _ = observed(part)
        target = np.zeros(len(y))
        for side, cut, slope in zip(values, law.ends(y), (0.5, -0.5), strict=True):
            has = np.isfinite(cut)
            target[has] += (slope * count_of(part) + side * np.where(has, cut, 0.0))[has]
        return values.sum(axis=0), target

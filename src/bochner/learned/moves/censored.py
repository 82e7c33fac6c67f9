"""Censored targets: the unknown true targets beyond a limit are drawn."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from scipy.special import log_ndtr, ndtri_exp

from bochner._base.arrays import Array, as_array
from bochner.gaussian_process.number_likelihoods import CensoredGaussianLikelihood
from bochner.learned.moves.augmentation import Augmentation, observed
from bochner.learned.training_data import TrainingData


@dataclass(frozen=True, slots=True)
class CensoredNumbers(Augmentation):
    r"""Normal targets that are observed between two limits; latent variables are true targets.

    A row at or beyond a limit has a true target with the law :math:`N(f_i, \sigma^2)`, truncated to
    the range beyond the limit. The true target of any other row is its observed target.

    References
    ----------
    Chib, "Bayes inference in the Tobit censored regression model", 1992.
    """

    law: CensoredGaussianLikelihood

    takes_weights: ClassVar[bool] = False

    def check(self, y: Array) -> None:
        left, right = self.law.limits
        if not ((y > left) & (y < right)).any():
            raise ValueError(
                "All targets are censored, so that functions far beyond the limits are equally "
                "likely: check left and right of the likelihood, or use KernelGLMRegressor, whose "
                "constant has a normal prior."
            )

    def variables(
        self, law: CensoredGaussianLikelihood, part: TrainingData, activation: Array, rng: Generator
    ) -> Array:
        y, _ = observed(part)
        left, right = law.limits
        values = y.copy()
        for rows, limit, side in ((y <= left, left, 1.0), (y >= right, right, -1.0)):
            f = activation[rows]
            z = side * (limit - f) / law.unit
            values[rows] = f + side * law.unit * normal_below(rng, z)
        return values

    def pseudo(
        self, law: CensoredGaussianLikelihood, part: TrainingData, values: Array
    ) -> tuple[Array, Array]:
        return np.ones(len(values)), values


def normal_below(rng: Generator, limit: Array) -> Array:
    """Return standard normal variates below limits (n,), by the inverse of their distribution.

    It uses logarithms of probabilities, so that it is exact where probabilities underflow.
    """
    log_uniform = -rng.standard_exponential(size=limit.shape)
    return as_array(np.minimum(ndtri_exp(log_ndtr(limit) + log_uniform), limit))

"""What is known of the noise, and the part of the log evidence that depends on the fit."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator


class Noise(ABC):
    r"""The law of the noise variance :math:`\sigma^2` in :math:`y \sim N(\Phi \beta, \sigma^2)`.

    Its scale is also that of the weights: :math:`\beta \sim N(0, \sigma^2 / \lambda_0)`.
    """

    __slots__ = ()

    @abstractmethod
    def log_likelihood(self, residual: float, degrees: float) -> float:
        """Return the log evidence up to determinants, for the residual :math:`y'y - q`."""

    @abstractmethod
    def precision(self, residual: float, degrees: float) -> float:
        r"""Return the posterior mean of :math:`1/\sigma^2`: twice the derivative in ``q``."""

    @abstractmethod
    def variance(self, residual: float, degrees: float) -> float:
        """Return the posterior mean of the noise variance."""

    @abstractmethod
    def sample(self, rng: Generator, residual: float, degrees: float) -> float:
        """Return a variance drawn from the posterior, weights integrated out.

        A residual and degrees of zero give a draw from the prior.
        """


@dataclass(frozen=True, slots=True)
class InverseGammaNoise(Noise):
    r"""An unknown variance, :math:`\sigma^2 \sim IG(a_0, b_0)`; equation (14) of the paper."""

    shape: float  # a_0 and b_0
    rate: float

    def log_likelihood(self, residual: float, degrees: float) -> float:
        return -(self.shape + degrees / 2.0) * float(np.log(self.rate + residual / 2.0))

    def precision(self, residual: float, degrees: float) -> float:
        return (self.shape + degrees / 2.0) / (self.rate + residual / 2.0)

    def variance(self, residual: float, degrees: float) -> float:
        # The mean exists beyond shape one; the mode's denominator keeps tiny samples finite.
        shape = self.shape + degrees / 2.0
        return (self.rate + residual / 2.0) / (shape - 1.0 if shape > 1.5 else shape)

    def sample(self, rng: Generator, residual: float, degrees: float) -> float:
        return (self.rate + residual / 2.0) / float(rng.gamma(self.shape + degrees / 2.0))


@dataclass(frozen=True, slots=True)
class KnownNoise(Noise):
    """A variance of one: rows whose weights are precisions, as in logistic regression."""

    def log_likelihood(self, residual: float, degrees: float) -> float:
        return -0.5 * residual

    def precision(self, residual: float, degrees: float) -> float:
        return 1.0

    def variance(self, residual: float, degrees: float) -> float:
        return 1.0

    def sample(self, rng: Generator, residual: float, degrees: float) -> float:
        return 1.0

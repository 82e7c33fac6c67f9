"""Likelihoods of counts, classes, censored targets and targets with outliers."""

from bochner.likelihoods.base import LabelLikelihood, Likelihood, NumberLikelihood
from bochner.likelihoods.classes import BernoulliLikelihood, OrdinalLikelihood, SoftmaxLikelihood
from bochner.likelihoods.counts import NegativeBinomialLikelihood, PoissonLikelihood
from bochner.likelihoods.numbers import (
    CensoredGaussianLikelihood,
    GaussianLikelihood,
    StudentTLikelihood,
)

__all__ = [
    "BernoulliLikelihood",
    "CensoredGaussianLikelihood",
    "GaussianLikelihood",
    "LabelLikelihood",
    "Likelihood",
    "NegativeBinomialLikelihood",
    "NumberLikelihood",
    "OrdinalLikelihood",
    "PoissonLikelihood",
    "SoftmaxLikelihood",
    "StudentTLikelihood",
]

"""Gaussian processes, generalised linear models on features, and likelihoods."""

from bochner.gaussian_process.count_likelihoods import NegativeBinomialLikelihood, PoissonLikelihood
from bochner.gaussian_process.label_likelihoods import (
    BernoulliLikelihood,
    OrdinalLikelihood,
    SoftmaxLikelihood,
)
from bochner.gaussian_process.likelihood import LabelLikelihood, Likelihood, NumberLikelihood
from bochner.gaussian_process.number_likelihoods import (
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

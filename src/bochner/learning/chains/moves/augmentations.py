"""From laws of targets to the likelihoods that chains sample."""

from functools import singledispatch
from typing import Any

from bochner.learning.chains.evidence import Noise
from bochner.learning.chains.likelihood import ConditionallyGaussian, ConstantNoise
from bochner.learning.chains.moves.censored import CensoredNumbers
from bochner.learning.chains.moves.counts import NegativeBinomialCounts
from bochner.learning.chains.moves.ordinal import OrdinalLabels
from bochner.learning.chains.moves.student_t import StudentTNoise
from bochner.likelihoods import (
    CensoredGaussianLikelihood,
    GaussianLikelihood,
    NegativeBinomialLikelihood,
    OrdinalLikelihood,
    StudentTLikelihood,
)


@singledispatch
def augmented(law: Any, guess: Any, origin: float, noise: Noise) -> ConditionallyGaussian:
    """Return the likelihood of a chain for a law of targets, found by the class of the law.

    ``augmented.register(OwnLikelihood, OwnAugmentation)`` adds another law and its class derived
    from :class:`bochner.learning.chains.moves.Augmentation`.

    Parameters
    ----------
    law, guess : Likelihood
        The law in the unit of the chain, whose parameters that are ``None`` are drawn, and the same
        with all parameters, to start from.
    origin : float
        Value of the function to start from.
    noise : Noise
        Law of the noise variance.

    Raises
    ------
    ValueError
        If no latent variables are known that make the law Gaussian in the weights.
    """
    known = ", ".join(cls.__name__ for cls in augmented.registry if cls is not object)
    raise ValueError(
        f"{type(law).__name__} has no latent variables that make it normal given them, which "
        f"chains need. Use one of {known}; KernelGLMRegressor and KernelGLMClassifier take every "
        f"likelihood."
    )


@augmented.register
def _(law: GaussianLikelihood, guess: Any, origin: float, noise: Noise) -> ConditionallyGaussian:
    return ConstantNoise(noise)


augmented.register(StudentTLikelihood, StudentTNoise)
augmented.register(CensoredGaussianLikelihood, CensoredNumbers)
augmented.register(NegativeBinomialLikelihood, NegativeBinomialCounts)
augmented.register(OrdinalLikelihood, OrdinalLabels)

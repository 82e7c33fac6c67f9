"""Selects the likelihood that chains sample, by the law of the targets."""

from functools import singledispatch

from bochner.gaussian_process.count_likelihoods import NegativeBinomialLikelihood
from bochner.gaussian_process.label_likelihoods import OrdinalLikelihood
from bochner.gaussian_process.number_likelihoods import (
    CensoredGaussianLikelihood,
    GaussianLikelihood,
    StudentTLikelihood,
)
from bochner.learned.chain_evidence import Noise
from bochner.learned.likelihood import ConditionallyGaussian, ConstantNoise
from bochner.learned.moves.censored import CensoredNumbers
from bochner.learned.moves.count_labels import NegativeBinomialCounts
from bochner.learned.moves.ordinal import OrdinalLabels
from bochner.learned.moves.student_t import StudentTNoise


@singledispatch
def augmented(law: object, guess: object, origin: float, noise: Noise) -> ConditionallyGaussian:
    """Return the likelihood of a chain, chosen by the class of the law of targets.

    ``augmented.register(OwnLikelihood, OwnAugmentation)`` adds a law, with a class derived from
    :class:`bochner.learned.moves.Augmentation`.

    Parameters
    ----------
    law, guess : Likelihood
        The law in the unit of the chain, in which unknown parameters are ``None``, and the law with
        initial values of all parameters.
    origin : float
        Initial value of the function.
    noise : Noise
        Law of the noise variance.

    Raises
    ------
    ValueError
        If no class of latent variables is registered for the law.
    """
    names = ", ".join(cls.__name__ for cls in augmented.registry if cls is not object)
    raise ValueError(
        f"{type(law).__name__} has no latent variables given which it is normal, which chains "
        f"need. Use one of {names}; KernelGLMRegressor and KernelGLMClassifier take every "
        f"likelihood."
    )


@augmented.register
def _(law: GaussianLikelihood, guess: object, origin: float, noise: Noise) -> ConditionallyGaussian:
    return ConstantNoise(noise)


augmented.register(StudentTLikelihood, StudentTNoise)
augmented.register(CensoredGaussianLikelihood, CensoredNumbers)
augmented.register(NegativeBinomialLikelihood, NegativeBinomialCounts)
augmented.register(OrdinalLikelihood, OrdinalLabels)

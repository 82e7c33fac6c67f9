"""Gaussian processes, generalised linear models on features, and likelihoods."""

from typing import TYPE_CHECKING

from bochner._base.on_demand import on_demand

if TYPE_CHECKING:
    from bochner.gaussian_process.count_likelihoods import (
        NegativeBinomialLikelihood as NegativeBinomialLikelihood,
    )
    from bochner.gaussian_process.count_likelihoods import PoissonLikelihood as PoissonLikelihood
    from bochner.gaussian_process.label_likelihoods import (
        BernoulliLikelihood as BernoulliLikelihood,
    )
    from bochner.gaussian_process.label_likelihoods import OrdinalLikelihood as OrdinalLikelihood
    from bochner.gaussian_process.label_likelihoods import SoftmaxLikelihood as SoftmaxLikelihood
    from bochner.gaussian_process.likelihood import LabelLikelihood as LabelLikelihood
    from bochner.gaussian_process.likelihood import Likelihood as Likelihood
    from bochner.gaussian_process.likelihood import NumberLikelihood as NumberLikelihood
    from bochner.gaussian_process.number_likelihoods import (
        CensoredGaussianLikelihood as CensoredGaussianLikelihood,
    )
    from bochner.gaussian_process.number_likelihoods import GaussianLikelihood as GaussianLikelihood
    from bochner.gaussian_process.number_likelihoods import StudentTLikelihood as StudentTLikelihood
else:
    __getattr__, __dir__, __all__ = on_demand(
        __name__,
        {
            "bochner.gaussian_process.count_likelihoods": (
                "NegativeBinomialLikelihood",
                "PoissonLikelihood",
            ),
            "bochner.gaussian_process.label_likelihoods": (
                "BernoulliLikelihood",
                "OrdinalLikelihood",
                "SoftmaxLikelihood",
            ),
            "bochner.gaussian_process.likelihood": (
                "LabelLikelihood",
                "Likelihood",
                "NumberLikelihood",
            ),
            "bochner.gaussian_process.number_likelihoods": (
                "CensoredGaussianLikelihood",
                "GaussianLikelihood",
                "StudentTLikelihood",
            ),
        },
    )

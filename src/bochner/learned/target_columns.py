"""Problems of one fit, one for each target or class, and their shares of time and draws."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bochner._base.arrays import Array
from bochner._base.threads import single_threaded_blas
from bochner._base.warn import warn_user
from bochner.features.targets import Units
from bochner.kernels import Kernel, SpectralMixture
from bochner.learned.chain_plan import SamplerSettings
from bochner.learned.gaussian_components import spectral_mixture
from bochner.learned.learned_kernel import Convergence, Learned
from bochner.learned.pooling import pooled
from bochner.learned.training_data import ScaledData

_BAD_RHAT = 1.3
"""R-hat of the predictions beyond which a fit of one chain warns. Short chains of multimodal
posteriors reach 1.1 or 1.2 with useful predictions; beyond 1.3 separate fits disagree."""

_FEW = 10.0
"""Effective sample size below which a fit of one chain warns: the standard error of a mean is a
third of the posterior's standard deviation."""


@dataclass(frozen=True, slots=True, eq=False)
class Problems:
    """Distinct training rows, and the task that turns their targets into columns."""

    X: Array  # (n, d)
    codes: Array  # (n,): Numbers that stand for the given targets
    units: Units  # (n,)
    task: Any  # Has ``codes`` of targets, and the ``columns`` that chains learn
    unit: float = 1.0  # Number by which the given weights were divided
    has_precisions: bool = False  # Or weights are counts, or powers of the likelihood

    @property
    def weight(self) -> Array | None:
        """Total weights of the rows (n,), ``None`` for ones."""
        totals = self.units.totals
        return None if (totals == 1.0).all() else totals

    @property
    def repeats(self) -> Array | None:
        """Numbers of observations (n,) where weights are precisions, ``None`` otherwise."""
        return self.units.counts if self.has_precisions else None


def with_pooled_draws(
    learned: Sequence[Learned],
    columns: Sequence[ScaledData],
    settings: SamplerSettings,
    rng: np.random.Generator,
) -> list[Learned]:
    """Return the results with the draws of all chains pooled, for problems with enough rows."""
    n_chains = settings.n_chains
    with single_threaded_blas() as n_threads:
        return [
            replace(each, draws=pooled(rng, each.draws, data, n_chains, n_threads))
            for each, data in zip(learned, columns, strict=True)
        ]


def one_share(settings: SamplerSettings, n_problems: int, n_threads: int) -> SamplerSettings:
    """Return the settings of one of several problems, with its threads and share of the time."""
    limit = settings.time_limit
    limit = None if limit is None else limit / n_problems
    return replace(settings, time_limit=limit, n_threads=n_threads)


def mean_kernel(kernels: list[Kernel]) -> Kernel:
    """Return the mean of kernels; the mean of spectral mixtures is one spectral mixture."""
    if len(kernels) == 1:
        return kernels[0]
    mixtures = [kernel for kernel in kernels if isinstance(kernel, SpectralMixture)]
    if len(mixtures) < len(kernels):
        return (1.0 / len(kernels)) * reduce(add, kernels)
    return spectral_mixture(
        np.concatenate([np.asarray(k.weights) for k in mixtures]) / len(mixtures),
        np.concatenate([np.asarray(k.means) for k in mixtures]),
        np.concatenate([np.asarray(k.covariances) for k in mixtures]),
    )


def warn_of_convergence(convergence: Sequence[Convergence]) -> None:
    """Warn if single chains disagree with themselves, or have few independent draws."""
    rhat = max((c.rhat_predictions for c in convergence), key=np.nan_to_num)
    ess = np.fmin.reduce([c.ess_predictions for c in convergence])
    if rhat > _BAD_RHAT or ess < _FEW:
        warn_user(
            f"The chain has not converged: R-hat of the predictions is {rhat:.2f} "
            f"(expected at most {_BAD_RHAT}), the effective sample size {ess:.0f} "
            f"(expected at least {_FEW:.0f}). "
            f"Predictions remain usable, but intervals may be too narrow. Increase n_burn_in "
            f"and n_samples, or thin, or use several chains.",
            ConvergenceWarning,
        )

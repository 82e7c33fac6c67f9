"""Pooled draws, kernel and convergence diagnostics of the chains of one problem."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bochner._base.arrays import Array
from bochner._base.registry import register
from bochner.kernels import Kernel
from bochner.learned.basis import PLAIN, Basis
from bochner.learned.chain_run import ChainRun
from bochner.learned.draws import Draws, stacked
from bochner.learned.gaussian_components import frequency_components, mean_kernel, mean_of_waves
from bochner.learned.trace import Trace, effective_sample_size, split_rhat
from bochner.learned.training_data import Scaling

# Number of evenly spaced draws with averaged kernels: the cost is proportional to it.
_POOLED_DRAWS = 24
# Number of training rows at which chains are compared: the cost is proportional to it.
_PROBES = 64


_MOST_INPUTS = 100
"""Largest number of inputs for which the mean kernel has components with covariances. Each takes d²
numbers: 50 components take half a million for 100 inputs, and 72 million for 1,200 inputs."""


@register
@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """Concatenated draws of all chains, with their trace, kernel and structure."""

    draws: Draws
    trace: Trace
    kernel: Kernel  # Posterior mean of the kernel, on inputs in their own units
    structure: str  # "sparse" or "dense"

    @classmethod
    def of(
        cls,
        chains: Sequence[ChainRun],
        structure: str,
        scaling: Scaling,
        basis: Basis = PLAIN,
    ) -> "Learned":
        """Return the pooled draws, trace and kernel of chains; ``scaling`` is of the inputs."""
        n_kept = min(len(chain.draws) for chain in chains)
        # Equal numbers of draws, so that chains have equal weights.
        last_draws = [draw for chain in chains for draw in chain.draws[-n_kept:]]
        draws = stacked(last_draws, basis)
        components = [draw.components for draw in last_draws if draw.components is not None]
        chosen = np.unique(np.linspace(0, len(last_draws) - 1, _POOLED_DRAWS).astype(np.intp))
        waves = [draws.waves(index) for index in chosen]
        kernel: Kernel
        if len(scaling.scale) > _MOST_INPUTS or any(len(each.modulated) for each in waves):
            kernel = mean_of_waves(waves, scaling)
        else:
            pooled = np.concatenate([each.omega for each in waves])
            kernel = mean_kernel(components or [frequency_components(pooled)], scaling.scale)
        return cls(draws, _trace(chains, n_kept), kernel, structure)


@register(allow_nan=True)
@dataclass(frozen=True, slots=True)
class Convergence:
    """Agreement of the chains, and their effective sample sizes.

    Parameters
    ----------
    rhat_log_evidence, ess_log_evidence : float
        Rank-normalised split R-hat and bulk effective sample size of the log evidence.
    rhat_predictions, ess_predictions : float
        90 per cent quantile of R-hat and median effective sample size of the function over some
        training rows; ``nan`` with too few draws, ``inf`` where chains are constant and differ.
    """

    rhat_log_evidence: float
    ess_log_evidence: float
    rhat_predictions: float
    ess_predictions: float

    @classmethod
    def of(cls, learned: Learned, inputs: Array, fixed: Array) -> "Convergence":
        """Return the diagnostics, from the function at ``inputs`` (d, n) and ``fixed`` (q, n)."""
        n_chains = learned.trace.n_chains
        # Evenly spaced rows: the sorted data have probes everywhere.
        every = max(1, inputs.shape[1] // _PROBES)
        inputs, fixed = inputs[:, ::every][:, :_PROBES], fixed[:, ::every][:, :_PROBES]
        values = np.concatenate([v for _, v in learned.draws.activations(inputs, fixed)], axis=1)
        chains = values.reshape(n_chains, -1, values.shape[1])
        rhat = np.array([split_rhat(chains[:, :, row]) for row in range(chains.shape[2])])
        ess = np.array([effective_sample_size(chains[:, :, row]) for row in range(len(rhat))])
        density = learned.draws.log_density.reshape(n_chains, -1)
        finite_rhat = rhat[~np.isnan(rhat)]
        return cls(
            split_rhat(density),
            effective_sample_size(density),
            float(np.quantile(finite_rhat, 0.9, method="higher")) if len(finite_rhat) else np.nan,
            float(np.nanmedian(ess)) if np.isfinite(ess).any() else np.nan,
        )


def _trace(chains: Sequence[ChainRun], n_kept: int) -> Trace:
    n_burn_in = min(chain.n_burn_in for chain in chains)
    names = set.intersection(*(set(chain.records[-1]) for chain in chains))
    aligned = []
    for chain in chains:
        # The last burn-in records, and the records of the draws that are kept.
        first, last = len(chain.records) - len(chain.draws), len(chain.records) - n_kept
        aligned.append(chain.records[first - n_burn_in : first] + chain.records[last:])
    records = {
        name: np.array([[record.get(name, 0.0) for record in each] for each in aligned])
        for name in sorted(names)
    }
    return Trace(records, n_burn_in)

"""Pooled draws of several chains: held-out blocks, mean kernel and convergence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._base.arrays import Array, Index, Mask
from bochner._base.registry import register
from bochner.features.chunks import Units
from bochner.kernels import Harmonizable, Kernel, SpectralMixture
from bochner.learned.basis import PLAIN, Basis
from bochner.learned.chain_models import BANK
from bochner.learned.chain_run import ChainRun
from bochner.learned.chain_state import (
    MACKAY_STEPS,
    ChainEvidence,
    evidence_of,
    mackay_step,
    solved,
)
from bochner.learned.draws import Draws, drawn, stacked, waves_in_units
from bochner.learned.frequency_priors import Components, frequency_components
from bochner.learned.modulated_waves import WaveFeatures
from bochner.learned.polya_gamma import LogisticLabels
from bochner.learned.trace import Trace, effective_sample_size, split_rhat
from bochner.learned.training_data import ScaledData, Scaling
from bochner.spectral.feature_factors import Amplitudes, CosineFactors, separated

# Largest number of components of an averaged mixture, which bounds its cost: the lightest ones are
# merged.
_MOST_COMPONENTS = 128
# Largest number of waves of an averaged kernel, which bounds its cost: every k-th wave is used.
_MOST_WAVES = 4096

_MOST_ROWS = 8_000
"""Largest number of rows of a chain that holds out rows: the cost of a sweep is proportional to
it. Weights are refitted to all rows afterwards, which makes up for the loss: on 14,861 rows of
california_housing, the mean square error decreases from 0.180 to 0.172."""

_FEWEST_LEFT_OUT = 5
"""Fewest left-out rows per chain: 20 determine a root mean square to a sixth."""

_MOST_PERMUTED = 2**22
"""Largest number of observations for blocks of equal sizes, by a permutation that takes a tenth of
a second. Random blocks of more observations differ in size by less than a thousandth."""

_SCORED = 2_000
"""Most left-out rows with predictions: they determine a root mean square to 1.6 per cent."""

_ROWS_PER_FEATURE = 2
"""Fewest rows per feature of pooled draws: with fewer rows, averages of draws are better. On 6,636
rows of kin8nm the mean square error is 0.0546 with 800 features and 0.0540 with 3,200."""

_MOST_FEATURES = 4_096  # Largest number of features of pooled draws: their Gram matrix has 128 MB


class ChainRows(NamedTuple):
    """The indices of the rows that a chain learns from, with their weights and observation counts.

    Weights are ``None`` if all are one.
    """

    rows: Index
    weight: Array | None
    counts: Array


def blocks_of(
    rng: Generator, units: Units, codes: Array | None, n_blocks: int
) -> NDArray[np.int64] | None:
    """Return how many observations of each row each block holds out, of shape (n, n_blocks).

    Blocks are a random partition of single observations, so that equal observations are assigned
    independently. If all observations of a class of ``codes`` (n,) are in one block, no block
    leaves them out, because a chain needs every class. The result is ``None`` if there are too few
    observations, or if each class is in one block only.
    """
    counts, n = units.counts.astype(np.int64), len(units)
    total = int(counts.sum())
    if total < _FEWEST_LEFT_OUT * n_blocks:
        return None
    if total <= _MOST_PERMUTED:
        # Single observations in random order, dealt out to the blocks in turn.
        row = rng.permutation(np.repeat(np.arange(n), counts))
        cell = row * n_blocks + np.arange(total) % n_blocks
        left_out = np.bincount(cell, minlength=n * n_blocks).reshape(n, n_blocks)
    else:
        left_out = rng.multinomial(counts, np.full(n_blocks, 1.0 / n_blocks))
    for code in () if codes is None else np.unique(codes):
        in_class = codes == code
        # A chain without a class could not predict it.
        if np.count_nonzero(left_out[in_class].sum(axis=0)) == 1:
            left_out[in_class] = 0
    return np.asarray(left_out, dtype=np.int64) if left_out.any() else None


def parts_of(rng: Generator, units: Units, left_out: NDArray[np.int64]) -> list[ChainRows]:
    """Return the training rows of each chain: observations outside its block.

    ``left_out`` (n, n_blocks) are numbers of left-out observations. A chain has at most 8,000 rows.
    """
    parts = []
    for n_removed in left_out.T:
        counts = units.counts - n_removed
        # Sorted, so that rows keep the order of the data.
        rows = np.sort(rng.permutation(np.flatnonzero(counts))[:_MOST_ROWS])
        # Total weights of the remaining observations of each row.
        weight = units.weights[rows] * counts[rows]
        parts.append(ChainRows(rows, None if (weight == 1.0).all() else weight, counts[rows]))
    return parts


def scored_of(rng: Generator, left_out: NDArray[np.int64]) -> tuple[Index, Index]:
    """Return the indices of at most 2,000 held-out rows to score, and of the blocks they are in."""
    rows, blocks = np.nonzero(left_out)
    chosen = np.sort(rng.permutation(len(rows))[:_SCORED])
    return rows[chosen], blocks[chosen]


@dataclass(frozen=True, slots=True, eq=False)
class LeftOutRows:
    """Held-out rows for the score and the calibration, each held out by one chain."""

    n_chains: int
    block: Index  # (s,): Index of the chain that holds out the row
    inputs: Array  # (d, s): Scaled
    fixed: Array  # (q, s)
    codes: Array  # (s,): Targets, or codes of classes
    units: Units  # (s,): The observations that the chain holds out

    def by_chain(self, draws: Sequence[Draws]) -> Iterator[tuple[Mask, list[Draws], Array, Array]]:
        """Yield for each chain the mask (s,) of its held-out rows, its draws, and the inputs."""
        for index in range(self.n_chains):
            in_block = self.block == index
            if in_block.any():
                parts = [_chain_of(each, index, self.n_chains) for each in draws]
                yield in_block, parts, self.inputs[:, in_block], self.fixed[:, in_block]

    def mean(self, values: Array) -> float:
        """Return the mean over held-out observations of the rows' values (s,)."""
        return float(np.average(values, weights=self.units.counts))


def _chain_of(draws: Draws, index: int, n_chains: int) -> Draws:
    n_kept = draws.n_draws // n_chains
    draws_of_chain = slice(index * n_kept, (index + 1) * n_kept)
    is_of_chain = draws.whitened // n_kept == index
    names = ("omega", "coef", "precision", "noise_variance", "log_density")
    return replace(
        draws,
        **{name: getattr(draws, name)[draws_of_chain] for name in names},
        whitener=draws.whitener[is_of_chain],
        whitened=draws.whitened[is_of_chain] - draws_of_chain.start,
    )


def pooled(rng: Generator, draws: Draws, data: ScaledData, n_chains: int, n_threads: int) -> Draws:
    """Pool the frequencies of several draws in one draw, with weights fitted to all rows.

    ``draws`` are the concatenated draws of :class:`StationaryModel` chains. Evenly spaced draws of
    each chain are pooled, including its last one. Their number is limited by the number of rows; if
    there are too few rows for one draw of each chain, ``draws`` are returned unchanged. For numeric
    targets the precision maximises the evidence, by MacKay's steps. Labels, whose fit needs several
    passes, have the geometric mean precision of the draws and the normal approximation at the mode
    of the weights.
    """
    n_kept = draws.n_draws // n_chains
    most = min(data.n_samples // _ROWS_PER_FEATURE, _MOST_FEATURES) // (2 * draws.n_waves)
    count = min(most // n_chains, n_kept)
    if not count:
        return draws
    # Later draws are farther from the start, so that positions are counted from the end.
    back = n_kept - 1 - n_kept // count * np.arange(count)
    chosen = (n_kept * np.arange(n_chains)[:, None] + back).ravel()
    omega = draws.omega[chosen].reshape(-1, draws.omega.shape[2])
    precision = float(np.exp(np.mean(np.log(draws.precision[chosen]))))
    rows = data.rows(n_threads)
    if data.is_binary:
        _, fit = LogisticLabels().start(rng, rows, omega, precision, n_copies=1)
    else:
        noise = BANK.likelihood().noise
        fit = _of_greatest_evidence(evidence_of(rows, omega, precision, noise, keep=False))
    draw = drawn(fit, None, fit.log_evidence(), in_full=True)
    return stacked([draw], draws.basis, noise_unit=draws.noise_unit)


def _of_greatest_evidence(fit: ChainEvidence) -> ChainEvidence:
    """Return ``fit`` at the precision that maximises its evidence."""
    ridge = slice(2 * fit.n_waves)
    for _ in range(MACKAY_STEPS):
        trace = float(np.trace(fit.covariance[ridge, ridge]))
        precision = mackay_step(fit, trace, float(np.sum(fit.mean[ridge] ** 2)))
        if precision == fit.precision:
            break
        fit = solved(fit, precision)
    return fit


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
    """What one problem has learned: the draws of all chains, with trace, kernel and structure."""

    draws: Draws
    trace: Trace
    kernel: Kernel  # Posterior mean of the kernel on unscaled inputs
    structure: str  # "sparse" or "dense"

    @classmethod
    def of(
        cls, chains: Sequence[ChainRun], structure: str, scaling: Scaling, basis: Basis = PLAIN
    ) -> "Learned":
        """Return the concatenated draws, trace and mean kernel of chains of ``structure``."""
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
        """Return the diagnostics of chains, from their functions at ``inputs`` (d, n)."""
        n_chains = learned.trace.n_chains
        # Rows are sorted, so that evenly spaced rows cover the data.
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


def mean_kernel(draws: Sequence[Components], scale: Array) -> SpectralMixture:
    """Return the mean of the kernels of mixtures, for inputs before the division by ``scale``."""
    weights, means, covariances = _merged(
        np.concatenate([part.weights for part in draws]) / len(draws),
        np.concatenate([part.means for part in draws]),
        np.concatenate([part.covariances for part in draws]),
    )
    return spectral_mixture(
        weights / weights.sum(), means / scale, covariances / np.multiply.outer(scale, scale)
    )


def _merged(weights: Array, means: Array, covariances: Array) -> tuple[Array, Array, Array]:
    """Merge the lightest components of a mixture into one that preserves their second moments."""
    if len(weights) <= _MOST_COMPONENTS:
        return weights, means, covariances
    order = np.argsort(-weights, kind="stable")
    heavy, light = order[: _MOST_COMPONENTS - 1], order[_MOST_COMPONENTS - 1 :]
    share = weights[light] / weights[light].sum()
    second = covariances[light] + means[light][:, :, None] * means[light][:, None, :]
    rest = np.einsum("q,qij->ij", share, second)
    return (
        np.append(weights[heavy], weights[light].sum()),
        np.concatenate([means[heavy], np.zeros((1, means.shape[1]))]),
        np.concatenate([covariances[heavy], rest[None]]),
    )


def spectral_mixture(*arrays: Array) -> SpectralMixture:
    """Return the kernel of a mixture of weights (Q,), means (Q, d) and covariances (Q, d, d)."""
    return SpectralMixture(*(array.tolist() for array in arrays))


def mean_of_waves(draws: Sequence[WaveFeatures], scaling: Scaling) -> Harmonizable:
    """Return the mean over draws of the kernels of their waves, on unscaled inputs."""
    frequencies = reduce(add, (waves_in_units(waves, scaling) for waves in draws))
    thinned = slice(None, None, -(-frequencies.n_frequencies // _MOST_WAVES))
    _, modulation = separated(frequencies.factor)
    omega = frequencies.omega[thinned]
    if isinstance(modulation, Amplitudes):
        # Weights of the thinned waves are increased to the same total.
        share = frequencies.n_frequencies / (len(omega) * len(draws))
        return _windows(modulation, share * frequencies.weight[thinned], omega, thinned)
    if modulation is None:
        modulation = CosineFactors(0.0 * frequencies.omega, np.zeros(frequencies.n_frequencies))
    # A cosine times a wave is a sum of two waves, which are equal where the amplitude is constant.
    half = 0.5 * modulation.v[thinned]
    varies = half.any(axis=1, keepdims=True)
    factors = np.sqrt(np.where(varies, 0.5, 0.25) / len(omega)) * np.ones(2)
    phases = np.where(varies, modulation.phase[thinned, None], 0.0) * [1.0, -1.0]
    return Harmonizable(factors, np.stack([omega + half, omega - half], axis=1), phases=phases)


def _windows(modulation: Amplitudes, weight: Array, omega: Array, thinned: slice) -> Harmonizable:
    """Return the kernel of the ``thinned`` waves, each in a window along the inputs."""
    root = np.diagonal(modulation.window[thinned], axis1=1, axis2=2)
    flat = root == 0.0
    centre = modulation.centre[thinned] / np.where(flat, 1.0, root)
    return Harmonizable(np.sqrt(weight), omega, np.where(flat, 0.0, centre), root)

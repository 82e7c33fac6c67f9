"""Markov chains over frequencies in a batch: each move is made for all chains at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.random import Generator

from bochner._numerics.arrays import Array
from bochner._numerics.limits import LARGEST_ENTRY
from bochner._numerics.namespaces import DeviceArray
from bochner.learning.batched.draws import drawn_together
from bochner.learning.batched.evidence import BatchEvidence, evidence_of, log_evidence_at, solved
from bochner.learning.batched.exchanges import replace_frequencies
from bochner.learning.batched.likelihoods import BatchLabels, BatchLikelihood, BatchNumbers
from bochner.learning.batched.rows import BatchRows
from bochner.learning.chains.basis import PLAIN
from bochner.learning.chains.chain import CollapsedChain, adapt, density_of, first_steps
from bochner.learning.chains.draws import ChainDraw
from bochner.learning.chains.likelihood import ConstantNoise
from bochner.learning.chains.moves import Move, PrecisionWalk, PriorParameters, ReplacementSweep
from bochner.learning.chains.moves.labels import LogisticLabels
from bochner.learning.chains.moves.replacement import Proposals, acceptances, blocks_of_units
from bochner.learning.chains.prior import FrequencyPrior
from bochner.learning.chains.state import Info, StepSizes
from bochner.learning.chains.training_data import TrainingData


@dataclass(slots=True, eq=False)
class BatchState:
    """Points of the posterior, one for each chain, which moves change in place."""

    rows: BatchRows  # With weights and pseudo-targets that follow from latent variables
    evidence: BatchEvidence
    priors: list[FrequencyPrior]
    steps: list[StepSizes]


@dataclass(frozen=True, slots=True, eq=False)
class BatchChain:
    """The chains of :class:`~bochner.learning.chains.chain.CollapsedChain` on a device.

    Each chain has its own generator, so that its draws are those of a single chain, up to rounding.
    """

    rows: BatchRows
    likelihood: BatchLikelihood
    moves: tuple[Move, ...]

    @classmethod
    def of(cls, chains: Sequence[Any], home: DeviceArray) -> "BatchChain":
        """Return the batch of chains, in the namespace and on the device of ``home``."""
        first = chains[0]
        check_chain(first)
        noise = first.likelihood.noise
        is_labels = isinstance(first.likelihood, LogisticLabels)
        likelihood = BatchLabels() if is_labels else BatchNumbers(noise)
        return cls(BatchRows.of([c.rows for c in chains], home), likelihood, first.moves)

    def init(
        self,
        rngs: Sequence[Generator],
        omega: Array,
        priors: Sequence[FrequencyPrior],
        precision: Array,
    ) -> BatchState:
        """Return the state at frequencies (C, m, d) and precisions (C,)."""
        weighted_rows, evidence = self.likelihood.start(rngs, self.rows, omega, precision)
        return BatchState(
            weighted_rows, evidence, list(priors), [first_steps(self.moves) for _ in priors]
        )

    def step(self, rngs: Sequence[Generator], state: BatchState, *, adapting: bool) -> list[Info]:
        """Make one round of moves in place; return acceptances and log densities per chain."""
        infos: list[Info] = [{} for _ in rngs]
        for move in self.moves:
            for info, more in zip(infos, _MOVES[type(move)](move, rngs, state), strict=True):
                info |= more
        changed, densities = self.likelihood.redraw(rngs, self.rows, state.evidence)
        if changed is not None:
            state.rows, state.evidence = changed
        for info, more, steps in zip(infos, densities, state.steps, strict=True):
            info |= more
            if adapting:
                adapt(steps, self.moves, info)
        return infos

    def draws(self, state: BatchState, infos: Sequence[Info], *, in_full: bool) -> list[ChainDraw]:
        """Return a stored draw of the state of each chain."""
        values = [density_of(info) for info in infos]
        return drawn_together(state.evidence, state.priors, values, in_full=in_full)

    def rebuilt(self, state: BatchState) -> BatchState:
        """Return the recomputed state, without the rounding errors of many exchanges."""
        old = state.evidence
        # From new features: stored ones carry the rounding errors of the exchanges.
        evidence = evidence_of(state.rows, old.omega, old.precision, old.noise)
        return replace(state, evidence=evidence)


def check_chain(chain: Any) -> None:
    """Raise ValueError for a chain that cannot run on a device."""
    is_plain = isinstance(chain, CollapsedChain) and isinstance(chain.rows, TrainingData)
    if not is_plain or chain.rows.basis != PLAIN:
        raise ValueError(
            "Chains on a device support the model of LearnedKernelRegressor with rows in memory; "
            "pass NumPy arrays for sampler='mh' and for Dask collections."
        )
    if not isinstance(chain.likelihood, ConstantNoise | LogisticLabels):
        raise ValueError(
            "Chains on a device support likelihood='gaussian' and labels; pass NumPy arrays for "
            "another likelihood."
        )
    for move in chain.moves:
        if type(move) not in _MOVES:
            raise ValueError(
                f"Chains on a device support the moves of sampler='pcn', not {move!r}; pass NumPy "
                f"arrays for other moves."
            )


def _sweep(move: ReplacementSweep, rngs: Sequence[Generator], state: BatchState) -> list[Info]:
    """Propose a new value for every frequency of every chain, a block at a time."""
    evidence, n_units = state.evidence, state.evidence.n_waves
    each = [list(blocks_of_units(rng, PLAIN, n_units, move.block_size)) for rng in rngs]
    # Chains of a batch have the same structure, so that their kinds of proposals agree.
    kinds = state.priors[0].kinds
    tried, accepted = np.zeros((2, len(rngs), len(kinds)))
    for indices in zip(*each, strict=True):
        suggestions = [
            prior.suggest(rng, omega, index)
            for rng, prior, omega, index in zip(
                rngs, state.priors, evidence.omega, indices, strict=True
            )
        ]
        proposals = [
            Proposals(index, suggestion.omega, suggestion.log_ratio, np.log(rng.random(len(index))))
            for rng, suggestion, index in zip(rngs, suggestions, indices, strict=True)
        ]
        # One set of products for all chains: a device is idle in small ones.
        decided = replace_frequencies(evidence, state.rows, proposals)
        for chain, (index, suggestion) in enumerate(zip(indices, suggestions, strict=True)):
            state.priors[chain] = state.priors[chain].decided(index, suggestion, decided[chain])
            tried[chain] += np.bincount(suggestion.kind, minlength=len(kinds))
            accepted[chain] += np.bincount(suggestion.kind[decided[chain]], minlength=len(kinds))
    state.evidence = solved(evidence, evidence.precision)
    return [acceptances(kinds, *both) for both in zip(tried, accepted, strict=True)]


def _walk(move: PrecisionWalk, rngs: Sequence[Generator], state: BatchState) -> list[Info]:
    """Walk the precisions of all chains, with one batched factorisation per step."""
    evidence, prior = state.evidence, move.prior
    place = np.log(evidence.precision)
    level = evidence.log_evidence() + prior.log_density(place)
    least, n_accepted = np.log(evidence.least_precision), np.zeros(len(rngs))
    for _ in range(move.n_steps):
        sizes = np.array([steps[move.name] for steps in state.steps])
        proposal = place + sizes * np.array([rng.normal() for rng in rngs])
        # Each chain draws from its generator in the order of a single chain.
        threshold = np.log([rng.random() for rng in rngs])
        # A chain outside the range is evaluated at its current precision, and rejected below.
        inside = (least <= proposal) & (proposal <= np.log(LARGEST_ENTRY))
        evaluated = np.where(inside, proposal, place)
        reached = np.where(inside, log_evidence_at(evidence, np.exp(evaluated)), -np.inf)
        proposed = reached + prior.log_density(proposal)
        accepted = threshold < proposed - level
        place, level = np.where(accepted, (proposal, proposed), (place, level))
        n_accepted += accepted
    # Without an acceptance all posteriors are unchanged.
    if n_accepted.any():
        state.evidence = solved(evidence, np.exp(place))
    return [{"acceptance_precision": float(share)} for share in n_accepted / move.n_steps]


def _refresh(move: PriorParameters, rngs: Sequence[Generator], state: BatchState) -> list[Info]:
    """Draw the parameters of every prior given its frequencies."""
    state.priors = [
        prior.refresh(rng, omega)
        for rng, prior, omega in zip(rngs, state.priors, state.evidence.omega, strict=True)
    ]
    return [{} for _ in rngs]


_MOVES: Mapping[type, Callable[..., list[Info]]] = MappingProxyType(
    {ReplacementSweep: _sweep, PrecisionWalk: _walk, PriorParameters: _refresh}
)
"""Batched moves by the class of the corresponding move of a single chain."""

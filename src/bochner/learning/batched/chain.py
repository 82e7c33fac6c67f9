"""Markov chains over frequencies side by side: each round makes one move of all of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.random import Generator

from bochner._numerics.arrays import Array
from bochner._numerics.limits import LARGEST_ENTRY
from bochner.learning.batched.draws import drawn_together
from bochner.learning.batched.evidence import (
    BatchEvidence,
    evidence_of,
    log_evidence_at,
    solved,
)
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
    """Points of the posterior, one of each chain, which moves change in place."""

    rows: BatchRows  # With the weights and pseudo-targets that latent variables give them
    evidence: BatchEvidence
    priors: list[FrequencyPrior]
    steps: list[StepSizes]


@dataclass(frozen=True, slots=True, eq=False)
class BatchChain:
    """The chains of :class:`~bochner.learning.chains.chain.CollapsedChain` on a device.

    Each has its own generator and makes the draws that it would make alone, up to rounding.
    """

    rows: BatchRows
    likelihood: BatchLikelihood
    moves: tuple[Move, ...]

    @classmethod
    def of(cls, chains: Sequence[Any], home: Any) -> "BatchChain":
        """Return the chains together, in the namespace and on the device of ``home``."""
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
        given, evidence = self.likelihood.start(rngs, self.rows, omega, precision)
        return BatchState(given, evidence, list(priors), [first_steps(self.moves) for _ in priors])

    def step(self, rngs: Sequence[Generator], state: BatchState, *, adapting: bool) -> list[Info]:
        """Make one round of moves in place; return acceptances and log densities per chain."""
        infos: list[Info] = [{} for _ in rngs]
        for move in self.moves:
            for info, own in zip(infos, _MOVES[type(move)](move, rngs, state), strict=True):
                info |= own
        changed, densities = self.likelihood.redraw(rngs, self.rows, state.evidence)
        if changed is not None:
            state.rows, state.evidence = changed
        for info, own, steps in zip(infos, densities, state.steps, strict=True):
            info |= own
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
        evidence = evidence_of(state.rows, old.omega, old.precision, old.noise)
        return replace(state, evidence=evidence)


def check_chain(chain: Any) -> None:
    """Raise ValueError unless a chain can run on a device."""
    is_plain = isinstance(chain, CollapsedChain) and isinstance(chain.rows, TrainingData)
    if not is_plain or chain.rows.basis != PLAIN:
        raise ValueError(
            "Chains on a device have the model of BaNKRegressor and rows in memory; pass NumPy "
            "arrays for sampler='mh' and for Dask collections."
        )
    if not isinstance(chain.likelihood, ConstantNoise | LogisticLabels):
        raise ValueError(
            "Chains on a device have likelihood='gaussian', or labels; pass NumPy arrays for "
            "another likelihood."
        )
    for move in chain.moves:
        if type(move) not in _MOVES:
            raise ValueError(
                f"Chains on a device have the moves of sampler='pcn', not {move!r}; pass NumPy "
                f"arrays for other moves."
            )


def _sweep(move: ReplacementSweep, rngs: Sequence[Generator], state: BatchState) -> list[Info]:
    """Propose a new value for every frequency of every chain, a block at a time."""
    evidence, n_units = state.evidence, state.evidence.n_waves
    each = [list(blocks_of_units(rng, PLAIN, n_units, move.block_size)) for rng in rngs]
    kinds = state.priors[0].kinds
    tried, accepted = np.zeros((2, len(rngs), len(kinds)))
    for indices in zip(*each, strict=True):
        made = [
            prior.suggest(rng, omega, index)
            for rng, prior, omega, index in zip(
                rngs, state.priors, evidence.omega, indices, strict=True
            )
        ]
        proposals = [
            Proposals(index, one.omega, one.log_ratio, np.log(rng.random(len(index))))
            for rng, one, index in zip(rngs, made, indices, strict=True)
        ]
        decided = replace_frequencies(evidence, state.rows, proposals)
        for chain, (index, one) in enumerate(zip(indices, made, strict=True)):
            state.priors[chain] = state.priors[chain].decided(index, one, decided[chain])
            tried[chain] += np.bincount(one.kind, minlength=len(kinds))
            accepted[chain] += np.bincount(one.kind[decided[chain]], minlength=len(kinds))
    state.evidence = solved(evidence, evidence.precision)
    return [acceptances(kinds, *both) for both in zip(tried, accepted, strict=True)]


def _walk(move: PrecisionWalk, rngs: Sequence[Generator], state: BatchState) -> list[Info]:
    """Walk the precisions of all chains, one factorisation of all for each step."""
    evidence, prior = state.evidence, move.prior
    place = np.log(evidence.precision)
    level = evidence.log_evidence() + prior.log_density(place)
    least, n_accepted = np.log(evidence.least_precision), np.zeros(len(rngs))
    for _ in range(move.n_steps):
        sizes = np.array([steps[move.name] for steps in state.steps])
        proposal = place + sizes * np.array([rng.normal() for rng in rngs])
        threshold = np.log([rng.random() for rng in rngs])
        inside = (least <= proposal) & (proposal <= np.log(LARGEST_ENTRY))
        at = np.where(inside, proposal, place)
        reached = np.where(inside, log_evidence_at(evidence, np.exp(at)), -np.inf)
        proposed = reached + prior.log_density(proposal)
        accepted = threshold < proposed - level
        place, level = np.where(accepted, (proposal, proposed), (place, level))
        n_accepted += accepted
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
"""Moves of all chains by the class of the move that each makes alone."""

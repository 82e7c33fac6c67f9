"""The driver of chains side by side: the stages of one chain, for all of them at once."""

from collections.abc import Sequence
from itertools import groupby
from time import perf_counter
from typing import Any

import numpy as np

from bochner._numerics import progress as reports
from bochner.learning.batched.chain import BatchChain, BatchState
from bochner.learning.chains.driver import (
    REBUILD_EVERY,
    ChainProgress,
    PreparedChain,
    Stage,
    is_in_full,
    record_of,
    tell,
)


def run_together(
    chains: Sequence[PreparedChain],
    home: Any,
    *,
    seconds: float | None = None,
    report: reports.Progress = reports.silent,
) -> list[ChainProgress]:
    """Run chains on the device of ``home``, whose type is that of the features.

    Chains of one schedule run side by side; ``seconds`` limit all of them together. What they
    return is in the order of the chains.
    """
    order = sorted(range(len(chains)), key=lambda index: repr(chains[index].schedule))
    groups = [list(own) for _, own in groupby(order, lambda index: chains[index].schedule)]
    found: dict[int, ChainProgress] = {}
    for own in groups:
        limit = None if seconds is None else seconds * len(own) / len(chains)
        made = _run([chains[index] for index in own], home, limit, report)
        found |= dict(zip(own, made, strict=True))
    return [found[index] for index in range(len(chains))]


def _run(
    chains: Sequence[PreparedChain], home: Any, seconds: float | None, report: reports.Progress
) -> list[ChainProgress]:
    """Run chains of one schedule; see :func:`run_together`."""
    began, state = perf_counter(), None
    progress = [ChainProgress() for _ in chains]
    batch: BatchChain | None = None
    for number, stages in enumerate(zip(*(chain.stages for chain in chains), strict=True)):
        if number == 0 or stages[0].chain is not chains[0].stages[number - 1].chain:
            batch = BatchChain.of([stage.chain for stage in stages], home)
            state = _begun(batch, chains, state)
        assert batch is not None
        assert state is not None
        end = np.inf if seconds is None else began + seconds * stages[0].until
        state = _staged(batch, chains, stages[0], state, progress, end, report)
        for own in progress:
            own.stage, own.iteration, own.seconds = number + 1, 0, perf_counter() - began
    return progress


def _begun(
    batch: BatchChain, chains: Sequence[PreparedChain], last: BatchState | None
) -> BatchState:
    """Return the first state of a stage, where the chains start or where the last one ended."""
    rngs = [chain.rng for chain in chains]
    if last is None:
        omega = np.stack([chain.omega for chain in chains])
        precision = np.array([chain.precision for chain in chains])
        return batch.init(rngs, omega, [chain.prior for chain in chains], precision)
    return batch.init(rngs, last.evidence.omega, last.priors, last.evidence.precision)


def _staged(
    batch: BatchChain,
    chains: Sequence[PreparedChain],
    stage: Stage,
    state: BatchState,
    progress: Sequence[ChainProgress],
    end: float,
    report: reports.Progress,
) -> BatchState:
    """Run the iterations of a stage until a time of the clock, at least one."""
    rngs = [chain.rng for chain in chains]
    for iteration in range(stage.n_iterations):
        if iteration and (report.is_stopped or perf_counter() > end):
            break
        began = perf_counter()
        rounds = [batch.step(rngs, state, adapting=stage.adapting)]
        while len(rounds) < stage.thin and perf_counter() < end:
            rounds.append(batch.step(rngs, state, adapting=stage.adapting))
        in_full = is_in_full(stage, iteration)
        draws = [] if stage.adapting else batch.draws(state, rounds[-1], in_full=in_full)
        for index, own in enumerate(progress):
            if stage.adapting:
                own.n_burn_in += 1
            else:
                own.draws.append(draws[index])
            infos = [infos[index] for infos in rounds]
            own.iteration += 1
            own.records.append(record_of(state.priors[index], state.steps[index], infos, began))
        tell(report, stage, progress[0])
        if (iteration + 1) % REBUILD_EVERY == 0:
            state = batch.rebuilt(state)
    return state

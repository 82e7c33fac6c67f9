"""Runs chains in a batch: the stages of a single chain, for all chains at once."""

from collections.abc import Sequence
from itertools import groupby
from time import perf_counter

import numpy as np

from bochner._numerics import progress as reports
from bochner._numerics.namespaces import DeviceArray
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
    home: DeviceArray,
    *,
    seconds: float | None = None,
    report: reports.Progress = reports.silent,
) -> list[ChainProgress]:
    """Run chains on the device of ``home``, an array of the type of the features.

    Chains with the same schedule run in one batch. ``seconds`` is the time limit of all chains
    together. Results are in the order of the chains.
    """
    # A batch needs equal shapes: chains of other sizes or schedules run after it.
    order = sorted(range(len(chains)), key=lambda index: repr(chains[index].schedule))
    groups = [list(members) for _, members in groupby(order, lambda index: chains[index].schedule)]
    progress_of: dict[int, ChainProgress] = {}
    for members in groups:
        limit = None if seconds is None else seconds * len(members) / len(chains)
        progress = _run([chains[index] for index in members], home, limit, report)
        progress_of |= dict(zip(members, progress, strict=True))
    return [progress_of[index] for index in range(len(chains))]


def _run(
    chains: Sequence[PreparedChain],
    home: DeviceArray,
    seconds: float | None,
    report: reports.Progress,
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
        # Stages of a batch have the same schedule, so that the first chain's applies to all.
        end = np.inf if seconds is None else began + seconds * stages[0].until
        state = _staged(batch, chains, stages[0], state, progress, end, report)
        for run in progress:
            run.stage, run.iteration, run.seconds = number + 1, 0, perf_counter() - began
    return progress


def _begun(
    batch: BatchChain, chains: Sequence[PreparedChain], last: BatchState | None
) -> BatchState:
    """Return the first state of a stage: where chains start, or the end of the last stage."""
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
    """Run the iterations of a stage until the time ``end``, at least one."""
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
        for index, run in enumerate(progress):
            if stage.adapting:
                run.n_burn_in += 1
            else:
                run.draws.append(draws[index])
            infos = [infos[index] for infos in rounds]
            run.iteration += 1
            run.records.append(record_of(state.priors[index], state.steps[index], infos, began))
        # One report per iteration: chains of a batch advance together.
        tell(report, stage, progress[0])
        if (iteration + 1) % REBUILD_EVERY == 0:
            state = batch.rebuilt(state)
    return state

"""The one driver of all chains: stages, adaptation, thinning, time, interruption."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from bochner._numerics.arrays import Array
from bochner.learning.inference.checkpoint import read_checkpoint, write_checkpoint
from bochner.learning.inference.draws import Draw
from bochner.learning.inference.prior import FrequencyPrior
from bochner.learning.moves.base import Info, StepSizes

REBUILD_EVERY = 10
"""Iterations between states computed afresh: it bounds rounding, and there a run may resume."""

_SECONDS_BETWEEN_CHECKPOINTS = 2.0
_SHARE_OF_CHECKPOINTS = 0.05


class State(Protocol):
    """What the driver knows of a chain's state."""

    @property
    def prior(self) -> FrequencyPrior:
        """The parameters of the frequencies' law."""

    @property
    def sizes(self) -> StepSizes:
        """Step sizes in use."""


class Chain(Protocol):
    """A Markov chain: pure steps from state to state."""

    def init(
        self, rng: np.random.Generator, omega: Array, prior: FrequencyPrior, precision: float
    ) -> Any:
        """Return the state at given frequencies."""

    def step(self, rng: np.random.Generator, state: Any, *, adapting: bool) -> tuple[Any, Info]:
        """Return the state after one round of moves."""

    def rebuilt(self, state: Any) -> Any:
        """Return the state computed afresh."""

    def draw(self, state: Any, info: Info, *, in_full: bool) -> Draw:
        """Return what is kept of a state."""

    def saved(self, state: Any) -> dict[str, Any]:
        """Return what a state consists of."""

    def restored(self, saved: dict[str, Any], prior: FrequencyPrior, sizes: StepSizes) -> Any:
        """Return the state that was saved."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A number of iterations of one chain.

    Parameters
    ----------
    chain : Chain
    n_iterations : int
    thin : int
        Rounds of moves an iteration.
    adapting : bool
        Whether step sizes are adapted; draws are kept where they are not.
    until : float
        The share of the time limit at which the stage ends at the latest.
    """

    chain: Chain
    n_iterations: int
    thin: int
    adapting: bool
    until: float


@dataclass(slots=True)
class Progress:
    """How far a run has come."""

    stage: int = 0
    iteration: int = 0
    seconds: float = 0.0
    draws: list[Draw] = field(default_factory=list)
    records: list[Info] = field(default_factory=list)
    n_burn_in: int = 0


def run(
    rng: np.random.Generator,
    stages: Sequence[Stage],
    start: Callable[[Chain], Any],
    *,
    n_full: int = 16,
    time_limit: float | None = None,
    checkpoint: Path | None = None,
    fingerprint: str = "",
    report: Callable[[str], None] | None = None,
) -> Progress:
    """Run the stages one after the other and return draws and records.

    Parameters
    ----------
    rng : numpy.random.Generator
        Of the whole run; a checkpoint holds its state.
    stages : sequence of Stage
        The last one keeps its draws.
    start : callable
        Returns the first chain's first state.
    n_full : int
        Number of draws kept in full, with the covariance of their weights.
    time_limit : float or None
        Seconds for all stages; every stage makes at least one iteration.
    checkpoint : Path or None
        A file to resume from, if it is there, and to write now and then.
    fingerprint : str
        Of data and parameters; a checkpoint with another one is refused.
    report : callable
        Called with a line of text now and then.

    Raises
    ------
    ValueError
        If the checkpoint is of another run.
    """
    progress, state = Progress(), None
    if checkpoint is not None and checkpoint.exists():
        progress, state = _resumed(checkpoint, fingerprint, rng, stages, start)
    before = perf_counter() - progress.seconds
    next_save = before + progress.seconds + _SECONDS_BETWEEN_CHECKPOINTS
    while progress.stage < len(stages):
        stage = stages[progress.stage]
        if state is None:
            state = start(stage.chain)
        deadline = None if time_limit is None else time_limit * stage.until
        while progress.iteration < stage.n_iterations:
            if progress.iteration and deadline is not None and progress.seconds > deadline:
                break
            state = _iterate(rng, stage, state, progress, n_full)
            progress.seconds = perf_counter() - before
            if report is not None:
                report(_line(stages, progress))
            if progress.iteration % REBUILD_EVERY == 0:
                state = stage.chain.rebuilt(state)
                began = perf_counter()
                if checkpoint is not None and began > next_save:
                    _save(checkpoint, fingerprint, rng, stage.chain, state, progress)
                    next_save = _after(began)
        if checkpoint is not None and progress.stage == len(stages) - 1:
            # Other chains may still have to run: this one shall not be run again.
            _save(checkpoint, fingerprint, rng, stage.chain, state, progress)
        state = _handed_on(rng, stages, state, progress)
    return progress


def _after(began: float) -> float:
    """Return when to save again: soon, but most of the time is for sampling."""
    now = perf_counter()
    return now + max(_SECONDS_BETWEEN_CHECKPOINTS, (now - began) / _SHARE_OF_CHECKPOINTS)


def _iterate(
    rng: np.random.Generator, stage: Stage, state: Any, progress: Progress, n_full: int
) -> Any:
    """Make one iteration, record it, and keep a draw where draws are kept."""
    began = perf_counter()
    infos: list[Info] = []
    for _ in range(stage.thin):
        state, info = stage.chain.step(rng, state, adapting=stage.adapting)
        infos.append(info)
    kept = not stage.adapting
    mean_info = {name: float(np.mean([info[name] for info in infos])) for name in infos[0]}
    # Rates are averaged over the rounds of an iteration; the rest is the state's.
    record = {
        name: mean_info[name] if name.startswith("acceptance") else infos[-1][name]
        for name in mean_info
    }
    if kept:
        every = max(1, stage.n_iterations // max(n_full, 1))
        in_full = n_full > 0 and progress.iteration % every == 0
        draw = stage.chain.draw(state, infos[-1], in_full=in_full)
        progress.draws.append(draw)
    else:
        progress.n_burn_in += 1
    progress.iteration += 1
    record["n_components"] = float(state.prior.n_components)
    record["step_size_precision"] = state.sizes.precision
    record["step_size_hmc"] = state.sizes.hamiltonian
    record["seconds"] = perf_counter() - began
    progress.records.append(record)
    return state


def _handed_on(
    rng: np.random.Generator, stages: Sequence[Stage], state: Any, progress: Progress
) -> Any:
    """Return the state for the next stage, on the rows of its chain."""
    finished = stages[progress.stage]
    progress.stage += 1
    progress.iteration = 0
    if progress.stage == len(stages) or stages[progress.stage].chain is finished.chain:
        return state
    saved = finished.chain.saved(state)
    return stages[progress.stage].chain.init(rng, saved["omega"], state.prior, saved["precision"])


def _line(stages: Sequence[Stage], progress: Progress) -> str:
    stage = stages[progress.stage]
    record = progress.records[-1]
    value = record.get("log_evidence", record.get("log_likelihood", 0.0))
    name = "burn-in" if stage.adapting else "sampling"
    return (
        f"{name} {progress.iteration}/{stage.n_iterations}: log evidence {value:.1f}, "
        f"{record['n_components']:.0f} components"
    )


def _save(
    path: Path,
    fingerprint: str,
    rng: np.random.Generator,
    chain: Chain,
    state: Any,
    progress: Progress,
) -> None:
    write_checkpoint(
        path,
        {
            "fingerprint": fingerprint,
            "rng": rng.bit_generator.state,
            "stage": progress.stage,
            "iteration": progress.iteration,
            "seconds": progress.seconds,
            "n_burn_in": progress.n_burn_in,
            "records": progress.records,
            "sizes": state.sizes,
            "state": chain.saved(state),
            "prior": state.prior.state(),
            "draws": progress.draws,
        },
    )


def _resumed(
    path: Path,
    fingerprint: str,
    rng: np.random.Generator,
    stages: Sequence[Stage],
    start: Callable[[Chain], Any],
) -> tuple[Progress, Any]:
    """Return progress and state of a checkpoint, and set the generator to where it was."""
    saved = read_checkpoint(path)
    if saved["fingerprint"] != fingerprint:
        raise ValueError(
            f"The checkpoint {path} belongs to a fit with other data or parameters; "
            "give the same ones, another path, or delete the file."
        )
    chain = stages[saved["stage"]].chain
    template = start(stages[0].chain).prior
    rng.bit_generator.state = saved["rng"]
    state = chain.restored(saved["state"], template.restored(saved["prior"]), saved["sizes"])
    progress = Progress(
        stage=saved["stage"],
        iteration=saved["iteration"],
        seconds=saved["seconds"],
        draws=saved["draws"],
        records=saved["records"],
        n_burn_in=saved["n_burn_in"],
    )
    return progress, state

"""Runs chains: their stages, adaptation, thinning, time limits and checkpoints."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from bochner._base import progress as reports
from bochner._base.arrays import Array
from bochner.learned.checkpoint import check_form, damaged, read_checkpoint, write_checkpoint
from bochner.learned.draws import ChainDraw
from bochner.learned.gaussian_components import mean_kernel
from bochner.learned.prior import FrequencyPrior
from bochner.learned.state import Info, StepSizes

REBUILD_EVERY = 10
"""Number of iterations between recomputed states, from which a run can be resumed. Recomputing a
state takes one more pass over the rows; between two of them rounding errors accumulate."""

FULL_DRAWS = 16
"""Number of draws of a chain that are stored with the covariance of their weights, of size p^2."""

_SECONDS_BETWEEN_CHECKPOINTS = 2.0
"""Smallest time between two checkpoints, which limits the loss if a fast run is killed."""

_SHARE_OF_CHECKPOINTS = 0.05
"""Largest share of the time for writing checkpoints: with less, a killed run loses more."""


class State(Protocol):
    """The attributes of a chain's state that the driver reads; the chain changes them in place."""

    prior: FrequencyPrior
    steps: StepSizes


class Chain(Protocol):
    """A Markov chain over frequencies, which owns its rows and the states that it returns."""

    def init(self, rng: Generator, omega: Array, prior: FrequencyPrior, precision: float) -> Any:
        """Return the state at the unknowns of the basis ``omega`` (k, D)."""

    def step(self, rng: Generator, state: Any, *, adapting: bool) -> Info:
        """Make one round of moves in place; return acceptances and log densities by name."""

    def draw(self, state: Any, info: Info, *, in_full: bool) -> ChainDraw:
        """Return the stored draw of a state."""

    def saved(self, state: Any) -> dict[str, Any]:
        """Return the values that determine a state: ``omega``, ``precision``, ``prior``, ..."""

    def restored(self, saved: Mapping[str, Any], prior: FrequencyPrior) -> Any:
        """Return a state recomputed from saved values; ``prior`` has the same hyper-parameters."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A number of iterations of one chain."""

    chain: Chain
    n_iterations: int
    thin: int  # Rounds of moves per iteration
    adapting: bool  # Whether step sizes are adapted; draws are stored in other stages only
    until: float  # Share of the time limit at which the stage ends at the latest


@dataclass(frozen=True, slots=True, eq=False)
class PreparedChain:
    """A chain before its first round: its generator, its stages and its starting point."""

    rng: Generator
    stages: Sequence[Stage]
    omega: Array  # (k, D)
    prior: FrequencyPrior
    precision: float

    def start(self, chain: Chain) -> Any:
        """Return the first state of the first stage's chain."""
        return chain.init(self.rng, self.omega, self.prior, self.precision)


@dataclass(slots=True)
class ChainProgress:
    """The progress of a run, which the driver changes in place."""

    stage: int = 0  # Number of finished stages
    iteration: int = 0  # Number of iterations of the current stage
    seconds: float = 0.0
    draws: list[ChainDraw] = field(default_factory=list)
    records: list[Info] = field(default_factory=list)  # One for every iteration of every stage
    n_burn_in: int = 0  # Number of iterations without stored draws


def run(
    rng: Generator,
    stages: Sequence[Stage],
    start: Callable[[Chain], Any],
    *,
    seconds: float | None = None,
    checkpoint: Path | None = None,
    fingerprint: str = "",
    report: reports.Progress = reports.silent,
) -> ChainProgress:
    """Run the stages in order and return draws and records.

    ``start`` returns the first state of the first chain. ``seconds`` is the time limit of all
    stages together; each stage has its share of it and at least one iteration. ``report`` is called
    after every iteration; if it is stopped, stages end as at the time limit. An existing
    ``checkpoint`` is resumed, and checkpoints are written regularly. Raises ``ValueError`` if the
    ``fingerprint`` of data and parameters in the checkpoint differs.
    """
    progress, state = ChainProgress(), None
    if checkpoint is not None and checkpoint.exists():
        progress, state = _resumed(checkpoint, fingerprint, rng, stages, start)
    # A resumed run counts the time that it has already used.
    before = perf_counter() - progress.seconds
    next_save = before + progress.seconds + _SECONDS_BETWEEN_CHECKPOINTS
    while progress.stage < len(stages):
        stage = stages[progress.stage]
        if state is None:
            state = start(stage.chain)
        while progress.iteration < stage.n_iterations:
            end = np.inf if seconds is None else before + seconds * stage.until
            # At least one iteration of each stage.
            if progress.iteration and (report.is_stopped or perf_counter() > end):
                break
            _iterate(rng, stage, state, progress, end)
            progress.seconds = perf_counter() - before
            tell(report, stage, progress)
            if progress.iteration % REBUILD_EVERY == 0:
                saved = stage.chain.saved(state)
                # From saved values, as a resumed run does: both continue with the same digits.
                state = stage.chain.restored(saved, state.prior)
                began = perf_counter()
                if checkpoint is not None and began > next_save:
                    _save(checkpoint, fingerprint, rng, saved, progress)
                    # The next checkpoint is soon, but writing takes a small share of the time.
                    now = perf_counter()
                    wait = max(_SECONDS_BETWEEN_CHECKPOINTS, (now - began) / _SHARE_OF_CHECKPOINTS)
                    next_save = now + wait
        if checkpoint is not None and progress.stage == len(stages) - 1:
            # A resumed fit, whose other chains have not finished, must not repeat this chain.
            _save(checkpoint, fingerprint, rng, stage.chain.saved(state), progress)
        state = _handed_on(rng, stages, state, progress)
    return progress


def _iterate(
    rng: Generator, stage: Stage, state: State, progress: ChainProgress, end: float
) -> None:
    """Make one iteration, record it, and store a draw unless step sizes are adapted.

    An iteration has at least one round. No further round begins after ``end``, in the time of
    ``perf_counter``.
    """
    began = perf_counter()
    infos = [stage.chain.step(rng, state, adapting=stage.adapting)]
    while len(infos) < stage.thin and perf_counter() < end:
        infos.append(stage.chain.step(rng, state, adapting=stage.adapting))
    if stage.adapting:
        progress.n_burn_in += 1
    else:
        in_full = is_in_full(stage, progress.iteration)
        progress.draws.append(stage.chain.draw(state, infos[-1], in_full=in_full))
    progress.iteration += 1
    progress.records.append(record_of(state.prior, state.steps, infos, began))


def is_in_full(stage: Stage, iteration: int) -> bool:
    """Return whether the draw of an iteration is stored with the covariance of its weights."""
    return iteration % max(1, stage.n_iterations // FULL_DRAWS) == 0


def record_of(prior: FrequencyPrior, steps: StepSizes, infos: Sequence[Info], began: float) -> Info:
    """Return the record of an iteration that began at the time ``began``.

    Acceptance rates are averaged over the rounds; other numbers are those of the last round.
    """
    record = {
        name: float(np.mean([info[name] for info in infos]))
        if name.startswith("acceptance")
        else infos[-1][name]
        for name in infos[0]
    }
    record["n_components"] = float(prior.n_components)
    record |= {f"step_size_{name}": size for name, size in steps.values.items()}
    record["seconds"] = perf_counter() - began
    return record


def _handed_on(
    rng: Generator, stages: Sequence[Stage], state: State, progress: ChainProgress
) -> Any:
    """Return the state for the next stage: recomputed if its chain has different rows."""
    finished = stages[progress.stage].chain
    progress.stage += 1
    progress.iteration = 0
    if progress.stage == len(stages) or stages[progress.stage].chain is finished:
        return state
    saved = finished.saved(state)
    return stages[progress.stage].chain.init(rng, saved["omega"], state.prior, saved["precision"])


def tell(report: reports.Progress, stage: Stage, progress: ChainProgress) -> None:
    """Report the progress and the last record of a chain."""
    record = progress.records[-1]
    value = record.get("log_evidence", record.get("log_likelihood", 0.0))
    report(
        "burn-in" if stage.adapting else "sampling",
        progress.iteration,
        stage.n_iterations,
        {"log evidence": value, "components": record["n_components"]},
    )


def _save(
    path: Path,
    fingerprint: str,
    rng: Generator,
    state: Mapping[str, object],
    progress: ChainProgress,
) -> None:
    run = {each.name: getattr(progress, each.name) for each in fields(progress)}
    header = {"fingerprint": fingerprint, "rng": rng.bit_generator.state, "state": state}
    write_checkpoint(path, header | run)


def _resumed(
    path: Path,
    fingerprint: str,
    rng: Generator,
    stages: Sequence[Stage],
    start: Callable[[Chain], Any],
) -> tuple[ChainProgress, Any]:
    """Return progress and state of a checkpoint, and restore the state of the generator."""
    saved = read_checkpoint(path)
    if saved.pop("fingerprint") != fingerprint:
        raise ValueError(
            f"The checkpoint {path} belongs to a fit with other data or parameters; "
            "give the same ones, another path, or delete the file."
        )
    try:
        template = start(stages[saved["stage"]].chain)
        expected = stages[saved["stage"]].chain.saved(template)
        check_form(saved["state"], expected)
        progress, generator = _sound(saved, stages, template.prior)
    except Exception as error:  # A damaged file may cause errors of any kind
        raise damaged(path, error) from error
    # After all checks, which use other random numbers.
    rng.bit_generator.state = generator
    chain = stages[progress.stage].chain
    return progress, chain.restored(saved["state"], template.prior)


def _sound(
    saved: Mapping[str, Any], stages: Sequence[Stage], template: Any
) -> tuple[ChainProgress, dict[str, Any]]:
    """Return the progress and the generator's state of a checkpoint, after checking both.

    A step of the chain, whose result is discarded, and a draw test that the saved state fits.
    """
    values = {each.name: saved[each.name] for each in fields(ChainProgress)}
    progress, generator = ChainProgress(**values), np.random.default_rng()
    generator.bit_generator.state = saved["rng"]
    stage = stages[progress.stage]
    if progress.iteration > stage.n_iterations or len(progress.records) < progress.iteration:
        raise ValueError(f"iteration {progress.iteration} of {stage.n_iterations}")
    state = stage.chain.restored(saved["state"], template)
    is_finished = stage is stages[-1] and progress.iteration == stage.n_iterations
    info = (
        progress.records[-1]
        if is_finished
        else stage.chain.step(generator, state, adapting=stage.adapting)
    )
    expected_form = _form(stage.chain.draw(state, info, in_full=True))
    for draw in progress.draws:
        if draw.components is not None:
            mean_kernel([draw.components], np.ones(draw.components.means.shape[1]))
        for name, form in _form(draw).items():
            if form is not None and form != expected_form[name]:
                raise ValueError(f"{name} of a draw is {form}, not {expected_form[name]}")
    return progress, saved["rng"]


def _form(draw: ChainDraw) -> dict[str, object]:
    """Return type and shape of each part of a draw; for components, whose number varies, of one."""
    parts = {each.name: getattr(draw, each.name) for each in fields(draw)}
    if draw.components is not None:
        parts["components"] = draw.components.means[0]
    return {
        name: None if part is None else (str(np.asarray(part).dtype), np.shape(part))
        for name, part in parts.items()
    }

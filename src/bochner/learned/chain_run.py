"""A Markov chain over frequencies, and the stages in which it runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array
from bochner._base.progress import Progress, silent
from bochner.learned.chain_state import ChainState, ConditionallyGaussian, Info, StepSizes
from bochner.learned.draws import ChainDraw, drawn
from bochner.learned.frequency_priors import FrequencyPrior
from bochner.learned.moves import LOCAL_MOVES, Move
from bochner.learned.training_data import TrainingData


@dataclass(frozen=True, slots=True, eq=False)
class CollapsedChain:
    r"""Samples :math:`p(\omega, \lambda_0, \theta \mid y)`, with the weights integrated out.

    A round applies every move in turn and then redraws the latent variables of the likelihood.
    """

    rows: TrainingData  # Training data that the chain conditions on
    likelihood: ConditionallyGaussian
    moves: tuple[Move, ...] = LOCAL_MOVES

    def init(
        self, rng: Generator, omega: Array, prior: FrequencyPrior, precision: float
    ) -> ChainState:
        rows, n_copies = self.rows, self._n_copies
        latent, reusable = self.likelihood.start(rng, rows, omega, precision, n_copies)
        weighted_rows, evidence = self.likelihood.conditioned(
            rows, latent, omega, precision, n_copies, reusable
        )
        sizes = StepSizes({m.name: m.step_size for m in self.moves if m.step_size is not None})
        return ChainState(weighted_rows, evidence, prior, sizes, latent)

    def step(self, rng: Generator, state: ChainState, *, adapting: bool = False) -> Info:
        info: Info = {}
        for move in self.moves:
            info |= _numbers_of(move, move(rng, state))
        info |= self.likelihood.redraw(rng, self.rows, state)
        if adapting:
            adapt(state.steps, self.moves, info)
        return info

    def draw(self, state: ChainState, info: Info, *, in_full: bool) -> ChainDraw:
        density = info["log_evidence" if "log_evidence" in info else "log_likelihood"]
        draw = drawn(state.evidence, state.prior, density, in_full=in_full)
        return replace(draw, **self.likelihood.kept(state.latent))

    def rebuild(self, state: ChainState) -> None:
        state.rows, state.evidence = self.likelihood.conditioned(
            self.rows, state.latent, state.omega, state.precision, self._n_copies
        )

    @property
    def _n_copies(self) -> int:
        return max((move.n_copies for move in self.moves), default=1)


def _numbers_of(move: Move, report: Info) -> Info:
    """Return the report of a move, validated because the move may be user code."""
    name = type(move).__name__
    if not isinstance(report, dict):
        raise TypeError(f"{name} must return a dict of numbers, got {report!r:.60}.")
    for key, value in report.items():
        if np.ndim(value):
            raise TypeError(f"{name} must return a dict of numbers, got {value!r:.60} for {key!r}.")
    return report


def adapt(steps: StepSizes, moves: Sequence[Move], info: Info) -> None:
    """Adapt step sizes in place to the acceptances of a round of moves."""
    targets = {m.name: m.target_acceptance for m in moves if m.target_acceptance is not None}
    steps.adapt(targets, info)


REBUILD_EVERY = 10
"""Iterations after which a state is recomputed, because rounding errors accumulate."""

FULL_DRAWS = 16
"""Number of draws of a chain that are stored with the covariance of their weights, of size p^2."""


class Chain(Protocol):
    """A Markov chain over frequencies; states have at least ``omega``, ``prior``, ``precision``."""

    def init(self, rng: Generator, omega: Array, prior: FrequencyPrior, precision: float) -> Any:
        """Return the initial state for the unknowns ``omega`` (k, D) of the basis."""

    def step(self, rng: Generator, state: Any, *, adapting: bool) -> Info:
        """Make one round of moves in place; return acceptance rates and log densities by name."""

    def draw(self, state: Any, info: Info, *, in_full: bool) -> ChainDraw:
        """Return what is stored of a state; ``in_full`` adds the covariance of its weights."""

    def rebuild(self, state: Any) -> None:
        """Recompute sums over rows from the unknowns, so that rounding errors do not add up."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a run of a chain, such as a warm-up, the burn-in or the sampling."""

    chain: Chain
    n_iterations: int
    thin: int  # Rounds of moves per iteration
    adapting: bool  # Whether step sizes are adapted; draws are stored in other stages only
    until: float  # Share of the time limit after which the stage stops


@dataclass(frozen=True, slots=True, eq=False)
class PreparedChain:
    """A chain before its first round: its generator, its stages and its starting point."""

    rng: Generator
    stages: Sequence[Stage]
    omega: Array  # (k, D)
    prior: FrequencyPrior
    precision: float


@dataclass(slots=True)
class ChainRun:
    """The stored draws of a chain, and the records of its iterations."""

    draws: list[ChainDraw] = field(default_factory=list)
    records: list[Info] = field(default_factory=list)  # One for every iteration of every stage
    n_burn_in: int = 0  # Number of iterations without stored draws


def run(
    prepared: PreparedChain, *, seconds: float | None = None, report: Progress = silent
) -> ChainRun:
    """Run the stages of a chain in order; return its draws and records.

    ``seconds`` is the time limit of all stages together; each stage has its share of it and at
    least one iteration. ``report`` is called after every iteration; if it is stopped, stages end as
    at the time limit.
    """
    result, began, rng = ChainRun(), perf_counter(), prepared.rng
    omega, prior, precision = prepared.omega, prepared.prior, prepared.precision
    chain: Any = None
    state: Any = None
    for stage in prepared.stages:
        if stage.chain is not chain:
            chain = stage.chain
            state = chain.init(rng, omega, prior, precision)
        end = np.inf if seconds is None else began + seconds * stage.until
        for iteration in range(stage.n_iterations):
            if iteration and (report.is_stopped or perf_counter() > end):
                break
            _iterate(rng, stage, state, result, iteration, end)
            _tell(report, stage, iteration + 1, result.records[-1])
            if (iteration + 1) % REBUILD_EVERY == 0:
                stage.chain.rebuild(state)
        omega, prior, precision = state.omega, state.prior, state.precision
    return result


def _iterate(
    rng: Generator, stage: Stage, state: Any, result: ChainRun, iteration: int, end: float
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
        result.n_burn_in += 1
    else:
        in_full = iteration % max(1, stage.n_iterations // FULL_DRAWS) == 0
        result.draws.append(stage.chain.draw(state, infos[-1], in_full=in_full))
    result.records.append(_record_of(state, infos, began))


def _record_of(state: Any, infos: Sequence[Info], began: float) -> Info:
    """Return the record of an iteration: mean acceptances, and the last round's other values."""
    record = {
        name: float(np.mean([info[name] for info in infos]))
        if name.startswith("acceptance")
        else infos[-1][name]
        for name in infos[0]
    }
    record["n_components"] = float(state.prior.n_components)
    record |= {f"step_size_{name}": size for name, size in state.steps.values.items()}
    record["seconds"] = perf_counter() - began
    return record


def _tell(report: Progress, stage: Stage, n_finished: int, record: Info) -> None:
    value = record.get("log_evidence", record.get("log_likelihood", 0.0))
    report(
        "burn-in" if stage.adapting else "sampling",
        n_finished,
        stage.n_iterations,
        {"log evidence": value, "components": record["n_components"]},
    )

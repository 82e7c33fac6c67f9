"""The Markov chain over frequencies: a likelihood, a tuple of moves and a state."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array
from bochner.learned.draws import ChainDraw, drawn
from bochner.learned.likelihood import ConditionallyGaussian
from bochner.learned.moves import LOCAL_MOVES
from bochner.learned.moves.move import Move
from bochner.learned.prior import FrequencyPrior
from bochner.learned.state import ChainState, Info, StepSizes
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
        return ChainState(weighted_rows, evidence, prior, first_steps(self.moves), latent)

    def step(self, rng: Generator, state: ChainState, *, adapting: bool = False) -> Info:
        info: Info = {}
        for move in self.moves:
            info |= _numbers_of(move, move(rng, state))
        info |= self.likelihood.redraw(rng, self.rows, state)
        if adapting:
            adapt(state.steps, self.moves, info)
        return info

    def draw(self, state: ChainState, info: Info, *, in_full: bool) -> ChainDraw:
        draw = drawn(state.evidence, state.prior, density_of(info), in_full=in_full)
        return replace(draw, **self.likelihood.kept(state.latent))

    def rebuild(self, state: ChainState) -> None:
        state.rows, state.evidence = self.likelihood.conditioned(
            self.rows, state.latent, state.omega, state.precision, self._n_copies
        )

    @property
    def _n_copies(self) -> int:
        return max((move.n_copies for move in self.moves), default=1)


def _numbers_of(move: Move, report: Info) -> Info:
    """Return the report of a move, whose author may be a user, after a check of it."""
    name = type(move).__name__
    if not isinstance(report, dict):
        raise TypeError(f"{name} must return a dict of numbers, got {report!r}.")
    for key, value in report.items():
        if np.ndim(value):
            raise TypeError(f"{name} must return a dict of numbers, got {value!r} for {key!r}.")
    return report


def density_of(info: Info) -> float:
    """Return the log evidence, or the log likelihood of labels, which have no evidence."""
    return info["log_evidence"] if "log_evidence" in info else info["log_likelihood"]


def first_steps(moves: Sequence[Move]) -> StepSizes:
    """Return the initial step sizes of moves."""
    return StepSizes({m.name: m.step_size for m in moves if m.step_size is not None})


def adapt(steps: StepSizes, moves: Sequence[Move], info: Info) -> None:
    """Adapt step sizes in place to the acceptances of a round of moves."""
    targets = {m.name: m.target_acceptance for m in moves if m.target_acceptance is not None}
    steps.adapt(targets, info)

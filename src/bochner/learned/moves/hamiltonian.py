"""Hamiltonian moves of all frequencies at once."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from scipy.linalg import LinAlgError

from bochner._base.arrays import Array
from bochner._base.registry import register
from bochner.learned.chain_evidence import ChainEvidence, frequency_gradient
from bochner.learned.moves.move import Move
from bochner.learned.prior import Whitening
from bochner.learned.state import ChainState, Info
from bochner.learned.training_data import TrainingData

_DIVERGENCE = 50.0
"""Increase of the energy, in nats, at which a trajectory is rejected early: its acceptance
probability would be e^-50."""


@register
@dataclass(frozen=True, slots=True)
class Hamiltonian(Move):
    """One leapfrog trajectory of all frequencies, along the gradient of the log evidence.

    Positions are whitened coordinates. A gradient costs about as much as a sweep of replacements.

    Parameters
    ----------
    n_steps : int, default=8
        Number of leapfrog steps of a trajectory, one gradient each. With half as many the move is
        close to a random walk; twice as many double the cost.
    jitter : float, default=0.2
        Relative range of the random step size of a trajectory, so that trajectories do not end
        after whole periods of the motion.
    """

    n_steps: int = 8
    jitter: float = 0.2

    name: ClassVar[str] = "hmc"
    step_size: ClassVar[float] = 0.03
    target_acceptance: ClassVar[float] = 0.7
    n_copies: ClassVar[int] = 3

    def __call__(self, rng: Generator, state: ChainState) -> Info:
        whitening = state.prior.whitening(rng, state.omega)
        rows, evidence = state.rows, state.evidence
        step = state.steps[self.name] * (1.0 + self.jitter * rng.uniform(-1.0, 1.0))
        momentum = np.where(whitening.moving, rng.normal(size=state.omega.shape), 0.0)
        threshold = np.log(rng.random())
        position = whitening.whiten(state.omega)
        energy = _energy(evidence, position, momentum)
        force = _force(evidence, rows, whitening, position)
        for _ in range(self.n_steps):
            momentum = momentum + 0.5 * step * force
            position = position + step * momentum
            try:
                evidence = state.evidence_at(whitening.colour(position))
            # Positions far away may make features collinear: such a trajectory is rejected.
            except LinAlgError:
                return {"acceptance_hmc": 0.0}
            force = _force(evidence, rows, whitening, position)
            momentum = momentum + 0.5 * step * force
            if _energy(evidence, position, momentum) - energy > _DIVERGENCE:
                return {"acceptance_hmc": 0.0}
        log_ratio = energy - _energy(evidence, position, momentum)
        if threshold < log_ratio:
            state.evidence = evidence
        return {"acceptance_hmc": float(np.exp(min(log_ratio, 0.0)))}


def _energy(evidence: ChainEvidence, position: Array, momentum: Array) -> float:
    return 0.5 * float(np.sum(position**2) + np.sum(momentum**2)) - evidence.log_evidence()


def _force(
    evidence: ChainEvidence, rows: TrainingData, whitening: Whitening, position: Array
) -> Array:
    return whitening.pull(frequency_gradient(evidence, rows)) - position

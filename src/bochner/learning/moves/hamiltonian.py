"""Hamiltonian moves of all frequencies at once."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from bochner._numerics.arrays import Array
from bochner.learning.inference.evidence import Evidence, evidence_of
from bochner.learning.inference.gradient import frequency_gradient
from bochner.learning.inference.prior import Whitening
from bochner.learning.inference.summed import SummedRows

_DIVERGENCE = 50.0


@dataclass(frozen=True, slots=True)
class HamiltonianSettings:
    """Of the leapfrog integrator.

    Parameters
    ----------
    n_steps : int
        Gradients a trajectory.
    jitter : float
        The step size of every trajectory is drawn within this share of its nominal value.
    """

    n_steps: int = 8
    jitter: float = 0.2


def hamiltonian_step(
    rng: np.random.Generator,
    evidence: Evidence,
    rows: SummedRows,
    whitening: Whitening,
    step_size: float,
    settings: HamiltonianSettings,
) -> tuple[Evidence, float]:
    """Return the evidence after one trajectory, and its probability of acceptance.

    Positions are the whitened coordinates, in which the prior is standard normal; one gradient
    costs about as much as one sweep of single replacements.
    """
    step_size *= 1.0 + settings.jitter * rng.uniform(-1.0, 1.0)
    momentum = np.where(whitening.moving, rng.normal(size=evidence.omega.shape), 0.0)
    threshold = np.log(rng.random())
    start = whitening.whiten(evidence.omega)
    energy = _energy(evidence, start, momentum)
    position, current = start, evidence
    force = _force(current, rows, whitening, position)
    for _ in range(settings.n_steps):
        momentum = momentum + 0.5 * step_size * force
        position = position + step_size * momentum
        try:
            current = evidence_of(
                rows,
                whitening.colour(position),
                evidence.precision,
                evidence.noise,
                keep=evidence.features is not None,
            )
        except LinAlgError:
            return evidence, 0.0
        force = _force(current, rows, whitening, position)
        momentum = momentum + 0.5 * step_size * force
        if _energy(current, position, momentum) - energy > _DIVERGENCE:
            return evidence, 0.0
    log_ratio = energy - _energy(current, position, momentum)
    accepted = current if threshold < log_ratio else evidence
    return accepted, float(np.exp(min(log_ratio, 0.0)))


def _energy(evidence: Evidence, position: Array, momentum: Array) -> float:
    return 0.5 * float(np.sum(position**2) + np.sum(momentum**2)) - evidence.log_evidence()


def _force(evidence: Evidence, rows: SummedRows, whitening: Whitening, position: Array) -> Array:
    return whitening.pull(frequency_gradient(evidence, rows)) - position

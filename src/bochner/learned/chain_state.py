"""The state of a chain, its step sizes, and likelihoods that latent variables make Gaussian."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array
from bochner.learned.chain_evidence import ChainEvidence, Noise, evidence_of
from bochner.learned.prior import FrequencyPrior
from bochner.learned.training_data import TrainingData

Info = dict[str, float]
"""The report of a round of moves: numbers by name, such as ``acceptance_hmc``."""

_GAIN = 2.0
"""Gain of the adaptation: change of a log step size per unit of acceptance, at (n + 5)^0.6 = 1."""

_DELAY = 5.0
"""Offset of the number of rounds in the gain, so that one acceptance cannot change a size
tenfold."""

_DECAY = 0.6
"""Exponent of the gain's decay. Between 1/2 and 1, step sizes can reach any value and converge."""


@dataclass(slots=True)
class StepSizes:
    """Step sizes by the name of the move; adaptation changes them in place."""

    values: dict[str, float]
    n_adapted: int = 0  # Number of rounds with adaptation

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    def adapt(self, targets: Mapping[str, float], info: Info) -> None:
        """Move each log step size by its acceptance less the target, with a gain that decays.

        A move without ``acceptance_<name>`` in ``info`` keeps its step size.
        """
        gain = _GAIN / (self.n_adapted + _DELAY) ** _DECAY
        for name, target in targets.items():
            acceptance = info.get(f"acceptance_{name}", target)
            self.values[name] *= float(np.exp(gain * (acceptance - target)))
        self.n_adapted += 1


@dataclass(slots=True, eq=False)
class ChainState:
    """A point of the posterior, which moves change in place."""

    rows: TrainingData  # With weights and pseudo-targets that follow from the latent variables
    evidence: ChainEvidence  # Frequencies, their sums over rows, and the posterior of the weights
    prior: FrequencyPrior  # Current parameters of the law of the frequencies
    steps: StepSizes
    latent: Any = None  # Latent variables of the likelihood; None if it has none

    @property
    def omega(self) -> Array:
        """Unknowns of the basis, of shape (k, D): for plain waves, their frequencies."""
        return self.evidence.omega

    @property
    def precision(self) -> float:
        r"""Precision :math:`\lambda_0` of the weights."""
        return self.evidence.precision

    def evidence_at(self, omega: Array) -> ChainEvidence:
        """Return the evidence of other unknowns (k, D), from one pass over the rows.

        A posterior that rounding leaves without a covariance raises ``numpy.linalg.LinAlgError``.
        """
        old = self.evidence
        keep = old.features is not None
        # Weights from latent variables are no counts: the degrees of freedom stay the same.
        return evidence_of(
            self.rows, omega, old.precision, old.noise, keep=keep, degrees=old.degrees
        )


class ConditionallyGaussian(ABC):
    """A likelihood that is Gaussian in the weights of the features, given latent variables.

    Latent variables determine weights and pseudo-targets of the rows.
    """

    __slots__ = ()

    noise: Noise
    """Law of the noise variance, given the latent variables."""

    def start(
        self, rng: Generator, rows: TrainingData, omega: Array, precision: float, n_copies: int
    ) -> tuple[Any, ChainEvidence | None]:
        """Return initial latent variables, and an evidence with reusable features or ``None``."""
        return None, None

    def given(self, rows: TrainingData, latent: Any) -> TrainingData:
        """Return the rows with the weights and pseudo-targets that follow from latent variables."""
        return rows

    @abstractmethod
    def redraw(self, rng: Generator, rows: TrainingData, state: ChainState) -> Info:
        """Redraw the latent variables of a state in place; return its log density by name."""

    def kept(self, latent: Any) -> dict[str, Any]:
        """Return the latent variables that a draw stores, by the name of its field."""
        return {}

    def conditioned(
        self,
        rows: TrainingData,
        latent: object,
        omega: Array,
        precision: float,
        n_copies: int = 1,
        reused: ChainEvidence | None = None,
    ) -> tuple[TrainingData, ChainEvidence]:
        """Return the rows given latent variables, and the evidence of ``omega`` on them."""
        weighted_rows = self.given(rows, latent)
        # Weights from latent variables are no counts: degrees of freedom come from the rows.
        degrees = rows.n_observations - rows.n_fixed
        settings = omega, precision, self.noise
        return weighted_rows, evidence_of(
            weighted_rows, *settings, n_copies=n_copies, reused=reused, degrees=degrees
        )

    def recondition(self, rows: TrainingData, state: ChainState, latent: object) -> None:
        """Set the latent variables of a state, at its current frequencies and precision."""
        old = state.evidence
        state.latent = latent
        state.rows, state.evidence = self.conditioned(
            rows, latent, old.omega, old.precision, reused=old
        )


@dataclass(frozen=True, slots=True)
class ConstantNoise(ConditionallyGaussian):
    """Gaussian noise of constant variance, which is integrated out; no latent variables."""

    noise: Noise

    def redraw(self, rng: Generator, rows: TrainingData, state: ChainState) -> Info:
        return {"log_evidence": state.evidence.log_evidence()}

"""Likelihoods that latent variables make Gaussian in the weights of the features."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from bochner._base.arrays import Array
from bochner.learned.chain_evidence import ChainEvidence, Noise, evidence_of
from bochner.learned.state import ChainState, Info
from bochner.learned.training_data import TrainingData


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

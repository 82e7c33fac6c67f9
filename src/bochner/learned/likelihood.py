"""Likelihoods that latent variables make Gaussian in the weights of the features."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from bochner._base.arrays import Array
from bochner.gaussian_process.likelihood import Likelihood
from bochner.gaussian_process.number_likelihoods import GaussianLikelihood
from bochner.learned.chain_evidence import ChainEvidence, Noise, evidence_of
from bochner.learned.state import ChainState, Info
from bochner.learned.training_data import SummedRows


class ConditionallyGaussian(ABC):
    """A likelihood that is Gaussian in the weights of the features, given latent variables.

    Latent variables determine weights and pseudo-targets of the rows.
    """

    __slots__ = ()

    noise: Noise
    """Law of the noise variance, given the latent variables."""

    @property
    def target_law(self) -> Likelihood:
        """Law of targets given the function, in the unit of the chain.

        Parameters that are ``None`` differ from draw to draw. Binary labels have none.
        """
        return GaussianLikelihood()

    def start(
        self, rng: Generator, rows: SummedRows, omega: Array, precision: float, n_copies: int
    ) -> tuple[Any, ChainEvidence | None]:
        """Return initial latent variables, and an evidence with reusable features or ``None``."""
        return None, None

    def given(self, rows: SummedRows, latent: Any) -> SummedRows:
        """Return the rows with the weights and pseudo-targets that follow from latent variables."""
        return rows

    @abstractmethod
    def redraw(self, rng: Generator, rows: SummedRows, state: ChainState) -> Info:
        """Redraw the latent variables of a state in place; return its log density by name."""

    def saved(self, latent: Any) -> Any:
        """Return latent variables as arrays and numbers."""
        return latent

    def restored(self, saved: Any) -> Any:
        """Return the latent variables of a checkpoint."""
        return saved

    def kept(self, latent: Any) -> dict[str, Any]:
        """Return the latent variables that a draw stores, by the name of its field."""
        return {}

    def conditioned(
        self,
        rows: SummedRows,
        latent: object,
        omega: Array,
        precision: float,
        n_copies: int = 1,
        reused: ChainEvidence | None = None,
    ) -> tuple[SummedRows, ChainEvidence]:
        """Return the rows given latent variables, and the evidence of ``omega`` on them."""
        weighted_rows = self.given(rows, latent)
        # Weights from latent variables are no counts: degrees of freedom come from the rows.
        degrees = rows.n_observations - rows.n_fixed
        settings = omega, precision, self.noise
        return weighted_rows, evidence_of(
            weighted_rows, *settings, n_copies=n_copies, reused=reused, degrees=degrees
        )

    def recondition(self, rows: SummedRows, state: ChainState, latent: object) -> None:
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

    def redraw(self, rng: Generator, rows: SummedRows, state: ChainState) -> Info:
        return {"log_evidence": state.evidence.log_evidence()}

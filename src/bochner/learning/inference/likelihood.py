"""How data follow from the learned function, made Gaussian in its weights by latent variables."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from bochner._numerics.arrays import Array
from bochner.learning.inference.evidence import Evidence, evidence_of
from bochner.learning.inference.noise import Noise
from bochner.learning.inference.state import ChainState, Info
from bochner.learning.inference.summed import SummedRows


class Likelihood(ABC):
    """A likelihood that is Gaussian in the weights of the features given latent variables.

    Given them, rows have weights and pseudo-targets, and the weights of the features are
    integrated out of all moves.
    """

    __slots__ = ()

    noise: Noise
    """Law of the noise variance, given the latent variables."""

    @abstractmethod
    def start(
        self, rng: Generator, rows: SummedRows, omega: Array, precision: float, n_copies: int
    ) -> tuple[Any, Evidence | None]:
        """Return first latent variables, and the evidence whose features serve for them, if any."""

    @abstractmethod
    def given(self, rows: SummedRows, latent: Any) -> SummedRows:
        """Return the rows with the weights and pseudo-targets that latent variables give them."""

    @abstractmethod
    def redraw(self, rng: Generator, rows: SummedRows, state: ChainState) -> Info:
        """Redraw the latent variables of a state in place; return its log density by name."""

    def saved(self, latent: Any) -> dict[str, Any]:
        """Return latent variables as arrays and numbers."""
        return {}

    def restored(self, saved: Mapping[str, Any]) -> Any:
        """Return latent variables that were saved."""
        return None

    def kept(self, latent: Any) -> dict[str, Any]:
        """Return what a draw keeps of latent variables, by the name of its field."""
        return {}

    def conditioned(
        self,
        rows: SummedRows,
        latent: Any,
        omega: Array,
        precision: float,
        *,
        n_copies: int = 1,
        known: Evidence | None = None,
    ) -> tuple[SummedRows, Evidence]:
        """Return the rows given latent variables, and the evidence of ``omega`` on them.

        Features of the rows are those of ``known`` where it has any.
        """
        given = self.given(rows, latent)
        features = None if known is None else known.features
        evidence = evidence_of(
            given,
            omega,
            precision,
            self.noise,
            keep=None if known is None else features is not None,
            n_copies=n_copies,
            features=features,
            # Weights that latent variables give do not count rows.
            degrees=rows.total_weight - rows.n_fixed,
        )
        return given, evidence

    def recondition(self, rows: SummedRows, state: ChainState, latent: Any) -> None:
        """Give a state other latent variables, at the frequencies and the precision it has."""
        old = state.evidence
        state.latent = latent
        state.rows, state.evidence = self.conditioned(
            rows, latent, old.omega, old.precision, known=old
        )


@dataclass(frozen=True, slots=True)
class GaussianLikelihood(Likelihood):
    """Gaussian noise of constant variance, which is integrated out; no latent variables."""

    noise: Noise

    def start(
        self, rng: Generator, rows: SummedRows, omega: Array, precision: float, n_copies: int
    ) -> tuple[None, None]:
        return None, None

    def given(self, rows: SummedRows, latent: Any) -> SummedRows:
        return rows

    def redraw(self, rng: Generator, rows: SummedRows, state: ChainState) -> Info:
        return {"log_evidence": state.evidence.log_evidence()}

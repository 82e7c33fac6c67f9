"""The chain of a regression: weights and noise integrated out."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array
from bochner.learning.inference.draws import Draw, drawn
from bochner.learning.inference.evidence import Evidence, evidence_of
from bochner.learning.inference.noise import Noise
from bochner.learning.inference.prior import FrequencyPrior
from bochner.learning.inference.summed import SummedRows
from bochner.learning.moves.base import Info, Moves, StepSizes, round_of_moves


@dataclass(frozen=True, slots=True, eq=False)
class RegressionState:
    """A state of the chain: a point of the posterior and the step sizes in use."""

    evidence: Evidence
    prior: FrequencyPrior
    sizes: StepSizes


@dataclass(frozen=True, slots=True, eq=False)
class RegressionChain:
    r"""Sampling :math:`p(\omega, \lambda_0, \theta \mid y)` for Gaussian noise.

    Parameters
    ----------
    rows : Rows
    noise : Noise
    moves : Moves
    """

    rows: SummedRows
    noise: Noise
    moves: Moves

    def init(
        self, rng: np.random.Generator, omega: Array, prior: FrequencyPrior, precision: float
    ) -> RegressionState:
        """Return the state at given frequencies (m, d)."""
        evidence = self._evidence(omega, precision)
        return RegressionState(evidence, prior, StepSizes())

    def step(
        self, rng: np.random.Generator, state: RegressionState, *, adapting: bool = False
    ) -> tuple[RegressionState, Info]:
        """Return the state after one round of moves; the state handed in is used up."""
        evidence, prior, info = round_of_moves(
            rng, state.evidence, state.prior, self.rows, self.moves, state.sizes
        )
        sizes = state.sizes.adapted(info) if adapting else state.sizes
        info["log_evidence"] = evidence.log_evidence()
        return RegressionState(evidence, prior, sizes), info

    def rebuilt(self, state: RegressionState) -> RegressionState:
        """Return the state computed afresh from its frequencies, on this chain's rows."""
        old = state.evidence
        evidence = self._evidence(old.omega, old.precision)
        return replace(state, evidence=evidence)

    def draw(self, state: RegressionState, info: Info, *, in_full: bool) -> Draw:
        """Return what is kept of a state."""
        return drawn(state.evidence, state.prior, info["log_evidence"], in_full=in_full)

    def saved(self, state: RegressionState) -> dict[str, Any]:
        """Return what a state consists of beside prior and step sizes."""
        return {"omega": state.evidence.omega, "precision": state.evidence.precision}

    def restored(
        self, saved: dict[str, Any], prior: FrequencyPrior, sizes: StepSizes
    ) -> RegressionState:
        """Return the state that was saved right after it had been rebuilt."""
        evidence = self._evidence(saved["omega"], saved["precision"])
        return RegressionState(evidence, prior, sizes)

    def _evidence(self, omega: Array, precision: float) -> Evidence:
        return evidence_of(self.rows, omega, precision, self.noise, n_copies=self.moves.n_copies)

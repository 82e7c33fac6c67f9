"""The chain of a regression whose noise varies with the inputs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.learning.inference.draws import Draw, drawn
from bochner.learning.inference.evidence import Evidence, evidence_of
from bochner.learning.inference.noise import Noise
from bochner.learning.inference.prior import FrequencyPrior
from bochner.learning.inference.summed import SummedRows, part_features
from bochner.learning.inference.training_data import TrainingData
from bochner.learning.moves.base import Info, Moves, StepSizes, round_of_moves
from bochner.learning.moves.noise_field import NoiseField


@dataclass(frozen=True, slots=True, eq=False)
class VaryingNoiseState:
    """A state of the chain: the evidence is that of rows weighted by the field."""

    evidence: Evidence
    prior: FrequencyPrior
    sizes: StepSizes
    field: NoiseField


@dataclass(frozen=True, slots=True, eq=False)
class VaryingNoiseChain:
    r"""Sampling :math:`p(\omega, \lambda_0, \theta, h \mid y)` for noise :math:`\sigma^2 e^{h(x)}`.

    Given ``h``, rows have weights :math:`e^{-h}`, and weights of features and :math:`\sigma^2` are
    integrated out of the moves of frequencies; they are drawn, and ``h`` moves given residuals.

    Parameters
    ----------
    rows : SummedRows
    noise : Noise
        The law of :math:`\sigma^2`.
    moves : Moves
    field : callable
        Returns the field to start from.
    """

    rows: SummedRows
    noise: Noise
    moves: Moves
    field: Callable[[np.random.Generator], NoiseField]

    def init(
        self, rng: np.random.Generator, omega: Array, prior: FrequencyPrior, precision: float
    ) -> VaryingNoiseState:
        """Return the state at given units of the basis, with a constant field."""
        field = self.field(rng)
        evidence = self._evidence(self._weighted(field), omega, precision)
        return VaryingNoiseState(evidence, prior, StepSizes(), field)

    def step(
        self, rng: np.random.Generator, state: VaryingNoiseState, *, adapting: bool = False
    ) -> tuple[VaryingNoiseState, Info]:
        """Return the state after one round of moves; the state handed in is used up."""
        evidence, prior, info = round_of_moves(
            rng, state.evidence, state.prior, self._weighted(state.field), self.moves, state.sizes
        )
        sizes = state.sizes.adapted(info) if adapting else state.sizes
        variance = evidence.noise.sample(rng, evidence.residual, evidence.degrees)
        lower = np.linalg.cholesky(evidence.covariance)
        deviation = np.sqrt(variance) * (lower @ rng.normal(size=len(evidence.mean)))
        squares = self.rows.each(
            part_squares,
            evidence.omega,
            evidence.mean + deviation,
            variance,
            along=(evidence.features,),
            n_features=len(evidence.mean),
        )
        field = state.field.moved(rng, self.rows, squares)
        rows = self._weighted(field)
        evidence = self._evidence(rows, evidence.omega, evidence.precision, evidence)
        (level,) = self.rows.total(part_level, along=(field.values(self.rows),), n_features=1)
        info["log_evidence"] = evidence.log_evidence() - 0.5 * float(level)
        info["noise_spread"] = field.spread
        return VaryingNoiseState(evidence, prior, sizes, field), info

    def rebuilt(self, state: VaryingNoiseState) -> VaryingNoiseState:
        """Return the state computed afresh from its units and its field."""
        rows, old = self._weighted(state.field), state.evidence
        return replace(state, evidence=self._evidence(rows, old.omega, old.precision))

    def draw(self, state: VaryingNoiseState, info: Info, *, in_full: bool) -> Draw:
        """Return what is kept of a state."""
        draw = drawn(state.evidence, state.prior, info["log_evidence"], in_full=in_full)
        return replace(draw, field_omega=state.field.omega, field_weights=state.field.weights)

    def saved(self, state: VaryingNoiseState) -> dict[str, Any]:
        """Return what a state consists of beside prior and step sizes."""
        field = {f"field.{name}": value for name, value in state.field.state().items()}
        return {"omega": state.evidence.omega, "precision": state.evidence.precision} | field

    def restored(
        self, saved: dict[str, Any], prior: FrequencyPrior, sizes: StepSizes
    ) -> VaryingNoiseState:
        """Return the state that was saved right after it had been rebuilt."""
        own = {n.removeprefix("field."): v for n, v in saved.items() if n.startswith("field.")}
        field = self.field(np.random.default_rng(0)).restored(own)
        evidence = self._evidence(self._weighted(field), saved["omega"], saved["precision"])
        return VaryingNoiseState(evidence, prior, sizes, field)

    def _weighted(self, field: NoiseField) -> SummedRows:
        return self.rows.reweighted(under_field, along=(field.values(self.rows),))

    def _evidence(
        self, rows: SummedRows, omega: Array, precision: float, known: Evidence | None = None
    ) -> Evidence:
        features = None if known is None else known.features
        return evidence_of(
            rows,
            omega,
            precision,
            self.noise,
            keep=None if known is None else features is not None,
            n_copies=self.moves.n_copies,
            features=features,
            degrees=self.rows.total_weight - self.rows.n_fixed,
        )


def under_field(part: TrainingData, field: Array) -> tuple[Array, Array]:
    """Return weights of rows under a field (n,), and targets times them."""
    factor = np.exp(-field)
    return factor if part.weight is None else part.weight * factor, part.target * factor


def part_squares(
    part: TrainingData, Z: NDArray[Any] | None, omega: Array, beta: Array, variance: float
) -> Array:
    """Return squared residuals over a variance, times the rows' weights, of shape (n,)."""
    fit: Array = beta @ part_features(part, omega, Z)
    if part.weight is None:
        return (part.target - fit) ** 2 / variance
    return part.weight * (part.target / part.weight - fit) ** 2 / variance


def part_level(part: TrainingData, field: Array) -> tuple[float]:
    """Return the sum of a field, each row as often as its weight says."""
    return (float(np.sum(field if part.weight is None else part.weight * field)),)

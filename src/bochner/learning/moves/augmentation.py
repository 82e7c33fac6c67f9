"""Laws of numbers that latent variables of the rows make Gaussian in the weights."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bochner._numerics.arrays import Array
from bochner.learning.inference.evidence import Evidence, Noise
from bochner.learning.inference.likelihood import Likelihood
from bochner.learning.inference.state import ChainState, Info
from bochner.learning.inference.training_data import Columns, SummedRows, TrainingData
from bochner.learning.moves.labels import count_of, part_activation
from bochner.learning.moves.slices import slice_sampled
from bochner.learning.wishart import GammaPrior
from bochner.likelihoods import NumberLikelihood
from bochner.likelihoods.numbers import LocationLikelihood

_START_ROUNDS = 10
"""Draws of the latent variables at the first frequencies, which forget the guess they start from:
outliers are told from the rest in two or three."""


@dataclass(frozen=True, slots=True, eq=False)
class RowVariables:
    """Latent variables of the rows, and the law given which they were drawn."""

    law: NumberLikelihood
    values: Columns


@dataclass(frozen=True, slots=True)
class Augmentation(Likelihood):
    """A law of numbers whose latent variables give rows weights and pseudo-targets.

    A derived class states both: :meth:`variables` draws the variables given the function, and
    :meth:`pseudo` returns what they make of a row. Rows have targets in their own unit and offsets
    of the function, ``observed``; weights of rows are powers of their likelihoods.
    """

    law: NumberLikelihood  # In the unit of the chain; parameters that are None are drawn
    guess: NumberLikelihood  # The law with all parameters, to start from
    origin: float  # Value of the function to start from
    noise: Noise

    parameter: ClassVar[str] = ""  # Name of the parameter that may be drawn, but for a scale
    prior: ClassVar[GammaPrior]  # Its prior
    takes_weights: ClassVar[bool] = True  # Whether rows may have weights

    @abstractmethod
    def variables(self, law: Any, part: TrainingData, activation: Array, rng: Generator) -> Array:
        """Return latent variables (n,) of a part of the rows, given the function's values (n,)."""

    @abstractmethod
    def pseudo(self, law: Any, part: TrainingData, values: Array) -> tuple[Array, Array]:
        """Return weights of a part of the rows, and pseudo-targets times them, both (n,)."""

    def check(self, y: Array) -> None:
        """Raise ``ValueError`` for targets (n,) under which the constant has no posterior."""

    @property
    def target_law(self) -> NumberLikelihood:
        return self.law

    @property
    def _draws_parameter(self) -> bool:
        return self.parameter in self.law.unknown

    def start(
        self, rng: Generator, rows: SummedRows, omega: Array, precision: float, n_copies: int
    ) -> tuple[RowVariables, Evidence | None]:
        """Return variables after some draws at the first frequencies, and the evidence there."""
        f = rows.each(_constant, self.origin)
        values = rows.drawn(rng, partial(self.variables, self.guess), along=(f,))
        latent, evidence = RowVariables(self.guess, values), None
        for _ in range(_START_ROUNDS):
            _, evidence = self.conditioned(rows, latent, omega, precision, n_copies, evidence)
            latent, _ = self._redrawn(rng, rows, evidence, latent.law)
        return latent, evidence

    def given(self, rows: SummedRows, latent: RowVariables) -> SummedRows:
        return rows.reweighted(partial(self.pseudo, latent.law), along=(latent.values,))

    def redraw(self, rng: Generator, rows: SummedRows, state: ChainState) -> Info:
        latent, info = self._redrawn(rng, rows, state.evidence, state.latent.law)
        self.recondition(rows, state, latent)
        return info

    def _redrawn(
        self, rng: Generator, rows: SummedRows, evidence: Evidence, law: NumberLikelihood
    ) -> tuple[RowVariables, Info]:
        """Draw noise and weights given the variables, then the parameter and new variables.

        The parameter is drawn given weights and noise alone, and the variables given all of them:
        together that is a draw of both.
        """
        variance = self.noise.sample(rng, evidence.residual, evidence.degrees)
        lower = np.linalg.cholesky(evidence.covariance)
        deviation = np.sqrt(variance) * (lower @ rng.normal(size=len(evidence.mean)))
        beta, along = evidence.mean + deviation, (evidence.features,)
        f = rows.each(part_activation, evidence.omega, beta, along=along, n_features=len(beta))
        if isinstance(law, LocationLikelihood):
            law = _with(law, "scale", float(np.sqrt(variance)))
        info: Info = {}
        if self._draws_parameter:
            law = self._moved(rng, rows, law, f)
            info[self.parameter] = float(getattr(law, self.parameter))
        values = rows.drawn(rng, partial(self.variables, law), along=(f,))
        return RowVariables(law, values), {**info, "log_likelihood": _log_likelihood(rows, law, f)}

    def _moved(
        self, rng: Generator, rows: SummedRows, law: NumberLikelihood, f: Columns
    ) -> NumberLikelihood:
        """Return the law after a move of its parameter, given the function's values."""

        def log_density(log_value: float) -> float:
            value = float(np.exp(log_value))
            # That of the logarithm has one power more.
            log_prior = self.prior.shape * log_value - self.prior.rate * value
            return log_prior + _log_likelihood(rows, _with(law, self.parameter, value), f)

        reached = slice_sampled(rng, float(np.log(getattr(law, self.parameter))), log_density)
        return _with(law, self.parameter, float(np.exp(reached)))

    def saved(self, latent: RowVariables) -> dict[str, Any]:
        own = {"parameter": float(getattr(latent.law, self.parameter))} if self.parameter else {}
        return {"values": latent.values, **own}

    def restored(self, saved: Mapping[str, Any]) -> RowVariables:
        law = self.guess
        if self._draws_parameter:
            law = _with(law, self.parameter, saved["parameter"])
        return RowVariables(law, saved["values"])

    def kept(self, latent: RowVariables) -> dict[str, Any]:
        if not self._draws_parameter:
            return {}
        return {"law_parameters": np.array([getattr(latent.law, self.parameter)])}


def observed(part: TrainingData) -> tuple[Array, Array]:
    """Return targets and offsets (n,) of a part of the rows."""
    if part.observed is None:
        raise ValueError("The rows have no targets in their own unit.")
    y, offset = part.observed
    return y, offset


def part_log_density(part: TrainingData, f: Array, law: NumberLikelihood) -> tuple[float]:
    """Return the log likelihood of a part of the rows, given the function's values (n,)."""
    y, offset = observed(part)
    return (float(np.sum(count_of(part) * law.log_density(y, f + offset))),)


def _log_likelihood(rows: SummedRows, law: NumberLikelihood, f: Columns) -> float:
    (total,) = rows.total(part_log_density, law, along=(f,), n_features=1)
    return float(total)


def _constant(part: TrainingData, value: float) -> Array:
    return np.full(part.n_samples, value)


def _with(law: NumberLikelihood, name: str, value: float) -> NumberLikelihood:
    changed: NumberLikelihood = replace(law, **{name: value})  # type: ignore[type-var]
    return changed

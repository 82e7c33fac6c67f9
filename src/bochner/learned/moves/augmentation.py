"""Likelihoods of targets that latent variables of the rows make Gaussian in the weights."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array
from bochner.gaussian_process.likelihood import Likelihood
from bochner.gaussian_process.number_likelihoods import LocationLikelihood
from bochner.learned.chain_evidence import ChainEvidence, Noise
from bochner.learned.likelihood import ConditionallyGaussian
from bochner.learned.moves.polya_gamma import part_activation
from bochner.learned.moves.slices import slice_sampled
from bochner.learned.state import ChainState, Info
from bochner.learned.training_data import Columns, SummedRows, TrainingData
from bochner.learned.wishart import GammaPrior

_START_ROUNDS = 10
"""Number of draws of the latent variables at the first frequencies, after which the initial guess
does not matter: outliers are identified after two or three."""


@dataclass(frozen=True, slots=True, eq=False)
class RowVariables:
    """Latent variables of the rows, and the law under which they were drawn."""

    law: Likelihood
    values: Columns


@dataclass(frozen=True, slots=True)
class Augmentation(ConditionallyGaussian):
    """A law of targets whose latent variables determine weights and pseudo-targets of rows.

    A derived class implements two methods: :meth:`variables` draws the variables given the
    function, and :meth:`pseudo` returns the weights and pseudo-targets. ``part.observed`` (2, n)
    has the targets and the offsets of the function. A row of weight ``w`` has its likelihood to the
    power ``w``; if there are ``part.precisions``, they divide the noise variance of each of the
    ``part.counts`` observations instead. Unknown parameters other than a scale move by slice
    sampling of the density of the law.
    ``bochner.learned.moves.augmented.register(Law, OwnAugmentation)`` registers it.

    Parameters
    ----------
    law : Likelihood
        The law in the unit of the chain; parameters that are ``None`` are drawn.
    guess : Likelihood
        The law with initial values of all parameters.
    origin : float
        Initial value of the function.
    noise : Noise
        Law of the noise variance, given the latent variables.

    Attributes
    ----------
    prior : GammaPrior
        Prior of each unknown positive parameter, the exponential of an entry of ``law.vector``.
    n_held : int, default=0
        Number of first entries of ``law.vector`` that keep their initial values.
    takes_weights : bool, default=True
        Whether rows may have weights; if not, rows with whole-number weights are repeated.
    """

    law: Likelihood
    guess: Likelihood
    origin: float
    noise: Noise

    prior: ClassVar[GammaPrior]
    n_held: ClassVar[int] = 0
    takes_weights: ClassVar[bool] = True

    @abstractmethod
    def variables(self, law: Any, part: TrainingData, activation: Array, rng: Generator) -> Array:
        """Return latent variables (n,) of a part of the rows, given the function's values (n,)."""

    @abstractmethod
    def pseudo(self, law: Any, part: TrainingData, values: Array) -> tuple[Array, Array]:
        """Return weights of a part of the rows, and pseudo-targets times them, both (n,)."""

    def check(self, y: Array) -> None:
        """Raise ``ValueError`` for targets (n,) that leave the posterior improper."""

    @property
    def target_law(self) -> Likelihood:
        return self.law

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the unknown parameters, except for a scale."""
        return tuple(name for name in self.law.unknown if name != "scale")

    def start(
        self, rng: Generator, rows: SummedRows, omega: Array, precision: float, n_copies: int
    ) -> tuple[RowVariables, ChainEvidence | None]:
        """Return variables after some draws at the first frequencies, and the evidence there."""
        f = rows.each(_constant, self.origin)
        values = rows.drawn(rng, partial(self.variables, self.guess), along=(f,))
        # The features of the first evidence are reused by the next ones.
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
        self, rng: Generator, rows: SummedRows, evidence: ChainEvidence, law: Likelihood
    ) -> tuple[RowVariables, Info]:
        """Draw noise and weights given the variables, then parameters and new variables.

        Parameters move with the variables integrated out, given weights and noise. Then variables
        are drawn given all of these. Together this leaves the joint law invariant.
        """
        variance = self.noise.sample(rng, evidence.residual, evidence.degrees)
        # The covariance is relative to the noise variance, which is drawn first.
        lower = np.linalg.cholesky(evidence.covariance)
        deviation = np.sqrt(variance) * (lower @ rng.normal(size=len(evidence.mean)))
        beta, along = evidence.mean + deviation, (evidence.features,)
        f = rows.each(part_activation, evidence.omega, beta, along=along, n_features=len(beta))
        if isinstance(law, LocationLikelihood):
            scaled: Likelihood = replace(law, scale=float(np.sqrt(variance)))  # type: ignore[type-var]
            law = scaled
        law = self._moved(rng, rows, law, f)
        values = rows.drawn(rng, partial(self.variables, law), along=(f,))
        return RowVariables(law, values), self._info(rows, law, f)

    def _moved(self, rng: Generator, rows: SummedRows, law: Likelihood, f: Columns) -> Likelihood:
        """Return the law after a move of each parameter, given the function's values."""
        vector = law.vector(self.names)
        for index in range(self.n_held, len(vector)):

            def log_density(log_value: float, index: int = index) -> float:
                vector[index] = log_value
                # The density of the logarithm has one power more than that of the parameter.
                log_prior = self.prior.shape * log_value - self.prior.rate * np.exp(log_value)
                changed = law.with_vector(self.names, vector)
                return float(log_prior) + _log_likelihood(rows, changed, f)

            vector[index] = slice_sampled(rng, float(vector[index]), log_density)
        return law.with_vector(self.names, vector)

    def _info(self, rows: SummedRows, law: Likelihood, f: Columns) -> Info:
        values = {name: np.atleast_1d(getattr(law, name)) for name in self.names}
        info = {
            name if len(each) == 1 else f"{name}_{index}": float(value)
            for name, each in values.items()
            for index, value in enumerate(each)
        }
        return {**info, "log_likelihood": _log_likelihood(rows, law, f)}

    def saved(self, latent: RowVariables) -> dict[str, Any]:
        return {"values": latent.values, "vector": latent.law.vector(self.names)}

    def restored(self, saved: Mapping[str, Any]) -> RowVariables:
        return RowVariables(self.guess.with_vector(self.names, saved["vector"]), saved["values"])

    def kept(self, latent: RowVariables) -> dict[str, Any]:
        return {"law_parameters": latent.law.vector(self.names)} if self.names else {}


def observed(part: TrainingData) -> tuple[Array, Array]:
    """Return targets and offsets (n,) of a part of the rows."""
    if part.observed is None:
        raise ValueError("The rows have no targets in their own unit.")
    y, offset = part.observed
    return y, offset


def part_log_density(part: TrainingData, f: Array, law: Likelihood) -> tuple[float]:
    """Return the log likelihood of a part of the rows, given the function's values (n,)."""
    y, offset = observed(part)
    mean = f + offset
    if part.precisions is not None:  # Up to a constant, the logarithms of their square roots
        y = mean + np.sqrt(part.precisions) * (y - mean)
    counts = 1.0 if part.counts is None else part.counts
    return (float(np.sum(counts * law.log_density(y, mean))),)


def _log_likelihood(rows: SummedRows, law: Likelihood, f: Columns) -> float:
    (total,) = rows.total(part_log_density, law, along=(f,), n_features=1)
    return float(total)


def _constant(part: TrainingData, value: float) -> Array:
    return np.full(part.n_samples, value)

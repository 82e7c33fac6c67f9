"""The chain of a binary classification, made Gaussian by Polya-Gamma variables."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from polyagamma import random_polyagamma
from scipy.special import expit

from bochner._numerics.arrays import Array
from bochner.learning.inference.draws import Draw, drawn
from bochner.learning.inference.evidence import Evidence, evidence_of
from bochner.learning.inference.noise import KnownNoise
from bochner.learning.inference.prior import FrequencyPrior
from bochner.learning.inference.summed import Columns, SummedRows, part_features
from bochner.learning.inference.training_data import TrainingData
from bochner.learning.moves.base import Info, Moves, StepSizes, round_of_moves

_MODE_STEPS, _MODE_GAIN = 12, 0.1
_LEAST_CURVATURE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class LogisticState:
    """A state of the chain: the evidence is that of the pseudo-targets at ``weight`` (n,)."""

    evidence: Evidence
    prior: FrequencyPrior
    sizes: StepSizes
    weight: Columns


@dataclass(frozen=True, slots=True, eq=False)
class LogisticChain:
    r"""Sampling the posterior of :math:`P(y = 1 \mid x) = 1/(1 + e^{-\beta \cdot \phi(x)})`.

    Given :math:`w_i \sim PG(c_i, \beta \cdot \phi_i)` the likelihood is Gaussian in ``beta`` with
    precisions ``w`` and pseudo-targets :math:`\kappa_i / w_i`, :math:`\kappa_i = c_i (y_i - 1/2)`
    (Polson, Scott and Windle, "Bayesian inference for logistic models using Polya-Gamma latent
    variables", 2013): ``beta`` is integrated out of the moves of frequencies, drawn, and the
    ``w`` are drawn anew.

    Parameters
    ----------
    rows : SummedRows
        Of targets :math:`y - 1/2` and weights :math:`c`, repetitions of the rows.
    moves : Moves
    """

    rows: SummedRows
    moves: Moves

    def init(
        self, rng: np.random.Generator, omega: Array, prior: FrequencyPrior, precision: float
    ) -> LogisticState:
        """Return the state at given frequencies (m, d), with weights near their mode."""
        evidence, activation = self._mode(omega, precision)
        weight = self.rows.drawn(rng, part_weights, along=(activation,))
        evidence = self._evidence(omega, precision, weight, evidence)
        return LogisticState(evidence, prior, StepSizes(), weight)

    def step(
        self, rng: np.random.Generator, state: LogisticState, *, adapting: bool = False
    ) -> tuple[LogisticState, Info]:
        """Return the state after one round of moves; the state handed in is used up."""
        rows = self.rows.reweighted(given_weights, along=(state.weight,))
        evidence, prior, info = round_of_moves(
            rng, state.evidence, state.prior, rows, self.moves, state.sizes
        )
        sizes = state.sizes.adapted(info) if adapting else state.sizes
        lower = np.linalg.cholesky(evidence.covariance)
        beta = evidence.mean + lower @ rng.normal(size=len(evidence.mean))
        activation = self._activation(evidence, beta)
        info["log_likelihood"] = self._log_likelihood(activation)
        weight = self.rows.drawn(rng, part_weights, along=(activation,))
        evidence = self._evidence(evidence.omega, evidence.precision, weight, evidence)
        return LogisticState(evidence, prior, sizes, weight), info

    def rebuilt(self, state: LogisticState) -> LogisticState:
        """Return the state computed afresh from its frequencies and weights."""
        evidence = self._evidence(state.evidence.omega, state.evidence.precision, state.weight)
        return replace(state, evidence=evidence)

    def draw(self, state: LogisticState, info: Info, *, in_full: bool) -> Draw:
        """Return what is kept of a state."""
        return drawn(state.evidence, state.prior, info["log_likelihood"], in_full=in_full)

    def saved(self, state: LogisticState) -> dict[str, Any]:
        """Return what a state consists of beside prior and step sizes."""
        evidence = state.evidence
        return {
            "omega": evidence.omega,
            "precision": evidence.precision,
            "weight": state.weight,
        }

    def restored(
        self, saved: dict[str, Any], prior: FrequencyPrior, sizes: StepSizes
    ) -> LogisticState:
        """Return the state that was saved right after it had been rebuilt."""
        evidence = self._evidence(saved["omega"], saved["precision"], saved["weight"])
        return LogisticState(evidence, prior, sizes, saved["weight"])

    def _mode(self, omega: Array, precision: float) -> tuple[Evidence, Array]:
        """Return the evidence at the posterior mode of the weights, and the activation there.

        Newton's method; where a step would fall, the step of the Polya-Gamma EM algorithm, which
        never does.
        """
        activation, value = self.rows.each(part_zeros), -np.inf
        evidence: Evidence | None = None
        newton = True
        for _ in range(_MODE_STEPS):
            rows = self.rows.reweighted(tangent if newton else bound, along=(activation,))
            proposed = self._evidence_on(rows, omega, precision, evidence)
            reached = self._activation(proposed, proposed.mean)
            weights = proposed.mean[: 2 * proposed.n_waves]
            height = self._log_likelihood(reached)
            height -= 0.5 * precision * float(weights @ weights)
            evidence = proposed
            if height < value:
                newton = False
                continue
            gain, activation, value = height - value, reached, height
            if gain < _MODE_GAIN:
                break
        if evidence is None:
            raise RuntimeError("No step was made.")
        return evidence, activation

    def _evidence(
        self, omega: Array, precision: float, weight: Columns, known: Evidence | None = None
    ) -> Evidence:
        rows = self.rows.reweighted(given_weights, along=(weight,))
        return self._evidence_on(rows, omega, precision, known)

    def _evidence_on(
        self, rows: SummedRows, omega: Array, precision: float, known: Evidence | None
    ) -> Evidence:
        """Return the evidence on reweighted rows, with the features of ``known`` if it has any."""
        features = None if known is None else known.features
        keep = None if known is None else features is not None
        return evidence_of(
            rows,
            omega,
            precision,
            KnownNoise(),
            keep=keep,
            n_copies=self.moves.n_copies,
            features=features,
        )

    def _activation(self, evidence: Evidence, beta: Array) -> Columns:
        return self.rows.each(
            part_activation,
            evidence.omega,
            beta,
            along=(evidence.features,),
            n_features=len(beta),
        )

    def _log_likelihood(self, activation: Columns) -> float:
        (total,) = self.rows.total(part_log_likelihood, along=(activation,), n_features=1)
        return float(total)


def part_zeros(part: TrainingData) -> Array:
    """Return an activation of zero for every row of a part."""
    return np.zeros(part.n_samples)


def part_activation(part: TrainingData, Z: NDArray[Any] | None, omega: Array, beta: Array) -> Array:
    """Return the values of the function with weights ``beta`` (p,), of shape (n,)."""
    values: Array = beta @ part_features(part, omega, Z)
    return values


def part_weights(part: TrainingData, activation: Array, rng: np.random.Generator) -> Array:
    """Return Polya-Gamma variables, of shape (n,)."""
    weight: Array = random_polyagamma(_count(part), activation, random_state=rng)
    return weight


def given_weights(part: TrainingData, weight: Array) -> tuple[Array, Array]:
    """Return Polya-Gamma variables as they are, and pseudo-targets times them."""
    return weight, part.target


def tangent(part: TrainingData, activation: Array) -> tuple[Array, Array]:
    """Return curvatures of the log likelihood, and pseudo-targets times them."""
    count, probability = _count(part), expit(activation)
    curvature = np.maximum(count * probability * (1.0 - probability), _LEAST_CURVATURE)
    slope = part.target - count * (probability - 0.5)
    return curvature, curvature * activation + slope


def bound(part: TrainingData, activation: Array) -> tuple[Array, Array]:
    """Return the mean Polya-Gamma variables, and pseudo-targets times them."""
    half = 0.5 * np.abs(activation)
    mean = np.where(half > 1e-6, np.tanh(half) / np.maximum(4.0 * half, 1e-6), 0.25)
    return _count(part) * mean, part.target


def part_log_likelihood(part: TrainingData, activation: Array) -> tuple[float]:
    """Return the log likelihood of a part of the rows."""
    # kappa psi - c log(2 cosh(psi / 2)), without overflow.
    half = 0.5 * np.abs(activation)
    terms = part.target * activation - _count(part) * (half + np.log1p(np.exp(-2.0 * half)))
    return (float(np.sum(terms)),)


def _count(part: TrainingData) -> Array | float:
    return 1.0 if part.weight is None else part.weight

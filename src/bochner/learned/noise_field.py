r"""Noise whose variance varies with the inputs.

The variance is :math:`\sigma^2 e^{h(x)}`, where ``h`` is a sum of few waves. Their frequencies have
the same kind of prior as the envelopes of locally stationary kernels.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array, Floats, as_array
from bochner.learned.chain_state import ChainState, ConditionallyGaussian, Info, InverseGammaNoise
from bochner.learned.frequency_priors import FrequencyPrior
from bochner.learned.modulated_waves import WaveFeatures
from bochner.learned.training_data import TrainingData

N_WAVES = 8
"""Number of waves of a field, enough for a few bends; the cost is proportional to it."""

_SLICES = 4
"""Number of elliptical slice moves of the weights in a round, each a few likelihood evaluations."""

_SPREAD_SHAPE = 1.0
"""Shape of the inverse gamma prior of a field's variance; a shape of one has heavy tails."""

_SPREAD_RATE = 0.5
"""Rate of the inverse gamma prior of a field's variance; the mode is a variance of 1/4."""

_START_SPREAD = 0.3
"""Initial prior standard deviation of the weights of the field, which start at zero."""

_MOST = 30.0  # Largest size of a field's values, so that their exponentials are at most 10^13


@dataclass(frozen=True, slots=True, eq=False)
class NoiseField:
    r"""The log noise variance ``h`` as a random function, with its hyper-parameters.

    .. math:: h(x) = K^{-1/2} \sum_k [\eta_{2k} \cos(v_k \cdot x) + \eta_{2k+1} \sin(v_k \cdot x)],
              \quad \eta \sim N(0, \tau^2 I), \quad \tau^2 \sim IG(1, \tfrac12).
    """

    omega: Array  # (K, d): v
    weights: Array  # (2K,): eta
    spread: float  # tau
    prior: FrequencyPrior  # prior of v

    @classmethod
    def start(cls, rng: Generator, prior: FrequencyPrior) -> "NoiseField":
        """Return a field of zero weights, with frequencies drawn from ``prior``."""
        return cls(prior.sample(rng, N_WAVES), np.zeros(2 * N_WAVES), _START_SPREAD, prior)

    def values(self, rows: TrainingData) -> Array:
        """Return the field's values ``h`` (n,) at all rows."""
        return rows.each(part_field, self.omega, self.weights, n_features=2 * len(self.weights))

    def moved(self, rng: Generator, rows: TrainingData, squares: Array) -> "NoiseField":
        r"""Return the field after Markov moves that keep its posterior invariant.

        ``squares`` (n,) are weights of rows times squared residuals, divided by :math:`\sigma^2`.
        """
        weights = self._weights_moved(rng, rows, squares)
        omega, prior = self._frequencies_moved(rng, rows, squares, weights)
        # The variance of the weights has a conjugate inverse gamma posterior.
        rate = _SPREAD_RATE + 0.5 * float(weights @ weights)
        spread = np.sqrt(rate / rng.gamma(_SPREAD_SHAPE + 0.5 * len(weights)))
        return NoiseField(omega, weights, float(spread), prior.refresh(rng, omega))

    def _weights_moved(self, rng: Generator, rows: TrainingData, squares: Array) -> Array:
        """Return the field's weights after elliptical slice moves (Murray et al., 2010)."""
        waves = rows.each(part_waves, self.omega, n_features=2 * len(self.weights))
        weights = self.weights
        for _ in range(_SLICES):
            direction = self.spread * rng.normal(size=len(weights))
            level = _log_likelihood(rows, squares, waves, self.omega, weights)
            least = level + float(np.log(rng.random()))
            angle = 2.0 * np.pi * rng.random()
            # The bracket of the ellipse shrinks towards the current weights at angle zero.
            low, high = angle - 2.0 * np.pi, angle
            while True:
                candidate: Array = np.cos(angle) * weights + np.sin(angle) * direction
                if _log_likelihood(rows, squares, waves, self.omega, candidate) > least:
                    break
                low, high = (angle, high) if angle < 0.0 else (low, angle)
                angle = low + (high - low) * rng.random()
            weights = candidate
        return weights

    def _frequencies_moved(
        self, rng: Generator, rows: TrainingData, squares: Array, weights: Array
    ) -> tuple[Array, FrequencyPrior]:
        omega, prior = self.omega.copy(), self.prior
        current = _log_likelihood(rows, squares, None, omega, weights)
        for k in rng.permutation(len(omega)):
            # One frequency at a time: the few waves of a field make this cheap.
            index = np.array([k])
            suggestion = prior.suggest(rng, omega, index)
            threshold = float(np.log(rng.random())) - float(suggestion.log_ratio[0])
            proposed = omega.copy()
            proposed[k] = suggestion.omega[0]
            value = _log_likelihood(rows, squares, None, proposed, weights)
            if threshold < value - current:
                omega, current = proposed, value
                prior = prior.decided(index, suggestion, np.ones(1, dtype=np.bool_))
        return omega, prior


@dataclass(frozen=True, slots=True, eq=False)
class VaryingNoise(ConditionallyGaussian):
    r"""Gaussian noise of variance :math:`\sigma^2 e^{h(x)}`; the field ``h`` is latent.

    Given ``h``, rows have weights :math:`e^{-h}`.
    """

    noise: InverseGammaNoise  # Distribution of sigma^2
    prior: FrequencyPrior  # Prior of the frequencies of h, with initial parameters

    def start(
        self, rng: Generator, rows: TrainingData, omega: Array, precision: float, n_copies: int
    ) -> tuple[NoiseField, None]:
        return NoiseField.start(rng, self.prior), None

    def given(self, rows: TrainingData, latent: NoiseField) -> TrainingData:
        return rows.reweighted(*under_field(rows, latent.values(rows)))

    def redraw(self, rng: Generator, rows: TrainingData, state: ChainState) -> Info:
        evidence, field = state.evidence, state.latent
        variance = self.noise.sample(rng, evidence.residual, evidence.degrees)
        lower = np.linalg.cholesky(evidence.covariance)
        deviation = np.sqrt(variance) * (lower @ rng.normal(size=len(evidence.mean)))
        squares = rows.each(
            part_squares,
            evidence.omega,
            evidence.mean + deviation,
            variance,
            along=(evidence.features,),
            n_features=len(evidence.mean),
        )
        field = field.moved(rng, rows, squares)
        self.recondition(rows, state, field)
        (level,) = rows.total(part_level, along=(field.values(rows),), n_features=1)
        log_evidence = state.evidence.log_evidence() - 0.5 * float(level)
        return {"log_evidence": log_evidence, "noise_spread": field.spread}

    def kept(self, latent: NoiseField) -> dict[str, Any]:
        return {"field_omega": latent.omega, "field_weights": latent.weights}


def log_factor(inputs: Floats, omega: Array, weights: Array) -> Array:
    """Return the values ``h`` (n,) of a field at inputs (d, n)."""
    return np.clip(weights @ _waves(inputs, omega), -_MOST, _MOST)


def _waves(inputs: Floats, omega: Array) -> Array:
    """Return the waves of a field at inputs (d, n), of shape (2K, n)."""
    inputs = inputs.astype(np.float64, copy=False)
    return as_array(WaveFeatures(omega).features(inputs, 1.0 / np.sqrt(len(omega))))


def part_waves(part: TrainingData, omega: Array) -> Array:
    """Return the waves of a field at a part of the rows, of shape (2K, n)."""
    return _waves(part.inputs, omega)


def part_field(part: TrainingData, omega: Array, weights: Array) -> Array:
    """Return the values (n,) of a field at a part of the rows."""
    return log_factor(part.inputs, omega, weights)


def part_field_likelihood(part: TrainingData, field: Array, squares: Array) -> tuple[float]:
    """Return the log likelihood of a field (n,) given ``squares`` (n,), up to a constant."""
    terms = field if part.counts is None else part.counts * field
    return (-0.5 * float(np.sum(terms) + squares @ np.exp(-field)),)


def part_likelihood(
    part: TrainingData, squares: Array, waves: Array | None, omega: Array, weights: Array
) -> tuple[float]:
    """Return the log likelihood of a field; ``waves`` (2K, n) are recomputed if None."""
    waves = part_waves(part, omega) if waves is None else waves
    return part_field_likelihood(part, np.clip(weights @ waves, -_MOST, _MOST), squares)


def under_field(part: TrainingData, field: Array) -> tuple[Array, Array]:
    """Return the weights (n,) of rows with a noise field (n,), and targets times the weights."""
    factor = np.exp(-field)
    return factor if part.weight is None else part.weight * factor, part.target * factor


def part_squares(
    part: TrainingData, Z: Floats | None, omega: Array, beta: Array, variance: float
) -> Array:
    """Return weights of rows times squared residuals, divided by ``variance``, of shape (n,)."""
    fit: Array = beta @ part.features(omega, Z)
    if part.weight is None:
        return (part.target - fit) ** 2 / variance
    return part.weight * (part.target / part.weight - fit) ** 2 / variance


def part_level(part: TrainingData, field: Array) -> tuple[float]:
    """Return the sum over observations of the field's values at a part of the rows."""
    return (float(np.sum(field if part.counts is None else part.counts * field)),)


def _log_likelihood(
    rows: TrainingData, squares: Array, waves: Array | None, omega: Array, weights: Array
) -> float:
    along = (squares, waves)
    (value,) = rows.total(part_likelihood, omega, weights, along=along, n_features=2 * N_WAVES)
    return float(value)

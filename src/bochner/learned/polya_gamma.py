"""Binary labels: the logistic likelihood, made Gaussian by Polya-Gamma variables."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from polyagamma import random_polyagamma
from scipy.special import expit

from bochner._base.arrays import Array, Floats, as_array
from bochner.learned.chain_state import (
    ChainEvidence,
    ChainState,
    ConditionallyGaussian,
    Info,
    KnownNoise,
    Noise,
    evidence_of,
)
from bochner.learned.training_data import TrainingData

MODE_STEPS = 12
"""Largest number of steps towards the posterior mode of the weights, near which a chain starts."""

MODE_GAIN = 0.1
"""Increase of the log density, in nats, below which the search of a starting point ends."""

_LEAST_CURVATURE = 1e-10
"""Lower bound of curvatures, which divide: rows predicted with certainty have none."""

_NEAR_ZERO = 1e-6  # Half log odds below which tanh(x)/(4 x) is its limit 1/4, to twelve digits

_LEAST_COUNT = 1e-3
"""Count of a row below which a series is used: polyagamma fails for counts below 1e-4."""

_TERMS = 32
"""Number of sampled terms of the series. The variance of the other terms is 1e-5 of the total."""

_UNIT = KnownNoise()


@dataclass(frozen=True, slots=True)
class LogisticLabels(ConditionallyGaussian):
    r"""Labels of :math:`P(y = 1 \mid x) = 1/(1 + e^{-\beta \cdot \phi(x)})`.

    Given latent :math:`w_i \sim PG(c_i, \beta \cdot \phi_i)` it is Gaussian in ``beta`` with
    precisions ``w`` and pseudo-targets :math:`\kappa_i / w_i`, :math:`\kappa_i = c_i (y_i - 1/2)`.
    Rows have targets :math:`y - 1/2` and weights :math:`c`, their numbers of repetitions.

    References
    ----------
    Polson, Scott and Windle, "Bayesian inference for logistic models using Polya-Gamma latent
    variables", 2013.
    """

    noise: Noise = _UNIT

    def start(
        self, rng: Generator, rows: TrainingData, omega: Array, precision: float, n_copies: int
    ) -> tuple[Array, ChainEvidence]:
        """Return Pólya-Gamma variables drawn near the weights' mode, and the evidence there."""
        evidence, activation = _mode(rows, omega, precision, n_copies)
        return part_weights(rows, activation, rng), evidence

    def given(self, rows: TrainingData, latent: Array) -> TrainingData:
        return rows.reweighted(latent, rows.target)

    def redraw(self, rng: Generator, rows: TrainingData, state: ChainState) -> Info:
        evidence = state.evidence
        lower = np.linalg.cholesky(evidence.covariance)
        beta = evidence.mean + lower @ rng.normal(size=len(evidence.mean))
        activation = _activation(rows, evidence, beta)
        latent = part_weights(rows, activation, rng)
        self.recondition(rows, state, latent)
        return {"log_likelihood": _log_likelihood(rows, activation)}


def _mode(
    rows: TrainingData, omega: Array, precision: float, n_copies: int
) -> tuple[ChainEvidence, Array]:
    """Return the evidence at the posterior mode of the weights, and the log odds (n,) there.

    Newton's method. If a step would decrease the log density, the search goes on by Pólya-Gamma EM
    steps, which never decrease it.
    """
    activation, value = np.zeros(rows.n_samples), -np.inf
    evidence: ChainEvidence | None = None
    newton = True
    for _ in range(MODE_STEPS):
        weights_at = tangent if newton else bound
        weighted_rows = rows.reweighted(*weights_at(rows, activation))
        evidence = evidence_of(
            weighted_rows, omega, precision, _UNIT, n_copies=n_copies, reused=evidence
        )
        trial = _activation(rows, evidence, evidence.mean)
        weights = evidence.mean[: 2 * evidence.n_waves]
        height = _log_likelihood(rows, trial) - 0.5 * precision * float(weights @ weights)
        # Newton steps may overshoot, for example with separable targets.
        if height < value:
            newton = False
            continue
        gain, activation, value = height - value, trial, height
        if gain < MODE_GAIN:
            break
    if evidence is None:
        raise RuntimeError("The search of the mode made no step.")
    return evidence, activation


def _activation(rows: TrainingData, evidence: ChainEvidence, beta: Array) -> Array:
    along = (evidence.features,)
    return rows.each(part_activation, evidence.omega, beta, along=along, n_features=len(beta))


def _log_likelihood(rows: TrainingData, activation: Array) -> float:
    (total,) = rows.total(part_log_likelihood, along=(activation,), n_features=1)
    return float(total)


def part_activation(part: TrainingData, Z: Floats | None, omega: Array, beta: Array) -> Array:
    """Return the log odds (n,) by the weights ``beta`` (p,) at a part of the rows."""
    values: Array = beta @ part.features(omega, Z)
    return values


def part_weights(part: TrainingData, activation: Array, rng: Generator) -> Array:
    """Return Pólya-Gamma variables (n,) of a part of the rows, drawn given their log odds."""
    return polya_gamma(count_of(part), activation, rng)


def polya_gamma(size: Array | float, activation: Array, rng: Generator) -> Array:
    """Return Pólya-Gamma variables (n,) of counts ``size``, a scalar or (n,), at log odds (n,)."""
    count = np.broadcast_to(size, activation.shape)
    rare = count < _LEAST_COUNT
    if not rare.any():
        weight: Array = random_polyagamma(size, activation, random_state=rng)
        return weight
    drawn = np.empty(activation.shape)
    drawn[rare] = _series(count[rare], activation[rare], rng)
    drawn[~rare] = random_polyagamma(count[~rare], activation[~rare], random_state=rng)
    return drawn


def _series(count: Array, activation: Array, rng: Generator) -> Array:
    r"""Return Pólya-Gamma variables from a gamma series, whose tail is replaced by its mean.

    Polson et al., equation 1: :math:`\frac{1}{2 \pi^2} \sum_k g_k / ((k - 1/2)^2 + z^2 / 4 \pi^2)`.
    """
    k = np.arange(_TERMS) + 0.5
    factors = 0.5 / np.pi**2 / (k**2 + (activation[:, None] / (2.0 * np.pi)) ** 2)
    drawn = np.sum(rng.standard_gamma(count[:, None], size=factors.shape) * factors, axis=1)
    rest = _mean_weight(activation) - factors.sum(axis=1)
    return as_array(drawn + count * rest)


def tangent(part: TrainingData, activation: Array) -> tuple[Array, Array]:
    """Return weights and targets of a Newton step: curvatures, and pseudo-targets times them."""
    count, probability = count_of(part), expit(activation)
    # Newton's method as weighted least squares.
    curvature = np.maximum(count * probability * (1.0 - probability), _LEAST_CURVATURE)
    slope = part.target - count * (probability - 0.5)
    return curvature, curvature * activation + slope


def bound(part: TrainingData, activation: Array) -> tuple[Array, Array]:
    """Return weights and targets of an EM step: mean Pólya-Gamma variables, and kappa."""
    mean = _mean_weight(activation)
    return count_of(part) * mean, part.target


def part_log_likelihood(part: TrainingData, activation: Array) -> tuple[float]:
    """Return the log likelihood of a part of the rows at its log odds (n,)."""
    # kappa psi - c log(2 cosh(psi / 2)), without overflow.
    half = 0.5 * np.abs(activation)
    terms = part.target * activation - count_of(part) * (half + np.log1p(np.exp(-2.0 * half)))
    return (float(np.sum(terms)),)


def _mean_weight(activation: Array) -> Array:
    """Return the means of Pólya-Gamma variables of count one at log odds (n,)."""
    half = 0.5 * np.abs(activation)
    return np.where(half > _NEAR_ZERO, np.tanh(half) / np.maximum(4.0 * half, _NEAR_ZERO), 0.25)


def count_of(part: TrainingData) -> Array | float:
    """Return the number of observations of each row of a part: its weight."""
    return 1.0 if part.weight is None else part.weight

"""The posterior of a model's parameters: its mode, evidence of the model, and weighted draws."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri
from scipy.stats import chi2, qmc

from bochner._base.arrays import Array, Index
from bochner._base.descent import minimised
from bochner.series.series_model import ScaledSeries, SeriesEvidence, SeriesModel

_FARTHEST = 5.0
"""Bounds of the search, in standard deviations of the priors: beyond them exponentials overflow."""

_TOLERANCE = 1e-6
"""Relative change of the log density at which the search ends. The log density is about the number
of rows: its error is some thousandths of a nat, and differences of models are tenths."""

_MOST_STEPS = 200
"""Largest number of steps of the search, which takes thirty to eighty."""

_INCREMENT = 1e-3
"""Increment, in standard deviations of the priors, of finite differences of gradients: curvatures
then have relative errors near a thousandth."""

_DEGREES = 6
"""Degrees of freedom of the Student proposal. Its tails are heavier than those of a skewed
posterior; if the posterior is normal, a tenth of the effective sample size is lost."""


@dataclass(frozen=True, slots=True, eq=False)
class LaplaceApproximation:
    """The normal approximation of one model's posterior at its mode.

    ``theta`` (k,) is the mode, ``log_density`` the log density of values and parameters there, and
    ``factor`` (k, k) a factor of the covariance: the product with its transpose. ``log_evidence``
    is Laplace's approximation of the log evidence of the model.
    """

    model: SeriesModel
    theta: Array
    log_density: float
    factor: Array
    log_evidence: float


class _Objective:
    """Minus the log density of values and parameters, over standardised parameters."""

    def __init__(self, model: SeriesModel, rows: ScaledSeries) -> None:
        self.prior, self.factor = model.prior, model.prior.factor
        self.evidence = SeriesEvidence(model, rows)

    def __call__(self, z: Array) -> tuple[float, Array]:
        values, gradients = self.many(z[None])
        return float(values[0]), gradients[0]

    def many(self, z: Array) -> tuple[Array, Array]:
        """Return values (m,) and gradients (m, k) at points (m, k)."""
        evidence, gradient = self.evidence.values_and_slopes(self.prior.mean + z @ self.factor.T)
        is_sound = np.isfinite(evidence) & np.isfinite(gradient).all(axis=1)
        values = np.where(is_sound, 0.5 * np.sum(z * z, axis=1) - evidence, np.inf)
        return values, np.where(is_sound[:, None], z - gradient @ self.factor, 0.0)


def log_density(model: SeriesModel, theta: Array, rows: ScaledSeries) -> float:
    """Return the log density of values and standardised parameters, up to a constant of the prior.

    The constant is the normalisation of k standard normals. Laplace's approximation of the evidence
    does not need it: it cancels with the volume of the approximation.
    """
    return float(log_densities(model, theta[None], rows)[0])


def log_densities(model: SeriesModel, thetas: Array, rows: ScaledSeries) -> Array:
    """Return log densities (m,) as `log_density` does, at parameters (m, k)."""
    z = model.prior.standardised(thetas.T)
    densities: Array = SeriesEvidence(model, rows).values(thetas) - 0.5 * np.sum(z**2, axis=0)
    return densities


def find_mode(
    model: SeriesModel, rows: ScaledSeries, start: Array | None = None
) -> LaplaceApproximation:
    """Return the mode reached by a search from ``start`` (k,), by default the prior mean."""
    objective = _Objective(model, rows)
    z = np.zeros(len(model.prior.mean)) if start is None else model.prior.standardised(start)
    z = np.clip(z, -_FARTHEST, _FARTHEST)
    bounds = [(-_FARTHEST, _FARTHEST)] * len(z)
    end = minimised(objective, z, n_steps=_MOST_STEPS, bounds=bounds, decrease=_TOLERANCE)
    factor, volume = _laplace(objective, end.point)
    density = -end.loss
    theta = model.prior.at(end.point)
    return LaplaceApproximation(
        model, theta, density, model.prior.factor @ factor, density + volume
    )


def _laplace(objective: _Objective, z: Array) -> tuple[Array, float]:
    """Return a factor (k, k) of the covariance, and the log volume relative to the prior's.

    The posterior is not wider than the prior, of deviation one, in any direction.
    """
    shifts = np.where(z < 0.0, _INCREMENT, -_INCREMENT)  # Inwards, away from the bounds
    _, gradients = objective.many(np.vstack((z, z + np.diag(shifts))))
    curvature = (gradients[1:] - gradients[0]) / shifts[:, None]
    values, vectors = np.linalg.eigh(0.5 * (curvature + curvature.T))
    # The prior has a curvature of one. The total is smaller where the likelihood is not concave.
    values = np.maximum(np.nan_to_num(values, nan=1.0), 1.0)
    return vectors / np.sqrt(values), -0.5 * float(np.sum(np.log(values)))


def draws(
    mode: LaplaceApproximation, rows: ScaledSeries, count: int, rng: Generator
) -> tuple[Array, Array]:
    """Return parameters (S, k) and their weights (S,), which sum to one.

    They are importance samples from a Student law around the mode, at the points of a scrambled
    Sobol sequence. Weights are truncated at the mean weight times the square root of the number of
    draws, which bounds the variance of weighted sums (truncated importance sampling).
    """
    k = len(mode.theta)
    # The last coordinate draws the chi-squared variate of the Student law.
    points = qmc.Sobol(k + 1, rng=rng).random(count)
    points = np.clip(points, np.finfo(np.float64).eps, 1.0 - np.finfo(np.float64).eps)
    stretch = np.sqrt(chi2.ppf(points[:, k], _DEGREES) / _DEGREES)
    steps = ndtri(points[:, :k]) / stretch[:, None]
    theta = mode.theta + steps @ mode.factor.T
    mean, std = mode.model.prior.mean, mode.model.prior.std
    theta = np.clip(theta, mean - _FARTHEST * std, mean + _FARTHEST * std)
    proposal = -0.5 * (_DEGREES + k) * np.log1p(np.sum(steps**2, axis=1) / _DEGREES)
    evidence = SeriesEvidence(mode.model, rows)
    z = mode.model.prior.standardised(theta.T)
    target = evidence.values(theta) - 0.5 * np.sum(z**2, axis=0)
    ratio = np.where(np.isfinite(target), target - proposal, -np.inf)
    weights = np.exp(ratio - ratio.max())
    weights = np.minimum(weights, weights.mean() * np.sqrt(count))
    return theta, weights / weights.sum()


def resampled(weights: Array, count: int, rng: Generator) -> Index:
    """Return the multiplicity (S,) of each draw, ``count`` in total, by systematic resampling."""
    ends = np.cumsum(weights / weights.sum())
    places = np.searchsorted(ends, (np.arange(count) + rng.random()) / count)
    return np.bincount(np.minimum(places, len(weights) - 1), minlength=len(weights))

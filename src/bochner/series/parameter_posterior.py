"""Structures of a series and the posterior of their parameters: mode, evidence and draws."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri
from scipy.stats import chi2, qmc

from bochner._base.arrays import Array, Index
from bochner._base.descent import minimised
from bochner.series.calendar_patterns import CalendarPattern
from bochner.series.components import Inputs, LevelShifts, Remainder, SharedSeason, Variation, Waves
from bochner.series.priors import GENERAL, SeriesPriors
from bochner.series.series_model import ScaledSeries, SeriesEvidence, SeriesModel, SeriesUnits
from bochner.series.trends import RISE, TRENDS, LevelProcess

_FARTHEST = 5.0
"""Bounds of the search, in prior standard deviations; farther out, exponentials may overflow."""

_TOLERANCE = 1e-6  # Relative change of the log density at which the search ends
_MOST_STEPS = 200  # Largest number of steps of the search, which takes thirty to eighty
_INCREMENT = 1e-3
"""Increment of differences of gradients, in prior deviations: errors near a thousandth."""

_DEGREES = 6  # Degrees of freedom of the Student proposal
_N_HARMONICS = 6
"""Most harmonics of a season, all of a year of months; longer seasons are smoothed."""

_SEASON_MEMORY = 5.0  # Prior median of the memory of a season's shape, in ranges of the rows
_CYCLE_ODDS = -np.log(240.0)
"""Prior log odds of a cycle at one candidate period: 1/20 divided by the candidates."""

FEWEST_STEPS = 2.0
"""Shortest period of a season in steps, by the sampling theorem."""

ROUNDED = 1e-6
"""Relative tolerance for rounded times when the steps of a period are counted."""

_DAYS_OF_SEASON, _SHARED = 10, 3
"""Most shorter seasons in a longer one for joint harmonics, and the number of harmonics of the
shorter season that differ: hours of weekends differ from those of weekdays."""

_SLOW = 0.1  # Prior median of the memory of slow variation, in ranges of the rows


@dataclass(frozen=True, slots=True, eq=False)
class LaplaceApproximation:
    """Normal (Laplace) approximation of one model's parameter posterior at its mode.

    ``theta`` (k,) is the mode, ``log_density`` the log density of values and parameters there;
    ``factor`` (k, k) times its transpose is the covariance of the parameters. ``log_evidence``
    is Laplace's approximation of the log evidence of the model.
    """

    model: SeriesModel
    theta: Array
    log_density: float
    factor: Array
    log_evidence: float


class _Objective:
    """Negative log density of values and parameters, as a function of standardised parameters."""

    def __init__(self, model: SeriesModel, rows: ScaledSeries) -> None:
        self.prior, self.factor = model.prior, model.prior.factor
        self.evidence = SeriesEvidence(model, rows)

    def __call__(self, z: Array) -> tuple[float, Array]:
        values, gradients = self.many(z[None])
        return float(values[0]), gradients[0]

    def many(self, z: Array) -> tuple[Array, Array]:
        """Return function values (m,) and gradients (m, k) at points (m, k)."""
        evidence, gradient = self.evidence.values_and_slopes(self.prior.mean + z @ self.factor.T)
        is_sound = np.isfinite(evidence) & np.isfinite(gradient).all(axis=1)
        values = np.where(is_sound, 0.5 * np.sum(z * z, axis=1) - evidence, np.inf)
        return values, np.where(is_sound[:, None], z - gradient @ self.factor, 0.0)


def log_density(model: SeriesModel, theta: Array, rows: ScaledSeries) -> float:
    """Return the joint log density of values and standardised parameters, up to a constant."""
    return float(log_densities(model, theta[None], rows)[0])


def log_densities(model: SeriesModel, thetas: Array, rows: ScaledSeries) -> Array:
    """Return the log densities (m,) of `log_density` at parameters (m, k)."""
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
    """Return a factor (k, k) of the covariance, and the log ratio of its volume to the prior's."""
    shifts = np.where(z < 0.0, _INCREMENT, -_INCREMENT)  # Away from the bounds
    _, gradients = objective.many(np.vstack((z, z + np.diag(shifts))))
    curvature = (gradients[1:] - gradients[0]) / shifts[:, None]
    values, vectors = np.linalg.eigh(0.5 * (curvature + curvature.T))
    # The prior's curvature is one; where the likelihood is not concave, the total is below one.
    values = np.maximum(np.nan_to_num(values, nan=1.0), 1.0)
    return vectors / np.sqrt(values), -0.5 * float(np.sum(np.log(values)))


def start_near(model: SeriesModel, near: LaplaceApproximation) -> Array:
    """Return start parameters: the mode's for parts of both models, prior means for new parts."""
    theta: Array = model.prior.mean.copy()
    for part in model.parts:
        for shared_part in near.model.parts:
            if part == shared_part:
                theta[model.place(part)] = near.theta[near.model.place(shared_part)]
    return theta


def draws(
    mode: LaplaceApproximation, rows: ScaledSeries, count: int, rng: Generator
) -> tuple[Array, Array]:
    """Return importance samples (S, k) of the parameters and their normalised weights (S,)."""
    k = len(mode.theta)
    # The last Sobol coordinate gives the chi-squared variate of the Student distribution.
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


@dataclass(frozen=True, slots=True)
class Season:
    """A season: its period in ranges of the training rows, and its name."""

    period: float
    name: str


@dataclass(frozen=True, slots=True)
class SeriesStructure:
    """The optional parts of a model: trend, seasons, cycle and level shifts.

    ``shared`` seasons, ``effects`` (means of the first effects of inputs, and their standard
    deviation around them) and ``rise`` (see `RISE`) are from other series.
    """

    trend: LevelProcess
    seasons: tuple[Waves, ...] = ()
    cycle: Waves | None = None
    shifts: LevelShifts | None = None
    shared: tuple[SharedSeason, ...] = ()
    effects: tuple[tuple[float, ...], float] | tuple[()] = ()
    rise: float = RISE

    def model(self, step: float, n_inputs: int, priors: SeriesPriors = GENERAL) -> SeriesModel:
        """Return the model for rows with the median spacing ``step``."""
        cycles = () if self.cycle is None else (self.cycle,)
        inputs = (Inputs(n_inputs, "inputs", *self.effects),) if n_inputs else ()
        # A third of the geometric mean of step and range: a few steps for some hundred rows.
        remainder = Remainder(float(np.sqrt(step)) / 3.0)
        slow = () if self.trend.is_walk else (Variation(_SLOW),)
        shifts = () if self.shifts is None else (self.shifts,)
        seasons = (*self.shared, *self.seasons)
        parts = (self.trend, *slow, *shifts, *seasons, *cycles, *inputs, remainder)
        return SeriesModel(parts, priors.table(step))

    @property
    def log_odds(self) -> float:
        """Prior log odds, relative to a structure without a cycle."""
        return 0.0 if self.cycle is None else float(_CYCLE_ODDS)


def season_waves(period: float, step: float, name: str) -> Waves:
    """Return a season with a fixed period, for rows that are ``step`` apart."""
    n_harmonics = min(_N_HARMONICS, int(period / (FEWEST_STEPS * step) + ROUNDED))
    return Waves(period, max(1, n_harmonics), _SEASON_MEMORY, 0.0, name)


def with_shorter(wave: Waves, periods: Sequence[float], step: float) -> Waves:
    """Return a season with the harmonics that change the shape of shorter ``periods`` within it."""
    count = wave.n_harmonics
    for period in periods:
        ratio = round(wave.period / period)
        if 1 < ratio <= _DAYS_OF_SEASON and abs(wave.period - ratio * period) <= ROUNDED * ratio:
            resolved = int(wave.period / (FEWEST_STEPS * step) + ROUNDED)
            count = max(count, min(_SHARED * ratio - 1, resolved))
    return replace(wave, n_harmonics=count)


LINE_STRUCTURE = SeriesStructure(TRENDS[-1])
"""The structure to which seasons are added: a line whose slope varies."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A structure with the Laplace approximation of its posterior."""

    structure: SeriesStructure
    mode: LaplaceApproximation

    @property
    def score(self) -> float:
        """Log evidence and log prior odds."""
        return self.mode.log_evidence + self.structure.log_odds


class Selection(NamedTuple):
    """Structures chosen for one series: m fits with log weights (m,), and the rows of each.

    Values at the outliers (k,) are ignored; they are unknown in the rows of the first fit.
    """

    fits: Sequence[Fit]
    log_weights: Array
    rows_of_fits: Sequence[ScaledSeries]
    outliers: Index
    ignored: Array
    transformation: str
    units: SeriesUnits
    patterns: list[CalendarPattern]

r"""What the series of a panel share: seasons, effects of inputs, growth and priors of parameters.

The coefficients of seasons and inputs and the parameters of the processes of one series are draws
from a normal law :math:`N(\mu, \Sigma)` over the panel, which is learned by empirical Bayes. A fit
with a wide prior gives the likelihood of the coefficients of series i, a normal density with
precision :math:`A_i` and shift :math:`b_i = A_i \hat x_i`. Expectation maximisation finds the law
of the largest evidence :math:`\prod_i N(\hat x_i; \mu, \Sigma + A_i^{-1})`.

Coefficients are relative to the mean of a series if no value of the panel is negative, so that
large and small series are comparable; otherwise, they are relative to its standard deviation.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from bochner._base.arrays import Array
from bochner.series.calendar_patterns import CalendarPattern
from bochner.series.components import SHIFT_STD, Inputs, SeriesProcess, SharedSeason, Waves
from bochner.series.parameter_posterior import Fit, Season, Selection, SeriesStructure
from bochner.series.priors import PanelPrior, SeriesPriors
from bochner.series.series_model import ScaledSeries, SeriesEvidence, SeriesUnits
from bochner.series.trends import RISE, TRENDS
from bochner.series.value_transformations import TRANSFORMATIONS

FEWEST_SERIES = 8
"""Smallest number of series that share: fewer do not determine the law of their coefficients."""

MOST_PILOTS = 60
"""Most series from which the law is learned: means have an error of an eighth."""

FEWEST_OF_PILOTS = 0.5
"""Smallest number of periods in the range of a series that tells the season of its panel."""

_WIDE = 0.5
"""Standard deviation, in those of the values, of the prior with which likelihoods are found."""

_SIZE = 0.3
"""Prior standard deviation of coefficients over a panel, in standard deviations of the values."""

_N_ITERATIONS = 50  # Iterations of expectation maximisation, after which laws hardly change

_PSEUDO = 3.0
"""Weight of the prior law, in series: more draw the law of a small panel to that of others."""

_INTENSITY = 0.1
"""Standard deviation of the size of the mean season, relative to that size, in addition to the
directions in which the seasons of a panel differ most."""

_MOST_DIRECTIONS = 6
"""Largest number of directions in which seasons differ from their mean: each adds a state. With 3
and 11, errors of monthly series of 14 values were 2 % larger and equal."""

_LEAST_SHARE = 0.1
"""Smallest share of the series with a day of the calendar that all series then have."""

_ROUNDING = 1e-8  # Smallest ratio of a posterior to a prior variance, for cancelled digits


class CoefficientLikelihood(NamedTuple):
    """The likelihood of d coefficients of one series: its precision (d, d) and shift (d,)."""

    precision: Array
    shift: Array

    def scaled(self, unit: float) -> "CoefficientLikelihood":
        """Return the likelihood of the coefficients divided by ``unit``."""
        return CoefficientLikelihood(unit**2 * self.precision, unit * self.shift)


def population(some: Sequence[CoefficientLikelihood], prior: Array) -> tuple[Array, Array, Array]:
    """Return mean (d,) and covariance (d, d) of coefficients, and the covariance of the mean.

    The ``prior`` covariance has the weight of `_PSEUDO` series. The mean is drawn to zero.
    """
    precision = np.array([one.precision for one in some])
    shift = np.array([one.shift for one in some])
    mean, cov, of_mean = np.zeros(len(prior)), prior, prior
    for _ in range(_N_ITERATIONS):
        inverse = np.linalg.inv(cov)
        posterior = np.linalg.inv(precision + inverse)
        # Precisions of the series' estimates around the mean; one more series has a mean of zero.
        marginal = inverse - inverse @ posterior @ inverse
        of_mean = np.linalg.inv(marginal.sum(axis=0) + inverse)
        mean = of_mean @ inverse @ (posterior @ shift[..., None]).sum(axis=0)[:, 0]
        gaps = (posterior @ (shift + inverse @ mean)[..., None])[..., 0] - mean
        total = gaps.T @ gaps + posterior.sum(axis=0) + _PSEUDO * prior
        cov = 0.5 * (total + total.T) / (len(some) + _PSEUDO)
    return mean, cov, of_mean


class SeasonLaw(NamedTuple):
    """The normal law of a season's coefficients: means (2 H,) and factors (2 H, K)."""

    mean: Array
    factors: Array


@dataclass(frozen=True, slots=True, eq=False)
class PanelLaw:
    """What series share: seasons by name, mean effects by input, growth, patterns and priors."""

    is_relative: bool
    seasons: Mapping[str, SeasonLaw] = field(default_factory=dict)
    effects: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # Mean and deviation
    growth: float = np.inf  # Usual relative growth in a unit of the times
    patterns: Sequence[CalendarPattern] = ()
    parameters: Mapping[str, PanelPrior] = field(default_factory=dict)
    trends: Mapping[str, float] = field(default_factory=dict)

    def unit(self, values: Array, transformation: str, units: SeriesUnits) -> float:
        """Return the unit of relative coefficients, in deviations of transformed values."""
        known = values[np.isfinite(values)]
        level = float(known.mean())
        size = level if self.is_relative and level > 0.0 else float(known.std())
        slope = TRANSFORMATIONS[transformation].log_slope(np.array([level]))
        return size * float(np.exp(slope[0])) / units.deviation

    def drawn(self, priors: SeriesPriors) -> SeriesPriors:
        """Return priors that are drawn to what the series of the panel have."""
        trends = {name: odds + self.trends.get(name, 0.0) for name, odds in priors.trends.items()}
        return replace(priors, panel=self.parameters, trends=trends)

    def structure(
        self,
        unit: float,
        units: SeriesUnits,
        seasons: Iterable[Season],
        follows_clock: Callable[[float], bool],
        names: Sequence[str],
    ) -> SeriesStructure:
        """Return the shared parts of a series with inputs of these names, and a line."""
        shared = []
        for season in seasons:
            if season.name in self.seasons:
                law, phase = self.seasons[season.name], units.start / (season.period * units.span)
                # The states of a shared season have the standard deviation of a shift.
                columns = np.column_stack((_INTENSITY * law.mean, law.factors)) * unit / SHIFT_STD
                means = (SHIFT_STD / _INTENSITY, *[0.0] * law.factors.shape[1])
                factors = tuple(columns.T.ravel().tolist())
                place = season.period, phase % 1.0
                by_clock = follows_clock(season.period)
                shared.append(SharedSeason(*place, means, factors, season.name, by_clock))
        scales = unit * units.scale[: len(names), None]
        effects = scales * np.array([self.effects.get(name, (0.0, 0.0)) for name in names])
        effects_law: tuple[tuple[float, ...], float] | tuple[()] = ()
        if effects.any():
            effects_law = tuple(effects[:, 0].tolist()), float(np.sqrt(np.mean(effects[:, 1] ** 2)))
        rise = min(RISE, self.growth * unit * units.span)
        return SeriesStructure(
            replace(TRENDS[-1], rise=rise), shared=tuple(shared), effects=effects_law, rise=rise
        )


@dataclass(frozen=True, slots=True, eq=False)
class Pilot:
    """Likelihoods of what one series shares, relative to the unit of the series."""

    selection: Selection
    unit: float
    seasons: dict[str, CoefficientLikelihood] = field(default_factory=dict)
    effects: dict[str, CoefficientLikelihood] = field(default_factory=dict)
    growth: CoefficientLikelihood | None = None

    @classmethod
    def of(cls, one: Selection, unit: float, names: Sequence[str]) -> "Pilot":
        """Return the likelihoods in the best model of a series with inputs of these names."""
        fit = one.fits[int(np.argmax(one.log_weights))]
        pilot, span, rows = cls(one, unit), one.units.span, one.rows_of_fits[0]
        for part in fit.mode.model.parts:
            if isinstance(part, Waves) and not part.freedom and part.name not in pilot.seasons:
                local = StateMoments.of(part, rows, fit, _WIDE).likelihood(slice(None))
                last = (one.units.start + span * rows.times[-1]) / (part.period * span)
                turn = _turn(float(last), part.n_harmonics)
                rotated = CoefficientLikelihood(turn @ local.precision @ turn.T, turn @ local.shift)
                pilot.seasons[part.name] = rotated.scaled(unit)
            elif isinstance(part, Inputs):
                moments = StateMoments.of(part, rows, fit, _WIDE)
                for place, (name, scale) in enumerate(zip(names, one.units.scale, strict=False)):
                    local = moments.likelihood(slice(place, place + 1))
                    pilot.effects[name] = local.scaled(unit * float(scale))
        line = next((each for each in one.fits if each.structure.trend.key == "line"), None)
        if line is None:
            return pilot
        moments = StateMoments.of(line.mode.model.parts[0], rows, line, 0.0)
        return replace(pilot, growth=moments.likelihood(slice(2, 3)).scaled(unit * span))


class StateMoments(NamedTuple):
    """Moments of a part's s states after all rows: means (s,), covariance (s, s) and prior ones."""

    mean: Array
    cov: Array
    prior_mean: Array
    prior_variances: Array

    @classmethod
    def of(cls, part: SeriesProcess, rows: ScaledSeries, fit: Fit, least: float) -> "StateMoments":
        """Return the moments at the mode; the first parameter is at least the logarithm of one."""
        model, theta = fit.mode.model, fit.mode.theta.copy()
        parameters, states = model.places[model.parts.index(part)]
        if least:
            theta[parameters.start] = max(theta[parameters.start], np.log(least))
        mean, cov = (each[0] for each in SeriesEvidence(model, rows).last_states(theta[None]))
        variances = np.real(part.initial(theta[parameters]))
        return cls(mean[states], cov[states, states], part.mean, variances)

    def likelihood(self, which: slice) -> CoefficientLikelihood:
        """Return the likelihood of some states, averaged over the prior of the others."""
        mean, variances = self.mean[which], self.prior_variances[which]
        std = np.sqrt(variances)
        ratios, vectors = np.linalg.eigh(self.cov[which, which] / np.outer(std, std))
        inverse = 1.0 / np.clip(ratios, _ROUNDING, 1.0)
        vectors = vectors / std[:, None]
        precision = (vectors * (inverse - 1.0)) @ vectors.T
        gain = (vectors * inverse) @ (vectors.T @ mean)
        return CoefficientLikelihood(precision, gain - self.prior_mean[which] / variances)


def _turn(turns: float, n_harmonics: int) -> Array:
    """Return the matrix from coefficients after so many periods to those of calendar time."""
    angles = 2.0 * np.pi * turns * np.repeat(np.arange(1.0, n_harmonics + 1.0), 2)
    flips = np.eye(2 * n_harmonics)[np.arange(2 * n_harmonics) ^ 1]
    signs = np.where(np.arange(2 * n_harmonics) % 2, 1.0, -1.0)
    matrix: Array = np.diag(np.cos(angles)) + (signs * np.sin(angles))[:, None] * flips
    return matrix


def first_law(pilots: Sequence[Pilot], law: PanelLaw) -> PanelLaw:
    """Return the law with seasons, effects of known inputs, growth and patterns of the pilots."""
    seasons = {}
    for name in dict.fromkeys(name for one in pilots for name in one.seasons):
        size = max(len(one.seasons[name].shift) for one in pilots if name in one.seasons)
        some = [p for p in pilots if name in p.seasons and len(p.seasons[name].shift) == size]
        if len(some) >= FEWEST_SERIES:
            powers = np.repeat(np.arange(1.0, size // 2 + 1.0), 2) ** -2.0
            variance = np.median([(_SIZE / one.unit) ** 2 for one in some])
            law_of = population([one.seasons[name] for one in some], np.diag(variance * powers))
            values, vectors = np.linalg.eigh(law_of[1] + law_of[2])
            top = np.argsort(-values)[:_MOST_DIRECTIONS]
            seasons[name] = SeasonLaw(law_of[0], vectors[:, top] * np.sqrt(values[top]))
    growth, lines = law.growth, [one for one in pilots if one.growth is not None]
    if len(lines) >= FEWEST_SERIES:
        spans = [one.unit * one.selection.units.span for one in lines]
        prior = np.median([span**-2.0 for span in spans]).reshape(1, 1)
        mean, cov, _ = population([one.growth for one in lines if one.growth is not None], prior)
        growth = float(np.sqrt(mean[0] ** 2 + cov[0, 0]))
    named = [pattern for one in pilots for pattern in one.selection.patterns]
    least = max(2.0, _LEAST_SHARE * len(pilots))
    patterns = [each for each in dict.fromkeys(named) if named.count(each) >= least]
    return PanelLaw(law.is_relative, seasons, _effects(pilots), growth, patterns)


def second_law(pilots: Sequence[Pilot], law: PanelLaw) -> PanelLaw:
    """Return the law with effects of patterns, and priors of parameters and trends."""
    effects = {**law.effects, **_effects(pilots)}
    return replace(law, effects=effects, parameters=_parameters(pilots), trends=_odds(pilots))


def _effects(pilots: Sequence[Pilot]) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation of the effects of a unit of each input, by name."""
    effects = {}
    for name in dict.fromkeys(name for one in pilots for name in one.effects):
        some = [one for one in pilots if name in one.effects]
        if len(some) >= FEWEST_SERIES:
            place = list(some[0].effects).index(name)
            units = [one.unit * one.selection.units.scale[place] for one in some]
            prior = np.median([(_SIZE / unit) ** 2 for unit in units]).reshape(1, 1)
            mean, cov, of_mean = population([one.effects[name] for one in some], prior)
            effects[name] = float(mean[0]), float(np.sqrt(cov[0, 0] + of_mean[0, 0]))
    return effects


def _odds(pilots: Sequence[Pilot]) -> dict[str, float]:
    """Return the log odds of trends in the panel, relative to those of single series."""
    weights = np.full((len(pilots), len(TRENDS)), -np.inf)
    for row, one in zip(weights, pilots, strict=True):
        for fit, weight in zip(one.selection.fits, one.selection.log_weights, strict=True):
            for place, trend in enumerate(TRENDS):
                if fit.structure.trend.key == trend.key:
                    row[place] = np.logaddexp(row[place], weight)
    odds = np.zeros(len(TRENDS))
    for _ in range(_N_ITERATIONS):
        joint = weights + odds
        shares = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None]).sum(axis=0)
        odds = np.log((shares + _PSEUDO) / (len(pilots) / len(TRENDS) + _PSEUDO))
    return {trend.key: float(each) for trend, each in zip(TRENDS, odds, strict=True)}


def _parameters(pilots: Sequence[Pilot]) -> dict[str, PanelPrior]:
    """Return shifts and standard deviations of the priors of named parameters."""
    likelihoods: dict[str, list[CoefficientLikelihood]] = {}
    variances: dict[str, list[float]] = {}
    for one in pilots:
        weights = np.exp(one.selection.log_weights)
        for fit, weight in zip(one.selection.fits, weights, strict=True):
            mode, prior = fit.mode, fit.mode.model.prior
            own = [entry for part in mode.model.parts for entry in part.priors]
            inverse = 1.0 / np.maximum(np.sum(mode.factor**2, axis=1), _ROUNDING)
            precision = weight * np.maximum(inverse - prior.std**-2.0, 0.0)
            shift = weight * inverse * (mode.theta - prior.mean)
            for place, entry in enumerate(own):
                if entry.name:
                    local = CoefficientLikelihood(
                        precision[place].reshape(1, 1), shift[place].reshape(1)
                    )
                    likelihoods.setdefault(entry.name, []).append(local)
                    variances.setdefault(entry.name, []).append(float(prior.std[place] ** 2))
    priors = {}
    for name, some in likelihoods.items():
        widest = float(np.sqrt(np.median(variances[name])))
        mean, cov, _ = population(some, np.array([[widest**2]]))
        # Likelihoods of small deviations are flat: they would draw priors far away, and widen them.
        shift = float(np.clip(mean[0], -widest, widest))
        priors[name] = PanelPrior(shift, min(float(np.sqrt(cov[0, 0])), widest))
    return priors

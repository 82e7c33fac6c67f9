"""Selects the transformation and the component processes of a series by their evidence."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.random import Generator
from scipy.fft import next_fast_len, rfft
from scipy.special import logsumexp

from bochner._base.arrays import Array, as_array
from bochner._base.progress import Progress, silent
from bochner._base.threads import in_order, single_threaded_blas
from bochner.series.breaks import NEW_BREAKS, Explained, find_breaks
from bochner.series.calendar_patterns import CalendarPattern, CalendarSearch
from bochner.series.components import SHORT_TERM, Waves
from bochner.series.panel_priors import PanelLaw
from bochner.series.parameter_posterior import (
    FEWEST_STEPS,
    LINE_STRUCTURE,
    ROUNDED,
    Fit,
    Season,
    Selection,
    SeriesStructure,
    find_mode,
    log_densities,
    log_density,
    season_waves,
    start_near,
    with_shorter,
)
from bochner.series.priors import GENERAL, SeriesPriors
from bochner.series.series_law import SeriesLaw
from bochner.series.series_model import ScaledSeries, SeriesModel, SeriesUnits
from bochner.series.trends import TRENDS, WalkWithDrift
from bochner.series.value_transformations import TRANSFORMATIONS, candidates, positive

Item = TypeVar("Item")
Result = TypeVar("Result")

_FEWEST_SEASONS = 1.5
"""Smallest number of periods in the range of the rows for a season of the calendar."""

_MOST_LINES = 3
"""Largest number of seasons found in the spectrum, in addition to seasons of the calendar."""

_REGULAR_CYCLES, _LONGER = 2.0, 1.5
"""Smallest memory of a reported cycle in periods, and smallest length in longest seasons."""

_NEAR_HARMONIC = 0.25
"""Largest difference between a harmonic's number and a whole number, for few periods."""

_MULTIPLES = (1, 2, 3)
"""Candidate multiples of the strongest line's period: the line may be a harmonic of a season."""

_N_CYCLES = 12
"""Candidate periods of a cycle, in equal ratios, closer than the width of a spectral line."""

_SHORTEST_CYCLE = 3.0  # Shortest period of a candidate cycle in steps, which values resolve
_FEWEST_CYCLES = 3.0  # Smallest number of periods of a candidate cycle in the range of the rows
_CYCLE_MEMORY = 3.0  # Prior median of the memory of a cycle, in periods
_CYCLE_FREEDOM = 0.3
"""Prior standard deviation of a log period: about the distance between candidates."""

_CYCLE_SIZES = (-0.5, 0.5)
"""Start values of a cycle's size, in prior deviations: a tenth and two fifths of the values'."""

_HOPELESS = -10.0
"""Difference of log densities in nats. A season is kept if its removal, without a new fit, costs
more. A model is dropped if its evidence is lower than the best by more."""


def never(period: float) -> bool:
    """Return False, the default for times without a zone: no period follows a local clock."""
    return False


@dataclass(frozen=True, slots=True)
class Searcher:
    """Fits and compares candidate structures of one series."""

    step: float
    names: Callable[[float], str]
    n_threads: int = 1
    progress: Progress = silent
    follows_clock: Callable[[float], bool] = never
    priors: SeriesPriors = GENERAL

    def first(
        self,
        rows: ScaledSeries,
        seasons: Sequence[Season],
        shared: SeriesStructure = LINE_STRUCTURE,
        fewest: float = _FEWEST_SEASONS,
    ) -> Fit:
        """Return the fit of ``shared`` parts plus ``seasons`` with enough periods in the rows."""
        longest = np.ptp(rows.times) / fewest * (1.0 + ROUNDED)
        shortest = FEWEST_STEPS * self.step * (1.0 - ROUNDED)
        usable = [season for season in seasons if shortest <= season.period <= longest]
        periods = [season.period for season in usable]
        waves = tuple(with_shorter(self._waves(season), periods, self.step) for season in usable)
        return self.fit(rows, replace(shared, seasons=waves))

    def best(
        self, rows: ScaledSeries, first: Fit, find_seasons: bool, find_cycle: bool
    ) -> list[Fit]:
        """Return fits whose evidence is close to the highest evidence, in decreasing order."""
        if self.progress.is_stopped:
            return [first]
        self.progress("comparing seasons and trends")
        with single_threaded_blas():
            fit = self._without_idle_seasons(rows, first)
            if find_seasons:
                with_lines = self._with_lines(rows, fit)
                # A season of the calendar may have stood for a line.
                if with_lines is not fit:
                    fit = self._without_idle_seasons(rows, with_lines)
            structures = (replace(fit.structure, trend=trend) for trend in TRENDS[:-1])
            fits = [fit, *self._map(lambda structure: self.fit(rows, structure, fit), structures)]
            fits = self._within_reach(fits)
            if find_cycle and not self.progress.is_stopped:
                self.progress("looking for a cycle")
                fits = self._within_reach([*fits, *self._with_cycle(rows, fits)])
        return fits

    def log_weights(self, fits: Sequence[Fit]) -> Array:
        """Return the logarithms (m,) of the normalised weights of m fits in forecasts."""
        weight = self.priors.log_weight
        weights = np.array([weight(fit.score, fit.structure.trend.key) for fit in fits])
        return as_array(weights - logsumexp(weights))

    def with_drift(
        self, rows: ScaledSeries, fits: Sequence[Fit], log_weights: Array
    ) -> tuple[list[Fit], Array]:
        """Append a random walk with drift to the fits and their log weights."""
        share = self.priors.weight_of_drift(1.0 / self.step)
        if not share or self.progress.is_stopped:
            return list(fits), log_weights
        with single_threaded_blas():
            walk = WalkWithDrift(self.priors.drift_share, rise=fits[0].structure.rise)
            drift = self.fit(rows, replace(fits[0].structure, trend=walk), fits[0])
        return [*fits, drift], np.append(log_weights + np.log1p(-share), np.log(share))

    def _within_reach(self, fits: Sequence[Fit]) -> list[Fit]:
        """Return the fits whose weight is close to the greatest weight, in decreasing order."""
        weights = self.log_weights(fits)
        order = np.argsort(-weights, kind="stable")
        return [fits[place] for place in order if weights[place] > weights[order[0]] + _HOPELESS]

    def _waves(self, season: Season, freedom: float = 0.0) -> Waves:
        by_clock = self.follows_clock(season.period)
        return replace(
            season_waves(season.period, self.step, season.name), freedom=freedom, by_clock=by_clock
        )

    def fit(self, rows: ScaledSeries, structure: SeriesStructure, near: Fit | None = None) -> Fit:
        """Return the fit of a structure; the search also starts at the mode of ``near``."""
        model = self._model(rows, structure)
        start = None if near is None else start_near(model, near.mode)
        return Fit(structure, find_mode(model, rows, start))

    def _model(self, rows: ScaledSeries, structure: SeriesStructure) -> SeriesModel:
        return structure.model(self.step, rows.inputs.shape[1], self.priors)

    def _without_idle_seasons(self, rows: ScaledSeries, fit: Fit) -> Fit:
        for season in fit.structure.seasons:
            theta = fit.mode.theta.copy()
            prior = fit.mode.model.prior
            place = fit.mode.model.place(season).start
            theta[place] = (
                prior.mean[place] - 3.0 * prior.std[place]
            )  # Three prior standard deviations below the mean size
            if log_density(fit.mode.model, theta, rows) - fit.mode.log_density < _HOPELESS:
                continue
            seasons = tuple(wave for wave in fit.structure.seasons if wave is not season)
            without = self.fit(rows, replace(fit.structure, seasons=seasons), fit)
            if without.score > fit.score:
                fit = without
        return fit

    def _with_lines(self, rows: ScaledSeries, fit: Fit) -> Fit:
        """Return the fit with seasons at the strongest spectral lines of the prediction errors."""
        is_known = rows.known
        for _ in range(_MOST_LINES):
            _, states = fit.mode.model.filtered(fit.mode.theta, rows)
            # Standardised one-step errors, which are white noise if the model is complete.
            errors = (states.error / np.sqrt(states.variance))[is_known]
            period = strongest_period(rows.times[is_known], errors, self.step)
            if period is None:
                break
            waves = (self._line(multiple * period) for multiple in _MULTIPLES)
            seasons = fit.structure.seasons
            options = [
                replace(fit.structure, seasons=(*seasons, wave))
                for wave in waves
                if wave is not None
            ]
            cycle = replace(fit.structure, cycle=self._cycle(period))
            fitted = partial(self.fit, rows, near=fit)
            *with_wave, with_cycle = self._map(fitted, [*options, cycle])
            best = max(with_wave, key=lambda candidate: candidate.score)
            # Penalty for the search over about as many frequencies as there are rows.
            if best.score - np.log(len(rows)) < max(fit.score, with_cycle.score):
                break
            fit = self._renamed(rows, best, best.structure.seasons)
        return fit

    def _line(self, period: float) -> Waves | None:
        # Two periods are distinct if their cycle counts over the range differ by one.
        if _FEWEST_SEASONS * period > 1.0:
            return None
        return self._waves(Season(period, self.names(period)), freedom=period)

    def _with_cycle(self, rows: ScaledSeries, fits: Sequence[Fit]) -> list[Fit]:
        best = max(fits, key=lambda fit: fit.score)
        periods = np.geomspace(_SHORTEST_CYCLE * self.step, 1.0 / _FEWEST_CYCLES, _N_CYCLES)
        if periods[0] > periods[-1]:
            return []

        def tried(period: float) -> tuple[float, SeriesStructure, Array]:
            cycle = self._cycle(period)
            structure = replace(best.structure, cycle=cycle)
            model = self._model(rows, structure)
            theta = start_near(model, best.mode)
            place = model.place(cycle).start
            starts = np.tile(theta, (len(_CYCLE_SIZES), 1))
            starts[:, place] += np.array(_CYCLE_SIZES) * model.prior.std[place]
            densities = log_densities(model, starts, rows)
            best_start = int(np.argmax(densities))
            return float(densities[best_start]), structure, starts[best_start]

        options = sorted(self._map(tried, periods.tolist()), key=lambda option: -option[0])
        best_fits = self._map(
            lambda option: Fit(option[1], find_mode(self._model(rows, option[1]), rows, option[2])),
            options[:2],
        )
        with_cycle = max(best_fits, key=lambda fit: fit.score)
        if with_cycle.score < best.score + _HOPELESS:
            return []
        with_cycle = self._without_idle_seasons(rows, with_cycle)
        with_cycle = self._renamed(rows, with_cycle, [with_cycle.structure.cycle])
        seasons, cycle = with_cycle.structure.seasons, with_cycle.structure.cycle
        structures = (
            replace(fit.structure, seasons=seasons, cycle=cycle) for fit in fits if fit is not best
        )
        return [
            with_cycle,
            *self._map(lambda structure: self.fit(rows, structure, with_cycle), structures),
        ]

    def _cycle(self, period: float) -> Waves:
        name = f"cycle of {self.names(period)}"
        return Waves(period, 1, _CYCLE_MEMORY * period, _CYCLE_FREEDOM, name)

    def _renamed(self, rows: ScaledSeries, fit: Fit, waves: Sequence[Waves | None]) -> Fit:
        """Return the fit with some of its waves named after their learned periods.

        A part of a season has the season's name, and an irregular cycle that of the remainder.
        """
        seasons, cycle = fit.structure.seasons, fit.structure.cycle
        longest, names = max((each.period for each in seasons), default=0.0), dict[Waves, str]()
        lengths = {each: each.period for each in seasons}
        for wave in filter(None, waves):
            if wave.freedom:
                theta = np.exp(fit.mode.theta[fit.mode.model.place(wave)])
                lengths[wave], names[wave] = float(theta[-1]), self.names(float(theta[-1]))
                if wave is cycle:
                    is_season = theta[-1] > _LONGER * longest
                    is_season &= theta[1] >= _REGULAR_CYCLES * theta[-1]
                    names[wave] = f"cycle of {names[wave]}" if is_season else SHORT_TERM
        for wave in seasons:
            parents = [each for each in seasons if _is_harmonic(lengths[wave], lengths[each])]
            if wave in names and parents:
                names[wave] = names.get(parents[0], parents[0].name)

        def renamed(wave: Waves) -> Waves:
            return replace(wave, name=names.get(wave, wave.name))

        structure = replace(
            fit.structure, seasons=tuple(map(renamed, seasons)), cycle=cycle and renamed(cycle)
        )
        model = self._model(rows, structure)
        return Fit(structure, replace(fit.mode, model=model))

    def _map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        return [result for _, result in in_order(function, list(items), self.n_threads)]


def _is_harmonic(period: float, season: float) -> bool:
    """Return whether a period, in ranges of the rows, is within resolution a part of a season."""
    number = season / period
    return number > _LONGER and abs(number - round(number)) < min(_NEAR_HARMONIC, season)


_FEWEST_TURNS = 3.0
"""Smallest number of periods of a line in the range of the rows: fewer resemble a trend."""

_PADDING = 4
"""Grid frequencies per line width: the largest power is a few per cent below the peak."""

_SURPRISE = 7.0
"""Excess power of a significant line, in nats: a false alarm in one series of a thousand."""


def strongest_period(times: Array, errors: Array, step: float) -> float | None:
    """Return the period of the strongest significant line in standardised one-step errors, or None.

    ``errors`` (n,) at ``times`` (n,), about ``step`` apart, have no lines if the model is complete:
    the power of each frequency is then exponential with mean one.
    """
    places = np.rint((times - times[0]) / step).astype(np.int64)
    size = int(places[-1]) + 1
    # Place the errors on a regular grid, with zeros for missing rows.
    binned = np.bincount(places, weights=errors, minlength=size)
    padded = next_fast_len(_PADDING * size, real=True)
    power = np.abs(rfft(binned, padded)) ** 2 / len(errors)
    frequency = np.arange(len(power)) / (padded * step)
    power[frequency * (times[-1] - times[0]) < _FEWEST_TURNS] = 0.0
    best = int(np.argmax(power))
    if power[best] < np.log(0.5 * size) + _SURPRISE:
        return None
    return float(1.0 / frequency[best])


@dataclass(frozen=True, slots=True)
class Plan:
    """Options of the search; ``seasons`` are (length in units of the times, name) pairs."""

    seasons: Sequence[tuple[float, str]]
    names: Callable[[float], str]
    find_seasons: bool
    find_cycle: bool
    transformations: Sequence[str] | None = None
    n_threads: int = 1
    progress: Progress = silent
    follows_clock: Callable[[float], bool] = never
    priors: SeriesPriors = GENERAL
    find_breaks: bool = True
    calendar: CalendarSearch | None = None
    panel: PanelLaw | None = None
    input_names: Sequence[str] = ()
    fewest_periods: float = _FEWEST_SEASONS


def learn(
    times: Array,
    values: Array,
    inputs: Array,
    plan: Plan,
    rng: Generator,
    clock: Array | None = None,
) -> tuple[SeriesLaw, list[CalendarPattern]]:
    """Learn the predictive law of a series from ordered times (n,), values (n,) and inputs (n, d).

    The indicators of the returned patterns follow the inputs of the law. Unknown values are NaN.
    ``clock`` (n,) is local time minus time; None without a time zone.
    """
    selection = select(times, values, inputs, plan, clock)
    plan.progress("drawing from the posterior of the parameters")
    return SeriesLaw.of(selection, rng, plan.n_threads), selection.patterns


def select(
    times: Array, values: Array, inputs: Array, plan: Plan, clock: Array | None
) -> Selection:
    """Return the structures that are chosen for a series, with their fits and weights."""
    name, units, searcher, fit = _compared(times, values, inputs, clock, plan)
    rows = units.rows(times, TRANSFORMATIONS[name].forward(values), inputs, clock)
    explained = Explained.nothing(rows, fit)
    if plan.find_breaks and not plan.progress.is_stopped:
        plan.progress("looking for days with spikes, outliers and shifts of the level")
        with single_threaded_blas():
            explained = find_breaks(rows, fit, searcher.fit, plan.calendar)
    if explained.patterns and plan.calendar is not None and not plan.progress.is_stopped:
        # Spikes make values look skew, so that transformations are compared again without them.
        columns = [pattern.indicator(plan.calendar.days) for pattern in explained.patterns]
        inputs = np.column_stack([inputs, *columns])
        name, units, searcher, fit = _compared(times, values, inputs, clock, plan)
        rows = units.rows(times, TRANSFORMATIONS[name].forward(values), inputs, clock)
        with single_threaded_blas():
            found = find_breaks(rows, fit, searcher.fit, None)
        explained = found._replace(patterns=explained.patterns)
    rows, fit, outliers, patterns, all_rows, unbroken = explained
    fits = searcher.best(rows, fit, plan.find_seasons, plan.find_cycle)
    fits, log_weights = searcher.with_drift(rows, fits, searcher.log_weights(fits))
    rows_of_fits = [rows] * len(fits)
    if fit is not unbroken:
        fits, rows_of_fits = [*fits, unbroken], [*rows_of_fits, all_rows]
        log_weights = np.append(log_weights + np.log1p(-NEW_BREAKS), np.log(NEW_BREAKS))
    weighted = fits, log_weights, rows_of_fits, outliers, all_rows.values[outliers]
    return Selection(*weighted, name, units, patterns)


def _compared(
    times: Array, values: Array, inputs: Array, clock: Array | None, plan: Plan
) -> tuple[str, SeriesUnits, Searcher, Fit]:
    """Return the transformation of the highest evidence, its units, searcher and first fit."""
    known_values = values[np.isfinite(values)]
    possible = plan.priors.scales(candidates(known_values), len(known_values))
    names = plan.transformations or possible
    compared_fits: list[tuple[str, SeriesUnits, Searcher, Fit, float]] = []
    with single_threaded_blas():
        for name in names:
            if compared_fits and plan.progress.is_stopped:
                break
            plan.progress(f"fitting a line and the seasons to values with transformation {name!r}")
            compared_fits.append((name, *_first(times, values, inputs, clock, name, plan)))
    return max(compared_fits, key=lambda entry: entry[-1])[:-1]


def _first(
    times: Array, values: Array, inputs: Array, clock: Array | None, name: str, plan: Plan
) -> tuple[SeriesUnits, Searcher, Fit, float]:
    """Return units, searcher, first fit and log weight of the transformation ``name``."""
    function = TRANSFORMATIONS[name]
    # The scale is that of transformed values.
    transformed = function.forward(values)
    units = SeriesUnits.of(times, transformed, inputs)
    searcher = Searcher(
        float(units.ranges(units.step)),
        lambda period: plan.names(period * units.span),
        plan.n_threads,
        plan.progress,
        lambda period: plan.follows_clock(period * units.span),
        plan.priors,
    )
    seasons = [Season(float(units.ranges(length)), label) for length, label in plan.seasons]
    shared = LINE_STRUCTURE
    if plan.panel is not None:
        unit, by_clock = plan.panel.unit(values, name, units), searcher.follows_clock
        shared = plan.panel.structure(unit, units, seasons, by_clock, plan.input_names)
    rows = units.rows(times, transformed, inputs, clock)
    fit = searcher.first(rows, seasons, shared, plan.fewest_periods)
    known_values = values[np.isfinite(values)]
    slopes = function.log_slope(positive(known_values) if function.changes_scale else known_values)
    density = fit.score + float(np.sum(slopes)) - len(known_values) * np.log(units.deviation)
    return units, searcher, fit, plan.priors.log_weight_of_scale(density, name)

"""Which processes a series is a sum of: models compared by their evidence."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from bochner._numerics.arrays import Array
from bochner._numerics.progress import Progress, silent
from bochner._numerics.threads import in_order, single_threaded_blas
from bochner.learning.series.lines import strongest_period
from bochner.learning.series.model import ScaledSeries, SeriesModel
from bochner.learning.series.parts import (
    ConstantLevel,
    Inputs,
    Remainder,
    SeriesProcess,
    Slope,
    Variation,
    Waves,
)
from bochner.learning.series.posterior import LaplaceApproximation, find_mode, log_density

Item = TypeVar("Item")
Result = TypeVar("Result")

_N_HARMONICS = 6
"""Harmonics of a season: all that monthly values can have, and smooth shapes of others."""

_SEASON_MEMORY = 5.0
"""Ranges after which a season's shape is forgotten, where the prior is centred."""

_FEWEST_SEASONS = 1.5
"""Fewest periods of a season of the calendar in the range of the rows."""

_MOST_LINES = 3
"""Largest number of seasons in addition to the seasons of the calendar."""

_MULTIPLES = (1, 2, 3)
"""Multiples of the strongest line's period that are tried: it may be a harmonic of a season."""

_N_CYCLES = 12
"""Periods of cycles that are tried, evenly by ratio: a line of short memory is wider than that."""

_SHORTEST_CYCLE = 3.0
"""Steps in the shortest cycle tried: of a shorter one values do not show the shape."""

_FEWEST_CYCLES = 3.0
"""Periods of the longest cycle tried in the range of the rows."""

_CYCLE_MEMORY = 3.0
"""Periods after which a cycle is forgotten, where the prior is centred."""

_CYCLE_FREEDOM = 0.3
"""Deviation of the prior of a cycle's logarithmic period: a step of the periods tried."""

_CYCLE_ODDS = -np.log(240.0)
"""Prior log odds of a cycle: one in twenty, for each of the candidate periods."""

_CYCLE_SIZES = (-0.5, 0.5)
"""Deviations of the size from its prior's mean where the search for a cycle begins: a tenth and
two fifths of that of the values."""

_HOPELESS = -10.0
"""Nats by which a part's absence may lower the log density before the part is kept untested, and
by which models' evidence may differ before the lesser is left."""


_SLOW = 0.1
"""Ranges after which slow variation is forgotten, where the prior is centred."""


def never(period: float) -> bool:
    """Tell that no period follows the clock of a zone."""
    return False


@dataclass(frozen=True, slots=True)
class Season:
    """A period in ranges of the training rows, with its name."""

    period: float
    name: str


@dataclass(frozen=True, slots=True)
class SeriesStructure:
    """Which parts a model has, besides variation and noise."""

    trend: SeriesProcess
    seasons: tuple[Waves, ...] = ()
    cycle: Waves | None = None

    def model(self, step: float, n_inputs: int) -> SeriesModel:
        """Return the model for rows that are usually ``step`` apart."""
        cycles = () if self.cycle is None else (self.cycle,)
        inputs = (Inputs(n_inputs),) if n_inputs else ()
        # A few steps of some hundred rows: the geometric mean of step and range, over three.
        remainder = Remainder(float(np.sqrt(step)) / 3.0)
        slow = Variation(_SLOW)
        return SeriesModel((self.trend, slow, *self.seasons, *cycles, *inputs, remainder))

    @property
    def log_odds(self) -> float:
        """Prior log odds, relative to a structure without a cycle."""
        return 0.0 if self.cycle is None else float(_CYCLE_ODDS)


TRENDS = (ConstantLevel(), Slope(has_line=False), Slope(has_line=True))
"""Trends that are compared: a level, a slope that dies out, and a line with a varying slope."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A structure, its mode, and its log evidence with prior odds."""

    structure: SeriesStructure
    mode: LaplaceApproximation

    @property
    def score(self) -> float:
        """Log evidence and log prior odds."""
        return self.mode.log_evidence + self.structure.log_odds


@dataclass(frozen=True, slots=True)
class Searcher:
    """How to compare models of one series.

    ``step`` is the usual one, in ranges. ``names`` turns a period into the name of its component,
    and ``follows_clock`` tells whether it repeats by the clock of a zone.
    """

    step: float
    n_inputs: int
    names: Callable[[float], str]
    n_threads: int = 1
    progress: Progress = silent
    follows_clock: Callable[[float], bool] = never

    def first(self, rows: ScaledSeries, seasons: Sequence[Season]) -> Fit:
        """Return the fit with a line and all seasons of which there are enough periods."""
        waves = tuple(
            self._waves(season)
            for season in seasons
            if _FEWEST_SEASONS * season.period <= np.ptp(rows.times)
            and season.period >= 2.0 * self.step
        )
        return self._fit(rows, SeriesStructure(TRENDS[-1], waves))

    def best(
        self, rows: ScaledSeries, first: Fit, find_seasons: bool, find_cycle: bool
    ) -> list[Fit]:
        """Return the fits of all structures within reach of the best, which is the first.

        Where the progress is stopped, structures that are left are not compared.
        """
        if self.progress.is_stopped:
            return [first]
        self.progress("comparing seasons and trends")
        with single_threaded_blas():
            fit = self._without_idle_seasons(rows, first)
            if find_seasons:
                fit = self._with_lines(rows, fit)
            others = (replace(fit.structure, trend=trend) for trend in TRENDS[:-1])
            fits = [fit, *self._map(lambda one: self._fit(rows, one, fit), others)]
            fits = _within_reach(fits)
            if find_cycle and not self.progress.is_stopped:
                self.progress("looking for a cycle")
                fits = _within_reach([*fits, *self._with_cycle(rows, fits)])
        return fits

    def _waves(self, season: Season, freedom: float = 0.0) -> Waves:
        n_harmonics = min(_N_HARMONICS, int(0.5 * season.period / self.step + 1e-6))
        by_clock = self.follows_clock(season.period)
        return Waves(
            season.period, max(1, n_harmonics), _SEASON_MEMORY, freedom, season.name, by_clock
        )

    def _fit(self, rows: ScaledSeries, structure: SeriesStructure, near: Fit | None = None) -> Fit:
        """Return the fit of a structure, begun where another has the same parts."""
        model = structure.model(self.step, self.n_inputs)
        start = None if near is None else _start(model, near.mode)
        return Fit(structure, find_mode(model, rows, start))

    def _without_idle_seasons(self, rows: ScaledSeries, fit: Fit) -> Fit:
        for season in fit.structure.seasons:
            theta = fit.mode.theta.copy()
            mean, std = fit.mode.model.priors
            place = fit.mode.model.place(season).start
            theta[place] = mean[place] - 3.0 * std[place]  # A hundredth of the prior's size
            if log_density(fit.mode.model, theta, rows) - fit.mode.log_density < _HOPELESS:
                continue
            kept = tuple(other for other in fit.structure.seasons if other is not season)
            without = self._fit(rows, replace(fit.structure, seasons=kept), fit)
            if without.score > fit.score:
                fit = without
        return fit

    def _with_lines(self, rows: ScaledSeries, fit: Fit) -> Fit:
        """Return the fit with seasons at the strongest spectral lines of the prediction errors.

        A line is not added if a cycle, whose phase drifts, has a greater score.
        """
        known = rows.known
        for _ in range(_MOST_LINES):
            _, states = fit.mode.model.filtered(fit.mode.theta, rows)
            errors = (states.error / np.sqrt(states.variance))[known]
            period = strongest_period(rows.times[known], errors, self.step)
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
            fitted = partial(self._fit, rows, near=fit)
            *found, other = self._map(fitted, [*options, cycle])
            best = max(found, key=lambda one: one.score)
            # A frequency was chosen among as many as there are rows.
            if best.score - np.log(len(rows)) < max(fit.score, other.score):
                break
            fit = self._renamed(best)
        return fit

    def _line(self, period: float) -> Waves | None:
        # One turn more or less over the range is told apart.
        if _FEWEST_SEASONS * period > 1.0:
            return None
        return self._waves(Season(period, self.names(period)), freedom=period)

    def _with_cycle(self, rows: ScaledSeries, fits: Sequence[Fit]) -> list[Fit]:
        best = max(fits, key=lambda one: one.score)
        periods = np.geomspace(_SHORTEST_CYCLE * self.step, 1.0 / _FEWEST_CYCLES, _N_CYCLES)
        if periods[0] > periods[-1]:
            return []

        def tried(period: float) -> tuple[float, SeriesStructure, Array]:
            cycle = self._cycle(period)
            structure = replace(best.structure, cycle=cycle)
            model = structure.model(self.step, self.n_inputs)
            theta = _start(model, best.mode)
            place = model.place(cycle).start
            options = []
            for size in _CYCLE_SIZES:
                one = theta.copy()
                one[place] += size * model.priors[1, place]
                options.append((log_density(model, one, rows), one))
            density, theta = max(options, key=lambda option: option[0])
            return density, structure, theta

        options = sorted(self._map(tried, periods.tolist()), key=lambda option: -option[0])
        found = self._map(
            lambda option: Fit(
                option[1],
                find_mode(option[1].model(self.step, self.n_inputs), rows, option[2]),
            ),
            options[:2],
        )
        with_cycle = self._renamed(max(found, key=lambda one: one.score))
        if with_cycle.score < best.score + _HOPELESS:
            return []
        others = (
            replace(fit.structure, cycle=with_cycle.structure.cycle)
            for fit in fits
            if fit is not best
        )
        return [with_cycle, *self._map(lambda one: self._fit(rows, one, with_cycle), others)]

    def _cycle(self, period: float) -> Waves:
        name = f"cycle of {self.names(period)}"
        return Waves(period, 1, _CYCLE_MEMORY * period, _CYCLE_FREEDOM, name)

    def _renamed(self, fit: Fit) -> Fit:
        """Return the fit with its learned periods in the names of their components."""

        def renamed(wave: Waves) -> Waves:
            if not wave.freedom:
                return wave
            learned = float(np.exp(fit.mode.theta[fit.mode.model.place(wave)][-1]))
            name = self.names(learned)
            return replace(wave, name=name if wave is not cycle else f"cycle of {name}")

        cycle = fit.structure.cycle
        structure = replace(
            fit.structure,
            seasons=tuple(map(renamed, fit.structure.seasons)),
            cycle=None if cycle is None else renamed(cycle),
        )
        model = structure.model(self.step, self.n_inputs)
        return Fit(structure, replace(fit.mode, model=model))

    def _map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        return [made for _, made in in_order(function, list(items), self.n_threads)]


def _start(model: SeriesModel, near: LaplaceApproximation) -> Array:
    """Return the prior's means, and a mode's parameters of the parts that it has, too."""
    theta: Array = model.priors[0].copy()
    for part in model.parts:
        for other in near.model.parts:
            if part == other:
                theta[model.place(part)] = near.theta[near.model.place(other)]
    return theta


def _within_reach(fits: Sequence[Fit]) -> list[Fit]:
    """Return the fits whose evidence is not hopeless, the best first."""
    ordered = sorted(fits, key=lambda one: -one.score)
    return [one for one in ordered if one.score > ordered[0].score + _HOPELESS]

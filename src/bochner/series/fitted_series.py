"""The fitted model of one series of a forecaster, and forecasts of several series."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from bochner._base.arrays import Array, as_array
from bochner._base.progress import Progress
from bochner._base.registry import register
from bochner.series.calendar_patterns import CalendarPattern, CalendarSearch
from bochner.series.component_search import Plan, learn
from bochner.series.count_law import CountLaw, learn_counts
from bochner.series.count_mixture import CountMixture
from bochner.series.panel_priors import PanelLaw
from bochner.series.priors import GENERAL, PRIORS, SeriesPriors
from bochner.series.series_law import SeriesLaw
from bochner.series.series_model import ScaledSeries, SeriesUnits
from bochner.series.series_rows import SeriesRows, future_inputs, inputs_by_text
from bochner.series.timelines import Future, Timeline, labelled
from bochner.series.value_transformations import TRANSFORMATIONS, PredictiveMixture, are_mostly_zero

_MONTH = 365.2425 / 12.0  # Mean days of a month in the Gregorian calendar

_STEPS_OF_YEAR = {"year": 1.0, "quarter": 4.0, "month": 12.0, "week": 52.2, "hour": 8766.0}
"""Number of values per year, by the name of the priors."""

_NEAR = 0.05
"""Relative tolerance of steps per year, above that of leap years and lengths of months."""

_TRIAL_STEPS = (1.0, 30.0)  # Horizons, in steps, of the test forecast of a model loaded from a file
_ENDS = np.array([0.005, 0.995])
"""Quantile levels of the test forecast: the ends of a 99 % interval."""

_INPUTS_ERROR = 1e-6
"""Largest difference of equal inputs, in standard deviations: more than rounding."""

_MOST_YEARS = 40  # Longest series without dates whose values are taken as yearly
_LEAST_SHARED = 300
"""Fewest rows for several threads: with 500 rows, two take 10 % less, with 100 30 % more."""

PredictiveLaw = PredictiveMixture | CountMixture
"""PredictiveLaw laws of values at several times."""


class Ahead(NamedTuple):
    """Rows to predict at, sorted by time, and the position of each requested time among them."""

    rows: ScaledSeries
    places: NDArray[np.intp]
    future: Future


@register
@dataclass(frozen=True, slots=True, eq=False)
class FittedSeries:
    """The fitted model of one series, with its timeline and the names of its inputs.

    Inputs of the law are those that the user gave, and the indicators of the patterns.
    """

    timeline: Timeline
    law: SeriesLaw | CountLaw
    input_names: list[str] | None
    patterns: list[CalendarPattern] = field(default_factory=list)
    label: Any = None  # Name of the series if it is a number or a tuple, else None

    def __post_init__(self) -> None:
        """Raise ValueError if there are more patterns than inputs, as in a damaged file."""
        if len(self.patterns) > self.law.inputs.shape[1]:
            raise ValueError(f"{len(self.patterns)} patterns of {self.law.inputs.shape[1]} inputs")

    def shown(self, name: str) -> Any:
        """Return the name as the user gave it, for the text of a name."""
        return name if self.label is None else self.label

    def effects(self, level: float) -> dict[str, Array]:
        """Return mean and ends of the interval (3,) of the effect of each input and pattern.

        They are those of one unit, on the scale of the transformed values.
        """
        n_given = self.law.inputs.shape[1] - len(self.patterns)
        given = self.input_names or [f"input {i}" for i in range(n_given)]
        names = [*given, *(pattern.name for pattern in self.patterns)]
        if not names:
            return {}
        mean, std = self.law.input_effects()
        ends = ndtri(0.5 + 0.5 * level * np.array([0.0, -1.0, 1.0]))
        return dict(zip(names, mean[:, None] + std[:, None] * ends, strict=True))

    def at(self, horizon: object, X: object) -> Ahead:
        """Return the rows to predict at for a number of steps, or for requested times."""
        law, future = self.law, self.timeline.future(horizon)
        n_inputs = law.inputs.shape[1] - len(self.patterns)
        inputs = np.zeros((len(future.numbers), 0))
        if n_inputs or X is not None:
            inputs = future_inputs(X, future, n_inputs, self.input_names)
        inputs = with_patterns(inputs, self.patterns, self.timeline, future.numbers, future.clock)
        order = np.argsort(future.numbers, kind="stable")
        unknown = np.full(len(order), np.nan)
        clock = None if future.clock is None else future.clock[order]
        rows = law.units.rows(future.numbers[order], unknown, inputs[order], clock)
        if rows.times[0] < law.times[0]:
            raise ValueError("Times to predict at must not lie before those of the series.")
        _, training, new = np.intersect1d(law.times, rows.times, return_indices=True)
        differences = np.abs(law.inputs[training] - rows.inputs[new])
        n_others = int(np.sum((differences > _INPUTS_ERROR).any(axis=1)))
        if n_others:
            raise ValueError(
                f"X differs from the inputs of the fit at {n_others} of the times to predict at: "
                "pass those of the fit at times of the series, because the values belong to them."
            )
        return Ahead(rows, np.argsort(order, kind="stable"), future)

    def history(self) -> tuple[NDArray[Any], Array]:
        """Return times (n,), as numbers or local dates, and values, NaN for unknown ones."""
        law, units = self.law, self.law.units
        back = TRANSFORMATIONS[law.transformation].back
        values = np.where(law.is_known, law.values, np.nan)
        values[law.positions(law.outliers)] = law.ignored
        times = self.timeline.past(units.start + units.span * law.times)
        return times, back(units.centre + units.deviation * values)

    def try_out(self) -> Array:
        """Return a test forecast with finite moments, draws and intervals, or raise ValueError."""
        law, timeline = self.law, self.timeline
        timeline.check()
        if timeline.step is not None:
            timeline.future(1)
        after = timeline.last + np.array(_TRIAL_STEPS) * (timeline.step or law.units.step)
        rows = law.units.rows(after, np.full(2, np.nan), np.zeros((2, law.inputs.shape[1])))
        forecast, paths = law.predict(rows), law.sample(rows, 2, np.random.default_rng(0))
        law.components_at(rows)
        answers = np.column_stack([forecast.centre(), forecast.std(), forecast.quantiles(_ENDS)])
        if np.isnan(answers).any() or np.isnan(paths).any():
            raise ValueError("a forecast is NaN")
        # Later forecasts on a log scale may overflow although the file is intact.
        bounded = answers if law.transformation == "none" else answers[:1]
        parts = forecast.means, forecast.variances, bounded, paths[:, :1]
        if not all(np.isfinite(part).all() for part in parts):
            raise ValueError("a forecast is not finite")
        return as_array(bounded)


class Options(NamedTuple):
    """Options of `bochner.Forecaster` for the fit of one series."""

    periods: str | Iterable[float | str]
    find_cycle: bool
    find_breaks: bool
    transformation: str
    n_threads: int
    progress: Progress


def fitted_series(
    series: SeriesRows, options: Options, rng: Generator, panel: PanelLaw | None
) -> FittedSeries:
    """Fit a model to one series, which may share some of it with the series of a panel."""
    rows = series.learned
    if are_counts(series, options):
        options.progress("fitting laws of counts")
        return _fitted_counts(series, _seasons(series, options))
    plan, inputs = plan_of(series, options, panel)
    law, patterns = learn(rows.times, rows.values, inputs, plan, rng, rows.clock)
    patterns = [*(() if panel is None else panel.patterns), *patterns]
    law = law.after(_earlier(series, law, patterns))
    return FittedSeries(series.timeline, law, series.input_names, patterns)


def plan_of(series: SeriesRows, options: Options, panel: PanelLaw | None) -> tuple[Plan, Array]:
    """Return the plan of a fit, and the inputs (n, d) with the patterns of the panel."""
    timeline, rows, seasons = series.timeline, series.learned, _seasons(series, options)
    is_auto = isinstance(options.periods, str)
    days = timeline.local_days(rows.times, rows.clock)
    plan = Plan(
        seasons,
        timeline.name,
        is_auto,
        options.find_cycle,
        None if options.transformation == "auto" else [options.transformation],
        options.n_threads if len(rows.values) >= _LEAST_SHARED else 1,
        options.progress,
        timeline.follows_clock,
        _priors(timeline, is_auto, len(rows.values), [length for length, _ in seasons]),
        options.find_breaks,
        None if days is None else CalendarSearch(days),
    )
    if panel is None:
        return plan, rows.inputs
    inputs = with_patterns(rows.inputs, panel.patterns, timeline, rows.times, rows.clock)
    names = series.input_names or [f"input {i}" for i in range(rows.inputs.shape[1])]
    names = [*names, *(pattern.name for pattern in panel.patterns)]
    priors = panel.drawn(plan.priors)
    return replace(plan, panel=panel, input_names=names, priors=priors), inputs


def are_counts(series: SeriesRows, options: Options) -> bool:
    """Return whether a series is modelled by the laws of counts, which share nothing."""
    values = series.learned.values
    is_auto = options.transformation == "auto"
    return options.transformation == "counts" or (
        is_auto and are_mostly_zero(values[np.isfinite(values)])
    )


def _seasons(series: SeriesRows, options: Options) -> list[tuple[float, str]]:
    """Return the lengths of the seasons in units of the times, with their names."""
    timeline = series.timeline
    if isinstance(options.periods, str):
        return timeline.calendar
    lengths = [timeline.length(period) for period in options.periods]
    _check_lengths(lengths, series.learned)
    return [(length, timeline.name(length)) for length in lengths]


def _fitted_counts(series: SeriesRows, seasons: Sequence[tuple[float, str]]) -> FittedSeries:
    """Fit the law of counts to one series, with seasons in units of the times."""
    learned, end = series.learned, len(series.earlier.times) + len(series.learned.times)
    units = SeriesUnits.of(learned.times, learned.values, learned.inputs)
    units = replace(units, centre=0.0, deviation=1.0)
    rows = units.rows(series.times, series.values, series.inputs, series.clock)
    lengths = [(float(units.ranges(length)), name) for length, name in seasons]
    law = learn_counts(rows.part(slice(0, end)), len(learned.times), units, lengths)
    return FittedSeries(series.timeline, law, series.input_names)


def with_patterns(
    inputs: Array,
    patterns: Sequence[CalendarPattern],
    timeline: Timeline,
    numbers: Array,
    clock: Array | None,
) -> Array:
    """Return inputs (n, d) with the indicators of q patterns at times (n,), (n, d + q)."""
    days = timeline.local_days(numbers, clock) if patterns else None
    if days is None:
        return inputs
    return np.column_stack([inputs, *(pattern.indicator(days) for pattern in patterns)])


def _earlier(
    series: SeriesRows, law: SeriesLaw, patterns: Sequence[CalendarPattern]
) -> ScaledSeries:
    """Return the rows before the training rows, scaled by the units of a fitted law."""
    function, rows = TRANSFORMATIONS[law.transformation], series.earlier
    values = np.where(function.domain(rows.values), rows.values, np.nan)
    inputs = with_patterns(rows.inputs, patterns, rows.timeline, rows.times, rows.clock)
    return law.units.rows(rows.times, function.forward(values), inputs, rows.clock)


def check_periods(periods: ArrayLike) -> None:
    """Raise TypeError or ValueError unless the periods are ``"auto"`` or a sequence."""
    if np.ndim(periods) != 1 and periods != "auto":
        kind = ValueError if isinstance(periods, str) else TypeError
        raise kind(f"periods must be 'auto' or a sequence of lengths, got {periods!r:.60}.")


def _priors(
    timeline: Timeline, is_auto: bool, n_rows: int, lengths: Sequence[float]
) -> SeriesPriors:
    """Return the learned priors for the frequency of a series, such as monthly."""
    step = timeline.step
    if step is None:
        return GENERAL
    if timeline.kind in ("months", "days"):
        months = step if timeline.kind == "months" else step / _MONTH
        steps_of_year = 12.0 / months
    elif timeline.are_years:
        steps_of_year = 1.0 / step
    elif is_auto:
        steps_of_year = 1.0 if n_rows <= _MOST_YEARS else 0.0
    else:
        steps_of_year = max(lengths, default=0.0) / step
    for name, count in _STEPS_OF_YEAR.items():
        if abs(steps_of_year - count) < _NEAR * count:
            return PRIORS[name]
    return GENERAL


def _check_lengths(lengths: Sequence[float], series: SeriesRows) -> None:
    """Raise ValueError for a period that is longer than the series."""
    span = float(series.times[-1] - series.times[0])
    too_long = [length for length in lengths if length > span]
    if too_long:
        kind = series.timeline.kind
        unit = {"days": " days", "months": " months", "steps": " steps"}.get(kind, "")
        year = " A year of these dates is 12 months." if kind == "months" else ""
        raise ValueError(
            f"periods must not be longer than the series, of {span:.4g}{unit}, got "
            f"{too_long[0]:g}{unit}.{year}"
        )


def in_one_frame(results: Mapping[str, Any]) -> Any:
    """Join pandas results with equal indices into one data frame; else return them unchanged."""
    if not all(hasattr(result, "index") for result in results.values()):
        return results
    indices = [result.index for result in results.values()]
    if any(not index.equals(indices[0]) for index in indices[1:]):
        return results
    columns = np.column_stack([result.to_numpy() for result in results.values()])
    return labelled(columns, indices[0], list(results))


@dataclass(frozen=True, slots=True, eq=False)
class SeriesForecasts:
    """Fitted series by name, with the rows to predict at."""

    fitted: Mapping[str, FittedSeries]
    ahead: Mapping[str, Ahead]
    is_single: bool

    @classmethod
    def at(
        cls, fitted: Mapping[str, FittedSeries], is_single: bool, horizon: object, X: object
    ) -> "SeriesForecasts":
        """Return the forecasts for a number of steps or requested times, given known inputs."""
        of_each = inputs_by_text(X, fitted) if isinstance(X, dict) and not is_single else None
        ahead = {
            name: one.at(horizon, X if of_each is None else of_each.get(name))
            for name, one in fitted.items()
        }
        return cls(fitted, ahead, is_single)

    def laws(self) -> dict[str, PredictiveLaw]:
        """Return the predictive law of each series."""
        return {name: one.law.predict(self.ahead[name].rows) for name, one in self.fitted.items()}

    def sample(self, count: int, rng: Generator) -> Any:
        """Return sample paths (h, count) of each series; ValueError for times before its end."""
        for name, one in self.fitted.items():
            if self.ahead[name].rows.times[0] <= one.law.times[-1]:
                raise ValueError(
                    "Times to sample at must lie after the last known value of the series."
                )
        drawn = {
            name: one.law.sample(self.ahead[name].rows, count, rng)
            for name, one in self.fitted.items()
        }
        return self.each(lambda name: drawn[name].T, list(range(count)))

    def components(self, ends: Array) -> Any:
        """Return mean and quantiles ``ends`` (h, 3) of each series' components."""

        def of_series(series: str, ahead: Ahead) -> Any:
            laws = self.fitted[series].law.components_at(ahead.rows)
            columns = {
                name: np.column_stack((law.centre(), law.quantiles(ends)))[ahead.places]
                for name, law in laws.items()
            }
            if ahead.future.index is None:
                return columns
            names = [(name, part) for name in columns for part in ("mean", "lower", "upper")]
            return labelled(np.hstack(list(columns.values())), ahead.future.index, names)

        return self.by_name(of_series)

    def log_densities(self, values: Array) -> Any:
        """Return log predictive densities (h,) of observed values at the requested times."""

        def of_series(name: str, ahead: Ahead) -> Array:
            order = np.argsort(ahead.places, kind="stable")
            law = self.fitted[name].law.predict(ahead.rows)
            return law.log_density(values[order])[ahead.places]

        return self.by_name(of_series)

    def framed(
        self, laws: Mapping[str, PredictiveLaw], values: Callable[[PredictiveLaw], Array]
    ) -> Any:
        """Return values (h,) of each law, in one data frame if the series share an index."""
        results = self.each(lambda name: values(laws[name]))
        return results if self.is_single else in_one_frame(results)

    def each(self, values: Callable[[str], Array], columns: Sequence[object] | None = None) -> Any:
        """Return ``values(name)`` (h,) or (h, q) of each series, ordered as the requested times."""
        return self.by_name(
            lambda name, ahead: labelled(values(name)[ahead.places], ahead.future.index, columns)
        )

    def by_name(self, evaluate: Callable[[str, Ahead], Any]) -> Any:
        """Apply a function to each series; return the results by name, or the result if single."""
        results = {
            self.fitted[name].shown(name): evaluate(name, ahead)
            for name, ahead in self.ahead.items()
        }
        return next(iter(results.values())) if self.is_single else results

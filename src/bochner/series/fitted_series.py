"""Fitted model of one series of a forecaster."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from bochner._base.progress import Progress
from bochner._base.registry import register
from bochner.series.law import SeriesLaw
from bochner.series.learning import Plan, learn
from bochner.series.priors import GENERAL, PRIORS, SeriesPriors
from bochner.series.series_model import ScaledSeries
from bochner.series.series_rows import SeriesRows, future_inputs
from bochner.series.timelines import Future, Timeline, labelled
from bochner.series.value_transformations import TRANSFORMATIONS

_MONTH = 365.2425 / 12.0  # Mean days of a month in the Gregorian calendar

_STEPS_OF_YEAR = {"year": 1.0, "quarter": 4.0, "month": 12.0, "week": 52.2, "hour": 8766.0}
"""Values of a series in a year, by the name of its priors."""

_NEAR = 0.05
"""Relative difference of a number of steps a year that is taken for that of the calendar: leap
years and months of different lengths change it by less."""

_TRIAL_STEPS = (1.0, 30.0)
"""Horizons, in steps, at which a model from a file is tried out: the first, and one of a month."""

_ENDS = np.array([0.005, 0.995])
"""Levels of the quantiles of that trial: the ends of an interval of 99 %."""

_MOST_YEARS = 40
"""Most values of a series without dates that are taken for years. Yearly series are rarely longer,
and series of quarters or months rarely shorter."""

_LEAST_SHARED = 300
"""Rows from which on threads share a fit: with 500 two of them take 10 % less time, with 100 they
take 30 % more, because the loops of few rows are short."""


class Ahead(NamedTuple):
    """Rows to predict at, in order of time, and their positions in the requested times."""

    rows: ScaledSeries
    places: NDArray[np.intp]
    future: Future


@register
@dataclass(frozen=True, slots=True, eq=False)
class FittedSeries:
    """The fitted model of one series, with its timeline and the names of its inputs."""

    timeline: Timeline
    law: SeriesLaw
    input_names: list[str] | None

    def at(self, horizon: object, X: object) -> Ahead:
        """Return the rows to predict at."""
        law, future = self.law, self.timeline.future(horizon)
        inputs = future_inputs(X, future, law.inputs.shape[1], self.input_names)
        order = np.argsort(future.numbers, kind="stable")
        unknown = np.full(len(order), np.nan)
        clock = None if future.clock is None else future.clock[order]
        rows = law.units.rows(future.numbers[order], unknown, inputs[order], clock)
        if rows.times[0] < law.times[0]:
            raise ValueError("Times to predict at must not lie before those of the series.")
        n_others = law.n_other_inputs(rows)
        if n_others:
            raise ValueError(
                f"X differs from the inputs of the fit at {n_others} of the times to predict at: "
                "pass those of the fit at times of the series, because the values belong to them."
            )
        return Ahead(rows, np.argsort(order, kind="stable"), future)

    def try_out(self) -> None:
        """Forecast two times; raise ValueError unless moments, draws and intervals are finite."""
        law, timeline = self.law, self.timeline
        timeline.check()
        law.check_times(timeline.last)
        if timeline.step is not None:
            timeline.future(1)
        after = timeline.last + np.array(_TRIAL_STEPS) * (timeline.step or law.units.step)
        rows = law.units.rows(after, np.full(2, np.nan), np.zeros((2, law.inputs.shape[1])))
        forecast, paths = law.predict(rows), law.sample(rows, 2, np.random.default_rng(0))
        law.components_at(rows)
        answers = np.column_stack([forecast.centre(), forecast.std(), forecast.quantiles(_ENDS)])
        if np.isnan(answers).any() or np.isnan(paths).any():
            raise ValueError("a forecast is NaN")
        # Exponentials of later values may overflow even if the file was not changed.
        bounded = answers if law.transformation == "none" else answers[:1]
        parts = forecast.means, forecast.variances, bounded, paths[:, :1]
        if not all(np.isfinite(part).all() for part in parts):
            raise ValueError("a forecast is not finite")


def fitted_series(
    series: SeriesRows,
    periods: str | Iterable[float | str],
    find_cycle: bool,
    find_breaks: bool,
    transformation: str,
    n_threads: int,
    progress: Progress,
    rng: Generator,
) -> FittedSeries:
    """Fit a series; ``"auto"`` compares the periods of the calendar, or all transformations."""
    timeline, seasons, rows = series.timeline, series.timeline.calendar, series.learned
    is_auto = isinstance(periods, str)
    if not isinstance(periods, str):
        lengths = [timeline.length(period) for period in periods]
        _check_lengths(lengths, rows)
        seasons = [(length, timeline.name(length)) for length in lengths]
    plan = Plan(
        seasons,
        timeline.name,
        is_auto,
        find_cycle,
        None if transformation == "auto" else [transformation],
        n_threads if len(rows.values) >= _LEAST_SHARED else 1,
        progress,
        timeline.follows_clock,
        _priors(timeline, is_auto, len(rows.values), [length for length, _ in seasons]),
        find_breaks,
    )
    law = learn(rows.times, rows.values, rows.inputs, plan, rng, rows.clock)
    return FittedSeries(timeline, law.after(_earlier(series, law)), series.input_names)


def _earlier(series: SeriesRows, law: SeriesLaw) -> ScaledSeries:
    """Return the rows of a series before those of a law, in its units.

    Values that its transformation does not take are unknown.
    """
    function, rows = TRANSFORMATIONS[law.transformation], series.earlier
    values = np.where(function.domain(rows.values), rows.values, np.nan)
    return law.units.rows(rows.times, function.forward(values), rows.inputs, rows.clock)


def check_periods(periods: ArrayLike) -> None:
    """Raise TypeError or ValueError unless the periods are ``"auto"`` or a sequence."""
    if np.ndim(periods) != 1 and periods != "auto":
        kind = ValueError if isinstance(periods, str) else TypeError
        raise kind(f"periods must be 'auto' or a sequence of lengths, got {periods!r}.")


def _priors(
    timeline: Timeline, is_auto: bool, n_rows: int, lengths: Sequence[float]
) -> SeriesPriors:
    """Return the priors for the calendar of a series.

    Without dates, seasons of four or twelve steps stand for quarters or months, and short series
    without a season for years.
    """
    step = timeline.step
    if step is None:
        return GENERAL
    if timeline.kind in ("months", "days"):
        months = step if timeline.kind == "months" else step / _MONTH
        steps_of_year = 12.0 / months
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
    """Return a data frame if all series have one index; otherwise return ``results``."""
    if not all(hasattr(result, "index") for result in results.values()):
        return results
    indices = [result.index for result in results.values()]
    if any(not index.equals(indices[0]) for index in indices[1:]):
        return results
    columns = np.column_stack([result.to_numpy() for result in results.values()])
    return labelled(columns, indices[0], list(results))

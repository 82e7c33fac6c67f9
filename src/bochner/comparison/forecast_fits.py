"""Forecasts of the series of a table, and their errors next to those of other methods."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bochner._base.arrays import Array, Mask, as_array
from bochner._base.number_texts import counted, number
from bochner._base.progress import Progress
from bochner.comparison.contenders import OURS
from bochner.comparison.simple_forecasts import simple_forecasts
from bochner.files.errors import InputError
from bochner.files.series_table import ONE, SeriesColumns, TableSeries
from bochner.files.stamps import from_text
from bochner.series.calendars import holiday_inputs
from bochner.series.fitted_series import FittedSeries
from bochner.series.forecaster import Forecaster
from bochner.series.rolling_origins import (
    FEWEST_BEFORE,
    calendar_steps,
    seasonal_scale,
    symmetric_errors,
)
from bochner.series.series_rows import read_series, taken_series

if TYPE_CHECKING:
    import pandas as pd

_LONGEST = 3  # Largest number of times of a calendar per row, as gaps of years have no use
_OFF_GRID = 0.2
"""Largest distance from a number of steps: decimal years of two digits are a tenth off."""

_MOST_ORIGINS = 3
"""Number of origins; each takes one fit, so the comparison takes at most three times as long."""


@dataclass(frozen=True, slots=True, eq=False)
class OriginScores:
    """Forecast errors (n,) of one series from past origins, by method.

    Their ``scale`` (n,) is the mean absolute seasonal difference before the origin. Values
    ``observed`` (n,) are ``covered`` (n,) by intervals, and ``crps`` (n,) is the score of their
    distributions; they are ``steps`` (n,) after ``origins`` (n,). Unknown values are left out.
    Origins, and ``shifts`` (k,) of the level in a fit to all values, are positions in ``times``.
    """

    horizon: int
    n_origins: int
    season: int  # Steps of the differences that scale the errors
    errors: dict[str, Array]
    scale: Array
    observed: Array
    covered: Array
    crps: Array
    origins: NDArray[Any]
    steps: NDArray[Any]
    times: pd.Index[Any]
    shifts: NDArray[Any] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    are_counts: bool = False  # Mostly zero, by a law of counts

    def are_before_shifts(self) -> Mask:
        """Return whether values (n,) were forecast before a shift of the level and follow it."""
        first, after = self.origins[:, None], (self.origins + self.steps)[:, None]
        return np.asarray(((first <= self.shifts) & (self.shifts < after)).any(axis=1))

    def part(self, rows: Mask) -> OriginScores:
        """Return the errors of some of the values (n,)."""
        names = ("scale", "observed", "covered", "crps", "origins", "steps")
        parts = {name: getattr(self, name)[rows] for name in names}
        return replace(self, errors={n: e[rows] for n, e in self.errors.items()}, **parts)

    @property
    def methods(self) -> list[str]:
        """Names of all methods in increasing order of `error`."""
        return sorted(self.errors, key=self.error)

    def error(self, method: str) -> float:
        """Return the mean absolute error of a method, or its RMSE for counts.

        A forecast of zero may have the smallest mean absolute error of counts.
        """
        return self.rmse(method) if self.are_counts else self.mae(method)

    @property
    def measures(self) -> dict[str, Callable[[str], float]]:
        """Measures of errors by name: `error`, another one, and `scaled`."""
        absolute, squared = {"mean absolute error": self.mae}, {"RMSE": self.rmse}
        if self.are_counts:
            return {**squared, **absolute, "scaled RMSE": self.scaled}
        return {**absolute, **squared, "MASE": self.scaled}

    def scaled(self, method: str) -> float:
        """Return the same of errors that are divided by their scale, NaN without a scale."""
        scaled = self.errors[method] / self.scale
        return float(np.sqrt(np.mean(scaled**2))) if self.are_counts else self.mase(method)

    def rmse(self, method: str) -> float:
        """Return the root mean squared error of a method."""
        return float(np.sqrt(np.mean(self.errors[method] ** 2)))

    def mae(self, method: str) -> float:
        """Return the mean absolute error of a method."""
        return float(np.abs(self.errors[method]).mean())

    def mase(self, method: str) -> float:
        """Return the mean absolute scaled error of a method, NaN without a scale."""
        return float(np.abs(self.errors[method] / self.scale).mean())

    def smape(self, method: str) -> float:
        """Return the mean symmetric absolute percentage error of a method."""
        predicted = self.observed - self.errors[method]
        return float(symmetric_errors(self.observed, predicted).mean())

    @property
    def coverage(self) -> float:
        """Share of the values that the intervals contain."""
        return float(self.covered.mean())


def origin_scores(
    model: Forecaster,
    y: pd.Series,
    X: pd.DataFrame | None,
    horizon: int,
    level: float,
    seasons: Mapping[str, int] | None = None,
) -> OriginScores | None:
    """Return errors from up to three origins; ``None`` if the series is too short.

    Other methods use the ``seasons``, by default those of the calendar, in steps by name.
    """
    y = on_calendar(y)
    X = None if X is None else X.reindex(y.index, method="ffill")
    n_origins = min(_MOST_ORIGINS, (len(y) - max(horizon, FEWEST_BEFORE)) // horizon)
    if n_origins < 1:
        return None
    seasons = calendar_steps(read_series(y, None, None)) if seasons is None else seasons
    season = min(seasons.values(), default=1)
    if len(y) - n_origins * horizon <= season:
        season = 1
    try:
        table = model.cross_validate(y, horizon, n_origins, X, level=level, season_length=season)
    except ValueError:  # The values before the first origin are constant, or too few
        return None
    if not np.isfinite(table["observed"]).any():
        return None
    return _scores(y, table, horizon, season, seasons, None if X is None else as_array(X))


def on_calendar(values: pd.Series) -> pd.Series:
    """Return a series with NaN at all times of its calendar or grid that it lacks."""
    import pandas as pd

    index, timeline = values.index, read_series(values, None, None).timeline
    expected: Any = index
    if isinstance(index, pd.DatetimeIndex) and timeline.frequency is not None:
        expected = pd.date_range(index[0], index[-1], freq=from_text(timeline.frequency))
    elif isinstance(index, pd.PeriodIndex):
        expected = pd.period_range(index[0], index[-1], freq=index.freq)
    elif index.dtype.kind in "if" and timeline.step is not None:
        expected = pd.Index(_grid(index.to_numpy(), timeline.step), name=index.name)
    is_whole = len(expected) <= _LONGEST * len(index) and index.isin(expected).all()
    return values.reindex(expected) if is_whole else values


def _grid(times: NDArray[Any], step: float) -> NDArray[Any]:
    """Return times (n,) with those that lack between them; unchanged if they are off a grid.

    Times may be rounded: the step is the mean one after the first count of steps.
    """
    for _ in range(2):
        counts = np.maximum(np.rint(np.diff(times) / step), 1.0)
        step = float((times[-1] - times[0]) / counts.sum())
    if (np.abs(np.diff(times) - step * counts) > _OFF_GRID * step).any():
        return times
    if counts.sum() >= _LONGEST * len(times):
        return times
    places = np.concatenate(([0.0], np.cumsum(counts)))
    grid = as_array(np.interp(np.arange(places[-1] + 1.0), places, times))
    return np.rint(grid).astype(times.dtype) if times.dtype.kind == "i" else grid


def _scores(
    y: pd.Series,
    table: pd.DataFrame,
    horizon: int,
    season: int,
    seasons: Mapping[str, int],
    inputs: Array | None,
) -> OriginScores:
    """Return the errors in a table of `bochner.Forecaster.cross_validate` for one series."""
    values = y.to_numpy(dtype=np.float64)
    observed, origins = table["observed"].to_numpy(), table["origin"].to_numpy()
    is_known, distinct = np.isfinite(observed), np.unique(origins)
    simple = []
    for origin in distinct:
        known_inputs = None if inputs is None else inputs[: origin + horizon]
        simple.append(simple_forecasts(values[:origin], horizon, seasons, known_inputs))
    scales = [seasonal_scale(values[:origin], season) for origin in distinct]
    predicted = {OURS: table["predicted"].to_numpy()}
    # A season that is too long for the first origin is left out at all of them.
    for name in simple[0]:
        predicted[name] = np.concatenate([forecasts[name] for forecasts in simple])
    errors = {name: (observed - each)[is_known] for name, each in predicted.items()}
    known = table[is_known]
    parts: dict[str, Any] = {n: as_array(known[n]) for n in ("observed", "covered", "crps")}
    parts |= {f"{name}s": known[name].to_numpy() for name in ("origin", "step")}
    scale = np.repeat(scales, horizon)[is_known]
    of = horizon, len(distinct), season, errors, scale
    return OriginScores(*of, **parts, times=y.index)


def scaled_measure(scores: Collection[OriginScores]) -> str:
    """Return the name of the scaled errors of one or several series."""
    first, *others = dict.fromkeys(list(each.measures)[-1] for each in scores)
    return "scaled error" if others else first


def best_other(scores: Collection[OriginScores]) -> str:
    """Return the other method of the smallest error, among the methods of all series."""
    if len(scores) == 1:
        (only,) = scores
        return next(name for name in only.methods if name != OURS)
    shared = [n for n in next(iter(scores)).errors if all(n in each.errors for each in scores)]
    means = {n: _mean([each.scaled(n) for each in scores]) for n in shared if n != OURS}
    return min(means, key=lambda name: np.nan_to_num(means[name], nan=np.inf))


def mean_scores(scores: Collection[OriginScores]) -> tuple[float, float, float]:
    """Return mean scaled errors of the model and of the best other method, and the coverage."""
    names = OURS, best_other(scores)
    ours, other = (_mean([each.scaled(name) for each in scores]) for name in names)
    return ours, other, float(np.concatenate([each.covered for each in scores]).mean())


def _mean(sizes: Sequence[float]) -> float:
    """Return the mean of the finite numbers, or NaN."""
    return float(np.nanmean(sizes)) if np.isfinite(sizes).any() else np.nan


_PLAIN = (1e-3, 1e9)
"""Range of the largest absolute value in which numbers are shown without a power of ten."""

_DIGITS = 3  # Values are rounded to this number of significant digits of the interval width


@dataclass(frozen=True, slots=True, eq=False)
class SeriesForecast:
    """A series and its forecast: means (h,) and ends of intervals at ``times`` (h,)."""

    name: str
    values: pd.Series
    times: pd.Index[Any]
    mean: Array
    lower: Array
    upper: Array
    inputs: pd.DataFrame | None = None  # Known inputs (n + h, d) of the series and its forecast

    paths: Array | None = None  # (S, h): Joint draws of the values at ``times``
    unit: str = "time"  # Noun of a step, such as "day"
    fiscal: str = ""  # A fiscal year as the file has it

    @property
    def decimals(self) -> int | None:
        """Number of decimals that suit the widths of the intervals; None for powers of ten."""
        width = float(np.median(self.upper - self.lower))
        largest = float(np.abs([*self.mean, *self.lower, *self.upper]).max())
        if not width or not _PLAIN[0] <= largest < _PLAIN[1]:
            return None
        return max(0, _DIGITS - 1 - int(np.floor(np.log10(width))))

    def shown(self, value: float) -> str:
        """Return a value as text, with as many decimals as suit the widths of the intervals."""
        decimals = self.decimals
        if decimals is None or not np.isfinite(value):
            return number(value)
        return f"{value:,.{decimals}f}"

    def written(self, values: Array) -> Array:
        """Return values for a file, rounded to one decimal more than `shown`."""
        decimals = self.decimals
        return values if decimals is None else np.round(values, decimals + 1)

    @property
    def are_counts(self) -> bool:
        """Whether all values are whole numbers of zero or more, so that they have a total."""
        known = self.values.dropna().to_numpy(dtype=np.float64)
        return bool((known >= 0.0).all() and (known == np.round(known)).all())


_N_PATHS = 1_000
"""Joint draws for sums and means: an error of a fifteenth of a deviation at 90 % ends."""

MOST_COMPARED = 20
"""Largest number of series that are also backtested, selected evenly from all series."""


@dataclass(frozen=True, slots=True, eq=False)
class SeriesFits:
    """A forecaster, the forecasts of the series of a table, and reasons why others have none."""

    model: Forecaster
    series: Sequence[SeriesForecast]
    refused: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    """Options of a forecast: columns, number of steps, country of holidays and interval level."""

    columns: SeriesColumns
    horizon: int | None = None
    holidays: str | None = None
    level: float = 0.9
    fiscal: str = ""  # A fiscal year as the file has it

    def steps(self, one: TableSeries) -> int:
        """Return the number of steps to forecast for one series."""
        target, n_later = self.columns.target, len(one.later)
        of = "" if self.columns.series is None else f" of the series {one.name!r:.60}"
        if self.horizon is None and not n_later:
            raise InputError(
                f"How far to forecast is not known: give --horizon, or add rows with the times to "
                f"forecast{of} and without {target!r:.60}."
            )
        steps = n_later if self.horizon is None else self.horizon
        if steps > n_later and read_series(one.values, None, None).timeline.step is None:
            raise InputError(
                f"The times{of} are irregular, so that --horizon {steps} has no unit: add rows "
                f"with the times to forecast and without {target!r:.60}, in FILE or by --future."
            )
        if self.columns.inputs and steps > n_later:
            raise InputError(
                f"The known inputs{of} reach {counted(n_later, 'row')} beyond the last known "
                f"{target!r:.60}, and {steps} are to be forecast: add rows with the known inputs, "
                "in FILE or by --future."
            )
        return steps

    def inputs(self, one: TableSeries, steps: int) -> pd.DataFrame | None:
        """Return the known inputs, with holidays, at the times of a series and of its forecast."""
        import pandas as pd

        n_values = len(one.values)
        inputs = None if one.inputs is None else one.inputs.iloc[: n_values + steps]
        if self.holidays is None:
            return inputs
        future: Any = one.later[:steps]
        if len(future) < steps:
            future = read_series(one.values, None, None).timeline.future(steps).index
        if future is None:
            raise InputError("--holidays needs dates, and the times are numbers.")
        times = one.values.index.append(pd.Index(future))
        calendar = holiday_inputs(times, n_values, self.holidays).set_axis(times)
        return calendar if inputs is None else pd.concat([inputs, calendar], axis=1)


def forecast_each(
    all_series: Sequence[TableSeries], unfitted: Forecaster, request: Request, progress: Progress
) -> SeriesFits:
    """Fit a model to all series and forecast each; raise the first error if none can be."""
    is_single, series = request.columns.series is None, []
    errors: dict[str, TypeError | ValueError] = {}
    planned: dict[str, tuple[TableSeries, int, pd.DataFrame | None]] = {}
    for one in all_series:
        try:
            steps = request.steps(one)
            X = request.inputs(one, steps)
            past = None if X is None else X.iloc[: len(one.values)]
            taken_series(one.values, past, None, unfitted.transformation, None)
            planned[one.name] = one, steps, X
        except (TypeError, ValueError) as error:
            errors[one.name] = error
    values = {name: one.values for name, (one, _, _) in planned.items()}
    inputs = {
        name: None if X is None else X.iloc[: len(one.values)]
        for name, (one, _, X) in planned.items()
    }
    model = clone(unfitted)
    if is_single and planned:
        ((name, only),) = values.items()
        model.fit(only, inputs[name], callback=progress.relay)
    elif planned:
        model.fit(values, inputs, callback=progress.relay)
    for one, steps, X in planned.values():
        try:
            fitted = model if is_single else model.of(one.name)
            later = None if X is None else X.iloc[len(one.values) :]
            horizon: Any = one.later[:steps] if len(one.later) >= steps else steps
            forecast = fitted.predict(horizon, later)
            ends = fitted.predict_interval(horizon, request.level, later)
            mean, lower, upper = map(as_array, (forecast, *ends))
            name = request.columns.target if is_single else one.name
            times = forecast.index.rename(request.columns.time)
            paths = as_array(fitted.sample(horizon, _N_PATHS, later, random_state=0)).T
            unit = fitted.series_[ONE].timeline.unit_of_step
            law = mean, lower, upper
            made = SeriesForecast(name, one.values, times, *law, X, paths, unit, request.fiscal)
            series.append(made)
        except (TypeError, ValueError) as error:
            errors[one.name] = error
    if not series:
        raise next(iter(errors.values()))
    model.series_ = {name: one for name, one in model.series_.items() if name not in errors}
    reasons = {name: str(error) for name, error in errors.items()}
    return SeriesFits(model, series, reasons)


def past_scores(fits: SeriesFits, request: Request, progress: Progress) -> dict[str, OriginScores]:
    """Return, by name, the errors of past forecasts of at most twenty series."""
    scores = {}
    n_series = len(fits.series)
    compared = np.linspace(0, n_series - 1, min(n_series, MOST_COMPARED)).round().astype(int)
    for place, one in enumerate(some := [fits.series[i] for i in compared]):
        # With a single series, "1 of 1" would not be useful as progress.
        places = (place + 1, len(some)) if len(some) > 1 else ()
        progress("forecasting from past origins", *places)
        past = None if one.inputs is None else one.inputs.iloc[: len(one.values)]
        name = ONE if request.columns.series is None else one.name
        fitted = fits.model.series_[name]
        seasons = _season_steps(fitted, one.values)
        result = origin_scores(fits.model, one.values, past, len(one.mean), request.level, seasons)
        if result is not None:
            shifts = result.times.get_indexer(
                one.values.index[fitted.law.positions(fitted.law.shifts)]
            )
            are_counts = fitted.law.transformation == "counts"
            scores[name] = replace(result, shifts=shifts, are_counts=are_counts)
    return scores


def _season_steps(fitted: FittedSeries, values: pd.Series) -> dict[str, int]:
    """Return the steps of the calendar's seasons and of those that the model found, by name."""
    found = [(period.length, period.name) for period in fitted.law.periods()]
    return calendar_steps(read_series(values, None, None), found)

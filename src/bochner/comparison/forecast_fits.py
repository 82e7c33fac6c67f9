"""Forecasts of the series of a table, and their errors next to those of a naive forecast."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bochner._base.arrays import Array, as_array
from bochner._base.number_texts import counted, number, percent, whole_percents
from bochner._base.progress import Progress
from bochner.comparison.contenders import OURS
from bochner.comparison.outcomes import coverage_of
from bochner.files.errors import InputError
from bochner.files.series_table import ONE, SeriesColumns, TableSeries
from bochner.series.calendars import holiday_inputs
from bochner.series.forecaster import Forecaster
from bochner.series.rolling_origins import FEWEST_BEFORE, season_steps, seasonal_scale
from bochner.series.series_law import SeriesLaw
from bochner.series.series_rows import read_series

if TYPE_CHECKING:
    import pandas as pd

SEASON_REPEATED, LAST_REPEATED = "last season repeated", "last value repeated"

_MOST_ORIGINS = 3
"""Number of origins; each takes one fit, so the comparison takes at most three times as long."""


@dataclass(frozen=True, slots=True, eq=False)
class OriginScores:
    """Forecast errors (n,) of one series from past origins, by method.

    ``scaled`` errors are divided by the mean absolute seasonal difference before the origin.
    Values are ``covered`` (n,) by intervals, and have ``origins`` (n,); unknown ones are left out.
    """

    horizon: int
    n_origins: int
    season: int  # Season of the naive forecast in steps; 1 repeats the last value
    errors: dict[str, Array]
    scaled: dict[str, Array]
    covered: Array
    origins: NDArray[Any]

    @property
    def other(self) -> str:
        """Name of the naive method, which repeats the last season or value."""
        return SEASON_REPEATED if self.season > 1 else LAST_REPEATED

    def mae(self, method: str) -> float:
        """Return the mean absolute error of a method."""
        return float(np.abs(self.errors[method]).mean())

    def mase(self, method: str) -> float:
        """Return the mean absolute scaled error of a method, NaN without a scale."""
        return float(np.abs(self.scaled[method]).mean())

    @property
    def coverage(self) -> float:
        """Share of the values that the intervals contain."""
        return float(self.covered.mean())


def origin_scores(
    model: Forecaster, y: pd.Series, X: pd.DataFrame | None, horizon: int, level: float
) -> OriginScores | None:
    """Return errors from up to three origins; ``None`` if the series is too short."""
    n_origins = min(_MOST_ORIGINS, (len(y) - max(horizon, FEWEST_BEFORE)) // horizon)
    if n_origins < 1:
        return None
    season = season_steps(read_series(y, None, None))
    if len(y) - n_origins * horizon <= season:
        season = 1
    try:
        table = model.cross_validate(y, horizon, n_origins, X, level=level, season_length=season)
    except ValueError:  # The values before the first origin are constant, or too few
        return None
    return _scores(y, table, horizon, season)


def _scores(y: pd.Series, table: pd.DataFrame, horizon: int, season: int) -> OriginScores:
    """Return the errors in a table of `bochner.Forecaster.cross_validate` for one series."""
    values = y.to_numpy(dtype=np.float64)
    observed, origins = table["observed"].to_numpy(), table["origin"].to_numpy()
    is_known, distinct = np.isfinite(observed), np.unique(origins)
    repeated = [repeated_season(values[:origin], horizon, season) for origin in distinct]
    scales = [seasonal_scale(values[:origin], season) for origin in distinct]
    other = SEASON_REPEATED if season > 1 else LAST_REPEATED
    predicted = {OURS: table["predicted"].to_numpy(), other: np.concatenate(repeated)}
    errors = {name: (observed - each)[is_known] for name, each in predicted.items()}
    scale = np.repeat(scales, horizon)[is_known]
    scaled = {name: error / scale for name, error in errors.items()}
    covered = as_array(table["covered"])[is_known]
    n_origins = len(distinct)
    return OriginScores(horizon, n_origins, season, errors, scaled, covered, origins[is_known])


def repeated_season(values: Array, horizon: int, season: int) -> Array:
    """Return forecasts (horizon,) that repeat the last season, by its last known values."""
    known_values = values[np.isfinite(values)]
    pattern = []
    for step in range(season):
        same = values[::-1][season - 1 - step :: season]
        same = same[np.isfinite(same)]
        pattern.append(same[0] if len(same) else known_values[-1])
    return np.resize(pattern, horizon)


def mean_scores(scores: Collection[OriginScores]) -> tuple[float, float, float]:
    """Return mean scaled errors of the model and of naive forecasts, and the coverage."""
    errors = as_array([(each.mase(OURS), each.mase(each.other)) for each in scores])
    ours, other = (
        float(np.nanmean(part)) if np.isfinite(part).any() else np.nan for part in errors.T
    )
    return ours, other, float(np.concatenate([each.covered for each in scores]).mean())


_ALIKE = 0.05
"""Relative difference of mean errors below which no method is called better."""

_PLAIN = (1e-3, 1e9)
"""Range of the largest absolute value in which numbers are shown without a power of ten."""

_DIGITS = 3
"""Values are rounded to this number of significant digits of the interval width."""

_SCALES = {
    "floor": "values of zero or more",
    "sqrt": "square roots of the values",
    "log": "logarithms of the values",
}
"""Description of the modelled quantity, by transformation."""

_NO_SEASONS = ("trend", "inputs", "remainder")
"""Components that are neither seasons nor cycles."""


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

    def shown(self, value: float) -> str:
        """Return a value as text, with as many decimals as suit the widths of the intervals."""
        width = float(np.median(self.upper - self.lower))
        largest = float(np.abs([*self.mean, *self.lower, *self.upper]).max())
        if not width or not _PLAIN[0] <= largest < _PLAIN[1] or not np.isfinite(value):
            return number(value)
        decimals = max(0, _DIGITS - 1 - int(np.floor(np.log10(width))))
        return f"{value:,.{decimals}f}"

    @property
    def last(self) -> list[float]:
        """Last known value, and the last mean with both ends of its interval."""
        parts = self.values.dropna().to_numpy(), self.mean, self.lower, self.upper
        return [float(part[-1]) for part in parts]

    def span(self) -> str:
        """Return the first and the last time of the series, as text."""
        first, last = shown_times(self.values.index[[0, -1]])
        return f"{first} to {last}"


_MOST_BREAKS = 4
"""Largest number of outliers or shifts that are listed."""


def shown_times(times: Any) -> list[str]:
    """Return times of a pandas index as text; dates at midnight have no time of day."""
    if hasattr(times, "normalize"):  # Periods or dates
        if (times == times.normalize()).all():
            return [time.strftime("%Y-%m-%d") for time in times]
        return [time.isoformat(sep=" ", timespec="minutes") for time in times]
    return [f"{time:.10g}" if times.dtype.kind == "f" else str(time) for time in times]


def model_facts(law: SeriesLaw, index: object = None) -> dict[str, str]:
    """Return facts by name on the model of a series; with an index, breaks have their times."""
    trends = law.trends()
    shares = zip(trends, whole_percents(list(trends.values())), strict=True)
    facts = {
        "Seasons": ", ".join(_seasons(law)) or "none",
        "Trend": ", ".join(f"{trend} ({share} %)" for trend, share in shares if share),
    }
    if law.transformation in _SCALES:
        facts["Scale"] = _SCALES[law.transformation]
    if len(law.outliers):
        facts["Outliers"] = f"{_breaks(law, law.outliers, index)}, ignored"
    if len(law.shifts):
        facts["Shifts"] = f"of the level at {_breaks(law, law.shifts, index)}"
    return facts


def _breaks(law: SeriesLaw, times: Array, index: Any) -> str:
    """Return a list of the first times of outliers or shifts, or their number without an index."""
    if index is None:
        return counted(len(times), "time")
    shown = shown_times(index[law.positions(times[:_MOST_BREAKS])])
    rest = len(times) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def _seasons(law: SeriesLaw) -> list[str]:
    """Describe the seasons and cycles of the best model, then those of other models only."""
    names = [period.name for period in law.periods()]
    others = [name for name in law.components if name not in (*names, *_NO_SEASONS)]
    for name in others:
        weights = [m.weights.sum() for m in law.members if name in m.model.components]
        names.append(f"{name} (probability {percent(float(sum(weights)))})")
    return names


def forecast_verdict(scores: Collection[OriginScores]) -> str:
    """Return a sentence that compares a model's forecast errors with those of naive forecasts."""
    if not scores:
        return "The series are too short to measure forecasts of their last values."
    ours, other, _ = mean_scores(scores)
    names = {each.other for each in scores}
    what = (names.pop() if len(names) == 1 else SEASON_REPEATED).removesuffix(" repeated")
    if not np.isfinite([ours, other]).all() or not other:
        return (
            "Forecasts from past origins could not be compared with forecasts that repeat the "
            f"{what}."
        )
    change = ours / other - 1.0
    how = f"{percent(abs(change))} {'smaller' if change < 0.0 else 'larger'} than"
    if abs(change) <= _ALIKE:
        how = "as large as"
    return (
        f"Errors of forecasts from past origins are {how} those of forecasts that repeat the "
        f"{what}."
    )


def forecast_coverage(scores: Collection[OriginScores], level: float) -> str:
    """Return a sentence on the coverage of intervals; values of one forecast are dependent."""
    covered = np.concatenate([each.covered for each in scores]).astype(np.bool_)
    forecasts = [f"{i} {origin}" for i, each in enumerate(scores) for origin in each.origins]
    coverage = coverage_of(covered, level, np.asarray(forecasts))
    return (
        f"The {100.0 * level:g} % intervals contain {percent(coverage.observed)} of these "
        f"{counted(len(covered), 'value')}, {coverage.judgement} (calibrated intervals contain "
        f"{percent(coverage.lower).removesuffix(' %')} to {percent(coverage.upper)})."
    )


_MOST_COMPARED = 20
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

    def steps(self, one: TableSeries) -> int:
        """Return the number of steps to forecast for one series."""
        target, n_later = self.columns.target, len(one.later)
        of = "" if self.columns.series is None else f" of the series {one.name!r}"
        if self.horizon is None and not n_later:
            raise InputError(
                f"How far to forecast is not known: give --horizon, or add rows with the times to "
                f"forecast{of} and without {target!r}."
            )
        steps = n_later if self.horizon is None else self.horizon
        if steps > n_later and read_series(one.values, None, None).timeline.step is None:
            raise InputError(
                f"The times{of} are irregular, so that --horizon {steps} has no unit: add rows "
                f"with the times to forecast and without {target!r}, in FILE or by --future."
            )
        if self.columns.inputs and steps > n_later:
            raise InputError(
                f"The known inputs{of} reach {counted(n_later, 'row')} beyond the last known "
                f"{target!r}, and {steps} are to be forecast: add rows with the known inputs, in "
                "FILE or by --future."
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
    """Fit a model to every series and forecast it; raise the first error if none can be."""
    models, series = {}, []
    errors: dict[str, TypeError | ValueError] = {}
    for one in all_series:
        try:
            steps = request.steps(one)
            X = request.inputs(one, steps)
            n = len(one.values)
            past, later = (None, None) if X is None else (X.iloc[:n], X.iloc[n:])
            model = clone(unfitted)
            if request.columns.series is None:
                fitted = model.fit(one.values, past, callback=progress.relay)
            else:
                model.fit({one.name: one.values}, {one.name: past}, callback=progress.relay)
                fitted = model.of(one.name)
            horizon: Any = one.later[:steps] if len(one.later) >= steps else steps
            forecast = fitted.predict(horizon, later)
            ends = fitted.predict_interval(horizon, request.level, later)
            mean, lower, upper = map(as_array, (forecast, *ends))
            name = request.columns.target if request.columns.series is None else one.name
            times = forecast.index.rename(request.columns.time)
            series.append(SeriesForecast(name, one.values, times, mean, lower, upper, X))
            models[one.name] = model
        except (TypeError, ValueError) as error:
            errors[one.name] = error
    if not models:
        raise next(iter(errors.values()))
    joined = next(iter(models.values()))
    for model in models.values():
        joined.series_ |= model.series_
    reasons = {
        name: str(error).removeprefix(f"Series {name!r}: ") for name, error in errors.items()
    }
    return SeriesFits(joined, series, reasons)


def past_scores(fits: SeriesFits, request: Request, progress: Progress) -> dict[str, OriginScores]:
    """Return, by name, the errors of past forecasts of at most twenty series."""
    scores = {}
    every = max(1, -(-len(fits.series) // _MOST_COMPARED))
    for place, one in enumerate(some := fits.series[::every]):
        # With a single series, "1 of 1" would not be useful as progress.
        places = (place + 1, len(some)) if len(some) > 1 else ()
        progress("forecasting from past origins", *places)
        past = None if one.inputs is None else one.inputs.iloc[: len(one.values)]
        result = origin_scores(fits.model, one.values, past, len(one.mean), request.level)
        if result is not None:
            scores[ONE if request.columns.series is None else one.name] = result
    return scores

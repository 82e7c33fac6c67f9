"""Forecasts from several origins of a series, each fitted to the values before it."""

from collections.abc import Mapping, Sequence
from itertools import product, repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from bochner._base.arrays import Array, as_array, as_count
from bochner.series.series_rows import (
    SeriesRows,
    check_taken,
    indexed,
    inputs_by_text,
    labels_of,
    read_series,
    several,
)
from bochner.series.timelines import tidy

_ONE = "y"  # Name of the series if there is only one

FEWEST_BEFORE = 8
"""Smallest number of values before the first origin; a fit needs as many known values."""

_PERIODS = 4  # Number of periods over which steps are counted, as a day may have 23 or 25 hours
_ROUNDING = 0.02
"""Tolerance of the end of a step, as a share of a period, because a mean year has 365.2425 days."""

_LEVELS = (np.arange(25.0) + 0.5) / 25.0
"""Levels of the quantiles in the continuous ranked probability score (CRPS), which is twice their
mean pinball loss: for normal laws, 25 levels are within 0.4 % of the closed form."""

_MOST_STEPS = 1_000_000  # Largest number of steps that are counted; no series has more rows


def rolling_table(
    model: BaseEstimator,
    y: object,
    X: object,
    times: Any,
    horizon: int,
    n_origins: int,
    stride: int | None,
    level: float,
    season_length: int | None,
) -> Any:
    """Return the table of forecasts that `bochner.Forecaster.cross_validate` returns."""
    y = indexed(y)
    group = several(y)
    named = {_ONE: y} if group is None else group
    X, labels = X if group is None else inputs_by_text(X, group), labels_of(y)
    of_each = X if isinstance(X, dict) and group is not None else None
    series = {
        name: read_series(one, X if of_each is None else of_each.get(name), times)
        for name, one in named.items()
    }
    lengths = {name: len(rows.values) for name, rows in series.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"cross_validate takes series of one length, got {lengths}: call it for each of them."
        )
    n_steps = as_count("horizon", horizon)
    origins = _origins(next(iter(lengths.values())), n_steps, n_origins, stride)
    for rows, origin in product(series.values(), origins):  # Raise errors before the first fit
        check_taken(model.transformation, rows.values[:origin])
    season = None if season_length is None else as_count("season_length", season_length)
    seasons = {name: season or season_steps(rows) for name, rows in series.items()}
    parts = []
    for origin in origins:
        before, after = slice(0, origin), slice(origin, origin + n_steps)
        past = {name: _rows(one, before) for name, one in named.items()}
        fitted = clone(model).fit(
            past[_ONE] if group is None else {labels.get(n, n): one for n, one in past.items()},
            _inputs(X, before),
            times=None if times is None else times[before],
        )
        later = _inputs(X, after)
        forecasts = _forecasts(fitted, named, labels, later, times, series, after, level)
        for name, forecast in forecasts.items():
            shown = labels.get(name, name)
            names = np.fromiter(repeat(shown), dtype=object, count=n_steps)
            label = {} if group is None else {"series": names}
            label |= {"origin": np.full(n_steps, origin), "step": np.arange(1, n_steps + 1)}
            index: Any = getattr(named[name], "index", None)
            label |= {"time": index[after]} if hasattr(index, "get_indexer") else {}
            scale = seasonal_scale(series[name].values[before], seasons[name])
            parts.append(label | _errors(series[name].values[after], forecast, scale))
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return tidy(columns, next(iter(named.values())))


def _origins(n_values: int, n_steps: int, n_origins: int, stride: int | None) -> list[int]:
    """Return the number of values before each origin, or raise ValueError for a short series."""
    count = as_count("n_origins", n_origins)
    apart = n_steps if stride is None else as_count("stride", stride)
    origins = n_values - n_steps - apart * np.arange(count)[::-1]
    if origins[0] < FEWEST_BEFORE:
        raise ValueError(
            f"{count} origins, {apart} values apart, with {n_steps} values to forecast need at "
            f"least {FEWEST_BEFORE + n_steps + apart * (count - 1)} values, got {n_values}: use "
            " fewer origins, a shorter horizon or a smaller stride."
        )
    steps: list[int] = origins.tolist()
    return steps


def _forecasts(
    fitted: BaseEstimator,
    named: Mapping[str, object],
    labels: Mapping[str, object],
    later: object,
    times: ArrayLike | None,
    series: Mapping[str, SeriesRows],
    after: slice,
    level: float,
) -> dict[str, dict[str, Array]]:
    """Return the predicted columns of the table for one origin, by name of the series."""
    where = _where(next(iter(named.values())), times, after)
    mean = fitted.predict(where, later)
    lower, upper = fitted.predict_interval(where, level, later)
    forecasts = {}
    for name, rows in series.items():
        shown = labels.get(name, name)
        values = [each if fitted.is_single_ else each[shown] for each in (mean, lower, upper)]
        columns = dict(zip(("predicted", "lower", "upper"), map(np.asarray, values), strict=True))
        alone = fitted if fitted.is_single_ else fitted.of(name)
        inputs = later.get(name) if isinstance(later, dict) else later
        observed = rows.values[after]
        filled = np.where(np.isfinite(observed), observed, columns["predicted"])
        columns["log_density"] = np.asarray(alone.log_density(filled, inputs, times=where))
        quantiles = np.asarray(alone.predict_quantiles(where, _LEVELS, inputs))
        gaps = observed[:, None] - quantiles
        columns["crps"] = 2.0 * np.maximum(_LEVELS * gaps, (_LEVELS - 1.0) * gaps).mean(axis=1)
        forecasts[name] = columns
    return forecasts


def _errors(observed: Array, forecast: dict[str, Array], scale: float) -> dict[str, Array]:
    """Return a forecast's table columns, with coverage and errors; NaN if not observed."""
    predicted, lower, upper = (forecast[name] for name in ("predicted", "lower", "upper"))
    is_known = np.isfinite(observed)
    columns = {
        "observed": observed,
        "predicted": predicted,
        "lower": lower,
        "upper": upper,
        "covered": np.where(is_known, (lower <= observed) & (observed <= upper), np.nan),
        "scaled_error": (observed - predicted) / scale,
        "smape": symmetric_errors(observed, predicted),
        "crps": forecast["crps"],
    }
    columns["log_density"] = np.where(is_known, forecast["log_density"], np.nan)
    return columns


def symmetric_errors(observed: Array, predicted: Array) -> Array:
    """Return absolute errors (n,) in per cent of the mean size of both values, zero for zeros."""
    size = 0.5 * (np.abs(observed) + np.abs(predicted))
    return as_array(100.0 * np.abs(observed - predicted) / np.where(size == 0.0, 1.0, size))


def _inputs(X: object, rows: slice) -> Any:
    """Return some rows of the known inputs, which may be a mapping by series name."""
    if isinstance(X, dict):
        return {name: _rows(table, rows) for name, table in X.items()}
    return _rows(X, rows)


def _rows(table: object, rows: slice) -> Any:
    if table is None:
        return None
    return table.iloc[rows] if hasattr(table, "iloc") else np.asarray(table)[rows]


def _where(y: object, times: Any, after: slice) -> Any:
    if times is not None:
        return times[after]
    index: Any = getattr(y, "index", None)
    return index[after] if hasattr(index, "get_indexer") else after.stop - after.start


def calendar_steps(series: SeriesRows, others: Sequence[tuple[float, str]] = ()) -> dict[str, int]:
    """Return the periods of the calendar and ``others`` in steps, by name and in increasing order.

    Other periods are left out if they have as many steps as one of the calendar, up to one.
    """
    timeline, step, periods = series.timeline, series.timeline.step, dict[str, int]()
    if step is None:
        return periods
    for length, name in [*sorted(timeline.calendar), *others]:
        # A week has five business days, and four weeks have twenty.
        most = int(np.ceil(_PERIODS * length / step)) + 1
        if most > _MOST_STEPS:
            continue
        ahead = timeline.future(most).numbers - timeline.last
        steps = round(np.sum(ahead <= (_PERIODS + _ROUNDING) * length) / _PERIODS)
        is_other = (length, name) in others
        if steps > 1 and not (is_other and any(abs(steps - n) <= 1 for n in periods.values())):
            periods[name] = steps
    return dict(sorted(periods.items(), key=lambda item: item[1]))


def season_steps(series: SeriesRows) -> int:
    """Return the shortest period of the calendar in steps, or one."""
    return next(iter(calendar_steps(series).values()), 1)


def seasonal_scale(values: Array, season: int) -> float:
    """Return the mean absolute seasonal difference, NaN without any known difference."""
    gaps = np.abs(values[season:] - values[:-season])
    gaps = gaps[np.isfinite(gaps)]
    return float(gaps.mean()) if len(gaps) and gaps.any() else np.nan

"""Forecasts from several origins of a series, each fitted to the values before it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from bochner._numerics.arrays import Array, as_count
from bochner.estimators.series_rows import SeriesRows, check_taken, read_series, several
from bochner.tables.timelines import tidy

FEWEST_BEFORE = 8
"""Smallest number of values before the first origin; a fit needs as many known values."""

_PERIODS = 4
"""Number of periods over which steps are counted: a day of clock change has 23 or 25 hours."""

_ROUNDING = 0.02
"""Tolerance of a step's end, as a share of a period: a mean year has 365.2425 days."""

_MOST_STEPS = 1_000_000
"""Largest number of steps that are counted; no series has more rows."""


def rolling_table(
    model: Any,
    y: ArrayLike,
    X: object,
    times: object,
    horizon: int,
    n_origins: int,
    stride: int | None,
    level: float,
    season_length: int | None,
) -> Any:
    """Return the table of `bochner.Forecaster.cross_validate`."""
    if several(y) is not None:
        raise ValueError("cross_validate takes one series; call it for each of several.")
    series = read_series(y, X, times)
    count, n_steps = as_count("n_origins", n_origins), as_count("horizon", horizon)
    apart = n_steps if stride is None else as_count("stride", stride)
    n_values = len(series.values)
    origins = n_values - n_steps - apart * np.arange(count)[::-1]
    if origins[0] < FEWEST_BEFORE:
        raise ValueError(
            f"{count} origins, {apart} values apart, with {n_steps} values to forecast need at "
            f"least {FEWEST_BEFORE + n_steps + apart * (count - 1)} values, got {n_values}: use "
            " fewer origins, a shorter horizon or a smaller stride."
        )
    for origin in origins:  # Raise errors before the first fit
        check_taken(model.transformation, series.values[:origin])
    season = (
        season_steps(series) if season_length is None else as_count("season_length", season_length)
    )
    parts = [
        part
        for origin in origins.tolist()
        for part in _forecast(model, y, X, times, series, origin, n_steps, level, season)
    ]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return tidy(columns, y)


def _forecast(
    model: object,
    y: ArrayLike | None,
    X: object,
    times: Any,
    series: SeriesRows,
    origin: int,
    horizon: int,
    level: float,
    season: int,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one origin, by column."""
    before, after = slice(0, origin), slice(origin, origin + horizon)
    fitted = clone(model).fit(
        _rows(y, before), _rows(X, before), times=None if times is None else times[before]
    )
    where = _where(y, times, after, horizon)
    later = _rows(X, after)
    observed = series.values[after]
    predicted = np.asarray(fitted.predict(where, later))
    lower, upper = (np.asarray(end) for end in fitted.predict_interval(where, level, later))
    filled = np.where(np.isfinite(observed), observed, predicted)
    density = np.asarray(fitted.log_density(filled, later, times=where))
    is_known = np.isfinite(observed)
    row = {"origin": np.full(horizon, origin), "step": np.arange(1, horizon + 1)}
    index: Any = getattr(y, "index", None)
    if hasattr(index, "get_indexer"):
        row["time"] = index[after]
    row |= {
        "observed": observed,
        "predicted": predicted,
        "lower": lower,
        "upper": upper,
        "covered": np.where(is_known, (lower <= observed) & (observed <= upper), np.nan),
        "scaled_error": (observed - predicted) / seasonal_scale(series.values[before], season),
        "log_density": np.where(is_known, density, np.nan),
    }
    yield row


def _rows(table: object, rows: slice) -> Any:
    if table is None:
        return None
    return table.iloc[rows] if hasattr(table, "iloc") else np.asarray(table)[rows]


def _where(y: ArrayLike | None, times: Any, after: slice, horizon: int) -> Any:
    if times is not None:
        return times[after]
    index: Any = getattr(y, "index", None)
    return index[after] if hasattr(index, "get_indexer") else horizon


def season_steps(series: SeriesRows) -> int:
    """Return the shortest period of the calendar in steps, or one."""
    timeline, step = series.timeline, series.timeline.step
    if step is None:
        return 1
    for length, _ in sorted(timeline.calendar):
        # A week has five business days, and four weeks have twenty.
        most = int(np.ceil(_PERIODS * length / step)) + 1
        if most > _MOST_STEPS:
            break
        ahead = timeline.future(most).numbers - timeline.last
        if (steps := round(np.sum(ahead <= (_PERIODS + _ROUNDING) * length) / _PERIODS)) > 1:
            return steps
    return 1


def seasonal_scale(values: Array, season: int) -> float:
    """Return the mean absolute seasonal difference, NaN where there is none."""
    gaps = np.abs(values[season:] - values[:-season])
    gaps = gaps[np.isfinite(gaps)]
    return float(gaps.mean()) if len(gaps) and gaps.any() else np.nan

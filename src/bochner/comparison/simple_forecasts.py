"""Forecasts by simple methods and by the Theta method, for comparison."""

from collections.abc import Iterable, Mapping

import numpy as np
from sklearn.linear_model import RidgeCV

from bochner._base.arrays import Array, as_array

LAST, LINE, THETA = "last value repeated", "line from first to last value", "Theta method"
"""Names of the methods without a season, and of the method that uses all seasons."""

REGRESSION = "linear regression on seasons and known inputs"
_MOST_CLASSES = 60  # Longest season with a class per step in a regression; others are three waves
_FEWEST_SEASONS = 2  # Smallest number of seasons among the values for means of a season
_SMOOTH = 24  # Parts of a season that few seasons determine, such as two weeks of a year
_MANY_SEASONS = 8  # Number of seasons from which each step of a season has its own mean
_PHASES = {"week": {5: "weekday", 6: "weekday", 7: "weekday", 168: "hour of the week"},
           "day": {24: "hour of the day"},
           "year": {4: "quarter", 12: "month of the year", 52: "week of the year"}}  # fmt: skip
"""Names of the calendar's seasons, and of their steps by number of steps in a season."""

_WEIGHTS = np.geomspace(0.01, 0.99, 30)
"""Candidate weights of the last value in exponential smoothing."""


def simple_forecasts(
    values: Array, horizon: int, seasons: Mapping[str, int], inputs: Array | None = None
) -> dict[str, Array]:
    """Return forecasts (h,) of each method from values (n,) at equal steps, of which some are NaN.

    ``seasons`` are numbers of steps by name; a method needs at least one season of values.
    """
    first = int(np.argmax(np.isfinite(values)))
    values = values[first:]
    filled = _filled(values)
    last, ahead = filled[-1], np.arange(1.0, horizon + 1.0)
    slope = (last - filled[0]) / max(len(filled) - 1, 1)
    forecasts = {LAST: np.full(horizon, last), LINE: last + slope * ahead}
    usable = {name: steps for name, steps in seasons.items() if 1 < steps < len(values)}
    for name, steps in usable.items():
        season = name if name in _PHASES else f"cycle ({name})"
        forecasts[f"last {season} repeated"] = repeated_season(values, horizon, steps)
        if len(values) >= _FEWEST_SEASONS * steps:
            phase = _PHASES.get(name, {}).get(steps, f"step of the {season}")
            phase = "day of the year" if season == "year" and steps > _MOST_CLASSES else phase
            means = [
                np.mean(same) if len(same) else filled.mean() for same in _by_phase(values, steps)
            ]
            forecasts[f"mean of each {phase}"] = np.resize(means, horizon)
    forecasts[THETA] = theta_forecast(values, horizon, sorted(usable.values()))
    if inputs is not None:  # (n + h, d)
        forecasts[REGRESSION] = _regression_forecast(values, inputs[first:], usable.values())
    return forecasts


def _filled(values: Array) -> Array:
    """Return values (n,) with linear interpolation of unknown ones."""
    known = np.flatnonzero(np.isfinite(values))
    return np.interp(np.arange(len(values)), known, values[known])


def _by_phase(values: Array, season: int) -> list[Array]:
    """Return the known values at each step of a season, the latest first."""
    same = [values[::-1][season - 1 - step :: season] for step in range(season)]
    return [each[np.isfinite(each)] for each in same]


def _regression_forecast(values: Array, inputs: Array, seasons: Iterable[int]) -> Array:
    """Return forecasts by ridge regression on time, the steps of seasons and inputs (n + h, d)."""
    rows, n = np.arange(len(inputs)), len(values)
    deviations = inputs[:n].std(axis=0)
    parts = [rows[:, None] / n, inputs / np.where(deviations > 0.0, deviations, 1.0)]
    for season in seasons:
        angles = 2.0 * np.pi * np.outer(rows, (1.0, 2.0, 3.0)) / season
        is_short = season <= _MOST_CLASSES
        parts += [np.eye(season)[rows % season]] if is_short else [np.cos(angles), np.sin(angles)]
    design, is_known = np.hstack(parts), np.isfinite(values)
    model = RidgeCV(np.geomspace(1e-3, 1e3, 13)).fit(design[:n][is_known], values[is_known])
    return as_array(model.predict(design[n:]))


def repeated_season(values: Array, horizon: int, season: int) -> Array:
    """Return forecasts (horizon,) that repeat the last season, by its last known values."""
    last = values[np.isfinite(values)][-1]
    pattern = [same[0] if len(same) else last for same in _by_phase(values, season)]
    return np.resize(pattern, horizon)


def theta_forecast(values: Array, horizon: int, seasons: list[int]) -> Array:
    """Return forecasts (horizon,) of the Theta method, without seasons that are estimated first.

    Values above zero are seasonal in per cent. Exponential smoothing of the rest has the weight of
    least squared errors, and half of the slope of a line (Hyndman and Billah, 2003).
    """
    is_positive = bool(np.nanmin(values) > 0.0)
    rest, pattern = np.log(values) if is_positive else values, np.zeros(horizon)
    for season in seasons:
        if len(rest) >= _FEWEST_SEASONS * season:
            shape = _shape(rest, season)
            pattern += np.resize(shape, horizon)
            rest = rest - shape[np.arange(-len(rest), 0) % season]
    rest = _filled(np.exp(rest) if is_positive else rest)
    level, weight = _smoothed(rest)
    slope = np.polyfit(np.arange(len(rest)), rest, 1)[0]
    steps = np.arange(horizon) + (1.0 - (1.0 - weight) ** len(rest)) / weight
    forecast = level + 0.5 * slope * steps
    return as_array(forecast * np.exp(pattern) if is_positive else forecast + pattern)


def _shape(values: Array, season: int) -> Array:
    """Return deviations (season,) from the moving mean at each step of a season."""
    sums = np.cumsum(np.concatenate(([0.0], _filled(values))))
    window = (sums[season:] - sums[:-season]) / season
    trend = 0.5 * (window[1:] + window[:-1]) if season % 2 == 0 else window
    before = season // 2
    inner = values[before : before + len(trend)] - trend
    phases = np.arange(-len(values), 0)[before : before + len(trend)] % season
    phases, inner = phases[np.isfinite(inner)], inner[np.isfinite(inner)]
    counts = np.bincount(phases, minlength=season)
    shape = np.bincount(phases, inner, season) / np.maximum(counts, 1)
    width = season // _SMOOTH
    if width > 1 and len(values) < _MANY_SEASONS * season:
        shape = np.mean([np.roll(shape, k) for k in range(-(width // 2), width // 2 + 1)], axis=0)
    return as_array(shape - shape.mean())


def _smoothed(values: Array) -> tuple[float, float]:
    """Return the last exponentially smoothed level, and the weight of the least squared errors."""
    levels, losses = np.full(len(_WEIGHTS), values[0]), np.zeros(len(_WEIGHTS))
    for value in values[1:].tolist():
        errors = value - levels
        losses += errors**2
        levels = levels + _WEIGHTS * errors
    best = int(np.argmin(losses))
    return float(levels[best]), float(_WEIGHTS[best])

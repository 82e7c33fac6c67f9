"""Forecasts by ``bochner``, by the methods of statsforecast, and by the last season."""

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from benchmarks.forecasts import design
from benchmarks.forecasts.design import Series
from benchmarks.forecasts.series import Record
from bochner import Forecaster
from bochner._base.arrays import Array


class Forecast(NamedTuple):
    """Means and ends of intervals, (horizon,) each."""

    mean: Array
    lower: Array
    upper: Array


def installed(methods: tuple[str, ...], *, without: tuple[str, ...]) -> tuple[str, ...]:
    """Return the methods; without statsforecast, those that do not need it, with a warning."""
    if find_spec("statsforecast"):
        return methods
    warnings.warn(
        "The models of statsforecast are left out, as the package is missing; "
        "pip install 'bochner[forecasts]' installs it.",
        stacklevel=2,
    )
    return without


def forecast(method: str, past: Record, series: Series) -> Forecast:
    """Return the forecast of a method from the last of the rows."""
    if method == design.OURS:
        return _ours(past, series.horizon)
    filled = _filled(past.values)
    if method == design.NAIVE:
        return _last_season(filled, series.naive, series.horizon)
    level = round(100 * design.INTERVAL)
    predicted = _MODELS[method](series).forecast(y=filled, h=series.horizon, level=[level])
    return Forecast(predicted["mean"], predicted[f"lo-{level}"], predicted[f"hi-{level}"])


def _ours(past: Record, horizon: int) -> Forecast:
    model = Forecaster(random_state=0).fit(past.values, times=past.times)
    lower, upper = model.predict_interval(horizon, level=design.INTERVAL)
    return Forecast(*(np.asarray(part) for part in (model.predict(horizon), lower, upper)))


def _filled(values: Array) -> Array:
    """Return values with unknown ones on lines between their neighbours: others need all."""
    rows, is_known = np.arange(len(values)), np.isfinite(values)
    return np.interp(rows, rows[is_known], values[is_known])


def _last_season(values: Array, season: int, horizon: int) -> Forecast:
    """Return the last season, with normal intervals of a random walk of seasons."""
    seasons = np.arange(horizon) // season + 1
    mean = values[len(values) - season + np.arange(horizon) % season]
    step = np.sqrt(np.mean((values[season:] - values[:-season]) ** 2))
    half = norm.ppf(0.5 * (1 + design.INTERVAL)) * step * np.sqrt(seasons)
    return Forecast(mean, mean - half, mean + half)


def _model(name: str, series: Series) -> Any:
    from statsforecast import models

    if name == design.MSTL:
        return models.MSTL(list(series.seasons), trend_forecaster=models.AutoETS(model="ZZN"))
    season = series.season
    if name == design.ARIMA and season > design.LONGEST_ARIMA:
        season = 1
    return getattr(models, name)(season_length=season)


_MODELS: Mapping[str, Callable[[Series], Any]] = {
    name: partial(_model, name) for name in (design.ARIMA, design.ETS, design.THETA, design.MSTL)
}

"""Forecasts of panels by ``bochner``, by statsforecast, and by a global model of mlforecast."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.panels import design
from benchmarks.panels.series import Case
from bochner import Forecaster
from bochner._base.arrays import Array, as_array

_LAGS: Mapping[int, tuple[int, ...]] = {12: (1, 2, 3, 6, 12), 4: (1, 2, 4), 7: (1, 2, 7, 14)}
"""Lags of the global model by season: those that the shortest series has."""

_DATES: Mapping[int, list[str]] = {12: ["month"], 4: ["quarter"], 7: ["dayofweek", "day"]}
"""Calendar features of the global model, by season."""

_STARTS: Mapping[int, str] = {12: "MS", 4: "QS", 7: "D"}
"""Frequencies of pandas for the starts of steps, by season."""


class Forecasts(NamedTuple):
    """Point forecasts (h,) by series, and ends of intervals (h, 2) of those that have some."""

    means: Mapping[str, Array]
    ends: Mapping[str, Array]


def forecast(method: str, some: Case) -> Forecasts:
    """Return the forecasts of a method for the series that are scored."""
    past, n_steps = some.past, len(next(iter(some.future.values())))
    if method == design.GLOBAL:
        return Forecasts(_global(some, n_steps), {})
    if method == design.SHARED:
        model = Forecaster(n_jobs=1, random_state=0).fit(past)
        return _ours({name: model.of(name) for name in some.future}, n_steps)
    if method == design.ALONE:
        fitted = {
            name: Forecaster(n_jobs=1, random_state=0).fit(past[name]) for name in some.future
        }
        return _ours(fitted, n_steps)
    one = _ets if method == design.ETS else _last_season
    means = {name: one(past[name].to_numpy(), some.season, n_steps) for name in some.future}
    return Forecasts(means, {})


def _ours(models: Mapping[str, Forecaster], n_steps: int) -> Forecasts:
    means = {name: as_array(model.predict(n_steps)) for name, model in models.items()}
    ends = {
        name: np.column_stack(model.predict_interval(n_steps, design.INTERVAL))
        for name, model in models.items()
    }
    return Forecasts(means, ends)


def _ets(values: Array, season: int, n_steps: int) -> Array:
    from statsforecast.models import AutoETS

    # A season needs two periods.
    model = AutoETS(season_length=season if len(values) >= 2 * season else 1)
    return as_array(model.forecast(y=values, h=n_steps)["mean"])


def _last_season(values: Array, season: int, n_steps: int) -> Array:
    period = season if len(values) >= season else 1
    return values[len(values) - period + np.arange(n_steps) % period]


def _global(some: Case, n_steps: int) -> dict[str, Array]:
    """Return forecasts of one boosted model of all series, of differences of logarithms."""
    from lightgbm import LGBMRegressor
    from mlforecast import MLForecast
    from mlforecast.target_transforms import Differences

    parts = [
        pd.DataFrame(
            {"unique_id": name, "ds": pd.PeriodIndex(one.index).to_timestamp(), "y": np.log1p(one)}
        )
        for name, one in some.past.items()
    ]
    shortest = min(map(len, some.past.values()))
    model = MLForecast(
        models=[LGBMRegressor(n_estimators=200, learning_rate=0.05, n_jobs=1, verbosity=-1)],
        freq=_STARTS[some.season],
        lags=[lag for lag in _LAGS[some.season] if lag <= shortest - 2],
        date_features=_DATES[some.season],
        target_transforms=[Differences([1])],
    )
    model.fit(pd.concat(parts, ignore_index=True))
    predicted = model.predict(n_steps).set_index("unique_id")["LGBMRegressor"]
    return {name: np.expm1(predicted[name].to_numpy()) for name in some.future}

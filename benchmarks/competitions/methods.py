"""Quantiles of forecasts by ``bochner`` and by the models of statsforecast."""

from functools import lru_cache
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.competitions import design
from benchmarks.competitions.series import Contest, contest
from bochner import Forecaster
from bochner._base.arrays import Array, as_array

_LEVELS = (80, 95)  # Intervals in per cent, whose ends are the quantiles of `design.LEVELS`


class Quantiles(NamedTuple):
    """Quantiles (h, 5) at `design.LEVELS`, and the seconds of fit and forecast."""

    values: Array
    seconds: float


# The cells of one series run one after the other: the median needs the forecasts of four models.
@lru_cache(maxsize=2 * len(design.METHODS))
def forecast(method: str, name: str, number: int, folder: Path | None) -> Quantiles:
    """Return the forecast of a series by a method."""
    some = contest(name, number, folder)
    if method == design.MEDIAN:
        each = [forecast(model, name, number, folder) for model in design.MODELS]
        values = np.median([one.values for one in each], axis=0)
        return Quantiles(values, sum(one.seconds for one in each))
    start = process_time()
    values = _ours(some) if method == design.OURS else _theirs(method, some)
    return Quantiles(values, process_time() - start)


def _ours(some: Contest) -> Array:
    kind = some.kind
    dates = pd.date_range(kind.first, periods=len(some.past), freq=kind.frequency)
    model = Forecaster(n_jobs=1, random_state=0).fit(pd.Series(some.past, index=dates))
    return as_array(model.predict_quantiles(kind.horizon, design.LEVELS))


def _theirs(method: str, some: Contest) -> Array:
    from statsforecast import models

    name = "SeasonalNaive" if method == design.NAIVE else method
    model = getattr(models, name)(season_length=some.kind.season)
    forecasts = model.forecast(y=some.past, h=some.kind.horizon, level=list(_LEVELS))
    names = ("lo-95", "lo-80", "mean", "hi-80", "hi-95")
    return np.column_stack([np.asarray(forecasts[name], dtype=np.float64) for name in names])

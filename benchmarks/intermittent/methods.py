"""Forecasts of counts by ``bochner``, by methods for intermittent demand, and by the past."""

import warnings
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.intermittent import design
from benchmarks.intermittent.series import Counts
from bochner import Forecaster
from bochner._base.arrays import Array

_TSB_DECAYS = (0.1, 0.1)  # Decays of sizes and probabilities, as in the documentation of TSB
_WINDOWS = 2  # Past windows whose errors make the intervals of methods without a law


class Forecast(NamedTuple):
    """Expected counts (h,), quantiles (h, q), probabilities of zero (h,), and seconds."""

    mean: Array
    quantiles: Array
    zero: Array
    seconds: float


def forecast(method: str, series: Counts) -> Forecast:
    """Return the forecast of a method after the past of a series."""
    start = process_time()
    if method in (design.OURS, design.GAUSSIAN):
        answers = _ours(series, "auto" if method == design.OURS else "sqrt")
    elif method == design.HISTORY:
        answers = _past(series)
    else:
        answers = _other(method, series)
    return Forecast(*answers, process_time() - start)


def _ours(series: Counts, transformation: str) -> tuple[Array, Array, Array]:
    model = Forecaster(transformation=transformation, n_jobs=1, random_state=0)
    model.fit(series.past, times=series.times)
    horizon = len(series.future)
    quantiles = np.asarray(model.predict_quantiles(horizon, design.LEVELS))
    mean = np.asarray(model.predict(horizon))
    if model.transformation_ != "counts":  # Expected values of square roots are those of draws
        mean = np.asarray(model.sample(horizon, 2_000, random_state=0)).mean(axis=1)
    zero = np.exp(np.asarray(model.log_density(np.zeros(horizon))))
    return mean, quantiles, zero


def _past(series: Counts) -> tuple[Array, Array, Array]:
    quantiles = np.quantile(series.past, design.LEVELS, method="inverted_cdf")
    horizon = len(series.future)
    zero = float(np.mean(series.past == 0.0))
    mean = np.full(horizon, series.past.mean())
    return mean, np.tile(quantiles, (horizon, 1)), np.full(horizon, zero)


def _other(method: str, series: Counts) -> tuple[Array, Array, Array]:
    from statsforecast import models
    from statsforecast.utils import ConformalIntervals

    horizon = len(series.future)
    decays: Any = _TSB_DECAYS if method == design.TSB else ()
    intervals = ConformalIntervals(h=horizon, n_windows=_WINDOWS)
    model = getattr(models, method)(*decays, prediction_intervals=intervals)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = model.forecast(y=series.past, h=horizon, level=[60, 90])
    columns = np.column_stack((answer["mean"], answer["hi-60"], answer["hi-90"]))
    quantiles = np.maximum(np.nan_to_num(columns), 0.0)
    return quantiles[:, 0], quantiles, np.full(horizon, np.nan)

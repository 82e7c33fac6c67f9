"""Times of series as numbers or ``datetime64``, which pictures are drawn over."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from bochner.files.stamps import read_dates


def drawn_times(times: Any) -> NDArray[np.generic]:
    """Return times (n,) as numbers or as dates of the local clock, in ``datetime64``.

    ``times`` are numbers, dates, text in ISO 8601, or a pandas index or series of numbers, dates or
    periods. Raises TypeError for other entries.
    """
    times = times.array if hasattr(times, "iloc") else times
    values = np.asarray(times)
    if values.dtype.kind in "iuf" and not hasattr(times, "to_timestamp"):
        return values
    return read_dates(times).clock


def forecast_times(model: BaseEstimator, horizon: Any) -> NDArray[np.generic]:
    """Return the times of a forecast, ``horizon`` steps or times, of a model of a single series.

    Raises ValueError if the model has several series, and TypeError or ValueError as ``predict``.
    """
    if not model.is_single_:
        names = list(model.series_)
        raise ValueError(
            f"The model has {len(names)} series: draw one of them, such as that of "
            f"model.of({names[0]!r})."
        )
    (series,) = model.series_.values()
    future = series.timeline.future(horizon)
    if future.index is not None:
        return drawn_times(future.index)
    return drawn_times(horizon) if np.ndim(horizon) else future.numbers

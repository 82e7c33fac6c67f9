"""Effects of columns of dates: by hour, by weekday, and over time in whole weeks.

Predictions that follow the hour jump up and down along single dates; at each of these views, all
other parts of the rows' own dates stay as they are.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array, as_array, decimal_years
from bochner.diagnosis.sensitivity import Effect, averages
from bochner.plot.labels import dates_of
from bochner.report.along_time import features_of
from bochner.tables.columns import read_column

Times = NDArray[np.datetime64]

_ROWS = 400
"""Background rows of an effect: its average has an error of a twentieth of their deviation."""

_TIMES = 30
"""Times of the effect over time."""

_DAY, _HOUR, _WEEK = (np.timedelta64(count, "h") for count in (24, 1, 168))

_MONDAY = np.datetime64("1970-01-05", "ms")


def cycles_of(model: Any, name: str) -> list[str]:
    """Return the cycles that the encoding of a column has; none for columns that are no dates."""
    state = next(state for state in model.encoder_.columns_ if state["name"] == name)
    return list(state.get("cycles", ()))


def date_effects(model: Any, name: str) -> Iterator[Effect]:
    """Yield averaged predictions over the views of a column of dates that its cycles ask for.

    Values are hours from 0 to 23, weekdays from 1, Monday, to 7, and decimal years.
    """
    dependence = model._dependence()
    place = [state["name"] for state in model.encoder_.columns_].index(name)
    rows = dependence.X[:_ROWS]
    times = dates_of(model.background_values_[:_ROWS, place]).astype("M8[ms]")
    for view, values, grid in _views(name, cycles_of(model, name), times):
        curves = []
        for moved in grid:
            mixed = rows.copy()
            column = read_column(name, moved.astype("M8[us]"))
            mixed[:, dependence.groups[name]] = features_of(model, column)
            curves.append(dependence.function(mixed).reshape(len(rows), -1))
        yield _effect(model, view, values, np.stack(curves))


def _effect(model: Any, view: str, values: Array, curves: Array) -> Effect:
    mean, lower, upper = averages(curves)
    classes = getattr(model, "classes_", None)
    if classes is None and curves.shape[2] == 1:
        mean, lower, upper = (part[:, 0] for part in (mean, lower, upper))
    return Effect((view,), (values,), mean, lower, upper, classes)


def _views(name: str, cycles: list[str], times: Times) -> Iterator[tuple[str, Array, list[Any]]]:
    """Yield the name of a view, its values, and for each value the dates (n,) of all rows."""
    first, last = times.min(), times.max()
    # Earlier by less than a week, rows keep their hours and weekdays.
    start = min(first + _WEEK, last)
    share = np.linspace(0.0, 1.0, _TIMES)
    grid = start + ((last - start).astype(np.int64) * share).astype("m8[ms]")
    yield name, as_array(decimal_years(grid)), [at - (at - times) % _WEEK for at in grid]
    days = times.astype("M8[D]").astype("M8[ms]")
    if "hour" in cycles:
        hours = np.arange(24)
        yield f"hour of {name}", as_array(hours), [days + hour * _HOUR for hour in hours]
    if "weekday" in cycles:
        weekdays = np.arange(7)
        monday = times - (days - _MONDAY) % _WEEK
        moved = [monday + weekday * _DAY for weekday in weekdays]
        yield f"weekday of {name} (1 = Monday)", as_array(weekdays + 1.0), moved

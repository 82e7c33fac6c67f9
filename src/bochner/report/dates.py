"""Effects of columns of dates: by hour, by weekday, and over time in whole weeks.

Predictions that follow the hour jump up and down along single dates; at each of these views, all
other parts of the rows' own dates stay as they are.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, decimal_years
from bochner.files.clocks import clock_times
from bochner.files.columns import read_column
from bochner.plot.text_labels import dates_of
from bochner.report.along_time import features_of
from bochner.tables.sensitivity import Effect, averages

Times = NDArray[np.datetime64]

_ROWS = 400
"""Background rows of an effect: its average has an error of a twentieth of their deviation."""

_FEW_ROWS = 100
"""Background rows of an effect of hour and weekday, which has 168 cells."""

_TIMES = 30
"""Times of the effect over time: months of two and a half years."""

_DAY, _HOUR, _WEEK = (np.timedelta64(count, "h") for count in (24, 1, 168))
"""Units of the cycles of dates: a day, an hour and a week, in hours."""

_MONDAY = np.datetime64("1970-01-05", "ms")


def cycles_of(model: BaseEstimator, name: str) -> list[str]:
    """Return the cycles in the encoding of a column; empty for columns other than dates."""
    state = next(state for state in model.encoder_.columns_ if state["name"] == name)
    return list(state.get("cycles", ()))


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """Something that a date has: its values, and for each cell of their grid all rows' dates."""

    names: tuple[str, ...]
    values: tuple[NDArray[Any], ...]
    dates: Iterable[Any]
    n_rows: int = _ROWS


def date_effects(model: BaseEstimator, name: str) -> Iterator[Effect]:
    """Yield averaged predictions over the views of a column of dates that its cycles ask for.

    Values are decimal years, hours from 0 to 23, weekdays from 1, Monday, to 7, or their names.
    """
    dependence = model._dependence()
    place = [state["name"] for state in model.encoder_.columns_].index(name)
    times = dates_of(model.background_values_[:_ROWS, place]).astype("M8[ms]")
    if zone := model.encoder_.columns_[place].get("zone"):
        times = clock_times(times, zone).astype("M8[ms]")
    for view in _views(name, cycles_of(model, name), times):
        rows, curves = dependence.X[: view.n_rows], []
        for moved in view.dates:
            mixed = rows.copy()
            column = read_column(name, moved[: view.n_rows].astype("M8[us]"))
            mixed[:, dependence.groups[name]] = features_of(model, column)
            curves.append(dependence.predict(mixed))
        yield _effect(model, view, np.stack(curves))


def _effect(model: BaseEstimator, view: _View, curves: Array) -> Effect:
    classes = getattr(model, "classes_", None)
    n_outputs = () if classes is None and curves.shape[2] == 1 else (curves.shape[2],)
    shape = (*map(len, view.values), *n_outputs)
    mean, lower, upper = (part.reshape(shape) for part in averages(curves))
    return Effect(view.names, view.values, mean, lower, upper, classes)


def _views(name: str, cycles: list[str], times: Times) -> Iterator[_View]:
    first, last = times.min(), times.max()
    # Earlier by less than a week, rows keep their hours and weekdays.
    start = min(first + _WEEK, last)
    share = np.linspace(0.0, 1.0, _TIMES)
    grid = start + ((last - start).astype(np.int64) * share).astype("m8[ms]")
    yield _View((name,), (decimal_years(grid),), (at - (at - times) % _WEEK for at in grid))
    days = times.astype("M8[D]").astype("M8[ms]")
    mondays = days - (days - _MONDAY) % _WEEK
    hours, weekdays = np.arange(24.0), np.arange(7)
    own_hours = times - days
    if "hour" in cycles:
        moved: Iterable[Any] = (days + hour * _HOUR for hour in range(24))
        yield _View((f"hour of {name}",), (hours,), moved)
    if "weekday" in cycles:
        moved = (mondays + own_hours + day * _DAY for day in weekdays)
        yield _View((f"weekday of {name} (1 = Monday)",), (weekdays + 1.0,), moved)
    if "hour" in cycles and "weekday" in cycles:
        names = np.array(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], dtype=object)
        moved = (mondays + day * _DAY + hour * _HOUR for hour in range(24) for day in weekdays)
        names_of_cycles = f"hour of {name}", f"weekday of {name}"
        yield _View(names_of_cycles, (hours, names), moved, _FEW_ROWS)

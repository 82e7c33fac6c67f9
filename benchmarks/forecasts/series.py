"""Series with their dates, from the package or from a folder of data sets."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.forecasts.design import DECADE
from bochner import datasets
from bochner._base.arrays import Array


class Record(NamedTuple):
    """Times (n,) and values (n,), NaN where one is unknown."""

    times: NDArray[np.datetime64]
    values: Array


def _months(first: str, values: Array) -> Record:
    return Record(np.datetime64(first, "M") + np.arange(len(values)), values)


def _co2(folder: Path | None) -> Record:
    values = datasets.load("mauna_loa_co2_weekly").y
    weeks = np.datetime64("1958-03-29", "D") + 7 * np.arange(len(values))
    return Record(weeks, values)


def _monthly(name: str, first: str) -> Callable[[Path | None], Record]:
    def read(folder: Path | None) -> Record:
        return _months(first, np.load(_file(folder, name))["y"].astype(np.float64))

    return read


def _seattle(folder: Path | None) -> Record:
    with datasets.table_file("seattle_weather").open("rb") as file:
        table = pd.read_csv(file, parse_dates=["date"])
    days = table["date"].to_numpy().astype("M8[D]")
    return Record(days, table["temp_max"].to_numpy(dtype=np.float64))


def _bike_hours(folder: Path | None, kind: str = "y") -> Record:
    """Return rentals by hour; hours without any are missing in the file, and are zero here.

    ``kind`` is ``"casual"``, ``"registered"``, or ``"y"`` for all users.
    """
    file = np.load(_file(folder, "bike_hourly"))
    names = [str(name) for name in file["feature_names"]]
    hours, months, weekdays, years = (
        file["X"][:, names.index(name)].astype(int) for name in ("hour", "month", "weekday", "year")
    )
    # Dates are not in the file. A day ends where the hour falls or month or weekday change.
    columns = np.column_stack((years, months, weekdays))
    changed = np.any(np.diff(columns, axis=0), axis=1) | (np.diff(hours) < 0)
    day = np.concatenate(([0], np.cumsum(changed)))
    values = np.zeros(24 * (day[-1] + 1))
    values[24 * day + hours] = file[kind]
    return Record(np.datetime64("2011-01-01T00", "h") + np.arange(len(values)), values)


def bike_days(folder: Path | None, kind: str = "y") -> Record:
    """Return rentals by day, of one kind of users or of all."""
    hours = _bike_hours(folder, kind)
    days = hours.times.astype("M8[D]")[::24]
    return Record(days, hours.values.reshape(-1, 24).sum(axis=1))


_DEMAND = 4
"""Column of the demand: date, weekday, period, price and demand of New South Wales come first."""


def _electricity(folder: Path | None) -> Record:
    """Return the demand of New South Wales by hour, scaled to between 0 and 1 in the file."""
    demand = np.load(_file(folder, "electricity"))["X"][:, _DEMAND].astype(np.float64)
    values = demand.reshape(-1, 2).mean(axis=1)  # Two half hours
    return Record(np.datetime64("1996-05-07T00", "h") + np.arange(len(values)), values)


def _file(folder: Path | None, name: str) -> Path:
    if folder is None:
        raise ValueError(f"The series {name} is not bundled: name a folder of data sets with data.")
    return folder / f"{name}.npz"


_READERS: Mapping[str, Callable[[Path | None], Record]] = {
    DECADE: _co2,
    "airline": _monthly("airline_passengers", "1949-01"),
    "co2, monthly": _monthly("mauna_loa_co2_monthly", "1959-01"),
    "sunspots": _monthly("sunspots_monthly", "1749-01"),
    "seattle, highest temperature": _seattle,
    "bike rentals, daily": bike_days,
    "bike rentals, hourly": _bike_hours,
    "electricity demand, hourly": _electricity,
}


def read(name: str, folder: Path | None) -> Record:
    """Return a series of the design."""
    return _READERS[name](folder)

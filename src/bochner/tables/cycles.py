"""Hour, weekday and day of the year of dates, encoded as points on circles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array, decimal_years

Times = NDArray[np.datetime64]
CycleName = Literal["hour", "weekday", "day of year"]

_DAY = np.timedelta64(1, "D")
"""One day, the unit of the lengths of cycles."""

_MONDAY = np.datetime64("1970-01-05")


@dataclass(frozen=True, slots=True)
class _Cycle:
    """A cycle of dates: its length, phase differences that count as zero, number of harmonics."""

    length: np.timedelta64
    tolerance: float
    n_harmonics: int


_CYCLES: dict[CycleName, _Cycle] = {
    "hour": _Cycle(_DAY, 0.0, 2),
    "weekday": _Cycle(7 * _DAY, 0.0, 2),
    # 31 December is day 365 of 365 or 366 of 366: these dates differ by less than a day.
    "day of year": _Cycle(365 * _DAY, 1 / 365, 1),
}


def varying_cycles(times: Times) -> list[CycleName]:
    """Return the cycles that have features: dates (n,) cover them and differ in their phases."""
    span = times.max() - times.min()
    varying = [name for name, cycle in _CYCLES.items()
             if span > cycle.length and np.ptp(_phases(name, times)) > cycle.tolerance]  # fmt: skip
    return [name for name in varying if name != "weekday" or not _are_months(times)]


def cycle_names(cycles: list[CycleName]) -> list[str]:
    """Return the names of the features of some cycles, such as "<hour cos 1>"."""
    return [f"<{name} {wave} {harmonic}>" for name in cycles
            for harmonic in _harmonics(name) for wave in ("cos", "sin")]  # fmt: skip


def encode_cycles(cycles: list[CycleName], times: Times, present: NDArray[np.bool_]) -> Array:
    """Return √2 cos and √2 sin of the phases of ``times``, and zeros where no date is present."""
    features = np.zeros((present.size, len(cycle_names(cycles))))
    turns = [h * _phases(name, times) for name in cycles for h in _harmonics(name)]
    angles = 2 * np.pi * np.column_stack(turns)
    features[present, ::2] = np.sqrt(2.0) * np.cos(angles)
    features[present, 1::2] = np.sqrt(2.0) * np.sin(angles)
    return features


def _harmonics(name: CycleName) -> range:
    return range(1, 1 + _CYCLES[name].n_harmonics)


def _phases(name: CycleName, times: Times) -> Array:
    """Return the elapsed fraction of the cycle at each time, from 0 to 1."""
    days = times.astype("M8[D]")
    if name == "hour":
        return as_array((times - days) / _DAY)
    if name == "weekday":
        return as_array((days - _MONDAY) / _DAY % 7 / 7)
    years = decimal_years(days)
    return years - np.floor(years)


def _are_months(times: Times) -> bool:
    days, months = times.astype("M8[D]"), times.astype("M8[M]")
    next_months = (months + np.timedelta64(1, "M")).astype("M8[D]")
    return bool(np.all(days == months.astype("M8[D]")) or np.all(days + _DAY == next_months))

"""Times of series: numbers, dates or positions become numbers, and horizons become times."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from datetime import timedelta
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.checked import check_size
from bochner.registry import register

Stamps = NDArray[np.datetime64]
Kind = Literal["steps", "numbers", "days", "months"]
Index = Literal["none", "numbers", "dates", "periods"]

_DAY = np.timedelta64(1, "D")
"""One day, the unit of dates that do not stand for months."""

_MICROSECONDS = 86_400e6
"""Microseconds of a day; steps between dates are multiples of one."""

_YEAR = 365.2425
"""Days of a year: the mean of the Gregorian calendar's four centuries."""

_SHORTEST_MONTH = 27
"""Days between dates from which they may stand for months: February has 28."""

_MOST_STEPS = 10_000_000
"""Largest horizon in steps: ten times more need minutes and gigabytes, and are likely a mistake."""

_REGULAR = 0.01
"""Departure of steps from their median, relative to it, up to which a horizon may be counted in
steps: weeks in decimal years differ by 0.003."""

_SHARE = 0.5
"""Share of the steps that must be as long as their median: others may be gaps."""

_CALENDAR = {"days": (1.0, 7.0, _YEAR), "months": (12.0,), "numbers": (), "steps": ()}
"""Periods of the calendar by kind of times, in their unit."""


class Times(NamedTuple):
    """Times of a series or a forecast as numbers (n,), with what they were."""

    numbers: Array
    timeline: Timeline


class Future(NamedTuple):
    """Times to predict at: numbers (h,) as they were asked for, and a pandas index or None."""

    numbers: Array
    index: Any


@register
@dataclass(frozen=True, slots=True)
class Timeline:
    """How the times of one series become numbers, and back.

    ``kind`` is the unit of the numbers, ``step`` the usual one between two times, or None where
    they are irregular, and ``last`` the last time. Dates have their last one in nanoseconds since
    1970 (``stamp``), and zone, frequency and resolution of their pandas index. Months begin
    ``offset`` days after the first of the calendar's.
    """

    kind: Kind
    index: Index
    last: float
    step: float | None
    offset: float = 0.0
    stamp: int = 0
    zone: str | None = None
    frequency: str | None = None
    unit: str = "ns"

    @property
    def calendar(self) -> list[tuple[float, str]]:
        """Periods of the calendar in units of the times, with their names."""
        return [(period, self.name(period)) for period in _CALENDAR[self.kind]]

    def name(self, period: float) -> str:
        """Return the name of a period, such as "1 year" or "7 days"."""
        if self.kind == "months":
            return _counted(period / 12.0, "year") if period >= 12.0 else _counted(period, "month")
        if self.kind == "days":
            return _named_days(period)
        return _counted(period, "step" if self.kind == "steps" else "unit")

    def future(self, horizon: Any) -> Future:
        """Return the times of a number of steps after the last, or times that are given.

        Raises TypeError or ValueError if these are not of the series' kind, or repeated.
        """
        if isinstance(horizon, Integral) and not isinstance(horizon, bool):
            return self._steps(int(horizon))
        if isinstance(horizon, bool | float) or np.ndim(horizon) == 0:
            raise TypeError(
                f"horizon must be a number of steps, an integer, or an array of times to predict "
                f"at, got {horizon!r}."
            )
        numbers, given = timed(horizon)
        self._check(given)
        if self.kind == "months":
            numbers = _months(_stamps(horizon, by_clock=True)[0], self.offset)
        if len(np.unique(numbers)) < len(numbers):
            raise ValueError("Times to predict at must differ from each other; some are repeated.")
        index = horizon if self.index != "none" and hasattr(horizon, "dtype") else None
        return Future(numbers, index if hasattr(index, "get_indexer") else None)

    def _check(self, given: Timeline) -> None:
        dates = "days", "months"
        if (self.kind in dates) != (given.kind in dates):
            raise TypeError(
                f"The series has {_KINDS[self.kind]} for times, and the times to predict at are "
                f"{_KINDS[given.kind]}: pass them as the series has them."
            )
        if (self.zone is None) != (given.zone is None):
            with_zone, without = ("series has", "times to predict at have")
            if self.zone is None:
                with_zone, without = "times to predict at have", "series has"
            raise ValueError(
                f"The {with_zone} a time zone and the {without} none: localise with tz_localize."
            )

    def _steps(self, count: int) -> Future:
        if count < 1:
            raise ValueError(f"horizon must be at least 1 step, got {count}.")
        if count > _MOST_STEPS:
            raise ValueError(
                f"horizon must be at most {_MOST_STEPS:,} steps, got {count:,}: pass the times to "
                "predict at in parts."
            )
        if self.step is None:
            raise ValueError(
                "The times of the series are irregular, so that a horizon has no unit: pass the "
                "times to predict at instead of a number of steps."
            )
        numbers: Array = self.last + self.step * np.arange(1.0, count + 1.0)
        if self.index == "none":
            return Future(numbers, None)
        if self.index == "numbers":
            import pandas as pd

            whole = float(self.last).is_integer() and float(self.step).is_integer()
            return Future(numbers, pd.Index(numbers.astype(np.int64) if whole else numbers))
        index = self._periods(count) if self.index == "periods" else self._dates(count)
        if self.kind == "days":
            # Business days and the like are not evenly spaced.
            numbers = _days(_stamps(index)[0])
        return Future(numbers, index)

    def _periods(self, count: int) -> Any:
        import pandas as pd

        last = pd.Period(pd.Timestamp(self.stamp), freq=self.frequency)
        return pd.period_range(last, periods=count + 1, freq=self.frequency)[1:]

    def _dates(self, count: int) -> Any:
        import pandas as pd

        step = self.step or 1.0
        last = pd.Timestamp(self.stamp).as_unit(self.unit)  # type: ignore[arg-type]
        if self.kind == "days" and self.zone is not None:
            last = last.tz_localize("UTC").tz_convert(self.zone)
        if self.frequency is not None:
            index = pd.date_range(last, periods=count + 1, freq=self.frequency)
            index = index[index > last][:count]
        elif self.kind == "days":
            one = pd.Timedelta(round(step * _MICROSECONDS), "us")
            index = pd.DatetimeIndex([last + k * one for k in _from_one(count)])
        else:
            # A month's last day is the day before the next one's first.
            shift = pd.Timedelta(self.offset, "D")
            months = [pd.DateOffset(months=round(step * k)) for k in _from_one(count)]
            index = pd.DatetimeIndex([last - shift + month for month in months]) + shift
        return index.tz_localize(self.zone) if self.zone and index.tz is None else index


def _from_one(count: int) -> range:
    return range(1, count + 1)


def timed(times: Any) -> Times:
    """Return times (n,) as numbers with their timeline.

    Times are numbers, ``datetime64`` or what becomes it, or a pandas index of numbers, dates or
    periods. Raises TypeError or ValueError if they are not, or if there are none.
    """
    if getattr(times, "ndim", 1) == 2 and np.shape(times)[1] == 1:
        times = np.asarray(times)[:, 0]
    if np.ndim(times) != 1 or not len(times):
        raise ValueError(f"Times must have shape (n,) with n > 0, got {np.shape(times)}.")
    has_index = hasattr(times, "get_indexer")  # That of pandas
    if _are_numbers(times):
        numbers = as_array(np.asarray(times))
        if not np.isfinite(numbers).all():
            raise ValueError("Times must be finite; some are infinite or NaN.")
        check_size("times", numbers)
        step = _usual_step(numbers)
        are_places = has_index and step == 1.0 and bool(np.all(numbers == np.round(numbers)))
        index: Index = "numbers" if has_index else "none"
        kind: Kind = "steps" if are_places else "numbers"
        return Times(numbers, Timeline(kind, index, float(numbers[-1]), step))
    if isinstance(np.asarray(times).flat[0], np.timedelta64 | timedelta):
        raise TypeError(
            "Times must be numbers or dates, got durations. Divide them by a unit, such as "
            "np.timedelta64(1, 'h') for hours, or add a date."
        )
    return _dated(times, has_index)


def _dated(times: Any, has_index: bool) -> Times:
    stamps, zone = _stamps(times)
    if np.isnat(stamps).any():
        raise ValueError("Times must be dates; some are missing (NaT).")
    by_clock = _stamps(times, by_clock=True)[0]
    offset = _month_offset(by_clock)
    kind: Kind = "days" if offset is None else "months"
    stamps = stamps if offset is None else by_clock
    numbers = _days(stamps) if offset is None else _months(stamps, offset)
    index: Index = "none"
    if has_index:
        index = "periods" if hasattr(times, "to_timestamp") else "dates"
    timeline = Timeline(
        kind,
        index,
        float(numbers[-1]),
        _usual_step(numbers),
        offset or 0.0,
        int(stamps[-1].astype("M8[ns]").astype(np.int64)),
        zone,
        _frequency(times) if has_index else None,
        str(getattr(times, "unit", "ns")),
    )
    return Times(numbers, timeline)


def steps(count: int) -> Times:
    """Return the positions of so many values without times."""
    numbers = np.arange(float(count))
    return Times(numbers, Timeline("steps", "none", float(count - 1), 1.0))


def _are_numbers(times: Any) -> bool:
    return getattr(getattr(times, "dtype", np.asarray(times).dtype), "kind", "O") in "iuf"


def _stamps(times: Any, *, by_clock: bool = False) -> tuple[Stamps, str | None]:
    """Return dates as ``datetime64`` in nanoseconds, and their zone.

    Dates with a zone become those of UTC, or of the zone's clock.
    """
    if hasattr(times, "to_timestamp"):
        times = times.to_timestamp()
    zone = getattr(times, "tz", None)
    if zone is not None:
        times = (times if by_clock else times.tz_convert("UTC")).tz_localize(None)
    try:
        given = np.asarray(times)
        stamps, coarse = given.astype("M8[ns]"), given.astype("M8[us]")
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"Times must be numbers, datetime64 or a pandas index of these or of periods, got "
            f"{str(np.asarray(times)[0])!r} first."
        ) from error
    # NumPy lets nanoseconds overflow without a word.
    if (outside := (stamps.astype("M8[us]") != coarse) & ~np.isnat(coarse)).any():
        raise ValueError(
            f"Dates must lie between the years 1678 and 2262, got {coarse[outside][0]}. Pass times "
            "as numbers, such as decimal years."
        )
    return stamps, None if zone is None else str(zone)


def _frequency(times: Any) -> str | None:
    known: str | None = getattr(times, "freqstr", None)
    if known is not None or hasattr(times, "to_timestamp") or len(times) < 3:
        return known  # pandas infers from three dates at least
    with warnings.catch_warnings():
        # pandas announces that it will return an object, which has the text, too.
        warnings.simplefilter("ignore")
        found = getattr(times, "inferred_freq", None)
    inferred: str | None = getattr(found, "freqstr", found)
    return inferred


def _days(stamps: Stamps) -> Array:
    return (stamps - np.datetime64(0, "ns")) / _DAY


def _month_offset(stamps: Stamps) -> float | None:
    """Return days after the first of a month, minus one for its last day, if dates are months."""
    if len(stamps) < 2 or np.median(np.diff(stamps) / _DAY) < _SHORTEST_MONTH:
        return None
    for shift in (0 * _DAY, _DAY):
        own = stamps + shift
        after = (own - own.astype("M8[M]").astype("M8[ns]")) / _DAY
        # The last days of months have different numbers, the days after them have not.
        if np.ptp(after) == 0.0 and (shift == 0 * _DAY or after[0] < 1.0):
            return float(after[0]) - float(shift / _DAY)
    return None


def _months(stamps: Stamps, offset: float) -> Array:
    """Return months since 1970, with their fractions, for dates shifted back by some days."""
    own = stamps - np.timedelta64(round(offset * 86_400), "s")  # Seconds of a day
    first = own.astype("M8[M]")
    length = (first + 1).astype("M8[ns]") - first.astype("M8[ns]")
    fraction: Array = (own - first.astype("M8[ns]")) / length
    return first.astype(np.int64) + fraction


def _usual_step(numbers: Array) -> float | None:
    """Return the median step if at least half of the steps have its length."""
    if len(numbers) < 2:
        return None
    lengths = np.diff(numbers)
    step = float(np.median(lengths))
    usual = np.abs(lengths - step) <= _REGULAR * abs(step)
    return step if step > 0.0 and usual.mean() >= _SHARE else None


def _named_days(days: float) -> str:
    for unit, length, least in (("year", _YEAR, 0.75), ("day", 1.0, 1.5), ("hour", 1 / 24, 1.0)):
        if days >= least * length:
            return _counted(days / length, unit)
    return _counted(days * 1440.0, "minute")  # Minutes of a day


def _counted(count: float, unit: str) -> str:
    shown = f"{count:.3g}"
    return f"{shown} {unit}" if shown == "1" else f"{shown} {unit}s"


_KINDS = {"steps": "positions", "numbers": "numbers", "days": "dates", "months": "dates"}


def labelled(values: Array, index: Any, name: Any = None) -> Any:
    """Return values (n,) or (n, q) as a pandas series or data frame with an index, if it is one.

    ``name`` is that of the series, or a list of the columns' names.
    """
    if index is None:
        return values
    import pandas as pd

    if values.ndim == 1:
        return pd.Series(values, index=index, name=name)
    columns = pd.MultiIndex.from_tuples(name) if isinstance(name[0], tuple) else name
    return pd.DataFrame(values, index=index, columns=columns)


def tidy(columns: dict[str, Any], like: Any) -> Any:
    """Return columns (n,) as a data frame if ``like`` is pandas', else as they are."""
    if not hasattr(like, "index") or not hasattr(like, "iloc"):
        return columns
    import pandas as pd

    return pd.DataFrame(columns)

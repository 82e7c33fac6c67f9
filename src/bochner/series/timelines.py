"""Converts times of series to numbers and back, and horizons to times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array, as_positive_scalar
from bochner._base.checks import check_size
from bochner._base.registry import register
from bochner.files.columns import clock_times
from bochner.files.stamps import (
    Dates,
    days_of,
    from_text,
    localised,
    month_offset,
    monthly_offset,
    months_of,
    next_dates,
    on_clock_of,
    own_frequency,
    read_dates,
)
from bochner.series.calendars import frequency_of, month_numbers

Kind = Literal["steps", "numbers", "days", "months"]
Index = Literal["none", "numbers", "dates", "periods"]

_DAY_LENGTH = 86_400 * 10**9  # Nanoseconds per day
_MICROSECONDS = 86_400e6  # Microseconds per day; steps between dates are whole microseconds

_YEAR, _MONTH = 365.2425, 30.436875  # Mean lengths of a Gregorian year and month in days
_MOST_STEPS = 10_000_000
"""Largest horizon in steps: ten times more steps need minutes and gigabytes."""

_REGULAR = 0.01
"""Relative tolerance for equal steps: weeks in decimal years differ by 0.003."""

_SHARE = 0.5  # Smallest share of steps equal to the median step for counting horizons in steps
_CALENDAR = {"days": (1.0, 7.0, _YEAR), "months": (12.0,), "numbers": (), "steps": ()}
"""Lengths of the calendar's periods, by kind of times and in its unit."""


_NAMED_LENGTHS: Mapping[str, Mapping[str, float]] = {
    "days": {
        "year": _YEAR,
        "quarter": _YEAR / 4.0,
        "month": _YEAR / 12.0,
        "week": 7.0,
        "day": 1.0,
        "hour": 1.0 / 24.0,
    },
    "months": {"year": 12.0, "quarter": 3.0},
}
"""Lengths of named periods, by kind of times and in its unit."""

_SHARES_OF_YEAR = {"year": 1.0, "quarter": 0.25, "month": 1.0 / 12.0, "week": 1.0 / 52.1775}
"""Lengths of the usual steps of decimal years; other steps are not taken as years."""

_YEARS = (1500.0, 2200.0)
"""Range of numbers that are taken as years if their step is a usual share of a year."""

_ROUNDING = 1e-9
"""Relative tolerance between a date and its number of days, because nanoseconds are rounded."""

_WHOLE = 0.002
"""Relative tolerance for a period to count as whole days, a whole fraction of a day or a period of
the calendar: periods of tides and the moon are ten times farther away."""


class Times(NamedTuple):
    """Times of a series or a forecast as numbers (n,), with their timeline.

    ``clock`` (n,) is local time minus time, in the same unit; None without a time zone.
    """

    numbers: Array
    timeline: Timeline
    clock: Array | None = None


class Future(NamedTuple):
    """Times to predict at: the requested numbers (h,), and a pandas index or None.

    ``clock`` (h,) is defined as in `Times`.
    """

    numbers: Array
    index: Any
    clock: Array | None = None


@register
@dataclass(frozen=True, slots=True)
class Timeline:
    """Conversion of the times of one series to numbers and back."""

    kind: Kind
    index: Index
    last: float
    step: float | None
    offset: float = 0.0
    stamp: int = 0
    zone: str | None = None
    frequency: str | None = None
    unit: str = "ns"
    are_years: bool = False

    @property
    def unit_of_step(self) -> str:
        """Noun of a step, such as "day" or "month"; "time" for other steps."""
        if self.step is None:
            return "time"
        lengths = _SHARES_OF_YEAR if self.are_years else _NAMED_LENGTHS.get(self.kind, {})
        for name, length in [*lengths.items(), *[("month", 1.0)] * (self.kind == "months")]:
            if abs(self.step - length) <= _REGULAR * length:
                return name
        return "step" if self.kind == "steps" else "time"

    @property
    def calendar(self) -> list[tuple[float, str]]:
        """Periods of the calendar in units of the times, with their names."""
        periods = (1.0,) if self.are_years else _CALENDAR[self.kind]
        return [(period, self.name(period)) for period in periods]

    def check(self) -> None:
        """Raise ValueError if the last time and its date differ, as in a damaged model file."""
        if not self._has_dates:
            return
        stamp = np.array([self.stamp], dtype="M8[ns]")
        (number,) = self._numbers(Dates(stamp, stamp, None))[0].tolist()
        if abs(number - self.last) > _ROUNDING * max(1.0, abs(self.last)):
            raise ValueError(f"the last time is {self.last:g}, and its date is {number:g}")
        if self.index == "periods":
            self._index(0)  # pandas writes other texts of periods than of dates, such as "M"
        elif self.frequency is not None:
            from_text(self.frequency)

    def length(self, period: object) -> float:
        """Return the length of a period, given as a number or a name such as "year"."""
        if not isinstance(period, str):
            return as_positive_scalar("periods", period)
        lengths = _NAMED_LENGTHS.get(self.kind, {})
        if period not in lengths:
            names = f", in {self.kind}, or {', '.join(map(repr, lengths))}" if lengths else ""
            raise ValueError(
                f"periods of a series with {_KINDS[self.kind]} for times must be numbers{names}, "
                f"got {period!r:.60}."
            )
        return lengths[period]

    def name(self, period: float) -> str:
        """Return the name of a period, such as "year", "week" or "11 years"."""
        lengths = _SHARES_OF_YEAR if self.are_years else _NAMED_LENGTHS.get(self.kind, {})
        for name, length in lengths.items():
            if abs(period - length) <= _WHOLE * length:
                return name
        if self.kind == "months":
            return _counted(period / 12.0, "year") if period >= 12.0 else _counted(period, "month")
        if self.kind == "days":
            return _named_days(period)
        if self.are_years:
            return _named_days(period * _YEAR) if period < 1.0 else _counted(period, "year")
        return _counted(period, "step" if self.kind == "steps" else "unit")

    def future(self, horizon: Any) -> Future:
        """Return the requested times, or the times of a number of steps after the last time."""
        if isinstance(horizon, Integral) and not isinstance(horizon, bool):
            return self._steps(int(horizon))
        if isinstance(horizon, bool | float) or np.ndim(horizon) == 0:
            raise TypeError(
                f"horizon must be a number of steps, an integer, or an array of times to predict "
                f"at, got {horizon!r:.60}."
            )
        numbers, timeline, clock = timed(horizon, infer=False)
        self._check(timeline)
        if self._has_dates:
            numbers, clock = self._numbers(on_clock_of(read_dates(horizon), self.zone))
        if len(np.unique(numbers)) < len(numbers):
            raise ValueError("Times to predict at must differ from each other; some are repeated.")
        index = horizon if self.index != "none" and hasattr(horizon, "dtype") else None
        return Future(numbers, index if hasattr(index, "get_indexer") else None, clock)

    def past(self, numbers: Array) -> NDArray[Any]:
        """Return times (n,) of the series, given as numbers, as local dates or numbers."""
        if not self._has_dates:
            return numbers
        if self.kind == "days":
            utc = np.rint(numbers * _MICROSECONDS).astype("M8[us]")
            return utc if self.zone is None else clock_times(utc, self.zone)
        months = np.floor(numbers + _ROUNDING)
        days = _MONTH * (numbers - months) * 86_400.0
        dates = months.astype(int).astype("M8[M]").astype("M8[s]") + days.astype("m8[s]")
        # Month ends, for example, are days before the starts of months.
        last = np.array(self.stamp, dtype="M8[ns]").astype("M8[s]")
        return np.asarray(dates + (last - dates[-1]))

    def follows_clock(self, period: float) -> bool:
        """Return whether a period follows the local time of a zone, as days and weeks do."""
        if self.kind != "days" or self.zone is None:
            return False
        turns = max(period, 1.0 / period)
        return abs(turns - round(turns)) <= _WHOLE * turns or abs(period - _YEAR) <= _WHOLE * _YEAR

    def local_days(self, numbers: Array, clock: Array | None) -> Array | None:
        """Return times (n,) as local days since 1970; None without dates.

        Dates that stand for a month are its first day.
        """
        if self.kind == "days":
            return numbers if clock is None else numbers + clock
        if self.kind != "months":
            return None
        # Last days of a month have the number of the next one.
        is_shifted = self.offset < 0.0
        months = np.floor(numbers + _ROUNDING * np.abs(numbers)).astype(np.int64) - is_shifted
        return as_array(months.astype("M8[M]").astype("M8[D]").astype(np.int64))

    @property
    def _has_dates(self) -> bool:
        return self.kind in ("days", "months")

    def _numbers(self, dates: Dates) -> tuple[Array, Array | None]:
        """Return dates as numbers (n,), and local time minus these numbers."""
        if self.kind == "days":
            clock = None if dates.zone is None else days_of(dates.clock) - days_of(dates.utc)
            return days_of(dates.utc), clock
        monthly = None if self.index == "periods" else monthly_offset(self.frequency)
        if monthly is None:
            return months_of(dates.clock, self.offset), None
        return month_numbers(
            dates.clock, monthly, np.timedelta64(self.stamp % _DAY_LENGTH, "ns")
        ), None

    def _check(self, other: Timeline) -> None:
        if self._has_dates != other._has_dates:
            raise TypeError(
                f"The series has {_KINDS[self.kind]} for times, and the times to predict at are "
                f"{_KINDS[other.kind]}: pass them as the series has them."
            )
        if (self.zone is None) != (other.zone is None):
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
        if self._has_dates and (index := self._index(count)) is not None:
            numbers, clock = self._numbers(on_clock_of(read_dates(index), self.zone))
            return Future(numbers, None if self.index == "none" else index, clock)
        numbers = self.last + self.step * np.arange(1.0, count + 1.0)
        if self.index == "numbers":
            import pandas as pd

            are_whole = float(self.last).is_integer() and float(self.step).is_integer()
            return Future(numbers, pd.Index(numbers.astype(np.int64) if are_whole else numbers))
        if self.kind != "days" or self.zone is None:
            return Future(numbers, None)
        utc = np.rint(numbers * _MICROSECONDS).astype("M8[us]")
        return Future(numbers, None, days_of(clock_times(utc, self.zone)) - numbers)

    def _index(self, count: int) -> Any:
        """Return the next pandas dates or periods; None without a calendar or without pandas."""
        if self.index == "none" and self.frequency is None:
            return None
        try:
            import pandas as pd
        except ImportError:
            return None
        if self.index == "periods":
            period = pd.Period(pd.Timestamp(self.stamp), freq=self.frequency)
            return pd.period_range(period, periods=count + 1, freq=self.frequency)[1:]
        last = pd.Timestamp(self.stamp).as_unit(self.unit)  # type: ignore[arg-type]
        if self.zone is None:
            return self._dates(last, count)
        if self.kind == "days":
            return self._dates(last.tz_localize("UTC").tz_convert(self.zone), count)
        return localised(self._dates(last, count), self.zone)

    def _dates(self, last: Any, count: int) -> Any:
        import pandas as pd

        if self.frequency is not None:
            return next_dates(last, from_text(self.frequency), count)
        step = self.step or 1.0
        if self.kind == "days":
            step_length = pd.Timedelta(round(step * _MICROSECONDS), "us")
            return pd.DatetimeIndex([last + k * step_length for k in range(1, count + 1)])
        # ``offset`` days before the first of a month, such as one day for month ends
        shift = pd.Timedelta(self.offset, "D")
        months = [pd.DateOffset(months=round(step * k)) for k in range(1, count + 1)]
        return pd.DatetimeIndex([last - shift + month for month in months]) + shift


def timed(times: Any, *, infer: bool = True) -> Times:
    """Return times (n,) as numbers with their timeline."""
    if getattr(times, "ndim", 1) == 2 and np.shape(times)[1] == 1:
        times = times.iloc[:, 0] if hasattr(times, "iloc") else np.asarray(times)[:, 0]
    times = times.array if hasattr(times, "iloc") else times  # Keeps the time zone
    if np.ndim(times) != 1 or not len(times):
        raise ValueError(f"Times must have shape (n,) with n > 0, got {np.shape(times)}.")
    has_index = hasattr(times, "get_indexer")  # A pandas index
    dtype = times.dtype if hasattr(times, "dtype") else np.asarray(times).dtype
    kind_of = getattr(dtype, "kind", "O")
    if kind_of in "iuf" or (kind_of == "O" and all(isinstance(time, Real) for time in times)):
        numbers = as_array(np.asarray(times))
        if not np.isfinite(numbers).all():
            raise ValueError("Times must be finite; some are infinite or NaN.")
        check_size("times", numbers)
        step = _usual_step(numbers)
        are_places = has_index and step == 1.0 and bool(np.all(numbers == np.round(numbers)))
        index: Index = "numbers" if has_index else "none"
        kind: Kind = "steps" if are_places else "numbers"
        are_years = step is not None and any(
            abs(step - share) <= _REGULAR * share for share in _SHARES_OF_YEAR.values()
        )
        are_years &= _YEARS[0] <= numbers.min() and bool(numbers.max() < _YEARS[1])
        timeline = Timeline(kind, index, float(numbers[-1]), step, are_years=bool(are_years))
        return Times(numbers, timeline)
    if isinstance(np.asarray(times[:1])[0], np.timedelta64 | timedelta):
        raise TypeError(
            "Times must be numbers or dates, got durations. Divide them by a unit, such as "
            "np.timedelta64(1, 'h') for hours, or add a date."
        )
    return _dated(times, has_index, infer)


def _dated(times: object, has_index: bool, infer: bool) -> Times:
    dates = read_dates(times)
    if np.isnat(dates.utc).any():
        raise ValueError("Times must be dates; some are missing (NaT).")
    frequency = own_frequency(times) if infer else None
    if infer and frequency is None and not hasattr(times, "to_timestamp"):
        frequency = frequency_of(*dates)
    index: Index = "none"
    if has_index:
        index = "periods" if hasattr(times, "to_timestamp") else "dates"
    is_monthly = index != "periods" and monthly_offset(frequency) is not None
    offset = None if is_monthly else month_offset(dates.clock)
    kind: Kind = "months" if is_monthly or offset is not None else "days"
    last = (dates.utc if kind == "days" else dates.clock)[-1]
    timeline = Timeline(
        kind,
        index,
        0.0,
        None,
        offset or 0.0,
        int(last.astype("M8[ns]").astype(np.int64)),
        dates.zone,
        frequency,
        str(getattr(times, "unit", "ns")),
    )
    numbers, clock = timeline._numbers(dates)
    step = _usual_step(numbers)
    if step is None and frequency is not None and len(numbers) > 1:
        step = float(np.median(np.diff(numbers)))  # Unequal steps of a calendar
    return Times(numbers, replace(timeline, last=float(numbers[-1]), step=step), clock)


def steps(count: int) -> Times:
    """Return positions 0, 1, ... as times of ``count`` values."""
    numbers = np.arange(float(count))
    return Times(numbers, Timeline("steps", "none", float(count - 1), 1.0))


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
    return _counted(days * 1440.0, "minute")  # 1440 minutes per day


def _counted(count: float, unit: str) -> str:
    shown = f"{count:.3g}"
    return f"{shown} {unit}" if shown == "1" else f"{shown} {unit}s"


_KINDS = {"steps": "positions", "numbers": "numbers", "days": "dates", "months": "dates"}


def labelled(values: Array, index: Any, name: Any = None) -> Any:
    """Return values (n,) or (n, q) as a pandas series or data frame if ``index`` is not None."""
    if index is None:
        return values
    import pandas as pd

    if values.ndim == 1:
        return pd.Series(values, index=index, name=name)
    columns = pd.MultiIndex.from_tuples(name) if isinstance(name[0], tuple) else name
    return pd.DataFrame(values, index=index, columns=columns)


def tidy(columns: Mapping[str, object], like: object) -> Any:
    """Return a dictionary of columns (n,) as a data frame if ``like`` is a pandas object."""
    if not hasattr(like, "index") or not hasattr(like, "iloc"):
        return columns
    import pandas as pd

    return pd.DataFrame(columns)

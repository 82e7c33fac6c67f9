"""Infers the calendar of dates, some of which may be missing, and encodes public holidays."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bochner._base.arrays import Array, as_array
from bochner._base.names import nearest
from bochner.files.errors import InputError
from bochner.files.stamps import dates_from, from_text, localised, opening_hours, read_dates, weekly

if TYPE_CHECKING:
    import pandas as pd

Stamps = NDArray[np.datetime64]
Places = NDArray[np.int64]

_FEWEST = 3  # Fewest dates from which a calendar is inferred, as for ``pandas.infer_freq``
_SHARE = 0.5
"""Smallest share of steps that lead to the next date of the calendar; longer steps skip dates."""

_MONTHLY = 25
"""Fewest days between monthly dates, as from 31 January to 28 February."""

_HALF_MONTHLY = 13  # Fewest days between half-monthly dates: 15 and 28 February
_LONGER = 1.5  # Ratio of a step to the median step above which dates are counted as missing
_WEEKMASKS = float(np.log(127.0))
"""Cost in nats of a choice of weekdays: the logarithm of the number of choices."""

_WINDOWS = float(np.log(276.0))
"""Cost in nats of a choice of opening hours: the log number of pairs of first and last hour."""

_QUARTERS = {0: "DEC", 1: "OCT", 2: "NOV"}
"""Suffixes of pandas' quarterly frequencies, indexed by month number modulo three."""

_NAMES = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")

_HOUR = np.timedelta64(1, "h")  # One hour, the step of business hours
_ONE_DAY = np.timedelta64(1, "D")
"""One day: subtracted from the first day of a month, it gives the last day of the month before."""

_THURSDAY = 3  # The weekday of 1 January 1970, Monday being zero


class _Calendar(NamedTuple):
    """A calendar that contains all dates, the dates' positions (n,) in it, and its cost in nats."""

    text: str
    places: Places
    cost: float = 0.0


def frequency_of(utc: Stamps, clock: Stamps, zone: str | None) -> str | None:
    """Return the pandas frequency string of dates (n,), or None without a regular frequency.

    This is the frequency that pandas infers, else that of the calendar with all dates and the
    fewest missing ones. ``clock`` (n,) is the local time at the dates ``utc`` (n,).
    """
    if len(utc) < _FEWEST or (np.diff(utc) <= np.timedelta64(0)).any():
        return None
    try:
        import pandas  # noqa: F401
    except ImportError:
        return None
    index = _index(utc, zone)
    return _inferred(index) or _with_holes(_own_index(index, clock), utc, clock)


def _index(utc: Stamps, zone: str | None) -> pd.DatetimeIndex:
    import pandas as pd

    index = pd.DatetimeIndex(utc)
    return index if zone is None else index.tz_localize("UTC").tz_convert(zone)


def _own_index(index: pd.DatetimeIndex, clock: Stamps) -> pd.DatetimeIndex:
    """Return the index, or naive local times ``clock`` (n,) if its zone has different times."""
    import pandas as pd

    shown = pd.DatetimeIndex(clock)
    return index if index.tz is None or (index.tz_localize(None) == shown).all() else shown


def _inferred(index: pd.DatetimeIndex) -> str | None:
    """Return the frequency that pandas infers from dates without gaps, or ``None``."""
    import pandas as pd

    if len(index) < _FEWEST:
        return None
    with warnings.catch_warnings():
        # pandas warns that it will return an offset object; its freqstr is read below.
        warnings.simplefilter("ignore")
        frequency = pd.infer_freq(index)
    text = None if frequency is None else str(getattr(frequency, "freqstr", frequency))
    # pandas infers "bh" for any opening hours, but its default offset starts at nine.
    return None if text is None or text.lower() == "bh" else text


def _with_holes(index: pd.DatetimeIndex, utc: Stamps, clock: Stamps) -> str | None:
    """Return the frequency string of the calendar of least cost, missing dates included."""
    best, least = None, np.inf
    for calendar in _calendars(index, utc, clock):
        steps = np.diff(calendar.places)
        if np.mean(steps == 1) < _SHARE:
            continue
        total = calendar.cost + _length_of_holes(steps)
        if total < least:
            best, least = calendar.text, total
    return best


def _length_of_holes(steps: Places) -> float:
    """Return the cost in nats of the holes (missing dates), from steps (n,) between n + 1 dates."""
    holes = steps[steps > 1] - 1.0
    parts = gammaln(np.array([len(steps), len(holes), len(steps) - len(holes)]) + 1.0)
    return float(parts[0] - parts[1] - parts[2] + np.sum(np.log(holes) + np.log1p(holes)))


def _calendars(index: pd.DatetimeIndex, utc: Stamps, clock: Stamps) -> Iterator[_Calendar]:
    """Yield candidate calendars that contain all dates, in order of preference."""
    days = clock.astype("M8[D]")
    apart = np.diff(days.astype(np.int64))
    if apart.min() > 0 and _are_at_one_time(index, clock - days, days):
        if apart.min() >= _MONTHLY:
            yield from _monthly(days)
        elif apart.min() >= _HALF_MONTHLY:
            yield from _half_monthly(days)
        if (calendar := _of_longest_run(index)) is not None:
            yield calendar
        yield from _daily(days)
    if np.diff(clock).min() >= _HOUR:
        yield from _in_opening_hours(clock, days)
    lengths = np.diff(utc).astype(np.int64)
    unit = int(np.gcd.reduce(lengths))
    yield _Calendar(_duration(unit), np.cumsum(np.concatenate(([0], lengths // unit))))


def _are_at_one_time(
    index: pd.DatetimeIndex, after_midnight: NDArray[np.timedelta64], days: NDArray[np.datetime64]
) -> bool:
    """Return whether all dates have the same time of day, except days on which clocks skip it."""
    import pandas as pd

    usual = np.sort(after_midnight)[len(days) // 2]
    if index.tz is None:
        return bool((after_midnight == usual).all())
    expected = localised(pd.DatetimeIndex(days.astype("M8[ns]") + usual), index.tz)
    return bool((index == expected).all())


def _duration(nanoseconds: int) -> str:
    import pandas as pd
    from pandas.tseries.frequencies import to_offset

    return str(to_offset(pd.Timedelta(nanoseconds, "ns")).freqstr)


def _monthly(days: NDArray[np.datetime64]) -> Iterator[_Calendar]:
    """Yield matching calendars of month starts, month ends, and first or last business days."""
    months = days.astype("M8[M]")
    first, last = months.astype("M8[D]"), (months + 1).astype("M8[D]") - _ONE_DAY
    numbers = months.astype(np.int64)
    unit = int(np.gcd.reduce(np.diff(numbers)))
    places = (numbers - numbers[0]) // unit
    wanted = {
        "{}E": last,
        "{}S": first,
        "B{}E": np.busday_offset(last, 0, roll="backward"),
        "B{}S": np.busday_offset(first, 0, roll="forward"),
    }
    for form, expected in wanted.items():
        if (days == expected).all():
            yield _Calendar(_months_text(form, unit, int(numbers[-1]) % 12 + 1), places)


def _months_text(form: str, unit: int, month: int) -> str:
    """Return the frequency string for a step of ``unit`` months, anchored at month 1 to 12."""
    if unit % 12 == 0:
        count, text = unit // 12, f"{form.format('Y')}-{_NAMES[month - 1]}"
    elif unit % 3 == 0:
        count, text = unit // 3, f"{form.format('Q')}-{_QUARTERS[month % 3]}"
    else:
        count, text = unit, form.format("M")
    return text if count == 1 else f"{count}{text}"


def _half_monthly(days: NDArray[np.datetime64]) -> Iterator[_Calendar]:
    """Yield half-monthly calendars: a fixed day of each month and its first or last day."""
    months = days.astype("M8[M]")
    first, last = months.astype("M8[D]"), (months + 1).astype("M8[D]") - _ONE_DAY
    for form, is_end in (("SMS", False), ("SME", True)):
        is_fixed = days == (last if is_end else first)
        other_days = np.unique((days - first)[~is_fixed].astype(np.int64)) + 1
        if len(other_days) == 1:
            halves = 2 * months.astype(np.int64) + (is_fixed if is_end else ~is_fixed)
            yield _Calendar(f"{form}-{other_days[0]}", halves - halves[0])


def _daily(days: NDArray[np.datetime64]) -> Iterator[_Calendar]:
    """Yield weekly, business-day, selected-weekday and daily calendars that contain the days."""
    numbers = days.astype(np.int64)
    weekdays = _weekdays(numbers)
    unit = int(np.gcd.reduce(np.diff(numbers)))
    if unit % 7 == 0:
        text = f"W-{_WEEKDAYS[weekdays[0]]}"
        yield _Calendar(text if unit == 7 else f"{unit // 7}{text}", (numbers - numbers[0]) // unit)
    present = set(weekdays.tolist())
    if max(present) < 5:  # From Monday to Friday
        yield _Calendar("B", np.busday_count(days[0], days))
    if len(present) < len(_WEEKDAYS):
        mask = [day in present for day in range(len(_WEEKDAYS))]
        places = np.busday_count(days[0], days, weekmask=mask)
        yield _Calendar(weekly(present), places, _WEEKMASKS)
    yield _Calendar("D" if unit == 1 else f"{unit}D", (numbers - numbers[0]) // unit)


def _in_opening_hours(clock: Stamps, days: NDArray[np.datetime64]) -> Iterator[_Calendar]:
    """Yield the calendar of hourly dates within opening hours on the observed weekdays."""
    hours, after = np.divmod(clock - days, _HOUR)
    low, high = int(hours.min()), int(hours.max())
    if np.ptp(after) or high == 23 or low == high:  # pandas allows no end at midnight
        return
    numbers = days.astype(np.int64)
    reached = np.arange(numbers[0], numbers[-1] + 1)
    absent = set(_weekdays(reached).tolist()) - set(_weekdays(numbers).tolist())
    mask = [day not in absent for day in range(len(_WEEKDAYS))]
    places = np.busday_count(days[0], days, weekmask=mask) * (high - low + 1) + hours
    cost = _WINDOWS + (0.0 if absent <= {5, 6} else _WEEKMASKS)
    text = opening_hours(low, high + 1, after[0], set(range(7)) - absent)
    yield _Calendar(text, places - places[0], cost)


def _weekdays(numbers: Places) -> Places:
    """Return the weekdays (Monday is zero) of day numbers counted from 1970-01-01."""
    return (numbers + _THURSDAY) % 7


def _of_longest_run(index: pd.DatetimeIndex) -> _Calendar | None:
    """Return the calendar inferred from the longest run without holes, if it contains all dates."""
    lengths = np.diff(index.asi8).astype(np.float64)
    holes = np.flatnonzero(lengths > _LONGER * np.median(lengths)) + 1
    ends = np.concatenate(([0], holes, [len(index)]))
    longest = int(np.argmax(np.diff(ends)))
    text = _inferred(index[ends[longest] : ends[longest + 1]])
    if text is None:
        return None
    dates = dates_from(index[0], from_text(text), end=index[-1])
    places = dates.get_indexer(index).astype(np.int64)
    return None if (places < 0).any() else _Calendar(text, places)


def month_numbers(clock: Stamps, offset: Any, at: np.timedelta64) -> Array:
    """Return months since 1970 of local times (n,), integers at ``offset`` dates at time ``at``."""
    import pandas as pd

    margin = pd.Timedelta(70, "D")  # Two months: calendar dates enclose every date
    low, high = (pd.Timestamp(end).normalize() for end in (clock.min(), clock.max()))
    dates = pd.date_range(low - margin, high + margin, freq=offset).to_numpy().astype("M8[ns]")
    months = dates.astype("M8[M]").astype(np.int64).astype(np.float64)
    nanoseconds = (dates + at).astype(np.int64)
    before = np.searchsorted(nanoseconds, clock.astype(np.int64), side="right") - 1
    since = clock.astype(np.int64) - nanoseconds[before]
    share = since / (nanoseconds[before + 1] - nanoseconds[before])
    return as_array(months[before] + share * (months[before + 1] - months[before]))


_FEWEST_DATES = 2
"""Fewest dates of a holiday in the training rows for a separate effect, because an effect fitted to
a single date would explain it entirely. Rarer holidays share one effect."""

_MONTH, _SHORTEST_MONTH = 30.44, 29.0
"""Mean days of a month, and the least median step in days of months and quarters."""

_DAILY = 1.5  # Longest median step, in days, of days and parts of a day
WEEKEND = 4  # Friday: weeks with dates from Friday to Sunday end at them, and others begin
_YEARLY = 0.8
"""Smallest number of dates per year of a holiday with a column for months: one that moves between
two months, as Easter does, not one of a single year."""

_WORKING_DAYS = "working days"  # Column of the days from Monday to Friday that are no holidays


def holiday_inputs(times: object, n_known: int, place: str) -> pd.DataFrame:
    """Return inputs (n, d) with the holidays of ``place``, such as DE-BY, at ``times`` (n,).

    Days and weeks have the number of dates of each holiday. Those on fewer than two dates of the
    training rows, the first ``n_known``, share a column. Months and quarters have the number of
    working days, and months the number of dates of holidays that move between months.
    """
    import pandas as pd

    try:
        days = read_dates(times).clock.astype("M8[D]")
    except TypeError as error:
        raise InputError("--holidays needs dates, and the times are numbers.") from error
    starts, ends, n_months = _spans(days)
    years = range(starts.min().item().year, (ends.max() - _ONE_DAY).item().year + 1)
    named = _calendar(place, years)
    columns, n_dates = dict[str, Array](), Counter[str]()
    for day, name in sorted(named.items()):
        first = int(np.searchsorted(ends, np.datetime64(day), side="right"))
        beyond = int(np.searchsorted(starts, np.datetime64(day), side="right"))
        columns.setdefault(name, np.zeros(len(days)))[first:beyond] += 1.0
        n_dates[name] += int(first < min(beyond, n_known))
    if n_months:
        dates = np.array(sorted(named), dtype="M8[D]")
        working = np.busday_count(starts, ends, holidays=dates).astype(np.float64)
        month_of_year = starts[:n_known].astype("M8[M]").astype(np.int64) % 12
        fewest = _YEARLY * n_known * n_months / 12.0
        columns = {
            name: column
            for name, column in columns.items()
            if n_months == 1 and n_dates[name] >= max(fewest, _FEWEST_DATES)
            if any(np.ptp(column[:n_known][month_of_year == month]) for month in range(12))
        }
        columns[_WORKING_DAYS] = working
    else:
        rare = [columns.pop(name) for name in sorted(columns) if n_dates[name] < _FEWEST_DATES]
        other = np.sum(rare, axis=0) if rare else np.zeros(len(days))
        columns = dict(sorted(columns.items()))
        if other[:n_known].any():
            columns["other holidays"] = other
    if not columns:
        raise InputError(f"No holiday of {place} is among the dates of the series.")
    return pd.DataFrame(columns)


def _spans(
    days: NDArray[np.datetime64],
) -> tuple[NDArray[np.datetime64], NDArray[np.datetime64], int]:
    """Return first days and days after the last ones (n,) of rows, and their number of months."""
    step = float(np.median(np.diff(days).astype(np.float64))) if len(days) > 1 else 0.0
    if step <= _DAILY:
        return days, days + _ONE_DAY, 0
    if step >= _SHORTEST_MONTH:
        n_months = round(step / _MONTH)
        if n_months > 3:
            raise InputError("--holidays needs steps of at most a quarter: years have all of them.")
        months = days.astype("M8[M]")
        if np.median((days - months.astype("M8[D]")).astype(np.int64)) > 0.5 * _MONTH:
            months = months - (n_months - 1)  # Quarters with the date of their last month
        return months.astype("M8[D]"), (months + n_months).astype("M8[D]"), n_months
    ends_with_it = step == 7 and np.median(_weekdays(days.astype(np.int64))) >= WEEKEND
    starts = days - np.timedelta64(6 * ends_with_it, "D")
    return starts, starts + np.timedelta64(round(step), "D"), 0


def _calendar(place: str, years: range) -> Any:
    try:
        import holidays
    except ImportError:
        raise ImportError(
            "Holidays are those of the package holidays: pip install holidays."
        ) from None
    country, _, part = place.partition("-")
    parts = holidays.list_supported_countries()
    if country not in parts:
        near = nearest(country, parts)
        hint = f" Did you mean {near}?" if near else ""
        raise InputError(
            f"There is no calendar of holidays for {place!r:.60}: expected the code of a country, "
            f"such as DE or US, or of a part of one, such as DE-BY.{hint}"
        )
    if part and part not in parts[country]:
        raise InputError(
            f"There is no calendar of holidays for {place!r:.60}: expected {country}, or "
            f"{country}- and one of {', '.join(parts[country])}."
        )
    return holidays.country_holidays(country, subdiv=part or None, years=years)

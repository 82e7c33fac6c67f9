"""Days of the calendar at which a series has spikes again and again, such as ends of months."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner._base.registry import register

Days = NDArray[np.int64]
"""Days (n,) since 1 January 1970, in local time."""

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_ORDINALS = ("1st", "2nd", "3rd", "4th", "5th")

_MOVABLE = {
    -48: "Carnival Monday",
    -2: "Good Friday",
    0: "Easter Sunday",
    1: "Easter Monday",
    39: "Ascension Day",
    49: "Whit Sunday",
    50: "Whit Monday",
    60: "Corpus Christi",
}
"""Names of feasts by their distance in days to Easter Sunday."""

_FROM_EASTER = (-56, 70)
"""Distances to Easter Sunday that are looked at: eight weeks before (Carnival) to ten weeks after
(Corpus Christi), in whole weeks."""

_WELL_KNOWN = ("12-25", "01-01", "12-24", "12-31", "12-26", "07-04", "10-31", "02-14")
"""Dates that are preferred to other dates of the same weeks, in this order: where most feasts are."""

_ENDS = 5
"""Days before the end of a month, and working days from either end, that are looked at."""

_HOURS = 24
"""Hours of a day."""

_FEWEST = 2
"""Smallest number of occurrences of a pattern."""

_PART_OF_A_DAY = 0.75
"""Longest usual step, in days, of rows that are parts of days: a day is one step, up to rounding."""

_EQUAL = 1e-6
"""Difference in nats of gains that are equal but for rounding."""

_UNLIKELY = np.log(20.0)
"""Prior log odds against a pattern: one series in twenty has one."""


def _months(days: Days) -> tuple[NDArray[np.datetime64], Days, Days]:
    """Return the months (n,) of days, the day of the month from 1, and days left in the month."""
    dates = days.astype("M8[D]")
    months = dates.astype("M8[M]")
    first, following = months.astype("M8[D]"), (months + 1).astype("M8[D]")
    return months, (dates - first).astype(np.int64) + 1, (following - dates).astype(np.int64) - 1


def _weekdays(days: Days) -> Days:
    return (days + 3) % 7  # 1 January 1970 was a Thursday


def _end_of_month(days: Days) -> Days:
    left = _months(days)[2]
    return np.where(left < _ENDS, left, -1)


def _day_of_month(days: Days) -> Days:
    return _months(days)[1]


def _working_day(days: Days) -> Days:
    """Return the number of the working day in its month from 0, and from the end from -1 down."""
    months = _months(days)[0]
    dates, first = days.astype("M8[D]"), months.astype("M8[D]")
    from_start = np.busday_count(first, dates)
    from_end = np.busday_count(dates, (months + 1).astype("M8[D]")) - 1
    codes = np.where(from_start < _ENDS, from_start, -1)
    codes = np.where((codes < 0) & (from_end < _ENDS), _ENDS + from_end, codes)
    return np.where(_weekdays(days) < 5, codes, -1)


def _weekday_of_month(days: Days) -> Days:
    return _weekdays(days) * 5 + (_months(days)[1] - 1) // 7


def _last_weekday_of_month(days: Days) -> Days:
    return np.where(_months(days)[2] < 7, _weekdays(days), -1)


def _date(days: Days) -> Days:
    months, day, _ = _months(days)
    return (months.astype(np.int64) % 12) * 32 + day


def _weeks_from_easter(days: Days) -> Days:
    keys = _from_easter(days)
    return np.where(keys % 7 == 0, keys, -1)


def _easter_sunday(days: Days) -> Days:
    return np.where(_from_easter(days) == -_FROM_EASTER[0], -_FROM_EASTER[0], -1)


_PREFERENCE = {
    int(key): place
    for place, key in enumerate(
        _date(np.array([f"2000-{date}" for date in _WELL_KNOWN], dtype="M8[D]").astype(np.int64))
    )
}
"""Order of the keys of well-known dates."""


def _from_easter(days: Days) -> Days:
    years = days.astype("M8[D]").astype("M8[Y]").astype(np.int64) + 1970
    distance = days - _easter(years)
    low, high = _FROM_EASTER
    return np.where((distance >= low) & (distance <= high), distance - low, -1)


def _easter(years: Days) -> Days:
    """Return the days (n,) of Easter Sunday in Gregorian years (n,), by Gauss's algorithm."""
    golden, century = years % 19, years // 100
    shift = 15 + century - century // 4 - (13 + 8 * century) // 25
    moon = (19 * golden + shift) % 30
    moon = moon - (moon // 28) * (1 - (moon // 28) * (29 // (moon + 1)) * ((21 - golden) // 11))
    weekday = (years + years // 4 + moon + 2 - century + century // 4) % 7
    ahead = moon - weekday  # Days from 28 March, the earliest full moon's Sunday being 22 March
    march = (years - 1970).astype("M8[Y]").astype("M8[M]") + 2
    return march.astype("M8[D]").astype(np.int64) + 27 + ahead


def _weekday_of_year(days: Days) -> Days:
    """Return month, weekday and its number in the month; the last one is number 4."""
    months, day, left = _months(days)
    number = np.where(left < 7, 4, (day - 1) // 7)
    return (months.astype(np.int64) % 12) * 64 + _weekdays(days) * 5 + number


def _week_of_year(days: Days) -> Days:
    thursday = days - _weekdays(days) + 3
    first = thursday.astype("M8[D]").astype("M8[Y]").astype("M8[D]").astype(np.int64)
    return (thursday - first) // 7 + 1


def _working_day_name(key: int) -> str:
    if key < _ENDS:
        return f"{_ORDINALS[key]} working day of the month"
    before = key - _ENDS
    return f"{_ORDINALS[before] + ' ' if before else ''}last working day of the month"


def _easter_name(key: int) -> str:
    distance = key + _FROM_EASTER[0]
    if distance in _MOVABLE:
        return _MOVABLE[distance]
    count, unit = (abs(distance) // 7, "weeks") if distance % 7 == 0 else (abs(distance), "days")
    return f"{count} {unit} {'before' if distance < 0 else 'after'} Easter Sunday"


def _weekday_of_year_name(key: int) -> str:
    month, (weekday, number) = key // 64, divmod(key % 64, 5)
    which = "last" if number == 4 else _ORDINALS[number]
    return f"{which} {_WEEKDAYS[weekday]} of {_MONTHS[month]}"


class _Family(NamedTuple):
    """Keys of days, -1 for none, a name for each key, and the steps of the rows it is for."""

    keys: Callable[[Days], Days]
    name: Callable[[int], str]
    widths: tuple[int, ...]  # Days of a row
    spans: bool = True  # Whether a row of several days has the keys of all of them


_DAY, _WEEK, _MONTH = 1, 7, 31
"""Days of a row: of a day or a part of it, of a week, and of the longest month."""

_LONGEST_STEPS = {_DAY: 1.5, _WEEK: 10.0, _MONTH: 45.0}
"""Longest usual steps, in days, of rows that are days, weeks and months."""

_FAMILIES: dict[str, _Family] = {
    "end of the month": _Family(
        _end_of_month,
        lambda key: f"{_ORDINALS[key] + ' ' if key else ''}last day of the month",
        (_DAY, _WEEK),
    ),
    "day of the month": _Family(
        _day_of_month, lambda key: f"day {key} of the month", (_DAY, _WEEK)
    ),
    "working day": _Family(_working_day, _working_day_name, (_DAY,)),
    "weekday of the month": _Family(
        _weekday_of_month,
        lambda key: f"{_ORDINALS[key % 5]} {_WEEKDAYS[key // 5]} of the month",
        (_DAY, _WEEK),
        spans=False,
    ),
    "last weekday of the month": _Family(
        _last_weekday_of_month,
        lambda key: f"last {_WEEKDAYS[key]} of the month",
        (_DAY, _WEEK),
        spans=False,
    ),
    "date": _Family(_date, lambda key: f"{key % 32} {_MONTHS[key // 32]}", (_DAY, _WEEK)),
    "days from Easter": _Family(_from_easter, _easter_name, (_DAY,)),
    "weeks from Easter": _Family(_weeks_from_easter, _easter_name, (_WEEK,)),
    "Easter": _Family(_easter_sunday, _easter_name, (_MONTH,)),
    "weekday of the year": _Family(_weekday_of_year, _weekday_of_year_name, (_DAY, _WEEK)),
    "week": _Family(_week_of_year, lambda key: f"week {key}", (_WEEK,), spans=False),
}
"""Families of days, in order of preference: the first of several equal patterns is taken."""


@register
@dataclass(frozen=True, slots=True)
class CalendarPattern:
    """Days of the calendar, or an hour of them, at which a series has another level.

    Parameters
    ----------
    family : str
        Kind of the days, such as ``"date"``.
    key : int
        Number of the days within the family.
    hour : int
        Hour of the day, or -1 for all hours.
    width : int
        Number of days of a row: 1, 7 for weeks, 31 for months.
    """

    family: str
    key: int
    hour: int
    width: int

    def __post_init__(self) -> None:
        if self.family not in _FAMILIES or not 0 <= self.key < 1_000:  # Twelve months of 64
            raise ValueError(f"there are no days {self.key} of the family {self.family!r}")
        if not (-1 <= self.hour < _HOURS and self.width in _LONGEST_STEPS):
            raise ValueError(f"hour {self.hour} and width {self.width} are out of range")

    @property
    def name(self) -> str:
        """The days in words, such as "24 December"."""
        name = _FAMILIES[self.family].name(self.key)
        if self.hour >= 0:
            return f"{name}, {self.hour}:00"
        spans = self.width > _DAY and _FAMILIES[self.family].spans
        return f"{'week' if self.width == _WEEK else 'month'} with {name}" if spans else name

    def indicator(self, days: Array) -> Array:
        """Return one for the rows with these days and else zero, (n,), for local days (n,)."""
        rows, keys = _keys(_FAMILIES[self.family], days, self.width)
        chosen = rows[keys == self.key]
        indicator = np.zeros(len(days))
        indicator[chosen] = 1.0
        if self.hour >= 0:
            indicator *= _hours(days) == self.hour
        return indicator


def _hours(days: Array) -> Days:
    # A minute more, because times in days are rounded.
    return np.floor((days % 1.0) * _HOURS + 1.0 / 60.0).astype(np.int64) % _HOURS


def _keys(family: _Family, days: Array, width: int) -> tuple[Days, Days]:
    """Return row indices and keys of the days that rows consist of, without days that have none."""
    first = np.floor(days + 1.0 / 1440.0).astype(np.int64)  # A minute more, as for hours
    n_days = width if family.spans else 1
    rows = np.tile(np.arange(len(days)), n_days)
    keys = family.keys((first + np.arange(n_days)[:, None]).ravel())
    if n_days == _MONTH:  # Days of the next month are no days of this one
        months = first.astype("M8[D]").astype("M8[M]")
        ends = (months + 1).astype("M8[D]").astype(np.int64)
        keys = np.where((first + np.arange(n_days)[:, None]).ravel() < np.tile(ends, n_days), keys, -1)
    return rows[keys >= 0], keys[keys >= 0]


class ChosenPattern(NamedTuple):
    """A pattern, its gain of log evidence in nats after the cost of choosing it, and that cost."""

    pattern: CalendarPattern
    gain: float
    cost: float


@dataclass(frozen=True, slots=True)
class CalendarSearch:
    """The patterns of the local days (n,) of the rows of a series, ``step`` days apart."""

    days: Array
    step: float

    def column(self, pattern: CalendarPattern) -> Array:
        """Return the indicator (n,) of a pattern at the rows of the series."""
        return pattern.indicator(self.days)

    @property
    def one_day(self) -> Array | None:
        """Indicator (n,) of the rows of a day in the middle; None unless rows are parts of days."""
        if self.step > _PART_OF_A_DAY:
            return None
        days = np.floor(self.days)
        return np.where(days == days[len(days) // 2], 1.0, 0.0)

    def strongest(
        self, deviations: Array, precisions: Array, day_ratio: float
    ) -> ChosenPattern | None:
        """Return the pattern that explains the values best, or None without one that may be.

        ``deviations`` (n,) are standardised leave-one-out residuals and ``precisions`` (n,) the
        diagonal of the precision matrix of the values, zero for unknown values. Values at other days of one pattern are taken
        as independent; ``day_ratio`` is the sum of the precision matrix over the rows of one day,
        relative to its diagonal. A pattern must be there without its largest occurrence, too: one outlier
        is no pattern.
        """
        errors = deviations * np.sqrt(precisions)
        width = next((days for days, most in _LONGEST_STEPS.items() if self.step <= most), None)
        hours = _hours(self.days) if self.step <= _PART_OF_A_DAY else None
        families = [item for item in _FAMILIES.items() if width in item[1].widths]
        best: ChosenPattern | None = None
        if width is None:
            return best
        for name, family in families:
            rows, keys = _keys(family, self.days, width)
            is_known = precisions[rows] > 0.0
            rows, keys = rows[is_known], keys[is_known]
            for by_hour in (False,) if hours is None else (False, True):
                groups = keys * _HOURS + hours[rows] if by_hour and hours is not None else keys
                ratio = 1.0 if by_hour else day_ratio
                found = _strongest(
                    groups,
                    np.floor(self.days[rows]),
                    errors[rows],
                    ratio * precisions[rows],
                    _PREFERENCE if name == "date" and not by_hour else {},
                )
                if found is None:
                    continue
                group, gain, n_groups = found
                cost = float(np.log(n_groups * len(families)) + _UNLIKELY)
                gain -= cost
                if best is None or gain > best.gain + _EQUAL:
                    key, hour = divmod(group, _HOURS) if by_hour else (group, -1)
                    best = ChosenPattern(CalendarPattern(name, key, hour, width), gain, cost)
        return best


def _strongest(
    groups: Days, days: Array, errors: Array, precisions: Array, preference: dict[int, int]
) -> tuple[int, float, int] | None:
    """Return the group of rows with the largest common effect, its gain, and how many there are."""
    if not len(groups):
        return None
    # An occurrence is a day: hours of one day are not independent.
    pairs, places = np.unique(
        np.column_stack((groups, days.astype(np.int64))), axis=0, return_inverse=True
    )
    places = places.ravel()
    error = np.bincount(places, weights=errors)
    precision = np.bincount(places, weights=precisions)
    names, group_of = np.unique(pairs[:, 0], return_inverse=True)
    sums = np.bincount(group_of, weights=error)
    totals = np.bincount(group_of, weights=precision)
    counts = np.bincount(group_of)
    # The occurrence of each group that has most of the effect.
    signed = error * np.sign(sums)[group_of] / np.sqrt(precision)
    order = np.lexsort((signed, group_of))
    largest = order[np.cumsum(counts) - 1]
    rest = (sums - error[largest]) * np.sign(sums) / np.sqrt(
        np.maximum(totals - precision[largest], np.finfo(float).tiny)
    )
    several = counts >= _FEWEST
    if not several.any():
        return None
    threshold = np.sqrt(2.0 * (_UNLIKELY + np.log(len(_FAMILIES))))
    gains = np.where(several & (rest > threshold), 0.5 * sums**2 / totals, -np.inf)
    if not np.isfinite(gains.max()):
        return None
    equal = np.flatnonzero(gains >= gains.max() - _EQUAL)
    best = min(equal.tolist(), key=lambda place: preference.get(int(names[place]), len(preference)))
    return int(names[best]), float(gains[best]), int(several.sum())

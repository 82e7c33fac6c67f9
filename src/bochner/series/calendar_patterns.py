"""Days of the calendar at which a series has spikes again and again, such as ends of months."""

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bochner._base.arrays import Array, Index
from bochner._base.registry import register

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_ORDINALS = ("1st", "2nd", "3rd", "4th", "5th")

_FEASTS = {
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

_FEAST_NAMES = [_FEASTS[days] for days in sorted(_FEASTS, key=abs)]
"""Names of feasts, in order of preference."""

_FROM_EASTER = 70  # Largest distance to Easter Sunday, in days: ten weeks, up to Corpus Christi
_WELL_KNOWN = ("25 December", "1 January", "24 December", "31 December", "26 December", "4 July")
"""Dates that are preferred to other dates of the same weeks, in this order."""

_DAY, _WEEK, _MONTH = 1, 7, 31
"""Days of a row: of a day or a part of it, of a week, and of the longest month."""

_WEEKEND = 4  # Friday: weeks with dates from Friday to Sunday end at them, and others begin
_LONGEST_STEPS = {_DAY: 1.5, _WEEK: 10.0, _MONTH: 45.0}
"""Longest usual steps, in days, of rows that are days, weeks and months."""

_PART_OF_A_DAY = 0.75  # Longest usual step, in days, of parts of a day; days are one step apart
_MINUTE = 1.0 / 1440.0  # One minute in days: times are rounded by less
_FEWEST = 2  # Smallest number of occurrences of a pattern
_EQUAL = 1e-6  # Difference in nats of gains that are equal but for rounding
_UNLIKELY = float(np.log(20.0))  # Prior log odds against a pattern: one series in twenty has one


@register
@dataclass(frozen=True, slots=True)
class CalendarPattern:
    """Days of the calendar, or an hour of them, at which a series has another level."""

    label: str  # Such as "24 December" or "last day of the month"
    hour: int  # -1 for all hours
    width: int  # Days of a row, 1, 7 or 31: a row has the labels of all its days

    def __post_init__(self) -> None:
        if not (-1 <= self.hour < 24 and self.width in _LONGEST_STEPS):
            raise ValueError(f"hour {self.hour} and width {self.width} are out of range")

    @property
    def name(self) -> str:
        """The days in words, with the hour if it is one."""
        return self.label if self.hour < 0 else f"{self.label}, {self.hour}:00"

    def indicator(self, days: Array) -> Array:
        """Return one for rows with these days and hours, and zero for others, (n,).

        ``days`` (n,) are local days since 1970, with the time of day as a fraction.
        """
        labels = (_labels(day, self.width) for day in _whole(days))
        is_day = np.array([self.label in chosen.values() for chosen in labels], dtype=np.float64)
        return is_day if self.hour < 0 else is_day * (_hours(days) == self.hour)


def _whole(days: Array) -> list[int]:
    return [int(day) for day in np.floor(days + _MINUTE)]


def _hours(days: Array) -> Index:
    return np.floor((days + _MINUTE) % 1.0 * 24.0).astype(np.intp)


@lru_cache(maxsize=100_000)  # The days of all rows that a fit takes, and of their forecasts
def _labels(day: int, width: int) -> dict[str, str]:
    """Return the labels, by kind, of a row with a day since 1970."""
    first = date(1970, 1, 1) + timedelta(day)
    if width == _DAY:
        return dict(_of_day(first))
    if width == _MONTH:
        is_month = _easter(first.year).month == first.month
        return {"Easter": "month with Easter Sunday"} if is_month else {}
    number = first.isocalendar()[1]
    which, weekday = _ORDINALS[(first.day - 1) // 7], _WEEKDAYS[first.weekday()]
    if first.weekday() >= _WEEKEND:
        first -= timedelta(width - 1)
    labels = {"week": f"week {number}", "week of the month": f"{which} {weekday} of the month"}
    for ahead in range(width):
        for kind, label in _of_day(first + timedelta(ahead)):
            if kind in _OF_WEEKS and not (kind == "Easter" and "days" in label):
                labels[f"{kind} {ahead}"] = f"week with {label}"
    return labels


_OF_WEEKS = ("date", "end of the month", "day of the month", "Easter", "weekday of the year")
"""Kinds of the labels of single days that weeks have, too."""


def _of_day(day: date) -> Iterator[tuple[str, str]]:
    """Yield kinds and labels of a day, in order of preference."""
    weekday, month = day.weekday(), _MONTHS[day.month - 1]
    left = monthrange(day.year, day.month)[1] - day.day
    if left < len(_ORDINALS):
        yield "end of the month", f"{_ORDINALS[left] + ' ' if left else ''}last day of the month"
    yield "day of the month", f"day {day.day} of the month"
    if weekday < 5:
        before = sum((weekday - k) % 7 < 5 for k in range(1, day.day))
        after = sum((weekday + k) % 7 < 5 for k in range(1, left + 1))
        if before < len(_ORDINALS):
            yield "working day", f"{_ORDINALS[before]} working day of the month"
        if after < len(_ORDINALS):
            which = f"{_ORDINALS[after]} " if after else ""
            yield "working day from the end", f"{which}last working day of the month"
    number = _ORDINALS[(day.day - 1) // 7]
    yield "weekday of the month", f"{number} {_WEEKDAYS[weekday]} of the month"
    if left < 7:
        yield "last weekday of the month", f"last {_WEEKDAYS[weekday]} of the month"
    yield "date", f"{day.day} {month}"
    distance = (day - _easter(day.year)).days
    if distance in _FEASTS:
        yield "Easter", _FEASTS[distance]
    elif abs(distance) <= _FROM_EASTER:
        weeks, rest = divmod(abs(distance), 7)
        count = f"{abs(distance)} days" if rest else f"{weeks} weeks"
        yield "Easter", f"{count} {'before' if distance < 0 else 'after'} Easter Sunday"
    yield "weekday of the year", f"{'last' if left < 7 else number} {_WEEKDAYS[weekday]} of {month}"


@lru_cache(maxsize=1_000)  # Years
def _easter(year: int) -> date:
    """Return Easter Sunday of a Gregorian year, by Gauss's algorithm."""
    golden, century = year % 19, year // 100
    moon = (19 * golden + 15 + century - century // 4 - (13 + 8 * century) // 25) % 30
    moon -= (moon // 28) * (1 - (moon // 28) * (29 // (moon + 1)) * ((21 - golden) // 11))
    weekday = (year + year // 4 + moon + 2 - century + century // 4) % 7
    return date(year, 3, 28) + timedelta(moon - weekday)


class ChosenPattern(NamedTuple):
    """A pattern, its gain of log evidence in nats after the cost of choosing it, and that cost."""

    pattern: CalendarPattern
    gain: float
    cost: float


class _Kind(NamedTuple):
    """Rows (q,) with labels of one kind, the label's index for each, and the labels."""

    rows: Index
    places: Index
    labels: list[str]


class CalendarSearch:
    """Finds the pattern of the local days (n,) of the rows of a series that explains it best."""

    def __init__(self, days: Array) -> None:
        self.days, self.step = days, float(np.median(np.diff(days)))
        self.width = next((k for k, most in _LONGEST_STEPS.items() if self.step <= most), 0)
        self._hours = _hours(days) if self.step <= _PART_OF_A_DAY else None
        pairs: dict[str, list[tuple[int, str]]] = {}
        for row, day in enumerate(_whole(days) if self.width else []):
            for kind, label in _labels(day, self.width).items():
                name = kind.rstrip(" 0123456789")  # Days of a week are numbered
                pairs.setdefault(name, []).append((row, label))
        self._kinds = []
        for entries in pairs.values():
            rows, texts = zip(*entries, strict=True)
            labels, places = np.unique(texts, return_inverse=True)
            self._kinds.append(_Kind(np.array(rows), places, labels.tolist()))

    @property
    def one_day(self) -> Array | None:
        """Indicator (n,) of the rows of a day in the middle; None unless rows are parts of days."""
        days = np.array(_whole(self.days))
        return None if self._hours is None else np.equal(days, days[len(days) // 2]).astype(float)

    def strongest(
        self, deviations: Array, precisions: Array, day_ratio: float
    ) -> ChosenPattern | None:
        """Return the pattern that explains the values best, or None without one that may be.

        ``deviations`` (n,) are standardised leave-one-out residuals and ``precisions`` (n,) the
        diagonal of the precision matrix of the values, zero for unknown values. Values at other
        days of one pattern are taken as independent; ``day_ratio`` is the sum of the precision
        matrix over the rows of one day, relative to its diagonal. A pattern must be there without
        its largest occurrence, too: one outlier is no pattern.
        """
        errors, best = deviations * np.sqrt(precisions), None
        if self.width == _DAY:
            errors = self._beyond_the_week(errors, precisions)
        for kind in self._kinds:
            is_known = precisions[kind.rows] > 0.0
            rows, places = kind.rows[is_known], kind.places[is_known]
            for by_hour in (False,) if self._hours is None else (False, True):
                groups, hours = places, 1
                if by_hour and self._hours is not None:
                    groups, hours = 24 * places + self._hours[rows], 24
                gains = _gains(
                    groups,
                    np.floor(self.days[rows] + _MINUTE),
                    errors[rows],
                    precisions[rows] * (1.0 if by_hour else day_ratio),
                    _UNLIKELY + float(np.log(len(self._kinds))),
                )
                n_options = int(np.sum(~np.isnan(gains)))
                if not n_options or np.isneginf(np.nanmax(gains)):
                    continue
                cost = _UNLIKELY + float(np.log(n_options * len(self._kinds)))
                gain = float(np.nanmax(gains))
                if best is None or gain - cost > best.gain + _EQUAL:
                    equal = np.flatnonzero(gains >= gain - _EQUAL)
                    group = min(equal.tolist(), key=lambda k: _rank(kind.labels[k // hours]))
                    label, hour = kind.labels[group // hours], group % 24 if by_hour else -1
                    best = ChosenPattern(
                        CalendarPattern(label, hour, self.width), gain - cost, cost
                    )
        return best

    def _beyond_the_week(self, errors: Array, precisions: Array) -> Array:
        """Return errors (n,) less the usual effect of their weekday and hour.

        A week that the model does not fit would look like Fridays of some weeks of the month.
        """
        weekdays = (np.array(_whole(self.days)) + 3) % 7
        cells = weekdays if self._hours is None else 24 * weekdays + self._hours
        known, usual = precisions > 0.0, np.zeros(int(cells.max()) + 1)
        for cell in np.unique(cells[known]):
            rows = known & (cells == cell)
            usual[cell] = np.median(errors[rows] / precisions[rows])
        return np.where(known, errors - precisions * usual[cells], 0.0)


def _rank(label: str) -> int:
    words, names = label.removeprefix("week with "), [*_WELL_KNOWN, *_FEAST_NAMES]
    return names.index(words) if words in names else len(names)


def _gains(groups: Index, days: Array, errors: Array, precisions: Array, least: float) -> Array:
    """Return the gain of log evidence by a common effect of each group of rows (g,).

    It is NaN for a group on fewer than two days, and minus infinity for one whose gain without its
    largest day is not above ``least``. Hours of one day are one occurrence.
    """
    if not len(groups):
        return np.zeros(0)
    pairs, which = np.unique(np.column_stack((groups, days)), axis=0, return_inverse=True)
    group_of = pairs[:, 0].astype(np.intp)
    error = np.bincount(which.ravel(), errors)
    precision = np.bincount(which.ravel(), precisions)
    sums, totals = np.bincount(group_of, error), np.bincount(group_of, precision)
    counts, signs = np.bincount(group_of), np.sign(sums)
    order = np.lexsort((error * signs[group_of] / np.sqrt(precision), group_of))
    present = np.flatnonzero(counts)
    largest = np.zeros(len(counts), dtype=np.intp)
    largest[present] = order[np.cumsum(counts[present]) - 1]
    gains = np.full(len(counts), np.nan)
    several = counts >= _FEWEST
    others = (sums - error[largest])[several] * signs[several]
    rest = np.maximum(others, 0.0) ** 2 / (totals - precision[largest])[several]
    whole = 0.5 * sums[several] ** 2 / totals[several]
    gains[several] = np.where(0.5 * rest > least, whole, -np.inf)
    return gains

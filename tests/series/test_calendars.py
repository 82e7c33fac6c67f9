"""Calendars of dates with holes: forecasts go on by the offset of pandas, whatever is missing."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from pandas.tseries.holiday import USFederalHolidayCalendar
from pandas.tseries.offsets import CustomBusinessDay, CustomBusinessMonthEnd

from bochner.files.stamps import as_text, from_text
from bochner.series.timelines import timed

N, AHEAD = 40, 14
"""Dates of a series, and steps of a forecast."""

STARTS = ["2023-09-14", "2024-02-13", "2023-10-28", "2024-03-30"]
"""Days of Europe whose clocks change within the forecast of days, or within the series of hours."""

WEEKDAYS = CustomBusinessDay(weekmask="Sun Mon Tue Wed Thu")

CALENDARS = {
    **dict.fromkeys(["D", "2D", "B", "W-MON", "2W-FRI", "h", "6h", "15min", "20s"]),
    **dict.fromkeys(["MS", "ME", "BMS", "BME", "2MS", "2BME", "SME-15", "WOM-2TUE"]),
    **dict.fromkeys(["QS-JAN", "QE-FEB", "BQS-MAR", "BQE-DEC"]),
    **dict.fromkeys(["YS-JAN", "YE-JUN", "BYS-APR", "BYE-DEC", "2YS-JAN"]),
    "Sunday to Thursday": WEEKDAYS,
    "Monday to Saturday": CustomBusinessDay(weekmask="Mon Tue Wed Thu Fri Sat"),
    "Monday, Thursday": CustomBusinessDay(weekmask="Mon Thu"),
}
CALENDARS = {
    name: from_text(name) if offset is None else offset for name, offset in CALENDARS.items()
}

HOLES = {
    "none": [], "one": [17], "first and last": [0, N - 1], "last but one": [N - 2],
    "two together": [20, 21], "several": [3, 11, 12, 13, 30, 36],
    "many": [2, 5, 8, 14, 15, 19, 22, 26, 29, 33], "a gap": list(range(8, 28)),
}  # fmt: skip

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"]
"""In Santiago clocks are turned forward at midnight, and in Lord Howe by half an hour."""


def dates(offset, zone, start=STARTS[0], count=N, at="0h"):
    return pd.date_range(
        pd.Timestamp(start) + pd.Timedelta(at), periods=count, freq=offset, tz=zone
    )


def without_frequency(index):
    return (
        pd.DatetimeIndex(index.to_numpy(), tz="UTC").tz_convert(index.tz)
        if index.tz
        else (pd.DatetimeIndex(index.to_numpy()))
    )


def goes_on(index, offset, kept):
    """The law: a forecast from the dates that are left goes on by the offset."""
    left = without_frequency(index)[kept]
    assert left.freq is None
    found = timed(left)
    future = found.timeline.future(AHEAD)
    expected = pd.date_range(left[-1], periods=AHEAD + 1, freq=offset)[1:]
    assert future.index.equals(expected), (future.index[:3], expected[:3], found.timeline)
    # Across a hole there are as many steps as there are dates on the calendar.
    assert_allclose(found.numbers, timed(index).numbers[kept], rtol=1e-12)
    assert_allclose(future.numbers, timed(left.append(expected)).numbers[len(left) :], rtol=1e-12)
    assert_allclose(found.timeline.future(expected).numbers, future.numbers, rtol=1e-12)


@pytest.mark.parametrize("name", CALENDARS)
def test_dates_go_on_by_their_calendar(name):
    index = dates(CALENDARS[name], None)
    for holes in HOLES.values():
        goes_on(index, CALENDARS[name], np.setdiff1d(np.arange(N), holes))


OPENING = {
    "pandas'": pd.offsets.BusinessHour(),
    "eight to four": pd.offsets.BusinessHour(start="08:00", end="16:00"),
    "half past nine": pd.offsets.BusinessHour(start="09:30", end="15:30"),
    "with Saturdays": pd.offsets.CustomBusinessHour(
        start="07:00", end="20:00", weekmask="Mon Tue Wed Thu Fri Sat"
    ),
    "every day": pd.offsets.CustomBusinessHour(start="10:00", end="19:00", weekmask="1111111"),
}


@pytest.mark.parametrize("name", OPENING)
def test_business_hours_go_on_when_they_open(name):
    """pandas infers business hours whichever they are, and goes on as if they began at nine."""
    offset = OPENING[name]
    for zone in (None, "Europe/Berlin"):
        index = pd.date_range("2023-10-02 10:30", periods=230, freq=offset, tz=zone)
        index = index[1:] if index[0].minute != index[1].minute else index
        for holes in ([], [4, 5, 6], [0, 50, 81, 120, 121, 200], list(range(90, 150))):
            left = without_frequency(index).delete(holes)
            future = timed(left).timeline.future(80).index
            expected = pd.date_range(left[-1], periods=81, freq=offset)[1:]
            assert future.equals(expected), (zone, holes, timed(left).timeline.frequency)


IN_ZONES = ["D", "B", "W-MON", "h", "15min", "MS", "BME", "QS-JAN"]


def check_in_zone(zone, start, names):
    """At eight o'clock, since pandas refuses midnights that clocks leave out."""
    for name in names:
        index = dates(CALENDARS[name], zone, start, at="8h")
        for holes in HOLES.values():
            goes_on(index, CALENDARS[name], np.setdiff1d(np.arange(N), holes))


@pytest.mark.parametrize("start", STARTS)
def test_dates_of_a_zone_go_on_by_their_calendar(start):
    check_in_zone("Europe/Berlin", start, ["D", "h", "MS"])


@pytest.mark.thorough
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("zone", ZONES)
def test_dates_of_many_zones_go_on_by_their_calendar(zone, start):
    check_in_zone(zone, start, IN_ZONES)


@pytest.mark.parametrize("zone", ZONES[1:])
def test_times_that_clocks_leave_out(zone):
    """Daily dates at a time that one day does not have are an hour later, or half of one, there."""
    days = pd.date_range("2024-01-01", "2024-12-31").delete([3, 40, 41, 200])
    at = {"America/Santiago": "0h", "Australia/Lord_Howe": "2h"}.get(zone, "2h30min")
    shown = days + pd.Timedelta(at)
    once = np.ones(len(shown), dtype=bool)
    index = shown.tz_localize(zone, ambiguous=once, nonexistent="shift_forward")
    assert (index.tz_localize(None) != shown).sum() == 1
    for last in range(60, len(index) - 10, 7):
        if index[last - 1].tz_localize(None) == shown[last - 1]:
            found = timed(index[:last]).timeline.future(10).index
            later = pd.date_range(shown[last - 1], periods=11)[1:]
            once = np.ones(len(later), dtype=bool)
            assert found.equals(
                later.tz_localize(zone, ambiguous=once, nonexistent="shift_forward")
            )


@pytest.mark.parametrize(
    "offset", [WEEKDAYS, CustomBusinessDay(calendar=USFederalHolidayCalendar())]
)
def test_an_index_knows_its_holidays(offset):
    index = pd.date_range("2024-10-01", periods=N, freq=offset)
    future = timed(index).timeline.future(60).index
    assert future.equals(pd.date_range(index[-1], periods=61, freq=offset)[1:])


OFFSETS = [
    *CALENDARS.values(),
    CustomBusinessDay(holidays=["2021-12-24"]),
    CustomBusinessMonthEnd(holidays=["2021-12-31"]),
    pd.offsets.BusinessHour(start="10:00", end="15:30"),
    pd.offsets.CustomBusinessHour(weekmask="Mon Tue", holidays=["2021-12-24"]),
    pd.DateOffset(months=1),
    pd.DateOffset(months=1, days=3),
    pd.offsets.Easter(),
    pd.offsets.FY5253(weekday=4, startingMonth=1),
]


@pytest.mark.parametrize("offset", OFFSETS, ids=str)
def test_offsets_are_told_by_text(offset):
    again = from_text(as_text(offset))
    start = pd.Timestamp("2021-11-15 11:00")
    expected = pd.date_range(start, periods=60, freq=offset)
    assert pd.date_range(start, periods=60, freq=again).equals(expected)
    index = pd.date_range(start, periods=20, freq=offset)
    assert timed(index).timeline.future(40).index.equals(expected[20:])


@pytest.mark.parametrize(
    "text", ['{"offset": "Tick"}', '{"offset": "Day", "n": 1}', "{}", "fortnight"]
)
def test_texts_of_no_offset(text):
    with pytest.raises(ValueError, match=r"offset|[Ii]nvalid frequency"):
        from_text(text)


def test_a_third_of_the_days_is_not_a_calendar_of_weekdays():
    """Days that are missing at random are days, though by chance no Saturday is left."""
    days = pd.date_range("2024-01-01", periods=16)[[0, 1, 2, 4, 6, 7, 8, 10, 11, 13, 14, 15]]
    assert 5 not in set(days.day_of_week)
    future = timed(days).timeline.future(6).index
    assert future.equals(pd.date_range("2024-01-17", periods=6))


def test_times_that_are_not_on_a_calendar_keep_their_step():
    rng = np.random.default_rng(0)
    times = pd.date_range("2024-01-01", periods=60, freq="h") + pd.to_timedelta(
        rng.integers(-9, 9, 60), "s"
    )
    found = timed(times).timeline
    assert found.frequency is None
    assert abs(found.future(1).index[0] - times[-1] - pd.Timedelta("1h")) < pd.Timedelta("30s")
    irregular = pd.Timestamp("2024-01-01") + pd.to_timedelta(
        np.cumsum(rng.exponential(size=60)), "h"
    )
    assert timed(irregular).timeline.step is None


def test_given_dates_are_taken_to_the_clock_of_the_series():
    """Clocks are one hour ahead of UTC in winter, and two in summer, whatever zone is given."""
    hours = pd.date_range("2023-10-01", periods=40 * 24, freq="h", tz="Europe/Berlin")
    found = timed(hours[:500])
    expected = np.array([hour.utcoffset() / pd.Timedelta("1D") for hour in hours[500:]])
    ahead = found.timeline.future(460)
    assert_allclose(found.clock, 2.0 / 24.0, atol=1e-9)
    assert_allclose(ahead.clock, expected, atol=1e-9)
    later = hours[500:]
    for given in (later, later.tz_convert("Asia/Tokyo"), [str(hour) for hour in later]):
        assert_allclose(found.timeline.future(given).clock, ahead.clock)
    without = pd.date_range("2023-10-01", periods=40, freq="h")
    assert timed(without).clock is timed(without).timeline.future(3).clock is None


BY_CLOCK = [24.0, 168.0, 12.0, 3.43, 24 * 365.25]
BY_UTC = [5.0, 12.42, 24.84, 25.0, 24 * 29.53]


@pytest.mark.parametrize(
    ("hours", "follows"),
    [*((length, True) for length in BY_CLOCK), *((length, False) for length in BY_UTC)],
)
def test_periods_of_the_clock(hours, follows):
    """Tides and the moon follow UTC, as do five hours."""
    index = pd.date_range("2023-10-01", periods=40, freq="h", tz="Europe/Berlin")
    assert timed(index).timeline.follows_clock(hours / 24.0) == follows
    assert not timed(index.tz_localize(None)).timeline.follows_clock(hours / 24.0)


def test_months_by_their_last_business_day():
    """Numbers are whole months there, and between two of them proportional to time."""
    index = pd.date_range("2024-01-31", periods=24, freq="BME")
    found = timed(index)
    assert found.timeline.kind == "months"
    assert found.timeline.step == 1.0
    assert_allclose(np.diff(found.numbers), 1.0)
    last, later = index[-1], pd.date_range(index[-1], periods=3, freq="BME")[1:]
    days = pd.date_range(last, later[-1])[1:]
    numbers = found.timeline.future(days).numbers - found.numbers[-1]
    expected = np.interp(
        days.asi8, [last.value // 1000, *(d.value // 1000 for d in later)], [0, 1, 2]
    )
    assert_allclose(numbers, expected, atol=1e-9)
    assert [name for _, name in found.timeline.calendar] == ["year"]

"""Times of series: numbers, dates, months, and where a horizon leads."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner.series.timelines import steps, timed

REGULAR = [
    pd.date_range("2000-01-31", periods=30, freq="ME"),
    pd.date_range("2000-01-01", periods=30, freq="MS"),
    pd.date_range("2000-03-31", periods=30, freq="QE"),
    pd.date_range("2000-01-01", periods=30, freq="YS"),
    pd.date_range("2000-01-02", periods=30, freq="W"),
    pd.date_range("2020-01-01", periods=30, freq="B"),
    pd.date_range("2000-03-30", periods=30, freq="30min"),
    pd.date_range("2000-03-20", periods=30, freq="D", tz="Europe/Berlin"),
    pd.date_range("2000-01-01", periods=30, freq="MS", tz="Europe/Berlin"),
    pd.period_range("2000-01", periods=30, freq="M"),
    pd.period_range("2000Q1", periods=30, freq="Q"),
    pd.period_range("2000-01-03", periods=30, freq="W"), pd.RangeIndex(30),
    pd.Index(np.arange(5.0, 20.0, 0.5)),
]  # fmt: skip


@pytest.mark.parametrize("index", REGULAR, ids=lambda index: str(index[:2].tolist()))
def test_a_horizon_goes_on_as_the_index_does(index):
    timeline = timed(index[:24]).timeline
    timeline.check()
    if timeline.frequency is not None:
        with pytest.raises(ValueError, match="requency"):
            replace(timeline, frequency="sometimes").check()
    future = timeline.future(6)
    assert future.index.equals(index[24:]) or list(future.index) == list(index[24:])
    assert_allclose(future.numbers, timed(index).numbers[24:])
    assert_allclose(timeline.future(index[24:]).numbers, future.numbers)


@pytest.mark.parametrize("index", REGULAR[:12], ids=lambda index: str(index[:2].tolist()))
def test_missing_rows_leave_the_step(index):
    """See also `test_calendars`."""
    kept = index[[*range(5), *range(7, 20), *range(21, 24)]]
    if isinstance(kept, pd.DatetimeIndex):
        kept = pd.DatetimeIndex(kept.to_numpy()) if index.tz is None else kept
    assert list(timed(kept).timeline.future(2).index) == list(index[24:26])


@pytest.mark.parametrize(
    ("index", "kind", "names"),
    [
        (REGULAR[0], "months", ["year"]),
        (REGULAR[2], "months", ["year"]),
        (REGULAR[4], "days", ["day", "week", "year"]),
        (REGULAR[12], "steps", []),
        (REGULAR[13], "numbers", []),
    ],
)
def test_the_calendar(index, kind, names):
    timeline = timed(index).timeline
    assert timeline.kind == kind
    assert [name for _, name in timeline.calendar] == names


@pytest.mark.parametrize(
    ("index", "period", "name"),
    [
        (REGULAR[0], 128.4, "10.7 years"),
        (REGULAR[0], 4.0, "4 months"),
        (REGULAR[4], 365.3, "year"),
        (REGULAR[4], 27.3, "27.3 days"),
        (REGULAR[6], 0.5, "12 hours"),
        (REGULAR[6], 0.01, "14.4 minutes"),
        (REGULAR[12], 12.0, "12 steps"),
        (REGULAR[13], 1.0, "1 unit"),
    ],
)
def test_names_of_periods(index, period, name):
    assert timed(index).timeline.name(period) == name


def test_a_zone_does_not_move_months_but_hours():
    """Clocks change in March and October."""
    months = timed(pd.date_range("2000-01-01", periods=24, freq="MS", tz="Europe/Berlin"))
    assert months.timeline.kind == "months"
    hours = timed(pd.date_range("2000-03-26", periods=24, freq="h", tz="Europe/Berlin"))
    assert_allclose(np.diff(hours.numbers), 1 / 24)


def test_irregular_times_have_no_step():
    timeline = timed(np.array([0.0, 1.0, 3.0, 7.0, 12.0])).timeline
    assert timeline.step is None
    with pytest.raises(ValueError, match="irregular, so that a horizon has no unit"):
        timeline.future(3)
    assert timeline.future([13.0, 14.0]).numbers.tolist() == [13.0, 14.0]


DAILY = timed(pd.date_range("2020-01-01", periods=9)).timeline


@pytest.mark.parametrize(
    ("horizon", "error", "message"),
    [
        (0, ValueError, "at least 1 step, got 0"),
        (2.5, TypeError, "an integer, or an array of times"),
        (True, TypeError, "got True"),
        ([1.0, 2.0], TypeError, "has dates for times, and the times to predict at are numbers"),
        (pd.DatetimeIndex(["2020-02-01"] * 2), ValueError, "some are repeated"),
        (pd.DatetimeIndex(["2020-02-01"], tz="UTC"), ValueError, "predict at have a time zone"),
        (pd.DatetimeIndex(["2020-02-01", None]), ValueError, "missing \\(NaT\\)"),
        ([], ValueError, "shape \\(n,\\) with n > 0"),
        (["soon"], TypeError, "got 'soon' first"),
    ],
)
def test_horizons_that_are_none(horizon, error, message):
    with pytest.raises(error, match=message):
        DAILY.future(horizon)


def test_numbers_are_not_dates():
    with pytest.raises(TypeError, match="has positions for times"):
        steps(5).timeline.future(pd.date_range("2020-01-01", periods=2))
    zoned = timed(pd.date_range("2020-01-01", periods=9, tz="UTC")).timeline
    with pytest.raises(ValueError, match="series has a time zone"):
        zoned.future(pd.date_range("2020-02-01", periods=2))


def test_dates_beyond_nanoseconds_are_refused():
    """They would be other dates: NumPy's conversion wraps around."""
    years = np.array(["1000-01-01", "2000-01-01"], dtype="M8[s]")
    with pytest.raises(ValueError, match="between the years 1678 and 2262, got 1000-01-01"):
        timed(years)
    assert timed(np.array([np.datetime64("NaT", "ns"), "2000-01-01"], "M8[ns]")[1:]).numbers.size


@pytest.mark.parametrize("horizon", [10**9, 2**70])
def test_horizons_have_a_bound(horizon):
    with pytest.raises(ValueError, match="horizon must be at most 10,000,000 steps, got 1,"):
        steps(9).timeline.future(horizon)


def test_half_of_the_steps_are_usual():
    """A step is usual if at least half of the steps have its length, whose median it is."""
    for lengths, expected in (([1, 2, 2, 3], 2.0), ([1, 2, 3, 4, 2], None), ([1, 2, 2], 2.0)):
        times = np.concatenate(([0.0], np.cumsum(lengths)))
        assert timed(times).timeline.step == expected


def test_ends_of_months_are_in_their_own_month():
    dates = pd.date_range("2020-01-01", periods=30, freq="MS") - pd.Timedelta(1, "D")
    numbers, timeline, clock = timed(dates)
    found = timeline.local_days(numbers, clock).astype("M8[D]")
    assert_array_equal(found, dates.to_numpy().astype("M8[M]").astype("M8[D]"))

"""Holidays of a country as inputs, next to dates that are known by heart."""

import numpy as np
import pandas as pd
import pytest

from bochner.files.errors import InputError
from bochner.series.calendars import holiday_inputs

holidays = pytest.importorskip("holidays")

DAYS = pd.date_range("2019-01-01", "2021-12-31")


def test_holidays_of_germany():
    found = holiday_inputs(DAYS, len(DAYS), "DE").set_axis(DAYS)
    assert list(found.index[found["Good Friday"] == 1.0].strftime("%m-%d")) == [
        "04-19", "04-10", "04-02",
    ]  # fmt: skip
    assert found["Christmas Day"].sum() == 3.0
    assert found.loc["2020-10-03"].sum() == 1.0
    assert found.loc["2020-07-01"].sum() == 0.0
    assert not {"Corpus Christi", "Epiphany"} & set(found)
    assert "Epiphany" in holiday_inputs(DAYS, len(DAYS), "DE-BY")


def test_holidays_of_one_date_share_an_effect():
    """Of one year and a half, holidays of the second half are known once."""
    n_known = 540
    found = holiday_inputs(DAYS, n_known, "DE").set_axis(DAYS)
    assert "Christmas Day" not in found
    assert found["New Year's Day"].iloc[:n_known].sum() == 2.0
    assert found.loc["2021-12-25", "other holidays"] == 1.0
    assert (found.iloc[:n_known].sum() > 0.0).all()


def test_all_hours_of_a_date_are_one_date():
    """A holiday of one date has no effect of its own in series of hours either."""
    n_known = 540
    daily = holiday_inputs(DAYS, n_known, "DE")
    hours = pd.date_range(DAYS[0], periods=24 * len(DAYS), freq="h")
    hourly = holiday_inputs(hours, 24 * n_known, "DE")
    assert list(hourly) == list(daily)
    np.testing.assert_array_equal(hourly, np.repeat(daily.to_numpy(), 24, axis=0))


def test_hours_follow_the_local_clock():
    hours = pd.date_range("2020-12-24 20:00", periods=96, freq="h", tz="Europe/Berlin")
    found = holiday_inputs(hours, 96, "DE").sum(axis=1).to_numpy()
    np.testing.assert_array_equal(np.flatnonzero(found), np.arange(4, 52))


LONG = {
    "months": (pd.date_range("2014-01-31", periods=72, freq="ME"), "M", 0),
    "quarters": (pd.date_range("2014-03-31", periods=24, freq="QE"), "Q", 0),
    "first months of quarters": (pd.date_range("2014-01-01", periods=24, freq="QS"), "Q", 0),
    "weeks to Saturday": (pd.date_range("2014-01-04", periods=200, freq="W-SAT"), "W-SAT", 0),
    "weeks from Tuesday": (pd.date_range("2014-01-07", periods=200, freq="W-TUE"), "W-MON", 6),
}


@pytest.mark.parametrize("kind", LONG)
def test_long_steps_count_their_days(kind):
    """Days of each row are those of pandas' period; weeks with dates of weekends end at them."""
    dates, code, ahead = LONG[kind]
    periods = (dates + pd.Timedelta(ahead, "D")).to_period(code)
    found = holiday_inputs(dates, len(dates), "GB-SCT")
    by_name = holidays.country_holidays("GB", subdiv="SCT", years=range(2013, 2021))
    dated = pd.Series({pd.Timestamp(day): name for day, name in by_name.items()})
    row = pd.PeriodIndex(dated.index, freq=code)
    for name in set(found) - {"working days", "other holidays"}:
        counts = [(row[dated == name] == period).sum() for period in periods]
        np.testing.assert_array_equal(found[name], counts)
    assert ("Good Friday" in found) == (code != "Q")
    assert ("Christmas Day" in found) == code.startswith("W")
    assert ("working days" in found) == (code in "MQ")
    if code in "MQ":
        for period, count in zip(periods, found["working days"], strict=True):
            days = pd.date_range(period.start_time, period.end_time.normalize(), freq="B")
            assert count == len(days.difference(dated.index))


@pytest.mark.parametrize(
    ("times", "place", "message"),
    [
        (DAYS, "XX", "no calendar of holidays for 'XX': expected the code of a country"),
        (DAYS, "DE-XX", "expected DE, or DE- and one of BB"),
        (pd.date_range("2000-01-01", periods=12, freq="YS"), "DE", "steps of at most a quarter"),
        (np.arange(10.0), "DE", "--holidays needs dates"),
        (DAYS[180:190], "DE", "No holiday of DE is among the dates"),
    ],
)
def test_what_has_no_holidays_is_refused(times, place, message):
    with pytest.raises(InputError, match=message):
        holiday_inputs(times, len(times), place)

"""Bugs in the calendars of dates and in seasons by the clock, with the tests that notice them."""

import numpy as np
from mutants.registry import changes, edit, plant_edits, planted
from series import test_calendars
from series import test_forecaster_calendars as forecasts
from series.test_calibration import assert_calibration
from series.test_series_law import LATER, assert_predictions
from series.test_series_model import assert_evidence

from bochner.files import stamps as offsets
from bochner.series import calendars, rolling_origins, timelines
from bochner.series.components import Waves
from bochner.series.series_model import ScaledSeries
from bochner.series.timelines import Timeline


def goes_on(*names):
    return tuple(
        lambda name=name: test_calendars.test_dates_go_on_by_their_calendar(name) for name in names
    )


@changes(
    calendars,
    "_with_holes",
    *goes_on("B", "Sunday to Thursday"),
    lambda: test_calendars.test_dates_of_a_zone_go_on_by_their_calendar(test_calendars.STARTS[0]),
)
def dates_with_holes_have_no_calendar(right, *arguments):
    return None


planted(
    test_calendars.test_a_third_of_the_days_is_not_a_calendar_of_weekdays,
    name="weekdays_are_chosen_at_no_cost",
)(edit(calendars, "_daily", "places, _WEEKMASKS", "places"))


planted(test_calendars.test_months_by_their_last_business_day, name="months_are_read_off_midway")(
    edit(
        calendars,
        "month_numbers",
        "nanoseconds[before + 1] - nanoseconds[before])\n",
        "1e9 * 86_400 * 31.0)\n",
        timelines,
    )
)

planted(
    lambda: test_calendars.test_an_index_knows_its_holidays(test_calendars.WEEKDAYS),
    name="offsets_are_known_by_their_short_names",
)(edit(offsets, "as_text", "to_offset(text) == offset", "to_offset(text)"))


@changes(
    offsets, "localised", lambda: test_calendars.test_times_that_clocks_leave_out("Europe/Berlin")
)
def times_that_are_left_out_move_back(right, shown, zone):
    twice = np.ones(len(shown), dtype=bool)
    return shown.tz_localize(zone, ambiguous=twice, nonexistent="shift_backward")


def tides():
    forecasts.test_tides_follow_utc()


@changes(Timeline, "follows_clock", tides)
def tides_follow_the_clock(right, *arguments):
    return True


@changes(
    timelines,
    "on_clock_of",
    lambda: test_calendars.test_given_dates_are_taken_to_the_clock_of_the_series(),
)
def given_dates_keep_their_clock(right, dates, zone):
    return dates


plant_edits(Waves, "weights", lambda: assert_evidence("clock"),
    phases_turn_back=("np.sin(angle)", "-np.sin(angle)"),
    )  # fmt: skip

planted(
    lambda: assert_calibration("clock"),
    lambda: assert_predictions("clock", LATER),
    name="parts_of_rows_have_no_clock",
)(edit(ScaledSeries, "part", "self.inputs[which], clock)", "self.inputs[which])"))


planted(
    lambda: forecasts.test_seasons_of_errors_are_counted_on_the_calendar("B", 5),
    name="a_week_of_business_days_has_seven",
)(edit(rolling_origins, "calendar_steps", "round(np.sum(", "round(length / step + 0.0 * np.sum("))


@changes(
    calendars,
    "_inferred",
    lambda: test_calendars.test_business_hours_go_on_when_they_open("eight to four"),
)
def business_hours_begin_at_nine(right, index):
    found = right(index)
    apart = np.diff(index.asi8)
    return "bh" if found is None and apart.min() < apart.max() == apart.min() * 65 else found

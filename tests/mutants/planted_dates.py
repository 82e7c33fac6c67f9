"""Bugs in the dates of files, each with the test that must notice it."""

import pytest
from files import test_date_rules, test_joined_dates, test_series_table
from mutants.registry import plant_edits, planted

from bochner.files import date_forms, joined_dates, local_dates, series_table
from bochner.files.errors import InputError

plant_edits(local_dates, "_days", test_date_rules.test_days_that_months_lack_are_not_moved,
    days_that_months_lack_are_moved=(' & (days.astype("datetime64[M]") == months)', ""),
)  # fmt: skip

plant_edits(local_dates, "read_texts",
    lambda: test_date_rules.test_any_date_is_read_as_it_was_written("%Y/%m/%d %I:%M:%S %p GMT+2"),
    local_times_are_taken_for_utc=("_time_of_day(clocks) - offset", "_time_of_day(clocks)"),
    )  # fmt: skip

plant_edits(local_dates, "_halves",
    lambda: test_date_rules.test_long_columns_are_read_like_short_ones("day first"),
    days_without_a_time_of_day_are_lost=("if halves.null_count:", "if False:"))  # fmt: skip

plant_edits(local_dates, "_time_of_day", test_date_rules.test_hours_to_24,
    a_day_ends_before_24=("time <= 24", "time < 24"))  # fmt: skip

plant_edits(date_forms, "_are_fiscal_years", test_date_rules.test_months_are_no_fiscal_years,
    one_month_is_a_fiscal_year=("len(pairs) > 1 and all(", "any("))  # fmt: skip


def check_clocks():
    try:
        test_series_table.test_hours_that_clocks_repeat_are_averaged("Europe/Paris", "h")
        test_series_table.test_other_hours_that_repeat_are_refused("2024-10-20 02:00:00")
    except (InputError, pytest.fail.Exception) as error:
        raise AssertionError from error


plant_edits(series_table, "_come_again", check_clocks,
    every_hour_may_come_twice=("any(utc.is_unique", "any(True"),
    )  # fmt: skip
planted(lambda: test_joined_dates.test_parts_of_times_are_joined("days of months"),
        name="the_day_of_a_month_is_its_month")(
    lambda patch: patch.setattr(joined_dates, "_DAYS", joined_dates._NUMBERED)
)  # fmt: skip

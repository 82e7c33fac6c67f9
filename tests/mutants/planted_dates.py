"""Bugs in the dates of files, each with the test that must notice it."""

from files import test_date_rules
from mutants.planted_reading import in_folder
from mutants.registry import plant_edits

from bochner.files import date_forms, date_rule, local_dates

plant_edits(local_dates, "number_dates",
    in_folder(test_date_rules.test_ordinary_numbers_stay_numbers, "pin"), users=(date_rule,),
    numbers_of_the_size_of_dates_are_dates=("is_like_no_other or _is_even", "True or _is_even"),
)  # fmt: skip

plant_edits(local_dates, "_days", test_date_rules.test_days_that_months_lack_are_not_moved,
    days_that_months_lack_are_moved=(' & (days.astype("datetime64[M]") == months)', ""),
)  # fmt: skip

plant_edits(local_dates, "read_texts",
    lambda: test_date_rules.test_any_date_is_read_as_it_was_written("%Y/%m/%d %I:%M:%S %p GMT+2"),
    local_times_are_taken_for_utc=("_time_of_day(clocks) - offset", "_time_of_day(clocks)"),
    times_of_day_are_lost=("month, day)[days.rows] + clock", "month, day)[days.rows]"))  # fmt: skip

plant_edits(local_dates, "_halves",
    lambda: test_date_rules.test_long_columns_are_read_like_short_ones("day first"),
    days_without_a_time_of_day_are_lost=("if halves.null_count:", "if False:"))  # fmt: skip

plant_edits(local_dates, "_time_of_day", test_date_rules.test_hours_to_24,
    a_day_ends_before_24=("time <= 24", "time < 24"))  # fmt: skip

plant_edits(date_forms, "_are_fiscal_years", test_date_rules.test_months_are_no_fiscal_years,
    one_month_is_a_fiscal_year=("len(pairs) > 1 and all(", "any("))  # fmt: skip

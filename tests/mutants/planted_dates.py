"""Bugs in the dates of files, each with the test that must notice it."""

from files import test_date_rules
from mutants.planted_reading import in_folder
from mutants.registry import plant_edits

from bochner.files import date_forms, date_rule, local_dates, number_dates

plant_edits(
    number_dates,
    "number_dates",
    in_folder(test_date_rules.test_ordinary_numbers_stay_numbers, "pin"),
    users=(date_rule,),
    numbers_of_the_size_of_dates_are_dates=("or is_named or _is_even", "or True or _is_even"),
)

plant_edits(
    local_dates,
    "_day_of",
    test_date_rules.test_days_that_months_lack_are_not_moved,
    days_that_months_lack_are_moved=(
        'date(year, month, int(parts.get("day", 1)))',
        'date(year, month, 1) + timedelta(int(parts.get("day", 1)) - 1)',
    ),
)

plant_edits(
    local_dates,
    "read_texts",
    lambda: test_date_rules.test_long_columns_are_read_like_short_ones("day first"),
    days_without_a_time_of_day_are_lost=("texts.is_valid())", "texts.is_null())"),
    times_of_day_are_lost=("by_day + (by_clock - ", "by_day + 0 * (by_clock - "),
)

plant_edits(
    local_dates,
    "_time_of_day",
    test_date_rules.test_hours_to_24,
    a_day_ends_before_24=("time > timedelta(days=1)", "time >= timedelta(days=1)"),
)

plant_edits(
    date_forms,
    "_are_fiscal_years",
    test_date_rules.test_months_are_no_fiscal_years,
    one_month_is_a_fiscal_year=("len(pairs) > 1 and all(", "any("),
)

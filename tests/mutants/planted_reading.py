"""Bugs in the reading of files, each with the test that must notice it."""

from pathlib import Path
from tempfile import TemporaryDirectory

from files.test_identifiers import N, TestText, TestWholeNumbers
from files.test_local_dates import (
    RISING,
    WEST,
    test_an_order_that_no_entry_shows,
    test_offsets_from_utc_are_kept,
)
from files.test_local_numbers import test_groups_of_three_digits_follow_the_other_columns
from files.written import column
from mutants.registry import changes, edit, planted

from bochner.files import date_rule, identifiers, local_dates
from bochner.files.number_rule import NumberRule


def in_folder(test, *arguments):
    """A test that writes files, without its arguments."""

    def check():
        with TemporaryDirectory() as folder:
            test(Path(folder), *arguments)

    return check


DIFFERENT = [(7 * i) % 101 for i in range(N)]

planted(
    in_folder(TestWholeNumbers().test_others_stay, "size", DIFFERENT),
    name="measurements_that_differ_are_identifiers",
)(edit(identifiers, "_reason_of_numbers", "if _names_identifiers(words)", "if True"))


@changes(
    identifiers,
    "_is_nearly_unique",
    in_folder(TestText().test_nearly_unique, [f"name {i}" for i in range(N)], True),
)
def short_tables_have_no_identifiers(right, series):
    return len(series) > 256 and right(series)


planted(
    in_folder(
        test_groups_of_three_digits_follow_the_other_columns, "0,5", 1.234, "decimals are assumed"
    ),
    name="other_columns_do_not_vote_on_the_decimal_mark",
)(edit(NumberRule, "settle", 'counts[","] > counts["."]', "False"))

planted(
    in_folder(
        test_an_order_that_no_entry_shows, column(*RISING, delimiter=","), "day", "rise from row"
    ),
    name="the_order_of_rows_is_no_evidence",
)(edit(date_rule, "_open_order", "len(rising) == 1", "False"))

planted(
    in_folder(test_offsets_from_utc_are_kept, ["2021-12-31 01:00-0130", "2021-12-31 2:30"]),
    name="zones_have_no_sign",
)(edit(local_dates, "_offset_of", 'int(f"{match[1]}1") * ', ""))
planted(in_folder(test_offsets_from_utc_are_kept, WEST), name="minutes_of_zones_have_no_sign")(
    edit(
        local_dates,
        "_offset_of",
        "(60 * int(match[2]) + int(match[3] or 0))",
        "60 * int(match[2]) + int(match[3] or 0)",
    )
)

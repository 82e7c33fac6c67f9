"""Bugs of the numbers in reports, with the tests that must notice them."""

import pytest
from comparison import test_outcomes
from mutants.registry import plant_edits
from report import test_numbers

from bochner.comparison import verdict
from bochner.report import accuracy


def coverage_of(model, number):
    def check():
        with pytest.MonkeyPatch.context() as patch:
            test_numbers.assert_coverage(model, number, test_numbers.kept_pictures(patch))

    return check


plant_edits(
    accuracy,
    "_intervals_at",
    coverage_of(test_numbers.TwoTargets(), 1),
    targets_have_the_widths_of_the_first=("subject.number]", "0]"),
)
plant_edits(
    accuracy,
    "_intervals_at",
    coverage_of(test_numbers.Prices(), None),
    intervals_of_one_side=("0.5 - 0.5 * levels", "0.0 * levels + 0.01"),
)
plant_edits(
    verdict,
    "best_other",
    test_outcomes.assert_equal_methods_are_rarely_better,
    users=(test_outcomes,),
    the_best_of_several_is_one_comparison=(", len(candidates))", ")"),
)

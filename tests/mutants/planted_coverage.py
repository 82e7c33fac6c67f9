"""Bugs in the comparison of coverage with its level, with the tests that notice them."""

from mutants.registry import plant_edits
from report import test_checks

from bochner.comparison import outcomes as coverage

plant_edits(
    coverage,
    "calibrated_range",
    test_checks.test_the_range_of_coverage_is_that_of_repeated_samples,
    half_of_the_samples_are_outside=("(1.0 - _CERTAINTY)", "10.0 * (1.0 - _CERTAINTY)"),
)
plant_edits(
    coverage,
    "calibrated_range",
    test_checks.test_several_comparisons_are_outside_together_as_rarely_as_one,
    comparisons_are_judged_as_if_alone=(" / n_comparisons, n, level", ", n, level"),
)
plant_edits(
    coverage,
    "_independent",
    test_checks.test_the_range_of_coverage_is_that_of_repeated_samples,
    values_of_a_group_are_independent=("if clusters is None", "if True"),
)

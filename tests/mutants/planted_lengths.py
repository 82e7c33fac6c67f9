"""Bugs of length scales that come from the data, with the tests that must notice them."""

from features import test_transformer
from mutants.registry import replaces

from bochner.features import transformer


@replaces(
    transformer,
    "stacked_rows",
    test_transformer.test_the_median_distance_is_that_of_the_rows_of_both_arguments,
)
def scales_of_the_left_rows_alone(X, right):
    return X

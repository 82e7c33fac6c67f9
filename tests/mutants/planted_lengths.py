"""Bugs of length scales that come from the data, with the tests that must notice them."""

from features import test_transformer
from mutants.registry import edit, planted

from bochner import FourierFeatures

planted(
    test_transformer.test_the_median_distance_is_that_of_the_rows_of_both_arguments,
    name="scales_of_the_left_rows_alone",
)(edit(FourierFeatures, "fit", "stacked_rows(X, right) if is_common else X", "X"))

"""Bugs of shares of the variance and of effects, each with the test that must notice it."""

from functools import partial

from mutants.registry import plant_edits
from tables import test_encodings, test_sensitivity

from bochner.tables import sensitivity
from bochner.tables.sensitivity import Dependence

plant_edits(
    Dependence,
    "_shares",
    partial(test_sensitivity.test_shares_are_those_of_closed_forms, "Ishigami"),
    signs_of_subsets_lost=("(-1) ** len(v) * values_of", "values_of"),
    errors_of_rows_and_not_of_the_ratio=("terms - share[:, None] * spread", "terms"),
)
plant_edits(
    sensitivity,
    "averages",
    test_sensitivity.test_effects_are_averages_with_quartiles_of_shifted_rows,
    rows_not_shifted=("(mean.mean(axis=0) - curves.mean(axis=0))", "0.0"),
)
plant_edits(
    test_encodings,
    "grid",
    partial(test_encodings.test_missing_numbers_are_the_last_entry_whatever_features_follow, 2),
    missing_numbers_in_the_last_of_all_features=("len(output_names(state)) - 1", "-1"),
)

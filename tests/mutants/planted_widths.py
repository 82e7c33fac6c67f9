"""Bugs of widths that follow errors, each with the test that must notice it."""

from learning.tables import test_widths
from mutants.registry import plant_edits

from bochner.estimators.table_functions import TableFunctions
from bochner.learning.tables import widths
from bochner.learning.tables.ensemble import SumOfLaws

plant_edits(
    widths,
    "fitted_widths",
    test_widths.check_left_out,
    widths_that_know_their_group=("fold_numbers(groups, n", "fold_numbers(None, n"),
)
plant_edits(
    widths,
    "fitted_widths",
    test_widths.check_levels,
    trees_of_scores_with_the_curves=(
        "scores / _product(curves, inputs)",
        "scores",
    ),
)
plant_edits(
    widths,
    "_knots",
    test_widths.check_equal_rows,
    knots_among_equal_rows=("product <= _LEAST_PRODUCT * residual", "False"),
    knots_of_rounding_errors=("> _LEAST_STEP", "> 0.0"),
)
plant_edits(
    widths,
    "_curves",
    test_widths.check_optimum,
    steps_between_knots_for_free=("_PULL * steps.T @ steps", "0.0 * steps.T @ steps"),
)
plant_edits(
    SumOfLaws,
    "_joint_moments",
    test_widths.check_functions,
    covariances_without_widths=("cov * factors * factors[:, None]", "cov"),
)
plant_edits(
    TableFunctions,
    "__call__",
    test_widths.check_functions,
    functions_without_widths=("mean + factors * (values - mean)", "values"),
)
